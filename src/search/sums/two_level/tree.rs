//! The first level's tree: which couples have been expanded, and which are being searched.
//!
//! Whose leaf is which, the [`Leader`] knows, as in other games. But a selection takes a millisecond
//! here. So it runs in the worker, without the leader's lock, and the leader takes the leaf at which
//! it has ended for the best.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ahash::{HashMap, HashSet};

use super::TwoLevelOptions;
use super::select::{Leaves, Place};
use crate::search::Value;
use crate::search::jobs::messages::{JobId, JobOutcome, Message, Notice, Order, WorkerId};
use crate::search::jobs::{FirstLevel, Leader, Rules, Selection};
use crate::search::numbers::Number;
use crate::search::run::Counters;

/// A leaf of the tree that a worker searches.
#[derive(Debug)]
pub(super) struct Job {
    id: JobId,
    worker: WorkerId,
    /// The leaf, a couple.
    pub code: u64,
    /// The couples from the root to the leaf's parent.
    pub path: Vec<u64>,
    /// Keys of the sums of several parts on that path.
    pub sums: Vec<u64>,
    /// Expansions that it may take.
    budget: u64,
    /// Those that are left.
    left: AtomicU64,
    over: AtomicBool,
    /// Threads that are at it.
    threads: AtomicU64,
}

impl Job {
    /// Whether nobody should begin to search it.
    pub fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }

    /// Expansions that are left, at least one.
    pub fn left(&self) -> u64 {
        self.left.load(Relaxed).max(1)
    }

    /// Takes expansions off; whether none are left.
    pub fn spend(&self, expansions: u64) -> bool {
        let rest = |left: u64| Some(left.saturating_sub(expansions));
        self.left.fetch_update(Relaxed, Relaxed, rest).is_ok_and(|left| left <= expansions)
    }

    /// Counts a thread in.
    pub fn enter(&self) {
        self.threads.fetch_add(1, Relaxed);
    }

    /// Counts it out.
    pub fn leave(&self) {
        self.threads.fetch_sub(1, Relaxed);
    }
}

/// The expanded couples. Their numbers stand in the workspace's table.
#[derive(Default)]
struct Couples {
    expanded: HashSet<u64>,
    /// The leaf at which the worker has arrived who asks for a job.
    wanted: Option<u64>,
}

impl FirstLevel for Couples {
    type Node = u64;
    type Leaf = u64;
    type Children = ();
    type Fact = Infallible;

    fn select(&mut self) -> Selection<u64> {
        self.wanted.take().map_or(Selection::AllTaken, Selection::Leaf)
    }

    fn node(&leaf: &u64) -> u64 {
        leaf
    }

    fn nodes_of((): &()) -> impl Iterator<Item = u64> {
        std::iter::empty()
    }

    fn release(&mut self, _: &u64) {}

    fn stands(&self, leaf: &u64) -> bool {
        !self.expanded.contains(leaf)
    }

    fn has_lost_leaves(&mut self) -> bool {
        false
    }

    fn update(&mut self, _: &u64, _: Number, _: Number) {}

    fn attach(&mut self, &leaf: &u64, (): &(), _: u64) -> Option<u64> {
        Some(self.expanded.insert(leaf).into())
    }

    fn resolve(&mut self, _: &u64, _: Value, _: Option<u64>, _: u64) {}

    fn learn(&mut self, fact: &Infallible, _: &mut Counters) -> bool {
        match *fact {}
    }

    fn publish(&mut self, _: &mut Counters) {}

    fn root(&self) -> (Number, Number, Option<u64>) {
        (1, 1, None)
    }

    fn is_solved(&self) -> bool {
        false
    }

    fn nodes(&self) -> u64 {
        1 + self.expanded.len() as u64
    }
}

struct Inner {
    leader: Leader<Couples>,
    jobs: HashMap<u64, Arc<Job>>,
    /// Collections that the expanded couples have been through.
    collections: u64,
}

impl Inner {
    /// Tells the leader something. A worker that asks for a job gets it, if it wants one.
    fn say(&mut self, worker: WorkerId, notice: Notice<u64, ()>) -> Order<u64> {
        let message = Message { worker, serial: 0, facts: Vec::new(), read: 0, notice };
        // Without leases, time means nothing.
        self.leader.hear(message, Duration::ZERO).order
    }

    fn done(&mut self, job: &Job, is_open: bool) {
        let outcome = if is_open { JobOutcome::Open(()) } else { JobOutcome::Stopped };
        let expansions = job.budget - job.left.load(Relaxed);
        let spent = Counters { expansions, ..Counters::default() };
        self.say(job.worker, Notice::Done { job: job.id, outcome, spent });
    }
}

/// The tree, and who searches what.
pub(super) struct Tree {
    inner: Mutex<Inner>,
    bytes: AtomicU64,
}

/// A worker that looks for a job.
pub(super) struct Seeker<'t> {
    pub tree: &'t Tree,
    pub worker: WorkerId,
}

impl Leaves for Seeker<'_> {
    type Leaf = Arc<Job>;

    fn take(&mut self, code: u64, path: &[u64], sums: &[u64]) -> Place<Arc<Job>> {
        self.tree.take(self.worker, code, path, sums)
    }
}

/// Bytes of a place in the set of expanded couples, of which an eighth stays free.
const PLACE_BYTES: usize = (size_of::<u64>() + 1) * 8 / 7;

impl Tree {
    pub fn new(options: TwoLevelOptions) -> Self {
        let TwoLevelOptions { iterations, updates, .. } = options;
        let rules = Rules::shared(None, Box::new(move |_| iterations), 1, updates);
        let leader = Leader::new(Couples::default(), rules, 0);
        let inner = Inner { leader, jobs: HashMap::default(), collections: 0 };
        Tree { inner: Mutex::new(inner), bytes: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The sets are whole at any time, so a thread that died holding the lock does no harm.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Looks a couple up, and takes it if it is a free leaf: for a job of this worker at the end of
    /// this path.
    pub fn take(&self, worker: WorkerId, code: u64, path: &[u64], sums: &[u64]) -> Place<Arc<Job>> {
        let mut inner = self.lock();
        if inner.leader.level.expanded.contains(&code) {
            return Place::Expanded;
        }
        if inner.jobs.contains_key(&code) {
            return Place::Taken;
        }
        inner.leader.level.wanted = Some(code);
        let Order::Search(search) = inner.say(worker, Notice::Hello) else {
            unreachable!("a worker without a job gets what it wants")
        };
        debug_assert_eq!(search.node, code);
        let job = Arc::new(Job {
            id: search.job,
            worker,
            code,
            path: path.to_vec(),
            sums: sums.to_vec(),
            budget: search.budget,
            left: AtomicU64::new(search.budget),
            over: AtomicBool::new(false),
            threads: AtomicU64::new(0),
        });
        inner.jobs.insert(code, job.clone());
        Place::Leaf(job)
    }

    /// The job with the fewest threads.
    pub fn least_crowded(&self) -> Option<Arc<Job>> {
        self.lock().jobs.values().min_by_key(|job| job.threads.load(Relaxed)).cloned()
    }

    /// Ends a job. The couple is an inner node from now on if it is still open.
    pub fn finish(&self, job: &Job, is_open: bool) {
        let mut inner = self.lock();
        if job.over.swap(true, Relaxed) {
            return;
        }
        inner.jobs.remove(&job.code);
        inner.done(job, is_open);
        let places = inner.leader.level.expanded.capacity();
        self.bytes.store((places * PLACE_BYTES) as u64, Relaxed);
    }

    /// Forgets what may not be the case any more after so many collections, because ids have been
    /// given out again: all jobs, and inner nodes unless they are `kept`. Does nothing if it has been
    /// done.
    pub fn collected(&self, collections: u64, kept: impl Fn(u64) -> bool) {
        let mut inner = self.lock();
        if inner.collections != collections {
            inner.collections = collections;
            for (_, job) in std::mem::take(&mut inner.jobs) {
                job.over.store(true, Relaxed);
                inner.done(&job, false);
            }
            inner.leader.level.expanded.retain(|&code| kept(code));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs of 10 expansions.
    fn tree() -> Tree {
        Tree::new(TwoLevelOptions { iterations: 10, ..TwoLevelOptions::default() })
    }

    /// A job of a worker of the leaf's own.
    fn taken(tree: &Tree, code: u64) -> Arc<Job> {
        match tree.take(code, code, &[70], &[3]) {
            Place::Leaf(job) => job,
            Place::Expanded | Place::Taken => panic!("{code} is a free leaf"),
        }
    }

    #[test]
    fn a_leaf_is_one_job_and_then_an_inner_node() {
        let tree = tree();
        let job = taken(&tree, 12);
        assert_eq!((job.code, &job.path[..], &job.sums[..]), (12, &[70][..], &[3][..]));
        assert!(matches!(tree.take(50, 12, &[], &[]), Place::Taken));
        let other = taken(&tree, 13);
        tree.finish(&job, true);
        assert!(job.is_over() && !other.is_over());
        assert!(matches!(tree.take(50, 12, &[], &[]), Place::Expanded));
        assert!(tree.bytes() > 0);
        // Solved ones are no nodes. Nobody asks for them again.
        tree.finish(&other, false);
        tree.finish(&other, true);
        let again = taken(&tree, 13);
        assert!(!again.is_over());
        let names = [&job, &other, &again].map(|job| job.id);
        assert!(names.is_sorted_by(|a, b| a < b), "no name twice: {names:?}");
        assert_eq!(tree.lock().leader.jobs(), 1);
    }

    #[test]
    fn jobs_without_an_end_do_not_keep_others_from_theirs() {
        let tree =
            Tree::new(TwoLevelOptions { iterations: u64::MAX, ..TwoLevelOptions::default() });
        (0..1000).for_each(|code| drop(taken(&tree, code)));
        assert_eq!(tree.lock().leader.jobs(), 1000);
    }

    #[test]
    fn expansions_are_taken_off() {
        let tree = tree();
        let job = taken(&tree, 0);
        assert!(!job.spend(4) && job.left() == 6);
        assert!(!job.spend(5) && job.spend(1) && job.spend(1000));
        assert_eq!(job.left(), 1);
    }

    #[test]
    fn who_has_no_leaf_helps_where_fewest_are() {
        let tree = tree();
        assert!(tree.least_crowded().is_none());
        let (one, two) = (taken(&tree, 10), taken(&tree, 20));
        one.enter();
        assert_eq!(tree.least_crowded().unwrap().code, two.code);
        two.enter();
        two.enter();
        assert_eq!(tree.least_crowded().unwrap().code, one.code);
        one.leave();
        tree.finish(&one, true);
        assert_eq!(tree.least_crowded().unwrap().code, two.code);
    }

    #[test]
    fn a_collection_leaves_what_was_kept() {
        let tree = tree();
        for code in 0..10 {
            tree.finish(&taken(&tree, code), true);
        }
        let job = taken(&tree, 20);
        tree.collected(0, |_| panic!("there was no collection"));
        tree.collected(1, |code| code % 2 == 0);
        assert!(job.is_over());
        for code in [0, 2, 4, 6, 8] {
            assert!(matches!(tree.take(50, code, &[], &[]), Place::Expanded));
            taken(&tree, code + 1);
        }
        taken(&tree, 20);
        tree.collected(1, |_| panic!("that was done"));
    }
}
