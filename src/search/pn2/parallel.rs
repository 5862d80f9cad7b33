//! PN² with several threads (thesis, 3.7.1).
//!
//! The first level is one tree ([`JobTree`]) whose leaves are jobs. Each worker has its own memory
//! for second-level trees, and all share the table.

#![forbid(unsafe_code)]

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::second::SecondLevel;
use super::{Pn2Options, pn2};
use crate::search::arena::{Memory, UNIT};
use crate::search::jobs::messages::{JobOutcome, Search};
use crate::search::jobs::threads::{Done, Seat, Threads};
use crate::search::jobs::{JobTree, JobTreeOptions, Leader, Rules, without_memory};
use crate::search::plain::Root;
use crate::search::plain::evaluate::Evaluator;
use crate::search::plain::game::{Child, Game};
use crate::search::plain::known::Answer;
use crate::search::run::{Control, Limits, Observer, Reason, Report};
use crate::search::snapshot::TreePort;
use crate::search::table::Table;

/// The least memory that a worker's second-level trees get, in bytes: some 3000 nodes.
const LEAST_SECOND: usize = 64 << 10;

/// Expansions between two reports to the leader: some milliseconds.
const SLICE: u64 = 2048;

/// Stack of a worker.
const STACK_BYTES: usize = 2 << 20;

/// Searches a position by PN² with up to `threads` workers, each on a thread of its own beside the
/// calling one, which only watches over the limits.
///
/// There are never more workers than cores ([`thread::available_parallelism`]): one that waits for
/// a core holds a leaf, which it was given for numbers that are old when it comes to search it, and
/// others search worse leaves meanwhile. With one worker this is [`super::pn2`]. With more, the
/// first level takes half of `tree_bytes`, and each worker has an equal part of the other half for
/// its second-level trees. If that were less than 64 KiB, or if the system starts fewer threads,
/// there are fewer workers. What they count is summed; the node limit is overrun by at most two
/// expansions of each, one at either level. How many nodes are searched depends on how the threads
/// run, the value does not.
///
/// It begins with the tree that `port` brings in and leaves its own there, where somebody keeps
/// checkpoints ([`crate::search::snapshot`]); for others there is [`TreePort::idle`].
///
/// # Panics
/// If the game or the observer does. The other workers are stopped first.
pub fn pn2_parallel<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    options: Pn2Options,
    threads: NonZeroUsize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    port: &TreePort,
) -> Report {
    let workers = workers(tree_bytes, threads);
    if workers > 1
        && let Some(report) =
            search_with(root, tree_bytes, options, workers, limits, observer, port)
    {
        return report;
    }
    pn2(root, tree_bytes, options, limits, observer, port)
}

/// The workers of a search with so many threads.
fn workers(tree_bytes: usize, threads: NonZeroUsize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    threads.get().min(cores).min(tree_bytes / 2 / LEAST_SECOND)
}

/// Bytes for each worker's second-level trees; the first level has what they leave.
fn second_bytes(tree_bytes: usize, workers: usize) -> usize {
    tree_bytes / 2 / workers
}

/// Bytes of a memory that the first level has to itself, if several workers share it.
pub(super) fn first_level_bytes(tree_bytes: usize, threads: NonZeroUsize) -> Option<usize> {
    let workers = workers(tree_bytes, threads);
    (workers > 1).then(|| tree_bytes - second_bytes(tree_bytes, workers) * workers)
}

/// Searches with so many workers, however few cores and bytes there are. `None` if the root's value
/// is known, and takes no more than an expansion.
fn search_with<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    options: Pn2Options,
    workers: usize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    port: &TreePort,
) -> Option<Report> {
    let Root { game, code, table } = root;
    if game.known(code) != Answer::Unknown {
        return None;
    }
    let second_bytes = second_bytes(tree_bytes, workers);
    let first_bytes = tree_bytes - second_bytes * workers;
    let tree_options = JobTreeOptions {
        combination: options.pns.combination,
        open_entries: options.pns.store_open,
        refresh_age: options.pns.refresh_age,
        congestion_64: options.congestion_64,
    };
    let Some(tree) = JobTree::new(root, first_bytes, tree_options, port) else {
        return Some(without_memory(table));
    };
    let budget = Box::new(move |nodes| options.budget(nodes));
    let rules = Rules { made_anew: true, ..Rules::shared(limits.nodes, budget, 1, SLICE) };
    let leader = Leader::new(tree, rules, table.estimated_count());
    let second_used = AtomicUsize::new(0);
    let leader = Threads::new(leader, workers, limits).run(STACK_BYTES, observer, |seat| {
        let Some(memory) = Memory::new(second_bytes) else {
            return seat.end(Reason::Memory);
        };
        let used = work(game, table, options, memory, seat);
        second_used.fetch_add(used, Ordering::Relaxed);
    });
    let (reason, counters) = (leader.reason(), leader.counters());
    let mut report = leader.level.report(reason, counters);
    report.memory_bytes += second_used.into_inner() as u64;
    Some(report)
}

/// Searches leaves until the search is over. Returns the bytes that second-level trees ever took.
fn work<G: Game>(
    game: &G,
    table: &Table,
    options: Pn2Options,
    mut memory: Memory,
    seat: &mut Seat<'_, '_, JobTree<'_, G>>,
) -> usize {
    let mut nobody = ();
    let control = Control::new(Limits::default(), &mut nobody);
    let mut evaluator = Evaluator::new(game, table, control, options.pns.settle);
    evaluator.open_entries = options.pns.store_open;
    let mut second = SecondLevel::new(options.pns);
    let mut children: Vec<Child> = Vec::new();
    let mut done = None;
    while let Some(Search { job, node, budget, slice, .. }) = seat.next(done) {
        let before = evaluator.control.counters;
        let mut told = before;
        let stop = seat.stop();
        second.search(&mut memory, 1, 0, &mut evaluator, node, budget, |evaluator| {
            let now = &evaluator.control.counters;
            if now.expansions - told.expansions >= slice {
                seat.slice(job, None, now.since(&before));
                told = *now;
            }
            let filled = now.table_used - told.table_used;
            seat.grow_if_full(table, filled, |code| game.key(code));
            stop.load(Ordering::Relaxed)
        });
        let outcome = if let Some(value) = second.tree.value {
            JobOutcome::Solved(value, second.tree.best)
        } else if let Some(reason) = evaluator.control.stopped {
            JobOutcome::Failed(reason)
        } else if stop.load(Ordering::Relaxed) {
            JobOutcome::Stopped
        } else {
            second.take_children(&memory, &mut children);
            JobOutcome::Open(children.clone())
        };
        let spent = evaluator.control.counters.since(&before);
        done = Some(Done { job, outcome, spent });
    }
    second.top as usize * UNIT
}

#[cfg(test)]
mod tests;
