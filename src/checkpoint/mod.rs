//! Checkpoints: files from which a search continues after an interruption.
//!
//! ```text
//!  search ──stores──▶ table ──copied while the search runs──▶ checkpoint thread ─▶ file.tmp ─▶ file
//!                                                                                                │
//!  search ◀────── table ◀────── reader ◀────────────────────────────────────────────────────────┘
//! ```
//!
//! # Consistency
//!
//! Each entry of the table is valid on its own: the position is won, is lost, or was searched and has these
//! proof numbers. It does not refer to other entries and does not become invalid. A copy of the table that
//! is made while threads store entries is therefore valid, too. A search that begins with such a copy finds the
//! same answer as one that begins with an empty table, but faster. A cell is read by one atomic load, so an entry
//! is never a mixture of two entries.
//!
//! A resumed search finds the same winner as a search without the interruption. It may visit other positions,
//! because the thresholds along the path of the search are lost, and because replacement in the table differs.
//!
//! # Content
//!
//! A checkpoint contains the table. The trees of PNS, of PN² and of the two-level search are not stored: a resumed
//! search builds its tree again from the solved and open positions in the table. α-β restarts its iterations with the
//! scores in the table.
//!
//! [`CheckpointWriter`] writes the checkpoints of a search and restores from them. [`CheckpointReader`]
//! reads a file. docs/CHECKPOINT_FORMAT.md specifies the format.

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
