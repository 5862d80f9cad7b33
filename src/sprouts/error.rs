//! Why a text is not a Sprouts position, and why the moves of one are not listed.

use super::moves::MAX_MOVES;
use crate::error::ErrorKind;
use crate::search::sums::game::GameFull;

/// Why the moves of a position are not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MovesError {
    /// There is no room for the lands after them, or somebody said to stop.
    #[error(transparent)]
    Full(#[from] GameFull),
    /// A land has more than are listed.
    #[error(
        "a land of the position has more than {MAX_MOVES} moves, which are not listed: ask about a \
         smaller position"
    )]
    TooMany,
}

impl MovesError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            MovesError::Full(error) => error.kind(),
            MovesError::TooMany => ErrorKind::Limit,
        }
    }
}

/// What is wrong with the text of a position, and where: every `at` is a byte of the text, counted
/// from 0 (printed from 1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing is written.
    #[error("the text is empty: write ! for the position in which nothing is left")]
    Empty,
    /// A character that no position has.
    #[error("character {} ({found:?}) has no meaning in a position", at + 1)]
    Unknown {
        /// Where.
        at: usize,
        /// The character.
        found: char,
    },
    /// A character in a wrong place.
    #[error("character {} ({found:?}) cannot stand here: {expected}", at + 1)]
    Misplaced {
        /// Where.
        at: usize,
        /// The character.
        found: char,
        /// What could.
        expected: &'static str,
    },
    /// The text ends too early.
    #[error("the text ends after {at} characters: {expected}")]
    Unfinished {
        /// Where.
        at: usize,
        /// What is missing.
        expected: &'static str,
    },
    /// A digit that is no number of curve ends.
    #[error("character {}: a spot has 0 to 3 curve ends, not {digit}", at + 1)]
    Digit {
        /// Where.
        at: usize,
        /// The digit.
        digit: char,
    },
    /// A boundary without a vertex.
    #[error("character {}: the boundary that should end here is empty", at + 1)]
    EmptyBoundary {
        /// Where it should end.
        at: usize,
    },
    /// A region without a boundary, or a land without a region, in the older form of the text.
    #[error("character {}: the {what} that should end here is empty", at + 1)]
    EmptyPart {
        /// Where it should end.
        at: usize,
        /// `region` or `land`.
        what: &'static str,
    },
    /// `0*` without a number.
    #[error("character {}: 0* needs a number of spots, such as 0*12", at + 1)]
    Count {
        /// Where the number should begin.
        at: usize,
    },
    /// A spot without curves together with other vertices in a boundary.
    #[error(
        "character {}: a spot without curves is a boundary by itself; put a . between them",
        at + 1
    )]
    LooseSpot {
        /// Where.
        at: usize,
    },
    /// The index of a letter is no number in parentheses.
    #[error("character {}: the index of a letter is a number below 2^32 in parentheses", at + 1)]
    Index {
        /// Where.
        at: usize,
    },
    /// More vertices than this program handles.
    #[error("character {}: more than {max} vertices are written; this program handles no more", at + 1)]
    TooLarge {
        /// Where the first one too many begins.
        at: usize,
        /// How many may be written.
        max: usize,
    },
    /// A nim heap, as it stands beside a position in answers.
    #[error(
        "character {}: a nim heap stands beside a position and is no part of it: give the position \
         alone",
        at + 1
    )]
    Heap {
        /// Where its `*` is.
        at: usize,
    },
    /// A letter that occurs once where it must occur twice.
    #[error(
        "character {}: {name} occurs once {place}, but a letter occurs twice there \
         (a spot with one life that occurs once is written 2)",
        at + 1
    )]
    Once {
        /// Where.
        at: usize,
        /// The letter.
        name: String,
        /// Within which part it must occur twice.
        place: &'static str,
    },
    /// A letter that occurs more than twice.
    #[error("character {}: {name} occurs a third time {place}, but a letter occurs twice there", at + 1)]
    ThreeTimes {
        /// Where the third one is.
        at: usize,
        /// The letter.
        name: String,
        /// Within which part it must occur twice.
        place: &'static str,
    },
    /// An upper-case letter twice in one boundary.
    #[error(
        "character {}: {name} occurs twice in one boundary: such a spot is written in lower case",
        at + 1
    )]
    OneBoundary {
        /// Where the second one is.
        at: usize,
        /// The letter.
        name: String,
    },
    /// Two boundaries of one region that hang together by way of spots: in the plane they would be
    /// one boundary.
    #[error(
        "character {}: by way of {name} two boundaries of one region hang together; in the plane \
         they would be one boundary, or the region two regions",
        at + 1
    )]
    Ring {
        /// Where the letter that closes the ring occurs for the second time.
        at: usize,
        /// The letter.
        name: String,
    },
    /// Pairs of a boundary that cross.
    #[error(
        "character {}: the occurrences of {name} and {other} cross in their boundary, which \
         cannot be drawn in the plane",
        at + 1
    )]
    Crossing {
        /// Where.
        at: usize,
        /// The letter that is closed here.
        name: String,
        /// The one that is still open.
        other: String,
    },
}

impl TextError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl TextError {
    /// The byte of the text that the error is about; none if there is no text.
    pub fn at(&self) -> Option<usize> {
        use TextError::*;
        match *self {
            Empty => None,
            Unknown { at, .. }
            | Misplaced { at, .. }
            | Unfinished { at, .. }
            | Digit { at, .. }
            | EmptyBoundary { at }
            | EmptyPart { at, .. }
            | Count { at }
            | LooseSpot { at }
            | Index { at }
            | TooLarge { at, .. }
            | Heap { at }
            | Once { at, .. }
            | ThreeTimes { at, .. }
            | OneBoundary { at, .. }
            | Ring { at, .. }
            | Crossing { at, .. } => Some(at),
        }
    }
}
