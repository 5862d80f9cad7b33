//! Parsing of boards, positions and times in requests.

use std::time::Duration;

use crate::web::reply::ApiError;
use konane::notation::{parse_line, parse_position_as};
use konane::{Board, Dimensions, Move, PhaseChoice, Position};

/// Default of `time` in milliseconds.
const DEFAULT_TIME: u64 = 200;

/// Maximum of `time` in milliseconds.
const MAX_TIME: u64 = 2000;

/// The position of a request: the one that it names, and the moves that follow.
#[derive(Debug)]
pub struct PlayedPosition {
    /// The board.
    pub board: Board,
    /// The position before the moves.
    pub start: Position,
    /// The moves.
    pub moves: Vec<Move>,
    /// The position after the moves.
    pub position: Position,
}

impl PlayedPosition {
    /// Parses `board`, `position` (by default the start of the game) with its `phase` (by default `auto`), and
    /// `moves` ([`parse_line`]). A `_` stands for a space.
    pub fn read(
        board: &str,
        position: &Option<String>,
        phase: &Option<String>,
        moves: &Option<String>,
    ) -> Result<PlayedPosition, ApiError> {
        let (dimensions, phase) = (self::board(board)?, self::phase(phase)?);
        let spaced = |text: &str| text.replace('_', " ");
        let (board, start) = match position {
            None if phase == PhaseChoice::Jump => {
                let text = "phase: jump requires a position";
                return Err(ApiError::refused(text));
            }
            None => {
                let board = Board::new(dimensions);
                let start = Position::start(&board);
                (board, start)
            }
            Some(text) => {
                parse_position_as(dimensions, &spaced(text), phase).map_err(ApiError::refused)?
            }
        };
        let moves = spaced(moves.as_deref().unwrap_or_default());
        let played = parse_line(&board, &start, &moves).map_err(ApiError::refused)?;
        let position = played.iter().fold(start, |position, &mv| position.play(&board, mv));
        Ok(PlayedPosition { board, start, moves: played, position })
    }
}

/// Parses a board.
pub fn board(text: &str) -> Result<Dimensions, ApiError> {
    text.parse().map_err(ApiError::refused)
}

/// Parses the phase of a position.
pub fn phase(text: &Option<String>) -> Result<PhaseChoice, ApiError> {
    let choice = text.as_deref().map_or(Ok(PhaseChoice::Auto), str::parse);
    choice.map_err(|error| ApiError::refused(format!("phase: {error}")))
}

/// Converts the milliseconds of `time`.
pub fn time(milliseconds: Option<u64>) -> Result<Duration, ApiError> {
    match milliseconds.unwrap_or(DEFAULT_TIME) {
        time if time <= MAX_TIME => Ok(Duration::from_millis(time)),
        _ => Err(ApiError::refused(format!(
            "time: at most {MAX_TIME} milliseconds; repeat the request to continue"
        ))),
    }
}
