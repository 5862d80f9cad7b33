//! What can be wrong with a checkpoint.

use std::io;
use std::path::{Path, PathBuf};

/// Why a checkpoint could not be written, read or continued.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was being done: a verb, such as `read`.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// There is no file to go on from.
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
        "{} is there already, and perhaps hours of work are in it: resume it, delete it, or name \
         another file", path.display()
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
    /// A file of another kind.
    #[error("{} is not a checkpoint of a search: {what}", path.display())]
    NotACheckpoint {
        /// The file.
        path: PathBuf,
        /// What shows it.
        what: String,
    },
    /// A file of another version of the format.
    #[error(
        "{} has version {got} of the checkpoint format, and this program reads version {expected}: \
         begin the search anew, or use the release of the program that wrote it", path.display()
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The version that this program reads and writes.
        expected: u32,
        /// The version of the file.
        got: u32,
    },
    /// A file that contradicts itself or its checksums.
    #[error(
        "{} is damaged: {what} should be {expected}, but is {got}; \
         restore the file, or delete it and begin the search anew", path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the place.
        what: String,
        /// What the rest of the file promises.
        expected: String,
        /// What was found.
        got: String,
    },
    /// A checkpoint of another search than the one that is to go on.
    #[error(
        "{} is a checkpoint of another search: its {what} is {got}, not {expected}; \
         ask for the same search, or name another file", path.display()
    )]
    OtherSearch {
        /// The file.
        path: PathBuf,
        /// What differs: `board`, `position`, `algorithm`, `profile` or `rules`.
        what: &'static str,
        /// That of the search that is to go on.
        expected: String,
        /// That of the file.
        got: String,
    },
    /// The tree of the checkpoint is larger than the memory for trees.
    #[error(
        "the tree in {} takes {need} bytes of memory, but {have} are set aside for trees: \
         give the search more memory", path.display()
    )]
    TreeTooLarge {
        /// The file.
        path: PathBuf,
        /// Memory for trees with which it would fit.
        need: u64,
        /// Memory for trees that there is.
        have: u64,
    },
    /// Somebody set the stop flag while the checkpoint was read.
    #[error("interrupted while {} was read; it is as it was", path.display())]
    Interrupted {
        /// The file.
        path: PathBuf,
    },
}

impl CheckpointError {
    /// Whether the question was wrong and not a file. Programs exit with 2 then.
    pub fn is_bad_input(&self) -> bool {
        use CheckpointError::{Exists, OtherSearch, TreeTooLarge};
        matches!(self, Exists { .. } | OtherSearch { .. } | TreeTooLarge { .. })
    }

    /// An error of the operating system, to be used with `map_err`.
    pub(super) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> CheckpointError + use<> {
        let path = path.to_owned();
        move |source| CheckpointError::Io { path, action, source }
    }

    /// A contradiction in a file.
    pub(super) fn damaged(
        path: &Path,
        what: impl Into<String>,
        expected: impl ToString,
        got: impl ToString,
    ) -> CheckpointError {
        CheckpointError::Damaged {
            path: path.to_owned(),
            what: what.into(),
            expected: expected.to_string(),
            got: got.to_string(),
        }
    }
}
