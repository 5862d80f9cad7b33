//! Proofs that others can check: files with a set of positions that shows who wins, and a checker
//! that needs nothing of the solver.
//!
//! ```text
//! konane::solve ─▶ search::certificate ─▶ extract ─▶ writer ─▶ file ─▶ reader ─▶ verify ◀─ rules
//!                                                                        │
//!                                                                        └─▶ guide (plays it)
//! ```
//!
//! [`mod@format`], [`reader`], [`rules`] and [`mod@verify`] import nothing from the rest of the crate: what
//! they accept is proven by about 300 lines of plain rules. docs/PROOF_FORMAT.md specifies the files
//! and what makes a proof valid.

pub mod error;
pub mod extract;
pub mod format;
pub mod guide;
pub mod reader;
pub mod rules;
pub mod verify;
pub mod writer;

pub use error::ProofError;
pub use extract::{Proof, ProofObserver, Proved, prove, prove_saving};
pub use format::{ProofHeader, Side};
pub use guide::Guide;
pub use reader::ProofReader;
pub use verify::{Flaw, Verification, verify};
pub use writer::{ProofSummary, ProofWriter};
