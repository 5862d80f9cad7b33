//! `GET /api/v1/konane/why`: what answers a move.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::Shared;
use super::place::{Place, time};
use crate::cli::explore::params::Params;
use crate::cli::explore::reply::{Answer, Problem};
use crate::cli::judged::outcome_name;
use crate::konane::notation::parse_move;

/// The parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhyRequest {
    /// Ranks x files.
    board: String,
    /// The position; the start of the game if there is none.
    position: Option<String>,
    /// The phase of the position: `auto` (if nothing is said: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// A move of it.
    #[serde(rename = "move")]
    mv: String,
    /// Milliseconds: 200, at most 2000.
    time: Option<u64>,
}

/// The answer. Outcome, remoteness and verdict are those of `after`.
#[derive(Debug, Serialize, Deserialize)]
pub struct WhyJson {
    /// The opponent's best reply: one that wins, if one is known; null if there is no move.
    pub reply: Option<String>,
    /// How it is known what the reply brings: `rules`, `database`, `proof` or `search`; none while it
    /// is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The position after the reply, or after the move if there is no reply.
    pub after: String,
    /// `win`, `loss` or `unknown`, for the side to move there.
    pub outcome: String,
    /// Plies to the end from there, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remoteness: Option<u32>,
    /// The outcome in a sentence.
    pub verdict: String,
}

/// Answers the move.
pub async fn get(State(explorer): Shared, Params(request): Params<WhyRequest>) -> Answer<WhyJson> {
    let WhyRequest { board, position, phase, mv, time: milliseconds } = request;
    let place = Place::read(&board, position.as_deref(), phase.as_deref(), None)?;
    let mv = parse_move(&place.board, &place.position, &mv).map_err(Problem::refused)?;
    let time = time(milliseconds)?;
    let why = explorer.boards.with(place.board.clone(), move |analyst, turn| {
        let moved = place.position.play(&place.board, mv);
        let limits = turn.limits(time);
        let choice = analyst.choose(&moved, limits)?;
        let after = choice.map_or(moved, |choice| moved.play(&place.board, choice.mv));
        // What is known of the reply is mostly known of the position after it, and else soon found.
        let analysis = analyst.analyse(&after, limits, &mut |_| {})?;
        let judgement = choice.map_or(analysis.judgement, |choice| choice.judgement);
        Ok(WhyJson {
            reply: choice.map(|choice| place.move_text(choice.mv)),
            source: judgement.map(|judgement| judgement.source.name().to_owned()),
            after: place.text(&after),
            outcome: outcome_name(analysis.outcome()).to_owned(),
            remoteness: analysis.judgement.and_then(|judgement| judgement.remoteness),
            verdict: analysis.verdict(),
        })
    });
    why.await.map(Json)
}
