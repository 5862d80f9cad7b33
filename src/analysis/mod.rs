//! Values of a position and its moves from all available sources: the rules, a database, proofs, and a search for
//! the remaining values.
//!
//! * [`Analyst`]: a board with its database, its proofs and a table. It analyses one position after the other, each
//!   within limits, chooses moves and computes lines of play. [`Analyst::find_remoteness`] adds the remoteness of a
//!   position that no database has.
//! * [`Analysis`]: a position with its [`JudgedMove`]s. [`Judgement`] is a proven value with its [`ValueSource`].
//! * [`ChosenMove`]: a move to play; [`Level`]: an opponent of limited strength.
//! * [`Analyst::annotate`]: the moves of a recorded game with their values, a [`GameAnnotation`].
//! * [`Analyst::refutation`]: an answer to every move from a lost position.
//! * [`Puzzles`]: positions with exactly one winning move.
//!
//! ```text
//! database, proofs ─▶ analyst ◀─▶ Solver, with a table that persists between positions
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
mod puzzle;
mod refutation;
mod remoteness;
#[cfg(test)]
mod tests;

pub use analyst::{AnalysisError, Analyst, ChosenMove};
pub use annotate::{AnnotatedMove, AnnotationSummary, GameAnnotation, SideSummary};
pub use judgement::{Analysis, JudgedMove, Judgement, JudgementFields, ValueSource};
pub use level::Level;
pub use puzzle::{Difficulty, Puzzle, Puzzles};
pub use refutation::{Defence, LostPosition};
