//! Depth-first proof-number search with Grundy numbers (Čížek, Balko and Schmid, "DFPN with Grundy
//! Numbers").
//!
//! The search goes down couples and sums. A couple's children stand on a stack while it is
//! searched, its numbers go to the table when the search leaves it; a sum keeps nothing, since its
//! numbers follow from those of the couples of its parts. When a couple is solved, that is noted
//! for good: a lost one is a Grundy number. The thresholds are those of [`super::thresholds`].

use super::SearchOptions;
use super::control::{Control, Counters, Observer, Report, Shared};
use super::evaluate::{Evaluation, Evaluator, Numbers, OWN, Pair};
use super::game::{Atom, Impartial};
use super::selection::scan;
use super::store::option_at;
use super::thresholds::{Others, Thresholds};
use super::workspace::{Sum, Workspace, code_of, key_of};
use crate::search::control::{Limits, Reason};
use crate::search::table::Table;

/// Searches a position by df-pn on one thread.
///
/// What earlier searches left in the workspace is used, so a search that was stopped goes on where
/// it was when it is called again. Recurses as deep as the longest game.
pub fn dfpn<G: Impartial>(
    workspace: &Workspace<'_, G>,
    root: &Sum,
    options: SearchOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let shared = Shared::new(limits, observer, workspace.table.estimated_count());
    let mut worker = Worker::new(workspace, &shared, options);
    let pair = worker.solve(root.atoms(), root.nimber());
    worker.evaluator.control.finish(workspace.bytes());
    shared.report(pair, workspace.bytes())
}

/// What a search for a Grundy number found.
#[derive(Clone, Copy, Debug)]
pub struct GrundyReport {
    /// The number, or why it is not known.
    pub grundy: Result<u32, Reason>,
    /// What was counted.
    pub counters: Counters,
    /// Bytes of everything that the search kept, at its end.
    pub memory_bytes: u64,
}

/// Computes the Grundy number of a sum by df-pn on one thread: of each atom, couple by couple.
pub fn grundy<G: Impartial>(
    workspace: &Workspace<'_, G>,
    atoms: &[Atom],
    options: SearchOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> GrundyReport {
    let shared = Shared::new(limits, observer, workspace.table.estimated_count());
    let mut worker = Worker::new(workspace, &shared, options);
    let sum = Sum::new(workspace.game, atoms, 0);
    let number = loop {
        let rest = worker.evaluator.reduce(sum.atoms(), 0);
        let Some(&atom) = worker.evaluator.open.first() else {
            break Some(rest);
        };
        let heap = worker.evaluator.current(atom);
        if worker.solve(&[atom], heap).value().is_none() {
            break None;
        }
    };
    worker.evaluator.control.finish(workspace.bytes());
    GrundyReport {
        grundy: number.ok_or_else(|| shared.reason()),
        counters: shared.totals(),
        memory_bytes: workspace.bytes(),
    }
}

/// A node's numbers when its search returns, and the expansions that it took.
#[derive(Clone, Copy)]
struct Found {
    pair: Pair,
    work: u64,
}

struct Worker<'w, 's, 'a, G: Impartial> {
    evaluator: Evaluator<'w, 's, 'a, G, &'w Table>,
}

impl<'w, 's, 'a, G: Impartial> Worker<'w, 's, 'a, G> {
    fn new(
        workspace: &'w Workspace<'w, G>,
        shared: &'s Shared<'a>,
        options: SearchOptions,
    ) -> Self {
        let control = Control::new(shared);
        Worker { evaluator: Evaluator::new(workspace, &workspace.table, control, options) }
    }

    /// Searches a sum until it is solved or the search has to stop.
    fn solve(&mut self, atoms: &[Atom], nimber: u32) -> Pair {
        let shared = self.evaluator.control.shared;
        let mut pair = Pair { phi: 1, delta: 1 };
        while pair.value().is_none() && shared.stopped().is_none() {
            if let Some(found) = self.sum(atoms, nimber, Thresholds::ROOT, true) {
                pair = found.pair;
                shared.set_root(pair.phi, pair.delta);
            }
        }
        pair
    }

    /// Searches a sum until it is solved or its numbers leave the thresholds. `None` if the search
    /// has to stop.
    fn sum(
        &mut self,
        words: &[u32],
        nimber: u32,
        thresholds: Thresholds,
        is_root: bool,
    ) -> Option<Found> {
        let mut work = 0;
        loop {
            let rest = self.evaluator.reduce(words, nimber);
            let (pair, _) = self.evaluator.reduced(rest);
            match self.evaluator.open[..] {
                [] => return Some(Found { pair, work }),
                [atom] => {
                    let found = self.couple(atom, rest, thresholds, is_root)?;
                    return Some(Found { work: work + found.work, ..found });
                }
                [atom, ..] => {
                    // The first part whose Grundy number is not known.
                    if is_root {
                        self.evaluator.control.shared.set_root(pair.phi, pair.delta);
                    }
                    if !thresholds.hold(pair.phi, pair.delta) {
                        return Some(Found { pair, work });
                    }
                    let heap = self.evaluator.current(atom);
                    let (part, _) = self.evaluator.couple(atom, heap);
                    let others = u64::from(pair.phi) - u64::from(part.least()).min(pair.phi.into());
                    let found = self.couple(atom, heap, thresholds.of_part(others), false)?;
                    work += found.work;
                }
            }
        }
    }

    /// Searches a couple until it is solved or its numbers leave the thresholds. The numbers are in
    /// the table then. `None` if the search has to stop.
    fn couple(
        &mut self,
        atom: Atom,
        nimber: u32,
        thresholds: Thresholds,
        is_root: bool,
    ) -> Option<Found> {
        let evaluator = &mut self.evaluator;
        if let Some(value) = evaluator.value(atom, nimber) {
            return Some(Found { pair: Pair::of(value), work: 0 });
        }
        let workspace = evaluator.workspace;
        if workspace.table.wants_growth(evaluator.control.table_used()) {
            workspace.table.grow(key_of);
        }
        if evaluator.control.tick(|| workspace.balance(0)) {
            return None;
        }
        let code = code_of(atom, nimber);
        let known = workspace.table.lookup(key_of(code), code);
        let before = known.map_or(0, |entry| entry.work);
        let mut work = 1;
        let base = evaluator.children.len();
        let list = evaluator.list(atom)?;
        if let Evaluation::Solved(value) = evaluator.expand(atom, nimber, &list, known.is_none()) {
            evaluator.solved(atom, nimber, value, work);
            return Some(Found { pair: Pair::of(value), work });
        }

        let combination = self.evaluator.options.combination;
        let epsilon = self.evaluator.options.epsilon_1024;
        let mut pair;
        loop {
            let scan = scan(&self.evaluator.children[base..]);
            pair = Pair { phi: scan.least, delta: combination.combine(scan.max, scan.sum) };
            if is_root {
                self.evaluator.control.shared.set_root(pair.phi, pair.delta);
            }
            if !thresholds.hold(pair.phi, pair.delta) {
                break;
            }
            let best = base + scan.best;
            let child = self.evaluator.children[best];
            let others = Others {
                least_delta: scan.second,
                max_phi: scan.max_other,
                sum_phi: scan.sum - u64::from(child.phi),
            };
            let below = thresholds.of_child(others, combination, epsilon);
            let found = match child.start {
                OWN => self.couple(atom, child.nimber, below, false),
                start => self.sum(option_at(&list, start), child.nimber, below, false),
            };
            let Some(found) = found else {
                // Stopped: what is known about the children stays.
                self.evaluator.children.truncate(base);
                self.store(code, pair, before + work);
                return None;
            };
            work += found.work;
            if found.pair.delta == 0 {
                pair = Pair::WIN;
            } else if found.pair.phi == 0 && self.evaluator.children.len() == base + 1 {
                pair = Pair::LOSS;
            } else if let Some(value) = self.evaluator.value(atom, nimber) {
                // Something below, or another thread, has found the Grundy number.
                pair = Pair::of(value);
            }
            if pair.value().is_some() {
                break;
            }
            if found.pair.phi == 0 {
                self.evaluator.children.remove(best);
            } else {
                let slot = &mut self.evaluator.children[best];
                (slot.phi, slot.delta) = (found.pair.phi, found.pair.delta);
            }
        }
        self.evaluator.children.truncate(base);
        match pair.value() {
            Some(value) => self.evaluator.solved(atom, nimber, value, before + work),
            None => self.store(code, pair, before + work),
        }
        Some(Found { pair, work })
    }

    fn store(&mut self, code: u64, pair: Pair, work: u64) {
        let counters = &mut self.evaluator.control.counters;
        self.evaluator.numbers.set(code, pair, work, counters);
    }
}
