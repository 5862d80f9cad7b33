//! `GET /api/v1/konane/report`: the moves of a game, judged.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use super::SharedExplorer;
use super::parse::{PlayedPosition, time};
use crate::web::params::Params;
use crate::web::reply::ApiResult;
use konane::analysis::GameAnnotation;
use konane::record::{Record, RecordedMove};

/// The parameters.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReportRequest {
    /// Ranks x files.
    board: String,
    /// The first position of the game, by default the start.
    position: Option<String>,
    /// The phase of the position: `auto` (default: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// The moves of the game.
    moves: Option<String>,
    /// Milliseconds to search for unknown values of all positions together: 200, at most 2000. Results are kept, so a
    /// repeated request continues the search.
    time: Option<u64>,
}

/// Judges the moves, from the last one to the first.
pub async fn get(
    State(explorer): SharedExplorer,
    Params(request): Params<ReportRequest>,
) -> ApiResult<GameAnnotation> {
    let ReportRequest { board, position, phase, moves, time: milliseconds } = request;
    let played = PlayedPosition::read(&board, &position, &phase, &moves)?;
    let time = time(milliseconds)?;
    let mut record = Record::new(played.board.dimensions(), played.start);
    record.moves = played.moves.into_iter().map(RecordedMove::new).collect();
    if played.position.count_moves(&played.board) == 0 {
        record.result = Some(!played.position.to_move());
    }
    let judged = explorer.boards.with(played.board, move |analyst, turn| {
        let end = Instant::now() + time;
        let limits = |ply: usize| {
            // Unused time of a position is available for those before it.
            let share = end.saturating_duration_since(Instant::now()) / (ply as u32 + 1);
            turn.limits(if turn.is_over() { Duration::ZERO } else { share })
        };
        Ok(analyst.annotate(&record, limits)?)
    });
    judged.await.map(Json)
}
