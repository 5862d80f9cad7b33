//! Playing by a proof: [`ProofStrategy`] looks up the moves that lead to positions of the proof.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use quick_cache::sync::Cache;

use super::{ProofError, ProofReader, Side};
use crate::file::ChunkWeighter;
use crate::konane::{Board, Colour, Dimensions, Move, Position};

/// Bytes of the cache for the codes of chunks. They suffice for 512 chunks of the size that the writer uses.
const CACHE_BYTES: u64 = 64 << 20;

/// An open proof file, for look-ups of the winner's moves by any number of threads.
///
/// [`ProofStrategy::open`] reads only the header and the index. A look-up reads the chunks of the file that it needs,
/// at most one for each move, and verifies their checksums. All threads share a cache of 64 MiB for chunks. The
/// proof is not verified ([`super::verify()`]): if it is invalid, answers may be missing.
///
/// # Examples
/// ```no_run
/// use std::path::Path;
///
/// use konane::proof::ProofStrategy;
///
/// let strategy = ProofStrategy::open(Path::new("5x5.proof"))?;
/// let (board, root) = (strategy.board(), strategy.root());
/// match strategy.answer(&root)? {
///     Some(mv) => println!("{} wins by {}", root.to_move(), mv.to_string()),
///     None if strategy.is_lost(&root)? => println!("{} loses", root.to_move()),
///     None => println!("the proof is invalid"),
/// }
/// # Ok::<(), konane::proof::ProofError>(())
/// ```
pub struct ProofStrategy {
    board: Board,
    root: Position,
    winner: Colour,
    positions: u64,
    /// The first code of every chunk.
    firsts: Box<[u64]>,
    reader: Mutex<ProofReader<File>>,
    chunks: Cache<usize, Arc<[u64]>, ChunkWeighter>,
}

impl fmt::Debug for ProofStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProofStrategy({}, {} positions)", self.board.dimensions(), self.positions)
    }
}

impl ProofStrategy {
    /// Opens a proof. Takes 40 bytes of memory for each chunk; a chunk of the writer has 16,384 positions.
    ///
    /// # Errors
    /// As [`ProofReader::open`].
    pub fn open(path: &Path) -> Result<Self, ProofError> {
        let reader: ProofReader<File> = ProofReader::open(path)?;
        let header = *reader.header();
        let dimensions = Dimensions::new(header.ranks.into(), header.files.into());
        let board = Board::new(dimensions.expect("the header is of a board of 1 to 64 squares"));
        let root = Position::new_unchecked(&board, header.root, header.to_move.into());
        let items = CACHE_BYTES / (8 * u64::from(header.chunk_codes));
        Ok(ProofStrategy {
            board,
            root,
            winner: header.winner.into(),
            positions: header.positions,
            firsts: reader.chunks().iter().map(|chunk| chunk.first).collect(),
            reader: Mutex::new(reader),
            chunks: Cache::with_weighter(items as usize, CACHE_BYTES, ChunkWeighter),
        })
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The position whose winner is proven.
    pub fn root(&self) -> Position {
        self.root
    }

    /// The winner of the root.
    pub fn winner(&self) -> Colour {
        self.winner
    }

    /// Number of positions of the proof.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Returns true if the side to move loses by the proof or the rules: the position is in the proof, or has
    /// no moves.
    ///
    /// # Errors
    /// If the file cannot be read, or a chunk is damaged.
    pub fn is_lost(&self, position: &Position) -> Result<bool, ProofError> {
        if position.count_moves(&self.board) == 0 {
            return Ok(true);
        }
        let code = position.code(&self.board);
        // Only the last chunk whose first code is not greater than `code` can contain the code.
        match self.firsts.partition_point(|&first| first <= code).checked_sub(1) {
            Some(chunk) => Ok(self.chunk(chunk)?.binary_search(&code).is_ok()),
            None => Ok(false),
        }
    }

    /// A move after which the opponent loses by the proof or the rules. Of several moves, the one with the fewest
    /// replies.
    ///
    /// # Errors
    /// As [`ProofStrategy::is_lost`].
    pub fn answer(&self, position: &Position) -> Result<Option<Move>, ProofError> {
        let mut best: Option<(u32, Move)> = None;
        for mv in position.moves(&self.board) {
            let after = position.play(&self.board, mv);
            let replies = after.count_moves(&self.board);
            if best.is_none_or(|(least, _)| replies < least) && self.is_lost(&after)? {
                best = Some((replies, mv));
            }
        }
        Ok(best.map(|(_, mv)| mv))
    }

    fn chunk(&self, number: usize) -> Result<Arc<[u64]>, ProofError> {
        self.chunks.get_or_insert_with(&number, || {
            let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(reader.read_chunk(number)?.into())
        })
    }
}

impl From<Side> for Colour {
    fn from(side: Side) -> Colour {
        match side {
            Side::Black => Colour::Black,
            Side::White => Colour::White,
        }
    }
}
