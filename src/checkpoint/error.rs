//! Errors of checkpoints.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::ErrorKind;
use crate::file::{FileError, FileKind};
use crate::search::snapshot::TreeError;
use crate::system::bytes_text;

pub(super) const CHECKPOINT: &FileKind = &FileKind {
    name: "a checkpoint of a search",
    format: "checkpoint",
    versions: "version 2",
    whole: "it",
    again: "begin the search anew",
};

/// Text of an amount that is not less than `bytes`, although the text has only three digits.
fn at_least(bytes: u64) -> String {
    bytes_text(bytes.saturating_add(bytes / 100))
}

/// Reason why a checkpoint cannot be written, read or resumed.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be written or read, or is damaged.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no file to resume from.
    #[error(
        "there is no checkpoint {}: check the name, or begin a new search without resuming",
        path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A new search would write over an older checkpoint.
    #[error(
        "{} exists already, and may have hours of work in it: resume it, delete it, or name another file", path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another process writes checkpoints to this file.
    #[error(
        "another search writes its checkpoints to {}: wait for its end, or name another file",
        path.display()
    )]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The disk may be too small.
    #[error(
        "a checkpoint of this search may take {}, but the disk of {} has {} left: make room, \
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
    /// A checkpoint of another search than the one that is to be resumed.
    #[error(
        "{} is a checkpoint of another search: its {what} is {got}, not {expected}; \
         ask for the same search, or name another file", path.display()
    )]
    OtherSearch {
        /// The file.
        path: PathBuf,
        /// Name of the difference: `board`, `position`, `algorithm`, `profile` or `rules`.
        what: &'static str,
        /// Value of the search that is to be resumed.
        expected: String,
        /// Value in the file.
        got: String,
    },
    /// The tree of the checkpoint is larger than the memory for trees.
    #[error(
        "the tree in {} needs {} of memory for trees, but {} are reserved: give the search a memory \
         of {} or more", path.display(), bytes_text(*need), bytes_text(*have), at_least(*total)
    )]
    TreeTooLarge {
        /// The file.
        path: PathBuf,
        /// Memory for trees with which it would fit.
        need: u64,
        /// Memory for trees that there is.
        have: u64,
        /// Memory for everything together with which it would fit.
        total: u64,
    },
    /// The system refuses the memory for the tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The stop flag was set while the checkpoint was read.
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
            CheckpointError::Exists { .. }
            | CheckpointError::OtherSearch { .. }
            | CheckpointError::TreeTooLarge { .. } => ErrorKind::Usage,
            CheckpointError::Tree(error) => error.kind(),
            CheckpointError::Interrupted { .. } => ErrorKind::Interrupted,
        }
    }

    /// An error of the operating system, to be used with `map_err`.
    pub(super) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> CheckpointError + use<> {
        let to_file = FileError::io(action, path);
        move |error| to_file(error).into()
    }

    /// An error for a file that contradicts itself.
    pub(super) fn damaged(
        path: &Path,
        what: impl Into<String>,
        expected: impl ToString,
        got: impl ToString,
    ) -> CheckpointError {
        CHECKPOINT.damaged(path, what, expected, got).into()
    }
}
