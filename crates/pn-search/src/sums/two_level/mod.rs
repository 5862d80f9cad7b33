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
mod level;
mod named;
mod select;
mod worker;

pub use contradiction::Contradiction;
pub use named::Named;
pub use worker::SumWorker;

use super::SearchOptions;
use super::group::{ThreadWorker, WorkerGroup};
use super::solver_state::{SolverState, Sum};
use crate::cluster::message::{JobOutcome, SharedResults};
use crate::cluster::pool::Pool;
use crate::cluster::{CoordinatorConfig, JobTree, RemoteCoordinator, coordinate};
use crate::numbers::Pair;
use crate::run::{Limits, Observer, Report};
use level::SumTree;
use named::{couple_bytes, lost_couple};

/// Number of results from before a search that are sent together.
const EARLIER_RESULTS: usize = 1024;

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
    state: &SolverState<G>,
    root: &Sum,
    options: SearchOptions,
    job_expansions: u64,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let config = CoordinatorConfig { job_nodes: job_expansions, ..CoordinatorConfig::LOCAL };
    let tree = SumTree::new(state, root, options, config.is_remote);
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
    pool.run_jobs(
        worker,
        |worker| &mut worker.tree.monitor,
        |worker, node, budget| {
            worker.tree.own_bytes = pool.lock().tree.own_bytes();
            match worker.search_job(node, budget).map(Pair::value) {
                None => JobOutcome::Stopped,
                Some(Some(value)) => JobOutcome::Solved(value, None),
                // The list is empty, because the numbers of the children are in the shared table.
                Some(None) => JobOutcome::Open(Vec::new()),
            }
        },
    );
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

/// Coordinates the search with id `search`. All workers receive the Grundy numbers of the solver state. `run`
/// transports the messages. When `run` returns, this function returns too; a search that is not over then counts as
/// interrupted.
///
/// If two results contradict each other, the search ends without a value. The reason is
/// [`Contradiction`](crate::run::Reason::Contradiction), and the contradiction is returned with the report. The
/// observer receives all new Grundy numbers.
///
/// # Panics
/// If the game, the observer or `run` does.
pub fn coordinate_sum<G: Named>(
    state: &SolverState<G>,
    root: &Sum,
    options: SearchOptions,
    config: CoordinatorConfig,
    search: u64,
    observer: &mut dyn Observer,
    run: impl FnOnce(&mut dyn RemoteCoordinator),
) -> (Report, Option<Contradiction>) {
    let tree = SumTree::new(state, root, options, config.is_remote);
    let mut known = state.knowledge.iter();
    let results = std::iter::from_fn(|| {
        let numbers: Vec<_> = known.by_ref().take(EARLIER_RESULTS).collect();
        let count = numbers.len();
        let bytes = couple_bytes(state.game(), numbers.into_iter().map(lost_couple));
        (count > 0).then_some(SharedResults { count, bytes })
    });
    let (report, coordinator) = coordinate(tree, config, search, results, observer, run);
    let worker = coordinator.contradicted_by();
    let claims = coordinator.tree.claims;
    (report, worker.map(|worker| Contradiction::new(claims, worker)))
}

#[cfg(test)]
mod tests;
