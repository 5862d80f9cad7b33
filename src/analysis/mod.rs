//! What can be said about a position and its moves, from every source there is: the rules, a
//! database, proofs, and a search that fills the gaps.
//!
//! Comes in: a board, perhaps its database and proofs; positions, one after the other, each with
//! limits. Goes out: an [`Analysis`] of each, with the outcome of every move as far as it is
//! proven; a move to play ([`Choice`]); a line of play.
//!
//! ```text
//! database, proofs ─▶ analyst ◀─▶ Solver, in a table that is kept from one position to the next
//!                        │
//!                        ▼
//!               judgement: Analysis, JudgedMove
//! ```
//!
//! ```
//! use konane::analysis::Analyst;
//! use konane::{Limits, Position, Value};
//!
//! let mut analyst = Analyst::new("5x5".parse()?, 16 << 20)?;
//! let start = Position::start(analyst.board());
//! let analysis = analyst.analyse(&start, Limits::default(), &mut |_| {})?;
//! assert_eq!(analysis.outcome(), Some(Value::Win));
//! assert_eq!(analysis.verdict.clone(), "Black wins: all 5 moves win.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analyst;
mod annotate;
mod judgement;
mod level;
#[cfg(test)]
mod tests;

pub use analyst::{AnalysisError, Analyst, Choice};
pub use annotate::{AnnotatedMove, annotate};
pub use judgement::{Analysis, JudgedMove, Judgement, Source};
pub use level::Level;
