//! [`Square`]s of a board and their names.

use std::fmt;

use konane_base::serialize_as_text;

use super::geometry::Dimensions;
use crate::error::ErrorKind;
use crate::system::quote;

/// Error of a text that is not a square of the board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SquareError {
    /// Text other than letters followed by a number without leading zeros.
    #[error(
        "{0:?} is not a square: write its file in letters and its rank as a number, such as a1"
    )]
    Syntax(String),
    /// A square that the board does not have.
    #[error(
        "there is no square {square} on the {board} board, whose files are a to {last_file} and \
         whose ranks are 1 to {last_rank}"
    )]
    OffBoard {
        /// The square as it was written.
        square: String,
        /// The board.
        board: Dimensions,
        /// Letters of the rightmost file.
        last_file: String,
        /// Number of the top rank.
        last_rank: u32,
    },
}

impl SquareError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// A square of a board. Its [`Display`](fmt::Display) text is its name, such as `e4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square {
    index: u8,
    dimensions: Dimensions,
}

impl Square {
    /// Creates the square with the number `index`. Squares are numbered along the ranks, with 0 at the top left.
    ///
    /// # Panics
    /// In debug builds, if the square is not on the board.
    #[inline]
    pub fn new(dimensions: Dimensions, index: u8) -> Self {
        debug_assert!(u32::from(index) < dimensions.squares());
        Square { index, dimensions }
    }

    /// The number of the square. Squares are numbered along the ranks, with 0 at the top left.
    #[inline]
    pub const fn index(self) -> u8 {
        self.index
    }

    /// The set that contains only this square.
    #[inline]
    pub const fn bit(self) -> u64 {
        1 << self.index
    }

    /// The dimensions of the board.
    #[inline]
    pub const fn dimensions(self) -> Dimensions {
        self.dimensions
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&square_name(self.dimensions, self.index.into()))
    }
}

serialize_as_text!(Square: "A square, such as `e4`.");

/// The name of a square: `a1` is the bottom-left one.
///
/// # Panics
/// If the square is not on the board.
pub fn square_name(dimensions: Dimensions, square: u32) -> String {
    assert!(square < dimensions.squares(), "a {dimensions} board has no square number {square}");
    let (row, file) = (square / dimensions.files(), square % dimensions.files());
    file_name(file) + &(dimensions.ranks() - row).to_string()
}

/// Parses the name of a square, in small or capital letters. Returns the number of the square
/// ([`Square::index`]).
///
/// # Errors
/// If the text does not consist of letters and a number, or names a square outside of the board.
pub fn parse_square(dimensions: Dimensions, text: &str) -> Result<u32, SquareError> {
    let syntax = || SquareError::Syntax(quote(text));
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (file, rank) = text.split_at(letters);
    let is_number = rank.bytes().all(|b| b.is_ascii_digit()) && !rank.starts_with('0');
    if file.is_empty() || rank.is_empty() || !is_number {
        return Err(syntax());
    }
    let off_board = || SquareError::OffBoard {
        square: quote(text),
        board: dimensions,
        last_file: file_name(dimensions.files() - 1),
        last_rank: dimensions.ranks(),
    };
    // The letters are digits with the values 1 to 26, so aa follows z.
    let file = file.bytes().fold(0u32, |number, letter| {
        let digit = u32::from(letter.to_ascii_lowercase() - b'a') + 1;
        number.saturating_mul(26).saturating_add(digit)
    });
    let rank: u32 = rank.parse().map_err(|_| off_board())?;
    if file > dimensions.files() || rank > dimensions.ranks() {
        return Err(off_board());
    }
    Ok((dimensions.ranks() - rank) * dimensions.files() + file - 1)
}

/// Letters of a file: a to z, then aa, ab and so on; 64 files end with bl.
pub(super) fn file_name(file: u32) -> String {
    let letter = |number: u32| char::from(b'a' + number as u8);
    let mut name = String::new();
    if file >= 26 {
        name.push(letter(file / 26 - 1));
    }
    name.push(letter(file % 26));
    name
}
