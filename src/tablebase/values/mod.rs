//! Values in memory, by three methods.
//!
//! The input is an [`Index`](crate::tablebase::index::Index), the output blocks of bits. [`sweep`]
//! computes all white patterns of a black pattern at once and is the fastest method for whole boards.
//! [`ranked`] computes layers of stones, for boards of any size up to a number of stones.
//! [`mod@statespace`] finds the positions that games reach. The first two also compute the
//! [`mod@remoteness`]. All use masks of patterns for the jumps (`jumps`), and none uses a file.

mod jumps;
pub mod ranked;
pub mod remoteness;
pub mod statespace;
pub mod sweep;

pub use ranked::RankedLayers;
pub use statespace::{StateSpaceError, StateSpaceEvent, statespace};
