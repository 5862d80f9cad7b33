//! The resources: a file for each, with the types of its requests and its answers. docs/api.md says
//! the same for people.

mod boards;
mod databases;
mod line;
mod openings;
mod place;
mod play;
mod position;
mod proofs;
mod searches;
mod setup;
mod sprouts;
mod version;
mod why;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{delete, get, post};

use super::Explorer;
use super::assets::ASSETS;
use super::reply::Problem;

/// What the handlers get.
type Shared = State<Arc<Explorer>>;

/// All routes.
pub fn router(explorer: Arc<Explorer>) -> Router {
    let api = Router::new()
        .route("/version", get(version::get))
        .route("/boards", get(boards::get))
        .route("/databases", get(databases::get))
        .route("/proofs", get(proofs::get))
        .route("/openings", get(openings::get))
        .route("/konane/position", get(position::get))
        .route("/konane/line", get(line::get))
        .route("/konane/play", get(play::get))
        .route("/konane/why", get(why::get))
        .route("/konane/setup", post(setup::post))
        .route("/sprouts/position", get(sprouts::position))
        .route("/sprouts/draw", get(sprouts::draw))
        .route("/searches", post(searches::post))
        .route("/searches/{id}", delete(searches::delete))
        .route("/searches/{id}/events", get(searches::events))
        .with_state(explorer);
    let mut router = Router::new().nest("/api/v1", api);
    for asset in ASSETS {
        router = router.route(asset.path, get(move || async move { asset }));
    }
    router.route("/", get(|| async { &ASSETS[0] })).fallback(not_found).method_not_allowed_fallback(
        || async { Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this method does not do here") },
    )
}

async fn not_found() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is nothing at this address; see docs/api.md")
}
