//! Parsing of boards, positions and times in requests.

use std::time::Duration;

pub use crate::args::played_position::PlayedPosition;

use crate::args::played_position;
use crate::web::reply::ApiError;
use konane::{Dimensions, PhaseChoice};

/// Default of `time` in milliseconds.
const DEFAULT_TIME: u64 = 200;

/// Maximum of `time` in milliseconds.
const MAX_TIME: u64 = 2000;

impl PlayedPosition {
    /// [`PlayedPosition::parse`]. In `position` and `moves`, a `_` stands for a space.
    pub fn read(
        board: &str,
        position: &Option<String>,
        phase: &Option<String>,
        moves: &Option<String>,
    ) -> Result<PlayedPosition, ApiError> {
        let [position, moves] =
            [position, moves].map(|text| text.as_deref().map(|text| text.replace('_', " ")));
        PlayedPosition::parse(board, position.as_deref(), phase.as_deref(), moves.as_deref())
            .map_err(ApiError::refused)
    }
}

/// Parses a board.
pub fn board(text: &str) -> Result<Dimensions, ApiError> {
    text.parse().map_err(ApiError::refused)
}

/// Parses the phase of a position.
pub fn phase(text: &Option<String>) -> Result<PhaseChoice, ApiError> {
    played_position::phase(text.as_deref()).map_err(ApiError::refused)
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
