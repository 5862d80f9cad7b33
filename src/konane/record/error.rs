//! Errors of records: a [`RecordProblem`] with its line and column.

use crate::error::ErrorKind;
use crate::konane::geometry::{Colour, DimensionsError};
use crate::konane::notation::{MoveError, PositionError};
use crate::konane::position::PhaseError;

/// Error of a text that is not the record of a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, character {column}: {problem}")]
pub struct RecordError {
    /// Number of the line, counted from 1.
    pub line: usize,
    /// Number of the character in the line, counted from 1.
    pub column: usize,
    /// The problem in this line and column.
    pub problem: RecordProblem,
}

impl RecordError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// Problem in a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordProblem {
    /// Bytes that are not UTF-8.
    #[error("the text is not UTF-8 from here on")]
    NotUtf8,
    /// There is no `Board:` header, and no [`RecordOptions::board`](super::RecordOptions::board).
    #[error("the board is missing: begin with a line such as Board: 6x6")]
    NoBoard,
    /// A line before the moves that is not a header.
    #[error(
        "{0:?} is no header: write Name: value, and an empty line between the headers and the moves"
    )]
    NotAHeader(String),
    /// A second header of the same name.
    #[error("the header {0} is there twice")]
    Twice(String),
    /// An invalid value of `Board:`.
    #[error("Board: {0}")]
    Board(DimensionsError),
    /// An invalid value of `Position:`.
    #[error("Position: {0}")]
    Position(PositionError),
    /// An invalid value of `Phase:`.
    #[error("Phase: {0}")]
    Phase(PhaseError),
    /// `Phase:` without `Position:`.
    #[error("Phase: add the header Position, because Phase is the phase of that position")]
    PhaseAlone,
    /// An invalid value of `Result:`.
    #[error(
        "Result: {0:?} is not a result: write black, white or unknown, or 1-0, 0-1 or *, or Black resigns or \
         White resigns"
    )]
    Result(String),
    /// An invalid value of `Flip-Ranks:`.
    #[error("Flip-Ranks: {0:?} is neither yes nor no")]
    FlipRanks(String),
    /// A result after the moves that differs from the header.
    #[error("the result {0:?} contradicts the header Result")]
    TwoResults(String),
    /// A move after the result.
    #[error("a move or a number stands behind the result, which ends the game")]
    AfterResult,
    /// A problem in a record whose ranks are numbered from the top.
    #[error(
        "{problem} (the ranks are flipped: rank 1 of the record is rank {ranks} in this message)"
    )]
    Flipped {
        /// The problem. Its message names squares as they are after the ranks have been flipped.
        problem: Box<RecordProblem>,
        /// Number of ranks.
        ranks: u32,
    },
    /// A `Result:` that contradicts the end of the game.
    #[error("Result: the game ends with a win of {winner}, because the other side has no move")]
    OtherResult {
        /// The winner.
        winner: Colour,
    },
    /// A move number that is not the number of the next move.
    #[error("move number {found} stands where {expected} is due")]
    Number {
        /// The number of the next move.
        expected: usize,
        /// The number in the record.
        found: String,
    },
    /// Not a legal move.
    #[error("{text:?}: {reason}")]
    Move {
        /// The move as it is written.
        text: String,
        /// The error of the move.
        reason: MoveError,
    },
    /// A comment without an end.
    #[error("a comment begins here, and its closing brace is missing")]
    OpenComment,
    /// A variation without an end.
    #[error("a variation begins here, and its closing parenthesis is missing")]
    OpenVariation,
    /// The end of a variation without a beginning.
    #[error("a closing parenthesis without a variation before it")]
    StrayParenthesis,
    /// A square as a pair of numbers.
    #[error(
        "a row and a column in parentheses are not a square: write its file in letters and its rank as a number, such \
         as a1, with rank 1 at the bottom"
    )]
    RowAndColumn,
    /// The end of a comment without a beginning.
    #[error("a closing brace without a comment before it")]
    StrayBrace,
}
