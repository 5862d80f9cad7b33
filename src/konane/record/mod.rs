//! Records of games: headers and moves in a small text file.
//!
//! ```text
//! Board: 5x5
//! Black: Kaiulani
//! White: konane
//! Result: black
//!
//! 1. c3 c4 2. c1-c3! {the only move} a4-c4
//! # a remark for readers of the file
//! 3. d4-b4?
//! ```
//!
//! docs/GAME_FORMAT.md specifies the format. Every move of a parsed [`Record`] is legal. Headers that the
//! format does not define are stored. Remarks are not stored.
//!
//! [`Record`] has the headers and the [`RecordedMove`]s, each with its [`Mark`] and comments. [`RecordOptions`] are for
//! records that lack information. [`RecordError`] is a [`RecordProblem`] with its line and column.

mod error;
mod headers;
mod read;
mod write;

pub use error::{RecordError, RecordProblem};
pub use read::RecordOptions;

use super::board::Board;
use super::geometry::{Colour, Dimensions};
use super::moves::Move;
use super::position::Position;

/// The game of a record file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The board.
    pub dimensions: Dimensions,
    /// Name of the player of Black.
    pub black: Option<String>,
    /// Name of the player of White.
    pub white: Option<String>,
    /// The first position.
    pub start: Position,
    /// The winner, by the rules or by resignation; `None` if it is unknown.
    pub result: Option<Colour>,
    /// All other headers, in order: names and values.
    pub others: Vec<(String, String)>,
    /// Comments before the first move.
    pub comments: Vec<String>,
    /// The moves from `start`, each of them legal.
    pub moves: Vec<RecordedMove>,
}

/// A move in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedMove {
    /// The move.
    pub mv: Move,
    /// An assessment of the move.
    pub mark: Option<Mark>,
    /// Comments after the move.
    pub comments: Vec<String>,
}

impl RecordedMove {
    /// A move without mark and comments.
    pub fn new(mv: Move) -> Self {
        RecordedMove { mv, mark: None, comments: Vec::new() }
    }
}

/// A mark after a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// `?`: the move loses a won game.
    Mistake,
    /// `!`: the move is the only legal one, or the only one that wins.
    Only,
    /// `~`: the outcome of the move is unknown.
    Unknown,
}

impl Mark {
    /// All marks.
    pub const ALL: [Mark; 3] = [Mark::Mistake, Mark::Only, Mark::Unknown];

    /// `?`, `!` or `~`.
    pub const fn symbol(self) -> char {
        match self {
            Mark::Mistake => '?',
            Mark::Only => '!',
            Mark::Unknown => '~',
        }
    }
}

impl Record {
    /// Creates a game without moves.
    pub fn new(dimensions: Dimensions, start: Position) -> Self {
        Record {
            dimensions,
            black: None,
            white: None,
            start,
            result: None,
            others: Vec::new(),
            comments: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// The board, with the rules of the first position ([`Position::rules`]).
    pub fn board(&self) -> Board {
        self.start.board()
    }

    /// The positions of the game, from the first one to the one after the last move.
    pub fn positions(&self) -> Vec<Position> {
        let board = self.board();
        let mut positions = vec![self.start];
        let mut last = self.start;
        for recorded in &self.moves {
            last = last.play(&board, recorded.mv);
            positions.push(last);
        }
        positions
    }

    /// The number of the turn to which a ply belongs. A move of Black and the following move of White belong to the
    /// same turn. Plies are counted from 0, turns from 1.
    fn turn(start: &Position, ply: usize) -> usize {
        let second = usize::from(start.to_move() == Colour::White);
        (ply + second) / 2 + 1
    }
}

/// Replaces runs of white space by single spaces, and removes white space at the ends.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = "\
# a remark
Board: 5x5
Black: Kaiulani
White: konane
Site: Honolulu, 21:00

{a comment} 1. c3 c4 2. c1-c3! {the only
move} {really} # remark } {
2... a4c4? 3. d4-b4~
";

    #[test]
    fn a_game_is_read_and_written() {
        let record: Record = GAME.parse().unwrap();
        assert_eq!(record.black.as_deref(), Some("Kaiulani"));
        assert_eq!(record.others, [("Site".to_owned(), "Honolulu, 21:00".to_owned())]);
        assert_eq!(record.comments, ["a comment"]);
        assert_eq!(record.moves.len(), 5);
        assert_eq!(record.moves[2].mark, Some(Mark::Only));
        assert_eq!(record.moves[2].comments, ["the only move", "really"]);
        assert_eq!(record.result, None);
        let written = "\
Board: 5x5
Black: Kaiulani
White: konane
Site: Honolulu, 21:00

{a comment} 1. c3 c4 2. c1-c3! {the only move} {really} 2... a4-c4? 3. d4-b4~
";
        assert_eq!(record.to_string(), written);
        assert_eq!(written.parse(), Ok(record));
    }

    #[test]
    fn files_with_windows_line_ends_and_minimal_files_are_read() {
        let crlf = GAME.replace('\n', "\r\n");
        let bom = format!("\u{feff}{crlf}");
        assert_eq!(bom.parse::<Record>(), GAME.parse());
        let record: Record = "board: 3x3".parse().unwrap();
        assert_eq!(record.to_string(), "Board: 3x3\n\n");
        let over: Record = "Board: 1x4\nPosition: 4 w\n\n".parse().unwrap();
        assert_eq!(over.result, Some(Colour::Black));
    }
}
