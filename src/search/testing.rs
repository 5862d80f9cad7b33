//! A random game and plain negamax, against which the searches are tested.

use std::collections::HashMap;

use super::game::{Child, Expansion, Game, Settled, Value};
use crate::konane::{Board, Position};

/// Mixes a number well (Steele, Lea and Flood 2014, SplitMix).
pub fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A game on a random graph without cycles: a code is a layer times [`RandomGame::WIDTH`] plus a
/// place in it, and moves lead to random places one or two layers further on. There are many
/// transpositions, some moves occur twice, and only the side to move in a dead end has lost.
pub struct RandomGame {
    pub seed: u64,
    pub layers: u64,
    pub most_moves: u64,
}

impl RandomGame {
    pub const WIDTH: u64 = 64;

    fn successors(&self, code: u64) -> Vec<u64> {
        let random = |i: u64| mix(self.seed ^ mix(code * 64 + i));
        let layer = code / Self::WIDTH;
        let moves = match layer {
            0..3 => self.most_moves,
            _ => random(0) % (self.most_moves + 1),
        };
        let moves = (1..=moves).map(|i| {
            let random = random(i);
            (layer + 1 + (random >> 32) % 2) * Self::WIDTH + random % Self::WIDTH
        });
        moves
            .filter(|next| next / Self::WIDTH < self.layers)
            .collect()
    }

    pub fn negamax(&self, code: u64, memo: &mut HashMap<u64, Value>) -> Value {
        if let Some(&value) = memo.get(&code) {
            return value;
        }
        let lost = |next: u64| self.negamax(next, memo) == Value::Loss;
        let won = self.successors(code).into_iter().any(lost);
        let value = if won { Value::Win } else { Value::Loss };
        memo.insert(code, value);
        value
    }
}

impl Game for RandomGame {
    type Scratch = ();

    fn expand(&self, code: u64, (): &mut (), children: &mut Vec<Child>) -> Expansion {
        let successors = self.successors(code);
        if successors.is_empty() {
            return Expansion::Lost;
        }
        for &next in &successors {
            let replies = self.successors(next).len() as u64;
            // Some wins on the spot are reported, others left to the search.
            if replies == 0 && next % 2 == 0 {
                children
                    .truncate(children.len() - successors.iter().position(|&n| n == next).unwrap());
                return Expansion::Won(next);
            }
            children.push(Child {
                code: next,
                phi: 1 + (mix(next) % 3) as u32,
                delta: 1 + replies as u32,
                effort: (self.layers - next / Self::WIDTH) as u32,
            });
        }
        Expansion::Open
    }

    fn key(&self, code: u64) -> u64 {
        mix(code)
    }

    fn settle(&self, code: u64, budget: u32, (): &mut ()) -> Settled {
        // Looks at the position and its successors only.
        let successors = self.successors(code);
        let mut replies = successors.iter().map(|&next| self.successors(next).len());
        let value = if budget < 2 {
            None
        } else if successors.is_empty() {
            Some(Value::Loss)
        } else {
            replies.any(|n| n == 0).then_some(Value::Win)
        };
        Settled {
            value,
            positions: budget.min(2),
        }
    }
}

/// The value of a position of Konane by the rules alone.
pub fn negamax(board: &Board, position: Position, memo: &mut HashMap<Position, Value>) -> Value {
    if let Some(&value) = memo.get(&position) {
        return value;
    }
    let mut moves = position.moves(board).into_iter();
    let won = moves.any(|mv| negamax(board, position.play(board, mv), memo) == Value::Loss);
    let value = if won { Value::Win } else { Value::Loss };
    memo.insert(position, value);
    value
}
