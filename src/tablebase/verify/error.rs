//! Why a database did not pass.

use std::path::PathBuf;

use crate::error::ErrorKind;
use crate::tablebase::files::DatabaseError;
use crate::tablebase::index::Address;

/// Why a database did not pass.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A file is missing, damaged, or not what the manifest says.
    #[error(transparent)]
    Database(DatabaseError),
    /// A file is sound, but what it says about a position contradicts the rules.
    #[error(
        "{} is wrong about {position}: {what} should be {expected}, but is {got}; \
         delete the database and build it again", path.display()
    )]
    Wrong {
        /// The layer's file.
        path: PathBuf,
        /// The position, as text.
        position: String,
        /// Where it is.
        address: Address,
        /// What is said about it.
        what: &'static str,
        /// What follows from the rules and the layers below.
        expected: Box<str>,
        /// What the file says.
        got: Box<str>,
    },
    /// The stop flag was set.
    #[error("interrupted before everything was checked")]
    Interrupted,
}

impl VerifyError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            // The database determines which files are read, so no error here is a usage error.
            VerifyError::Database(_) | VerifyError::Wrong { .. } => ErrorKind::File,
            VerifyError::Interrupted => ErrorKind::Interrupted,
        }
    }
}

impl From<DatabaseError> for VerifyError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Interrupted => VerifyError::Interrupted,
            other => VerifyError::Database(other),
        }
    }
}
