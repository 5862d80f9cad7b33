//! `GET /api/v1/konane/position`: a position with the value of every move.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Shared;
use super::parse::{PlayedPosition, time};
use crate::repl::analyse::AnalysisJson;
use crate::web::params::Params;
use crate::web::reply::Answer;
use crate::web::turns::Turn;
use konane::Position;
use konane::analysis::{Analysis, AnalysisError, Analyst};

/// Moves that are quickly evaluated get the time divided by this number.
const EASY_DIVISOR: u32 = 4;

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PositionRequest {
    /// Ranks x files.
    board: String,
    /// The position; the start of the game if there is none.
    position: Option<String>,
    /// The phase of the position: `auto` (if nothing is said: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// Moves that are played from there.
    moves: Option<String>,
    /// Milliseconds to search for what is not known: 200, at most 2000. What was found is kept, so
    /// whoever asks again gets further.
    time: Option<u64>,
}

/// Returns the values that are known after the time.
pub async fn get(
    State(explorer): Shared,
    Params(request): Params<PositionRequest>,
) -> Answer<AnalysisJson> {
    let PositionRequest { board, position, phase, moves, time: milliseconds } = request;
    let played =
        PlayedPosition::read(&board, position.as_deref(), phase.as_deref(), moves.as_deref())?;
    let time = time(milliseconds)?;
    let judged = explorer.boards.with(played.board.clone(), move |analyst, turn| {
        let analysis = judge(analyst, &played.position, turn, time)?;
        let mut json = AnalysisJson::from(analysis);
        if moves.is_some() {
            (json.start, json.played) = (Some(played.start), Some(played.moves));
        }
        Ok(json)
    });
    judged.await.map(Json)
}

/// Evaluates all moves in a part of the time. If the position is still unknown, its own search gets the
/// rest of the time and all threads: it prefers moves that are likely to win, and if the position is
/// lost, it decides all moves.
fn judge(
    analyst: &mut Analyst,
    position: &Position,
    turn: &Turn,
    time: Duration,
) -> Result<Analysis, AnalysisError> {
    let (limits, easy) = (turn.limits(time), turn.limits(time / EASY_DIVISOR));
    let analysis = analyst.analyse(position, easy, &mut |_| {})?;
    if analysis.is_complete() {
        return Ok(analysis);
    }
    if analysis.judgement.is_none() {
        analyst.choose(position, limits)?;
    }
    analyst.analyse(position, limits, &mut |_| {})
}
