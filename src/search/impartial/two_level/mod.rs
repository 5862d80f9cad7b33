//! Proof-number search with Grundy numbers on two levels (PNS-PDFPN; Čížek, Balko and Schmid,
//! "PNS-PDFPN Algorithm").
//!
//! The first level is a proof-number search whose leaves are jobs: a worker takes the best leaf that
//! nobody has, and searches it by df-pn for so many expansions. Then the leaf is an inner node.
//! Workers have one thread or several, which search the same leaf together.
//!
//! All of them share the workspace, so that what a worker finds out is known to the others at once,
//! and nothing has to be sent. There is no master either: who needs a leaf walks down the tree
//! himself, evaluating couples from what is known by then, and brings the numbers of the path up to
//! date when he comes back. What is kept of the tree is which couples are inner nodes; their numbers
//! stand in the table with all others.
//!
//! What several threads do at once is right in any order: numbers that are out of date lead to
//! another leaf, and who solves a couple calls the others back ([`super::crew`]).

mod select;
mod tree;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::SearchOptions;
use super::control::{Observer, Report, Shared};
use super::evaluate::Pair;
use super::game::Impartial;
use super::threads::Threads;
use super::thresholds::Thresholds;
use super::worker::Worker;
use super::workspace::{Sum, Workspace, key_of};
use crate::search::control::Limits;
use select::Selected;
use tree::{Job, Tree};

/// The jobs of the two-level search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoLevelOptions {
    /// Expansions of a job.
    pub iterations: u64,
    /// Expansions of a thread after which it brings the numbers above its job up to date.
    pub updates: u64,
    /// Threads of each worker; the last worker may have fewer.
    pub threads_per_worker: u32,
}

impl Default for TwoLevelOptions {
    fn default() -> Self {
        TwoLevelOptions { iterations: 10_000, updates: 1000, threads_per_worker: 1 }
    }
}

/// Searches a position on two levels with `threads` threads in all, at least one.
///
/// For what the workspace had before, the counters and full memory, see [`super::dfpn()`]. The first
/// level's tree takes some 10 to 20 bytes a job, within the workspace's memory.
pub fn two_level<G: Impartial>(
    workspace: &Workspace<'_, G>,
    root: &Sum,
    options: SearchOptions,
    jobs: TwoLevelOptions,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let mut shared = Shared::new(limits, observer, workspace.table.estimated_count());
    let workers = threads.max(1).div_ceil(jobs.threads_per_worker.max(1));
    let level = FirstLevel {
        root,
        jobs,
        tree: Tree::new(),
        seats: (0..workers).map(|_| Mutex::default()).collect(),
    };
    let threads = Threads::new(workspace, options, threads).with_crew();
    let next = AtomicU32::new(0);
    let found = threads.search(root.atoms(), &mut shared, &|worker| {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let collections = worker.evaluator.control.shared.totals().collections;
        let table = &worker.evaluator.workspace.table;
        level.tree.collected(collections, |code| table.lookup(key_of(code), code).is_some());
        level.work(worker, &level.seats[(number % workers) as usize])
    });
    shared.report(found, workspace.bytes() + level.tree.bytes())
}

/// The job of a worker, whose threads look here.
type Seat = Mutex<Option<Arc<Job>>>;

struct FirstLevel<'r> {
    root: &'r Sum,
    jobs: TwoLevelOptions,
    tree: Tree,
    seats: Box<[Seat]>,
}

impl FirstLevel<'_> {
    /// Takes jobs until the root is solved. `None` if the search has to stop.
    fn work<G: Impartial>(&self, worker: &mut Worker<'_, '_, '_, G>, seat: &Seat) -> Option<Pair> {
        let shared = worker.evaluator.control.shared;
        while !shared.halted() {
            let pair = worker.sum_pair(self.root);
            if pair.value().is_some() {
                return Some(pair);
            }
            shared.set_root(pair.phi, pair.delta);
            match self.next_job(worker, seat)? {
                Some(job) => self.search(worker, &job)?,
                None => self.search_root(worker)?,
            }
            worker.own_bytes = self.tree.bytes();
        }
        None
    }

    /// The job of the thread's worker, a new one if it has none; or somebody else's, if all leaves
    /// are taken. Nothing if there is none at the moment.
    fn next_job<G: Impartial>(
        &self,
        worker: &mut Worker<'_, '_, '_, G>,
        seat: &Seat,
    ) -> Option<Option<Arc<Job>>> {
        // Whoever died here left a job or none.
        let mut seat = seat.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = seat.as_ref().filter(|job| !job.is_over()) {
            return Some(Some(job.clone()));
        }
        Some(match worker.select(&self.tree, self.root, self.jobs.iterations)? {
            Selected::Job(job) => {
                worker.evaluator.control.counters.jobs += 1;
                *seat = Some(job.clone());
                Some(job)
            }
            Selected::AllTaken => self.tree.least_crowded(),
            Selected::Changed => None,
        })
    }

    /// Searches from the root for a while. `None` if the search has to stop.
    fn search_root<G: Impartial>(&self, worker: &mut Worker<'_, '_, '_, G>) -> Option<()> {
        worker.allowance = self.jobs.updates.max(1);
        let found = worker.sum(self.root.atoms(), self.root.nimber(), Thresholds::ROOT, true);
        worker.back_to = usize::MAX;
        worker.allowance = u64::MAX;
        found.map(|_| ())
    }

    /// Searches a job until it is over. `None` if the search has to stop.
    fn search<G: Impartial>(&self, worker: &mut Worker<'_, '_, '_, G>, job: &Job) -> Option<()> {
        job.enter();
        worker.enter(&job.slots);
        worker.path.clone_from(&job.path);
        let (atom, nimber) = job.couple;
        let result = loop {
            if job.is_over() {
                break Some(());
            }
            let granted = job.left().min(self.jobs.updates.max(1));
            worker.allowance = granted;
            let found = worker.couple(atom, nimber, Thresholds::ROOT, false);
            worker.back_to = usize::MAX;
            let Some(found) = found else {
                break None;
            };
            let is_spent = job.spend(granted - worker.allowance);
            let Some(is_needed) = worker.back_up(job, found.work) else {
                break None;
            };
            let is_open = found.pair.value().is_none();
            if is_spent || !is_open || !is_needed {
                self.tree.finish(job, is_open);
            }
        };
        worker.allowance = u64::MAX;
        worker.path.clear();
        worker.leave(&job.slots);
        job.leave();
        result
    }
}
