//! `GET /api/v1/proofs`: the headers of the proofs.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::Shared;
use crate::web::files::ProofFile;
use crate::web::params::{NoParams, Params};
use konane::{Board, Colour, Dimensions, Position};

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProofsJson {
    /// All of them.
    pub proofs: Vec<ProofHereJson>,
}

/// A proof.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProofHereJson {
    /// Its file's name.
    pub name: String,
    /// Ranks x files.
    pub board: Dimensions,
    /// The position that it proves.
    pub root: Position,
    /// The player who wins.
    pub winner: Colour,
    /// Positions in it.
    pub positions: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Returns the proofs.
pub async fn get(State(explorer): Shared, _: Params<NoParams>) -> Json<ProofsJson> {
    Json(ProofsJson { proofs: explorer.files.proofs.iter().map(proof).collect() })
}

fn proof(proof: &ProofFile) -> ProofHereJson {
    let (header, board) = (&proof.header, Board::new(proof.board));
    ProofHereJson {
        name: proof.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        board: proof.board,
        root: Position::new_unchecked(&board, header.root, header.to_move.into()),
        winner: header.winner.into(),
        positions: header.positions,
        bytes: proof.bytes,
    }
}
