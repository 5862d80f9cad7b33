//! Proof files: a set of positions that proves the winner, and that other programs can check.
//!
//! ```text
//! Solver ─▶ search::certificate ─▶ extract ─▶ writer ─▶ file ─▶ crate proof-check (checks it)
//!                                                        └────▶ guide (moves of the winner)
//! ```
//!
//! The crate `proof-check` reads and checks the files. It is independent of the solver; its types are
//! re-exported here. docs/PROOF_FORMAT.md specifies the files and the conditions for a valid proof.

pub mod extract;
pub mod guide;
pub mod writer;

pub use extract::{Proof, ProofObserver, Proved, prove, prove_keeping};
pub use guide::Guide;
pub use proof_check::{Flaw, ProofError, ProofHeader, ProofReader, Side, Verification, verify};
pub use writer::{ProofSummary, ProofWriter};

use crate::error::ErrorKind;

/// Returns the kind of an error of the checker, which does not depend on this crate.
pub fn error_kind(error: &ProofError) -> ErrorKind {
    match error {
        ProofError::Io { .. }
        | ProofError::NotAProof { .. }
        | ProofError::OtherVersion { .. }
        | ProofError::OtherRules { .. }
        | ProofError::Damaged { .. } => ErrorKind::File,
        ProofError::TooLarge { .. } => ErrorKind::Limit,
        ProofError::Interrupted => ErrorKind::Interrupted,
    }
}
