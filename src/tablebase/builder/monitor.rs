//! Progress and interruption of building and checking.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::tablebase::files::DatabaseError;

/// Part of the work, as reported to users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Files of an earlier run are read and checked.
    Resuming,
    /// Values of the positions with this number of stones.
    Layer {
        /// Stones of both colours.
        stones: u32,
    },
    /// Values of the positions with this number of black stones and any number of white ones.
    Rows {
        /// Black stones.
        black: u32,
    },
    /// The positions that games reach at this ply have been found.
    Ply {
        /// The number of moves made.
        ply: u32,
    },
    /// The layer's file is assembled from its parts.
    Assembling {
        /// Stones of both colours.
        stones: u32,
    },
    /// The remotenesses in the layer's file are counted.
    Counting {
        /// Stones of both colours.
        stones: u32,
    },
    /// The layer's file is checked.
    Checking {
        /// Stones of both colours.
        stones: u32,
    },
    /// The values of the layer are compared with those of their successors.
    Recomputing {
        /// Stones of both colours.
        stones: u32,
    },
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stage::Resuming => write!(f, "reading existing files"),
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

/// Receives the progress of building or checking. Any thread may call the methods, thousands of times a second,
/// so they should return soon.
pub trait BuildObserver: Sync {
    /// A part of the work begins.
    fn stage(&self, _stage: Stage) {}

    /// A layer's file of `bytes` bytes is on the disk.
    fn layer_finished(&self, _stones: u32, _bytes: u64) {}

    /// A damaged file of an earlier run has been removed; it is made again.
    fn discarded(&self, _path: &Path, _reason: &DatabaseError) {}

    /// `files` part files of an earlier run have been removed. That run cut the rows into other slices, so this
    /// run cannot use the files.
    fn removed(&self, _files: usize) {}

    /// `done` of `of` positions have been processed.
    fn progress(&self, _done: u64, _of: u64) {}
}

/// Ignores everything.
impl BuildObserver for () {}

/// Positions between two reports of progress.
const INTERVAL: u64 = 1 << 20;

/// Observer, stop flag and counters of one build or check, shared by its threads.
pub struct BuildMonitor<'a> {
    pub observer: &'a dyn BuildObserver,
    pub stop: &'a AtomicBool,
    total: u64,
    done: AtomicU64,
    /// Bytes read from part files, before compression.
    pub read_bytes: AtomicU64,
    /// Bytes written to files, compressed.
    pub written_bytes: AtomicU64,
}

impl<'a> BuildMonitor<'a> {
    /// A monitor of work on `total` positions.
    pub fn new(observer: &'a dyn BuildObserver, stop: &'a AtomicBool, total: u64) -> Self {
        let [done, read_bytes, written_bytes] = [0; 3].map(AtomicU64::new);
        BuildMonitor { observer, stop, total, done, read_bytes, written_bytes }
    }

    /// Returns [`DatabaseError::Interrupted`] if the stop flag is set.
    pub fn check(&self) -> Result<(), DatabaseError> {
        DatabaseError::check_stop(self.stop)
    }

    /// Counts positions, and reports about every [`INTERVAL`] of them.
    pub fn advance(&self, positions: u64) {
        let before = self.done.fetch_add(positions, Ordering::Relaxed);
        let done = before + positions;
        if before / INTERVAL != done / INTERVAL || done == self.total {
            self.observer.progress(done.min(self.total), self.total);
        }
    }

    /// Positions counted so far.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}
