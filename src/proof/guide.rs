//! Playing by a proof: which moves lead into it.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::{ProofError, ProofHeader, ProofReader, Side};
use crate::konane::{Board, Colour, Dimensions, Move, Position};

/// A proof in memory, to be asked for the winner's moves.
///
/// It is not checked ([`super::verify()`] does that): in a file that is no proof, answers may be
/// missing.
///
/// # Examples
/// ```no_run
/// use std::path::Path;
/// use std::sync::atomic::AtomicBool;
///
/// use konane::notation::format_move;
/// use konane::proof::Guide;
///
/// let guide = Guide::open(Path::new("5x5.proof"), &AtomicBool::new(false))?;
/// let (board, root) = (guide.board(), guide.root());
/// match guide.answer(&root) {
///     Some(mv) => println!("{} wins by {}", root.to_move(), format_move(board.dimensions(), mv)),
///     None if guide.is_lost(&root) => println!("{} loses", root.to_move()),
///     None => println!("the file is no proof"),
/// }
/// # Ok::<(), konane::proof::ProofError>(())
/// ```
#[derive(Debug)]
pub struct Guide {
    board: Board,
    root: Position,
    winner: Colour,
    codes: Vec<u64>,
}

impl Guide {
    /// Reads a proof: 8 bytes of memory for each position.
    ///
    /// # Errors
    /// As [`ProofReader::open`] and [`ProofReader::read_codes`].
    pub fn open(path: &Path, stop: &AtomicBool) -> Result<Self, ProofError> {
        let mut reader: ProofReader<File> = ProofReader::open(path)?;
        let codes = reader.read_codes(stop)?;
        Ok(Guide::new(reader.header(), codes))
    }

    /// A proof from its parts.
    ///
    /// # Panics
    /// If the header's board has no squares or more than 64, or the codes are not in increasing
    /// order.
    pub fn new(header: &ProofHeader, codes: Vec<u64>) -> Self {
        assert!(codes.is_sorted(), "codes in increasing order");
        let dimensions = Dimensions::new(header.ranks.into(), header.files.into());
        let board = Board::new(dimensions.expect("a board of 1 to 64 squares"));
        let root = Position::new_unchecked(header.root, colour(header.to_move));
        Guide { board, root, winner: colour(header.winner), codes }
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The position that the proof is about.
    pub fn root(&self) -> Position {
        self.root
    }

    /// Who wins there.
    pub fn winner(&self) -> Colour {
        self.winner
    }

    /// Positions of the proof.
    pub fn positions(&self) -> u64 {
        self.codes.len() as u64
    }

    /// Whether the side to move loses as far as the proof says it: the position is one of it, or has
    /// no moves.
    pub fn is_lost(&self, position: &Position) -> bool {
        position.count_moves(&self.board) == 0
            || self.codes.binary_search(&position.code(&self.board)).is_ok()
    }

    /// A move after which the opponent loses, as far as the proof says it: best one that leaves it
    /// no move.
    pub fn answer(&self, position: &Position) -> Option<Move> {
        let moves = position.moves(&self.board).into_iter();
        let lost = moves.filter_map(|mv| {
            let after = position.play(&self.board, mv);
            self.is_lost(&after).then(|| (after.count_moves(&self.board), mv))
        });
        lost.min_by_key(|&(replies, _)| replies).map(|(_, mv)| mv)
    }
}

fn colour(side: Side) -> Colour {
    match side {
        Side::Black => Colour::Black,
        Side::White => Colour::White,
    }
}
