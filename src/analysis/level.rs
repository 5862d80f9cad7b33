//! Opponents that do not play as well as they can.

use std::fmt;

use super::analyst::{AnalysisError, Analyst, Choice};
use crate::konane::{Board, Position};
use crate::search::run::Limits;

/// How well to play: by a search of 4 to the power of the level nodes for each move, and nothing else
/// that is known.
///
/// ```
/// use konane::analysis::Level;
///
/// assert_eq!(Level::new(3).map(Level::nodes), Some(64));
/// assert_eq!(Level::new(11), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(u32);

/// Memory of the search: the strongest level needs less.
const MEMORY: u64 = 64 << 20;

impl Level {
    /// The weakest.
    pub const LEAST: u32 = 1;

    /// The strongest.
    pub const MOST: u32 = 10;

    /// A level from 1 to 10.
    pub fn new(level: u32) -> Option<Level> {
        (Level::LEAST..=Level::MOST).contains(&level).then_some(Level(level))
    }

    /// Nodes of a search for a move.
    pub fn nodes(self) -> u64 {
        4u64.pow(self.0)
    }

    /// [`Analyst::choose`] on this level, within the other limits.
    ///
    /// # Errors
    /// As [`Analyst::choose`].
    pub fn choose(
        self,
        board: &Board,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Option<Choice>, AnalysisError> {
        // What others have found out would make it stronger.
        let mut fresh = Analyst::on_board(board.clone(), MEMORY)?;
        fresh.choose(position, Limits { nodes: Some(self.nodes()), ..limits })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
