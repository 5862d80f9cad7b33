//! Proofs that others can check: files with a set of positions that shows who wins, and a checker
//! that needs nothing of the solver.
//!
//! ```text
//! konane::Solver ─▶ search::certificate ─▶ extract ─▶ writer ─▶ file ─▶ check::{reader ─▶ verify ◀─ rules}
//!                                                                        │
//!                                                                        └─▶ guide (plays it)
//! ```
//!
//! [`check`] imports nothing from the rest of the crate. docs/PROOF_FORMAT.md specifies the files and
//! what makes a proof valid.

pub mod check;
mod error;
pub mod extract;
pub mod guide;
mod open;
pub mod writer;

pub use check::error::ProofError;
pub use check::format::{ProofHeader, Side};
pub use check::reader::ProofReader;
pub use check::verify::{Flaw, Verification, verify};
pub use extract::{Proof, ProofObserver, Proved, prove, prove_keeping};
pub use guide::Guide;
pub use writer::{ProofSummary, ProofWriter};
