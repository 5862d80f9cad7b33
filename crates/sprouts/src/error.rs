//! [`TextError`] describes an invalid text of a position and [`MoveTextError`] that of a move; [`MovesError`] is the
//! reason for which the moves of a position are not listed.

use pn_search::ErrorKind;
use pn_search::sums::game::GameFull;

use super::moves::MAX_MOVES;

/// Reason for which the moves of a position are not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MovesError {
    /// There is not enough memory for the lands after the moves, or the stop function returned true.
    #[error(transparent)]
    Full(#[from] GameFull),
    /// A land has more moves than this program lists.
    #[error(
        "a land of the position has more than {MAX_MOVES} moves, which is too many to list: choose a \
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

/// Error in the text of a move between numbered spots.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveTextError {
    /// The text does not have the form of a move.
    #[error("character {}: {problem}", at + 1)]
    Syntax {
        /// Byte offset of the error, counted from 0 and printed from 1.
        at: usize,
        /// Explanation of what is allowed.
        problem: &'static str,
    },
    /// A number that no spot has.
    #[error("there is no spot {spot}: the spots have the numbers 1 to {spots}")]
    NoSpot {
        /// The number.
        spot: u32,
        /// Number of spots.
        spots: u32,
    },
    /// A new spot whose number is not the next one.
    #[error(
        "the new spot is {expected}, not {fresh}: spots are numbered in the order of the moves"
    )]
    FreshSpot {
        /// The number in the text.
        fresh: u32,
        /// The right number.
        expected: u32,
    },
    /// A spot with three curve ends.
    #[error("spot {spot} is dead: it has three curve ends")]
    Dead {
        /// The spot.
        spot: u32,
    },
    /// A spot with one life, joined with itself.
    #[error("spot {spot} has one life left, and a curve back to it needs two")]
    OneLife {
        /// The spot.
        spot: u32,
    },
    /// Two spots without a common region.
    #[error("spots {from} and {to} lie in no common region")]
    Apart {
        /// Start of the curve.
        from: u32,
        /// End of the curve.
        to: u32,
    },
    /// A list after a move that does not divide a region.
    #[error(
        "a curve from {from} to {to} separates no spots, because it joins two boundaries: omit the list"
    )]
    NotEnclosing {
        /// Start of the curve.
        from: u32,
        /// End of the curve.
        to: u32,
    },
    /// A list that no curve makes.
    #[error(
        "no curve from {from} to {to} separates exactly the listed spots from others: list all live \
         spots that are on one side of the curve only"
    )]
    List {
        /// Start of the curve.
        from: u32,
        /// End of the curve.
        to: u32,
    },
    /// The spot after `@` is not in the region of the move.
    #[error(
        "the new spot cannot be accessible to spot {spot}: write a spot in the region of the curve after '@'"
    )]
    Inaccessible {
        /// The spot.
        spot: u32,
    },
    /// Several moves that lead to different positions.
    #[error("several moves fit: write {texts}")]
    Ambiguous {
        /// The texts of these moves.
        texts: String,
    },
}

impl MoveTextError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// Error in the text of a position. Every `at` is a byte offset in the text, counted from 0 and printed
/// from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The text is empty.
    #[error("the text is empty: write '!' for the position in which nothing is left")]
    Empty,
    /// A character that occurs in no position.
    #[error("character {} ({found:?}) has no meaning in a position", at + 1)]
    Unknown {
        /// Offset of the character.
        at: usize,
        /// The character.
        found: char,
    },
    /// A character in a wrong place.
    #[error("character {} ({found:?}) cannot stand here: {expected}", at + 1)]
    Misplaced {
        /// Offset of the character.
        at: usize,
        /// The character.
        found: char,
        /// Explanation of what is allowed.
        expected: &'static str,
    },
    /// The text ends too early.
    #[error("the text ends after {at} characters: {expected}")]
    Unfinished {
        /// Length of the text.
        at: usize,
        /// Explanation of what is missing.
        expected: &'static str,
    },
    /// A digit that is not a number of curve ends.
    #[error("character {}: a spot has 0 to 3 curve ends, not {digit}", at + 1)]
    Digit {
        /// Offset of the digit.
        at: usize,
        /// The digit.
        digit: char,
    },
    /// A boundary without a vertex.
    #[error("character {}: the boundary that should end here is empty", at + 1)]
    EmptyBoundary {
        /// Offset of the expected end.
        at: usize,
    },
    /// A region without a boundary, or a land without a region, in the older form of the text.
    #[error("character {}: the {what} that should end here is empty", at + 1)]
    EmptyPart {
        /// Offset of the expected end.
        at: usize,
        /// `region` or `land`.
        what: &'static str,
    },
    /// `0*` without a number.
    #[error("character {}: 0* needs a number of spots, such as 0*12", at + 1)]
    Count {
        /// Offset of the expected number.
        at: usize,
    },
    /// A spot without curves together with other vertices in a boundary.
    #[error(
        "character {}: a spot without curves is a boundary of its own: write '.' between it and other \
         vertices",
        at + 1
    )]
    LooseSpot {
        /// Offset of the second vertex.
        at: usize,
    },
    /// The index of a letter is not a number in parentheses.
    #[error("character {}: the index of a letter is a number below 2^32 in parentheses", at + 1)]
    Index {
        /// Offset of the error.
        at: usize,
    },
    /// More vertices than this program handles.
    #[error("character {}: the text has too many vertices: the maximum is {max}", at + 1)]
    TooLarge {
        /// Offset of the first vertex that is too many.
        at: usize,
        /// Maximum number of vertices.
        max: usize,
    },
    /// A nim heap after the position, as in results of searches.
    #[error(
        "character {}: a nim heap is not part of a position: give the position alone",
        at + 1
    )]
    Heap {
        /// Offset of the heap's `*`.
        at: usize,
    },
    /// A letter that occurs once where it must occur twice.
    #[error(
        "character {}: {name} occurs once {place}, but a letter occurs twice there \
         (a spot with one life that occurs once is written 2)",
        at + 1
    )]
    Once {
        /// Offset of the letter.
        at: usize,
        /// The letter.
        name: String,
        /// The part in which it must occur twice.
        place: &'static str,
    },
    /// A letter that occurs more than twice.
    #[error("character {}: {name} occurs a third time {place}, but a letter occurs twice there", at + 1)]
    ThreeTimes {
        /// Offset of the third occurrence.
        at: usize,
        /// The letter.
        name: String,
        /// The part in which it must occur twice.
        place: &'static str,
    },
    /// An upper-case letter twice in one boundary.
    #[error(
        "character {}: {name} occurs twice in one boundary: such a spot is written in lower case",
        at + 1
    )]
    OneBoundary {
        /// Offset of the second occurrence.
        at: usize,
        /// The letter.
        name: String,
    },
    /// Two boundaries of one region that are connected by spots: in the plane they would be one boundary.
    #[error(
        "character {}: {name} connects two boundaries of one region; in the plane they would be one \
         boundary, or the region would be two regions",
        at + 1
    )]
    Ring {
        /// Offset of the second occurrence of the letter that closes the ring.
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
        /// Offset of the second occurrence of `name`.
        at: usize,
        /// The letter that occurs for the second time here.
        name: String,
        /// The letter whose second occurrence is still missing.
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
    /// Returns the byte offset of the error; `None` if the text is empty.
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use konane_base::file::FileError;

    use super::*;
    use crate::cluster::ClusterError;
    use crate::grundy_file::GrundyFileError;
    use crate::spr_file::SprError;
    use konane_base::record_file::RecordFileError;

    #[test]
    fn an_error_has_the_kind_of_the_error_that_it_wraps() {
        let path = PathBuf::from("a");
        let not_replaceable =
            || FileError::NotReplaceable { path: path.clone(), found: "a directory" };
        let busy = || FileError::Busy { path: path.clone() };
        for (make, kind) in [
            (&not_replaceable as &dyn Fn() -> FileError, ErrorKind::Usage),
            (&busy, ErrorKind::File),
        ] {
            assert_eq!(SprError::from(make()).kind(), kind);
            // Never a usage error: a file of Grundy numbers is read before it is written.
            let numbers = GrundyFileError::from(RecordFileError::from(make()));
            assert_eq!(ClusterError::from(numbers).kind(), ErrorKind::File);
        }
        assert_eq!(ClusterError::from(GrundyFileError::from(GameFull)).kind(), ErrorKind::Limit);
        assert_eq!(MovesError::from(GameFull).kind(), ErrorKind::Limit);
    }
}
