//! Proof-number search with Grundy numbers on two levels (PNS-PDFPN; Čížek, Balko and Schmid,
//! "PNS-PDFPN Algorithm").
//!
//! The first level is a proof-number search whose leaves are jobs: a worker takes the best free leaf and
//! searches it by df-pn for a number of expansions. Then the leaf becomes an inner node. The df-pn searches of the jobs
//! are the second level.
//!
//! The tree of the first level (`level`) selects leaves and backs numbers up (`select`). It stores only two sets: its
//! inner nodes, and the leaves that workers have taken. The phi and delta of its nodes are in the table of the solver
//! state. Workers are threads that share the solver state ([`two_level`]), or processes with solver states of their own
//! (`worker`), which exchange Grundy numbers through the coordinator ([`crate::cluster`]).
//!
//! The result is correct for any order of the threads' work, because outdated numbers only change which leaf is
//! selected. A worker that solves a couple sends cut-off requests to the other workers ([`crate::dfpn`]).

mod contradiction;
mod coordinate;
mod level;
mod named;
mod select;
mod worker;

pub use contradiction::Contradiction;
pub use coordinate::coordinate_sum;
pub use named::Named;
pub use worker::SumWorker;

use super::SearchOptions;
use super::group::{ThreadWorker, WorkerGroup};
use super::solver_state::{SolverState, Sum};
use crate::cluster::message::{Job, JobOutcome, WorkerState};
use crate::cluster::pool::Pool;
use crate::cluster::{CoordinatorConfig, JobTree};
use crate::numbers::Pair;
use crate::run::{Limits, Observer, Report};
use level::SumTree;

/// Default number of expansions of a job.
pub const DEFAULT_JOB_EXPANSIONS: u64 = 10_000;

/// Searches a position on two levels with `threads` threads (0 counts as 1). Each thread is a worker. The budget of a
/// job is `job_expansions` expansions.
///
/// [`super::dfpn()`] describes the reuse of earlier results, the counters, and the behaviour at full memory. The first
/// level's tree takes some 10 to 20 bytes per job, within the solver state's memory.
///
/// # Panics
/// In the same cases as [`super::dfpn()`].
pub fn two_level<G: Named>(
    state: &SolverState<'_, G>,
    root: &Sum,
    options: SearchOptions,
    job_expansions: u64,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let tree = SumTree::new(state, root, options, true);
    let config = CoordinatorConfig { job_nodes: job_expansions, ..CoordinatorConfig::LOCAL };
    let pool = Pool::new(tree, config);
    let group = WorkerGroup { state, options, count: threads };
    let found = group.search(root.atoms(), limits, observer, |worker| run_jobs(&pool, worker));
    let tree = pool.into_coordinator().tree;
    found.report(state.bytes() + tree.own_bytes())
}

/// Runs jobs of the pool until the root is solved or the search has to stop. Returns the root's phi and delta if it is
/// solved.
fn run_jobs<G: Named>(
    pool: &Pool<SumTree<'_, G>>,
    worker: &mut ThreadWorker<'_, G>,
) -> Option<Pair> {
    let mut coordinator = pool.lock();
    if coordinator.tree.resume(worker.tree.monitor.state().counters().collections) {
        coordinator.resume();
    }
    drop(coordinator);
    let mut result = WorkerState::Idle;
    while let Some(Job { id, node, budget, .. }) = pool.next(&mut worker.tree.monitor, result) {
        worker.tree.own_bytes = pool.lock().tree.own_bytes();
        let before = worker.tree.monitor.counters;
        let outcome = match worker.search_job(node, budget).map(Pair::value) {
            None => JobOutcome::Stopped,
            Some(Some(value)) => JobOutcome::Solved(value, None),
            // The list is empty, because the numbers of the children are in the shared table.
            Some(None) => JobOutcome::Open(Vec::new()),
        };
        let spent = worker.tree.monitor.counters.since(&before);
        result = WorkerState::Done { job: id, outcome, spent };
    }
    let coordinator = pool.lock();
    let root = coordinator.tree.root();
    worker.tree.monitor.root = root;
    match coordinator.reason() {
        None => Some(root.pair),
        Some(reason) => {
            worker.tree.monitor.stop(reason);
            None
        }
    }
}

#[cfg(test)]
mod tests;
