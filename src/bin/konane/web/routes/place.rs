//! Boards, positions and times in requests.

use std::time::Duration;

use crate::web::reply::Problem;
use konane::notation::{parse_line, parse_position_as};
use konane::{Board, Dimensions, Move, PhaseChoice, Position};

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
    /// Reads `board`, `position` (the start of the game if there is none) with its `phase` (`auto` if
    /// there is none) and `moves` ([`parse_line`]). A `_` stands for a space.
    pub fn read(
        board: &str,
        position: Option<&str>,
        phase: Option<&str>,
        moves: Option<&str>,
    ) -> Result<Place, Problem> {
        let (dimensions, phase) = (self::board(board)?, self::phase(phase)?);
        let spaced = |text: &str| text.replace('_', " ");
        let (board, start) = match position {
            None if phase == PhaseChoice::Jump => {
                let text = "phase: jump is about position, which is missing";
                return Err(Problem::refused(text));
            }
            None => {
                let board = Board::new(dimensions);
                let start = Position::start(&board);
                (board, start)
            }
            Some(text) => {
                parse_position_as(dimensions, &spaced(text), phase).map_err(Problem::refused)?
            }
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

/// Reads the phase of a position.
pub fn phase(text: Option<&str>) -> Result<PhaseChoice, Problem> {
    let choice = text.map_or(Ok(PhaseChoice::Auto), str::parse);
    choice.map_err(|error| Problem::refused(format!("phase: {error}")))
}

/// The time that a request may search, from its milliseconds.
pub fn time(milliseconds: Option<u64>) -> Result<Duration, Problem> {
    match milliseconds.unwrap_or(TIME) {
        time if time <= MOST_TIME => Ok(Duration::from_millis(time)),
        _ => Err(Problem::refused(format!("time: at most {MOST_TIME} milliseconds; ask again"))),
    }
}
