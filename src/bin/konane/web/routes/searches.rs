//! `/api/v1/searches`: searches with live progress events.

use std::convert::Infallible;

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::SharedExplorer;
use super::parse::PlayedPosition;
use crate::web::events;
use crate::web::params::{NoParams, Params};
use crate::web::reply::{ApiError, Body};
use crate::web::search::{SearchTask, SearchedGame};
use konane::system::{bytes_text, duration_from_seconds, parse_bytes};
use konane::{MIN_MEMORY, SolveError};

/// The body of `POST`.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// `konane` or `sprouts`.
    game: GameName,
    /// Konane: ranks x files.
    board: Option<String>,
    /// The position; Konane: by default the start of the game.
    position: Option<String>,
    /// Konane: the phase of the position: `auto` (default: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// Konane: moves that follow the position.
    moves: Option<String>,
    /// `dfpn` (default), `pns` or `pns-pdfpn`; Konane: `pn2` or `ab` as well.
    algo: Option<String>,
    /// Memory, such as `64MiB`: at most half of the program's --memory, which is the default.
    memory: Option<String>,
    /// Limits of the search.
    #[serde(default)]
    limits: LimitsRequest,
}

/// The games.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, schemars(inline))]
enum GameName {
    Konane,
    Sprouts,
}

/// Limits of a search; none by default.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct LimitsRequest {
    /// Maximum time in seconds, more than 0.
    seconds: Option<f64>,
    /// Maximum number of nodes.
    nodes: Option<u64>,
}

/// The answer to `POST`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchJson {
    /// Id of the search in the addresses of its events and for `DELETE`.
    pub id: String,
}

/// The id in an address. Empty if it is not UTF-8; no search has an empty id.
pub struct SearchId(String);

impl<S: Send + Sync> FromRequestParts<S> for SearchId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let id = Path::from_request_parts(parts, state).await;
        Ok(SearchId(id.map_or_else(|_| String::new(), |Path(id)| id)))
    }
}

/// `POST /api/v1/searches`: starts a search.
pub async fn post(
    State(explorer): SharedExplorer,
    _: Params<NoParams>,
    Body(request): Body<SearchRequest>,
) -> Result<(StatusCode, Json<SearchJson>), ApiError> {
    let SearchRequest { game, board, position, phase, moves, algo, memory, limits } = request;
    let algo = algo.as_deref().unwrap_or("dfpn");
    let game = match game {
        GameName::Konane => {
            let board =
                board.ok_or_else(|| ApiError::refused("board: missing; write one, such as 6x6"))?;
            let played = PlayedPosition::read(&board, &position, &phase, &moves)?;
            let algorithm = algo.parse().map_err(ApiError::refused)?;
            SearchedGame::Konane { board: played.board, position: played.position, algorithm }
        }
        GameName::Sprouts => {
            if board.is_some() || phase.is_some() || moves.is_some() {
                return Err(ApiError::refused(
                    "board, phase and moves are not accepted for Sprouts",
                ));
            }
            let none = || ApiError::refused("position: missing; write one, such as 0*5");
            let position = super::sprouts::read(&position.ok_or_else(none)?)?;
            let algorithm = algo.parse().map_err(ApiError::refused)?;
            SearchedGame::Sprouts { position, algorithm }
        }
    };
    let memory = self::memory(memory.as_deref(), explorer.searches.memory)?;
    let time = limits.seconds.map(|seconds| {
        let wrong = |error| ApiError::refused(format!("limits.seconds: {seconds:?}: {error}"));
        duration_from_seconds(seconds).map_err(wrong)
    });
    let time = time.transpose()?;
    let id = explorer.searches.start(SearchTask { game, memory, time, nodes: limits.nodes })?;
    Ok((StatusCode::CREATED, Json(SearchJson { id })))
}

/// Parses the memory of a search in bytes.
fn memory(text: Option<&str>, max: u64) -> Result<u64, ApiError> {
    let Some(text) = text else { return Ok(max) };
    match parse_bytes(text) {
        Err(error) => Err(ApiError::refused(format!("memory: {error}"))),
        Ok(bytes) if bytes < MIN_MEMORY => Err(SolveError::TooLittleMemory { bytes }.into()),
        Ok(bytes) if bytes > max => {
            let max = bytes_text(max);
            let text = format!("memory: at most {max}, half of --memory");
            Err(ApiError::refused(text))
        }
        Ok(bytes) => Ok(bytes),
    }
}

/// `DELETE /api/v1/searches/{id}`: stops a search. Its last event has the reason `interrupted`.
pub async fn delete(
    State(explorer): SharedExplorer,
    SearchId(id): SearchId,
    _: Params<NoParams>,
) -> Result<StatusCode, ApiError> {
    let found = explorer.searches.find(&id);
    let none =
        || ApiError::new(StatusCode::NOT_FOUND, "unknown search: it may have been discarded");
    found.ok_or_else(none)?.stop();
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/v1/searches/{id}/events`: past and future events of a search as server-sent events. For an
/// unknown search, and after the last event, the answer is 204, so that the browser does not reconnect.
pub async fn events(
    State(explorer): SharedExplorer,
    SearchId(id): SearchId,
    _: Params<NoParams>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Some(search) = explorer.searches.find(&id) else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let last_seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let last_seen = last_seen.unwrap_or(0);
    let history = search.history.subscribe();
    let is_over = history.borrow().ended && last_seen >= history.borrow().last;
    if is_over {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(events::stream(history, last_seen, &explorer.searches.streams)?.into_response())
}
