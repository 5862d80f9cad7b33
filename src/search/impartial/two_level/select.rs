//! Selection of leaves, and the way back up.

use std::sync::Arc;

use ahash::HashSet;

use super::super::crew::{Slot, slot_of, sum_code};
use super::super::evaluate::{Evaluation, Listing, Numbers, OWN, Pair};
use super::super::game::{Atom, Impartial};
use super::super::selection::{Scan, scan};
use super::super::store::{List, option_at};
use super::super::worker::{Part, Worker};
use super::super::workspace::{Sum, code_of, key_of};
use super::tree::{Couple, Job, Place, Tree};
use crate::search::game::Value;
use crate::search::numbers::{INFINITY, Number};
use crate::search::table::Entry;

/// What a selection found.
pub(super) enum Selected {
    /// A leaf, which is the caller's now.
    Job(Arc<Job>),
    /// All leaves are somebody's.
    AllTaken,
    /// None: the numbers have changed on the way, for the worse or to a value.
    Changed,
}

/// Where a selection is.
#[derive(Default)]
struct Trail {
    path: Vec<Couple>,
    slots: Vec<Slot>,
    /// Expansions of a job.
    expansions: u64,
    /// Inner nodes below which all leaves are taken.
    full: HashSet<Couple>,
    /// How often children have made their parents choose anew.
    changes: u32,
}

/// After so many changes a selection begins again from the root. In a table that is far too small
/// they need not come to an end, since numbers are lost as soon as they are stored.
const MOST_CHANGES: u32 = 100;

impl<G: Impartial> Worker<'_, '_, '_, G> {
    /// The numbers of a sum, from what is known of its parts.
    pub(super) fn sum_pair(&mut self, sum: &Sum) -> Pair {
        let rest = self.evaluator.reduce(sum.atoms(), sum.nimber());
        self.evaluator.reduced(rest).0
    }

    /// Takes the free leaf that selection comes to first, for a job of so many expansions. `None` if
    /// the search has to stop.
    pub(super) fn select(&mut self, tree: &Tree, root: &Sum, expansions: u64) -> Option<Selected> {
        let mut trail = Trail { expansions, ..Trail::default() };
        self.select_in_sum(tree, root.atoms(), root.nimber(), INFINITY, &mut trail)
    }

    fn select_in_sum(
        &mut self,
        tree: &Tree,
        words: &[u32],
        nimber: u32,
        believed: Number,
        trail: &mut Trail,
    ) -> Option<Selected> {
        let rest = self.evaluator.reduce(words, nimber);
        match self.evaluator.open[..] {
            [] => return Some(Selected::Changed),
            [atom] => return self.select_in_couple(tree, atom, rest, believed, trail),
            _ => {}
        }
        let mut parts: Vec<Part> = self.parts().collect();
        parts.sort_by_key(|part| self.number(part));
        trail.slots.push(slot_of(sum_code(&self.evaluator.open, rest)));
        let mut selected = Selected::AllTaken;
        for (atom, heap, pair) in parts {
            selected = self.select_in_couple(tree, atom, heap, pair.delta, trail)?;
            if !matches!(selected, Selected::AllTaken) {
                break;
            }
        }
        trail.slots.pop();
        Some(selected)
    }

    /// Selection below a couple whose delta is believed to be `believed`. If it turns out to be
    /// greater, or the couple to be solved, the parent has to choose anew.
    fn select_in_couple(
        &mut self,
        tree: &Tree,
        atom: Atom,
        nimber: u32,
        believed: Number,
        trail: &mut Trail,
    ) -> Option<Selected> {
        if self.evaluator.value(atom, nimber).is_some() {
            return Some(Selected::Changed);
        }
        match tree.take((atom, nimber), trail.expansions, &trail.path, &trail.slots) {
            Place::Job(job) => return Some(Selected::Job(job)),
            Place::Taken => return Some(Selected::AllTaken),
            Place::Expanded if trail.full.contains(&(atom, nimber)) => {
                return Some(Selected::AllTaken);
            }
            Place::Expanded => {}
        }
        trail.path.push((atom, nimber));
        trail.slots.push(slot_of(code_of(atom, nimber)));
        let base = self.evaluator.children.len();
        let selected = self.select_among_children(tree, (atom, nimber), believed, trail);
        self.evaluator.children.truncate(base);
        trail.slots.pop();
        trail.path.pop();
        if let Some(Selected::AllTaken) = selected {
            trail.full.insert((atom, nimber));
        }
        selected
    }

    fn select_among_children(
        &mut self,
        tree: &Tree,
        (atom, nimber): Couple,
        believed: Number,
        trail: &mut Trail,
    ) -> Option<Selected> {
        let base = self.evaluator.children.len();
        loop {
            self.evaluator.children.truncate(base);
            let (pair, list) = self.evaluate((atom, nimber), 0)?;
            let (None, Some(list)) = (pair.value(), list) else {
                return Some(Selected::Changed);
            };
            if pair.delta > believed {
                return Some(Selected::Changed);
            }
            self.evaluator.children[base..].iter_mut().for_each(|child| {
                child.threads = self.crew.map_or(0, |crew| crew.count(child.slot));
            });
            let mut children = self.evaluator.children.split_off(base);
            let selected = loop {
                if children.is_empty() {
                    return Some(Selected::AllTaken);
                }
                let best = scan(&children, self.evaluator.options.virtual_number).best;
                let child = children[best];
                let selected = match child.start {
                    OWN => self.select_in_couple(tree, atom, child.nimber, child.delta, trail),
                    start => {
                        let option = option_at(&list, start);
                        self.select_in_sum(tree, option, child.nimber, child.delta, trail)
                    }
                };
                match selected? {
                    Selected::AllTaken => drop(children.remove(best)),
                    other => break other,
                }
            };
            trail.changes += 1;
            if matches!(selected, Selected::Job(_)) || trail.changes > MOST_CHANGES {
                return Some(selected);
            }
        }
    }

    /// Brings the numbers above a job up to date, for which so many expansions were made. Whether
    /// the job is still needed: nothing above it is solved. `None` if the search has to stop.
    pub(super) fn back_up(&mut self, job: &Job, work: u64) -> Option<bool> {
        let mut is_needed = true;
        let mut changes = true;
        for &(atom, nimber) in job.path.iter().rev() {
            if self.evaluator.value(atom, nimber).is_some() {
                (is_needed, changes) = (false, true);
            } else if changes {
                let base = self.evaluator.children.len();
                let before = self.evaluator.numbers.get(code_of(atom, nimber));
                let evaluated = self.evaluate((atom, nimber), work);
                self.evaluator.children.truncate(base);
                let (pair, _) = evaluated?;
                is_needed &= pair.value().is_none();
                changes = before != Some(pair);
            }
        }
        Some(is_needed)
    }

    /// The numbers of an open inner node anew, for which so many more expansions were made: with its
    /// list and its open children at the top of the stack, or solved. `None` if the search has to
    /// stop.
    fn evaluate(&mut self, (atom, nimber): Couple, work: u64) -> Option<(Pair, Option<List>)> {
        let evaluator = &mut self.evaluator;
        let code = code_of(atom, nimber);
        let before = evaluator.workspace.table.lookup(key_of(code), code);
        let work = before.map_or(0, |entry| entry.work) + work;
        let base = evaluator.children.len();
        let (value, list) = match evaluator.listing(atom, nimber)? {
            Listing::Won => (Some(Value::Win), None),
            Listing::All(list) => match evaluator.expand(atom, nimber, &list, false) {
                Evaluation::Solved(value) => (Some(value), None),
                Evaluation::Open => (None, Some(list)),
            },
        };
        if let Some(value) = value {
            evaluator.solved(atom, nimber, value, work.max(1));
            if let Some(crew) = self.crew {
                crew.call();
            }
            return Some((Pair::of(value), None));
        }
        let Scan { phi, max, sum, .. } = scan(&evaluator.children[base..], 0);
        let pair = Pair { phi, delta: evaluator.options.combination.combine(max, sum) };
        let after = Entry { phi, delta: pair.delta, work: work.max(1) };
        if before != Some(after) {
            evaluator.numbers.set(code, pair, after.work, &mut evaluator.control.counters);
        }
        Some((pair, list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::control::Limits;
    use crate::search::impartial::SearchOptions;
    use crate::search::impartial::control::Shared;
    use crate::search::impartial::crew::Crew;
    use crate::search::impartial::games::Declared;
    use crate::search::impartial::store::options_of;
    use crate::search::impartial::thresholds::Thresholds;
    use crate::search::impartial::workspace::Workspace;
    use std::collections::BTreeSet;

    /// The unexpanded couples below a sum, by following everything that is open.
    fn leaves(
        worker: &mut Worker<'_, '_, '_, Declared>,
        inner: &BTreeSet<Couple>,
        words: &[u32],
        nimber: u32,
        found: &mut BTreeSet<Couple>,
    ) {
        let heap = worker.evaluator.reduce(words, nimber);
        let open = worker.evaluator.open.clone();
        let couples: Vec<Couple> = match open[..] {
            [] => return,
            [atom] => vec![(atom, heap)],
            [ref parts @ .., _] => {
                parts.iter().map(|&atom| (atom, worker.evaluator.current(atom))).collect()
            }
        };
        for (atom, nimber) in couples {
            if worker.evaluator.value(atom, nimber).is_some() {
                continue;
            }
            if !inner.contains(&(atom, nimber)) {
                found.insert((atom, nimber));
                continue;
            }
            let list = worker.evaluator.list(atom).unwrap();
            for (_, option) in options_of(&list) {
                leaves(worker, inner, option, nimber, found);
            }
            for smaller in 0..nimber {
                leaves(worker, inner, &[atom], smaller, found);
            }
        }
    }

    /// Takes all leaves of a growing tree again and again.
    #[test]
    fn selection_finds_every_free_leaf_once() {
        let mut most = 0;
        for seed in 0..15 {
            let game = Declared::random(seed, 60, 6);
            let workspace = Workspace::new(&game, 1 << 22).unwrap();
            let root = Sum::new(&game, &[59, 58, 57], (seed % 3) as u32);
            let mut nobody = ();
            let shared = Shared::new(Limits::default(), &mut nobody, 0);
            let crew = Crew::new();
            let mut worker = Worker::new(&workspace, &shared, Some(&crew), SearchOptions::PAPER);
            let tree = Tree::new();
            let mut inner = BTreeSet::new();
            while worker.sum_pair(&root).value().is_none() {
                let mut jobs = Vec::new();
                // What is solved on the way can free a leaf where selection has been already.
                let mut patience = 10;
                while patience > 0 && worker.sum_pair(&root).value().is_none() {
                    match worker.select(&tree, &root, 1).unwrap() {
                        Selected::Job(job) => jobs.push(job),
                        Selected::AllTaken => patience -= 1,
                        Selected::Changed => {}
                    }
                    assert!(worker.evaluator.children.is_empty());
                }
                let taken: BTreeSet<Couple> = jobs.iter().map(|job| job.couple).collect();
                assert_eq!(taken.len(), jobs.len(), "seed {seed}");
                let mut expected = BTreeSet::new();
                leaves(&mut worker, &inner, root.atoms(), root.nimber(), &mut expected);
                if worker.sum_pair(&root).value().is_some() {
                    break;
                }
                assert!(expected.is_subset(&taken), "seed {seed}");
                most = most.max(taken.len());
                // One of them becomes an inner node; the others are free again.
                let one = jobs.swap_remove(seed as usize % jobs.len());
                for job in jobs {
                    tree.finish(&job, false);
                }
                worker.allowance = 1;
                let (atom, nimber) = one.couple;
                let found = worker.couple(atom, nimber, Thresholds::ROOT, false).unwrap();
                worker.back_up(&one, found.work).unwrap();
                tree.finish(&one, true);
                inner.insert(one.couple);
            }
        }
        assert!(most > 10, "{most}");
    }
}
