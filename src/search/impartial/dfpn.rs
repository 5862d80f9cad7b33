//! Depth-first proof-number search with Grundy numbers (Čížek, Balko and Schmid, "DFPN with Grundy
//! Numbers"), on any number of threads.
//!
//! The search goes down couples and sums. A couple's children stand on a stack while it is
//! searched, its numbers go to the table when the search leaves it; a sum keeps nothing, since its
//! numbers follow from those of the couples of its parts. When a couple is solved, that is noted
//! for good: a lost one is a Grundy number. The thresholds are those of [`super::thresholds`].
//!
//! With several threads, each runs this search, and [`super::crew`] keeps them apart. One thread
//! does exactly what it does without a crew.

use super::collect::Collector;
use super::control::{Control, Counters, Observer, Report, Shared};
use super::crew::{Crew, Slot, slot_of, sum_code};
use super::evaluate::{Evaluation, Evaluator, Listing, Numbers, OWN, Pair};
use super::game::{Atom, Impartial};
use super::options::{PartOrder, SearchOptions};
use super::selection::scan;
use super::store::option_at;
use super::thresholds::{Others, Thresholds};
use super::workspace::{Sum, Workspace, code_of, key_of};
use crate::search::control::{Limits, Reason};
use crate::search::game::Value;
use crate::search::table::Table;

/// Searches a position by df-pn on `threads` threads, at least one.
///
/// What earlier searches left in the workspace is used, so a search that was stopped goes on where
/// it was when it is called again. The outcome does not depend on the number of threads; the
/// counters do, and with several they differ from run to run. Recurses as deep as the longest game,
/// on stacks that are large enough for it.
///
/// When the memory is full, atoms are forgotten and their ids given out again
/// ([`Impartial::retain`]); those of the root and those whose Grundy numbers are known stay.
pub fn dfpn<G: Impartial>(
    workspace: &Workspace<'_, G>,
    root: &Sum,
    options: SearchOptions,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let mut shared = Shared::new(limits, observer, workspace.table.estimated_count());
    let found = to_the_end(workspace, root.atoms(), threads, &mut shared, options, &|worker| {
        let pair = worker.solve(root.atoms(), root.nimber());
        pair.value().map(|_| pair)
    });
    shared.report(found, workspace.bytes())
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

/// Computes the Grundy number of a sum by df-pn on `threads` threads: of each atom, couple by
/// couple.
pub fn grundy<G: Impartial>(
    workspace: &Workspace<'_, G>,
    atoms: &[Atom],
    options: SearchOptions,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> GrundyReport {
    let mut shared = Shared::new(limits, observer, workspace.table.estimated_count());
    let sum = Sum::new(workspace.game, atoms, 0);
    let number = to_the_end(workspace, sum.atoms(), threads, &mut shared, options, &|worker| {
        loop {
            let rest = worker.evaluator.reduce(sum.atoms(), 0);
            let Some(&atom) = worker.evaluator.open.first() else {
                return Some(rest);
            };
            let heap = worker.evaluator.current(atom);
            worker.solve(&[atom], heap).value()?;
        }
    });
    GrundyReport {
        grundy: number.ok_or_else(|| shared.reason()),
        counters: shared.totals(),
        memory_bytes: workspace.bytes(),
    }
}

/// Stack of a thread, for every move that may be made below the root, and beside that.
const STACK_BYTES_A_MOVE: usize = 4096;
const STACK_BYTES: usize = 4 << 20;

/// What workers do: search until they have an answer or the search is stopped.
type Search<'x, 'w, G, T> = dyn Fn(&mut Worker<'w, '_, '_, G>) -> Option<T> + Sync + 'x;

/// Runs workers until one has an answer or the search is stopped, and makes room whenever memory is
/// what stops it.
fn to_the_end<'w, G: Impartial, T: Send>(
    workspace: &'w Workspace<'w, G>,
    atoms: &[Atom],
    threads: u32,
    shared: &mut Shared<'_>,
    options: SearchOptions,
    search: &Search<'_, 'w, G, T>,
) -> Option<T> {
    let mut collector = Collector::default();
    loop {
        let found = on_threads(workspace, atoms, threads, shared, options, search);
        if found.is_some()
            || shared.reason() != Reason::Memory
            || !collector.collect(workspace, atoms, threads)
        {
            return found;
        }
        shared.resume(workspace.table.count().0);
    }
}

/// Runs workers until one has an answer or the search is stopped.
fn on_threads<'w, G: Impartial, T: Send>(
    workspace: &'w Workspace<'w, G>,
    atoms: &[Atom],
    threads: u32,
    shared: &Shared<'_>,
    options: SearchOptions,
    search: &Search<'_, 'w, G, T>,
) -> Option<T> {
    let crew = (threads > 1).then(Crew::new);
    let work = || {
        let mut worker = Worker::new(workspace, shared, crew.as_ref(), options);
        let found = search(&mut worker);
        if found.is_some() {
            shared.finish();
        }
        worker.evaluator.control.finish(workspace.bytes());
        found
    };
    let moves: usize = atoms.iter().map(|&atom| workspace.game.features(atom).lives as usize).sum();
    let stack = STACK_BYTES.saturating_add(moves.saturating_mul(STACK_BYTES_A_MOVE));
    std::thread::scope(|scope| {
        let spawn = |_| {
            let builder = std::thread::Builder::new().stack_size(stack);
            builder.spawn_scoped(scope, work).ok()
        };
        let handles: Vec<_> = (0..threads.max(1)).map_while(spawn).collect();
        // A system that gives no thread at all still has this one.
        let here = if handles.is_empty() { work() } else { None };
        let join = |handle: std::thread::ScopedJoinHandle<'_, Option<T>>| match handle.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        handles.into_iter().map(join).fold(here, Option::or)
    })
}

/// A node's numbers when its search returns, and the expansions that it took.
#[derive(Clone, Copy)]
struct Found {
    pair: Pair,
    work: u64,
}

struct Worker<'w, 's, 'a, G: Impartial> {
    evaluator: Evaluator<'w, 's, 'a, G, &'w Table>,
    crew: Option<&'s Crew>,
    /// With a crew: the couples from the root to here.
    path: Vec<(Atom, u32)>,
    /// The last epoch of the crew for which the path was looked through.
    seen: u64,
    /// The place in the path of a couple that somebody else has solved: the search returns to it.
    back_to: usize,
}

impl<'w, 's, 'a, G: Impartial> Worker<'w, 's, 'a, G> {
    fn new(
        workspace: &'w Workspace<'w, G>,
        shared: &'s Shared<'a>,
        crew: Option<&'s Crew>,
        options: SearchOptions,
    ) -> Self {
        let control = Control::new(shared);
        let mut evaluator = Evaluator::new(workspace, &workspace.table, control, options);
        evaluator.slots = crew.is_some();
        Worker { evaluator, crew, path: Vec::new(), seen: 0, back_to: usize::MAX }
    }

    /// Searches a sum until it is solved or the search has to stop.
    fn solve(&mut self, atoms: &[Atom], nimber: u32) -> Pair {
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
            self.enter(slot);
            let found = self.couple(atom, heap, thresholds.of_part(others.into()), false);
            self.leave(slot);
            work += found?.work;
        }
    }

    /// The current couple of the part of a sum that is searched next, and its numbers. The sum is in
    /// the evaluator's `open`.
    fn part(&self) -> (Atom, u32, Pair) {
        let evaluator = &self.evaluator;
        let parts = evaluator.open.split_last().map_or(&[][..], |(_, first)| first);
        let couple = |&atom: &Atom| {
            let heap = evaluator.current(atom);
            (atom, heap, evaluator.couple(atom, heap).0)
        };
        let number = |&(atom, heap, part): &(Atom, u32, Pair)| {
            let threads = self.crew.map_or(0, |crew| crew.count(slot_of(code_of(atom, heap))));
            part.least().saturating_add(threads * evaluator.options.virtual_number)
        };
        let mut couples = parts.iter().map(couple);
        let part = match (evaluator.options.parts, self.crew) {
            (PartOrder::First, None) => couples.next(),
            _ => couples.min_by_key(number),
        };
        part.expect("a sum has two open parts at least")
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
        if evaluator.control.tick(|| workspace.balance(0)) {
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

    /// Whether somebody else has solved a couple of the path, to which the search returns.
    fn called_back(&mut self) -> bool {
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

    fn enter(&self, slot: Option<Slot>) {
        if let (Some(crew), Some(slot)) = (self.crew, slot) {
            crew.enter(slot);
        }
    }

    fn leave(&self, slot: Option<Slot>) {
        if let (Some(crew), Some(slot)) = (self.crew, slot) {
            crew.leave(slot);
        }
    }

    fn store(&mut self, code: u64, pair: Pair, work: u64) {
        let counters = &mut self.evaluator.control.counters;
        self.evaluator.numbers.set(code, pair, work, counters);
    }
}
