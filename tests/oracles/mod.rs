//! What optimised code is compared with: games that are declared, and plain recursion over them.
//!
//! Integration tests have this as a module of theirs, and so have the unit tests of the library
//! (`src/lib.rs`); whoever includes it says what `konane` is.

extern crate konane;

pub mod graph;
pub mod growth_panic;
pub mod impartial_games;
pub mod negamax;
pub mod random;
