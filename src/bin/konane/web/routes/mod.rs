//! Resources of the API, one file each, with the types of requests and answers. The pages docs/api*.md are
//! generated from these.

mod boards;
mod databases;
mod openings;
mod parse;
mod play;
mod position;
mod puzzle;
mod report;
mod searches;
mod setup;
mod sprouts;
mod value;
mod why;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde::Serialize;

use super::Explorer;
use super::assets::{self, ASSETS};
use super::params::{NoParams, Params};
use super::reply::ApiError;
use super::security::json_only;
use crate::version::{PROGRAM, ProgramJson};

/// State that all handlers share.
type SharedExplorer = State<Arc<Explorer>>;

/// Returns all routes.
pub fn router(explorer: Arc<Explorer>) -> Router {
    let api = [
        ("/version", get(version)),
        ("/boards", get(boards::get)),
        ("/databases", get(databases::databases)),
        ("/proofs", get(databases::proofs)),
        ("/openings", get(openings::get)),
        ("/konane/position", get(position::position)),
        ("/konane/line", get(position::line)),
        ("/konane/play", get(play::get)),
        ("/konane/why", get(why::get)),
        ("/konane/value", get(value::get)),
        ("/konane/report", get(report::get)),
        ("/konane/puzzle", get(puzzle::get)),
        ("/konane/setup", post(setup::post)),
        ("/sprouts/position", get(sprouts::position)),
        ("/sprouts/draw", get(sprouts::draw)),
        ("/sprouts/canonical", post(sprouts::canonical)),
        ("/searches", post(searches::post)),
        ("/searches/{id}", delete(searches::delete)),
        ("/searches/{id}/events", get(searches::events)),
    ];
    let api = api
        .into_iter()
        .fold(Router::new(), |router, (path, methods)| router.route(path, json_only(methods)));
    let mut router = Router::new().nest("/api/v1", api.with_state(explorer));
    let page = [("/", 0)];
    let files = ASSETS.iter().enumerate().map(|(index, &(path, _))| (path, index));
    for (path, index) in page.into_iter().chain(files) {
        let file = move |headers: HeaderMap| async move { assets::answer(index, &headers) };
        router = router.route(path, json_only(get(file)));
    }
    router.fallback(not_found).method_not_allowed_fallback(|| async {
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed")
    })
}

async fn not_found() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "unknown address; see docs/api.md")
}

/// The answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VersionJson {
    /// The program.
    #[serde(flatten)]
    pub program: ProgramJson,
    /// Version of the API: documented fields do not change within a version; new ones may be added.
    pub api: u32,
}

/// `GET /api/v1/version`.
async fn version(_: Params<NoParams>) -> Json<VersionJson> {
    Json(VersionJson { program: PROGRAM, api: 1 })
}

/// Adds the types of all answers and requests to the definitions of two generators.
#[cfg(test)]
pub fn add_schemas(
    answers: &mut schemars::SchemaGenerator,
    requests: &mut schemars::SchemaGenerator,
) {
    use crate::repl::analyse::AnalysisJson;
    use crate::trace::ProgressJson;
    use crate::web::reply::ErrorJson;
    use crate::web::search::EndJson;

    macro_rules! add {
        ($generator:expr, $($type:ty),+ $(,)?) => {
            $($generator.subschema_for::<$type>();)+
        };
    }
    add!(
        answers,
        ErrorJson,
        ProgressJson,
        EndJson,
        AnalysisJson,
        VersionJson,
        boards::BoardsJson,
        position::LineJson,
        play::PlayJson,
        why::WhyJson,
        puzzle::PuzzleJson,
        setup::SetupJson,
        openings::OpeningsJson,
        databases::DatabasesJson,
        databases::ProofsJson,
        searches::SearchJson,
        sprouts::SproutsJson,
        sprouts::CanonicalTextsJson,
    );
    add!(
        requests,
        position::PositionRequest,
        play::PlayRequest,
        why::WhyRequest,
        value::ValueRequest,
        report::ReportRequest,
        puzzle::PuzzleRequest,
        setup::SetupRequest,
        openings::OpeningsRequest,
        searches::SearchRequest,
        sprouts::SproutsRequest,
        sprouts::DrawRequest,
        sprouts::CanonicalRequest,
    );
}
