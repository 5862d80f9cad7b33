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

mod entries;
mod worker;

pub use worker::PlainWorker;

use std::num::NonZeroUsize;

use super::Value;
use super::arena::{Arena, TreeError};
use super::cluster::message::JobOutcome;
use super::cluster::pool::{Pool, search_plain};
use super::cluster::{CoordinatorConfig, PlainTree, RemoteCoordinator, coordinate};
use super::dfpn::{self, DfpnOptions, reserve_first_entries};
use super::numbers::{Combination, Pair};
use super::plain::Root;
use super::plain::evaluate::Evaluator;
use super::plain::game::{Child, Game};
use super::plain::oracle::OracleAnswer;
use super::run::{Limits, Observer, Reason, Report};
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
    // If the table has a loss, or the oracle any value, df-pn needs at most one expansion.
    let known = table.lookup(game.key(code), code).and_then(|entry| entry.value());
    if known == Some(Value::Loss) || game.oracle_value(code) != OracleAnswer::Unknown {
        return Ok(dfpn::dfpn(root, dfpn, limits, observer));
    }
    let workers = workers.get();
    if workers > 1 {
        reserve_first_entries(game, table, workers);
    }
    let tree = PlainTree::new(root, Arena::new(tree_bytes)?, dfpn.combination, config);
    let work = |pool: &Pool<_>, evaluator: Evaluator<'_, G>| match workers {
        1 => work::<G, false>(pool, dfpn::Worker::new(evaluator, dfpn.params())),
        _ => work::<G, true>(pool, dfpn::Worker::new(evaluator, dfpn.params())),
    };
    let evaluation = dfpn.evaluation();
    Ok(search_plain(tree, evaluation, workers, STACK_BYTES, limits, observer, work).0)
}

/// Searches jobs until the search is over.
fn work<G: Game, const PARALLEL: bool>(
    pool: &Pool<PlainTree<'_, G>>,
    mut worker: dfpn::Worker<Evaluator<'_, G>, PARALLEL>,
) {
    pool.run_jobs(
        &mut worker,
        |worker| &mut worker.tree.monitor,
        |worker, node, budget| match worker.search_job(node, budget).map(Pair::value) {
            None => JobOutcome::Stopped,
            Some(Some(value)) => JobOutcome::Solved(value, worker.tree.monitor.root.best),
            Some(None) => children(&mut worker.tree, node),
        },
    );
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

/// Coordinates the search with id `search`. The tree has at most `tree_bytes` bytes. `run` transports the
/// messages. When `run` returns, this function returns too; if the search is not over then, it
/// counts as interrupted.
///
/// # Errors
/// If the system does not provide the memory of the tree, or `tree_bytes` is less than 64.
///
/// # Panics
/// If the game, the observer or `run` does.
pub fn coordinate_plain<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    combination: Combination,
    config: CoordinatorConfig,
    search: u64,
    observer: &mut dyn Observer,
    run: impl FnOnce(&mut dyn RemoteCoordinator),
) -> Result<Report, TreeError> {
    let results = entries::all(root.table, config.shared_work);
    let tree = PlainTree::new(root, Arena::new(tree_bytes)?, combination, config);
    Ok(coordinate(tree, config, search, results, observer, run).0)
}

#[cfg(test)]
mod remote_tests;
#[cfg(test)]
mod tests;
