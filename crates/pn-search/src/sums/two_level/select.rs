//! Selection of leaves of the first level, and back-up of numbers to its root.
//!
//! [`Couples`] are the inner nodes and taken leaves of the tree; [`TakenCouple`] is a taken leaf; [`SelectedCouple`] is
//! the result of a selection.

use ahash::{HashMap, HashSet};

use crate::Value;
use crate::numbers::{Epsilon, INFINITY, Number, Pair};
use crate::search_tree::{Expanded, SearchTree, scan};
use crate::sums::evaluate::{CoupleNumbers, OWN};
use crate::sums::expand::{ExpandedCouple, NONE_NEW};
use crate::sums::game::Impartial;
use crate::sums::group::ThreadWorker;
use crate::sums::solver_state::{Sum, code_of, key_of};
use crate::sums::store::option_at;
use crate::sums::tree::Summand;
use crate::table::Entry;

/// A free leaf that has been taken.
pub struct TakenCouple {
    /// Codes of the couples from the root to the leaf.
    pub path: Vec<u64>,
    /// Keys of the sums of several parts that are on this path between the couples.
    sums: Vec<u64>,
}

impl TakenCouple {
    /// Returns the code of the leaf.
    pub(super) fn code(&self) -> u64 {
        *self.path.last().expect("the path ends at the leaf")
    }

    /// Returns the keys of all nodes on the path in the table of virtual losses.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.path.iter().map(|&code| key_of(code)).chain(self.sums.iter().copied())
    }
}

/// Inner nodes of the tree, and leaves that are being searched. All other couples are free leaves.
#[derive(Default)]
pub(super) struct Couples {
    /// Inner nodes.
    pub expanded: HashSet<u64>,
    /// Taken leaves, with the couples from the root to them.
    pub taken: HashMap<u64, Vec<u64>>,
}

/// Result of a selection.
pub(super) enum SelectedCouple {
    /// A free leaf, which is now taken.
    Leaf(TakenCouple),
    /// All leaves are taken.
    AllTaken,
    /// No leaf was selected, because the reason for descending to a couple is gone: the couple is solved, or its delta
    /// is greater than its parent believed.
    Changed,
}

/// State of a selection.
#[derive(Default)]
struct SelectionPath {
    path: Vec<u64>,
    sums: Vec<u64>,
    /// True if a free leaf is taken even if numbers on its path have increased during the selection.
    accepts_outdated: bool,
    /// Inner nodes below which all leaves are taken.
    full: HashSet<u64>,
    /// Number of times that a parent has selected again because a child has changed.
    reselections: u32,
}

/// Maximum number of reselections before a selection restarts at the root. Without this limit, the reselections might
/// not end if the table is so small that numbers are replaced as soon as they are stored.
const MAX_RESELECTIONS: u32 = 100;

impl<G: Impartial> ThreadWorker<'_, G> {
    /// Returns the numbers of a sum, computed from those of its parts.
    pub(super) fn sum_pair(&mut self, sum: &Sum) -> Pair {
        let rest = self.tree.reduce(sum.atoms(), sum.nimber());
        self.tree.reduced(rest).0
    }

    /// Selects the best free leaf. If `accepts_outdated` is true, this may be a leaf that was the best one before
    /// numbers increased during the selection. Returns `None` if the search has to stop.
    pub(super) fn select(
        &mut self,
        couples: &mut Couples,
        root: &Sum,
        accepts_outdated: bool,
    ) -> Option<SelectedCouple> {
        let mut selection = SelectionPath { accepts_outdated, ..SelectionPath::default() };
        self.select_in_sum(couples, root.atoms(), root.nimber(), INFINITY, &mut selection)
    }

    fn select_in_sum(
        &mut self,
        couples: &mut Couples,
        words: &[u32],
        nimber: u32,
        expected_delta: Number,
        selection: &mut SelectionPath,
    ) -> Option<SelectedCouple> {
        let rest = self.tree.reduce(words, nimber);
        match self.tree.open[..] {
            [] => return Some(SelectedCouple::Changed),
            [atom] => {
                return self.select_in_couple(
                    couples,
                    code_of(atom, rest),
                    expected_delta,
                    selection,
                );
            }
            _ => {}
        }
        let mut parts: Vec<Summand> = self.tree.parts().collect();
        parts.sort_by_key(|part| self.tree.number(part));
        selection.sums.push(self.tree.open_key(rest));
        let mut selected = SelectedCouple::AllTaken;
        for (atom, nimber, pair) in parts {
            selected =
                self.select_in_couple(couples, code_of(atom, nimber), pair.delta, selection)?;
            if !matches!(selected, SelectedCouple::AllTaken) {
                break;
            }
        }
        selection.sums.pop();
        Some(selected)
    }

    /// Selects a leaf below a couple. Returns [`SelectedCouple::Changed`] if the couple is solved, or if its delta has
    /// become greater than `expected_delta` and outdated numbers are not accepted. Then the parent has to select again.
    fn select_in_couple(
        &mut self,
        couples: &mut Couples,
        code: u64,
        expected_delta: Number,
        selection: &mut SelectionPath,
    ) -> Option<SelectedCouple> {
        if SearchTree::value(&self.tree, code).is_some() {
            return Some(SelectedCouple::Changed);
        }
        if couples.taken.contains_key(&code) || selection.full.contains(&code) {
            return Some(SelectedCouple::AllTaken);
        }
        if !couples.expanded.contains(&code) {
            let (path, sums) = ([&selection.path[..], &[code]].concat(), selection.sums.clone());
            couples.taken.insert(code, path.clone());
            return Some(SelectedCouple::Leaf(TakenCouple { path, sums }));
        }
        selection.path.push(code);
        let base = self.tree.children.len();
        let selected = self.select_among_children(couples, code, expected_delta, selection);
        self.tree.children.truncate(base);
        selection.path.pop();
        if let Some(SelectedCouple::AllTaken) = selected {
            selection.full.insert(code);
        }
        selected
    }

    fn select_among_children(
        &mut self,
        couples: &mut Couples,
        code: u64,
        expected_delta: Number,
        selection: &mut SelectionPath,
    ) -> Option<SelectedCouple> {
        let base = self.tree.children.len();
        loop {
            self.tree.children.truncate(base);
            let (pair, node) = self.evaluate(code, 0)?;
            let (None, Some(ExpandedCouple { atom, list })) = (pair.value(), node) else {
                return Some(SelectedCouple::Changed);
            };
            if pair.delta > expected_delta && !selection.accepts_outdated {
                return Some(SelectedCouple::Changed);
            }
            let selected = loop {
                if self.tree.children.len() == base {
                    return Some(SelectedCouple::AllTaken);
                }
                let best = base + self.choose(base, INFINITY, Epsilon::ZERO).child;
                let child = self.tree.children[best];
                let selected = match child.start {
                    OWN => {
                        let code = code_of(atom, child.nimber);
                        self.select_in_couple(couples, code, child.delta, selection)
                    }
                    start => {
                        let option = option_at(&list, start);
                        self.select_in_sum(couples, option, child.nimber, child.delta, selection)
                    }
                };
                match selected? {
                    SelectedCouple::AllTaken => self.tree.remove(best),
                    other => break other,
                }
            };
            selection.reselections += 1;
            if matches!(selected, SelectedCouple::Leaf(_))
                || selection.reselections > MAX_RESELECTIONS
            {
                return Some(selected);
            }
        }
    }

    /// Updates the numbers of the inner nodes on a path from the root, after `work` expansions below the end of the
    /// path. Returns true if no node of the path is solved, and `None` if the search has to stop.
    pub(super) fn back_up(&mut self, path: &[u64], work: u64) -> Option<bool> {
        let mut is_open = true;
        let mut changes = true;
        for &code in path.iter().rev() {
            if SearchTree::value(&self.tree, code).is_some() {
                (is_open, changes) = (false, true);
            } else if changes {
                let base = self.tree.children.len();
                let before = self.tree.numbers.get(code);
                let evaluated = self.evaluate(code, work);
                self.tree.children.truncate(base);
                let (pair, _) = evaluated?;
                is_open &= pair.value().is_none();
                changes = before != Some(pair);
            }
        }
        Some(is_open)
    }

    /// Recomputes the numbers of an open inner node after `work` more expansions below it. If the node is still open,
    /// pushes its open children onto the stack and also returns its options. Returns `None` if the search has to stop.
    fn evaluate(&mut self, code: u64, work: u64) -> Option<(Pair, Option<ExpandedCouple>)> {
        let evaluator = &mut self.tree;
        let before = evaluator.lookup(code);
        let work = before.map_or(0, |entry| entry.work) + work;
        let base = evaluator.children.len();
        let node = match evaluator.expanded(code, true, NONE_NEW) {
            Expanded::Stopped => return None,
            Expanded::Open(node) => node,
            Expanded::Solved(value) => return Some(self.store_value(code, value, work)),
            Expanded::Won(_) => return Some(self.store_value(code, Value::Win, work)),
        };
        let summary = scan(&evaluator.children[base..]);
        let pair = summary.numbers_of_parent(evaluator.options.combination);
        let after = Entry::new(pair, work.max(1));
        if before != Some(after) {
            SearchTree::store(evaluator, code, pair, after.work);
        }
        Some((pair, Some(node)))
    }

    /// Stores the value of an inner node.
    fn store_value(
        &mut self,
        code: u64,
        value: Value,
        work: u64,
    ) -> (Pair, Option<ExpandedCouple>) {
        SearchTree::solved(&mut self.tree, code, value, work.max(1));
        (Pair::of(value), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Counters, Limits, SearchMonitor, SharedState, WorkerSlot};
    use crate::sums::SearchOptions;
    use crate::sums::evaluate::Evaluator;
    use crate::sums::expand::Listing;
    use crate::sums::solver_state::{SolverState, couple_of};
    use crate::sums::store::options_of;
    use crate::testing::impartial_games::Declared;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    /// Collects all unexpanded open couples below a sum.
    fn leaves(
        worker: &mut ThreadWorker<'_, Declared>,
        inner: &BTreeSet<u64>,
        words: &[u32],
        nimber: u32,
        found: &mut BTreeSet<u64>,
    ) {
        let rest = worker.tree.reduce(words, nimber);
        let open = worker.tree.open.clone();
        let couples: Vec<u64> = match open[..] {
            [] => return,
            [atom] => vec![code_of(atom, rest)],
            _ => worker.tree.parts().map(|(atom, nimber, _)| code_of(atom, nimber)).collect(),
        };
        for code in couples {
            if SearchTree::value(&worker.tree, code).is_some() {
                continue;
            }
            if !inner.contains(&code) {
                found.insert(code);
                continue;
            }
            let (atom, nimber) = couple_of(code);
            // No option is lost with a nim heap of this size, so all options are listed.
            let Some(Listing::Options(listed)) = worker.tree.listing(atom, u32::MAX, true) else {
                panic!("the list has all options");
            };
            for (_, option) in options_of(&listed.list) {
                leaves(worker, inner, option, nimber, found);
            }
            for smaller in 0..nimber {
                leaves(worker, inner, &[atom], smaller, found);
            }
        }
    }

    /// In each step, takes all free leaves of a tree, then expands one of them.
    #[test]
    fn selection_finds_every_free_leaf_once() {
        let mut max_leaves = 0;
        for seed in 0..15 {
            // Below sums of all parts there are more leaves, so these games are smaller.
            let (sum_of_all_parts, atoms) = if seed % 3 == 0 { (true, 40) } else { (false, 60) };
            let game = Declared::random(seed, atoms, 6);
            let state = SolverState::new(Arc::new(game), 1 << 22).unwrap();
            let root =
                Sum::new(state.game(), &[atoms - 1, atoms - 2, atoms - 3], (seed % 4) as u32);
            let shared = SharedState::new(1, Limits::default(), Counters::default());
            let monitor = SearchMonitor::of_worker(WorkerSlot::first(&shared), None);
            let options = SearchOptions { sum_of_all_parts, ..SearchOptions::PAPER };
            let evaluator = Evaluator::new(&state, &state.table, monitor, options, true);
            let mut worker = ThreadWorker::new(evaluator, options.params());
            let mut couples = Couples::default();
            let mut inner = BTreeSet::new();
            while worker.sum_pair(&root).value().is_none() {
                let mut jobs = Vec::new();
                // A selection may solve a couple, which can add a free leaf. So it is repeated after `AllTaken`.
                let mut attempts = 10;
                while attempts > 0 && worker.sum_pair(&root).value().is_none() {
                    match worker.select(&mut couples, &root, false).unwrap() {
                        SelectedCouple::Leaf(job) => jobs.push(job),
                        SelectedCouple::AllTaken => attempts -= 1,
                        SelectedCouple::Changed => {}
                    }
                    assert!(worker.tree.children.is_empty());
                }
                let taken: BTreeSet<u64> = jobs.iter().map(TakenCouple::code).collect();
                assert_eq!(taken.len(), jobs.len(), "seed {seed}");
                let mut expected = BTreeSet::new();
                leaves(&mut worker, &inner, root.atoms(), root.nimber(), &mut expected);
                if worker.sum_pair(&root).value().is_some() {
                    break;
                }
                assert!(expected.is_subset(&taken), "seed {seed}");
                max_leaves = max_leaves.max(taken.len());
                // One of the leaves becomes an inner node; the others are free again.
                let one = jobs.swap_remove(seed as usize % jobs.len());
                couples.taken.clear();
                worker.search_job(one.code(), 1).unwrap();
                worker.back_up(&one.path, 1).unwrap();
                couples.expanded.insert(one.code());
                inner.insert(one.code());
            }
        }
        assert!(max_leaves > 10, "{max_leaves}");
    }
}
