//! What can be wrong with a proof file.

use std::io;
use std::path::{Path, PathBuf};

/// Why a proof file could not be written or read. A file that reads well and proves nothing is no
/// error, see [`super::verify::Flaw`].
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
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
    /// A file of another kind.
    #[error("{} is not a Konane proof: {what}", path.display())]
    NotAProof {
        /// The file.
        path: PathBuf,
        /// What shows it.
        what: String,
    },
    /// A file of another version of the format.
    #[error(
        "{} has version {got} of the proof format, and this program reads version {expected}: \
         write the proof again, or use the release of the program that wrote it", path.display()
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The version that this program reads and writes.
        expected: u32,
        /// The version of the file.
        got: u32,
    },
    /// A proof by other rules of the game.
    #[error(
        "{} is a proof by the rules {got:?}, and this program knows {expected:?} only",
        path.display()
    )]
    OtherRules {
        /// The file.
        path: PathBuf,
        /// The rules that this program knows.
        expected: &'static str,
        /// The rules of the file.
        got: String,
    },
    /// A file that contradicts itself or its checksums.
    #[error(
        "{} is damaged: {what} should be {expected}, but is {got}; \
         restore the file, or write the proof again", path.display()
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
    /// More positions than there may be memory for.
    #[error(
        "{} has {positions} positions, for which {need} bytes of memory are needed, but {have} may \
         be used: allow more", path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Positions of the proof.
        positions: u64,
        /// Memory for them.
        need: u64,
        /// Memory that may be used.
        have: u64,
    },
    /// Somebody set the stop flag.
    #[error("interrupted")]
    Interrupted,
}

impl ProofError {
    /// An error of the operating system, to be used with `map_err`.
    pub(super) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> ProofError + use<> {
        let path = path.to_owned();
        move |source| ProofError::Io { path, action, source }
    }

    /// A contradiction in a file.
    pub(super) fn damaged(
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
