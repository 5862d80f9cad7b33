//! `POST /api/v1/konane/setup`: whether stones can be a position.

use axum::Json;
use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::cli::explore::params::{NoParams, Params};
use crate::cli::explore::reply::{Answer, Body, Problem};
use crate::cli::judged::phase_name;
use crate::konane::notation::{format_position, parse_square};
use crate::konane::{Board, Colour, Position, Setup};

/// The body: a position's text, or its occupied squares and the side to move.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupRequest {
    /// Ranks x files.
    board: String,
    /// The position.
    position: Option<String>,
    /// The phase of the position: `auto` (if nothing is said: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// Squares with a stone; its colour is that of the square.
    squares: Option<Vec<String>>,
    /// With `squares`: `black` or `white`.
    to_move: Option<Side>,
}

/// A side.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    Black,
    White,
}

/// The answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct SetupJson {
    /// Ranks x files.
    pub board: String,
    /// The position as it is written.
    pub position: String,
    /// `black` or `white`.
    pub to_move: String,
    /// `removal` or `jump`.
    pub phase: String,
}

/// Checks it.
pub async fn post(_: Params<NoParams>, Body(request): Body<SetupRequest>) -> Answer<SetupJson> {
    let SetupRequest { board, position, phase, squares, to_move } = request;
    let (board, position) = match (position, squares, to_move) {
        (Some(text), None, None) => {
            let place = Place::read(&board, Some(&text), phase.as_deref(), None)?;
            (place.board, place.position)
        }
        (None, Some(squares), Some(side)) => {
            let phase = super::place::phase(phase.as_deref())?;
            let board = phase.board(super::place::board(&board)?);
            let to_move = match side {
                Side::Black => Colour::Black,
                Side::White => Colour::White,
            };
            let position = stand(&board, &squares, to_move)?;
            (board, position)
        }
        _ => return Err(Problem::refused("give either position, or squares and to_move")),
    };
    Ok(Json(SetupJson {
        board: board.dimensions().to_string(),
        position: format_position(&board, &position),
        to_move: position.to_move().name().to_owned(),
        phase: phase_name(position.phase(&board)).to_owned(),
    }))
}

fn stand(board: &Board, squares: &[String], to_move: Colour) -> Result<Position, Problem> {
    let mut occupied = 0u64;
    for name in squares {
        let square = parse_square(board.dimensions(), name).map_err(Problem::refused)?;
        occupied |= 1 << square;
    }
    let stones = |colour| occupied & board.squares_of(colour);
    let (black, white) = (stones(Colour::Black), stones(Colour::White));
    Position::from_setup(board, Setup { black, white, to_move }).map_err(Problem::refused)
}
