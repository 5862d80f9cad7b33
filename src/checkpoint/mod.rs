//! Checkpoints: files from which a search continues after an interruption.
//!
//! ```text
//!  search ──stores──▶ table ──copied while the search runs──▶ checkpoint thread ─▶ file.tmp ─▶ file
//!     └──waits while its tree is written──▶ TreeSnapshots ─────────────▲                        │
//!  search ◀──── table, tree ◀── reader ◀────────────────────────────────────────────────────────┘
//! ```
//!
//! # Consistency
//!
//! An entry of the table is a statement by itself: *this position is won*, *is lost*, or *was searched,
//! with these proof numbers*. It does not refer to other entries, and it stays true. So any set of entries
//! that is copied while threads store is a set of true statements. A search that begins with it finds the
//! same answer as one that begins with an empty table, only sooner. A cell is read by one atomic load, so
//! no entry is torn.
//!
//! A tree is written while the search waits, so it is the tree of one moment
//! ([`crate::search::snapshot`]).
//!
//! A search that continues finds the same winner. It need not visit the same positions as without the
//! interruption: the thresholds of the path on which it was are lost, and replacement in the table
//! differs.
//!
//! # Content
//!
//! Every search has a table. Proof-number search and the first level of PN² and of the two-level search
//! also have a tree. α-β begins its iterations anew, with the scores in the table.
//!
//! [`CheckpointWriter`] writes the checkpoints of a search and restores from them. [`CheckpointReader`]
//! reads a file. docs/CHECKPOINT_FORMAT.md specifies it.

mod entries;
mod error;
mod file_writer;
pub mod format;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use error::CheckpointError;
pub use file_writer::WrittenCheckpoint;
pub use format::{Identity, Totals};
pub use reader::CheckpointReader;
pub use writer::CheckpointWriter;
