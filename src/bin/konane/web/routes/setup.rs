//! `POST /api/v1/konane/setup`: check of a position.

use axum::Json;
use serde::{Deserialize, Serialize};

use super::parse::PlayedPosition;
use crate::web::params::{NoParams, Params};
use crate::web::reply::{ApiError, ApiResult, Body};
use konane::notation::parse_square;
use konane::{Board, Colour, Dimensions, Phase, Position, Setup};

/// The body: a position's text, or its occupied squares and the side to move.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetupRequest {
    /// Ranks x files.
    board: String,
    /// The position.
    position: Option<String>,
    /// The phase of the position: `auto` (default: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// Occupied squares. The colour of a stone is that of its square.
    squares: Option<Vec<String>>,
    /// With `squares`: `black` or `white`.
    to_move: Option<Colour>,
}

/// The answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SetupJson {
    /// Ranks x files.
    pub board: Dimensions,
    /// The position as text.
    pub position: Position,
    /// The player to move.
    pub to_move: Colour,
    /// Kind of the moves: `removal` if a move removes a stone, otherwise `jump`.
    pub phase: Phase,
}

/// Returns the position, if it is legal.
pub async fn post(_: Params<NoParams>, Body(request): Body<SetupRequest>) -> ApiResult<SetupJson> {
    let SetupRequest { board, position, phase, squares, to_move } = request;
    let (board, position) = match (position, squares, to_move) {
        (Some(text), None, None) => {
            let played = PlayedPosition::parse(&board, Some(&text), phase.as_deref(), None);
            let played = played.map_err(ApiError::refused)?;
            (played.board, played.position)
        }
        (None, Some(squares), Some(side)) => {
            let phase = super::parse::phase(&phase)?;
            let board = phase.board(super::parse::board(&board)?);
            let position = from_squares(&board, &squares, side)?;
            (board, position)
        }
        _ => return Err(ApiError::refused("give either position, or squares and to_move")),
    };
    Ok(Json(SetupJson {
        board: board.dimensions(),
        position,
        to_move: position.to_move(),
        phase: position.phase(&board),
    }))
}

fn from_squares(board: &Board, squares: &[String], to_move: Colour) -> Result<Position, ApiError> {
    let mut occupied = 0u64;
    for name in squares {
        let square = parse_square(board.dimensions(), name).map_err(ApiError::refused)?;
        occupied |= 1 << square;
    }
    let stones = |colour| occupied & board.squares_of(colour);
    let (black, white) = (stones(Colour::Black), stones(Colour::White));
    Position::from_setup(board, Setup { black, white, to_move }).map_err(ApiError::refused)
}
