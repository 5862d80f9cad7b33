//! Proof-number search on two levels (PNS-PDFPN; Čížek, Balko and Schmid): a proof-number tree whose
//! leaves are jobs for df-pn.
//!
//! A worker searches its leaf until that is solved or so many nodes have been evaluated, and returns
//! the leaf's children with their numbers, which become nodes of the tree. In between it sends
//! interim numbers, by which the others' leaves are chosen. If a leaf leaves the tree because
//! something above it was solved, its job is called off. All this is [`super::jobs`]; here is what
//! the workers do.
//!
//! Unlike a second-level tree of PN², what a worker has found out stays in the table, which all
//! share.

#![forbid(unsafe_code)]

mod entries;
mod job;
mod lead;
mod worker;

pub use lead::{PlainRules, lead};
pub use worker::{PlainWorker, WorkerOptions};

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};

use super::dfpn::DfpnOptions;
use super::jobs::messages::{JobId, Search};
use super::jobs::threads::{Done, Seat, Threads};
use super::jobs::{FirstLevel, JobTree, JobTreeOptions, Leader, Rules};
use super::plain::Root;
use super::plain::evaluate::Growth;
use super::plain::game::Game;
use super::run::{Limits, Observer, Progress, Report};
use super::snapshot::{SavedTree, TreeRoom, TreeSnapshots};
use super::table::Table;
use job::{Searcher, of_job};

/// The parameters of the two-level search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoLevelOptions {
    /// The workers' df-pn. Its combination is the first level's as well.
    pub dfpn: DfpnOptions,
    /// Workers, each of which has one job at a time.
    pub workers: NonZeroUsize,
    /// Threads of each worker.
    pub threads: NonZeroUsize,
    /// Nodes that a job may evaluate; at least 2 are taken.
    pub job_nodes: u64,
    /// Expansions between two reports of interim numbers, rounded up to the pace at which df-pn
    /// calls its observer: 2048 on one thread.
    pub update_expansions: u64,
    /// What a worker below a node adds to the node's delta when a leaf is selected, beside 1, as
    /// a part of the delta in 1/64.
    pub congestion_64: u32,
    /// Expansions by the workers after which a selection looks a node's children up in the table
    /// again; `u32::MAX` for never.
    pub refresh_age: u32,
}

impl TwoLevelOptions {
    /// Jobs of 10 000 nodes, with an update after every 4096 expansions.
    pub fn new(dfpn: DfpnOptions, workers: NonZeroUsize, threads: NonZeroUsize) -> Self {
        TwoLevelOptions {
            dfpn,
            workers,
            threads,
            job_nodes: 10_000,
            update_expansions: 4096,
            congestion_64: 2,
            refresh_age: 1000,
        }
    }

    /// The room of the first level's tree in so many bytes.
    pub fn tree_room(&self, bytes: usize) -> TreeRoom {
        TreeRoom::new(bytes, 4, self.dfpn.combination)
    }
}

/// Stack of a worker's thread; df-pn recurses as deep as the longest line.
const STACK_BYTES: usize = 16 << 20;

/// The fewest nodes that let a job expand its position: the position itself counts as one.
const LEAST_NODES: u64 = 2;

/// Entries that are made room for at least, more than a team of df-pn begins with.
const LEAST_ROOM: u64 = 1 << 16;

/// Searches a position on two levels, with each worker on threads of its own.
///
/// It begins with `tree`, an empty one or that of a search that was stopped
/// ([`TwoLevelOptions::tree_room`]), and takes some 22 bytes of its memory for a node of the first
/// level. If that is not enough, the outcome is `Unknown` for
/// [`Memory`](super::run::Reason::Memory). The node limit is overrun by at most two expansions of
/// each thread.
///
/// [`nodes`](super::run::Counters::nodes) are the positions that the workers have evaluated and the
/// root, [`first_level`](super::run::Counters::first_level) those of them that became nodes of the
/// first level's tree, and [`second_level`](super::run::Counters::second_level) the others.
///
/// `port` gives access to the tree during the search, and to the tree that it leaves.
///
/// If the system starts fewer threads, there are fewer workers.
///
/// # Panics
/// If the game or the observer does. The other threads are stopped first.
pub fn two_level<G: Game>(
    root: Root<'_, G>,
    tree: SavedTree,
    options: TwoLevelOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    port: &TreeSnapshots,
) -> Report {
    let Root { game, table, .. } = root;
    let tree_options = JobTreeOptions {
        combination: options.dfpn.combination,
        open_entries: true,
        refresh_age: options.refresh_age,
        congestion_64: options.congestion_64,
        workers_apart: false,
    };
    let tree = JobTree::new(root, tree, tree_options, port);
    let budget = Box::new(move |_| options.job_nodes);
    let rules = Rules::shared(limits.nodes, budget, LEAST_NODES);
    let leader = Leader::new(tree, rules, table.estimated_count());
    let workers = options.workers.get();
    let threads = AtomicU32::new(0);
    let leader = Threads::new(leader, workers, limits).run(STACK_BYTES, observer, |seat| {
        threads.fetch_add(work(game, table, &options, seat), Ordering::Relaxed);
    });
    let (reason, counters) = (leader.reason(), leader.counters());
    leader.level.report(reason, counters, threads.into_inner())
}

/// Searches leaves by df-pn until the search is over, and returns the number of its threads. What a job has found out stays in the table, so
/// a position that comes back is searched on from there.
fn work<G: Game>(
    game: &G,
    table: &Table,
    options: &TwoLevelOptions,
    seat: &mut Seat<'_, '_, JobTree<'_, G>>,
) -> u32 {
    let mut nobody = ();
    // Other workers use the table during a job. It grows between jobs, when all of them wait.
    let growth = Growth::Forbidden;
    let mut searcher =
        Searcher::new(game, table, growth, options.dfpn, options.threads, &mut nobody);
    let mut done = None;
    while let Some(Search { job, node, budget, .. }) = seat.next(done) {
        // Room for all jobs that run at the same time: the table cannot grow during a job.
        let room = budget.saturating_mul(options.workers.get() as u64).max(LEAST_ROOM);
        seat.make_room(table, room, |code| game.key(code));
        let used_before = table.estimated_count();
        let limits = Limits { nodes: Some(budget), stop: Some(seat.stop()), ..Limits::default() };
        let slice = options.update_expansions;
        let mut watch = Watch { seat, job, slice, told_at: 0, used_before };
        let (outcome, spent) = searcher.search(&(), node, limits, used_before, &mut watch);
        done = Some(Done { job, outcome, spent });
    }
    searcher.threads_used
}

/// Reports to the leader now and then.
struct Watch<'w, 't, 'a, F: FirstLevel> {
    seat: &'w mut Seat<'t, 'a, F>,
    job: JobId,
    slice: u64,
    told_at: u64,
    used_before: u64,
}

impl<F: FirstLevel> Observer for Watch<'_, '_, '_, F> {
    fn progress(&mut self, progress: &Progress) {
        let Progress { phi, delta, counters, .. } = *progress;
        if counters.expansions >= self.told_at + self.slice {
            self.told_at = counters.expansions;
            let spent = of_job(&counters, self.used_before);
            self.seat.slice(self.job, Some((phi, delta)), spent);
        }
    }
}

#[cfg(test)]
mod remote_tests;
#[cfg(test)]
mod tests;
