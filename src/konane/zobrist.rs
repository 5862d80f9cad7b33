//! Zobrist keys of canonical codes.
//!
//! A key is the exclusive or of one random word per set bit of the code ([`Zobrist`]). Because the code is
//! canonical, so is the key: equivalent positions share it. If the codes of the board have n bits, the words are chosen
//! such that the upper n bits of the key determine the code. So every table entry identifies its position exactly.

use super::board::Board;
use super::code::WHITE_TO_MOVE;
use crate::search::split_mix;
use crate::search::table::{InverseHash, LinearMap};

/// The map from the codes of a board to keys, and its inverse. Takes 32 KiB.
#[derive(Clone, Debug)]
pub struct Zobrist {
    keys: LinearMap,
    codes: InverseHash,
}

impl Zobrist {
    /// Creates the maps of a board. The words are the first invertible set in a fixed sequence of pseudo-random sets
    /// (on average the fourth set), so keys are the same in all runs and builds.
    pub fn new(board: &Board) -> Self {
        let mark = if board.marks_white() { WHITE_TO_MOVE } else { 0 };
        let mask = board.all() | mark;
        let mut attempts = (0..).map(|attempt| {
            let words = std::array::from_fn(|bit| Self::word(attempt, bit as u64));
            Some((InverseHash::new(mask, &words)?, words))
        });
        let (codes, words) = attempts.find_map(|found| found).expect("the sequence is infinite");
        Zobrist { keys: LinearMap::new(&words), codes }
    }

    /// The word of bit `bit` of the code, in set number `attempt`. It is output number `attempt * 64 + bit` of the
    /// generator SplitMix64 with seed 0.
    fn word(attempt: u64, bit: u64) -> u64 {
        split_mix::mix((attempt * 64 + bit + 1).wrapping_mul(split_mix::STEP))
    }

    /// The key of a canonical code.
    #[inline(always)]
    pub fn key(&self, code: u64) -> u64 {
        self.keys.apply(code)
    }

    /// The inverse map from keys to codes.
    pub fn codes(&self) -> &InverseHash {
        &self.codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_determine_codes(
            size in prop::sample::select(vec!["1x1", "3x3", "5x7", "6x6", "7x9", "8x8", "1x63", "4x16"]),
            stones: u64,
            white: bool,
        ) {
            let board = Board::new(size.parse().expect("a board"));
            let marked = white && board.marks_white();
            let code = board.all() & stones | if marked { WHITE_TO_MOVE } else { 0 };
            let zobrist = Zobrist::new(&board);
            prop_assert_eq!(zobrist.codes().code(zobrist.key(code)), code);
        }
    }
}
