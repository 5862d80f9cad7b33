//! `GET /api/v1/konane/puzzle`: a position with exactly one winning move.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::SharedExplorer;
use super::parse::{board, time};
use crate::web::params::Params;
use crate::web::reply::{ApiError, ApiResult};
use konane::Board;
use konane::analysis::{Difficulty, Puzzle, Puzzles};

/// The parameters.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PuzzleRequest {
    /// Ranks x files.
    board: String,
    /// `easy`, `medium` or `hard`; by default any.
    difficulty: Option<String>,
    /// Seed of the random games: 1.
    seed: Option<u64>,
    /// Milliseconds to search: 200, at most 2000.
    time: Option<u64>,
}

/// The answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PuzzleJson {
    /// The puzzle; null if none was found within the time. Results are kept, so a repeated request continues.
    pub puzzle: Option<Puzzle>,
}

/// Looks for a puzzle.
pub async fn get(
    State(explorer): SharedExplorer,
    Params(request): Params<PuzzleRequest>,
) -> ApiResult<PuzzleJson> {
    let PuzzleRequest { board: size, difficulty, seed, time: milliseconds } = request;
    let (size, time) = (board(&size)?, time(milliseconds)?);
    let named = |name: &String| Difficulty::ALL.into_iter().find(|one| one.name() == name);
    let wanted = difficulty.as_ref().map(|name| {
        named(name).ok_or_else(|| ApiError::refused("difficulty: easy, medium or hard"))
    });
    let wanted = wanted.transpose()?;
    let found = explorer.boards.with(Board::new(size), move |analyst, turn| {
        let mut puzzles = Puzzles::new(seed.unwrap_or(1));
        Ok(PuzzleJson { puzzle: puzzles.next(analyst, wanted, turn.limits(time))? })
    });
    found.await.map(Json)
}
