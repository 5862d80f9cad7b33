//! What can be wrong with a file.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::ErrorKind;

/// Why a file could not be written, read or believed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
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
    /// Something else than a file stands where one should be read.
    #[error("{} is {found}, not a file", path.display())]
    NotAFile {
        /// Its name.
        path: PathBuf,
        /// What it is, such as `a directory`.
        found: &'static str,
    },
    /// Something else than a file stands where one should be written.
    #[error(
        "{} is {found}, and a file cannot take its place: name a file, or one that is not there yet",
        path.display()
    )]
    NotReplaceable {
        /// Its name.
        path: PathBuf,
        /// What it is, such as `a named pipe`.
        found: &'static str,
    },
    /// Another process writes the same file.
    #[error(
        "another program is writing {}: wait for its end, or name another file", path.display()
    )]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A file of another kind.
    #[error("{} is not {}: {what}", path.display(), kind.name)]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// What it should be.
        kind: &'static FileKind,
        /// What shows that it is not.
        what: String,
    },
    /// A file of another version of the format.
    #[error(
        "{} has version {got} of the {} format, and this program reads {}: {}, \
         or use the release of the program that wrote it",
        path.display(), kind.format, kind.versions, kind.again
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// What it is.
        kind: &'static FileKind,
        /// The version of the file.
        got: u32,
    },
    /// A file that contradicts itself or its checksums.
    #[error(
        "{} is damaged: {what} should be {expected}, but is {got}; \
         restore the file, or delete {} and {}", path.display(), kind.whole, kind.again
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What it is.
        kind: &'static FileKind,
        /// What is wrong, with the place.
        what: String,
        /// What the rest of the file promises.
        expected: String,
        /// What was found.
        got: String,
    },
}

/// A kind of file, as messages name it.
#[derive(Debug, PartialEq, Eq)]
pub struct FileKind {
    /// With its article, such as `a checkpoint of a search`.
    pub name: &'static str,
    /// The name of its format, such as `checkpoint`.
    pub format: &'static str,
    /// The versions of the format that this program reads, such as `versions 1 and 2`.
    pub versions: &'static str,
    /// What a damaged file spoils, such as `it` or, where several files are one, `its directory`.
    pub whole: &'static str,
    /// What to do when there is none, such as `begin the search anew`.
    pub again: &'static str,
}

impl FileKind {
    /// A file that is something else.
    pub(crate) fn not_one(&'static self, path: &Path, what: impl Into<String>) -> FileError {
        FileError::OtherKind { path: path.to_owned(), kind: self, what: what.into() }
    }

    /// A file of a version that this program does not read.
    pub(crate) fn other_version(&'static self, path: &Path, got: u32) -> FileError {
        FileError::OtherVersion { path: path.to_owned(), kind: self, got }
    }

    /// A contradiction in a file.
    pub(crate) fn damaged(
        &'static self,
        path: &Path,
        what: impl Into<String>,
        expected: impl ToString,
        got: impl ToString,
    ) -> FileError {
        FileError::Damaged {
            path: path.to_owned(),
            kind: self,
            what: what.into(),
            expected: expected.to_string(),
            got: got.to_string(),
        }
    }
}

impl FileError {
    /// Converts an error of the operating system, for `map_err`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError + use<> {
        let path = path.to_owned();
        move |source| FileError::Io { path, action, source }
    }

    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            FileError::NotReplaceable { .. } => ErrorKind::Usage,
            FileError::Io { .. }
            | FileError::NotAFile { .. }
            | FileError::Busy { .. }
            | FileError::OtherKind { .. }
            | FileError::OtherVersion { .. }
            | FileError::Damaged { .. } => ErrorKind::File,
        }
    }

    /// Whether a write failed for want of space: the disk is full, or a quota or the limit of a
    /// file's size is reached.
    pub fn is_full(&self) -> bool {
        let FileError::Io { source, .. } = self else { return false };
        matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    }
}
