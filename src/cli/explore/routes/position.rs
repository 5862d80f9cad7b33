//! `GET /api/v1/konane/position`: a position with the value of every move.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use super::Shared;
use super::place::{Place, time};
use crate::cli::explore::reply::{Answer, Params};
use crate::cli::judged::AnalysisJson;

/// The parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionRequest {
    /// Ranks x files.
    board: String,
    /// The position; the start of the game if there is none.
    position: Option<String>,
    /// Moves that are played from there.
    moves: Option<String>,
    /// Milliseconds to search for what is not known: 200, at most 2000. What was found is kept, so
    /// whoever asks again gets further.
    time: Option<u64>,
}

/// Answers what is decided by then; `complete` says whether that is all.
pub async fn get(
    State(explorer): Shared,
    Params(request): Params<PositionRequest>,
) -> Answer<AnalysisJson> {
    let PositionRequest { board, position, moves, time: milliseconds } = request;
    let place = Place::read(&board, position.as_deref(), moves.as_deref())?;
    let time = time(milliseconds)?;
    let dimensions = place.board.dimensions();
    let judged = explorer.boards.with(dimensions, move |analyst, turn| {
        let analysis = analyst.analyse(&place.position, turn.limits(time), &mut |_| {})?;
        let mut json = AnalysisJson::new(&place.board, &analysis);
        if moves.is_some() {
            json.start = Some(place.text(&place.start));
            json.played = Some(place.played.iter().map(|&mv| place.move_text(mv)).collect());
        }
        Ok(json)
    });
    judged.await.map(Json)
}
