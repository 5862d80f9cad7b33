//! Progress and results of a search.

use super::{Counters, Outcome};
use crate::numbers::{Number, Pair};
use crate::table::TableUse;

/// State of a running search.
#[derive(Clone, Copy, Default)]
pub struct Progress<'a> {
    /// Proof number of the root for the side to move.
    pub phi: Number,
    /// Disproof number of the root.
    pub delta: Number,
    /// Code of the child that the search considers the best.
    pub best: Option<u64>,
    /// Depth of the current iteration (α-β), else 0.
    pub depth: u32,
    /// Counters so far.
    pub counters: Counters,
    /// Bytes in use, if the search counts them; else 0.
    pub memory_bytes: u64,
    /// True if this is the final state, after which no further progress follows. Set by the caller
    /// of the search, if at all.
    pub is_last: bool,
    /// Maximum number of table entries. Set by the caller of the search, if at all; else 0.
    pub table_capacity: u64,
    /// Function that lists the root's children. They are looked up only when it is called.
    pub children: Option<&'a ListChildren<'a>>,
}

impl Progress<'_> {
    /// Use of the transposition table.
    pub fn table(&self) -> TableUse {
        let Counters { table_used, table_replaced, .. } = self.counters;
        let capacity = self.table_capacity;
        TableUse { capacity, used: table_used.min(capacity), replaced: table_replaced }
    }

    /// Returns a copy without the function that lists the root's children. The copy can be kept
    /// while the search continues.
    pub fn without_children(&self) -> Progress<'static> {
        let &Progress { phi, delta, best, depth, counters, memory_bytes, is_last, .. } = self;
        let root = Progress { phi, delta, best, ..Progress::default() };
        let table_capacity = self.table_capacity;
        Progress { depth, counters, memory_bytes, is_last, table_capacity, ..root }
    }
}

impl std::fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Progress { phi, delta, best, depth, counters, memory_bytes, is_last, .. } = self;
        f.debug_struct("Progress")
            .field("phi", phi)
            .field("delta", delta)
            .field("best", best)
            .field("depth", depth)
            .field("counters", counters)
            .field("memory_bytes", memory_bytes)
            .field("is_last", is_last)
            .field("table_capacity", &self.table_capacity)
            .finish_non_exhaustive()
    }
}

/// A child of the root and its numbers, from the view of the side to move in the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootChild {
    /// Code of the child.
    pub code: u64,
    /// Proof number of the child, which is the disproof number of the move to it.
    pub phi: Number,
    /// Disproof number of the child, which is the proof number of the move to it.
    pub delta: Number,
}

/// Numbers of the root of a search, and its best child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RootNumbers {
    /// Phi and delta.
    pub pair: Pair,
    /// Code of the best child, if children have codes and the root has been expanded: a lost one if the root is won.
    pub best: Option<u64>,
}

impl RootNumbers {
    /// Before the root is expanded.
    pub const START: RootNumbers = RootNumbers { pair: Pair { phi: 1, delta: 1 }, best: None };
}

/// Function that lists the root's children with their numbers while a search runs: all of them, or only the
/// open ones. Once a child is found that is lost, so that the root is won, the list may contain only this child. The
/// numbers of a child that is being searched are those that it had when the search last left it. A call costs at most
/// an expansion of the root.
pub type ListChildren<'a> = dyn Fn() -> Vec<RootChild> + Sync + 'a;

/// A proof-number tree that several workers search.
pub(crate) trait SharedTree: Sync {
    /// Numbers of the root.
    fn root(&self) -> RootNumbers;

    /// Children of the root; see [`ListChildren`].
    fn root_children(&self) -> Vec<RootChild>;
}

/// Progress of reading a checkpoint before a search, or of writing it after the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointProgress {
    /// True if the checkpoint is being written, false if it is being read.
    pub writing: bool,
    /// Amount of work done.
    pub done: u64,
    /// Total amount of work.
    pub of: u64,
}

/// Receives progress. The methods are called by one thread at a time: by the thread that called the
/// search, or by one of the search's workers if the workers need larger stacks.
pub trait Observer: Send {
    /// Called every few milliseconds or more often. It should return soon.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }

    /// Called with the Grundy numbers found since the last call, as pairs of an atom and its Grundy
    /// number. All of them are reported before the search returns, also if it is stopped. Returns
    /// false if the search cannot continue, for example because a file cannot be written. Then the
    /// search ends with [`super::Reason::FileError`].
    fn grundy_numbers(&mut self, numbers: &[(u32, u32)]) -> bool {
        let _ = numbers;
        true
    }

    /// Called several times a second while a checkpoint is read before the search, or written after
    /// it.
    fn checkpoint(&mut self, progress: &CheckpointProgress) {
        let _ = progress;
    }
}

/// Ignores everything.
impl Observer for () {}

/// Result of a search.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Value of the root, if it was found.
    pub outcome: Outcome,
    /// Proof number of the root at the end.
    pub phi: Number,
    /// Disproof number of the root at the end.
    pub delta: Number,
    /// Code of a lost child, if the root is won. Else the code of the best child, if the root was
    /// expanded. `None` for impartial games.
    pub best: Option<u64>,
    /// Counters of all workers.
    pub counters: Counters,
    /// Bytes of the whole table and of the part of the tree's memory that was ever in use; for an
    /// impartial game, of all data of the search.
    pub memory_bytes: u64,
    /// Number of threads that searched: fewer than requested if a search cannot use more or the
    /// system does not provide more. In the report of a coordinator of several processes it is 1.
    pub threads: u32,
}

/// Progress at the end of a search.
impl From<&Report> for Progress<'static> {
    fn from(report: &Report) -> Self {
        let &Report { phi, delta, best, counters, memory_bytes, .. } = report;
        let is_last = true;
        Progress { phi, delta, best, counters, memory_bytes, is_last, ..Progress::default() }
    }
}
