//! A task, and the text by which it travels.

use std::fmt;
use std::str::FromStr;

use crate::error::ErrorKind;
use crate::konane::{Colour, Dimensions};
use crate::system::quote;

/// What a task makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Work {
    /// The values of a slice of rows.
    Rows {
        /// Black stones.
        black: u32,
        /// The side to move. White's rows come first.
        to_move: Colour,
        /// Which slice.
        slice: u32,
    },
    /// The file of a layer, from the slices.
    Layer {
        /// Stones of both colours.
        stones: u32,
    },
}

/// A task of a build: all that whoever runs it has to know, beside the directory. As text it is one
/// line, such as `konane-task 1 6x6 4096 white 9 3`: version, board, rows of a slice, side to
/// move, black stones and slice; or `konane-task 1 6x6 4096 layer 17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// The board.
    pub dimensions: Dimensions,
    /// The most rows of a slice.
    pub(super) slice_rows: u32,
    /// What it makes.
    pub work: Work,
}

/// A text that is no task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no task of this version: {what}; take the tasks from a plan")]
pub struct TaskError {
    /// The beginning of the text.
    pub text: String,
    /// What is wrong.
    pub what: &'static str,
}

impl TaskError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

const MAGIC: &str = "konane-task";
const VERSION: &str = "1";

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MAGIC} {VERSION} {} {} ", self.dimensions, self.slice_rows)?;
        match self.work {
            Work::Rows { black, to_move, slice } => write!(f, "{} {black} {slice}", to_move.name()),
            Work::Layer { stones } => write!(f, "layer {stones}"),
        }
    }
}

impl FromStr for Task {
    type Err = TaskError;

    fn from_str(text: &str) -> Result<Self, TaskError> {
        parse(text).map_err(|what| TaskError { text: quote(text), what })
    }
}

fn parse(text: &str) -> Result<Task, &'static str> {
    let words: Vec<&str> = text.split(' ').collect();
    let [MAGIC, version, board, rows, kind, rest @ ..] = &words[..] else {
        return Err("it does not begin like one");
    };
    if *version != VERSION {
        return Err("its version is another");
    }
    let number = |word: &str| word.parse::<u32>().map_err(|_| "a number is wrong");
    let dimensions: Dimensions = board.parse().map_err(|_| "the board is wrong")?;
    let slice_rows = number(rows)?;
    if slice_rows == 0 || !slice_rows.is_multiple_of(8) {
        return Err("the rows of a slice are no multiple of eight");
    }
    let black_squares = dimensions.squares().div_ceil(2);
    let work = match (*kind, rest) {
        ("layer", [stones]) => {
            let stones = number(stones)?;
            if stones > dimensions.squares() {
                return Err("there are no layers with so many stones");
            }
            Work::Layer { stones }
        }
        ("black" | "white", [black, slice]) => {
            let to_move = if *kind == "black" { Colour::Black } else { Colour::White };
            let (black, slice) = (number(black)?, number(slice)?);
            if black > black_squares {
                return Err("the board has not so many black squares");
            }
            Work::Rows { black, to_move, slice }
        }
        _ => return Err("what it makes is not known"),
    };
    let task = Task { dimensions, slice_rows, work };
    // No second spelling.
    if task.to_string() == text { Ok(task) } else { Err("a number is written in another way") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_others_refused() {
        for text in ["konane-task 1 6x6 4096 white 9 3", "konane-task 1 1x9 8 layer 9"] {
            assert_eq!(text.parse::<Task>().unwrap().to_string(), text);
        }
        for (text, what) in [
            ("", "does not begin"),
            ("konane-task 2 6x6 8 layer 3", "version"),
            ("konane-task 1 9x9 8 layer 3", "board"),
            ("konane-task 1 6x6 12 layer 3", "multiple of eight"),
            ("konane-task 1 6x6 0 layer 3", "multiple of eight"),
            ("konane-task 1 6x6 8 layer 37", "so many stones"),
            ("konane-task 1 6x6 8 layer +3", "another way"),
            ("konane-task 1 6x6 8 layer 3 ", "not known"),
            ("konane-task 1 6x6 8 white 19 0", "black squares"),
            ("konane-task 1 6x6 8 white 9", "not known"),
            ("konane-task 1 6x6 8 black 9 x", "number"),
        ] {
            let error = text.parse::<Task>().unwrap_err();
            assert!(error.what.contains(what), "{text}: {error}");
        }
    }
}
