//! Opponents of limited strength.

use std::fmt;

use super::analyst::{AnalysisError, Analyst, ChosenMove};
use crate::konane::{Board, Position};
use crate::search::run::Limits;

/// Strength of play. A player of level n searches 4ⁿ nodes for each move, without databases, proofs and results of
/// earlier searches.
///
/// ```
/// use konane::analysis::Level;
///
/// assert_eq!(Level::new(3).map(Level::nodes), Some(64));
/// assert_eq!(Level::new(11), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(u32);

/// Memory of the search. It is more than the strongest level needs.
const MEMORY: u64 = 64 << 20;

impl Level {
    /// The weakest level.
    pub const MIN: u32 = 1;

    /// The strongest level.
    pub const MAX: u32 = 10;

    /// Creates a level from 1 to 10. Returns `None` for other numbers.
    pub fn new(level: u32) -> Option<Level> {
        (Level::MIN..=Level::MAX).contains(&level).then_some(Level(level))
    }

    /// Number of nodes of the search for a move.
    pub fn nodes(self) -> u64 {
        4u64.pow(self.0)
    }

    /// [`Analyst::choose`] with the node limit of this level. The other limits are those of `limits`.
    ///
    /// # Errors
    /// As [`Analyst::choose`].
    pub fn choose(
        self,
        board: &Board,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Option<ChosenMove>, AnalysisError> {
        // The analyst is new, because the results of earlier searches would make the level stronger.
        let mut fresh = Analyst::on_board(board.clone(), MEMORY)?;
        fresh.choose(position, Limits { nodes: Some(self.nodes()), ..limits })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
