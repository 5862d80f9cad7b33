//! The first level of a two-level search of sums: the tree whose leaves are jobs for df-pn. It uses the solver state
//! that the workers share, or a solver state of the coordinator if the workers are in other processes.
//!
//! [`SumTree`] is the tree. Leaves are selected and numbers backed up in [`super::select`]. The coordinator expands
//! inner nodes itself. A worker in another process sends the numbers of the couples directly below a leaf together with
//! the result of its job.
//!
//! After a garbage collection, ids of evicted atoms may be assigned to other atoms while jobs are running. So the atoms
//! of taken leaves, and of the couples above them, are kept.

use ahash::HashSet;

use super::contradiction::{self, Claims};
use super::named::{Couple, ImportError, Named, SharedCouple, couples_in};
use super::select::{Couples, SelectedCouple, TakenCouple};
use crate::Value;
use crate::cluster::message::{JobOutcome, SharedResults, WorkerId};
use crate::cluster::{JobTree, Selection};
use crate::map_bytes;
use crate::numbers::Pair;
use crate::run::{
    Counters, Limits, Reason, Report, RootNumbers, SearchMonitor, SharedState, WorkerSlot,
};
use crate::search_tree::SearchTree;
use crate::sums::collect::Collector;
use crate::sums::evaluate::Evaluator;
use crate::sums::game::Atom;
use crate::sums::group::{GroupResult, POLL_INTERVAL, ThreadWorker};
use crate::sums::knowledge::GrundyStore;
use crate::sums::options::SearchOptions;
use crate::sums::solver_state::{SolverState, Sum, couple_of, key_of};

/// Number of attempts to select a leaf by current numbers only. Later attempts accept numbers that are outdated.
const MAX_STRICT_ATTEMPTS: u32 = 10;
/// Maximum number of attempts to select a leaf. Without this limit, the attempts might not end if the table is so small
/// that numbers are replaced as soon as they are stored.
const MAX_ATTEMPTS: u32 = 1000;

/// Maximum search effort that is counted for a job. Efforts reported by workers in other processes are untrusted.
const MAX_WORK: u64 = 1 << 40;

/// Number of workers for which the table of virtual losses is sized.
const WORKERS: usize = 64;

/// The tree of the first level. Its nodes are couples.
pub struct SumTree<'a, G: Named> {
    state: &'a SolverState<G>,
    root: &'a Sum,
    selector: ThreadWorker<'a, G>,
    scratch: G::Scratch,
    couples: Couples,
    /// True if the workers have solver states of their own. Otherwise they collect the garbage of this one, and let its
    /// table grow.
    is_remote: bool,
    collector: Collector,
    /// Phi and delta of the root.
    pair: Pair,
    /// Counters of the selector at the last [`JobTree::publish`].
    published: Counters,
    /// Number of entries in the table at the start or after the last collection, and the value of the selector's
    /// counter `table_used` at that time.
    kept: (u64, u64),
    /// If the workers share the solver state: number of their garbage collections that [`SumTree::resume`] has handled.
    collections: u64,
    /// True if taken leaves may have left the tree since the last [`JobTree::has_lost_leaves`].
    has_lost_leaves: bool,
    /// Reason why the search cannot continue.
    failure: Option<Reason>,
    /// The first contradiction between results.
    pub(super) claims: Option<Claims>,
}

impl<'a, G: Named> SumTree<'a, G> {
    /// Creates a tree without inner nodes. `is_remote` means that the workers have solver states of their own.
    pub(super) fn new(
        state: &'a SolverState<G>,
        root: &'a Sum,
        options: SearchOptions,
        is_remote: bool,
    ) -> Self {
        let shared = SharedState::new(WORKERS, Limits::default(), Counters::default());
        // There is no observer, because the coordinator takes new Grundy numbers from the state.
        let monitor = SearchMonitor::with_interval(WorkerSlot::first(&shared), None, POLL_INTERVAL);
        let evaluator = Evaluator::new(state, &state.table, monitor, options, true);
        let mut tree = SumTree {
            state,
            root,
            selector: ThreadWorker::new(evaluator, options.params()),
            scratch: G::Scratch::default(),
            couples: Couples::default(),
            is_remote,
            collector: Collector::default(),
            pair: Pair { phi: 1, delta: 1 },
            published: Counters::default(),
            kept: (state.table.estimated_count(), 0),
            collections: 0,
            has_lost_leaves: false,
            failure: None,
            claims: None,
        };
        tree.update_root();
        tree
    }

    fn shared(&self) -> &SharedState<'a> {
        self.selector.tree.monitor.state()
    }

    fn update_root(&mut self) {
        self.pair = self.selector.sum_pair(self.root);
    }

    fn is_open(&self, code: u64) -> bool {
        SearchTree::value(&self.selector.tree, code).is_none()
    }

    /// Returns the bytes of the set of inner nodes.
    pub(super) fn own_bytes(&self) -> u64 {
        map_bytes::<u64>(self.couples.expanded.capacity())
    }

    /// Records a contradiction between results about an atom, and ends the search.
    fn contradict(&mut self, atom: Atom, known: String, reported: String) {
        let atom = self.state.game.atom_text(atom);
        self.claims.get_or_insert(Claims { atom, known, reported });
        self.failure = Some(Reason::Contradiction);
    }

    /// Frees memory by evicting data that can be computed again, but keeps the atoms of taken leaves and of `couples`.
    /// Returns true if the search can continue.
    fn free_memory(&mut self, couples: &[u64]) -> bool {
        if !self.is_remote {
            // This failure stops all workers. Then garbage is collected, and the workers are started again.
            self.failure = self.failure.or(Some(Reason::Memory));
            return false;
        }
        let taken = self.couples.taken.values().flatten();
        let kept: HashSet<u64> = taken.chain(couples).copied().collect();
        let atoms = self.root.atoms().iter().copied();
        let atoms: Vec<Atom> = atoms.chain(kept.iter().map(|&code| couple_of(code).0)).collect();
        let SolverState { table, .. } = self.state;
        if !self.collector.collect(self.state, &atoms, 1, &|| false) {
            self.failure = self.failure.or(Some(Reason::Memory));
            return false;
        }
        self.remove_evicted(&kept);
        let table_used = table.count().0;
        let monitor = &mut self.selector.tree.monitor;
        self.kept = (table_used, monitor.counters.table_used);
        monitor.counters.collections += 1;
        true
    }

    /// Removes the inner nodes whose numbers a collection has evicted, except those in `kept`. Their atoms may be
    /// evicted as well, so their codes may stand for other couples later. Also lets the selector continue.
    fn remove_evicted(&mut self, kept: &HashSet<u64>) {
        let table = &self.state.table;
        let is_stored = |code| table.lookup(key_of(code), code).is_some();
        self.couples.expanded.retain(|&code| is_stored(code) || kept.contains(&code));
        self.shared().resume(0);
        self.selector.tree.monitor.stopped = None;
    }

    /// Continues after a garbage collection by the workers. `collections` is the number of their collections so far.
    /// Returns false if the tree has already continued after the last one.
    pub(super) fn resume(&mut self, collections: u64) -> bool {
        if std::mem::replace(&mut self.collections, collections) == collections {
            return false;
        }
        self.failure = None;
        self.remove_evicted(&HashSet::default());
        true
    }

    /// Updates the numbers of the inner nodes on a path, after `work` expansions below its end.
    fn back_up(&mut self, path: &[u64], work: u64) {
        while self.selector.back_up(path, work).is_none() && self.free_memory(path) {}
        self.has_lost_leaves = true;
        self.update_root();
    }

    /// Imports a result. Returns true if it is new. If the memory is full, collects garbage (but keeps the atoms of
    /// `couples`) and tries again. Ends the search if no memory can be freed, or if the result contradicts an earlier
    /// one.
    fn import(&mut self, couples: &[u64], result: SharedCouple<'_>) -> bool {
        loop {
            match self.selector.tree.import(result, &mut self.scratch) {
                Ok(is_new) => return is_new,
                Err(ImportError::Contradiction(atom)) => {
                    let known = contradiction::known(self.state.knowledge.get(atom));
                    self.contradict(atom, known, result.text());
                    return false;
                }
                Err(ImportError::Full) if self.free_memory(couples) => {}
                Err(ImportError::Full) => return false,
            }
        }
    }
}

impl<G: Named> JobTree for SumTree<'_, G> {
    type Node = Couple;
    type Leaf = TakenCouple;
    /// Results about the couples below a node.
    type Children = Vec<u8>;

    fn select(&mut self) -> Selection<TakenCouple> {
        for attempt in 0..MAX_ATTEMPTS {
            self.update_root();
            if self.is_solved() {
                return Selection::Solved;
            }
            if self.failure.is_some() {
                return Selection::AllTaken;
            }
            let accepts_outdated = attempt >= MAX_STRICT_ATTEMPTS;
            match self.selector.select(&mut self.couples, self.root, accepts_outdated) {
                None => drop(self.free_memory(&[])),
                Some(SelectedCouple::Leaf(leaf)) => {
                    for key in leaf.keys() {
                        self.shared().virtual_losses.add(key);
                    }
                    return Selection::Leaf { code: leaf.code(), leaf, last: None };
                }
                Some(SelectedCouple::AllTaken) if !self.couples.taken.is_empty() => {
                    return Selection::AllTaken;
                }
                Some(SelectedCouple::AllTaken | SelectedCouple::Changed) => {}
            }
        }
        self.failure = self.failure.or(Some(Reason::Memory));
        Selection::AllTaken
    }

    fn node(&self, code: u64) -> Couple {
        let (atom, nimber) = couple_of(code);
        let mut name = Vec::new();
        self.state.game.append_name(atom, &mut name);
        Couple { atom: name, nimber }
    }

    fn is_valid(&mut self, _: &TakenCouple, outcome: &JobOutcome<Vec<u8>>) -> bool {
        match outcome {
            JobOutcome::Open(children) => self.are_results(children),
            JobOutcome::Solved(..) | JobOutcome::Stopped | JobOutcome::Failed(_) => true,
        }
    }

    fn release(&mut self, leaf: &TakenCouple) {
        self.couples.taken.remove(&leaf.code());
        for key in leaf.keys() {
            self.shared().virtual_losses.remove(key);
        }
    }

    fn is_leaf(&self, leaf: &TakenCouple) -> bool {
        !self.is_solved()
            && !self.couples.expanded.contains(&leaf.code())
            && leaf.path.iter().all(|&code| self.is_open(code))
    }

    fn has_lost_leaves(&mut self) -> bool {
        std::mem::take(&mut self.has_lost_leaves)
    }

    fn attach(
        &mut self,
        leaf: &TakenCouple,
        children: &Vec<u8>,
        work: u64,
        _: WorkerId,
    ) -> Option<u64> {
        // The leaf is not among the taken leaves any more, so the atoms of its path are passed to be kept.
        for result in couples_in(children).flatten() {
            self.import(&leaf.path, result);
        }
        let added = self.is_leaf(leaf);
        if added && self.failure.is_none() {
            self.couples.expanded.insert(leaf.code());
            self.selector.tree.own_bytes = self.own_bytes();
        }
        self.back_up(&leaf.path, work.min(MAX_WORK));
        Some(added.into())
    }

    fn resolve(&mut self, leaf: &TakenCouple, value: Value, _: Option<u64>, work: u64) {
        let (atom, nimber) = couple_of(leaf.code());
        let SolverState { game, knowledge, .. } = self.state;
        let lives = game.features(atom).lives;
        let known =
            SearchTree::value(&self.selector.tree, leaf.code()).filter(|&known| known != value);
        let is_possible =
            value == Value::Loss || knowledge.get(atom).allows(GrundyStore::bit(nimber));
        let contradicted = match known {
            Some(known) => Some(contradiction::couple(nimber, known)),
            None if !is_possible => Some(contradiction::known(knowledge.get(atom))),
            // The Grundy number of an atom is at most the number of its lives.
            None if value == Value::Loss && nimber > lives => {
                Some(format!("a Grundy number of at most {lives}"))
            }
            None => None,
        };
        if let Some(known) = contradicted {
            let reported = contradiction::couple(nimber, value);
            return self.contradict(atom, known, reported);
        }
        let work = work.min(MAX_WORK);
        SearchTree::solved(&mut self.selector.tree, leaf.code(), value, work.max(1));
        self.back_up(&leaf.path, work);
    }

    fn are_results(&self, results: &[u8]) -> bool {
        couples_in(results).all(|result| result.is_some())
    }

    fn add_results(&mut self, results: &[u8], _: &mut Counters) -> SharedResults {
        let mut new = SharedResults::default();
        for result in couples_in(results) {
            let result = result.expect("the results have been checked");
            if self.import(&[], result) {
                result.append_to(&mut new.bytes);
                new.count += 1;
            }
        }
        self.has_lost_leaves |= new.count > 0;
        new
    }

    fn publish(&mut self, counters: &mut Counters) -> Option<Reason> {
        self.update_root();
        let now = self.selector.tree.monitor.counters;
        counters.add(&now.since(&self.published));
        self.published = now;
        if self.is_remote {
            counters.table_used = self.table_used();
            if self.state.table_wants_growth(counters.table_used) {
                self.state.table.grow(1, key_of);
            }
            if self.failure.is_none() && self.state.balance(self.own_bytes()).is_full {
                self.free_memory(&[]);
            }
        }
        self.failure
    }

    fn take_grundy_numbers(&mut self) -> Vec<(u32, u32)> {
        self.selector.tree.monitor.finish();
        self.shared().take_found()
    }

    fn root(&self) -> RootNumbers {
        RootNumbers { pair: self.pair, best: None }
    }

    fn nodes(&self) -> u64 {
        1 + self.couples.expanded.len() as u64
    }

    fn table_used(&self) -> u64 {
        let (kept, before) = self.kept;
        kept + self.selector.tree.monitor.counters.table_used - before
    }

    fn report(&self, reason: Option<Reason>, counters: Counters, threads: u32) -> Report {
        let answer = reason.map_or(Ok(self.pair), Err);
        let memory_bytes = self.state.bytes() + self.own_bytes();
        GroupResult { answer, root: self.pair, counters, threads }.report(memory_bytes)
    }
}
