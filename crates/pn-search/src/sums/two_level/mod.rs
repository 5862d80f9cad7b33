//! Proof-number search with Grundy numbers on two levels (PNS-PDFPN; Čížek, Balko and Schmid,
//! "PNS-PDFPN Algorithm").
//!
//! The first level is a proof-number search whose leaves are jobs: a worker takes the best leaf that
//! nobody has, and searches it by df-pn for so many expansions. Then the leaf is an inner node.
//! Workers have one thread or several, which search the same leaf together.
//!
//! All of them share the workspace, so that what a worker finds out is known to the others at once,
//! and nothing has to be sent. Who needs a leaf walks down the tree himself, evaluating couples from
//! what is known by then, and brings the numbers of the path up to date when he comes back. Kept of
//! the tree is which couples are inner nodes, and which are taken (`tree`); their numbers stand in
//! the table with all others.
//!
//! Workers that are elsewhere share nothing. Then a leader ([`crate::jobs`]) selects, in a
//! workspace of its own (`level`), and the workers (`worker`) tell it, and through it each other,
//! Grundy numbers.
//!
//! What several threads do at once is right in any order: numbers that are out of date lead to
//! another leaf, and who solves a couple calls the others back ([`crate::dfpn`]).

mod contradiction;
mod lead;
mod level;
mod named;
mod select;
mod tree;
mod worker;

pub use contradiction::Contradiction;
pub use lead::lead_sum;
pub use named::Named;
pub use worker::SumWorker;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::SearchOptions;
use super::game::Impartial;
use super::threads::{Task, Threads, Worker};
use super::workspace::{Sum, Workspace, key_of};
use crate::numbers::Pair;
use crate::run::{Limits, Observer, Report};
use crate::thresholds::Thresholds;
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
///
/// # Panics
/// As [`super::dfpn()`].
pub fn two_level<G: Impartial>(
    workspace: &Workspace<'_, G>,
    root: &Sum,
    options: SearchOptions,
    jobs: TwoLevelOptions,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut (dyn Observer + Send),
) -> Report {
    let workers = threads.max(1).div_ceil(jobs.threads_per_worker.max(1));
    let search = TwoLevels {
        root,
        jobs,
        tree: Tree::new(jobs.iterations),
        seats: (0..workers).map(|_| Mutex::default()).collect(),
        next: AtomicU32::new(0),
    };
    let threads = Threads { workspace, options, count: threads, team_of_one: true };
    let found = threads.search(&search, root.atoms(), limits, observer);
    found.report(workspace.bytes() + search.tree.bytes())
}

/// The job of a worker, whose threads look here.
type Seat = Mutex<Option<Arc<Job>>>;

struct TwoLevels<'r> {
    root: &'r Sum,
    jobs: TwoLevelOptions,
    tree: Tree,
    seats: Box<[Seat]>,
    /// Threads that have begun.
    next: AtomicU32,
}

impl<G: Impartial> Task<G> for TwoLevels<'_> {
    type Answer = Pair;

    fn run<'a, const TEAM: bool>(&self, worker: &mut Worker<'a, G, TEAM>) -> Option<Pair> {
        let number = self.next.fetch_add(1, Ordering::Relaxed) as usize;
        let collections = worker.tree.control.team().counters().collections;
        let table = &worker.tree.workspace.table;
        self.tree.collected(collections, |code| table.lookup(key_of(code), code).is_some());
        self.work(worker, number % self.seats.len())
    }
}

impl TwoLevels<'_> {
    /// Takes jobs until the root is solved. `None` if the search has to stop.
    fn work<'a, G: Impartial, const TEAM: bool>(
        &self,
        worker: &mut Worker<'a, G, TEAM>,
        seat: usize,
    ) -> Option<Pair> {
        while !worker.tree.control.team().is_halted() {
            let pair = worker.sum_pair(self.root);
            if pair.value().is_some() {
                return Some(pair);
            }
            worker.tree.control.root = (pair.phi, pair.delta, None);
            match self.next_job(worker, seat)? {
                Some(job) => self.search(worker, &job)?,
                None => self.search_root(worker)?,
            }
            worker.tree.own_bytes = self.tree.bytes();
        }
        None
    }

    /// The job of the thread's worker, a new one if it has none; or somebody else's, if all leaves
    /// are taken. Nothing if there is none at the moment.
    fn next_job<'a, G: Impartial, const TEAM: bool>(
        &self,
        worker: &mut Worker<'a, G, TEAM>,
        number: usize,
    ) -> Option<Option<Arc<Job>>> {
        // Whoever died here left a job or none.
        let mut seat = self.seats[number].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = seat.as_ref().filter(|job| !job.is_over()) {
            return Some(Some(job.clone()));
        }
        Some(match worker.select(&mut &self.tree, self.root, false)? {
            Selected::Leaf(job) => {
                worker.tree.control.counters.jobs += 1;
                *seat = Some(job.clone());
                Some(job)
            }
            Selected::AllTaken => self.tree.least_crowded(),
            Selected::Changed => None,
        })
    }

    /// Searches from the root for a while. `None` if the search has to stop.
    fn search_root<'a, G: Impartial, const TEAM: bool>(
        &self,
        worker: &mut Worker<'a, G, TEAM>,
    ) -> Option<()> {
        worker.allowance = self.jobs.updates.max(1);
        let (node, edge) = worker.tree.root_edge(self.root.atoms(), self.root.nimber());
        let found = worker.follow(&node, &edge, Thresholds::ROOT, 0);
        worker.allowance = u64::MAX;
        found.map(|_| ())
    }

    /// Searches a job until it is over. `None` if the search has to stop.
    fn search<'a, G: Impartial, const TEAM: bool>(
        &self,
        worker: &mut Worker<'a, G, TEAM>,
        job: &Job,
    ) -> Option<()> {
        job.enter();
        worker.enter(&job.path, &job.sums);
        let result = loop {
            if job.is_over() {
                break Some(());
            }
            let granted = job.left().min(self.jobs.updates.max(1));
            worker.allowance = granted;
            let found = worker.search(job.code, Thresholds::ROOT, job.path.len());
            // A call from above ends a search without numbers, and back-up sees what it was about.
            let called = worker.forget_call();
            if found.is_none() && !called {
                break None;
            }
            let is_spent = job.spend(granted - worker.allowance);
            let Some(is_needed) = worker.back_up(&job.path, found.map_or(0, |found| found.work))
            else {
                break None;
            };
            let is_open = found.is_none_or(|found| found.pair.value().is_none());
            if is_spent || !is_open || !is_needed {
                self.tree.finish(job, is_open);
            }
        };
        worker.allowance = u64::MAX;
        worker.leave(&job.sums);
        job.leave();
        result
    }
}

#[cfg(test)]
mod tests;
