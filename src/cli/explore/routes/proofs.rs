//! `GET /api/v1/proofs`: what the proofs say about themselves.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::Shared;
use crate::cli::explore::files::ProofFile;
use crate::cli::explore::params::{NoParams, Params};
use crate::konane::notation::format_position;
use crate::konane::{Board, Colour, Position};
use crate::proof::Side;

/// The answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProofsJson {
    /// All of them.
    pub proofs: Vec<ProofHereJson>,
}

/// A proof.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProofHereJson {
    /// Its file's name.
    pub name: String,
    /// Ranks x files.
    pub board: String,
    /// The position that it is about.
    pub root: String,
    /// `black` or `white`.
    pub winner: String,
    /// Positions in it.
    pub positions: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Lists them.
pub async fn get(State(explorer): Shared, _: Params<NoParams>) -> Json<ProofsJson> {
    Json(ProofsJson { proofs: explorer.files.proofs.iter().map(proof).collect() })
}

fn proof(proof: &ProofFile) -> ProofHereJson {
    let (header, board) = (&proof.header, Board::new(proof.board));
    let to_move = match header.to_move {
        Side::Black => Colour::Black,
        Side::White => Colour::White,
    };
    ProofHereJson {
        name: proof.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        board: proof.board.to_string(),
        root: format_position(&board, &Position::new_unchecked(header.root, to_move)),
        winner: header.winner.name().to_owned(),
        positions: header.positions,
        bytes: proof.bytes,
    }
}
