//! `GET /api/v1/konane/line`: best play.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Shared;
use super::parse::{PlayedPosition, time};
use crate::web::params::Params;
use crate::web::reply::Answer;
use konane::{Move, Position};

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineRequest {
    /// Ranks x files.
    board: String,
    /// The position; the start of the game if there is none.
    position: Option<String>,
    /// The phase of the position: `auto` (if nothing is said: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// Moves that are played from there.
    moves: Option<String>,
    /// Milliseconds: 200, at most 2000.
    time: Option<u64>,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LineJson {
    /// Moves that keep the outcome, as far as it is decided.
    pub line: Vec<Move>,
    /// Whether they lead to the end of the game.
    pub complete: bool,
}

/// Returns best play as far as it is known.
pub async fn get(
    State(explorer): Shared,
    Params(request): Params<LineRequest>,
) -> Answer<LineJson> {
    let LineRequest { board, position, phase, moves, time: milliseconds } = request;
    let played =
        PlayedPosition::read(&board, position.as_deref(), phase.as_deref(), moves.as_deref())?;
    let time = time(milliseconds)?;
    let line = explorer.boards.with(played.board.clone(), move |analyst, turn| {
        let line = analyst.line(&played.position, turn.limits(time))?;
        let play = |position: Position, &mv: &_| position.play(&played.board, mv);
        let end = line.iter().fold(played.position, play);
        let complete = end.count_moves(&played.board) == 0;
        Ok(LineJson { line, complete })
    });
    line.await.map(Json)
}
