//! What a proof is, said once more with sets and the public rules; and files in memory.

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use konane::konane::{Board, Colour, Position, SolveOptions};
use konane::proof::{
    Proof, ProofError, ProofHeader, ProofReader, ProofWriter, Side, Verification, prove, verify,
};
use konane::search::control::Limits;

pub fn board(text: &str) -> Board {
    Board::new(text.parse().expect("a board"))
}

/// A proof, with a table of so many bytes.
pub fn proof_with(board: &Board, position: &Position, memory_bytes: u64) -> Proof {
    let options = SolveOptions { memory_bytes, ..SolveOptions::default() };
    let proved = prove(board, position, &options, &(), Limits::default(), &mut ()).expect("memory");
    proved.proof.expect("no limit").expect("no limit and no contradiction")
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
    assert_eq!(names.len(), 1, "nothing but the proof is left");
    bytes
}

/// Reads and checks a file.
pub fn check(bytes: Vec<u8>) -> Result<Verification, ProofError> {
    let mut reader = ProofReader::new(Path::new("a file"), Cursor::new(bytes))?;
    verify(&mut reader, &|_, _| {}, &AtomicBool::new(false))
}

pub fn colour(side: Side) -> Colour {
    match side {
        Side::Black => Colour::Black,
        Side::White => Colour::White,
    }
}

/// Whether the codes prove what the header says: the definition, with a set and the solver's rules.
pub fn is_proof(board: &Board, header: &ProofHeader, codes: &[u64]) -> bool {
    let set: HashSet<u64> = codes.iter().copied().collect();
    let proven = |position: &Position| {
        set.contains(&board.symmetries().code(position)) || position.moves(board).is_empty()
    };
    let reaches = |position: &Position| {
        let mut moves = position.moves(board).into_iter();
        moves.any(|mv| proven(&position.play(board, mv)))
    };
    let root = Position::new_unchecked(header.root, colour(header.to_move));
    let root_is_there =
        if header.winner == header.to_move { reaches(&root) } else { proven(&root) };
    let closed = |&code: &u64| {
        let position = board.symmetries().decode(code);
        let setup = position.to_setup(board);
        let is_code = code & !(1 << 63) & !board.all() == 0
            && Position::from_setup(board, setup) == Ok(position)
            && board.symmetries().code(&position) == code;
        let mut moves = position.moves(board).into_iter();
        is_code && moves.all(|mv| reaches(&position.play(board, mv)))
    };
    let occupied = root.to_setup(board);
    Position::from_setup(board, occupied) == Ok(root) && root_is_there && codes.iter().all(closed)
}

/// Values by plain recursion with a memory.
#[derive(Default)]
pub struct Negamax(HashMap<Position, bool>);

impl Negamax {
    /// Whether the side to move wins.
    pub fn wins(&mut self, board: &Board, position: &Position) -> bool {
        if let Some(&won) = self.0.get(position) {
            return won;
        }
        let mut moves = position.moves(board).into_iter();
        let won = moves.any(|mv| !self.wins(board, &position.play(board, mv)));
        self.0.insert(*position, won);
        won
    }
}

/// A jumping-phase position from random bits.
pub fn random_position(board: &Board, bits: u64, thinning: u64, white: bool) -> Position {
    let to_move = if white { Colour::White } else { Colour::Black };
    // Two squares are empty at least.
    let occupied = board.all() & (bits | thinning) & !0b1010;
    Position::new_unchecked(occupied, to_move)
}
