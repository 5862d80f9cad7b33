//! `GET /api/v1/openings`: the first removal of each side, with the winner.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::SharedExplorer;
use super::parse::{PlayedPosition, time};
use crate::web::params::Params;
use crate::web::reply::ApiResult;
use konane::analysis::ValueSource;
use konane::json::{as_text, or_unknown};
use konane::{Colour, Dimensions, Move};

/// The parameters.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OpeningsRequest {
    /// Ranks x files.
    board: String,
    /// Milliseconds to search for unknown values: 200, at most 2000.
    time: Option<u64>,
}

/// The answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningsJson {
    /// Ranks x files.
    pub board: Dimensions,
    /// Every first removal with every reply, including symmetric ones.
    pub openings: Vec<OpeningJson>,
    /// True if the winner after every opening is known.
    pub complete: bool,
}

/// The first removal of each side.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningJson {
    /// The two moves.
    pub moves: [Move; 2],
    /// The player who wins.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(test, schemars(with = "konane::json::OrUnknown<Colour>"))]
    pub winner: Option<Colour>,
    /// Origin of the winner. Absent while the winner is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<ValueSource>,
    /// The canonical code of the position after both moves, as decimal text. Symmetric openings have the
    /// same code.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub code: u64,
}

/// Evaluates White's replies to each first removal in turn.
pub async fn get(
    State(explorer): SharedExplorer,
    Params(OpeningsRequest { board, time: milliseconds }): Params<OpeningsRequest>,
) -> ApiResult<OpeningsJson> {
    let played = PlayedPosition::read(&board, &None, &None, &None)?;
    let time = time(milliseconds)?;
    let judged = explorer.boards.with(played.board.clone(), move |analyst, turn| {
        let (end, firsts) = (Instant::now() + time, played.position.moves(&played.board));
        let (mut openings, mut complete) = (Vec::new(), true);
        for (left, &first) in (1..=firsts.len() as u32).rev().zip(&firsts) {
            let after = played.position.play(&played.board, first);
            // Unused time of one removal is available for the next ones.
            let share = end.saturating_duration_since(Instant::now()) / left;
            let share = if turn.is_over() { Duration::ZERO } else { share };
            let analysis = analyst.analyse(&after, turn.limits(share), &mut |_| {})?;
            complete &= analysis.count(None) == 0;
            let white = after.to_move();
            openings.extend(analysis.moves.iter().map(|judged| OpeningJson {
                moves: [first, judged.mv],
                winner: judged.outcome().map(|value| white.winner(value)),
                source: judged.judgement.map(|judgement| judgement.source),
                code: judged.after.code(&played.board),
            }));
        }
        Ok(OpeningsJson { board: played.board.dimensions(), openings, complete })
    });
    judged.await.map(Json)
}
