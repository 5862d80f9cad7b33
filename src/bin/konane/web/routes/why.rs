//! `GET /api/v1/konane/why`: the best reply to a move, and the refutation of the player who then loses.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::SharedExplorer;
use super::parse::{PlayedPosition, time};
use crate::web::params::Params;
use crate::web::reply::{ApiError, ApiResult};
use konane::analysis::{LostPosition, ValueSource};
use konane::json::or_unknown;
use konane::notation::parse_move;
use konane::search::Value;
use konane::{Colour, Move, Position};

/// The parameters.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WhyRequest {
    /// Ranks x files.
    board: String,
    /// The position, by default the start of the game.
    position: Option<String>,
    /// The phase of the position: `auto` (default: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// A legal move in the position. Without a move, the answer is about the position itself.
    #[serde(rename = "move")]
    mv: Option<String>,
    /// Maximum number of positions in `refutation` whose moves are answered: 0, at most 400.
    positions: Option<u32>,
    /// Milliseconds to search: 200, at most 2000.
    time: Option<u64>,
}

/// The answer. Outcome, winner, remoteness and verdict are those of `after`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhyJson {
    /// The opponent's best reply, which wins if a winning one is known; null if there is no move, or
    /// without `move`.
    pub reply: Option<Move>,
    /// Origin of the outcome of the reply. Absent while the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<ValueSource>,
    /// The position after the reply, or after the move if there is no reply.
    pub after: Position,
    /// The outcome for the player to move in `after`.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(test, schemars(with = "konane::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
    /// The player who wins.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(test, schemars(with = "konane::json::OrUnknown<Colour>"))]
    pub winner: Option<Colour>,
    /// Plies to the end of the game from `after` with best play. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remoteness: Option<u32>,
    /// The outcome in a sentence.
    pub verdict: String,
    /// With `positions`, if the player to move in `after` loses: `after`, and all positions that follow when the
    /// winner plays the answers, each once, layer by layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refutation: Option<Vec<LostPosition>>,
}

/// Maximum of `positions`.
const MAX_POSITIONS: u32 = 400;

/// Returns the best reply.
pub async fn get(
    State(explorer): SharedExplorer,
    Params(request): Params<WhyRequest>,
) -> ApiResult<WhyJson> {
    let WhyRequest { board, position, phase, mv, positions, time: milliseconds } = request;
    let played = PlayedPosition::read(&board, &position, &phase, &None)?;
    let mv = mv.map(|mv| parse_move(&played.board, &played.position, &mv)).transpose();
    let mv = mv.map_err(ApiError::refused)?;
    let positions = positions.unwrap_or(0);
    if positions > MAX_POSITIONS {
        let text = format!(
            "positions: at most {MAX_POSITIONS}, got {positions}; to continue, send the position of an entry \
             without defences"
        );
        return Err(ApiError::refused(text));
    }
    let time = time(milliseconds)?;
    let why = explorer.boards.with(played.board.clone(), move |analyst, turn| {
        let moved = mv.map_or(played.position, |mv| played.position.play(&played.board, mv));
        let limits = turn.limits(time);
        let choice = match mv {
            Some(_) => analyst.choose(&moved, limits)?,
            None => None,
        };
        let after = choice.map_or(moved, |choice| moved.play(&played.board, choice.mv));
        // The value of the reply usually determines that of the position after it. Otherwise a short search
        // finds it.
        let analysis = analyst.analyse(&after, limits, &mut |_| {})?;
        let analysis = analyst.find_remoteness(analysis, limits)?;
        let judgement = choice.map_or(analysis.judgement, |choice| choice.judgement);
        let explained = positions > 0 && analysis.outcome() == Some(Value::Loss);
        let refutation = match explained {
            true => Some(analyst.refutation(&after, positions as usize, limits)?),
            false => None,
        };
        Ok(WhyJson {
            reply: choice.map(|choice| choice.mv),
            source: judgement.map(|judgement| judgement.source),
            after,
            outcome: analysis.outcome(),
            winner: analysis.winner,
            remoteness: analysis.judgement.and_then(|judgement| judgement.remoteness),
            verdict: analysis.verdict,
            refutation,
        })
    });
    why.await.map(Json)
}
