//! Checkpoints: what a search knows, in a file from which it can go on after an interruption.
//!
//! ```text
//!  search ──stores──▶ table ──copied while it goes on──▶ keeper's thread ─▶ writer ─▶ file.tmp ─▶ file
//!     └──hands over pieces of its tree──▶ TreePort ─────────▲                                      │
//!  search ◀──── table, tree ◀── tree loader ◀────────────────────────── reader ◀───────────────────┘
//! ```
//!
//! # Why a copy of different times is right
//!
//! An entry of the table is a statement by itself: *this position is won*, *is lost*, or *was
//! searched so far, with these numbers*. It does not refer to other entries, and it stays true. So
//! whatever set of entries a copy catches while others store is a set of true statements, and a
//! search that begins with it gives the same answer as one that begins with none, only sooner. A
//! cell is read by one atomic load, so no entry is torn. The same holds for the records of which a
//! copy of a tree consists ([`crate::search::snapshot`]): a record lists the open children of a
//! position; those that it does not list are won for their side to move. The numbers of expanded nodes
//! are not copied, but follow from those of the leaves when the tree is made again, so it is
//! consistent.
//!
//! A search that goes on therefore finds the same winner. It need not visit the same positions as if
//! it had not been interrupted: thresholds and choices of the path on which it stood are lost, and
//! where the table is replaced differs.
//!
//! # What is kept
//!
//! Every search has a table. Those with a tree, proof-number search and PN², keep that of their
//! only or first level. α-β begins its iterations anew, with the scores that the table has.
//!
//! [`Keeper`] does it all; [`CheckpointWriter`] and [`CheckpointReader`] are the file alone.
//! docs/CHECKPOINT_FORMAT.md specifies it.

mod blocks;
mod entries;
mod error;
pub mod format;
mod keeper;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use error::CheckpointError;
pub use format::{Identity, Totals};
pub use keeper::{Keeper, Save};
pub use reader::CheckpointReader;
pub use writer::{CheckpointWriter, Written};
