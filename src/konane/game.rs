//! Konane as a game of the search core.

use super::board::Board;
use super::kernels::{Jumps, Settling, Successors};
use super::position::{Phase, Position};
use super::symmetry::WHITE_TO_MOVE;
use super::zobrist::Zobrist;
use crate::search::game::{Child, Expansion, Game, Settled, Value};
use crate::search::numbers::Number;

/// How a leaf's first numbers follow from the mobilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// phi 1, delta the number of own moves (mobility initialisation; thesis, 2.2.4).
    Mobility,
    /// A table by (own, other) moves built from a formula.
    Ratio {
        /// Factor.
        scale: f64,
        /// power of numerator
        power: f64,
        /// offset in denominators
        offset: f64,
        /// power of the denominator
        under: f64,
    },
}

/// Konane on one board, with a leaf estimate.
#[derive(Debug)]
pub struct Konane<'a> {
    board: &'a Board,
    jumps: Jumps,
    zobrist: Zobrist,
    estimates: Box<[(Number, Number)]>,
}

/// Working memory of one worker.
#[derive(Debug, Default)]
pub struct Scratch {
    successors: Successors,
    settling: Settling,
}

const SIDE: usize = 64;

impl<'a> Konane<'a> {
    /// Prepares tables: some 60 KiB.
    pub fn new(board: &'a Board, estimate: Estimate) -> Self {
        let formula = |own: usize, other: usize| -> (Number, Number) {
            match estimate {
                Estimate::Mobility => (1, own.max(1) as Number),
                Estimate::Ratio {
                    scale,
                    power,
                    offset,
                    under,
                } => {
                    let (n, o) = (own as f64, other as f64);
                    let phi = 1.0 + scale * (o + offset).powf(power) / (n + 1.0).powf(under);
                    let delta = 1.0 + scale * n.powf(power) / (o + 1.0).powf(under);
                    (phi as Number, delta as Number)
                }
            }
        };
        let estimates = (0..SIDE * SIDE)
            .map(|i| formula(i / SIDE, i % SIDE))
            .collect();
        Konane {
            board,
            jumps: Jumps::new(board),
            zobrist: Zobrist::new(),
            estimates,
        }
    }

    #[inline(always)]
    fn estimate_of(&self, own: u8, other: u8) -> (Number, Number) {
        self.estimates[usize::from(own).min(SIDE - 1) * SIDE + usize::from(other).min(SIDE - 1)]
    }
}

impl Game for Konane<'_> {
    type Scratch = Scratch;

    #[inline]
    fn expand(&self, code: u64, scratch: &mut Scratch, children: &mut Vec<Child>) -> Expansion {
        let out = &mut scratch.successors;
        let position = self.board.symmetries().decode(code);
        if position.phase(self.board) != Phase::Jumping {
            return self.expand_removal(&position, children);
        }
        self.jumps
            .expand(self.board, position.occupied(), position.to_move(), out);
        let n = out.len;
        if n == 0 {
            return Expansion::Lost;
        }
        let mark = if self.board.dimensions().has_even_side() {
            0
        } else {
            !code & WHITE_TO_MOVE
        };
        let base = children.len();
        for i in 0..n {
            let (own, other) = (out.own[i], out.other[i]);
            let code = out.least[i] | mark;
            if own == 0 {
                children.truncate(base);
                return Expansion::Won(code);
            }
            let (phi, delta) = self.estimate_of(own, other);
            children.push(Child {
                code,
                phi,
                delta,
                effort: u32::from(own) + u32::from(other),
            });
        }
        Expansion::Open
    }

    #[inline(always)]
    fn key(&self, code: u64) -> u64 {
        self.zobrist.key(code)
    }

    fn evaluate(&self, code: u64, _: &mut Scratch) -> i32 {
        let position = self.board.symmetries().decode(code);
        let mover = position.to_move();
        let own = position.count_movable(self.board, mover) as i32;
        let other = position.count_movable(self.board, !mover) as i32;
        (own - other) * 4096 / (own + other).max(1)
    }

    fn settle(&self, code: u64, budget: u32, scratch: &mut Scratch) -> Settled {
        let position = self.board.symmetries().decode(code);
        let s = &mut scratch.settling;
        s.left = budget;
        let won = self.jumps.settle(position.occupied(), position.to_move(), s);
        let value = won.map(|won| if won { Value::Win } else { Value::Loss });
        Settled { value, positions: budget - s.left }
    }
}

impl Konane<'_> {
    /// The first two plies, where every move is a removal; slow and rare.
    #[cold]
    fn expand_removal(&self, position: &Position, children: &mut Vec<Child>) -> Expansion {
        let moves = position.moves(self.board);
        if moves.is_empty() {
            return Expansion::Lost;
        }
        let base = children.len();
        for mv in moves {
            let next = position.play(self.board, mv);
            let code = self.board.symmetries().code(&next);
            let own = next.count_moves(self.board);
            if own == 0 {
                children.truncate(base);
                return Expansion::Won(code);
            }
            if children[base..].iter().all(|child| child.code != code) {
                children.push(Child {
                    code,
                    phi: 1,
                    delta: 1,
                    effort: u32::MAX,
                });
            }
        }
        Expansion::Open
    }
}
