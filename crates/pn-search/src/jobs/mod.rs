//! Searches that hand the leaves of a first level to workers: PN² with several workers, and
//! proof-number search over df-pn (PNS-PDFPN).
//!
//! ```text
//!            Message: Hello | Done, and facts
//!  worker ────────────────────────────────────────────▶ Leader ── select, attach, resolve ──▶ FirstLevel
//!         ◀────────────────────────────────────────────
//!            Answer: Search | Wait | Quit, and facts
//! ```
//!
//! The `Leader` has no thread, no clock, no file, and sees nothing of its workers but their
//! [`messages`]. The `FirstLevel` is the tree whose leaves it hands out; `JobTree` is that of the games
//! with codes. `threads` puts the leader behind a lock, for workers that are threads of one
//! process and share a table.

mod finding;
mod leader;
mod level;
pub mod messages;
pub mod remote;
pub(super) mod threads;
mod tree;
mod turns;

pub(super) use finding::Finding;
pub(super) use leader::{Leader, Rules};
pub(super) use level::{FirstLevel, Selection};
pub(super) use tree::{JobTree, JobTreeOptions};
