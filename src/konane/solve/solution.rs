//! What a search found, or why it cannot begin.

use super::LEAST_MEMORY;
use crate::checkpoint::CheckpointError;
use crate::error::ErrorKind;
use crate::konane::geometry::Colour;
use crate::konane::moves::Move;
use crate::konane::position::Position;
use crate::search::Value;
use crate::search::numbers::INFINITY;
use crate::search::run::{Counters, Outcome, Reason, Report};
use crate::search::snapshot::TreeError;
use crate::search::table::TableError;

/// How full the table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableUse {
    /// Entries that fit.
    pub capacity: u64,
    /// Entries in use.
    pub used: u64,
    /// Entries dropped for others.
    pub replaced: u64,
}

/// What a [`Solver`](super::Solver) found.
#[derive(Clone, Copy, Debug)]
pub struct Solution {
    /// Who wins, if that is proven; the report's outcome says why it is not.
    pub winner: Option<Colour>,
    /// A winning move if the side to move is proven to win; nothing if it is proven to lose; else
    /// the move that the search held for the best, if it has got so far.
    pub best_move: Option<Move>,
    /// The search's own account.
    pub report: Report,
    /// The table at the end.
    pub table: TableUse,
}

impl Solution {
    /// Of a position without a legal move: the side to move has lost.
    pub(super) fn of_finished_game(position: &Position) -> Solution {
        Solution {
            winner: Some(!position.to_move()),
            best_move: None,
            report: Report {
                outcome: Outcome::Known(Value::Loss),
                phi: INFINITY,
                delta: 0,
                best: None,
                counters: Counters { nodes: 1, ..Counters::default() },
                memory_bytes: 0,
            },
            table: TableUse::default(),
        }
    }

    /// Why the winner is not known.
    pub fn reason(&self) -> Option<Reason> {
        self.report.outcome.reason()
    }
}

/// Why a search cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// Less than [`LEAST_MEMORY`].
    #[error(
        "a memory of {bytes} B is too small to search with: at least {LEAST_MEMORY} B (1 MiB) \
         are needed, and 1 GiB or more is sensible for 6x6 and beyond"
    )]
    TooLittleMemory {
        /// The bytes asked for.
        bytes: u64,
    },
    /// More than this machine's addresses can name.
    #[error("{bytes} bytes are more than this system can address; ask for less memory")]
    TooMuchMemory {
        /// The bytes asked for.
        bytes: u64,
    },
    /// The table cannot be made.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The memory of the tree cannot be had.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The checkpoint cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl SolveError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            SolveError::TooLittleMemory { .. } => ErrorKind::Usage,
            SolveError::TooMuchMemory { .. } => ErrorKind::Resource,
            SolveError::Table(error) => error.kind(),
            SolveError::Tree(error) => error.kind(),
            SolveError::Checkpoint(error) => error.kind(),
        }
    }
}
