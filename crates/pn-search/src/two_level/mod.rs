//! Proof-number search on two levels (PNS-PDFPN; Čížek, Balko and Schmid): a proof-number tree
//! whose leaves are jobs for df-pn. The tree is the first level; the df-pn searches are the second.
//!
//! A worker searches its leaf until the leaf is solved or the job's budget is spent. Then it returns
//! the leaf's children with their numbers, and the children become nodes of the tree. If a leaf is
//! removed because a node above it is solved, its job is cancelled. The tree and its jobs are in
//! [`super::cluster`]. This module contains the workers of plain games: threads that share a table
//! ([`two_level`]), and [`PlainWorker`] in another process, coordinated by [`coordinate_plain`].
//!
//! PN² drops the tree of a second-level search at its end. Here, the results of a job stay in the
//! table.

#![forbid(unsafe_code)]

mod coordinate;
mod entries;
mod worker;

pub use coordinate::coordinate_plain;
pub use worker::PlainWorker;

use std::num::NonZeroUsize;

use super::Value;
use super::arena::{Arena, TreeError};
use super::cluster::message::{Job, JobOutcome, WorkerState};
use super::cluster::pool::Pool;
use super::cluster::{CoordinatorConfig, PlainTree};
use super::dfpn::{self, DfpnOptions, reserve_first_entries};
use super::numbers::Pair;
use super::parallel::run_workers;
use super::plain::Root;
use super::plain::evaluate::Evaluator;
use super::plain::game::{Child, Game};
use super::plain::oracle::OracleAnswer;
use super::run::{Counters, Limits, Observer, Reason, Report, SearchMonitor, SharedState};
use super::search_tree::Expanded;

/// Stack of a worker's thread, in bytes. Df-pn recurses as deep as the longest line.
const STACK_BYTES: usize = 16 << 20;

/// Searches a position on two levels, with one worker per thread. The calling thread is one of
/// these threads. `dfpn` are the parameters of the workers; its combination is also used in the
/// first level.
///
/// The tree of the first level has at most `tree_bytes` bytes, some 22 per node. If they do not suffice, the outcome is
/// `Unknown` for [`Memory`](super::run::Reason::Memory). With several threads, the node limit is exceeded by some
/// hundred expansions of each thread. If the system starts fewer threads, there are fewer workers.
///
/// [`nodes`](super::run::Counters::nodes) counts the root and the positions that the workers have
/// evaluated. [`first_level`](super::run::Counters::first_level) counts those of them that became
/// nodes of the first level's tree, and [`second_level`](super::run::Counters::second_level) all
/// others.
///
/// # Errors
/// If the system does not provide the memory of the tree, or `tree_bytes` is less than 64.
///
/// # Panics
/// If the game or the observer does. The other threads are stopped first.
pub fn two_level<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    dfpn: DfpnOptions,
    workers: NonZeroUsize,
    config: CoordinatorConfig,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Result<Report, TreeError> {
    let Root { game, code, table } = root;
    // If the oracle has the value of the root, df-pn finds it with one expansion.
    if game.oracle_value(code) != OracleAnswer::Unknown {
        return Ok(dfpn::dfpn(root, dfpn, limits, observer));
    }
    let workers = workers.get();
    if workers > 1 {
        reserve_first_entries(game, table, workers);
    }
    let table_used = table.estimated_count();
    let begin = Counters { nodes: 1, first_level: 1, table_used, ..Counters::default() };
    let state = SharedState::new(workers, limits, begin);
    let tree = PlainTree::new(root, Arena::new(tree_bytes)?, dfpn.combination, config);
    let pool = Pool::new(tree, config);
    let threads = run_workers(&state, STACK_BYTES, observer, |slot, observer| {
        // Shortens the lifetime of the trait object.
        let observer = observer.map(|observer| observer as &mut dyn Observer);
        let mut monitor = SearchMonitor::of_worker(slot, observer);
        monitor.tree = Some(&pool);
        let evaluator = Evaluator::new(game, table, monitor, dfpn.evaluation());
        if workers == 1 {
            work::<G, false>(&pool, dfpn::Worker::new(evaluator, dfpn.params()));
        } else {
            work::<G, true>(&pool, dfpn::Worker::new(evaluator, dfpn.params()));
        }
    });
    let coordinator = pool.into_coordinator();
    let reason = coordinator.reason();
    Ok(coordinator.tree.report(reason, state.counters(), threads.len() as u32))
}

/// Searches jobs until the search is over.
fn work<'a, G: Game, const PARALLEL: bool>(
    pool: &Pool<PlainTree<'_, G>>,
    mut worker: dfpn::Worker<Evaluator<'a, G>, PARALLEL>,
) {
    let mut state = WorkerState::Idle;
    while let Some(Job { id, node, budget, .. }) = pool.next(&mut worker.tree.monitor, state) {
        let before = worker.tree.monitor.counters;
        let outcome = match worker.search_job(node, budget).map(Pair::value) {
            None => JobOutcome::Stopped,
            Some(Some(value)) => JobOutcome::Solved(value, worker.tree.monitor.root.best),
            Some(None) => children(&mut worker.tree, node),
        };
        let spent = worker.tree.monitor.counters.since(&before);
        state = WorkerState::Done { job: id, outcome, spent };
    }
    worker.tree.monitor.finish();
}

/// Lists the open children of a position with their numbers from the table.
fn children<G: Game>(evaluator: &mut Evaluator<G>, code: u64) -> JobOutcome<Vec<Child>> {
    evaluator.children.clear();
    match evaluator.expand(code, false) {
        Expanded::Solved(value) => JobOutcome::Solved(value, None),
        Expanded::Won(child) => JobOutcome::Solved(Value::Win, Some(child)),
        Expanded::Open(()) => JobOutcome::Open(evaluator.children.clone()),
        Expanded::Stopped => JobOutcome::Failed(Reason::FileError),
    }
}

#[cfg(test)]
mod remote_tests;
#[cfg(test)]
mod tests;
