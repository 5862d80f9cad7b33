//! PN² with several threads (thesis, 3.7.1).
//!
//! The first level is one tree ([`PlainTree`]) in a [`Pool`], whose leaves are jobs. Each worker has its own
//! memory for second-level trees, and all share the table.

#![forbid(unsafe_code)]

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::thread;

use super::second::SecondLevel;
use super::{Pn2Options, pn2};
use crate::arena::{Arena, TreeError};
use crate::cluster::message::JobOutcome;
use crate::cluster::pool::{Pool, search_plain};
use crate::cluster::{CoordinatorConfig, PlainTree};
use crate::plain::Root;
use crate::plain::evaluate::Evaluator;
use crate::plain::game::Game;
use crate::plain::oracle::OracleAnswer;
use crate::run::{CutoffRequest, Limits, Observer, Report};

/// Minimum memory for the second-level trees of a worker, in bytes: some 3000 nodes.
const MIN_SECOND_LEVEL_BYTES: usize = 64 << 10;

/// Stack of a worker, in bytes.
const STACK_BYTES: usize = 2 << 20;

/// Searches a position by PN² with several workers, one per thread. The calling thread is one of
/// them.
///
/// There are never more workers than cores ([`std::thread::available_parallelism`]). A worker that waits for a core
/// occupies a good leaf, while other workers search worse leaves. When the waiting worker searches its leaf at last, the
/// leaf may not be a good one any more. If the system starts fewer threads, there are fewer workers. With one worker
/// this is [`super::pn2`].
///
/// The trees have at most `tree_bytes` bytes: half of them are for the first level, and each worker has an equal part of
/// the other half. If that part were less than 64 KiB, there are fewer workers. The counters are sums over all workers.
/// The node limit is overrun by some hundred expansions of each worker. The number of nodes depends on how the threads
/// are scheduled; the value does not.
///
/// # Errors
/// As [`super::pn2`].
///
/// # Panics
/// If the game or the observer does. The other threads are stopped first.
pub fn pn2_parallel<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    options: Pn2Options,
    threads: NonZeroUsize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Result<Report, TreeError> {
    let workers = workers(tree_bytes, threads);
    // If the oracle has the root's value, it usually has the values of the root's children too. Then one
    // expansion solves the root, and further threads would be useless.
    if workers <= 1 || root.game.oracle_value(root.code) != OracleAnswer::Unknown {
        pn2(root, tree_bytes, options, limits, observer)
    } else {
        search_with(root, tree_bytes, options, workers, limits, observer)
    }
}

/// Number of workers of a search with `threads` threads: at most one per core, and not more than the memory for the
/// second level suffices for.
fn workers(tree_bytes: usize, threads: NonZeroUsize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    threads.get().min(cores).min(tree_bytes / 2 / MIN_SECOND_LEVEL_BYTES)
}

/// Searches with `workers` workers.
fn search_with<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    options: Pn2Options,
    workers: usize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Result<Report, TreeError> {
    let second_bytes = tree_bytes / 2 / workers;
    let first = Arena::new(tree_bytes - second_bytes * workers)?;
    let second = |_| Arena::new(second_bytes).map(|arena| SecondLevel::new(arena, options.pns));
    let seconds = (0..workers).map(second).collect::<Result<Vec<_>, _>>()?;
    let config = CoordinatorConfig {
        open_entries: options.pns.store_open,
        refresh_age: options.pns.refresh_age,
        virtual_loss_64: options.virtual_loss_64,
        pn2: Some(options),
        ..CoordinatorConfig::LOCAL
    };
    let tree = PlainTree::new(root, first, options.pns.combination, config);
    let seconds = Mutex::new(seconds);
    let work = |pool: &Pool<_>, evaluator: Evaluator<'_, G>| {
        let second = seconds.lock().expect("no thread panics while it holds the lock").pop();
        work(pool, evaluator, second.expect("there is a second level for each worker"))
    };
    let evaluation = options.pns.evaluation();
    let (mut report, used) =
        search_plain(tree, evaluation, workers, STACK_BYTES, limits, observer, work);
    report.memory_bytes += used.into_iter().sum::<usize>() as u64;
    Ok(report)
}

/// Searches jobs until the search is over. Returns the maximum number of bytes used by second-level trees.
fn work<G: Game>(
    pool: &Pool<PlainTree<'_, G>>,
    mut evaluator: Evaluator<'_, G>,
    mut second: SecondLevel,
) -> usize {
    pool.run_jobs(
        &mut evaluator,
        |evaluator| &mut evaluator.monitor,
        |evaluator, node, budget| {
            let mut is_cancelled = false;
            second.search(&Vec::new, evaluator, node, budget, |evaluator| {
                evaluator.grow_if_full();
                let monitor = &evaluator.monitor;
                is_cancelled =
                    monitor.state().mailboxes.take(monitor.number()) == Some(CutoffRequest::Cancel);
                is_cancelled
            });
            if let Some(value) = second.tree.value {
                JobOutcome::Solved(value, second.tree.numbers.best)
            } else if is_cancelled || evaluator.monitor.stopped.is_some() {
                JobOutcome::Stopped
            } else {
                JobOutcome::Open(second.children())
            }
        },
    );
    evaluator.monitor.finish();
    second.bytes
}

#[cfg(test)]
mod tests;
