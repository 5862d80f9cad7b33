//! Errors of planning and building.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::ErrorKind;
use crate::file::FileError;
use crate::konane::Dimensions;
use crate::system::bytes_text;
use crate::tablebase::files::{Coverage, DatabaseError, Scope};

/// Resource that a build needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Memory.
    Memory,
    /// Disk space.
    Disk,
}

/// A build that needs more memory or disk space than there is.
#[derive(Clone, Debug)]
pub struct Misfit {
    /// Content of the database.
    pub coverage: Coverage,
    /// The resource that does not suffice.
    pub resource: Resource,
    /// Available bytes of that resource.
    pub have: u64,
    /// Bytes of memory that the build needs.
    pub memory_bytes: u64,
    /// Bytes of disk space that the build needs.
    pub disk_peak_bytes: u64,
    /// Estimated time.
    pub seconds: f64,
    /// Threads that the estimate is for.
    pub threads: usize,
    /// Maximum number of stones with which the build would fit.
    pub fits: Option<u32>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Coverage { dimensions, scope, max_stones, .. } = self.coverage;
        let what = match scope {
            Scope::Reachable => format!("the {dimensions} board with its reachable positions"),
            Scope::Complete if self.coverage.is_whole() => {
                format!("the complete {dimensions} board")
            }
            Scope::Complete => format!("{dimensions} with up to {max_stones} stones"),
        };
        let (need, noun, verb) = match self.resource {
            Resource::Memory => (self.memory_bytes, "memory", "may be used"),
            Resource::Disk => (self.disk_peak_bytes, "disk space", "are free"),
        };
        let lacking = bytes_text(need.saturating_sub(self.have));
        let [memory, disk, have] =
            [self.memory_bytes, self.disk_peak_bytes, self.have].map(bytes_text);
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
        let remedy = match (self.fits, scope, self.resource) {
            (Some(stones), ..) => &format!("with up to {stones} stones it would fit"),
            (None, Scope::Reachable, Resource::Memory) => "scope complete needs less memory",
            (None, _, Resource::Disk) => "make room, or choose another disk",
            (None, Scope::Complete, Resource::Memory) => "no number of stones would fit",
        };
        write!(
            f,
            "{what} needs {memory} of memory, {disk} of disk space and about {time} on {threads}, but \
             only {have} of {noun} {verb}: {lacking} are lacking; {remedy}"
        )
    }
}

/// Error of planning or running a build. Finished files stay, and the next run uses them. An incomplete file
/// never has the name of a complete one.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Memory or disk space do not suffice.
    #[error("{0}")]
    DoesNotFit(Box<Misfit>),
    /// An earlier run began with larger pieces than fit into the memory that may be used now. Smaller
    /// pieces would fit, but could not use the files that exist.
    #[error(
        "{} has {rows} that need {} of memory, but only {} may be used: allow more, or delete the \
         directory and begin again", path.display(), bytes_text(*need),
        bytes_text(*have)
    )]
    Begun {
        /// The directory.
        path: PathBuf,
        /// The pieces: layers or slices of rows.
        rows: &'static str,
        /// Bytes that they need.
        need: u64,
        /// Bytes that may be used.
        have: u64,
    },
    /// The directory has files of another database.
    #[error(
        "{} belongs to another build: its {what} is {got}, but this build writes {expected}; \
         delete the directory, or choose another one", path.display()
    )]
    OtherWork {
        /// A file in the directory.
        path: PathBuf,
        /// The property that differs.
        what: &'static str,
        /// Its value in this build.
        expected: String,
        /// Its value in the file.
        got: String,
    },
    /// A limit of stones with scope reachable. The search for the reachable positions begins with the full
    /// board, so it cannot be limited to few stones.
    #[error(
        "the reachable positions are found from the full board downwards, so scope reachable has \
         no limit of stones: build scope complete, or without a limit"
    )]
    ReachableWithMaxStones,
    /// Options that no method supports.
    #[error("the {board} board cannot be built {options}: {remedy}")]
    Unsupported {
        /// The board.
        board: Dimensions,
        /// The options.
        options: &'static str,
        /// Advice on possible options.
        remedy: &'static str,
    },
    /// Reachable positions of a board that is too large for the search of its state space.
    #[error(
        "the reachable positions of the {board} board cannot be built: \
         build scope complete with a limit of stones"
    )]
    ReachableTooLarge {
        /// The board.
        board: Dimensions,
    },
    /// The stop flag was set.
    #[error("interrupted: run it again to continue from what is finished")]
    Interrupted,
    /// Another process builds into the directory.
    #[error(
        "another program is building in {}: wait for it, or choose another directory",
        path.display()
    )]
    Busy {
        /// The directory of the database.
        path: PathBuf,
    },
    /// The disk is full.
    #[error(
        "no space is left on the disk of {}: make room and run it again, \
         it continues from what is finished", path.display()
    )]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
    },
    /// A part file of the build is damaged or missing. It was removed.
    #[error(
        "{} is damaged or missing: run the build again to make it again ({reason})", path.display()
    )]
    Lost {
        /// The file.
        path: PathBuf,
        /// The damage.
        reason: Box<DatabaseError>,
    },
    /// A text that is not a task, or a task that the board does not have.
    #[error("{text:?} is no task of this version: {what}; use the tasks of a plan")]
    NoTask {
        /// Beginning of the text.
        text: String,
        /// The mistake.
        what: &'static str,
    },
    /// A task needs more memory than it may use.
    #[error(
        "the task needs {} of memory, but may use only {}: give it more, or fewer threads",
        bytes_text(*need), bytes_text(*have)
    )]
    TaskMemory {
        /// Bytes that it needs.
        need: u64,
        /// Bytes that it may use.
        have: u64,
    },
    /// Tasks are pending.
    #[error("{} is not finished: run the tasks that are pending first", path.display())]
    Unfinished {
        /// The directory of the database.
        path: PathBuf,
    },
    /// A file could not be written or read.
    #[error(transparent)]
    Database(DatabaseError),
}

impl BuildError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            BuildError::Interrupted => ErrorKind::Interrupted,
            BuildError::Busy { .. }
            | BuildError::DiskFull { .. }
            | BuildError::Lost { .. }
            | BuildError::OtherWork { .. }
            | BuildError::Unfinished { .. }
            // The build chooses the paths of its files itself, so their errors are not usage errors.
            | BuildError::Database(_) => ErrorKind::File,
            BuildError::NoTask { .. }
            | BuildError::ReachableWithMaxStones
            | BuildError::Unsupported { .. }
            | BuildError::ReachableTooLarge { .. } => ErrorKind::Usage,
            BuildError::DoesNotFit(_) | BuildError::Begun { .. } | BuildError::TaskMemory { .. } => {
                ErrorKind::Limit
            }
        }
    }

    /// Returns the resource that does not suffice, for an error of a plan that does not fit; `None` for all
    /// other errors.
    pub fn lacking(&self) -> Option<Resource> {
        match self {
            BuildError::DoesNotFit(misfit) => Some(misfit.resource),
            BuildError::Begun { .. } => Some(Resource::Memory),
            _ => None,
        }
    }

    /// Makes an error of the operating system, for `map_err`.
    pub(super) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> BuildError + use<> {
        let to_file = FileError::io(action, path);
        move |error| to_file(error).into()
    }
}

impl From<DatabaseError> for BuildError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::File(error) => error.into(),
            DatabaseError::Interrupted => BuildError::Interrupted,
            other => BuildError::Database(other),
        }
    }
}

impl From<FileError> for BuildError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io { ref path, .. } if error.is_full() => {
                BuildError::DiskFull { path: path.clone() }
            }
            other => BuildError::Database(other.into()),
        }
    }
}
