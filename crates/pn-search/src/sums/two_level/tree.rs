//! The first level's tree: which couples have been expanded, and which are being searched.
//!
//! A selection takes a millisecond here. So it runs in the worker, without this lock, and the leaf
//! at which it ends is taken if it is free. There is nothing to lead: the workers share what they
//! know, their team counts nodes and looks at the limits, and none of them gets lost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ahash::{HashMap, HashSet};

use super::select::{Leaves, Place};
use crate::map_bytes;

/// A leaf of the tree that a worker searches.
#[derive(Debug)]
pub(super) struct Job {
    /// The leaf, a couple.
    pub code: u64,
    /// The couples from the root to the leaf's parent.
    pub path: Vec<u64>,
    /// Keys of the sums of several parts on that path.
    pub sums: Vec<u64>,
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

/// Which couples have been expanded, and which are taken. Their numbers stand in the workspace's
/// table.
#[derive(Default)]
struct Couples {
    expanded: HashSet<u64>,
    /// By their leaves.
    jobs: HashMap<u64, Arc<Job>>,
    /// Collections that the expanded couples have been through.
    collections: u64,
}

/// The tree, and what is searched in it.
pub(super) struct Tree {
    /// Expansions of a job.
    iterations: u64,
    couples: Mutex<Couples>,
    bytes: AtomicU64,
}

impl Tree {
    /// A tree of which nothing is expanded, with jobs of so many expansions.
    pub fn new(iterations: u64) -> Self {
        Tree { iterations, couples: Mutex::default(), bytes: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Couples> {
        // The sets are whole at any time, so a thread that died holding the lock does no harm.
        self.couples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// The job with the fewest threads.
    pub fn least_crowded(&self) -> Option<Arc<Job>> {
        self.lock().jobs.values().min_by_key(|job| job.threads.load(Relaxed)).cloned()
    }

    /// Ends a job. The couple is an inner node from now on if it is still open.
    pub fn finish(&self, job: &Job, is_open: bool) {
        let mut couples = self.lock();
        if job.over.swap(true, Relaxed) {
            return;
        }
        couples.jobs.remove(&job.code);
        if is_open {
            couples.expanded.insert(job.code);
        }
        self.bytes.store(map_bytes::<u64>(couples.expanded.capacity()), Relaxed);
    }

    /// Forgets what may not be the case any more after so many collections, because ids have been
    /// given out again: all jobs, and inner nodes unless they are `kept`. Does nothing if it has been
    /// done.
    pub fn collected(&self, collections: u64, kept: impl Fn(u64) -> bool) {
        let mut couples = self.lock();
        if couples.collections != collections {
            couples.collections = collections;
            for (_, job) in couples.jobs.drain() {
                job.over.store(true, Relaxed);
            }
            couples.expanded.retain(|&code| kept(code));
        }
    }
}

/// Of all workers.
impl Leaves for &Tree {
    type Leaf = Arc<Job>;

    fn take(&mut self, code: u64, path: &[u64], sums: &[u64]) -> Place<Arc<Job>> {
        let mut couples = self.lock();
        if couples.expanded.contains(&code) {
            return Place::Expanded;
        }
        if couples.jobs.contains_key(&code) {
            return Place::Taken;
        }
        let job = Arc::new(Job {
            code,
            path: path.to_vec(),
            sums: sums.to_vec(),
            left: AtomicU64::new(self.iterations),
            over: AtomicBool::new(false),
            threads: AtomicU64::new(0),
        });
        couples.jobs.insert(code, job.clone());
        Place::Leaf(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs of 10 expansions.
    fn tree() -> Tree {
        Tree::new(10)
    }

    fn take(mut tree: &Tree, code: u64) -> Place<Arc<Job>> {
        tree.take(code, &[70], &[3])
    }

    fn taken(tree: &Tree, code: u64) -> Arc<Job> {
        match take(tree, code) {
            Place::Leaf(job) => job,
            Place::Expanded | Place::Taken => panic!("{code} is a free leaf"),
        }
    }

    #[test]
    fn a_leaf_is_one_job_and_then_an_inner_node() {
        let tree = tree();
        let job = taken(&tree, 12);
        assert_eq!((job.code, &job.path[..], &job.sums[..]), (12, &[70][..], &[3][..]));
        assert!(matches!(take(&tree, 12), Place::Taken));
        let other = taken(&tree, 13);
        tree.finish(&job, true);
        assert!(job.is_over() && !other.is_over());
        assert!(matches!(take(&tree, 12), Place::Expanded));
        assert!(tree.bytes() > 0);
        // Solved ones are no nodes. Nobody asks for them again.
        tree.finish(&other, false);
        tree.finish(&other, true);
        let again = taken(&tree, 13);
        assert!(!again.is_over());
        assert_eq!(tree.lock().jobs.len(), 1);
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
            assert!(matches!(take(&tree, code), Place::Expanded));
            taken(&tree, code + 1);
        }
        taken(&tree, 20);
        tree.collected(1, |_| panic!("that was done"));
    }
}
