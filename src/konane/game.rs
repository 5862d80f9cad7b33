//! Konane as a game of the search core.
//!
//! * [`Konane`]: the game, with the leaf estimate of an [`Estimate`] (with its [`FeatureWeights`]).
//! * [`KonaneScratch`]: working memory of one worker.
//!
//! `Estimates` has the leaf estimate as tables: a successor costs seven look-ups of logarithms and some 25 of local
//! patterns, their addition, and two look-ups of exponentials.

use std::sync::{Arc, LazyLock};

use super::board::Board;
use super::code::WHITE_TO_MOVE;
use super::geometry::Colour;
use super::kernels::{Jumps, LeafSolverMemory, Successors};
use super::patterns::{self, Patterns};
use super::position::{Phase, Position};
use super::zobrist::Zobrist;
use crate::search::Value;
use crate::search::numbers::Number;
use crate::search::plain::game::{Child, Expansion, Game, LeafSolution};

/// Function from the features of a new leaf to its first phi and delta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// phi is 1, delta is the number of moves of the side to move (mobility initialisation; thesis, 2.2.4).
    Mobility,
    /// Exponential functions of the weighted logarithms of the features.
    Features(FeatureWeights),
}

/// Weights of the logarithms ln(1 + feature), each for the side to move and for the other side.
///
/// Let s be `bias` plus the weighted sum of the logarithms and of the log odds of the local patterns, g the mean of the
/// four logarithms of landings and movable stones of both sides, and `stones` the number of stones on the board. Then
/// phi = 1 + scale·(1 + stones)·exp(size·g - s) and delta = 1 + scale·(1 + stones)·exp(size·g + s).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureWeights {
    /// Distinct landing squares.
    pub landings: [f64; 2],
    /// Stones that can jump.
    pub movable: [f64; 2],
    /// Stones next to a stone of the opponent.
    pub contacts: [f64; 2],
    /// Logarithm of the odds by the local patterns.
    pub patterns: f64,
    /// Advantage of the side to move.
    pub bias: f64,
    /// Growth of phi and delta with the size of the remaining game.
    pub size: f64,
    /// Factor of phi and delta.
    pub scale: f64,
}

impl FeatureWeights {
    /// The fastest known weights. A random search over the weights of the features has found nothing better
    /// (docs/research/leaf-estimate.md) than twice these; they are halved because the local patterns are added. Changes
    /// of a few per cent have no measurable effect on the mean speed.
    pub const TUNED: FeatureWeights = FeatureWeights {
        landings: [0.5, -0.525],
        movable: [0.54, -0.53],
        contacts: [-1.0, 1.0],
        patterns: 0.2,
        bias: 0.22,
        size: 1.66,
        scale: 0.26,
    };
}

/// Konane on one board, with a leaf estimate.
#[derive(Debug)]
pub struct Konane<'a> {
    board: &'a Board,
    jumps: Jumps,
    zobrist: Zobrist,
    estimates: Option<(Arc<Estimates>, Arc<Patterns>)>,
}

/// Working memory of one worker: some 70 KiB.
#[derive(Debug, Default)]
pub struct KonaneScratch {
    successors: Successors,
    /// Side to move in the successors of the last expansion, if it was one of the jumping phase.
    to_move: Option<Colour>,
    leaf_solver: LeafSolverMemory,
}

/// Length of a table of logarithms. Features are at most 32, which is the maximum number of squares of a colour, and a
/// successor has at most 62 stones.
const FEATURE_VALUES: usize = 64;

/// Fixed-point scale of the logarithms.
const UNIT: f64 = 64.0;

/// Offset of each of the seven logarithms, so that none is negative.
const OFFSET: f64 = 8.0 * UNIT;

/// Length of the table of exponentials. For larger sums, the last element is used.
const SUMS: usize = 128 * UNIT as usize;

/// The largest estimate. It is far below the greatest proof number of an open position, at which sums saturate, so
/// that sums of large estimates can be compared.
const LARGEST: f64 = 1e6;

/// The weighted logarithms and the exponential function as tables.
#[derive(Debug)]
struct Estimates {
    /// Weight of the sums of patterns, from their unit to that of the logarithms, times 2¹⁶.
    pattern_weight: i32,
    /// `logarithms[feature][value]` is the summand of the logarithm of phi (upper 32 bits) and of delta (lower 32
    /// bits), in units of 1/64, with an offset so that neither half is negative.
    logarithms: [[u64; FEATURE_VALUES]; 7],
    /// `exponentials[sum]` is phi or delta for a sum of seven elements of `logarithms`: 1 + scale·exp(x), where x is
    /// the sum without the offsets and in units of 1.
    exponentials: Box<[Number]>,
}

/// Tables of [`FeatureWeights::TUNED`]. Their computation takes as long as the search of some hundred nodes.
static TUNED_ESTIMATES: LazyLock<Arc<Estimates>> =
    LazyLock::new(|| Arc::new(Estimates::new(&FeatureWeights::TUNED)));

impl Estimates {
    fn new(weights: &FeatureWeights) -> Self {
        // For each feature, its weights in size·g (`sizes`) and in s (`signed`). The last feature is the number of
        // stones.
        let [l, m, c] = [weights.landings, weights.movable, weights.contacts];
        let size = weights.size / 4.0;
        let sizes = [size, size, size, size, 0.0, 0.0, 1.0];
        let signed = [l[0], l[1], m[0], m[1], c[0], c[1], 0.0];
        let logarithms = std::array::from_fn(|feature| {
            let (size, weight) = (sizes[feature], signed[feature]);
            let bias = if feature == 0 { weights.bias } else { 0.0 };
            std::array::from_fn(|value| {
                let logarithm = (value as f64).ln_1p();
                // The bounds ensure that a sum of seven fits into 32 bits for any weights.
                let half = |x: f64| (OFFSET + x * UNIT).round().clamp(0.0, 1e8) as u64;
                let (g, s) = (size * logarithm, weight * logarithm + bias);
                half(g - s) << 32 | half(g + s)
            })
        });
        let exponential = |sum: usize| {
            let exponent = (sum as f64 - 7.0 * OFFSET) / UNIT;
            (1.0 + weights.scale * exponent.exp()).min(LARGEST) as Number
        };
        Estimates {
            pattern_weight: (weights.patterns * UNIT / patterns::UNIT * 65536.0).round() as i32,
            logarithms,
            exponentials: (0..SUMS).map(exponential).collect(),
        }
    }

    /// Numbers of a successor with this sum of local patterns.
    #[inline(always)]
    fn numbers(&self, successors: &Successors, index: usize, patterns: i32) -> (Number, Number) {
        let (own, other) = (&successors.own, &successors.other);
        let values = [
            own.landings[index],
            other.landings[index],
            own.movable[index],
            other.movable[index],
            own.contacts[index],
            other.contacts[index],
            successors.occupied[index].count_ones() as u8,
        ];
        let mut sum = 0;
        for (table, value) in self.logarithms.iter().zip(values) {
            sum += table[usize::from(value) % FEATURE_VALUES];
        }
        let s = (i64::from(patterns) * i64::from(self.pattern_weight)) >> 16;
        let exponential = |sum: i64| self.exponentials[sum.clamp(0, SUMS as i64 - 1) as usize];
        (exponential((sum >> 32) as i64 - s), exponential((sum & 0xffff_ffff) as i64 + s))
    }
}

/// Estimate of the effort of an exact search of a position, from the moves and the movable stones of both sides
/// and the stones on the board. The effort is small if few stones are left and one side has few moves and movable
/// stones, and even smaller if the other side has many moves. It is the same for either side to move. The weights are
/// from a logistic regression on whether a search ends within 60 positions (docs/research/leaf-solver.md).
#[inline(always)]
fn effort(moves: [u8; 2], movable: [u8; 2], stones: u32) -> u32 {
    let least = |counts: [u8; 2]| u32::from(counts[0].min(counts[1]));
    let most = u32::from(moves[0].max(moves[1]));
    (2 * stones + 3 * least(moves) + 5 * least(movable)).saturating_sub(most)
}

/// 4096·(own − other)/(own + other), and 0 if both are 0.
fn share_of_movable(own: i32, other: i32) -> i32 {
    (own - other) * 4096 / (own + other).max(1)
}

impl<'a> Konane<'a> {
    /// Creates the tables: some 500 KiB on 8×8, in one or two milliseconds for the first
    /// game of a board.
    pub fn new(board: &'a Board, estimate: Estimate) -> Self {
        let estimates = match estimate {
            Estimate::Mobility => None,
            Estimate::Features(FeatureWeights::TUNED) => Some(Arc::clone(&TUNED_ESTIMATES)),
            Estimate::Features(weights) => Some(Arc::new(Estimates::new(&weights))),
        };
        let estimates = estimates.map(|estimates| (estimates, Patterns::of(board)));
        Konane { board, jumps: Jumps::new(board), zobrist: Zobrist::new(board), estimates }
    }
}

impl Game for Konane<'_> {
    type Scratch = KonaneScratch;

    #[inline]
    fn expand(
        &self,
        code: u64,
        scratch: &mut KonaneScratch,
        children: &mut Vec<Child>,
        mut prefetch: impl FnMut(u64),
    ) -> Expansion {
        let out = &mut scratch.successors;
        let position = Position::from_code(self.board, code);
        if position.phase(self.board) != Phase::Jumping {
            scratch.to_move = None;
            return self.expand_removal(&position, children, prefetch);
        }
        self.jumps.generate(position.occupied(), position.to_move(), out);
        if out.len == 0 {
            return Expansion::Lost;
        }
        let mark = if self.board.marks_white() { !code & WHITE_TO_MOVE } else { 0 };
        for least in &out.least[..out.len] {
            prefetch(least | mark);
        }
        self.jumps.describe(position.to_move(), out);
        if let Some(lost) = out.own.moves[..out.len].iter().position(|&moves| moves == 0) {
            return Expansion::Won(out.least[lost] | mark);
        }
        for index in 0..out.len {
            let moves = [out.own.moves[index], out.other.moves[index]];
            let movable = [out.own.movable[index], out.other.movable[index]];
            let effort = effort(moves, movable, out.occupied[index].count_ones());
            let delta = Number::from(moves[0]);
            children.push(Child { code: out.least[index] | mark, phi: 1, delta, effort });
        }
        scratch.to_move = Some(!position.to_move());
        Expansion::Open
    }

    #[inline(always)]
    fn estimate(&self, scratch: &KonaneScratch, index: usize, child: &mut Child) {
        if let (Some((estimates, patterns)), Some(to_move)) = (&self.estimates, scratch.to_move) {
            let successors = &scratch.successors;
            let patterns = patterns.sum(successors.occupied[index], to_move);
            (child.phi, child.delta) = estimates.numbers(successors, index, patterns);
        }
    }

    #[inline(always)]
    fn key(&self, code: u64) -> u64 {
        self.zobrist.key(code)
    }

    /// Returns false for positions that the standard rules do not have, because the values of an oracle are those of
    /// the standard board.
    #[inline(always)]
    fn uses_oracle(&self, code: u64) -> bool {
        Position::from_code(self.board, code).is_standard()
    }

    /// The share of movable stones, which orders positions like the thesis' ratio of own to other movable stones
    /// (section 3.8): (own − other)/(own + other) grows with own/other.
    fn evaluate(&self, code: u64, _: &mut KonaneScratch) -> i32 {
        let position = Position::from_code(self.board, code);
        let mover = position.to_move();
        let own = position.count_movable(self.board, mover) as i32;
        let other = position.count_movable(self.board, !mover) as i32;
        share_of_movable(own, other)
    }

    fn solve_leaf(&self, code: u64, budget: u32, scratch: &mut KonaneScratch) -> LeafSolution {
        let position = Position::from_code(self.board, code);
        if position.phase(self.board) != Phase::Jumping {
            return LeafSolution { value: None, positions: 0 };
        }
        let memory = &mut scratch.leaf_solver;
        memory.left = budget;
        let won = self.jumps.solve_leaf(position.occupied(), position.to_move(), memory);
        let value = won.map(|won| if won { Value::Win } else { Value::Loss });
        LeafSolution { value, positions: budget - memory.left }
    }
}

impl Konane<'_> {
    /// Expands a position of the first two plies, where every move is a removal. It is slow, which does not matter,
    /// because there are few such positions.
    #[cold]
    fn expand_removal(
        &self,
        position: &Position,
        children: &mut Vec<Child>,
        mut prefetch: impl FnMut(u64),
    ) -> Expansion {
        let moves = position.moves(self.board);
        if moves.is_empty() {
            return Expansion::Lost;
        }
        let base = children.len();
        let mut won = None;
        for mv in moves {
            let next = position.play(self.board, mv);
            let code = next.code(self.board);
            if children[base..].iter().all(|child| child.code != code) {
                prefetch(code);
                let moves = next.count_moves(self.board) as Number;
                if moves == 0 {
                    won = won.or(Some(code));
                }
                // The features of the other estimate are those of the jumping phase.
                let delta = if self.estimates.is_none() { moves } else { 1 };
                children.push(Child { code, phi: 1, delta, effort: Child::NEVER_SOLVE });
            }
        }
        match won {
            Some(code) => {
                children.truncate(base);
                Expansion::Won(code)
            }
            None => Expansion::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::Colour;
    use crate::konane::kernels::{Features, Isa};
    use crate::konane::profile::Profile;
    use proptest::prelude::*;

    fn features([moves, landings, movable, contacts]: [u8; 4]) -> Features {
        let mut features = Features::default();
        features.moves[0] = moves;
        features.landings[0] = landings;
        features.movable[0] = movable;
        features.contacts[0] = contacts;
        features
    }

    /// Returns true if the side to move wins, by plain recursion with the move generator.
    fn wins(board: &Board, position: &Position) -> bool {
        let moves = position.moves(board);
        moves.into_iter().any(|mv| !wins(board, &position.play(board, mv)))
    }

    proptest! {
        #[test]
        fn tables_follow_the_formula(
            own in prop::array::uniform4(0u8..=32),
            other in prop::array::uniform4(0u8..=32),
            stones in 0u32..=62,
            patterns in -2000i32..2000,
        ) {
            let Estimate::Features(weights) = Profile::Tuned.estimate() else {
                panic!("the tuned estimate uses features");
            };
            let mut successors = Successors {
                own: features(own),
                other: features(other),
                ..Successors::default()
            };
            successors.occupied[0] = (1 << stones) - 1;
            let log = |value: u8| f64::from(value).ln_1p();
            let pairs = [(1, weights.landings), (2, weights.movable), (3, weights.contacts)];
            let weighted = |&(feature, weight): &(usize, [f64; 2])| {
                weight[0] * log(own[feature]) + weight[1] * log(other[feature])
            };
            let odds = weights.patterns * f64::from(patterns) / patterns::UNIT;
            let s = weights.bias + odds + pairs.iter().map(weighted).sum::<f64>();
            let g = (log(own[1]) + log(other[1]) + log(own[2]) + log(other[2])) / 4.0;
            let number = |sign: f64| {
                let growth = f64::from(1 + stones) * (weights.size * g + sign * s).exp();
                (1.0 + weights.scale * growth).min(LARGEST)
            };
            let (phi, delta) = Estimates::new(&weights).numbers(&successors, 0, patterns);
            // The error comes from eight roundings by at most a unit, and from one rounding to a whole number.
            for (found, expected) in [(phi, number(-1.0)), (delta, number(1.0))] {
                let error = (f64::from(found) - expected).abs();
                prop_assert!(error <= 1.0 + 0.08 * expected, "{found} instead of {expected}");
            }
        }

        #[test]
        fn exact_searches_agree_with_plain_recursion(
            size in prop::sample::select(vec!["3x3", "3x4", "4x3", "4x4", "1x7", "1x9", "2x8", "2x10", "9x3", "3x12"]),
            stones: u64,
            thinning: u64,
            white: bool,
            budget in 0u32..40,
        ) {
            let board = Board::new(size.parse().expect("a board"));
            let to_move = if white { Colour::White } else { Colour::Black };
            // At least two squares are empty, so the position is in the jumping phase. On larger boards most squares
            // are empty, because plain recursion would take too long with many stones.
            let stones = if board.all() >> 12 == 0 { stones | thinning } else { stones & thinning };
            let occupied = board.all() & stones & !0b101;
            let position = Position::new_unchecked(&board, occupied, to_move);
            let expected = wins(&board, &position);
            for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
                if isa as usize > Isa::detect() as usize {
                    continue;
                }
                let jumps = Jumps::with_isa(&board, isa);
                let mut memory = LeafSolverMemory::default();
                for budget in [u32::MAX, budget, u32::MAX] {
                    memory.left = budget;
                    let found = jumps.solve_leaf(occupied, to_move, &mut memory);
                    prop_assert!(found == Some(expected) || (found.is_none() && budget < u32::MAX));
                }
            }
        }
    }

    /// α-β compares evaluations only, so a strictly increasing function of the thesis' ratio finds the same values in
    /// the same order.
    #[test]
    fn evaluations_have_the_order_of_the_ratio_of_movable_stones() {
        let counts = || (1..=32).flat_map(|own| (1..=32).map(move |other| (own, other)));
        for (own, other) in counts() {
            for (own2, other2) in counts() {
                let ratios = (own * other2).cmp(&(own2 * other));
                let shares = share_of_movable(own, other).cmp(&share_of_movable(own2, other2));
                assert_eq!(ratios, shares, "{own}/{other}, {own2}/{other2}");
            }
        }
    }

    #[test]
    fn mobility_is_the_number_of_moves_in_every_phase() {
        let board = Board::new("6x6".parse().expect("a board"));
        let konane = Konane::new(&board, Estimate::Mobility);
        let mut position = Position::start(&board);
        for _ in 0..4 {
            let mut children = Vec::new();
            let code = position.code(&board);
            let scratch = &mut KonaneScratch::default();
            assert_eq!(konane.expand(code, scratch, &mut children, |_| {}), Expansion::Open);
            for child in children {
                let moves = Position::from_code(&board, child.code).count_moves(&board);
                assert_eq!((child.phi, child.delta), (1, moves as Number));
            }
            position = position.play(&board, position.moves(&board)[0]);
        }
    }

    #[test]
    fn positions_before_removals_are_not_solved() {
        let board = Board::new("3x3".parse().expect("a board"));
        let konane = Konane::new(&board, Profile::Tuned.estimate());
        let code = Position::start(&board).code(&board);
        assert_eq!(konane.solve_leaf(code, 1000, &mut KonaneScratch::default()).value, None);
    }
}
