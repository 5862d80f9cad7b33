//! The shape of a board: its [`Dimensions`], the two [`Colour`]s and the four directions.
//!
//! A square is a number `row * files + file` with row 0 at the *top* and file 0 at the left. So a
//! set of squares is a `u64`, and the top-left square, which has a black stone, is bit 0.

use std::fmt;
use std::ops::Not;
use std::str::FromStr;

use konane_base::serialize_as_text;
use serde::{Deserialize, Serialize};

use crate::error::ErrorKind;
use crate::search::Value;
use crate::system::quote;

/// Maximum number of squares of a board.
pub const MAX_SQUARES: u32 = 64;

/// A player, or the colour of a square. A square has the colour of the stone on it at the start. Only stones of this
/// colour can ever stand on the square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub enum Colour {
    /// Owns the top-left square and makes the first removal.
    Black,
    /// Makes the second removal.
    White,
}

impl Colour {
    /// 0 for Black, 1 for White.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The winner of a position with this value and this colour to move.
    pub fn winner(self, value: Value) -> Colour {
        match value {
            Value::Win => self,
            Value::Loss => !self,
        }
    }

    /// `black` or `white`, the name in arguments and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Colour::Black => "black",
            Colour::White => "white",
        }
    }
}

impl Not for Colour {
    type Output = Colour;

    #[inline(always)]
    fn not(self) -> Colour {
        match self {
            Colour::Black => Colour::White,
            Colour::White => Colour::Black,
        }
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Colour::Black => "Black",
            Colour::White => "White",
        })
    }
}

/// Ranks × files: at least one of each, and at most 64 squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dimensions {
    ranks: u8,
    files: u8,
}

/// Error of a text or a pair of numbers that is not a board size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DimensionsError {
    /// Text other than two whole numbers with an `x` between them.
    #[error("{0:?} is not a board size: write ranks x files without spaces, such as 6x6 or 8x7")]
    Syntax(String),
    /// One of the numbers is zero.
    #[error("a board of {ranks}x{files} has no squares: both numbers must be at least 1")]
    Empty {
        /// Number of ranks.
        ranks: u32,
        /// Number of files.
        files: u32,
    },
    /// More than 64 squares.
    #[error("a board of {ranks}x{files} has {} squares: at most 64 are possible", u64::from(*ranks) * u64::from(*files))]
    TooLarge {
        /// Number of ranks.
        ranks: u32,
        /// Number of files.
        files: u32,
    },
}

impl DimensionsError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl Dimensions {
    /// Creates the dimensions of a board with 1 to 64 squares.
    ///
    /// # Errors
    /// If it has no squares or more than 64.
    pub fn new(ranks: u32, files: u32) -> Result<Self, DimensionsError> {
        if ranks == 0 || files == 0 {
            return Err(DimensionsError::Empty { ranks, files });
        }
        if u64::from(ranks) * u64::from(files) > u64::from(MAX_SQUARES) {
            return Err(DimensionsError::TooLarge { ranks, files });
        }
        Ok(Dimensions { ranks: ranks as u8, files: files as u8 })
    }

    /// Number of ranks (rows).
    #[inline]
    pub const fn ranks(self) -> u32 {
        self.ranks as u32
    }

    /// Number of files (columns).
    #[inline]
    pub const fn files(self) -> u32 {
        self.files as u32
    }

    /// Number of squares, 1 to 64.
    #[inline]
    pub const fn squares(self) -> u32 {
        self.ranks as u32 * self.files as u32
    }

    /// Returns true if the number of ranks or of files is even. Then some reflection exchanges the colours, and
    /// every jumping-phase position is equivalent to one with Black to move.
    #[inline]
    pub const fn has_even_side(self) -> bool {
        self.ranks.is_multiple_of(2) || self.files.is_multiple_of(2)
    }
}

impl fmt::Display for Dimensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.ranks, self.files)
    }
}

serialize_as_text!(Dimensions: "Ranks x files.");

impl FromStr for Dimensions {
    type Err = DimensionsError;

    fn from_str(text: &str) -> Result<Self, DimensionsError> {
        let syntax = || DimensionsError::Syntax(quote(text));
        let number = |part: &str| {
            if part.is_empty() || part.len() > 9 || !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(syntax());
            }
            part.parse::<u32>().map_err(|_| syntax())
        };
        let (ranks, files) = text.split_once(['x', 'X', '×']).ok_or_else(syntax)?;
        Dimensions::new(number(ranks)?, number(files)?)
    }
}

/// The four directions of a jump. A step in one of the first two directions shifts a bit set to the left, a step in one
/// of the last two to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Towards higher files.
    East,
    /// Towards the bottom, rank 1.
    South,
    /// Towards file a.
    West,
    /// Towards the top rank.
    North,
}

impl Direction {
    /// All four, in the order in which moves are generated.
    pub const ALL: [Direction; 4] =
        [Direction::East, Direction::South, Direction::West, Direction::North];

    /// 0 for the horizontal axis, 1 for the vertical.
    #[inline(always)]
    pub const fn axis(self) -> usize {
        self as usize & 1
    }

    /// Returns true if a step in this direction increases the number of the square.
    #[inline(always)]
    pub const fn is_forward(self) -> bool {
        (self as usize) < 2
    }
}

/// The squares of a set in increasing order.
pub fn squares(set: u64) -> impl Iterator<Item = u8> {
    let mut rest = set;
    std::iter::from_fn(move || {
        let square = (rest != 0).then(|| rest.trailing_zeros() as u8)?;
        rest &= rest - 1;
        Some(square)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_not_board_sizes_are_errors() {
        for text in ["", "6", "x", "6x", "x6", "6x6x6", "-1x4", "+1x4", "6 x6", "1e1x2", "ax6"] {
            assert!(
                matches!(text.parse::<Dimensions>(), Err(DimensionsError::Syntax(_))),
                "{text:?}"
            );
        }
        let cut = DimensionsError::Syntax("6".repeat(40) + "…");
        assert_eq!("6".repeat(41).parse::<Dimensions>(), Err(cut));
        assert!(matches!("0x5".parse::<Dimensions>(), Err(DimensionsError::Empty { .. })));
        assert!(matches!("5x13".parse::<Dimensions>(), Err(DimensionsError::TooLarge { .. })));
        assert!(matches!("4294967295x2".parse::<Dimensions>(), Err(DimensionsError::Syntax(_))));
    }
}
