//! Solver and database builder for Konane (Hawaiian checkers), with a Sprouts / Sprague-Grundy engine on the same
//! search core.
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
//! | type or module | contents |
//! |---|---|
//! | [`Board`], [`Position`], [`Move`], [`Square`] | the game; text of positions and moves: [`notation`]; games as text: [`record`]; pictures: [`draw`] |
//! | [`Solver`], [`SolveOptions`], [`Solution`] | search of a position: options, limits, result |
//! | [`Perft`] | counts of move sequences and positions |
//! | [`value`], [`cgt`] | values of positions and sums as combinatorial games; short games of any kind |
//! | [`complexity`] | estimates of the sizes of game trees |
//! | [`analysis`] | values of a position and its moves from databases, proofs and a search |
//! | [`tablebase`] | databases of all positions of a board: builds, files, look-ups; [`search::plain::oracle`] uses them in a search |
//! | [`proof`] | proofs as files: writing, checking, and playing by a proof |
//! | [`results`] | files of positions that searches have solved |
//! | [`sprouts`] | Sprouts: positions, moves, Grundy numbers and their files |
//! | [`search`] | the crate `pn-search`: proof-number search and α-β for any game that implements [`search::plain::game::Game`] or [`search::sums::game::Impartial`] |
//! | [`checkpoint`] | checkpoints of running searches |
//! | [`mod@file`], [`record_file`], [`system`], [`json`] | files, append-only files of records, the machine, results as JSON |
//!
//! Reaching a limit never produces an outcome: the winner is unknown, with a reason. The library does not
//! print or exit. Limits, the stop flag and the observer of progress are parameters. The only global state
//! is the list of unfinished files of the process ([`file::remove_unfinished`]).
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
//! // At a limit the winner is unknown.
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
pub mod complexity;
mod error;
pub mod file;
mod konane;
pub mod proof;
pub mod results;
pub mod tablebase;

pub use error::ErrorKind;
pub use konane::{
    Algorithm, AlgorithmError, Board, Colour, Dimensions, DimensionsError, MIN_MEMORY, Move,
    Overrides, Perft, PerftError, Phase, PhaseChoice, PhaseError, Position, Profile, RootMove,
    Rules, SearchTable, Setup, SetupError, Solution, SolveError, SolveOptions, Solver, Square,
    Symmetry, SymmetryError, draw, game, konane_complexity, notation, record, value,
};
pub use konane_base::{json, record_file, system};
pub use konane_cgt as cgt;
pub use konane_sprouts as sprouts;
pub use pn_search as search;
pub use search::Value;
pub use search::run::{Limits, Observer, Outcome, Progress, Reason};
pub use search::table::TableUse;

/// The examples of these documents are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/libraries.md")]
struct Documents;

/// Items that only tests, benchmarks and fuzz targets use.
#[cfg(feature = "testing")]
pub mod internals {
    pub use crate::konane::{code, kernels, patterns, symmetry, zobrist};
    pub use crate::tablebase::files::{Footer, HEADER_BYTES, Inflater, LayerFile, LayerHeader};
    pub use crate::tablebase::index::Index;
    pub use crate::tablebase::values::sweep::Sweep;
}
