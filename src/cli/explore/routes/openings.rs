//! `GET /api/v1/openings`: the first removal of each side, with the winner.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::Shared;
use super::place::{Place, time};
use crate::cli::explore::params::Params;
use crate::cli::explore::reply::Answer;
use crate::search::Value;

/// The parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpeningsRequest {
    /// Ranks x files.
    board: String,
    /// Milliseconds to search for what is not known: 200, at most 2000.
    time: Option<u64>,
}

/// The answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct OpeningsJson {
    /// Ranks x files.
    pub board: String,
    /// Every first removal with every reply, also those that are equal by symmetry.
    pub openings: Vec<OpeningJson>,
    /// Whether the winner of all is known.
    pub complete: bool,
}

/// The first removal of each side.
#[derive(Debug, Serialize, Deserialize)]
pub struct OpeningJson {
    /// The two moves.
    pub moves: Vec<String>,
    /// `black`, `white` or `unknown`.
    pub winner: String,
    /// `rules`, `database`, `proof` or `search`; none while the winner is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The canonical code of the position after both: equal for equal openings.
    pub code: String,
}

/// Judges what White can answer to each first removal, in turn.
pub async fn get(
    State(explorer): Shared,
    Params(OpeningsRequest { board, time: milliseconds }): Params<OpeningsRequest>,
) -> Answer<OpeningsJson> {
    let place = Place::read(&board, None, None, None)?;
    let time = time(milliseconds)?;
    let judged = explorer.boards.with(place.board.clone(), move |analyst, turn| {
        let (end, firsts) = (Instant::now() + time, place.position.moves(&place.board));
        let (mut openings, mut complete) = (Vec::new(), true);
        for (left, &first) in (1..=firsts.len() as u32).rev().zip(&firsts) {
            let after = place.position.play(&place.board, first);
            // What one does not need is for those that follow.
            let share = end.saturating_duration_since(Instant::now()) / left;
            let share = if turn.is_over() { Duration::ZERO } else { share };
            let analysis = analyst.analyse(&after, turn.limits(share), &mut |_| {})?;
            complete &= analysis.count(None) == 0;
            let white = after.to_move();
            openings.extend(analysis.moves.iter().map(|judged| {
                OpeningJson {
                    moves: vec![place.move_text(first), place.move_text(judged.mv)],
                    winner: match judged.outcome() {
                        Some(Value::Win) => white.name(),
                        Some(Value::Loss) => (!white).name(),
                        None => "unknown",
                    }
                    .to_owned(),
                    source: judged.judgement.map(|judgement| judgement.source.name().to_owned()),
                    code: judged.after.code(&place.board).to_string(),
                }
            }));
        }
        Ok(OpeningsJson { board: place.board.dimensions().to_string(), openings, complete })
    });
    judged.await.map(Json)
}
