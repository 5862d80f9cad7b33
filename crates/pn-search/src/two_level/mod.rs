//! Proof-number search on two levels (PNS-PDFPN; Čížek, Balko and Schmid): a proof-number tree whose
//! leaves are jobs for df-pn.
//!
//! A worker searches its leaf until that is solved or the job's budget is spent, and returns the leaf's
//! children with their numbers, which become nodes of the tree. If a leaf leaves the tree because a node
//! above it is solved, its job is cancelled. The tree and its jobs are in [`super::jobs`]; this module has
//! the workers of plain games: threads that share a table ([`two_level`]), and [`PlainWorker`] in another
//! process.
//!
//! Unlike a second-level tree of PN², the results of a job stay in the table.

#![forbid(unsafe_code)]

mod entries;
mod job;
mod lead;
mod worker;

pub use lead::{PlainRules, lead};
pub use worker::{PlainWorker, WorkerOptions};

use std::num::NonZeroUsize;

use super::dfpn::{self, DfpnOptions, dfpn, reserve_first_entries};
use super::jobs::messages::{JobOutcome, Search};
use super::jobs::pool::{Done, Pool};
use super::jobs::{JobTree, JobTreeOptions, Rules};
use super::numbers::Pair;
use super::parallel::run_members;
use super::plain::Root;
use super::plain::evaluate::Evaluator;
use super::plain::game::Game;
use super::plain::known::Answer;
use super::run::{Control, Counters, Limits, Observer, Report, Team};
use super::snapshot::{SavedTree, TreePort, TreeRoom};
use job::children;

/// Parameters of the two-level search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoLevelOptions {
    /// df-pn of the workers. Its combination is also used in the first level.
    pub dfpn: DfpnOptions,
    /// Number of workers. Each is a thread.
    pub workers: NonZeroUsize,
    /// Maximum number of nodes evaluated by a job, at least 2.
    pub job_nodes: u64,
    /// Virtual loss that a worker below a node adds to the node's delta when a leaf is selected, in
    /// addition to 1: a share of the delta in 1/64.
    pub congestion_64: u32,
    /// Expansions by the workers after which a selection looks a node's children up in the table
    /// again; `u32::MAX` for never.
    pub refresh_age: u32,
}

impl TwoLevelOptions {
    /// Default of [`TwoLevelOptions::job_nodes`].
    pub const DEFAULT_JOB_NODES: u64 = 10_000;

    /// Jobs of [`TwoLevelOptions::DEFAULT_JOB_NODES`].
    pub fn new(dfpn: DfpnOptions, workers: NonZeroUsize) -> Self {
        let job_nodes = TwoLevelOptions::DEFAULT_JOB_NODES;
        TwoLevelOptions { dfpn, workers, job_nodes, congestion_64: 2, refresh_age: 1000 }
    }

    /// Memory layout of a first-level tree of `bytes` bytes.
    pub fn tree_room(&self, bytes: usize) -> TreeRoom {
        TreeRoom::new(bytes, 4, self.dfpn.combination)
    }
}

/// Stack of a worker's thread; df-pn recurses as deep as the longest line.
const STACK_BYTES: usize = 16 << 20;

/// Minimum budget with which a job expands its position: the position itself counts as one.
const LEAST_NODES: u64 = 2;

/// Searches a position on two levels, with one worker per thread. The calling thread is one of them.
///
/// The search begins with `tree`, an empty one or that of a search that was stopped
/// ([`TwoLevelOptions::tree_room`]), and takes some 22 bytes of its memory for a node of the first level.
/// If that is not enough, the outcome is `Unknown` for [`Memory`](super::run::Reason::Memory). On
/// several threads the node limit is overrun by some hundred expansions of each.
///
/// [`nodes`](super::run::Counters::nodes) are the positions that the workers have evaluated and the
/// root, [`first_level`](super::run::Counters::first_level) those of them that became nodes of the
/// first level's tree, and [`second_level`](super::run::Counters::second_level) the others.
///
/// The tree is left at `port` for checkpoints ([`super::snapshot`]); without checkpoints, pass
/// [`TreePort::idle`]. If the system starts fewer threads, there are fewer workers.
///
/// # Panics
/// If the game or the observer does. The other threads are stopped first.
pub fn two_level<G: Game>(
    root: Root<'_, G>,
    tree: SavedTree,
    options: TwoLevelOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    port: &TreePort,
) -> Report {
    let Root { game, code, table } = root;
    // A known value of the root takes one expansion.
    if game.known(code) != Answer::Unknown {
        port.leave(tree);
        return dfpn(root, options.dfpn, limits, observer);
    }
    let workers = options.workers.get();
    if workers > 1 {
        reserve_first_entries(game, table, workers);
    }
    let tree_options = JobTreeOptions {
        combination: options.dfpn.combination,
        open_entries: true,
        refresh_age: options.refresh_age,
        congestion_64: options.congestion_64,
        workers_apart: false,
    };
    let table_used = table.estimated_count();
    let begin = Counters { nodes: 1, first_level: 1, table_used, ..Counters::default() };
    let team = Team::new(workers, limits, begin);
    let budget = Box::new(move |_| options.job_nodes);
    let tree = JobTree::new(root, tree, tree_options, port);
    let pool = Pool::new(tree, Rules::shared(None, budget, LEAST_NODES));
    let threads = run_members(&team, STACK_BYTES, observer, |member, observer| {
        // Shortens the lifetime of the trait object.
        let observer = observer.map(|observer| observer as &mut dyn Observer);
        let mut control = Control::of_worker(member, observer);
        control.tree = Some(&pool);
        let mut evaluator = Evaluator::new(game, table, control, options.dfpn.settle);
        evaluator.open_entries = true;
        evaluator.tries = options.dfpn.tries;
        if workers == 1 {
            work::<G, false>(&pool, dfpn::Worker::new(evaluator, options.dfpn.choosing()));
        } else {
            work::<G, true>(&pool, dfpn::Worker::new(evaluator, options.dfpn.choosing()));
        }
    });
    let leader = pool.into_leader();
    let reason = leader.reason();
    leader.level.report(reason, team.counters(), threads.len() as u32)
}

/// Searches jobs until the search is over.
fn work<'a, G: Game, const TEAM: bool>(
    pool: &Pool<JobTree<'_, G>>,
    mut worker: dfpn::Worker<Evaluator<'a, G>, TEAM>,
) {
    let mut done = None;
    while let Some(Search { job, node, budget, .. }) = pool.next(&mut worker.tree.control, done) {
        let before = worker.tree.control.counters;
        let outcome = match worker.search_job(node, budget).map(Pair::value) {
            None => JobOutcome::Stopped,
            Some(Some(value)) => JobOutcome::Solved(value, worker.tree.control.root.2),
            Some(None) => children(&mut worker.tree, node),
        };
        let spent = worker.tree.control.counters.since(&before);
        done = Some(Done { job, outcome, spent });
    }
    worker.tree.control.finish();
}

#[cfg(test)]
mod remote_tests;
#[cfg(test)]
mod tests;
