//! `GET /api/v1/konane/play`: the program's move.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::SharedExplorer;
use super::parse::{PlayedPosition, time};
use crate::web::params::Params;
use crate::web::reply::{ApiError, ApiResult};
use crate::web::turns::Turn;
use konane::Move;
use konane::analysis::{ChosenMove, Judgement, Level, ValueSource};
use konane::json::or_unknown;
use konane::search::Value;

/// The parameters.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlayRequest {
    /// Ranks x files.
    board: String,
    /// The position, by default the start of the game.
    position: Option<String>,
    /// The phase of the position: `auto` (default: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// Moves that follow the position.
    moves: Option<String>,
    /// Strength from 1 to 10: a search of 4^level nodes without database and proofs. By default, the best
    /// move that is found.
    level: Option<u32>,
    /// Milliseconds to search: 200, at most 2000. Ignored with a level, which limits nodes.
    time: Option<u64>,
}

/// The answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlayJson {
    /// The move; null if there is none.
    #[serde(rename = "move")]
    pub mv: Option<Move>,
    /// The reason for the move, in a sentence.
    pub why: String,
    /// The outcome for the player who makes it.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(test, schemars(with = "konane::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
    /// Origin of the outcome. Absent while it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<ValueSource>,
}

/// Chooses a move.
pub async fn get(
    State(explorer): SharedExplorer,
    Params(request): Params<PlayRequest>,
) -> ApiResult<PlayJson> {
    let PlayRequest { board, position, phase, moves, level, time: milliseconds } = request;
    let played = PlayedPosition::read(&board, &position, &phase, &moves)?;
    let time = time(milliseconds)?;
    let level = match level.map(Level::new) {
        Some(None) => {
            let text = format!("level: {} to {}", Level::MIN, Level::MAX);
            return Err(ApiError::refused(text));
        }
        level => level.flatten(),
    };
    let position = played.position;
    let choice = match level {
        Some(level) => {
            let board = played.board.clone();
            let choose = move |(): &mut (), turn: &Turn| {
                Ok(level.choose(&board, &position, turn.uninterrupted())?)
            };
            explorer.levels.with(choose).await?
        }
        None => {
            let choice = explorer.boards.with(played.board.clone(), move |analyst, turn| {
                Ok(analyst.choose(&position, turn.limits(time))?)
            });
            choice.await?
        }
    };
    let side = position.to_move();
    let Some(ChosenMove { mv, judgement }) = choice else {
        let why = format!("{side} cannot move and has lost.");
        let (outcome, source) = (Some(Value::Loss), Some(ValueSource::Rules));
        return Ok(Json(PlayJson { mv: None, why, outcome, source }));
    };
    let after = position.play(&played.board, mv);
    Ok(Json(PlayJson {
        mv: Some(mv),
        why: match after.count_moves(&played.board) {
            0 => format!("It leaves {} no move.", !side),
            _ => why(judgement),
        },
        outcome: judgement.map(|judgement| judgement.outcome),
        source: judgement.map(|judgement| judgement.source),
    }))
}

/// Returns the reason for a move that does not end the game.
fn why(judgement: Option<Judgement>) -> String {
    let Some(Judgement { outcome, source, remoteness }) = judgement else {
        return "Nothing is proven yet; the search prefers it.".to_owned();
    };
    let by = match source {
        ValueSource::Database => "according to the database",
        ValueSource::Proof => "according to the proof",
        ValueSource::Rules | ValueSource::Search => "according to a search",
    };
    match outcome {
        Value::Win => format!("It wins, {by}."),
        Value::Loss if remoteness.is_some() => {
            format!("Every move loses, {by}; this one delays the loss longest.")
        }
        Value::Loss => format!("Every move loses, {by}; this one seems hardest to answer."),
    }
}
