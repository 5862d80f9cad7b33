//! Proofs by the names of their files.

use std::fs::File;
use std::path::Path;

use super::{ProofError, ProofReader};
use crate::file::{FileError, open_regular};

impl ProofReader<File> {
    /// Opens a file. Reads header, index and footer.
    ///
    /// # Errors
    /// If it cannot be read, is no proof, one of another version or other rules, or damaged.
    pub fn open(path: &Path) -> Result<Self, ProofError> {
        let file = open_regular(path).map_err(|error| match error {
            FileError::Io { path, action, source } => ProofError::Io { path, action, source },
            other => ProofError::NotAProof { path: path.to_owned(), what: other.to_string() },
        })?;
        ProofReader::new(path, file)
    }
}
