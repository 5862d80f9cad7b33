//! Progress of building and checking.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::error::BuildError;
use super::plan::Plan;
use crate::tablebase::files::{DatabaseError, LayerSummary};

/// A part of the work, for people who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// What an earlier run finished is read and checked.
    Resuming,
    /// The values of the positions with this number of stones.
    Layer {
        /// Stones of both colours.
        stones: u32,
    },
    /// The values of the positions with this number of black stones, whatever the white ones.
    Rows {
        /// Black stones.
        black: u32,
    },
    /// The positions that games reach at this ply have been found.
    Ply {
        /// The number of moves made.
        ply: u32,
    },
    /// The layer's file is put together from its blocks.
    Assembling {
        /// Stones of both colours.
        stones: u32,
    },
    /// The lengths of games are counted in the layer's file.
    Counting {
        /// Stones of both colours.
        stones: u32,
    },
    /// The file of a layer is checked.
    Checking {
        /// Stones of both colours.
        stones: u32,
    },
    /// The values of a layer are compared with those of their successors.
    Recomputing {
        /// Stones of both colours.
        stones: u32,
    },
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stage::Resuming => write!(f, "reading what is there"),
            Stage::Layer { stones } => write!(f, "positions with {stones} stones"),
            Stage::Rows { black } => write!(f, "positions with {black} black stones"),
            Stage::Ply { ply } => write!(f, "positions of ply {ply}"),
            Stage::Assembling { stones } => write!(f, "writing the layer of {stones} stones"),
            Stage::Counting { stones } => write!(f, "counting the layer of {stones} stones"),
            Stage::Checking { stones } => write!(f, "checking the file of {stones} stones"),
            Stage::Recomputing { stones } => write!(f, "recomputing the layer of {stones} stones"),
        }
    }
}

/// Is told how building or checking gets on. The calls may come from any thread, some of them
/// thousands of times a second: they should return soon.
pub trait BuildObserver: Sync {
    /// Building begins; nothing has been written.
    fn planned(&self, _plan: &Plan) {}

    /// A part of the work begins.
    fn stage(&self, _stage: Stage) {}

    /// A layer's file is on the disk.
    fn layer_finished(&self, _stones: u32, _layer: &LayerSummary) {}

    /// A file that an earlier run left is not sound, and has been removed; it is made again.
    fn discarded(&self, _path: &Path, _reason: &DatabaseError) {}

    /// So many files that an earlier run left have been removed: it was begun in another way, and this
    /// one has no use for them.
    fn removed(&self, _files: usize) {}

    /// So many of the positions are done.
    fn progress(&self, _done: u64, _of: u64) {}
}

/// Ignores everything.
impl BuildObserver for () {}

/// Positions between two reports of progress.
const INTERVAL: u64 = 1 << 20;

/// A piece of work as the world outside sees it: whom it tells, and who may stop it. Shared by the
/// threads that do the work.
pub(in crate::tablebase) struct Outside<'a> {
    pub observer: &'a dyn BuildObserver,
    pub stop: &'a AtomicBool,
    done: AtomicU64,
    total: u64,
}

impl<'a> Outside<'a> {
    /// For work on so many positions.
    pub fn new(observer: &'a dyn BuildObserver, stop: &'a AtomicBool, total: u64) -> Self {
        Outside { observer, stop, done: AtomicU64::new(0), total }
    }

    /// Whether somebody wants the work to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Gives a build up if somebody wants that.
    pub fn go_on(&self) -> Result<(), BuildError> {
        if self.is_stopped() { Err(BuildError::Interrupted) } else { Ok(()) }
    }

    /// Counts positions, and tells the observer now and then.
    pub fn advance(&self, positions: u64) {
        let before = self.done.fetch_add(positions, Ordering::Relaxed);
        let done = before + positions;
        if before / INTERVAL != done / INTERVAL || done == self.total {
            self.observer.progress(done.min(self.total), self.total);
        }
    }

    /// The positions that have been counted.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}
