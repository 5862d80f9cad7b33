//! Computation of values in memory, by two methods, and of the positions that games reach.
//!
//! The input is an [`Index`](crate::tablebase::index::Index), the output consists of rows or blocks of bits.
//! [`sweep`] computes the values for all white patterns of a black pattern at once and is the fastest method
//! for whole boards. [`ranked`] computes the values layer by layer, up to a number of stones, on boards of any
//! size. [`classes`] counts all positions of a board by outcome class, [`mod@statespace`] finds the positions that
//! games reach. `sweep` and `ranked` compute outcomes or remotenesses ([`mod@remoteness`]). The jumps are masks of
//! patterns (`jumps`). No file is read or written.

pub mod classes;
mod jumps;
pub mod ranked;
pub mod remoteness;
pub mod statespace;
pub mod sweep;

pub use ranked::RankedLayers;
pub use statespace::{StateSpaceError, StateSpaceEvent, statespace};
