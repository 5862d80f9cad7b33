//! Errors of checkpoints.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::ErrorKind;
use crate::file::{FileError, FileKind};
use crate::system::bytes_text;

pub(super) const CHECKPOINT: &FileKind = &FileKind {
    name: "a checkpoint of a search",
    format: "checkpoint",
    versions: "version 3",
    whole: "it",
    again: "start a new search",
};

/// Reason why a checkpoint cannot be written, read or resumed.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// File that cannot be written or read, or is damaged.
    #[error(transparent)]
    File(#[from] FileError),
    /// Missing file to resume from.
    #[error(
        "there is no checkpoint {}: check the name, or start a new search without resuming",
        path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Existing file that a new search would overwrite.
    #[error(
        "{} already exists: resume from it, delete it, or name another file", path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// File to which another process writes checkpoints.
    #[error(
        "another search writes its checkpoints to {}: wait for it to end, or name another file",
        path.display()
    )]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Disk that may be too small.
    #[error(
        "a checkpoint of this search may take {}, but the disk of {} has {} free: free some space, \
         name a file on another disk, or give the search less memory",
        bytes_text(*need), path.display(), bytes_text(*have)
    )]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// Maximum size of a checkpoint.
        need: u64,
        /// Bytes that are free.
        have: u64,
    },
    /// Checkpoint of a search other than the one to be resumed.
    #[error(
        "{} is a checkpoint of another search: its {what} is {got}, not {expected}; \
         run the same search, or name another file", path.display()
    )]
    OtherSearch {
        /// The file.
        path: PathBuf,
        /// Name of the property that differs: `board`, `position`, `algorithm`, `profile` or `rules`.
        what: &'static str,
        /// Value in the search to be resumed.
        expected: String,
        /// Value in the file.
        got: String,
    },
    /// Stop flag that was set while the checkpoint was read.
    #[error("interrupted while {} was read; the file is unchanged", path.display())]
    Interrupted {
        /// The file.
        path: PathBuf,
    },
}

impl CheckpointError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            CheckpointError::File(error) => error.kind(),
            CheckpointError::Missing { .. }
            | CheckpointError::Busy { .. }
            | CheckpointError::NoRoom { .. } => ErrorKind::File,
            CheckpointError::Exists { .. } | CheckpointError::OtherSearch { .. } => {
                ErrorKind::Usage
            }
            CheckpointError::Interrupted { .. } => ErrorKind::Interrupted,
        }
    }

    /// Returns the conversion of an error of the operating system, for `map_err`.
    pub(super) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> CheckpointError + use<> {
        let to_file = FileError::io(action, path);
        move |error| to_file(error).into()
    }

    /// Returns the error for an inconsistent file.
    pub(super) fn damaged(
        path: &Path,
        what: impl Into<String>,
        expected: impl ToString,
        got: impl ToString,
    ) -> CheckpointError {
        CHECKPOINT.damaged(path, what, expected, got).into()
    }
}
