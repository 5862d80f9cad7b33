//! Proof-number search (Allis 1994; thesis, 2.2 and 3.5).

use super::control::{Limits, Observer, Report};
use super::game::Game;
use super::numbers::Combination;
use super::table::Table;

/// The parameters of PNS, and of both levels of PN².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PnsOptions {
    /// How delta follows from the children's phi.
    pub combination: Combination,
    /// Positions that one bounded exact search may visit; 0 for none.
    pub settle_budget: u32,
    /// The greatest [`super::game::Child::effort`] for which it is tried.
    pub settle_effort: u32,
}

/// Searches a position by PNS on one thread. The tree takes at most `tree_bytes`.
pub fn pns<G: Game>(
    _game: &G,
    _root: u64,
    _table: &Table,
    _tree_bytes: usize,
    _options: PnsOptions,
    _limits: Limits<'_>,
    _observer: &mut dyn Observer,
) -> Report {
    todo!()
}
