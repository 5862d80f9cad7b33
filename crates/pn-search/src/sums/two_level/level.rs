//! The first level of a two-level search of sums, in the workspace of the workers or in the coordinator's own.
//!
//! Leaves are selected and numbers backed up in [`super::select`]. The coordinator expands inner nodes itself.
//! Workers in other processes send the numbers directly below a leaf with its result.
//!
//! Garbage collection reuses the ids of atoms while jobs are assigned. So the atoms of taken leaves, and of
//! the couples above them, are kept.

use std::sync::Arc;

use ahash::HashSet;

use super::contradiction::{self, Claims};
use super::named::{Couple, GrundyNumber, Hints, LearnError, Named};
use super::select::{Couples, SelectedCouple, TakenCouple};
use crate::Value;
use crate::cluster::message::{JobOutcome, WorkerId};
use crate::cluster::{JobTree, Selection};
use crate::map_bytes;
use crate::numbers::{Number, Pair};
use crate::run::{Counters, Limits, Reason, Report, SearchMonitor, SharedState, WorkerSlot};
use crate::search_tree::SearchTree;
use crate::sums::collect::Collector;
use crate::sums::evaluate::Evaluator;
use crate::sums::game::Atom;
use crate::sums::knowledge::GrundyStore;
use crate::sums::options::SearchOptions;
use crate::sums::threads::{GroupResult, INTERVAL, Worker};
use crate::sums::workspace::{SolverState, Sum, couple_of, key_of};

/// Selections in vain after which the next is in a hurry, and those after which there is none: numbers
/// that are lost as soon as they are stored need not come to an end.
const PATIENCE: u32 = 10;
const MOST_TRIES: u32 = 1000;

/// The most work that somebody can have done for a job.
const MOST_WORK: u64 = 1 << 40;

/// Workers for which the counts of those below a node are laid out.
const WORKERS: usize = 64;

/// The tree of couples.
pub struct SumTree<'a, G: Named> {
    workspace: &'a SolverState<'a, G>,
    root: &'a Sum,
    walker: Worker<'a, G>,
    state: Arc<SharedState<'a>>,
    scratch: G::Scratch,
    couples: Couples,
    /// The workers use the same workspace. Then they collect its garbage and let its table grow.
    shared: bool,
    collector: Collector,
    /// The root's numbers.
    pair: Pair,
    /// Counters of the walker at the last [`JobTree::publish`].
    published: Counters,
    /// Entries that were in the table at first or after the last collection, and those that the walker
    /// had counted by then.
    kept: (u64, u64),
    /// Garbage collections of the workers, if they share the workspace.
    collections: u64,
    has_lost_leaves: bool,
    failure: Option<Reason>,
    /// What has turned out not to be true together.
    claims: Option<Claims>,
}

impl<'a, G: Named> SumTree<'a, G> {
    /// Creates a tree of which nothing is expanded. `shared` means that the workers use the same workspace.
    pub(super) fn new(
        workspace: &'a SolverState<'a, G>,
        root: &'a Sum,
        options: SearchOptions,
        shared: bool,
    ) -> Self {
        let state = SharedState::new(WORKERS, Limits::default(), Counters::default());
        // Without an observer: the coordinator takes what is found from the state.
        let monitor = SearchMonitor::with_interval(WorkerSlot::first(&state), None, INTERVAL);
        let evaluator = Evaluator::new(workspace, &workspace.table, monitor, options, true);
        let mut tree = SumTree {
            workspace,
            root,
            walker: Worker::new(evaluator, options.params()),
            state,
            scratch: G::Scratch::default(),
            couples: Couples::default(),
            shared,
            collector: Collector::default(),
            pair: Pair { phi: 1, delta: 1 },
            published: Counters::default(),
            kept: (workspace.table.estimated_count(), 0),
            collections: 0,
            has_lost_leaves: false,
            failure: None,
            claims: None,
        };
        tree.look_at_root();
        tree
    }

    /// What has turned out not to be true together.
    pub(super) fn take_claims(&mut self) -> Option<Claims> {
        self.claims.take()
    }

    /// What a search has found that ended with a value, or for a reason.
    pub(super) fn report(self, reason: Option<Reason>, counters: Counters) -> Report {
        let answer = reason.map_or(Ok(self.pair), Err);
        let memory_bytes = self.workspace.bytes() + self.own_bytes();
        GroupResult { answer, root: self.pair, counters, threads: 1 }.report(memory_bytes)
    }

    fn look_at_root(&mut self) {
        self.pair = self.walker.sum_pair(self.root);
    }

    fn is_open(&self, code: u64) -> bool {
        SearchTree::value(&self.walker.tree, code).is_none()
    }

    /// Bytes of the set of inner nodes.
    pub(super) fn own_bytes(&self) -> u64 {
        map_bytes::<u64>(self.couples.expanded.capacity())
    }

    fn table_used(&self) -> u64 {
        let (kept, before) = self.kept;
        kept + self.walker.tree.monitor.counters.table_used - before
    }

    /// Records a result about an atom that contradicts what is known.
    fn contradict(&mut self, atom: &str, known: String, reported: String) {
        self.claims.get_or_insert(Claims { atom: atom.to_owned(), known, reported });
        self.failure = Some(Reason::Contradiction);
    }

    /// What is known of an atom by its name, which is somebody's.
    fn known(&mut self, atom: &str) -> String {
        match self.workspace.game.find(atom, &mut self.scratch) {
            Ok(Some(atom)) => contradiction::known(self.workspace.knowledge.get(atom)),
            _ => unreachable!("what is not there contradicts nothing"),
        }
    }

    /// Makes room by forgetting what can be found again, but nothing of the taken leaves and these
    /// couples. Whether the search can go on.
    fn make_room_beside(&mut self, couples: &[u64]) -> bool {
        if self.shared {
            // The search ends, collects the garbage of all workers, and goes on.
            self.failure = self.failure.or(Some(Reason::Memory));
            return false;
        }
        let taken = self.couples.taken.iter().flat_map(|(leaf, path)| path.iter().chain([leaf]));
        let stays: HashSet<u64> = taken.chain(couples).copied().collect();
        let atoms = self.root.atoms().iter().copied();
        let atoms: Vec<Atom> = atoms.chain(stays.iter().map(|&code| couple_of(code).0)).collect();
        let SolverState { table, .. } = self.workspace;
        if !self.collector.collect(self.workspace, &atoms, 1, &|| false) {
            self.failure = self.failure.or(Some(Reason::Memory));
            return false;
        }
        self.forget(&stays);
        let table_used = table.count().0;
        let monitor = &mut self.walker.tree.monitor;
        self.kept = (table_used, monitor.counters.table_used);
        monitor.counters.collections += 1;
        true
    }

    /// Forgets the inner nodes that a collection has removed, except those that `stay`: their codes may
    /// become those of other couples. Lets the walker continue.
    fn forget(&mut self, stay: &HashSet<u64>) {
        let table = &self.workspace.table;
        let is_known = |code| table.lookup(key_of(code), code).is_some();
        self.couples.expanded.retain(|&code| is_known(code) || stay.contains(&code));
        self.state.resume(0);
        self.walker.tree.monitor.stopped = None;
    }

    /// Continues after the workers' garbage collection with this number. Returns false if this has been
    /// done.
    pub(super) fn resume(&mut self, collections: u64) -> bool {
        if std::mem::replace(&mut self.collections, collections) == collections {
            return false;
        }
        self.failure = None;
        self.forget(&HashSet::default());
        true
    }

    /// Brings the numbers of a path up to date.
    fn back_up(&mut self, path: &[u64], work: u64) {
        while self.walker.back_up(path, work).is_none() && self.make_room_beside(path) {}
        self.has_lost_leaves = true;
        self.look_at_root();
    }

    /// Adds a result about an atom, a second time after a garbage collection if memory was full. If that fails,
    /// so does the search. `reported` is the result as text.
    fn with_room<T>(
        &mut self,
        couples: &[u64],
        atom: &str,
        reported: impl FnOnce() -> String,
        mut take: impl FnMut(&mut Self) -> Result<T, LearnError>,
    ) -> Option<T> {
        loop {
            match take(self) {
                Ok(taken) => return Some(taken),
                Err(LearnError::Contradiction) => {
                    let known = self.known(atom);
                    self.contradict(atom, known, reported());
                    return None;
                }
                Err(LearnError::Full) if self.make_room_beside(couples) => {}
                Err(LearnError::Full) => return None,
            }
        }
    }

    /// Adds the virtual loss of a leaf that has been taken.
    fn add_virtual_loss(&self, leaf: &TakenCouple) {
        let virtual_losses = &self.state.virtual_losses;
        for code in leaf.whole_path() {
            virtual_losses.add(key_of(code));
        }
        for &key in &leaf.sums {
            virtual_losses.add(key);
        }
    }
}

impl TakenCouple {
    /// The couples from the root to the leaf.
    fn whole_path(&self) -> Vec<u64> {
        self.path.iter().copied().chain([self.code]).collect()
    }
}

impl<G: Named> JobTree for SumTree<'_, G> {
    type Node = Couple;
    type Leaf = TakenCouple;
    type Children = Vec<Hints>;
    type SharedResult = GrundyNumber;

    fn select(&mut self) -> Selection<TakenCouple> {
        for tries in 0..MOST_TRIES {
            self.look_at_root();
            if self.is_solved() {
                return Selection::Solved;
            }
            if self.failure.is_some() {
                return Selection::AllTaken;
            }
            let in_hurry = tries >= PATIENCE;
            match self.walker.select(&mut self.couples, self.root, in_hurry) {
                None => drop(self.make_room_beside(&[])),
                Some(SelectedCouple::Leaf(leaf)) => {
                    self.add_virtual_loss(&leaf);
                    return Selection::Leaf { code: leaf.code, leaf, last: None };
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
        Couple { atom: self.workspace.game.name(atom), nimber }
    }

    fn is_valid(&mut self, _: &TakenCouple, outcome: &JobOutcome<Vec<Hints>>) -> bool {
        match outcome {
            JobOutcome::Open(children) => children.iter().all(Hints::is_sound),
            JobOutcome::Solved(..) | JobOutcome::Stopped | JobOutcome::Failed(_) => true,
        }
    }

    fn release(&mut self, leaf: &TakenCouple) {
        self.couples.taken.remove(&leaf.code);
        let virtual_losses = &self.state.virtual_losses;
        for code in leaf.whole_path() {
            virtual_losses.remove(key_of(code));
        }
        for &key in &leaf.sums {
            virtual_losses.remove(key);
        }
    }

    fn is_leaf(&self, leaf: &TakenCouple) -> bool {
        !self.is_solved()
            && !self.couples.expanded.contains(&leaf.code)
            && leaf.whole_path().iter().all(|&code| self.is_open(code))
    }

    fn has_lost_leaves(&mut self) -> bool {
        std::mem::take(&mut self.has_lost_leaves)
    }

    fn attach(
        &mut self,
        leaf: &TakenCouple,
        children: &Vec<Hints>,
        work: u64,
        _: WorkerId,
    ) -> Option<u64> {
        // Nobody holds the leaf any more, so its atoms stay for this.
        let path = leaf.whole_path();
        for hints in children {
            let take = |tree: &mut Self| tree.walker.tree.take_over(hints, &mut tree.scratch);
            self.with_room(&path, &hints.atom, || hints.excluded_text(), take);
        }
        let added = self.is_leaf(leaf);
        if added && self.failure.is_none() {
            self.couples.expanded.insert(leaf.code);
            self.walker.tree.own_bytes = self.own_bytes();
        }
        self.back_up(&path, work.min(MOST_WORK));
        Some(added.into())
    }

    fn resolve(&mut self, leaf: &TakenCouple, value: Value, _: Option<u64>, work: u64) {
        let (atom, nimber) = couple_of(leaf.code);
        let SolverState { game, knowledge, .. } = self.workspace;
        let lives = game.features(atom).lives;
        let known = SearchTree::value(&self.walker.tree, leaf.code).filter(|&known| known != value);
        let is_left = value == Value::Loss || knowledge.get(atom).allows(GrundyStore::bit(nimber));
        let contradicted = match known {
            Some(known) => Some(contradiction::couple(nimber, known)),
            None if !is_left => Some(contradiction::known(knowledge.get(atom))),
            // No atom has a number beyond its lives.
            None if value == Value::Loss && nimber > lives => {
                Some(format!("no Grundy number above {lives}"))
            }
            None => None,
        };
        if let Some(known) = contradicted {
            let reported = contradiction::couple(nimber, value);
            let name = game.name(atom);
            return self.contradict(&name, known, reported);
        }
        let work = work.min(MOST_WORK);
        SearchTree::solved(&mut self.walker.tree, leaf.code, value, work.max(1));
        self.back_up(&leaf.path, work);
    }

    fn heap_bytes(result: &GrundyNumber) -> usize {
        result.atom.capacity()
    }

    fn add_results(
        &mut self,
        mut results: Vec<GrundyNumber>,
        _: &mut Counters,
    ) -> Vec<GrundyNumber> {
        results.retain(|result| {
            let reported = || contradiction::number(result.number);
            let learn = |tree: &mut Self| tree.walker.tree.learn(result, &mut tree.scratch);
            self.with_room(&[], &result.atom, reported, learn).unwrap_or(false)
        });
        self.has_lost_leaves |= !results.is_empty();
        results
    }

    fn publish(&mut self, counters: &mut Counters) -> Option<Reason> {
        self.look_at_root();
        let now = self.walker.tree.monitor.counters;
        counters.add_since(&now, &self.published);
        self.published = now;
        if !self.shared {
            counters.table_used = self.table_used();
            if self.workspace.table_wants_growth(counters.table_used) {
                self.workspace.table.grow(1, key_of);
            }
            if self.failure.is_none() && self.workspace.balance(self.own_bytes()).is_full {
                self.make_room_beside(&[]);
            }
        }
        self.failure
    }

    fn take_grundy_numbers(&mut self) -> Vec<(u32, u32)> {
        self.walker.tree.monitor.finish();
        self.state.take_found()
    }

    fn root(&self) -> (Number, Number, Option<u64>) {
        (self.pair.phi, self.pair.delta, None)
    }

    fn nodes(&self) -> u64 {
        1 + self.couples.expanded.len() as u64
    }
}
