//! α-β with iterative deepening.

use super::control::{Limits, Observer, Report};
use super::game::Game;

/// The parameters of α-β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaBetaOptions {
    /// Plies by which each iteration is deeper than the one before.
    pub step: u32,
}

/// Searches a position by α-β on one thread.
pub fn alphabeta<G: Game>(
    _game: &G,
    _root: u64,
    _table_bytes: usize,
    _options: AlphaBetaOptions,
    _limits: Limits<'_>,
    _observer: &mut dyn Observer,
) -> Report {
    todo!()
}
