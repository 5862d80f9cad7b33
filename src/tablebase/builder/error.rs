//! Why a build ended without a database.

use std::io;
use std::path::{Path, PathBuf};

use super::plan::PlanError;
use super::tasks::TaskError;
use crate::error::ErrorKind;
use crate::file::FileError;
use crate::system::bytes_text;
use crate::tablebase::files::DatabaseError;
use crate::tablebase::values::Stopped;

/// Why a build ended without a database. What was finished until then stays, and is used when it is
/// run again; no file looks whole that is not.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
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
    /// A file that one task made for another is damaged or gone. It was removed.
    #[error(
        "{} is damaged or gone: what is missing will be made again when the build is run again \
         ({reason})", path.display()
    )]
    Lost {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: Box<DatabaseError>,
    },
    /// A text is no task, or the board has no such task.
    #[error(transparent)]
    NoTask(#[from] TaskError),
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
    /// Tasks are left.
    #[error("{} is not finished: run the tasks that are pending first", path.display())]
    Unfinished {
        /// The directory of the database.
        path: PathBuf,
    },
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
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
            | BuildError::Unfinished { .. }
            // The build names its files itself, so no error here is a usage error.
            | BuildError::Database(_) => ErrorKind::File,
            BuildError::NoTask(error) => error.kind(),
            BuildError::TaskMemory { .. } => ErrorKind::Limit,
            BuildError::Plan(error) => error.kind(),
        }
    }

    /// An error of the operating system, to be used with `map_err`.
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

impl From<Stopped> for BuildError {
    fn from(_: Stopped) -> Self {
        BuildError::Interrupted
    }
}
