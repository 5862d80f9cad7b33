//! Positions of Sprouts: `GET /api/v1/sprouts/position`, `GET /api/v1/sprouts/draw`, and
//! `POST /api/v1/sprouts/canonical`.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::SharedExplorer;
use super::parse::time;
use crate::commands::sprouts::text::{MEMORY, too_large};
use crate::web::params::{NoParams, Params};
use crate::web::reply::{ApiError, ApiResult, Body};
use konane::sprouts::analysis::Analysis;
use konane::sprouts::{Position, Scratch, Sprouts, TextError, draw};
use konane::system::quote;

/// The parameters of `position`.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SproutsRequest {
    /// The position, such as `0*5`.
    position: String,
    /// `normal`, or `misere` for the game in which the player who makes the last move loses, without Grundy numbers.
    rule: Option<String>,
    /// Milliseconds to search for unknown values: 200, at most 2000.
    time: Option<u64>,
}

/// The answer of `position`, as of `sprouts children --values --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SproutsJson {
    /// The position as it was given.
    pub position: String,
    /// Values of the position and its moves.
    #[serde(flatten)]
    pub analysis: Analysis,
    /// True if every outcome is known, and every Grundy number unless this is the misère game.
    pub complete: bool,
}

/// Evaluates a position and its moves.
pub async fn position(
    State(explorer): SharedExplorer,
    Params(request): Params<SproutsRequest>,
) -> ApiResult<SproutsJson> {
    let SproutsRequest { position: text, rule, time: milliseconds } = request;
    let misere = match rule.as_deref() {
        None | Some("normal") => false,
        Some("misere") => true,
        Some(rule) => {
            let problem = format!("rule: {}: expected normal or misere", quote(rule));
            return Err(ApiError::refused(problem));
        }
    };
    let (position, time) = (read(&text)?, time(milliseconds)?);
    let analysts = if misere { &explorer.misere } else { &explorer.sprouts };
    let judged = analysts.with(move |analyst, turn| {
        let analysis = analyst.analyse(&position, turn.limits(time), &mut |_| {})?;
        let outcomes = analysis.children.iter().map(|child| child.outcome.is_some());
        let numbers = analysis.children.iter().map(|child| child.grundy.is_some());
        let complete = analysis.reason.is_none()
            && match misere {
                true => analysis.outcome.is_some() && outcomes.min() != Some(false),
                false => analysis.grundy.is_some() && numbers.min() != Some(false),
            };
        Ok(SproutsJson { position: text, analysis, complete })
    });
    judged.await.map(Json)
}

/// The parameters of `draw`.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DrawRequest {
    /// The position, such as `0*5`.
    position: String,
}

/// Returns a drawing of a position.
pub async fn draw(
    Params(DrawRequest { position }): Params<DrawRequest>,
) -> Result<impl IntoResponse, ApiError> {
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], draw::svg(&read(&position)?)))
}

/// The body of `canonical`.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CanonicalRequest {
    /// Positions, such as `0*5`.
    positions: Vec<String>,
}

/// The answer of `canonical`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CanonicalTextsJson {
    /// Their canonical texts, in the same order.
    pub canonical: Vec<String>,
}

/// Returns the canonical texts of positions. It does not wait for the analyst, and does not stop its search.
pub async fn canonical(
    _: Params<NoParams>,
    Body(CanonicalRequest { positions }): Body<CanonicalRequest>,
) -> ApiResult<CanonicalTextsJson> {
    let work = move || {
        let (game, mut scratch) = (Sprouts::new(MEMORY), Scratch::default());
        let texts = positions.iter().map(|text| {
            let position = text.parse().map_err(|error: TextError| {
                ApiError::refused(format!("positions: {:?}: {error}", quote(text)))
            })?;
            let sum = game.atoms(&position, &mut scratch).map_err(too_large)?;
            Ok(game.text(&sum))
        });
        texts.collect::<Result<_, ApiError>>()
    };
    let canonical = spawn_blocking(work).await.map_err(ApiError::failed)??;
    Ok(Json(CanonicalTextsJson { canonical }))
}

/// Parses a position.
pub fn read(text: &str) -> Result<Position, ApiError> {
    Ok(crate::commands::sprouts::text::read(text)?)
}
