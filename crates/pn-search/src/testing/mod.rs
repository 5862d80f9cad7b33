//! Games and reference implementations for tests. They are compiled for the unit tests of this library, and with the
//! feature `testing`.
//!
//! * [`graph::GraphGame`]: a game that is given as a graph.
//! * [`growth_panic::GrowthPanic`]: a game that panics while a table grows.
//! * [`impartial_games`]: octal games, Grundy's game, and games that are given as lists of options.
//! * [`negamax::Negamax`]: recursion without any search technique.
//! * [`network`]: a simulated network between a coordinator and its workers.
//! * [`random::Random`]: random numbers that are the same in every build.

#![allow(missing_docs, reason = "for tests")]

pub mod graph;
pub mod growth_panic;
pub mod impartial_games;
pub mod negamax;
pub mod network;
pub mod random;

use crate::LeafSolverOptions;
use crate::numbers::{Combination, Epsilon};
use crate::pns::PnsOptions;

/// Options that switch on all techniques that [`PnsOptions::PLAIN`] switches off, with small values for small games.
pub const RICH: PnsOptions = PnsOptions {
    combination: Combination::mixed(8),
    leaf_solver: LeafSolverOptions { budget: 20, effort: 3 },
    epsilon: Epsilon::new(0.3),
    evaluate_all: false,
    store_open: true,
    refresh_age: 0,
    seed: Some(7),
};
