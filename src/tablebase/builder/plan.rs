//! What a build will do, or why it will not.

use std::path::PathBuf;

use super::tasks::TaskFigures;
use crate::error::ErrorKind;
use crate::konane::Dimensions;
use crate::system::bytes_text;
use crate::tablebase::files::{DatabaseError, Metric, Scope};

/// What to build.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// Which positions.
    pub scope: Scope,
    /// What to say of each of them.
    pub metric: Metric,
    /// The most stones; `None` for all layers. Scope complete only.
    pub max_stones: Option<u32>,
    /// Memory that may be used; `None` for what the system has available.
    pub memory_bytes: Option<u64>,
    /// The directory that holds databases; each has a directory of its own in it.
    pub out: PathBuf,
    /// How; `None` for the way in which an earlier run began, else for the sweep where it is possible.
    /// Makes no difference to the files.
    pub method: Option<Method>,
}

impl BuildOptions {
    /// The outcomes of a complete board into a directory, with everything else as usual.
    pub fn complete(out: PathBuf) -> Self {
        BuildOptions {
            scope: Scope::Complete,
            metric: Metric::Outcome,
            max_stones: None,
            memory_bytes: None,
            out,
            method: None,
        }
    }
}

/// How the values are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Layer by layer on combinadic ranks ([`crate::tablebase::values::ranked`]).
    Ranked,
    /// By the bit-parallel sweep ([`crate::tablebase::values::sweep`]): whole boards.
    Swept,
    /// By the sweep, some rows at a time ([`TaskPlan`](super::TaskPlan)): whole boards in little
    /// memory.
    Sliced,
    /// By the sweep and the breadth-first search from the start ([`crate::tablebase::statespace()`]):
    /// scope reachable.
    Reached,
}

/// What a build will do, need and write.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The board.
    pub dimensions: Dimensions,
    /// Which positions.
    pub scope: Scope,
    /// What is said of each of them.
    pub metric: Metric,
    /// The layers: up to this number of stones.
    pub max_stones: u32,
    /// How.
    pub method: Method,
    /// The directory of the database.
    pub directory: PathBuf,
    /// The database is there already; nothing is computed, and nothing was checked against limits.
    pub finished: bool,
    /// Positions whose value will be known: sets of stones, with either side to move.
    pub positions: u128,
    /// Positions that are stored: those left by symmetry.
    pub stored_positions: u128,
    /// The most memory at a time; an upper bound.
    pub memory_bytes: u64,
    /// The memory that may be used, if anybody knows.
    pub memory_limit: Option<u64>,
    /// The files, an estimate that is rather too large.
    pub disk_bytes: u64,
    /// The most on the disk while building: the files, and once more the layer that is put
    /// together.
    pub disk_peak_bytes: u64,
    /// What is free on the disk, if the system says so, and what an interrupted build of this
    /// database already takes.
    pub disk_limit: Option<u64>,
    /// What its slices take, if it is built in slices.
    pub slices: Option<TaskFigures>,
    /// Seconds, an estimate from measured rates.
    pub seconds: f64,
    /// Threads of the rayon pool that the estimate is for.
    pub threads: usize,
}

/// What does not suffice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Memory.
    Memory,
    /// Space on the disk.
    Disk,
}

/// A build that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// What was to be built, such as `8x8 with up to 12 stones`.
    pub what: String,
    /// Which positions.
    pub scope: Scope,
    /// Bytes of memory that it needs.
    pub memory: u64,
    /// Bytes on the disk while building.
    pub disk: u64,
    /// Seconds, an estimate, if it did fit.
    pub seconds: f64,
    /// Threads of the estimate.
    pub threads: usize,
    /// What does not suffice.
    pub resource: Resource,
    /// Bytes there are of it.
    pub have: u64,
    /// The most stones with which it would fit.
    pub fits: Option<u32>,
}

impl Misfit {
    /// Bytes of the resource that does not suffice.
    pub fn need(&self) -> u64 {
        match self.resource {
            Resource::Memory => self.memory,
            Resource::Disk => self.disk,
        }
    }

    fn text(&self) -> String {
        let (noun, verb) = match self.resource {
            Resource::Memory => ("memory", "may be used"),
            Resource::Disk => ("disk space", "are free"),
        };
        let lacking = bytes_text(self.need().saturating_sub(self.have));
        let [memory, disk, have] = [self.memory, self.disk, self.have].map(bytes_text);
        let hours = self.seconds / 3600.0;
        let time = match hours {
            ..0.025 => "a minute".to_owned(),
            ..1.5 => format!("{:.0} minutes", hours * 60.0),
            ..48.0 => format!("{hours:.1} hours"),
            _ => format!("{:.0} days", hours / 24.0),
        };
        let threads = match self.threads {
            1 => "one thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        let remedy = match (self.fits, self.scope, self.resource) {
            (Some(stones), ..) => &format!("with up to {stones} stones it would fit"),
            (None, Scope::Reachable, Resource::Memory) => "scope complete needs less memory",
            (None, Scope::Reachable, Resource::Disk) => "make room, or choose another disk",
            (None, Scope::Complete, _) => "no number of stones would fit",
        };
        format!(
            "{} needs {memory} of memory, {disk} of disk space and about {time} on {threads}, but only \
             {have} of {noun} {verb}: {lacking} are lacking; {remedy}",
            self.what
        )
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// It does not fit.
    #[error("{}", .0.text())]
    DoesNotFit(Box<Misfit>),
    /// An earlier run began in a way that needs more memory than may be used now. With that little it
    /// can be built in slices, or in smaller ones, but these could not use what is there.
    #[error(
        "{} was begun with {rows} that need {} of memory, but only {} may be used: give \
         them more, or delete the directory and begin again", path.display(), bytes_text(*need),
        bytes_text(*have)
    )]
    Begun {
        /// The directory.
        path: PathBuf,
        /// What is in memory at a time.
        rows: &'static str,
        /// Bytes that this needs.
        need: u64,
        /// Bytes that may be used.
        have: u64,
    },
    /// The directory has files of something else.
    #[error(
        "{} belongs to something else: its {what} is {got}, but this build writes {expected}; \
         delete the directory, or choose another one", path.display()
    )]
    OtherWork {
        /// A file in the directory.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// What the build would write.
        expected: String,
        /// What the file says.
        got: String,
    },
    /// A database is there, and cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// Layers of reachable positions alone do not exist: the start has all stones.
    #[error(
        "the reachable positions are found from the full board downwards, so scope reachable has \
         no limit of stones: build scope complete, or without a limit"
    )]
    ReachableWithMaxStones,
    /// The reachable positions are built with outcomes only.
    #[error(
        "scope reachable is built with metric outcome only: \
         build scope complete for the remoteness, or metric outcome"
    )]
    ReachableWithRemoteness,
    /// Slices are built with outcomes only.
    #[error(
        "the {board} board cannot be built in slices or by tasks with metric remoteness: \
         build it whole, or with metric outcome"
    )]
    SlicedRemoteness {
        /// The board.
        board: Dimensions,
    },
    /// A row of the board would be too long.
    #[error(
        "the complete {board} board cannot be built by tasks: a row of it is too long; \
         build it with a limit of stones"
    )]
    TooLargeForRows {
        /// The board.
        board: Dimensions,
    },
    /// No method here builds the reachable positions of this board.
    #[error(
        "the reachable positions of the {board} board cannot be built: \
         build scope complete with a limit of stones"
    )]
    ReachableTooLarge {
        /// The board.
        board: Dimensions,
    },
}

impl PlanError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            PlanError::DoesNotFit(_) | PlanError::Begun { .. } => ErrorKind::Limit,
            PlanError::OtherWork { .. } => ErrorKind::File,
            PlanError::Database(error) => error.kind(),
            PlanError::ReachableWithMaxStones
            | PlanError::ReachableWithRemoteness
            | PlanError::SlicedRemoteness { .. }
            | PlanError::TooLargeForRows { .. }
            | PlanError::ReachableTooLarge { .. } => ErrorKind::Usage,
        }
    }

    /// What does not suffice, if something does not.
    pub fn lacking(&self) -> Option<Resource> {
        match self {
            PlanError::DoesNotFit(misfit) => Some(misfit.resource),
            PlanError::Begun { .. } => Some(Resource::Memory),
            _ => None,
        }
    }
}
