//! PN² (Allis 1994; Breuker, Uiterwijk and van den Herik 1999; thesis, 2.3 and 3.7).

use super::control::{Limits, Observer, Report};
use super::game::Game;
use super::pns::PnsOptions;
use super::table::Table;

/// The parameters of PN².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pn2Options {
    /// Both levels' proof-number search.
    pub pns: PnsOptions,
    /// First-level nodes at which the budget is half of them (the thesis' a).
    pub budget_inflection: f64,
    /// Width of the transition (the thesis' b).
    pub budget_slope: f64,
    /// The least budget of a second-level search.
    pub budget_minimum: u64,
}

/// Searches a position by PN² on one thread. Both trees together take at most `tree_bytes`.
pub fn pn2<G: Game>(
    _game: &G,
    _root: u64,
    _table: &Table,
    _tree_bytes: usize,
    _options: Pn2Options,
    _limits: Limits<'_>,
    _observer: &mut dyn Observer,
) -> Report {
    todo!()
}
