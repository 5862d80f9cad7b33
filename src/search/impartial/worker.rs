//! The depth-first search of one thread (Čížek, Balko and Schmid, "DFPN with Grundy Numbers").
//!
//! It goes down couples and sums. A couple's children stand on a stack while it is searched, its
//! numbers go to the table when the search leaves it; a sum keeps nothing, since its numbers follow
//! from those of the couples of its parts. When a couple is solved, that is noted for good: a lost
//! one is a Grundy number. The thresholds are those of [`super::thresholds`].

use super::control::{Control, Shared};
use super::crew::{Crew, Slot, slot_of, sum_code};
use super::evaluate::{Evaluation, Evaluator, Listing, Numbers, OWN, Pair};
use super::game::{Atom, Impartial};
use super::options::{PartOrder, SearchOptions};
use super::selection::scan;
use super::store::option_at;
use super::thresholds::{Others, Thresholds};
use super::workspace::{Workspace, code_of, key_of};
use crate::search::game::Value;
use crate::search::numbers::Number;
use crate::search::table::Table;

/// A node's numbers when its search returns, and the expansions that it took.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub pair: Pair,
    pub work: u64,
}

/// The current couple of a part of a sum, and its numbers.
pub(super) type Part = (Atom, u32, Pair);

/// A thread's search.
pub(super) struct Worker<'w, 's, 'a, G: Impartial> {
    pub evaluator: Evaluator<'w, 's, 'a, G, &'w Table>,
    pub crew: Option<&'s Crew>,
    /// With a crew: the couples from the root to here.
    pub path: Vec<(Atom, u32)>,
    /// The last epoch of the crew for which the path was looked through.
    seen: u64,
    /// The place in the path of a couple that somebody else has solved: the search returns to it.
    pub back_to: usize,
    /// Expansions after which the search returns, as far as it was called.
    pub allowance: u64,
    /// Bytes that the caller keeps beside the workspace.
    pub own_bytes: u64,
}

impl<'w, 's, 'a, G: Impartial> Worker<'w, 's, 'a, G> {
    pub fn new(
        workspace: &'w Workspace<'w, G>,
        shared: &'s Shared<'a>,
        crew: Option<&'s Crew>,
        options: SearchOptions,
    ) -> Self {
        let control = Control::new(shared);
        let mut evaluator = Evaluator::new(workspace, &workspace.table, control, options);
        evaluator.slots = crew.is_some();
        Worker {
            evaluator,
            crew,
            path: Vec::new(),
            seen: 0,
            back_to: usize::MAX,
            allowance: u64::MAX,
            own_bytes: 0,
        }
    }

    /// Searches a sum until it is solved or the search has to stop.
    pub fn solve(&mut self, atoms: &[Atom], nimber: u32) -> Pair {
        let shared = self.evaluator.control.shared;
        let mut pair = Pair { phi: 1, delta: 1 };
        while pair.value().is_none() && !shared.halted() {
            if let Some(found) = self.sum(atoms, nimber, Thresholds::ROOT, true) {
                pair = found.pair;
                shared.set_root(pair.phi, pair.delta);
            }
        }
        pair
    }

    /// Searches a sum until it is solved or its numbers leave the thresholds. `None` if the search
    /// has to stop.
    pub fn sum(
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
                _ => {}
            }
            if is_root {
                self.evaluator.control.shared.set_root(pair.phi, pair.delta);
            }
            if !thresholds.hold(pair.phi, pair.delta) || self.called_back() {
                return Some(Found { pair, work });
            }
            let slot = self.crew.map(|_| slot_of(sum_code(&self.evaluator.open, rest)));
            let (atom, heap, part) = self.part();
            let others = pair.phi.saturating_sub(part.least());
            self.enter(slot.as_slice());
            let found = self.couple(atom, heap, thresholds.of_part(others.into()), false);
            self.leave(slot.as_slice());
            work += found?.work;
        }
    }

    /// The current couples of the parts of a sum whose Grundy numbers are needed, all but the last,
    /// and their numbers. The sum is in the evaluator's `open`.
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        let evaluator = &self.evaluator;
        let parts = evaluator.open.split_last().map_or(&[][..], |(_, first)| first);
        parts.iter().map(|&atom| {
            let heap = evaluator.current(atom);
            (atom, heap, evaluator.couple(atom, heap).0)
        })
    }

    /// The number of a part, virtual numbers added.
    pub fn number(&self, &(atom, heap, pair): &Part) -> Number {
        let threads = self.crew.map_or(0, |crew| crew.count(slot_of(code_of(atom, heap))));
        pair.least().saturating_add(threads * self.evaluator.options.virtual_number)
    }

    /// The part of a sum that is searched next. The sum is in the evaluator's `open`.
    fn part(&self) -> Part {
        let mut parts = self.parts();
        let part = match (self.evaluator.options.parts, self.crew) {
            (PartOrder::First, None) => parts.next(),
            _ => parts.min_by_key(|part| self.number(part)),
        };
        part.expect("a sum has two open parts at least")
    }

    /// Searches a couple until it is solved or its numbers leave the thresholds. The numbers are in
    /// the table then. `None` if the search has to stop.
    pub fn couple(
        &mut self,
        atom: Atom,
        nimber: u32,
        thresholds: Thresholds,
        is_root: bool,
    ) -> Option<Found> {
        if let Some(value) = self.evaluator.value(atom, nimber) {
            return Some(Found { pair: Pair::of(value), work: 0 });
        }
        let Some(crew) = self.crew else {
            return self.children_of(atom, nimber, thresholds, is_root);
        };
        let slot = slot_of(code_of(atom, nimber));
        crew.enter(slot);
        self.path.push((atom, nimber));
        let found = self.children_of(atom, nimber, thresholds, is_root);
        self.path.pop();
        if self.back_to >= self.path.len() {
            self.back_to = usize::MAX;
        }
        crew.leave(slot);
        if crew.count(slot) > 0 && found.is_some_and(|found| found.pair.value().is_some()) {
            crew.call();
        }
        found
    }

    fn children_of(
        &mut self,
        atom: Atom,
        nimber: u32,
        thresholds: Thresholds,
        is_root: bool,
    ) -> Option<Found> {
        let evaluator = &mut self.evaluator;
        let workspace = evaluator.workspace;
        let used = evaluator.control.table_used();
        if workspace.table_wants_growth(used) {
            match self.crew {
                None => workspace.table.grow(key_of),
                Some(crew) => crew.grow(&workspace.table, used),
            }
        }
        self.allowance = self.allowance.saturating_sub(1);
        if evaluator.control.tick(|| workspace.balance(self.own_bytes)) {
            return None;
        }
        let code = code_of(atom, nimber);
        let known = workspace.table.lookup(key_of(code), code);
        let before = known.map_or(0, |entry| entry.work);
        let mut work = 1;
        let base = evaluator.children.len();
        let list = match evaluator.listing(atom, nimber)? {
            Listing::All(list) => list,
            Listing::Won => {
                evaluator.solved(atom, nimber, Value::Win, work);
                return Some(Found { pair: Pair::WIN, work });
            }
        };
        if let Evaluation::Solved(value) = evaluator.expand(atom, nimber, &list, known.is_none()) {
            evaluator.solved(atom, nimber, value, work);
            return Some(Found { pair: Pair::of(value), work });
        }

        let SearchOptions { combination, epsilon_1024, virtual_number, .. } = evaluator.options;
        let mut pair;
        loop {
            if let Some(crew) = self.crew
                && let Some(value) = self.refresh(crew, base, &list, atom)
            {
                pair = Pair::of(value);
                break;
            }
            let scan = scan(&self.evaluator.children[base..], virtual_number);
            pair = Pair { phi: scan.phi, delta: combination.combine(scan.max, scan.sum) };
            if is_root {
                self.evaluator.control.shared.set_root(pair.phi, pair.delta);
            }
            if !thresholds.hold(pair.phi, pair.delta) || self.called_back() {
                break;
            }
            let best = base + scan.best;
            let child = self.evaluator.children[best];
            let others = Others {
                least_delta: scan.second,
                max_phi: scan.max_other,
                sum_phi: scan.sum - u64::from(child.phi),
            };
            let mut below = thresholds.of_child(others, combination, epsilon_1024);
            if self.crew.is_some() {
                // Others may be at work below the child of least delta, so that this is another one;
                // and others may come to it.
                let own = child.threads.saturating_mul(virtual_number);
                below.delta = below.delta.saturating_sub(own).max(child.delta + 1);
                below.or_delta = below.or_delta.max(child.delta + 1);
            }
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

    /// Looks again at the children from `base` below which others search or have searched. A value
    /// of the parent is returned if that solves it.
    fn refresh(&mut self, crew: &Crew, base: usize, list: &[u32], atom: Atom) -> Option<Value> {
        let evaluator = &mut self.evaluator;
        let mut index = base;
        while index < evaluator.children.len() {
            let child = evaluator.children[index];
            let threads = crew.count(child.slot);
            if threads == 0 && child.threads == 0 {
                index += 1;
                continue;
            }
            let rest = match child.start {
                OWN => evaluator.reduce(&[atom], child.nimber),
                start => evaluator.reduce(option_at(list, start), child.nimber),
            };
            let (Pair { phi, delta }, _) = evaluator.reduced(rest);
            if delta == 0 {
                return Some(Value::Win);
            }
            if phi == 0 {
                evaluator.children.remove(index);
                continue;
            }
            let child = &mut evaluator.children[index];
            (child.phi, child.delta, child.threads) = (phi, delta, threads);
            index += 1;
        }
        (evaluator.children.len() == base).then_some(Value::Loss)
    }

    /// Whether the search has to return: somebody else has solved a couple of the path, or it has
    /// made the expansions that it was allowed.
    fn called_back(&mut self) -> bool {
        if self.allowance == 0 {
            return true;
        }
        let Some(crew) = self.crew else {
            return false;
        };
        let epoch = crew.epoch();
        if epoch != self.seen {
            self.seen = epoch;
            let solved =
                |&(atom, nimber): &(Atom, u32)| self.evaluator.value(atom, nimber).is_some();
            self.back_to = self.path.iter().position(solved).unwrap_or(usize::MAX);
        }
        self.back_to < self.path.len()
    }

    /// Counts the thread in at slots.
    pub fn enter(&self, slots: &[Slot]) {
        if let Some(crew) = self.crew {
            slots.iter().for_each(|&slot| crew.enter(slot));
        }
    }

    /// Counts it out.
    pub fn leave(&self, slots: &[Slot]) {
        if let Some(crew) = self.crew {
            slots.iter().for_each(|&slot| crew.leave(slot));
        }
    }

    fn store(&mut self, code: u64, pair: Pair, work: u64) {
        let counters = &mut self.evaluator.control.counters;
        self.evaluator.numbers.set(code, pair, work, counters);
    }
}
