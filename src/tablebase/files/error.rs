//! Errors of databases and of look-ups.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::ErrorKind;
use crate::file::{FileError, FileKind};
use crate::konane::Dimensions;

pub(super) const DATABASE: &FileKind = &FileKind {
    name: "a file of a Konane database",
    format: "database",
    versions: "versions 1 and 2",
    // One damaged file cannot be replaced alone: a build does nothing if it finds a manifest.
    whole: "its directory",
    again: "build the database again",
};

/// Error of writing or reading a database, or of a look-up.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// A file cannot be written or read, or is damaged.
    #[error(transparent)]
    File(#[from] FileError),
    /// A directory has no database.
    #[error(
        "{} is no database: {what}; build one, or continue the build that was interrupted",
        path.display()
    )]
    NoDatabase {
        /// The directory.
        path: PathBuf,
        /// The part that is missing.
        what: String,
        /// The requested board, if any.
        board: Option<Dimensions>,
    },
    /// The manifest lists a layer whose file does not exist.
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
    /// A database of another board than the requested one.
    #[error("{} is a database of the {got} board, not of {expected}", path.display())]
    OtherBoard {
        /// The database.
        path: PathBuf,
        /// The requested board.
        expected: Dimensions,
        /// The board of the database.
        got: Dimensions,
    },
    /// A position that the database does not cover.
    #[error("the database does not cover {position}: it holds {covers}")]
    NotCovered {
        /// The position, as text.
        position: String,
        /// Positions that the database covers.
        covers: String,
    },
    /// A position with stones that the board of the database does not have.
    #[error("the position has stones outside of the {board} board of the database")]
    OutsideBoard {
        /// The board of the database.
        board: Dimensions,
    },
    /// A position that no game by the standard rules has.
    #[error(
        "databases do not contain {0:?}: they cover games that begin with two removals on a board whose top-left square \
         is black; search it instead"
    )]
    OtherRules(String),
    /// A file is sound, but a value in it contradicts the rules.
    #[error(
        "{} is wrong about {position}: {what} should be {expected}, but is {got}; \
         delete the database and build it again", path.display()
    )]
    WrongValue {
        /// The layer's file.
        path: PathBuf,
        /// The position, as text.
        position: String,
        /// The property of the position.
        what: &'static str,
        /// Its value by the rules and the values of the layers with fewer stones.
        expected: Box<str>,
        /// Its value in the file.
        got: Box<str>,
    },
    /// The stop flag was set.
    #[error("interrupted before everything was checked")]
    Interrupted,
}

impl DatabaseError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            DatabaseError::File(error) => error.kind(),
            DatabaseError::NoDatabase { .. }
            | DatabaseError::MissingLayer { .. }
            | DatabaseError::WrongValue { .. } => ErrorKind::File,
            DatabaseError::OtherBoard { .. }
            | DatabaseError::NotCovered { .. }
            | DatabaseError::OtherRules(_)
            | DatabaseError::OutsideBoard { .. } => ErrorKind::Usage,
            DatabaseError::Interrupted => ErrorKind::Interrupted,
        }
    }

    /// Returns true if a file contradicts itself, its checksums or the manifest.
    pub fn is_damage(&self) -> bool {
        matches!(self, DatabaseError::File(FileError::Damaged { .. }))
    }

    /// Returns [`DatabaseError::Interrupted`] if the stop flag is set.
    pub(in crate::tablebase) fn check_stop(stop: &AtomicBool) -> Result<(), DatabaseError> {
        if stop.load(Ordering::Relaxed) { Err(DatabaseError::Interrupted) } else { Ok(()) }
    }

    /// An error of the operating system, to be used with `map_err`.
    pub(in crate::tablebase) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> DatabaseError + use<> {
        let to_file = FileError::io(action, path);
        move |error| to_file(error).into()
    }

    /// Returns an error unless `path` is a directory. `board` is the requested board, if any.
    pub(in crate::tablebase) fn check_directory(
        path: &Path,
        board: Option<Dimensions>,
    ) -> Result<(), DatabaseError> {
        let what = match () {
            () if path.is_dir() => return Ok(()),
            () if path.exists() => "it is a file, not a directory",
            () => "there is no such directory",
        };
        let (path, what) = (path.to_owned(), what.to_owned());
        Err(DatabaseError::NoDatabase { path, what, board })
    }

    /// Returns the error for a file that is not a file of a database.
    pub(in crate::tablebase) fn not_one(path: &Path, what: impl Into<String>) -> DatabaseError {
        let (what, FileKind { whole, again, .. }) = (what.into(), DATABASE);
        let what = format!("{what}; restore the file, or delete {whole} and {again}");
        DATABASE.not_one(path, what).into()
    }

    /// Returns the error for a file that contradicts itself, its checksums or the manifest.
    pub(in crate::tablebase) fn damaged(
        path: &Path,
        what: impl Into<String>,
        expected: impl ToString,
        got: impl ToString,
    ) -> DatabaseError {
        DATABASE.damaged(path, what, expected, got).into()
    }
}
