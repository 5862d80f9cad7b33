//! Boards, positions and times in requests.

use std::time::Duration;

use crate::cli::explore::reply::Problem;
use crate::konane::notation::{format_move, format_position, parse_move, parse_position};
use crate::konane::{Board, Dimensions, Move, Position};

/// How long a request may search if it does not say.
const TIME: u64 = 200;

/// How long it may at most.
const MOST_TIME: u64 = 2000;

/// A position of a request: where it begins, and what is played from there.
#[derive(Debug)]
pub struct Place {
    /// The board.
    pub board: Board,
    /// The position before the moves.
    pub start: Position,
    /// The moves.
    pub played: Vec<Move>,
    /// The position after them.
    pub position: Position,
}

impl Place {
    /// Reads `board`, `position` (the start of the game if there is none) and `moves`, separated by
    /// commas or spaces. A `_` in the position stands for a space.
    pub fn read(
        board: &str,
        position: Option<&str>,
        moves: Option<&str>,
    ) -> Result<Place, Problem> {
        let board = Board::new(self::board(board)?);
        let start = match position {
            None => Position::start(&board),
            Some(text) => {
                parse_position(&board, &text.replace('_', " ")).map_err(Problem::refused)?
            }
        };
        let (mut position, mut played) = (start, Vec::new());
        let words = moves.unwrap_or_default().split([',', ' ']).filter(|word| !word.is_empty());
        for (word, number) in words.zip(1..) {
            let mv = parse_move(&board, &position, word)
                .map_err(|error| Problem::refused(format!("move {number} ({word:?}): {error}")))?;
            position = position.play(&board, mv);
            played.push(mv);
        }
        Ok(Place { board, start, played, position })
    }

    /// The text of a position.
    pub fn text(&self, position: &Position) -> String {
        format_position(&self.board, position)
    }

    /// The text of a move.
    pub fn move_text(&self, mv: Move) -> String {
        format_move(self.board.dimensions(), mv)
    }
}

/// Reads a board.
pub fn board(text: &str) -> Result<Dimensions, Problem> {
    text.parse().map_err(Problem::refused)
}

/// The time that a request may search, from its milliseconds.
pub fn time(milliseconds: Option<u64>) -> Result<Duration, Problem> {
    match milliseconds.unwrap_or(TIME) {
        time if time <= MOST_TIME => Ok(Duration::from_millis(time)),
        _ => Err(Problem::refused(format!("time: at most {MOST_TIME} milliseconds; ask again"))),
    }
}
