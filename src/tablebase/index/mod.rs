//! Addresses of positions.
//!
//! A position has an [`Address`], and an address a position. [`SquareNumbers`] numbers the squares of each
//! colour, [`Combinadics`] the patterns with a given number of stones, [`Orbits`] the black patterns
//! up to symmetry; [`Index`] joins them. `sizes` computes sizes of layers without listing
//! their patterns.

mod address;
mod numbering;
mod orbits;
mod rank;
mod sizes;

pub use address::{Address, Index};
pub use numbering::{SetMap, SquareNumbers};
pub use orbits::{Row, stabiliser};
#[cfg(test)]
pub use rank::Combinadics;
pub use rank::binomial;
