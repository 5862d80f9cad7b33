//! Proof files: a set of positions that proves the winner and can be checked independently.
//!
//! ```text
//! Solver ─▶ search::certificate ─▶ extract ─▶ writer ─▶ file ─▶ crate proof-check (checks it)
//!                                                        └────▶ strategy (plays by it)
//! ```
//!
//! * [`prove`]: solves a position and collects a [`Proof`]; [`ProveResult`] is its result and [`ProofObserver`]
//!   receives the progress.
//! * [`ProofWriter`]: writes a proof file; [`ProofSummary`] describes it.
//! * [`ProofStrategy`]: looks up the moves of the winner in a proof file.
//!
//! The crate `proof-check` reads and checks the files. It is independent of the solver; its types are
//! re-exported here. docs/PROOF_FORMAT.md specifies the files and the conditions for a valid proof.

pub mod extract;
pub mod strategy;
pub mod writer;

pub use extract::{Proof, ProofObserver, ProveResult, prove, prove_with_table};
pub use proof_check::{Flaw, ProofError, ProofHeader, ProofReader, Side, Verification, verify};
pub use strategy::ProofStrategy;
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
