//! PN² with several threads (thesis, 3.7.1).
//!
//! The first level is one tree ([`JobTree`]) whose leaves are jobs. Each worker has its own memory
//! for second-level trees, and all share the table.

#![forbid(unsafe_code)]

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

use super::second::SecondLevel;
use super::{Pn2Options, pn2};
use crate::arena::{Memory, UNIT};
use crate::jobs::messages::{JobOutcome, Search};
use crate::jobs::threads::{Done, Seat, Threads};
use crate::jobs::{JobTree, JobTreeOptions, Leader, Rules};
use crate::plain::Root;
use crate::plain::evaluate::Evaluator;
use crate::plain::game::{Child, Game};
use crate::plain::known::Answer;
use crate::run::{Control, Limits, Observer, Report};
use crate::snapshot::{SavedTree, TreeSnapshots};
use crate::table::Table;

/// The least memory that a worker's second-level trees get, in bytes: some 3000 nodes.
const LEAST_SECOND: usize = 64 << 10;

/// Expansions between two reports to the leader: some milliseconds.
const SLICE: u64 = 2048;

/// Stack of a worker.
const STACK_BYTES: usize = 2 << 20;

/// Searches a position by PN² with several workers, each on a thread of its own beside the calling
/// one, which only watches over the limits.
///
/// It begins with the first-level tree `tree`, an empty one or that of a search that was stopped, in
/// whose room there is memory for as many workers as there will be ([`Pn2Options::tree_room`]). With
/// one this is [`super::pn2`]. If the system starts fewer threads, there are fewer. What they count
/// is summed; the node limit is overrun by at most two expansions of each, one at either level. How
/// many nodes are searched depends on how the threads run, the value does not.
///
/// `port` gives access to the first level's tree during the search, and to the tree that it leaves.
///
/// # Panics
/// If the game or the observer does. The other threads are stopped first.
pub fn pn2_parallel<G: Game>(
    root: Root<'_, G>,
    tree: SavedTree,
    options: Pn2Options,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    port: &TreeSnapshots,
) -> Report {
    // A root whose value is known takes no more than an expansion.
    if tree.beside.is_empty() || root.game.known(root.code) != Answer::Unknown {
        pn2(root, tree, options, limits, observer, port)
    } else {
        search_with(root, tree, options, limits, observer, port)
    }
}

/// The workers of a search with so many threads.
pub(super) fn workers(tree_bytes: usize, threads: NonZeroUsize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    threads.get().min(cores).min(tree_bytes / 2 / LEAST_SECOND)
}

/// Searches with a worker in each of the memories beside the tree.
fn search_with<G: Game>(
    root: Root<'_, G>,
    mut tree: SavedTree,
    options: Pn2Options,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    port: &TreeSnapshots,
) -> Report {
    let Root { game, table, .. } = root;
    let memories = std::mem::take(&mut tree.beside);
    let workers = memories.len();
    let tree_options = JobTreeOptions {
        combination: options.pns.combination,
        open_entries: options.pns.store_open,
        refresh_age: options.pns.refresh_age,
        congestion_64: options.congestion_64,
        workers_apart: false,
    };
    let tree = JobTree::new(root, tree, tree_options, port);
    let budget = Box::new(move |nodes| options.budget(nodes));
    let rules = Rules { made_anew: true, ..Rules::shared(limits.nodes, budget, 1) };
    let leader = Leader::new(tree, rules, table.estimated_count());
    let (memories, second_used) = (Mutex::new(memories), AtomicUsize::new(0));
    let threads = AtomicU32::new(0);
    let leader = Threads::new(leader, workers, limits).run(STACK_BYTES, observer, |seat| {
        threads.fetch_add(1, Ordering::Relaxed);
        let memory = memories.lock().expect("nobody panics with it").pop();
        let memory = memory.expect("there is one for each worker");
        let used = work(game, table, options, memory, seat);
        second_used.fetch_add(used, Ordering::Relaxed);
    });
    let (reason, counters) = (leader.reason(), leader.counters());
    let mut report = leader.level.report(reason, counters, threads.into_inner());
    report.memory_bytes += second_used.into_inner() as u64;
    report
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
    while let Some(Search { job, node, budget, .. }) = seat.next(done) {
        let before = evaluator.control.counters;
        let mut told = before;
        let stop = seat.stop();
        second.search(&mut memory, 1, 0, &mut evaluator, node, budget, |evaluator| {
            let now = &evaluator.control.counters;
            if now.expansions - told.expansions >= SLICE {
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
