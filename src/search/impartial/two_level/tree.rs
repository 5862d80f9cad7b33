//! The first level's tree: which couples have been expanded, and which are being searched.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ahash::{HashMap, HashSet};

use super::super::crew::Slot;
use super::super::game::Atom;
use super::super::workspace::code_of;

/// A couple, as an atom and a heap.
pub(super) type Couple = (Atom, u32);

/// A leaf of the tree that a worker searches.
#[derive(Debug)]
pub(super) struct Job {
    /// The leaf.
    pub couple: Couple,
    /// The couples from the root to the leaf's parent.
    pub path: Vec<Couple>,
    /// Where threads count themselves on that path.
    pub slots: Vec<Slot>,
    /// Expansions that are left.
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

/// What a selection finds where it comes to a couple.
pub(super) enum Place {
    /// An inner node.
    Expanded,
    /// A leaf, which is the caller's now.
    Job(Arc<Job>),
    /// A leaf that is somebody else's.
    Taken,
}

#[derive(Default)]
struct Inner {
    expanded: HashSet<u64>,
    jobs: HashMap<u64, Arc<Job>>,
    /// Collections that the expanded couples have been through.
    collections: u64,
}

/// The tree. Its numbers are in the workspace's table.
pub(super) struct Tree {
    inner: Mutex<Inner>,
    bytes: AtomicU64,
}

/// Bytes of a place in the set of expanded couples, of which an eighth stays free.
const PLACE_BYTES: usize = (size_of::<u64>() + 1) * 8 / 7;

impl Tree {
    pub fn new() -> Self {
        Tree { inner: Mutex::default(), bytes: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The sets are whole at any time, so a thread that died holding the lock does no harm.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Looks a couple up, and takes it if it is a free leaf: for a job of so many expansions at the
    /// end of this path.
    pub fn take(&self, couple: Couple, expansions: u64, path: &[Couple], slots: &[Slot]) -> Place {
        let code = code_of(couple.0, couple.1);
        let mut inner = self.lock();
        if inner.expanded.contains(&code) {
            return Place::Expanded;
        }
        if inner.jobs.contains_key(&code) {
            return Place::Taken;
        }
        let job = Arc::new(Job {
            couple,
            path: path.to_vec(),
            slots: slots.to_vec(),
            left: AtomicU64::new(expansions),
            over: AtomicBool::new(false),
            threads: AtomicU64::new(0),
        });
        inner.jobs.insert(code, job.clone());
        Place::Job(job)
    }

    /// The job with the fewest threads.
    pub fn least_crowded(&self) -> Option<Arc<Job>> {
        self.lock().jobs.values().min_by_key(|job| job.threads.load(Relaxed)).cloned()
    }

    /// Ends a job. The couple is an inner node from now on if it is still open.
    pub fn finish(&self, job: &Job, is_open: bool) {
        let code = code_of(job.couple.0, job.couple.1);
        let mut inner = self.lock();
        if job.over.swap(true, Relaxed) {
            return;
        }
        inner.jobs.remove(&code);
        if is_open {
            inner.expanded.insert(code);
            self.bytes.store((inner.expanded.capacity() * PLACE_BYTES) as u64, Relaxed);
        }
    }

    /// Forgets what may not be the case any more after so many collections, because ids have been
    /// given out again: all jobs, and inner nodes unless they are `kept`. Does nothing if it has been
    /// done.
    pub fn collected(&self, collections: u64, kept: impl Fn(u64) -> bool) {
        let mut inner = self.lock();
        if inner.collections != collections {
            inner.collections = collections;
            inner.jobs.drain().for_each(|(_, job)| job.over.store(true, Relaxed));
            inner.expanded.retain(|&code| kept(code));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(tree: &Tree, couple: Couple) -> Arc<Job> {
        match tree.take(couple, 10, &[(7, 0)], &[3]) {
            Place::Job(job) => job,
            Place::Expanded | Place::Taken => panic!("{couple:?} is a free leaf"),
        }
    }

    #[test]
    fn a_leaf_is_one_job_and_then_an_inner_node() {
        let tree = Tree::new();
        let job = taken(&tree, (1, 2));
        assert_eq!((job.couple, &job.path[..], &job.slots[..]), ((1, 2), &[(7, 0)][..], &[3][..]));
        assert!(matches!(tree.take((1, 2), 10, &[], &[]), Place::Taken));
        let other = taken(&tree, (1, 3));
        tree.finish(&job, true);
        assert!(job.is_over() && !other.is_over());
        assert!(matches!(tree.take((1, 2), 10, &[], &[]), Place::Expanded));
        assert!(tree.bytes() > 0);
        // Solved ones are no nodes. Nobody asks for them again.
        tree.finish(&other, false);
        tree.finish(&other, true);
        let again = taken(&tree, (1, 3));
        assert!(!again.is_over());
    }

    #[test]
    fn expansions_are_taken_off() {
        let tree = Tree::new();
        let job = taken(&tree, (0, 0));
        assert!(!job.spend(4) && job.left() == 6);
        assert!(!job.spend(5) && job.spend(1) && job.spend(1000));
        assert_eq!(job.left(), 1);
    }

    #[test]
    fn who_has_no_leaf_helps_where_fewest_are() {
        let tree = Tree::new();
        assert!(tree.least_crowded().is_none());
        let (one, two) = (taken(&tree, (1, 0)), taken(&tree, (2, 0)));
        one.enter();
        assert_eq!(tree.least_crowded().unwrap().couple, two.couple);
        two.enter();
        two.enter();
        assert_eq!(tree.least_crowded().unwrap().couple, one.couple);
        one.leave();
        tree.finish(&one, true);
        assert_eq!(tree.least_crowded().unwrap().couple, two.couple);
    }

    #[test]
    fn a_collection_leaves_what_was_kept() {
        let tree = Tree::new();
        for atom in 0..10 {
            tree.finish(&taken(&tree, (atom, 0)), true);
        }
        let job = taken(&tree, (20, 0));
        tree.collected(0, |_| panic!("there was no collection"));
        tree.collected(1, |code| code % 2 == 0);
        assert!(job.is_over());
        for atom in [0, 2, 4, 6, 8] {
            assert!(matches!(tree.take((atom, 0), 1, &[], &[]), Place::Expanded));
            taken(&tree, (atom + 1, 0));
        }
        taken(&tree, (20, 0));
        tree.collected(1, |_| panic!("that was done"));
    }
}
