//! Konane (Hawaiian checkers), solved: who wins from the start of a board or from any position,
//! and by which move.
//!
//! # Data flow
//!
//! ```text
//! text ──notation──▶ Position ──symmetries──▶ canonical code (one exact u64)
//!                                                   │
//! limits, stop flag ──▶ search: df-pn, PNS, PN², PNS-PDFPN, α-β ◀── game (children, estimates)
//!       observer ◀──        │            ▲
//!                           ▼            ▼
//!                        Report     search::table (codes and proof numbers)
//!                           │
//!                        Solver ──▶ Solution: winner, best move, counters
//! ```
//!
//! * At the root is the game: [`Board`], [`Position`], [`Move`], text ([`notation`]), [`Perft`].
//!   [`Solver`] is the entry.
//! * [`tablebase`] computes the values of all positions of a board, keeps them in checked files, and
//!   looks them up; a search takes them as known values ([`search::plain::known`]).
//! * [`analysis`] judges a position and each of its moves, by everything that is at hand.
//! * [`proof`] writes the positions that prove a result, and checks them by the rules alone.
//! * [`sprouts`] is the other game, whose positions are sums: Grundy numbers, by the same searches.
//! * [`search`] knows no game: proof-number searches and α-β over anything that implements
//!   [`search::plain::game::Game`] or [`search::sums::game::Impartial`], with the transposition table
//!   that they share. [`checkpoint`] keeps what a running one knows in files.
//! * [`mod@file`] and [`system`] are what all of them need of files and of the
//!   machine.
//!
//! What is not proven is never reported as an outcome: a search that meets a limit names no winner,
//! and says why. The library does not print, exit or hold global
//! state, but for the list of the process's unfinished files ([`file::remove_unfinished`]); limits, the
//! stop flag and the observer of progress are parameters.
//!
//! # Example
//!
//! ```
//! use konane::{Board, Colour, Limits, Position, Reason, SolveOptions, Solver, notation};
//!
//! let board = Board::new("5x5".parse()?);
//! let start = Position::start(&board);
//! let options = SolveOptions { memory_bytes: 64 << 20, ..SolveOptions::default() };
//! let solution = Solver::new(&board, &start).options(options).run()?;
//! assert_eq!(solution.winner, Some(Colour::Black));
//!
//! // Black wins 5x5, so there is a winning first move.
//! let best = solution.best_move.expect("a won position has a winning move");
//! let after = start.play(&board, best);
//! println!("{}", best.to_string());
//!
//! // With a limit there may be no answer, and then there is none.
//! let limits = Limits { nodes: Some(1), ..Limits::default() };
//! let solution = Solver::new(&board, &after).options(options).limits(limits).run()?;
//! assert_eq!((solution.winner, solution.reason), (None, Some(Reason::NodeLimit)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod analysis;
pub mod checkpoint;
mod error;
pub mod file;
pub mod json;
mod konane;
pub mod proof;
pub mod sprouts;
pub mod system;
pub mod tablebase;

pub use error::ErrorKind;
pub use konane::{
    Algorithm, AlgorithmError, Board, Colour, Dimensions, DimensionsError, JobOptions,
    LEAST_MEMORY, Move, Perft, Phase, PhaseChoice, PhaseError, Position, Profile, RootMove,
    SearchTable, Setup, SetupError, Solution, SolveError, SolveOptions, Solver, Square, Uncounted,
    draw, game, notation, record,
};
pub use pn_search as search;
pub use search::Value;
pub use search::run::{Limits, Observer, Outcome, Progress, Reason};
pub use search::table::TableUse;

/// The examples of the front page and the manual are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/manual.md")]
struct Guide;

/// What the tests and the benchmarks look into; no part of the public face.
#[doc(hidden)]
pub mod internals {
    pub use crate::konane::{code, kernels, symmetry, zobrist};
    pub use crate::tablebase::{files, index, values};
}
