//! Errors of the check.

use std::path::PathBuf;

use crate::error::ErrorKind;
use crate::tablebase::files::DatabaseError;
use crate::tablebase::index::Address;

/// Error of the check of a database.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A file is missing, damaged, or contradicts the manifest.
    #[error(transparent)]
    Database(DatabaseError),
    /// A file is sound, but a value in it contradicts the rules.
    #[error(
        "{} is wrong about {position}: {what} should be {expected}, but is {got}; \
         delete the database and build it again", path.display()
    )]
    Wrong {
        /// The layer's file.
        path: PathBuf,
        /// The position, as text.
        position: String,
        /// Its address.
        address: Address,
        /// The property of the position.
        what: &'static str,
        /// Its value by the rules and the layers below.
        expected: Box<str>,
        /// Its value in the file.
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
