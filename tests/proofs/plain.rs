//! Reference implementation of the definition of proofs, with sets and the public rules.

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use konane::proof::{ProofError, ProofHeader, ProofReader, Side, Verification, verify};
use konane::{Board, Colour, Position};

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

/// Returns true if the codes are a proof of the claim of the header, by the definition and the rules of the library.
pub fn is_proof(board: &Board, header: &ProofHeader, codes: &[u64]) -> bool {
    let set: HashSet<u64> = codes.iter().copied().collect();
    let proven = |position: &Position| {
        set.contains(&position.code(board)) || position.moves(board).is_empty()
    };
    let reaches = |position: &Position| {
        let mut moves = position.moves(board).into_iter();
        moves.any(|mv| proven(&position.play(board, mv)))
    };
    let root = Position::new_unchecked(board, header.root, colour(header.to_move));
    let root_is_proven =
        if header.winner == header.to_move { reaches(&root) } else { proven(&root) };
    let closed = |&code: &u64| {
        let position = Position::from_code(board, code);
        let setup = position.to_setup(board);
        let is_code = code & !(1 << 63) & !board.all() == 0
            && Position::from_setup(board, setup) == Ok(position)
            && position.code(board) == code;
        let mut moves = position.moves(board).into_iter();
        is_code && moves.all(|mv| reaches(&position.play(board, mv)))
    };
    let occupied = root.to_setup(board);
    Position::from_setup(board, occupied) == Ok(root) && root_is_proven && codes.iter().all(closed)
}

/// Values by plain recursion. Stores the computed values.
#[derive(Default)]
pub struct RecursiveValues(HashMap<Position, bool>);

impl RecursiveValues {
    /// Returns true if the side to move wins.
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
