//! Kinds of the errors of proofs. They are defined here and not in [`check`](super::check), which
//! imports nothing from the rest of the crate.

use super::ProofError;
use crate::error::ErrorKind;

impl ProofError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            ProofError::Io { .. }
            | ProofError::NotAProof { .. }
            | ProofError::OtherVersion { .. }
            | ProofError::OtherRules { .. }
            | ProofError::Damaged { .. } => ErrorKind::File,
            ProofError::TooLarge { .. } => ErrorKind::Limit,
            ProofError::Interrupted => ErrorKind::Interrupted,
        }
    }
}
