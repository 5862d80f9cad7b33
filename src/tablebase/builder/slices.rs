//! Slices of rows, and the tasks that make them.
//!
//! For each number b of black stones, the rows of the sweep are cut into *slices*: ranges of canonical black
//! patterns with b stones. W(b) are the rows of these patterns with White to move, B(b) those with Black to
//! move. The tasks run in waves:
//!
//! ```text
//! W(0) B(0) W(1) B(1) … W(NB) B(NB) layers
//! ```
//!
//! A slice of W(b) is made from rows of B(b-1), …, B(b-m), where m is the maximum number of stones that a jump
//! takes: a white jump takes 1 to m black stones. A slice of B(b) is made from rows of W(b), because a black
//! jump keeps the number of black stones. The black patterns of a slice determine which rows it needs. Patterns
//! of neighbouring rows are equal on the squares with high numbers, and so are most patterns to which their
//! jumps lead. Therefore a slice needs only a small part of the rows.
//!
//! A build in memory has one slice for each band of rows ([`Slices::WHOLE`]). One task makes this slice for
//! both sides to move. White's rows stay in memory, and are written only if the database stores them.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::error::BuildError;
use crate::konane::{Colour, Dimensions};
use crate::system::quote;
use crate::tablebase::files::ROWS;

/// Division into slices of the rows with the same number of black stones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slices {
    /// Maximum number of rows of a slice: a multiple of eight, or `u32::MAX` in [`Slices::WHOLE`].
    pub max_rows: u32,
}

impl Slices {
    /// The smallest slices: one octet, that is eight rows, which share bytes of a block.
    pub const MIN: Slices = Slices { max_rows: ROWS as u32 };

    /// All rows in one slice.
    pub const WHOLE: Slices = Slices { max_rows: u32::MAX };

    /// Number of slices into which `rows` rows are divided.
    pub fn count(self, rows: u64) -> u32 {
        rows.div_ceil(u64::from(self.max_rows)) as u32
    }

    /// Rows of a slice. All slices but the last one have the same length, a multiple of eight.
    pub fn range(self, rows: u64, slice: u32) -> Range<u32> {
        let each = rows.div_ceil(u64::from(self.count(rows))).next_multiple_of(ROWS as u64);
        let at = |slice: u32| (u64::from(slice) * each).min(rows) as u32;
        at(slice)..at(slice + 1)
    }

    /// Rows of all slices, none of which is empty.
    pub fn ranges(self, rows: u64) -> impl Iterator<Item = Range<u32>> {
        (0..self.count(rows)).map(move |slice| self.range(rows, slice))
    }
}

/// Product of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskProduct {
    /// The values of a slice of rows.
    Rows {
        /// Black stones.
        black: u32,
        /// The side to move. White's rows are made before Black's.
        to_move: Colour,
        /// Number of the slice.
        slice: u32,
    },
    /// The file of a layer, from the slices.
    Layer {
        /// Stones of both colours.
        stones: u32,
    },
}

/// Task of a build in slices. As text it is one line, such as `konane-task 1 6x6 4096 white 9 3`:
/// version, board, rows of a slice, side to move, black stones and slice; or
/// `konane-task 1 6x6 4096 layer 17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BuildTask {
    /// The board.
    pub dimensions: Dimensions,
    /// Maximum number of rows of a slice.
    pub(super) slice_rows: u32,
    /// Product of the task.
    pub product: TaskProduct,
}

const MAGIC: &str = "konane-task";
const VERSION: &str = "1";

impl fmt::Display for BuildTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MAGIC} {VERSION} {} {} ", self.dimensions, self.slice_rows)?;
        match self.product {
            TaskProduct::Rows { black, to_move, slice } => {
                write!(f, "{} {black} {slice}", to_move.name())
            }
            TaskProduct::Layer { stones } => write!(f, "layer {stones}"),
        }
    }
}

impl FromStr for BuildTask {
    type Err = BuildError;

    fn from_str(text: &str) -> Result<Self, BuildError> {
        parse(text).map_err(|what| BuildError::NoTask { text: quote(text), what })
    }
}

fn parse(text: &str) -> Result<BuildTask, &'static str> {
    let words: Vec<&str> = text.split(' ').collect();
    let [MAGIC, version, board, rows, kind, rest @ ..] = &words[..] else {
        return Err("it does not begin with 'konane-task', a version, a board and two words");
    };
    if *version != VERSION {
        return Err("it has another version");
    }
    let number = |word: &str| word.parse::<u32>().map_err(|_| "a number is malformed");
    let dimensions: Dimensions = board.parse().map_err(|_| "the board is malformed")?;
    let slice_rows = number(rows)?;
    if slice_rows == 0 || !slice_rows.is_multiple_of(ROWS as u32) {
        return Err("the rows of a slice are not a multiple of eight");
    }
    let product = match (*kind, rest) {
        ("layer", [stones]) => TaskProduct::Layer { stones: number(stones)? },
        (side @ ("black" | "white"), [black, slice]) => {
            let to_move = if side == "black" { Colour::Black } else { Colour::White };
            TaskProduct::Rows { black: number(black)?, to_move, slice: number(slice)? }
        }
        _ => return Err("its product is unknown"),
    };
    let squares = dimensions.squares();
    match product {
        TaskProduct::Layer { stones } if stones > squares => {
            return Err("the board has fewer squares than the layer has stones");
        }
        TaskProduct::Rows { black, .. } if black > squares.div_ceil(2) => {
            return Err("the board has fewer black squares than the rows have black stones");
        }
        _ => {}
    }
    let task = BuildTask { dimensions, slice_rows, product };
    // Each task has one text.
    if task.to_string() == text { Ok(task) } else { Err("a number has an unusual form") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_of_tasks() {
        for text in ["konane-task 1 6x6 4096 white 9 3", "konane-task 1 1x9 8 layer 9"] {
            assert_eq!(text.parse::<BuildTask>().unwrap().to_string(), text);
        }
        for (text, what) in [
            ("", "does not begin"),
            ("konane-task 2 6x6 8 layer 3", "version"),
            ("konane-task 1 9x9 8 layer 3", "board"),
            ("konane-task 1 6x6 12 layer 3", "multiple of eight"),
            ("konane-task 1 6x6 0 layer 3", "multiple of eight"),
            ("konane-task 1 6x6 8 layer 37", "fewer squares"),
            ("konane-task 1 6x6 8 layer +3", "unusual form"),
            ("konane-task 1 6x6 8 layer 3 ", "product"),
            ("konane-task 1 6x6 8 white 19 0", "black squares"),
            ("konane-task 1 6x6 8 white 9", "product"),
            ("konane-task 1 6x6 8 black 9 x", "number"),
        ] {
            let error = text.parse::<BuildTask>().unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn slices_are_all_rows_in_order(
            octets in prop_oneof![1u32..40, any::<u32>().prop_map(|n| n % (1 << 20) + 1)],
            rows in prop_oneof![1u64..1000, 1u64..1 << 31],
        ) {
            let slices = Slices { max_rows: 8 * octets };
            // Limits the number of slices, over which the test iterates.
            let rows = rows.min(10_000 * u64::from(slices.max_rows));
            let mut next = 0;
            for range in slices.ranges(rows) {
                prop_assert_eq!(range.start, next);
                prop_assert!(!range.is_empty() && range.len() <= slices.max_rows as usize);
                prop_assert_eq!(range.start % ROWS as u32, 0);
                next = range.end;
            }
            prop_assert_eq!(u64::from(next), rows);
            prop_assert_eq!(Slices::WHOLE.ranges(rows).collect::<Vec<_>>(), vec![0..rows as u32]);
        }
    }
}
