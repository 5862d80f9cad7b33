//! `GET /api/v1/sprouts/position` and `GET /api/v1/sprouts/draw`: a position of Sprouts.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SharedExplorer;
use super::parse::time;
use crate::web::params::Params;
use crate::web::reply::{ApiError, ApiResult};
use konane::sprouts::analysis::Analysis;
use konane::sprouts::{Position, draw};

/// The parameters of `position`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SproutsRequest {
    /// The position, such as `0*5`.
    position: String,
    /// Milliseconds to search for unknown values: 200, at most 2000.
    time: Option<u64>,
}

/// The answer of `position`, as of `sprouts children --values --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SproutsJson {
    /// The position as it was given.
    pub position: String,
    /// Values of the position and its moves.
    #[serde(flatten)]
    pub analysis: Analysis,
    /// True if every outcome and every Grundy number is known.
    pub complete: bool,
}

/// Evaluates a position and its moves.
pub async fn position(
    State(explorer): SharedExplorer,
    Params(request): Params<SproutsRequest>,
) -> ApiResult<SproutsJson> {
    let SproutsRequest { position: text, time: milliseconds } = request;
    let (position, time) = (read(&text)?, time(milliseconds)?);
    let judged = explorer.sprouts.with(move |analyst, turn| {
        let analysis = analyst.analyse(&position, turn.limits(time), &mut |_| {})?;
        let children = analysis.children.iter().all(|child| child.grundy.is_some());
        let complete = analysis.reason.is_none() && analysis.grundy.is_some() && children;
        Ok(SproutsJson { position: text, analysis, complete })
    });
    judged.await.map(Json)
}

/// The parameters of `draw`.
#[derive(Debug, Deserialize, JsonSchema)]
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

/// Parses a position.
pub fn read(text: &str) -> Result<Position, ApiError> {
    Ok(crate::commands::sprouts::text::read(text)?)
}
