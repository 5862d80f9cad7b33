//! Reference implementations for tests: games given as graphs or tables, and plain recursion over them.
//!
//! Part of the library in its own unit tests, and elsewhere with the feature `testing`.

#![allow(missing_docs, reason = "for tests")]

pub mod graph;
pub mod growth_panic;
pub mod impartial_games;
pub mod negamax;
pub mod random;

use crate::LeafSolverOptions;
use crate::numbers::Combination;
use crate::pns::PnsOptions;

/// Options that use everything that [`PnsOptions::PLAIN`] does not, with small values for small games.
pub const RICH: PnsOptions = PnsOptions {
    combination: Combination { weight_64: 8 },
    settle: LeafSolverOptions { budget: 20, effort: 3 },
    epsilon_1024: 300,
    store_open: true,
    refresh_age: 0,
};
