//! Proof-number search with Grundy numbers (Lemoine 2011; Čížek, Balko and Schmid, "Proof-Number
//! Search with Grundy Numbers") on a graph in which equal couples are one node (Schijf, Allis and
//! Uiterwijk 1994).
//!
//! The numbers of all expanded couples are stored without replacement. In each step the search descends from the root
//! to a most-proving leaf and expands it. Then it recomputes the numbers of each node of the path from those of all
//! children. Parents of these nodes that are not on the path are updated when the search visits them again.

use ahash::HashMap;

use super::SearchOptions;
use super::evaluate::{CoupleNumbers, Evaluator, OWN};
use super::expand::{ExpandedCouple, NONE_NEW};
use super::game::{Atom, Impartial};
use super::group::{GroupResult, POLL_INTERVAL};
use super::solver_state::{SolverState, Sum, code_of};
use super::store::option_at;
use crate::map_bytes;
use crate::numbers::Pair;
use crate::run::{
    Counters, Limits, Observer, Reason, Report, SearchMonitor, SharedState, WorkerSlot,
};
use crate::search_tree::Expanded;
use crate::search_tree::scan;

/// Phi and delta of couples, stored without replacement.
#[derive(Default)]
struct CoupleMap(HashMap<u64, Pair>);

impl CoupleMap {
    fn bytes(&self) -> u64 {
        map_bytes::<(u64, Pair)>(self.0.capacity())
    }
}

impl CoupleNumbers for CoupleMap {
    #[inline]
    fn get(&self, code: u64) -> Option<Pair> {
        self.0.get(&code).copied()
    }

    fn set(&mut self, code: u64, pair: Pair, _: u64, _: &mut Counters) {
        self.0.insert(code, pair);
    }
}

/// Searches a position by PNS on one thread. The recursion is as deep as the longest game.
///
/// The table of the solver state is not used. The tree takes some 20 to 40 bytes for each
/// expanded couple, within the solver state's memory. If that is not enough, the outcome is `Unknown`
/// for [`crate::run::Reason::Memory`]. The tree is dropped at the end; exact results stay in the solver state.
///
/// # Panics
/// If the game or the observer does.
pub fn pns<G: Impartial>(
    state: &SolverState<G>,
    root: &Sum,
    options: SearchOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let shared = SharedState::new(1, limits, Counters::default());
    let monitor =
        SearchMonitor::with_interval(WorkerSlot::first(&shared), Some(observer), POLL_INTERVAL);
    let mut evaluator = Evaluator::new(state, CoupleMap::default(), monitor, options, false);
    let mut pair = Pair { phi: 1, delta: 1 };
    while pair.value().is_none() && evaluator.monitor.stopped.is_none() {
        let Some(found) = sum(&mut evaluator, root.atoms(), root.nimber()) else {
            break;
        };
        pair = found;
        evaluator.monitor.root.pair = pair;
    }
    evaluator.monitor.finish();
    let stopped = evaluator.monitor.stopped.unwrap_or(Reason::Interrupted);
    let answer = pair.value().map(|_| pair).ok_or(stopped);
    let memory_bytes = state.bytes() + evaluator.numbers.bytes();
    let counters = shared.counters();
    GroupResult { answer, root: pair, counters, threads: 1 }.report(memory_bytes)
}

/// Expands a leaf below a sum and returns the sum's numbers, or `None` if the search has to stop.
fn sum<G: Impartial>(
    evaluator: &mut Evaluator<'_, G, CoupleMap>,
    words: &[u32],
    nimber: u32,
) -> Option<Pair> {
    let rest = evaluator.reduce(words, nimber);
    match evaluator.open[..] {
        [] => {}
        [atom] => return couple(evaluator, atom, rest),
        _ => {
            let atom = evaluator.first_part();
            let nimber = evaluator.current(atom);
            couple(evaluator, atom, nimber)?;
        }
    }
    let rest = evaluator.reduce(words, nimber);
    Some(evaluator.reduced(rest).0)
}

/// Expands a leaf below a couple, or the couple itself if it is a leaf. Returns the couple's numbers, or `None` if the
/// search has to stop.
fn couple<G: Impartial>(
    evaluator: &mut Evaluator<'_, G, CoupleMap>,
    atom: Atom,
    nimber: u32,
) -> Option<Pair> {
    if let Some(value) = evaluator.value(atom, nimber) {
        return Some(Pair::of(value));
    }
    let code = code_of(atom, nimber);
    let is_leaf = evaluator.numbers.get(code).is_none();
    if is_leaf {
        let state = evaluator.state;
        let own_bytes = evaluator.numbers.bytes();
        evaluator.own_bytes = own_bytes;
        if evaluator.monitor.tick_with(|| state.balance(own_bytes)) {
            return None;
        }
    }
    let base = evaluator.children.len();
    let list = match evaluator.expand(atom, nimber, true, if is_leaf { 0 } else { NONE_NEW }) {
        Expanded::Open(ExpandedCouple { list, .. }) => list,
        Expanded::Solved(value) => {
            evaluator.solved(atom, nimber, value, 1);
            return Some(Pair::of(value));
        }
        Expanded::Won(_) => unreachable!("expansions of couples return no winning child"),
        Expanded::Stopped => return None,
    };
    let combination = evaluator.options.combination;
    let mut pair = None;
    if !is_leaf {
        let best = base + scan(&evaluator.children[base..]).best;
        let child = evaluator.children[best];
        let found = match child.start {
            OWN => couple(evaluator, atom, child.nimber),
            start => sum(evaluator, option_at(&list, start), child.nimber),
        };
        match found {
            None => {
                evaluator.children.truncate(base);
                return None;
            }
            Some(Pair { delta: 0, .. }) => pair = Some(Pair::WIN),
            Some(Pair { phi: 0, .. }) => {
                evaluator.children.remove(best);
                if evaluator.children.len() == base {
                    pair = Some(Pair::LOSS);
                }
            }
            Some(Pair { phi, delta }) => {
                let slot = &mut evaluator.children[best];
                (slot.phi, slot.delta) = (phi, delta);
            }
        }
        if let Some(value) = evaluator.value(atom, nimber) {
            pair = Some(Pair::of(value));
        }
    }
    let pair =
        pair.unwrap_or_else(|| scan(&evaluator.children[base..]).numbers_of_parent(combination));
    evaluator.children.truncate(base);
    match pair.value() {
        Some(value) => evaluator.solved(atom, nimber, value, 1),
        None => evaluator.numbers.set(code, pair, 1, &mut evaluator.monitor.counters),
    }
    Some(pair)
}
