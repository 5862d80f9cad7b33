//! Short partizan games: canonical forms, sums, and the values that *Winning Ways* and Siegel's *Combinatorial Game
//! Theory* define for them. The crate contains no game of its own.
//!
//! ```text
//! Dyadic ◀─ stops ◀─ GameStore: canonical forms, comparison, sums ◀─ thermographs ◀─ drawing
//!                                    ▲
//!                                 notation
//! ```
//!
//! | type | contents |
//! |---|---|
//! | [`GameStore`] | canonical forms, each stored once, and all operations on them |
//! | [`GameId`] | a game of a store; equal ids are equal games |
//! | [`Dyadic`] | an exact number k/2^e |
//! | [`OutcomeClass`] | the winner for either first player |
//! | [`Thermograph`] | walls, mean and temperature; [`Thermograph::svg`] draws it |
//! | [`GameTextError`] | error of a text that is not a game |
//!
//! Operations return a [`Reason`](pn_search::run::Reason) instead of a result if a limit is reached. An
//! unfinished operation stores no result.
//!
//! ```
//! use konane_cgt::GameStore;
//! use pn_search::run::Limits;
//!
//! let mut games = GameStore::new(Limits::default(), 1 << 20);
//! let hot = games.parse("{5|1||-2}").unwrap();
//! let star = games.parse("*").unwrap();
//! let sum = games.sum(hot, star)?;
//! assert_eq!(games.text(sum), "{5*|1*||-2*}");
//! let thermograph = games.thermograph(sum)?.expect("its numbers are small");
//! assert_eq!(thermograph.mean.to_string(), "1/2");
//! assert_eq!(games.sum(sum, games.negative(sum))?, games.zero());
//! # Ok::<(), pn_search::run::Reason>(())
//! ```

#![deny(missing_docs)]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod canonical;
mod compare;
mod draw;
mod dyadic;
mod notation;
mod parse;
mod store;
mod sum;
#[cfg(test)]
mod tests;
mod thermograph;

pub use compare::OutcomeClass;
pub use dyadic::Dyadic;
pub use parse::GameTextError;
pub use store::{GameId, GameStore};
pub use thermograph::Thermograph;

/// Tests the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
