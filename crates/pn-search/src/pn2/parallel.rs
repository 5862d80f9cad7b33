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
use crate::arena::{ArenaMemory, UNIT};
use crate::cluster::message::{Job, JobOutcome, WorkerState};
use crate::cluster::pool::Pool;
use crate::cluster::{CoordinatorConfig, PlainTree};
use crate::parallel::run_workers;
use crate::plain::Root;
use crate::plain::evaluate::Evaluator;
use crate::plain::game::{Child, Game};
use crate::plain::oracle::OracleAnswer;
use crate::pns::PnsOptions;
use crate::run::{Counters, CutoffRequest, Limits, Observer, Report, SearchMonitor, SharedState};
use crate::snapshot::{SavedTree, TreeSnapshots};

/// Minimum memory for the second-level trees of a worker, in bytes: some 3000 nodes.
const MIN_SECOND_LEVEL_BYTES: usize = 64 << 10;

/// Stack of a worker, in bytes.
const STACK_BYTES: usize = 2 << 20;

/// Searches a position by PN² with several workers, one per thread. The calling thread is one of
/// them.
///
/// The search begins with the first-level tree `tree`: an empty one, or that of a search that was stopped.
/// `tree` also has the second-level memory of each worker ([`Pn2Options::tree_capacity`]). With one worker this
/// is [`super::pn2`]. If the system starts fewer threads, there are fewer workers. The counters are sums over
/// all workers. The node limit is overrun by some hundred expansions of each worker. The number of nodes
/// depends on how the threads are scheduled; the value does not.
///
/// The first level's tree is stored in `snapshots` for checkpoints ([`crate::snapshot`]); without
/// checkpoints, pass [`TreeSnapshots::new`].
///
/// # Panics
/// If the game or the observer does. The other threads are stopped first.
pub fn pn2_parallel<G: Game>(
    root: Root<'_, G>,
    tree: SavedTree,
    options: Pn2Options,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    snapshots: &TreeSnapshots,
) -> Report {
    // If the oracle has the root's value, it usually has the values of the root's children too. Then one
    // expansion solves the root, and further threads would be useless.
    if tree.worker_memories.is_empty() || root.game.oracle_value(root.code) != OracleAnswer::Unknown
    {
        pn2(root, tree, options, limits, observer, snapshots)
    } else {
        search_with(root, tree, options, limits, observer, snapshots)
    }
}

/// Number of workers of a search with `threads` threads: at most one per core, and not more than the memory for the
/// second level suffices for.
pub(super) fn workers(tree_bytes: usize, threads: NonZeroUsize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    threads.get().min(cores).min(tree_bytes / 2 / MIN_SECOND_LEVEL_BYTES)
}

/// Searches with one worker for each second-level memory of `tree`.
fn search_with<G: Game>(
    root: Root<'_, G>,
    mut tree: SavedTree,
    options: Pn2Options,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    snapshots: &TreeSnapshots,
) -> Report {
    let Root { game, table, .. } = root;
    let memories = std::mem::take(&mut tree.worker_memories);
    let workers = memories.len();
    let config = CoordinatorConfig {
        open_entries: options.pns.store_open,
        refresh_age: options.pns.refresh_age,
        virtual_loss_64: options.virtual_loss_64,
        pn2: Some(options),
        ..CoordinatorConfig::LOCAL
    };
    let table_used = table.estimated_count();
    let begin = Counters { nodes: 1, first_level: 1, table_used, ..Counters::default() };
    let state = SharedState::new(workers, limits, begin);
    let tree = PlainTree::new(root, tree, options.pns.combination, config, snapshots);
    let pool = Pool::new(tree, config);
    let memories = Mutex::new(memories);
    let used = run_workers(&state, STACK_BYTES, observer, |slot, observer| {
        // Shortens the lifetime of the trait object.
        let observer = observer.map(|observer| observer as &mut dyn Observer);
        let mut monitor = SearchMonitor::of_worker(slot, observer);
        monitor.tree = Some(&pool);
        let memory = memories.lock().expect("no thread panics while it holds the lock").pop();
        let memory = memory.expect("there is a memory for each worker");
        let evaluator = Evaluator::new(game, table, monitor, options.pns.evaluation());
        work(&pool, evaluator, options.pns, memory)
    });
    let coordinator = pool.into_coordinator();
    let reason = coordinator.reason();
    let mut report = coordinator.tree.report(reason, state.counters(), used.len() as u32);
    report.memory_bytes += used.into_iter().sum::<usize>() as u64;
    report
}

/// Searches jobs until the search is over. Returns the maximum number of bytes used by second-level trees.
fn work<G: Game>(
    pool: &Pool<PlainTree<'_, G>>,
    mut evaluator: Evaluator<'_, G>,
    options: PnsOptions,
    mut memory: ArenaMemory,
) -> usize {
    let mut second = SecondLevel::new(options);
    let mut children: Vec<Child> = Vec::new();
    let mut state = WorkerState::Idle;
    while let Some(Job { id, node, budget, .. }) = pool.next(&mut evaluator.monitor, state) {
        let before = evaluator.monitor.counters;
        let mut is_cancelled = false;
        second.search(&mut memory, 1, 0, &mut evaluator, node, budget, |evaluator| {
            evaluator.grow_if_full();
            let monitor = &evaluator.monitor;
            is_cancelled =
                monitor.state().mailboxes.take(monitor.number()) == Some(CutoffRequest::Cancel);
            is_cancelled
        });
        let outcome = if let Some(value) = second.tree.value {
            JobOutcome::Solved(value, second.tree.best)
        } else if is_cancelled || evaluator.monitor.stopped.is_some() {
            JobOutcome::Stopped
        } else {
            second.copy_children(&memory, &mut children);
            JobOutcome::Open(children.clone())
        };
        let spent = evaluator.monitor.counters.since(&before);
        state = WorkerState::Done { job: id, outcome, spent };
    }
    evaluator.monitor.finish();
    second.top as usize * UNIT
}

#[cfg(test)]
mod tests;
