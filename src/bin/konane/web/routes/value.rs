//! `GET /api/v1/konane/value`: the value of a position as a combinatorial game.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use super::SharedExplorer;
use super::parse::{PlayedPosition, time};
use crate::web::params::Params;
use crate::web::reply::{ApiError, ApiResult};
use konane::value::{SumValue, ValueTerm, evaluate};

/// Maximum memory of an evaluation in bytes.
const MEMORY: u64 = 64 << 20;

/// The parameters.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ValueRequest {
    /// Ranks x files.
    board: String,
    /// The position, by default the start of the game.
    position: Option<String>,
    /// The phase of the position: `auto` (default: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// Moves after the position.
    moves: Option<String>,
    /// Milliseconds: 200, at most 2000.
    time: Option<u64>,
}

/// Returns the value, which is unknown if the time or the memory does not suffice.
pub async fn get(
    State(explorer): SharedExplorer,
    Params(request): Params<ValueRequest>,
) -> ApiResult<SumValue> {
    let ValueRequest { board, position, phase, moves, time: milliseconds } = request;
    let played = PlayedPosition::read(&board, &position, &phase, &moves)?;
    let time = time(milliseconds)?;
    let found = explorer.boards.with(played.board.clone(), move |_, turn| {
        let to_move = played.position.to_move();
        let terms = [ValueTerm::Position(Arc::new(played.board), played.position)];
        evaluate(&terms, to_move, turn.limits(time), MEMORY, &mut |_| {}).map_err(ApiError::refused)
    });
    found.await.map(Json)
}
