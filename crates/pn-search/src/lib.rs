//! The searches: proof-number search in its variants, and α-β, for two-player games without draws and
//! cycles. Nothing here knows a game or opens a file.
//!
//! ```text
//!  plain: a game with codes (Konane) ─┐                        ┌─▶ table: what is known of positions
//!                                     ├─▶ dfpn, pns, pn2, ─────┤
//!  sums: an impartial game (Sprouts) ─┘   two_level, alphabeta ├─▶ arena: trees
//!                                              │               └─▶ run: limits, counters, progress
//!                                              ▼
//!                                           Report
//! ```
//!
//! In come a game, the root's code, a table, options, limits and an observer; out goes a
//! [`run::Report`]: proven or not, and why.
//!
//! If the game or the observer panics, a search stops all of its threads and panics itself. Entries that
//! are in the table then are true, and another search may use it.
//!
//! * `numbers` and `thresholds`: proof and disproof numbers, and how long df-pn stays below a node;
//!   `search_tree` is the tree that it searches, which [`plain`] and [`sums`] implement.
//! * [`dfpn`], [`pns`], [`pn2`], [`two_level`] (PNS-PDFPN) and [`alphabeta`] search plain games. Those
//!   of impartial games are in [`sums`].
//! * [`cluster`] assigns the leaves of a tree to workers: threads, or other processes.
//! * [`table`] and `arena` are the memories, [`run`] is what surrounds every search and what its workers
//!   share.
//! * [`snapshot`] gives checkpoints the tree of a search; [`certificate`] collects the
//!   positions that prove a result.

#![deny(missing_docs)]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod allocation;
pub mod alphabeta;
mod arena;
pub mod certificate;
pub mod cluster;
pub mod dfpn;
mod error;
mod map_bytes;
pub mod numbers;
mod parallel;
pub mod plain;
pub mod pn2;
pub mod pns;
pub mod run;
mod search_tree;
pub mod snapshot;
pub mod split_mix;
pub mod sums;
pub mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod threads;
mod thresholds;
pub mod two_level;
mod value;

pub use error::ErrorKind;
use map_bytes::map_bytes;
pub use plain::game::LeafSolverOptions;
pub use value::Value;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
