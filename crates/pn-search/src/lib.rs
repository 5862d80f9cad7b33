//! Proof-number search in its variants, and α-β, for two-player games without draws and cycles. The
//! crate contains no game and opens no file.
//!
//! ```text
//!  plain: a game with codes (Konane) ─┐                        ┌─▶ table: entries of positions
//!                                     ├─▶ dfpn, pns, pn2, ─────┤
//!  sums: an impartial game (Sprouts) ─┘   two_level, alphabeta ├─▶ arena: trees
//!                                              │               └─▶ run: limits, counters, progress
//!                                              ▼
//!                                           Report
//! ```
//!
//! A search takes a game, the root's code, a table, options, limits and an observer. It returns a
//! [`run::Report`]: the value, or the reason why it is unknown.
//!
//! If the game or the observer panics, a search stops all of its threads and panics as well. The
//! entries in the table remain valid, and a later search may use them.
//!
//! * `numbers` and `thresholds`: proof and disproof numbers, and the thresholds of df-pn.
//!   `search_tree`: interface of the tree that df-pn searches, implemented by [`plain`] and
//!   [`sums`].
//! * [`dfpn`], [`pns`], [`pn2`], [`two_level`] (PNS-PDFPN) and [`alphabeta`]: searches of plain
//!   games. The searches of impartial games are in [`sums`].
//! * [`cluster`]: assigns the leaves of a tree to workers, which are threads or other processes.
//! * [`table`] and `arena`: transposition table, and memory of trees.
//! * [`run`]: parameters and results of all searches, and the state that the workers of a search
//!   share.
//! * [`certificate`]: sets of positions that prove a result.
//! * [`threads`] and [`allocation`]: starting threads and allocating memory where the caller handles
//!   a refusal by the system. [`split_mix`]: pseudorandom numbers.

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
pub mod split_mix;
pub mod sums;
pub mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod threads;
mod thresholds;
pub mod two_level;
mod value;

pub use arena::{MAX_BYTES as MAX_TREE_BYTES, TreeError};
pub use error::ErrorKind;
use map_bytes::map_bytes;
pub use plain::game::LeafSolverOptions;
pub use value::Value;

/// Tests the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
