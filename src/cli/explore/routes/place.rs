//! Boards, positions and times in requests.

use std::time::Duration;

use crate::cli::explore::reply::Problem;
use crate::konane::notation::{parse_line, parse_position};
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
    /// Reads `board`, `position` (the start of the game if there is none) and `moves` ([`parse_line`]).
    /// A `_` stands for a space.
    pub fn read(
        board: &str,
        position: Option<&str>,
        moves: Option<&str>,
    ) -> Result<Place, Problem> {
        let board = Board::new(self::board(board)?);
        let spaced = |text: &str| text.replace('_', " ");
        let start = match position {
            None => Position::start(&board),
            Some(text) => parse_position(&board, &spaced(text)).map_err(Problem::refused)?,
        };
        let moves = spaced(moves.unwrap_or_default());
        let played = parse_line(&board, &start, &moves).map_err(Problem::refused)?;
        let position = played.iter().fold(start, |position, &mv| position.play(&board, mv));
        Ok(Place { board, start, played, position })
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
