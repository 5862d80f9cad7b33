//! All jumps that fit on a board, and their effect on many positions at once.

use std::sync::OnceLock;

use crate::konane::{Board, Colour};
use crate::tablebase::index::SquareNumbers;

/// Maximum number of columns of a block that are checked together. Longer stretches need more memory for the
/// tables of a [`Stretch`], 32 KiB for each change of the white stones. With shorter ones, the values of the
/// positions after a jump are read into the L1 cache more often.
pub const STRETCH: usize = 8192;

/// A jump that fits on a board, as sets of squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Squares that must be occupied: the square of the stone that jumps, and those of the stones that it takes.
    pub occupied: u64,
    /// Squares that must be empty: the landing squares.
    pub empty: u64,
    /// Squares that the jump changes.
    pub changed: u64,
}

/// Returns all jumps of a side that fit on a board.
pub fn jumps(board: &Board, to_move: Colour) -> Vec<Jump> {
    let dimensions = board.dimensions();
    let (ranks, files) = (dimensions.ranks() as i32, dimensions.files() as i32);
    let square = |rank: i32, file: i32| 1u64 << (rank * files + file);
    let mut jumps = Vec::new();
    for start in (0..dimensions.squares()).filter(|&square| board.colour_of(square) == to_move) {
        let from = 1u64 << start;
        for (rank_step, file_step) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
            let (mut rank, mut file) = (start as i32 / files, start as i32 % files);
            let (mut taken, mut landings) = (0, 0);
            loop {
                let over = (rank + rank_step, file + file_step);
                (rank, file) = (rank + 2 * rank_step, file + 2 * file_step);
                if !(0..ranks).contains(&rank) || !(0..files).contains(&file) {
                    break;
                }
                let to = square(rank, file);
                taken |= square(over.0, over.1);
                landings |= to;
                jumps.push(Jump {
                    occupied: from | taken,
                    empty: landings,
                    changed: from | taken | to,
                });
            }
        }
    }
    jumps
}

/// The part of a jump that concerns the stones of one colour, as patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub occupied: u32,
    pub empty: u32,
    pub changed: u32,
}

impl Change {
    pub fn new(numbering: &SquareNumbers, colour: Colour, jump: Jump) -> Self {
        let pattern = |set| numbering.pack(set)[colour.index()];
        let [occupied, empty, changed] = [jump.occupied, jump.empty, jump.changed].map(pattern);
        Change { occupied, empty, changed }
    }

    #[inline]
    pub fn is_possible(self, pattern: u32) -> bool {
        pattern & (self.occupied | self.empty) == self.occupied
    }

    /// Returns the number of stones after the change of a pattern with `stones` stones.
    pub fn stones_after(self, stones: u32) -> u32 {
        stones + (self.changed & self.empty).count_ones()
            - (self.changed & self.occupied).count_ones()
    }
}

/// Place of the position after a jump in the values of its block, as far as its white stones determine it: eight times
/// the index in a line, plus the number of the line among those of the jump. A database that fits on a disk has lines
/// of fewer than 2²⁹ values.
#[derive(Clone, Copy, Default)]
pub struct Place(u32);

impl Place {
    pub fn new(line: u8, index: u32) -> Self {
        debug_assert!(line < 8 && index < 1 << 29);
        Place(index << 3 | u32::from(line))
    }

    /// Returns the index in the values of the block. `lines` has the index of the first value of each line.
    #[inline(always)]
    pub fn index(self, lines: &[usize; 8]) -> usize {
        lines[self.0 as usize % 8] + (self.0 / 8) as usize
    }
}

/// Consecutive columns of a block, with the effects of jumps on them.
pub struct Stretch<'a> {
    /// The first column.
    pub first: u32,
    /// The white patterns of the columns.
    pub whites: &'a [u32],
    /// Computed when they are first needed.
    pub effects: Vec<OnceLock<Box<Effect>>>,
}

impl<'a> Stretch<'a> {
    pub fn new(first: u32, whites: &'a [u32], effects: usize) -> Self {
        Stretch { first, whites, effects: (0..effects).map(|_| OnceLock::new()).collect() }
    }

    /// Returns the bits of the stretch in a row of bits, as words. The last word is padded with zeros.
    pub fn words(&self, row: &[u8]) -> impl Iterator<Item = u64> {
        let bytes = &row[self.first as usize / 8..][..self.whites.len().div_ceil(8)];
        bytes.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        })
    }
}

/// The effect of a jump on up to [`STRETCH`] white patterns.
pub struct Effect {
    /// A bit for each pattern: set if the white stones allow the jump.
    pub possible: [u64; STRETCH / 64],
    /// By pattern, in groups of 64: the place after the jump. Unused if the jump is impossible.
    pub after: [[Place; 64]; STRETCH / 64],
}

impl Effect {
    /// Applies the change of the white stones to patterns. `place` returns the place of a pattern after the jump.
    pub fn new(change: Change, patterns: &[u32], place: impl Fn(u32) -> Place) -> Self {
        let mut effect =
            Effect { possible: [0; STRETCH / 64], after: [[Place::default(); 64]; STRETCH / 64] };
        for (at, &pattern) in patterns.iter().enumerate() {
            if change.is_possible(pattern) {
                effect.possible[at / 64] |= 1 << (at % 64);
                effect.after[at / 64][at % 64] = place(pattern ^ change.changed);
            }
        }
        effect
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::Position;
    use crate::tablebase::index::Index;

    #[test]
    fn jumps_are_the_moves_of_all_positions() {
        for size in ["1x7", "3x3", "3x4", "2x6", "4x4"] {
            let board = Board::new(size.parse().unwrap());
            for side in [Colour::Black, Colour::White] {
                let jumps = jumps(&board, side);
                for occupied in
                    (0..=board.all()).filter(|set| (board.all() & !set).count_ones() >= 2)
                {
                    let position = Position::new_unchecked(&board, occupied, side);
                    let moves = position.moves(&board).into_iter();
                    let mut expected: Vec<u64> =
                        moves.map(|mv| position.play(&board, mv).occupied()).collect();
                    let possible =
                        |jump: &&Jump| occupied & (jump.occupied | jump.empty) == jump.occupied;
                    let mut found: Vec<u64> =
                        jumps.iter().filter(possible).map(|jump| occupied ^ jump.changed).collect();
                    expected.sort_unstable();
                    found.sort_unstable();
                    assert_eq!(found, expected, "{size} {side} {occupied:b}");
                }
            }
        }
    }

    #[test]
    fn effects_are_those_of_jumps_on_each_pattern() {
        for size in ["3x5", "4x4", "1x40"] {
            let index = Index::new(Board::new(size.parse().unwrap()), true);
            let (numbering, ranks) = (index.numbering(), index.ranks(Colour::White));
            let whites: Vec<u32> = ranks.patterns(3).collect();
            for side in [Colour::Black, Colour::White] {
                for jump in jumps(index.board(), side) {
                    let white = Change::new(numbering, Colour::White, jump);
                    let effect =
                        Effect::new(white, &whites, |after| Place::new(5, ranks.rank(after)));
                    let squares = index.board().squares_of(Colour::White);
                    for (at, &pattern) in whites.iter().enumerate() {
                        let stones = numbering.unpack(Colour::White, pattern);
                        let possible = jump.occupied & squares & !stones == 0
                            && jump.empty & squares & stones == 0;
                        assert_eq!(effect.possible[at / 64] >> (at % 64) & 1 == 1, possible);
                        if possible {
                            let after = numbering.pack((stones ^ jump.changed) & squares)[1];
                            assert_eq!(after.count_ones(), white.stones_after(3));
                            let place = effect.after[at / 64][at % 64];
                            let lines = std::array::from_fn(|line| 1000 * line);
                            assert_eq!(place.index(&lines), 5000 + ranks.rank(after) as usize);
                        }
                    }
                }
            }
        }
    }
}
