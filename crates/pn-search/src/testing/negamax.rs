//! Negamax with a memo: the reference implementation against which every other algorithm is tested.
//!
//! It uses only [`Game::expand`] and no estimates, and its only optimisation is to stop at the first lost child. So
//! it is slow, and its correctness is easy to verify.
//!
//! It takes one hash-map entry (about 20 bytes, at most doubled by the map's growth) for every distinct position that
//! it visits, without limit, and one recursion level per ply. It expands each of these positions once. This is
//! practical for some millions of positions, but not for the start of a 6x6 game of Konane.

use std::collections::HashMap;

use crate::Value;
use crate::plain::game::{Child, Expansion, Game};

/// Negamax on one game. The memo is kept between calls.
pub struct Negamax<'a, G: Game> {
    game: &'a G,
    scratch: G::Scratch,
    memo: HashMap<u64, Value>,
}

impl<'a, G: Game> Negamax<'a, G> {
    /// Creates an oracle with an empty memo.
    pub fn new(game: &'a G) -> Self {
        Negamax { game, scratch: G::Scratch::default(), memo: HashMap::new() }
    }

    /// Returns the value of a position for the side to move.
    ///
    /// The recursion is as deep as the longest game from this position. A game of many thousand plies needs a thread
    /// with a large stack.
    pub fn value(&mut self, code: u64) -> Value {
        if let Some(&value) = self.memo.get(&code) {
            return value;
        }
        let mut children = Vec::new();
        let value = match self.game.expand(code, &mut self.scratch, &mut children, |_| {}) {
            Expansion::Lost => Value::Loss,
            Expansion::Won(_) => Value::Win,
            Expansion::Open => self.value_of_open(&children),
        };
        self.memo.insert(code, value);
        value
    }

    fn value_of_open(&mut self, children: &[Child]) -> Value {
        for child in children {
            if self.value(child.code) == Value::Loss {
                return Value::Win;
            }
        }
        Value::Loss
    }

    /// Returns the number of distinct positions in the memo.
    pub fn positions(&self) -> usize {
        self.memo.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::GraphGame;
    use super::*;

    #[test]
    fn small_graphs_have_the_values_found_by_hand() {
        // 0 -> 1 -> 2 -> 3: a position is won if the number of plies to the end is odd.
        let chain = GraphGame::new(4, &[(0, 1), (1, 2), (2, 3)]).unwrap();
        let values: Vec<_> = (0..4).map(|node| Negamax::new(&chain).value(node)).collect();
        let (win, loss) = (Value::Win, Value::Loss);
        assert_eq!(values, [win, loss, win, loss]);

        // One lost child is enough for a win.
        let fork = GraphGame::new(6, &[(0, 1), (0, 2), (1, 3), (2, 4), (4, 5), (3, 5)]).unwrap();
        // Node 5 is lost, 3 and 4 are won, 1 and 2 are lost, and 0 is won.
        let mut oracle = Negamax::new(&fork);
        assert_eq!(oracle.value(0), win);
        assert_eq!((oracle.value(1), oracle.value(2)), (loss, loss));
        assert_eq!((oracle.value(3), oracle.value(4)), (win, win));
    }

    #[test]
    fn nim_is_lost_exactly_if_the_exclusive_or_of_the_piles_is_zero() {
        for piles in [&[3, 4, 5][..], &[1, 1], &[0], &[7], &[2, 3, 1, 1]] {
            let nim = GraphGame::nim(piles);
            let mut oracle = Negamax::new(&nim);
            for node in 0..nim.nodes() {
                let left = GraphGame::nim_piles(piles, node);
                let sum = left.iter().fold(0, |sum, pile| sum ^ pile);
                let expected = if sum == 0 { Value::Loss } else { Value::Win };
                assert_eq!(oracle.value(node), expected, "{left:?}");
            }
        }
    }

    #[test]
    fn the_memo_has_every_position_once() {
        let nim = GraphGame::nim(&[2, 2]).with_immediate_wins(false);
        let mut oracle = Negamax::new(&nim);
        assert_eq!(oracle.value(0), Value::Loss);
        let positions = oracle.positions();
        assert!(positions as u64 <= nim.nodes());
        oracle.value(0);
        assert_eq!(oracle.positions(), positions);
    }
}
