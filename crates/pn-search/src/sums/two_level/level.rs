//! The first level of a search whose workers are elsewhere: in a workspace of the leader's own.
//!
//! Selection and the way back up are those of the threads ([`super::select`]). The leader expands inner
//! nodes itself; what the worker knows directly below a leaf comes with the leaf's result.
//!
//! Ids are given out again when the leader's memory has been collected, and leaves are out meanwhile.
//! So the atoms of those leaves, and of the couples above them, stay.

use std::sync::Arc;

use ahash::{HashMap, HashSet};

use super::contradiction::{self, Claims};
use super::named::{Couple, GrundyNumber, Hints, Named, Problem};
use super::select::{Leaves, Place, Selected};
use crate::Value;
use crate::jobs::messages::{JobOutcome, WorkerId};
use crate::jobs::{FirstLevel, Selection};
use crate::map_bytes;
use crate::nand::Nand;
use crate::numbers::{Number, Pair};
use crate::run::{Control, Counters, Limits, Member, Reason, Report, Team};
use crate::sums::collect::Collector;
use crate::sums::evaluate::Evaluator;
use crate::sums::game::Atom;
use crate::sums::knowledge::Knowledge;
use crate::sums::options::SearchOptions;
use crate::sums::threads::{INTERVAL, Searched, Worker};
use crate::sums::workspace::{Sum, Workspace, couple_of, key_of};

/// Selections in vain after which the next is in a hurry, and those after which there is none: numbers
/// that are lost as soon as they are stored need not come to an end.
const PATIENCE: u32 = 10;
const MOST_TRIES: u32 = 1000;

/// The most work that somebody can have done for a job.
const MOST_WORK: u64 = 1 << 40;

/// Workers for which the counts of those below a node are laid out.
const WORKERS: usize = 64;

/// A couple that a worker searches.
#[derive(Debug)]
pub struct SumLeaf {
    couple: Couple,
    code: u64,
    /// The couples from the root to the parent.
    path: Vec<u64>,
    /// Keys of the sums of several parts on that path.
    sums: Vec<u64>,
}

/// Which couples are inner nodes, and which are taken.
#[derive(Default)]
struct Places {
    expanded: HashSet<u64>,
    /// With the couples above them.
    taken: HashMap<u64, Vec<u64>>,
}

impl Leaves for Places {
    type Leaf = (u64, Vec<u64>, Vec<u64>);

    fn take(&mut self, code: u64, path: &[u64], sums: &[u64]) -> Place<Self::Leaf> {
        if self.expanded.contains(&code) {
            return Place::Expanded;
        }
        if self.taken.contains_key(&code) {
            return Place::Taken;
        }
        self.taken.insert(code, path.to_vec());
        Place::Leaf((code, path.to_vec(), sums.to_vec()))
    }
}

/// The tree of couples.
pub struct SumTree<'a, G: Named> {
    workspace: &'a Workspace<'a, G>,
    root: &'a Sum,
    walker: Worker<'a, G, false>,
    team: Arc<Team<'a>>,
    scratch: G::Scratch,
    places: Places,
    collector: Collector,
    /// The root's numbers.
    pair: Pair,
    /// What the leader has been told of the walker's counters.
    told: Counters,
    /// Entries that were in the table at first or after the last collection, and those that the walker
    /// had counted by then.
    kept: (u64, u64),
    has_lost_leaves: bool,
    failure: Option<Reason>,
    /// What has turned out not to be true together.
    claims: Option<Claims>,
}

impl<'a, G: Named> SumTree<'a, G> {
    /// A tree below a root, of which nothing is expanded.
    pub(super) fn new(
        workspace: &'a Workspace<'a, G>,
        root: &'a Sum,
        options: SearchOptions,
    ) -> Self {
        let team = Team::new(WORKERS, Limits::default(), Counters::default());
        // Without an observer: the leader takes what is found from the team.
        let control = Control::of_member(Member::first(&team), None, INTERVAL);
        let evaluator = Evaluator::new(workspace, &workspace.table, control, options, true);
        let mut tree = SumTree {
            workspace,
            root,
            walker: Worker::new(evaluator, options.choosing()),
            team,
            scratch: G::Scratch::default(),
            places: Places::default(),
            collector: Collector::default(),
            pair: Pair { phi: 1, delta: 1 },
            told: Counters::default(),
            kept: (workspace.table.estimated_count(), 0),
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
        Searched { answer, root: self.pair, counters, threads: 1 }.report(memory_bytes)
    }

    fn look_at_root(&mut self) {
        self.pair = self.walker.sum_pair(self.root);
    }

    fn is_open(&self, code: u64) -> bool {
        Nand::value(&self.walker.tree, code).is_none()
    }

    /// Bytes of the set of inner nodes.
    fn own_bytes(&self) -> u64 {
        map_bytes::<u64>(self.places.expanded.capacity())
    }

    fn table_used(&self) -> u64 {
        let (kept, before) = self.kept;
        kept + self.walker.tree.control.counters.table_used - before
    }

    /// Something was told of an atom that cannot be true beside what is known.
    fn contradict(&mut self, atom: &str, known: String, told: String) {
        self.claims.get_or_insert(Claims { atom: atom.to_owned(), known, told });
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
        let taken = self.places.taken.iter().flat_map(|(leaf, path)| path.iter().chain([leaf]));
        let stays: HashSet<u64> = taken.chain(couples).copied().collect();
        let atoms = self.root.atoms().iter().copied();
        let atoms: Vec<Atom> = atoms.chain(stays.iter().map(|&code| couple_of(code).0)).collect();
        let Workspace { table, .. } = self.workspace;
        if !self.collector.collect(self.workspace, &atoms, 1, &|| false) {
            self.failure = self.failure.or(Some(Reason::Memory));
            return false;
        }
        // The code of an inner node that was forgotten may become another couple's.
        let is_known = |code| table.lookup(key_of(code), code).is_some();
        self.places.expanded.retain(|&code| is_known(code) || stays.contains(&code));
        let table_used = table.count().0;
        self.team.resume(table_used);
        let control = &mut self.walker.tree.control;
        control.stopped = None;
        self.kept = (table_used, control.counters.table_used);
        control.counters.collections += 1;
        true
    }

    /// Brings the numbers of a path up to date.
    fn back_up(&mut self, path: &[u64], work: u64) {
        while self.walker.back_up(path, work).is_none() && self.make_room_beside(path) {}
        self.has_lost_leaves = true;
        self.look_at_root();
    }

    /// Takes something over that is `told` of an atom, and again when there is room; if that fails, so
    /// does the search.
    fn with_room<T>(
        &mut self,
        couples: &[u64],
        atom: &str,
        told: impl FnOnce() -> String,
        mut take: impl FnMut(&mut Self) -> Result<T, Problem>,
    ) -> Option<T> {
        loop {
            match take(self) {
                Ok(taken) => return Some(taken),
                Err(Problem::Contradiction) => {
                    let known = self.known(atom);
                    self.contradict(atom, known, told());
                    return None;
                }
                Err(Problem::Full) if self.make_room_beside(couples) => {}
                Err(Problem::Full) => return None,
            }
        }
    }

    fn taken(&self, (code, path, sums): (u64, Vec<u64>, Vec<u64>)) -> SumLeaf {
        let visits = &self.team.visits;
        for &code in path.iter().chain([&code]) {
            visits.enter(key_of(code));
        }
        for &key in &sums {
            visits.enter(key);
        }
        let (atom, nimber) = couple_of(code);
        let couple = Couple { atom: self.workspace.game.name(atom), nimber };
        SumLeaf { couple, code, path, sums }
    }
}

impl SumLeaf {
    /// The couples from the root to the leaf.
    fn whole_path(&self) -> Vec<u64> {
        self.path.iter().copied().chain([self.code]).collect()
    }
}

impl<G: Named> FirstLevel for SumTree<'_, G> {
    type Node = Couple;
    type Leaf = SumLeaf;
    type Children = Vec<Hints>;
    type Fact = GrundyNumber;

    fn select(&mut self) -> Selection<SumLeaf> {
        for tries in 0..MOST_TRIES {
            self.look_at_root();
            if self.is_solved() {
                return Selection::Solved;
            }
            if self.failure.is_some() {
                return Selection::AllTaken;
            }
            let in_hurry = tries >= PATIENCE;
            match self.walker.select(&mut self.places, self.root, in_hurry) {
                None => drop(self.make_room_beside(&[])),
                Some(Selected::Leaf(leaf)) => return Selection::Leaf(self.taken(leaf)),
                Some(Selected::AllTaken) if !self.places.taken.is_empty() => {
                    return Selection::AllTaken;
                }
                Some(Selected::AllTaken | Selected::Changed) => {}
            }
        }
        self.failure = self.failure.or(Some(Reason::Memory));
        Selection::AllTaken
    }

    fn node(leaf: &SumLeaf) -> Couple {
        leaf.couple.clone()
    }

    fn is_sound(&mut self, _: &SumLeaf, outcome: &JobOutcome<Couple, Vec<Hints>>) -> bool {
        match outcome {
            JobOutcome::Open(children) => children.iter().all(Hints::is_sound),
            JobOutcome::Solved(..) | JobOutcome::Stopped | JobOutcome::Failed(_) => true,
        }
    }

    fn release(&mut self, leaf: &SumLeaf) {
        self.places.taken.remove(&leaf.code);
        let visits = &self.team.visits;
        for code in leaf.whole_path() {
            visits.leave(key_of(code));
        }
        for &key in &leaf.sums {
            visits.leave(key);
        }
    }

    fn stands(&self, leaf: &SumLeaf) -> bool {
        !self.is_solved()
            && !self.places.expanded.contains(&leaf.code)
            && leaf.whole_path().iter().all(|&code| self.is_open(code))
    }

    fn has_lost_leaves(&mut self) -> bool {
        std::mem::take(&mut self.has_lost_leaves)
    }

    fn attach(
        &mut self,
        leaf: &SumLeaf,
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
        let added = self.stands(leaf);
        if added && self.failure.is_none() {
            self.places.expanded.insert(leaf.code);
            self.walker.tree.own_bytes = self.own_bytes();
        }
        self.back_up(&path, work.min(MOST_WORK));
        Some(added.into())
    }

    fn resolve(&mut self, leaf: &SumLeaf, value: Value, _: Option<Couple>, work: u64) {
        let (atom, nimber) = couple_of(leaf.code);
        let Workspace { game, knowledge, .. } = self.workspace;
        let lives = game.features(atom).lives;
        let known = Nand::value(&self.walker.tree, leaf.code).filter(|&known| known != value);
        let is_left = value == Value::Loss || knowledge.get(atom).allows(Knowledge::bit(nimber));
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
            let told = contradiction::couple(nimber, value);
            return self.contradict(&leaf.couple.atom, known, told);
        }
        let work = work.min(MOST_WORK);
        Nand::solved(&mut self.walker.tree, leaf.code, value, work.max(1));
        self.back_up(&leaf.path, work);
    }

    fn bytes_beside(fact: &GrundyNumber) -> usize {
        fact.atom.capacity()
    }

    fn learn(&mut self, fact: &GrundyNumber, _: &mut Counters) -> bool {
        let told = || contradiction::number(fact.number);
        let learn = |tree: &mut Self| tree.walker.tree.learn(fact, &mut tree.scratch);
        let is_news = self.with_room(&[], &fact.atom, told, learn).unwrap_or(false);
        self.has_lost_leaves |= is_news;
        is_news
    }

    fn publish(&mut self, counters: &mut Counters) {
        self.look_at_root();
        let now = self.walker.tree.control.counters;
        counters.add_since(&now, &self.told);
        counters.table_used = self.table_used();
        self.told = now;
    }

    fn make_room(&mut self) {
        let Workspace { table, .. } = self.workspace;
        if self.workspace.table_wants_growth(self.table_used()) {
            table.grow(1, key_of);
        }
        if self.failure.is_none() && self.workspace.balance(self.own_bytes()).is_full {
            self.make_room_beside(&[]);
        }
    }

    fn failure(&self) -> Option<Reason> {
        self.failure
    }

    fn take_found(&mut self) -> Vec<(u32, u32)> {
        self.walker.tree.control.finish();
        self.team.take_found()
    }

    fn root(&self) -> (Number, Number, Option<Couple>) {
        (self.pair.phi, self.pair.delta, None)
    }

    fn is_solved(&self) -> bool {
        self.pair.value().is_some()
    }

    fn nodes(&self) -> u64 {
        1 + self.places.expanded.len() as u64
    }
}
