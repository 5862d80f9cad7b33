//! Konane (Hawaiian checkers), solved: who wins from the start of a board or from any position,
//! and by which move.
//!
//! # Data flow
//!
//! ```text
//! text ──konane::notation──▶ Position ──konane::symmetry──▶ canonical code (one exact u64)
//!                                                              │
//!            limits, stop flag ──▶ search::{dfpn, pns, pn2, alphabeta} ◀── konane::game (children,
//!                  observer ◀──        │            ▲                       leaf estimates)
//!                                      ▼            ▼
//!                                   Report     search::table (codes and proof numbers)
//!                                      │
//!                         konane::solve ──▶ Solution: winner, best move, counters
//! ```
//!
//! * [`konane`] knows the game: [`konane::Board`], [`konane::Position`], [`konane::Move`], text,
//!   symmetries, perft. [`konane::solve()`] is the entry.
//! * [`endgame`] computes the values of all positions of a board, keeps them in checked files, and
//!   looks them up; a search takes them as known values ([`search::known`]).
//! * [`search`] knows no game: proof-number searches and α-β over anything that implements
//!   [`search::game::Game`], with the transposition table that they share.
//! * [`cli`] is the `konane` program.
//!
//! What is not proven is never reported as an outcome: a search that meets a limit returns
//! [`konane::Verdict::Unknown`] with the reason. The library does not print, exit or hold global
//! state; limits, the stop flag and the observer of progress are parameters.
//!
//! # Example
//!
//! ```
//! use konane::konane::{Board, Colour, Position, SolveOptions, Verdict, notation, solve};
//! use konane::search::control::Limits;
//!
//! let board = Board::new("5x5".parse()?);
//! let start = Position::start(&board);
//! let options = SolveOptions {
//!     memory_bytes: 64 << 20,
//!     ..SolveOptions::default()
//! };
//! let solution = solve(&board, &start, &options, Limits::default(), &mut ())?;
//! assert_eq!(solution.verdict, Verdict::Winner(Colour::Black));
//!
//! // Black wins 5x5, so there is a winning first move.
//! let best = solution.best_move.expect("a won position has a winning move");
//! let after = start.play(&board, best);
//! println!("{}", notation::format_move(board.dimensions(), best));
//!
//! // With a limit there may be no answer, and then there is none.
//! let limits = Limits {
//!     nodes: Some(1),
//!     ..Limits::default()
//! };
//! let solution = solve(&board, &after, &options, limits, &mut ())?;
//! assert!(matches!(solution.verdict, Verdict::Unknown(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]
#![deny(unsafe_code)]

pub mod cli;
pub mod endgame;
pub mod konane;
pub mod proof;
pub mod search;
pub mod sprouts;
