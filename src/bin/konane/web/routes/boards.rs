//! `GET /api/v1/boards`: the selectable boards, with their databases and proofs.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::SharedExplorer;
use crate::web::params::{NoParams, Params};
use crate::web::reply::ApiResult;
use konane::{Colour, Dimensions};

/// Maximum number of ranks and files of the boards that are always in the list.
const MAX_SIDE: u32 = 8;

/// The answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoardsJson {
    /// The boards, ordered by ranks, then by files. Other boards of up to 64 squares can be requested, too.
    pub boards: Vec<BoardJson>,
}

/// A board.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoardJson {
    /// Ranks x files.
    pub board: Dimensions,
    /// Maximum number of stones of the positions in its database. Absent without a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_stones: Option<u32>,
    /// Number of proofs of positions on the board.
    pub proofs: u32,
    /// The player who wins from the start according to a proof. Absent without such a proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<Colour>,
}

/// Returns the boards.
pub async fn get(State(explorer): SharedExplorer, _: Params<NoParams>) -> ApiResult<BoardsJson> {
    let listed = explorer.databases().await?;
    let small = (1..=MAX_SIDE).flat_map(|ranks| (1..=MAX_SIDE).map(move |files| (ranks, files)));
    let mut boards: BTreeMap<_, _> = small.map(|key| (key, BoardJson::of(key))).collect();
    let mut entry = |board: Dimensions, enter: &dyn Fn(&mut BoardJson)| {
        let key = (board.ranks(), board.files());
        enter(boards.entry(key).or_insert_with(|| BoardJson::of(key)));
    };
    for (_, manifest) in listed {
        // `GET /api/v1/databases` reports errors of manifests.
        let Ok(manifest) = manifest else { continue };
        let stones = manifest.max_stones();
        entry(manifest.dimensions, &|board| {
            board.database_stones = board.database_stones.max(Some(stones));
        });
    }
    for proof in &explorer.files.proofs {
        entry(proof.board, &|board| {
            board.proofs += 1;
            if proof.proves_start() {
                board.winner = Some(proof.winner);
            }
        });
    }
    Ok(Json(BoardsJson { boards: boards.into_values().collect() }))
}

impl BoardJson {
    fn of((ranks, files): (u32, u32)) -> Self {
        let board = Dimensions::new(ranks, files).expect("a board of the list");
        BoardJson { board, database_stones: None, proofs: 0, winner: None }
    }
}
