//! What a search tells about itself, while it runs and at its end.

use super::{Counters, Outcome};
use crate::search::numbers::Number;

/// A look at a running search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
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
    /// cannot be written, ends the search with [`super::Reason::KnownValues`] if this is false.
    fn grundy_numbers(&mut self, numbers: &[(u32, u32)]) -> bool {
        let _ = numbers;
        true
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
}
