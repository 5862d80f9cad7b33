//! Addresses of positions.
//!
//! Every position of the jumping phase has an [`Address`], and every address can be decoded to a position.
//! [`SquareNumbers`] numbers the squares of each colour, [`Combinadics`] the patterns with a given number of
//! stones, and [`Orbits`] the black patterns up to symmetry. [`Index`] computes addresses from these numbers.
//! `sizes` computes sizes of layers without listing their patterns.

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
