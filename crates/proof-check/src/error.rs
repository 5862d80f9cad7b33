//! Errors of proof files.

use std::io;
use std::path::{Path, PathBuf};

/// Reason why a proof file cannot be read. An undamaged file that proves nothing is not an error but
/// a [`Flaw`](crate::Flaw).
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// The operating system reported an error.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The failed action: a verb, such as `read`.
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not a proof file.
    #[error("{} is not a Konane proof: {what}", path.display())]
    NotAProof {
        /// The file.
        path: PathBuf,
        /// The property that shows it.
        what: String,
    },
    /// The file has another version of the format.
    #[error(
        "{} has version {got} of the proof format, and this program reads version {expected}: \
         write the proof again, or use the release of the program that wrote it", path.display()
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The supported version.
        expected: u32,
        /// The version of the file.
        got: u32,
    },
    /// The proof is about a game with other rules.
    #[error(
        "{} is a proof by the rules {got:?}, but only {expected:?} are supported",
        path.display()
    )]
    OtherRules {
        /// The file.
        path: PathBuf,
        /// The name of the supported rules.
        expected: &'static str,
        /// The name in the file.
        got: String,
    },
    /// The file contradicts itself or its checksums.
    #[error(
        "{} is damaged: {what} should be {expected}, but is {got}; \
         restore the file, or write the proof again", path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damaged part.
        what: String,
        /// The expected content.
        expected: String,
        /// The content of the file.
        got: String,
    },
    /// The check needs more memory than allowed.
    #[error(
        "{} has {positions} positions, for which {need} bytes of memory are needed, but {have} may \
         be used: allow more", path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Number of positions of the proof.
        positions: u64,
        /// Bytes of memory that are needed.
        need: u64,
        /// Bytes of memory that are allowed.
        have: u64,
    },
    /// The stop flag was set.
    #[error("interrupted")]
    Interrupted,
}

impl ProofError {
    /// Returns a function for `map_err` that wraps an error of the operating system.
    pub(crate) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> ProofError + use<> {
        let path = path.to_owned();
        move |source| ProofError::Io { path, action, source }
    }

    /// Creates a [`ProofError::Damaged`].
    pub(crate) fn damaged(
        path: &Path,
        what: impl Into<String>,
        expected: impl ToString,
        got: impl ToString,
    ) -> ProofError {
        ProofError::Damaged {
            path: path.to_owned(),
            what: what.into(),
            expected: expected.to_string(),
            got: got.to_string(),
        }
    }
}
