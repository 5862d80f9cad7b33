//! What a search tells about itself, while it runs and at its end.

use super::{Counters, Outcome};
use crate::numbers::Number;
use crate::table::TableUse;

/// A look at a running search.
#[derive(Clone, Copy, Default)]
pub struct Progress<'a> {
    /// Proof number of the root for the side to move.
    pub phi: Number,
    /// Disproof number of the root.
    pub delta: Number,
    /// Code of the child that the search holds for the best.
    pub best: Option<u64>,
    /// Depth of the current iteration (α-β), else 0.
    pub depth: u32,
    /// Counters so far.
    pub counters: Counters,
    /// Bytes in use, where a search counts them; else 0.
    pub memory_bytes: u64,
    /// Whether this is how the search has ended, where whoever runs it tells that; then no more
    /// follows.
    pub is_last: bool,
    /// Entries that fit into the table, where whoever runs the search says so; else 0.
    pub table_capacity: u64,
    /// Whom to ask for the numbers of the root's children. Nothing is looked up for who does not ask.
    pub children: Option<&'a dyn RootChildren>,
}

impl Progress<'_> {
    /// Use of the transposition table.
    pub fn table(&self) -> TableUse {
        let Counters { table_used, table_replaced, .. } = self.counters;
        let capacity = self.table_capacity;
        TableUse { capacity, used: table_used.min(capacity), replaced: table_replaced }
    }

    /// The same without the root's children, to keep while the search goes on.
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

/// A child of the root and its numbers, as always from the view of the side to move in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootChild {
    /// Its code.
    pub code: u64,
    /// Its proof number: the disproof number of the root's move.
    pub phi: Number,
    /// Its disproof number: the proof number of the root's move.
    pub delta: Number,
}

/// Knows the numbers of the root's children while a search runs.
pub trait RootChildren: Sync {
    /// Those that are known now: all of them, or only the open ones, or, once one is found that wins
    /// for the root, perhaps no other. Numbers of a child that is being searched are those of the
    /// last time that the search left it. Costs an expansion of the root at most.
    fn root_children(&self) -> Vec<RootChild>;
}

/// How far a checkpoint has been read, before a search, or written, after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointProgress {
    /// Whether it is written.
    pub writing: bool,
    /// How much is done.
    pub done: u64,
    /// How much there is.
    pub of: u64,
}

/// Receives progress now and then, from one thread at a time: the one that called the search, or
/// one of its workers where these need larger stacks.
pub trait Observer {
    /// Called every few milliseconds or more often; so it should return soon.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }

    /// Grundy numbers of atoms that have been found since the last call. All of them are reported
    /// before the search returns, also where it is stopped. What cannot go on, say because a file
    /// cannot be written, ends the search with [`super::Reason::FileError`] if this is false.
    fn grundy_numbers(&mut self, numbers: &[(u32, u32)]) -> bool {
        let _ = numbers;
        true
    }

    /// A checkpoint is read before the search, or written after it. Called several times a second.
    fn checkpoint(&mut self, progress: &CheckpointProgress) {
        let _ = progress;
    }
}

/// Ignores everything.
impl Observer for () {}

/// The result of a search.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// What is known about the root.
    pub outcome: Outcome,
    /// The root's proof number at the end.
    pub phi: Number,
    /// The root's disproof number at the end.
    pub delta: Number,
    /// If the root is won: the code of a lost child. Else the child that the search held for the
    /// best, if it expanded the root. Impartial games tell none.
    pub best: Option<u64>,
    /// What was counted.
    pub counters: Counters,
    /// Bytes of the whole table and of the part of the tree's memory that was ever in use; of an
    /// impartial game, of everything that the search kept.
    pub memory_bytes: u64,
    /// Threads that searched: fewer than requested where a search can use no more or the system gives
    /// no more. The coordinator of a search in several processes counts only itself.
    pub threads: u32,
}

/// How a search has ended, as its last progress.
impl From<&Report> for Progress<'static> {
    fn from(report: &Report) -> Self {
        let &Report { phi, delta, best, counters, memory_bytes, .. } = report;
        let is_last = true;
        Progress { phi, delta, best, counters, memory_bytes, is_last, ..Progress::default() }
    }
}
