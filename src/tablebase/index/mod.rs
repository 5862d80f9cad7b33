//! Addresses of positions.
//!
//! A position has an [`Address`], and an address a position. [`Numbering`] numbers the squares of each
//! colour, [`Combinadics`] the patterns with a given number of stones, [`Orbits`] the black patterns
//! up to symmetry; [`Index`] joins them. [`Sizes`] computes the size of a layer without listing it.

mod address;
mod numbering;
mod orbits;
mod rank;
mod sizes;

pub use address::{Address, Index};
pub use numbering::{Numbering, SetMap};
pub use orbits::{Orbits, Row, stabiliser};
pub use rank::{Combinadics, binomial};
pub use sizes::Sizes;
