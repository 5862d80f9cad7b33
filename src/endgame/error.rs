//! What can be wrong with a database, or with a question to one.

use std::io;
use std::path::{Path, PathBuf};

use crate::konane::Dimensions;

/// Why a database could not be written, read or asked.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
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
    /// There is no database where one was looked for.
    #[error(
        "{} is no database: {what}; build one with `konane builddb`, \
         which also continues a build that was interrupted", path.display()
    )]
    NoDatabase {
        /// The directory.
        path: PathBuf,
        /// What is not there.
        what: String,
    },
    /// The manifest names a layer whose file is not there.
    #[error(
        "the layer of {stones} stones is missing: there is no {}; \
         restore the file, or delete the directory and build the database again", path.display()
    )]
    MissingLayer {
        /// The file that should be there.
        path: PathBuf,
        /// The layer.
        stones: u32,
    },
    /// A file of another kind.
    #[error("{} is not a file of a Konane database: {what}", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// What shows it.
        what: String,
    },
    /// A file of another version of the format.
    #[error(
        "{} has version {got} of the database format, and this program reads version {expected}: \
         build the database again, or use the release of the program that wrote it",
        path.display()
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The version that this program reads and writes.
        expected: u32,
        /// The version of the file.
        got: u32,
    },
    /// A file that contradicts itself, its checksums or the manifest.
    #[error(
        "{} is damaged: {what} should be {expected}, but is {got}; \
         restore the file, or delete it and build the database again", path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the place.
        what: String,
        /// What the rest of the database promises.
        expected: String,
        /// What was found.
        got: String,
    },
    /// A database of another board than the one asked for.
    #[error("{} is a database of the {got} board, not of {expected}", path.display())]
    OtherBoard {
        /// The database.
        path: PathBuf,
        /// The board asked for.
        expected: Dimensions,
        /// The board of the database.
        got: Dimensions,
    },
    /// A position of which the database knows nothing.
    #[error("the database does not cover {position}: it holds {covers}")]
    NotCovered {
        /// The position, as text.
        position: String,
        /// What the database holds.
        covers: String,
    },
    /// A position with stones that the board of the database does not have.
    #[error("the position has stones outside of the {board} board of the database")]
    OutsideBoard {
        /// The board of the database.
        board: Dimensions,
    },
}

impl DatabaseError {
    /// Whether the question was wrong, and not a file: the position or the board is not one of the
    /// database. Programs exit with 2 then, and with 4 for all other errors.
    pub fn is_bad_input(&self) -> bool {
        matches!(
            self,
            DatabaseError::OtherBoard { .. }
                | DatabaseError::NotCovered { .. }
                | DatabaseError::OutsideBoard { .. }
        )
    }

    /// An error of the operating system, to be used with `map_err`.
    pub(super) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> DatabaseError + use<> {
        let path = path.to_owned();
        move |source| DatabaseError::Io { path, action, source }
    }

    /// A contradiction in a file.
    pub(super) fn damaged(
        path: &Path,
        what: impl Into<String>,
        expected: impl ToString,
        got: impl ToString,
    ) -> DatabaseError {
        DatabaseError::Damaged {
            path: path.to_owned(),
            what: what.into(),
            expected: expected.to_string(),
            got: got.to_string(),
        }
    }
}
