//! The values themselves, by three methods, in memory.
//!
//! In comes an [`Index`](crate::tablebase::index::Index), out go blocks of bits. [`sweep`] treats all
//! white patterns of a black one at once and is the fastest for whole boards, [`ranked`] goes by
//! layers of stones and serves boards of any size up to a number of stones, and [`mod@statespace`]
//! finds what games reach. The first two also give the [`mod@remoteness`]. All know the jumps as
//! masks of patterns (`jumps`); none knows a file.

mod jumps;
pub mod ranked;
pub mod remoteness;
pub mod statespace;
pub mod sweep;

pub use ranked::RankedLayers;
pub use statespace::{StateSpaceError, StateSpaceEvent, statespace};
