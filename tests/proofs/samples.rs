//! Proofs of random positions, and their files in memory.

use konane::proof::{Proof, ProofHeader, ProofWriter, prove};
use konane::{Board, Colour, Position, SolveOptions, Solver};

pub fn board(text: &str) -> Board {
    Board::new(text.parse().expect("a board"))
}

/// A proof, found with `memory_bytes` of memory.
pub fn proof_with(board: &Board, position: &Position, memory_bytes: u64) -> Proof {
    let options = SolveOptions { memory_bytes, ..SolveOptions::default() };
    let proved = prove(&Solver::new(board, position).options(options), &mut ()).expect("memory");
    proved.proof.expect("the search has a result").expect("no limit and no contradiction")
}

pub fn proof(board: &Board, position: &Position) -> Proof {
    proof_with(board, position, 32 << 20)
}

/// The file of a header and codes.
pub fn bytes_of(header: &ProofHeader, codes: &[u64]) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.proof");
    let header = ProofHeader { positions: codes.len() as u64, ..*header };
    let summary = ProofWriter::create(&path).expect("created").finish(&header, codes).unwrap();
    let bytes = std::fs::read(&path).expect("written");
    assert_eq!(summary.bytes, bytes.len() as u64);
    let names: Vec<_> = std::fs::read_dir(directory.path()).expect("there").collect();
    assert_eq!(names.len(), 1, "the proof is the only file");
    bytes
}

/// A jumping-phase position from random bits.
pub fn random_position(board: &Board, bits: u64, thinning: u64, white: bool) -> Position {
    let to_move = if white { Colour::White } else { Colour::Black };
    // At least two squares are empty.
    let occupied = board.all() & (bits | thinning) & !0b1010;
    Position::new_unchecked(board, occupied, to_move)
}
