//! Errors of files: [`FileError`], and the [`FileKind`] of the file for messages.

use std::io;
use std::path::{Path, PathBuf};

use pn_search::ErrorKind;

/// Error of writing or reading a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system returned an error.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The failed action: a verb, such as `read`.
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The path to read is not that of a file.
    #[error("{} is {found}, not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The kind of object, such as `a directory`.
        found: &'static str,
    },
    /// The path to write is that of something other than a file.
    #[error(
        "{} is {found} and cannot be replaced by a file: give the name of a file or a new name",
        path.display()
    )]
    NotReplaceable {
        /// The path.
        path: PathBuf,
        /// The kind of object, such as `a named pipe`.
        found: &'static str,
    },
    /// Another process is writing the same file.
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
        /// The expected kind.
        kind: &'static FileKind,
        /// The evidence.
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
        /// The kind of the file.
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
        /// The kind of the file.
        kind: &'static FileKind,
        /// The damaged part.
        what: String,
        /// The expected content.
        expected: String,
        /// The content of the file.
        got: String,
    },
}

/// Texts for a kind of file, which messages contain.
#[derive(Debug, PartialEq, Eq)]
pub struct FileKind {
    /// The name with its article, such as `a checkpoint of a search`.
    pub name: &'static str,
    /// The name of the format, such as `checkpoint`.
    pub format: &'static str,
    /// The versions of the format that this program reads, such as `versions 1 and 2`.
    pub versions: &'static str,
    /// The part to delete if a file is damaged: `it`, or `its directory` if it is one of several files.
    pub whole: &'static str,
    /// The way to get a new file, such as `start a new search`.
    pub again: &'static str,
}

impl FileKind {
    /// Error of a file of another kind.
    pub fn not_one(&'static self, path: &Path, what: impl Into<String>) -> FileError {
        FileError::OtherKind { path: path.to_owned(), kind: self, what: what.into() }
    }

    /// Error of a file of an unsupported version.
    pub fn other_version(&'static self, path: &Path, got: u32) -> FileError {
        FileError::OtherVersion { path: path.to_owned(), kind: self, got }
    }

    /// Error of a damaged file.
    pub fn damaged(
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
    /// Converts an error of the operating system, for `map_err`. An error because the directory of a new file does not
    /// exist names the directory.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError + use<> {
        let path = path.to_owned();
        move |mut source| {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            if let Some(parent) = parent.filter(|parent| action == "create" && !parent.exists())
                && source.kind() == io::ErrorKind::NotFound
            {
                let text = format!("the directory {} does not exist", parent.display());
                source = io::Error::new(io::ErrorKind::NotFound, text);
            }
            FileError::Io { path, action, source }
        }
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

    /// Returns true if a write failed for lack of space: the disk is full, or a quota or the maximum size of a
    /// file is reached.
    pub fn is_full(&self) -> bool {
        let FileError::Io { source, .. } = self else { return false };
        matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    }
}
