//! PN² with several threads (thesis, 3.7.1).
//!
//! The first level is one tree ([`JobTree`]) that all workers share and one of them holds at a
//! time. Each has its own memory for second-level trees, and all share the table. A worker in its
//! turn hands in what its last search has found, takes the next leaf, and searches it without the
//! tree. It learns that its leaf is gone when it comes back: there are no stop signals but the one
//! that ends the whole search.
//!
//! The calling thread does not search. It looks at the limits every few milliseconds, calls the
//! observer, and waits for the others.
//!
//! [`Crew`] has the protocol of the turns and [`Gate`] that of the table's growth. The stop flag is
//! relaxed: it says no more than itself, and whoever sees it late only searches a little longer.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::crew::{Crew, Turn};
use super::gate::Gate;
use super::second::SecondLevel;
use super::{Pn2Options, pn2_saving};
use crate::search::arena::{Memory, UNIT};
use crate::search::checkpoint::TreePort;
use crate::search::control::{
    Control, Counters, Limits, Observer, Outcome, Progress, Reason, Report,
};
use crate::search::evaluate::Evaluator;
use crate::search::game::{Child, Game, Value};
use crate::search::job_tree::{Facts, JobTree, JobTreeOptions, Leaf, News, Selection};
use crate::search::known::Answer;
use crate::search::table::Table;
use crate::search::tally::add_since;

/// The least memory that a worker's second-level trees get, in bytes: some 3000 nodes.
const LEAST_SECOND: usize = 64 << 10;

/// Between two looks at the limits.
const PERIOD: Duration = Duration::from_millis(5);

/// Searches a position by PN² with up to `threads` workers, each on a thread of its own beside the
/// calling one, which only watches over the limits.
///
/// There are never more workers than cores ([`thread::available_parallelism`]): one that waits for
/// a core holds a leaf, which it was given for numbers that are old when it comes to search it, and
/// others search worse leaves meanwhile. With one worker this is [`super::pn2`]. With more, the first level
/// takes half of `tree_bytes`, and each worker has an equal part of the other half for its
/// second-level trees. If that were less than 64 KiB, or if the system starts fewer threads, there
/// are fewer workers. What they count is summed; the node limit is overrun by at most two expansions
/// of each, one at either level. How many nodes are searched depends on how the threads run, the
/// value does not.
///
/// It begins with the tree that `port` brings in and leaves its own there, where somebody keeps
/// checkpoints ([`crate::search::checkpoint`]); for others there is [`TreePort::idle`].
///
/// # Panics
/// If the game or the observer does. The other workers are stopped first.
#[expect(clippy::too_many_arguments, reason = "those of pn2 and two more")]
pub fn pn2_parallel<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
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
            search_with(game, root, table, tree_bytes, options, workers, limits, observer, port)
    {
        return report;
    }
    pn2_saving(game, root, table, tree_bytes, options, limits, observer, port)
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
pub(in crate::search) fn first_level_bytes(
    tree_bytes: usize,
    threads: NonZeroUsize,
) -> Option<usize> {
    let workers = workers(tree_bytes, threads);
    (workers > 1).then(|| tree_bytes - second_bytes(tree_bytes, workers) * workers)
}

/// Searches with so many workers, however few cores and bytes there are. `None` if nothing was
/// searched, because not a single thread could be started or because the root's value is known,
/// and takes no more than an expansion.
#[expect(clippy::too_many_arguments, reason = "those of pn2_parallel")]
fn search_with<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
    tree_bytes: usize,
    options: Pn2Options,
    workers: usize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    port: &TreePort,
) -> Option<Report> {
    if game.known(root) != Answer::Unknown {
        return None;
    }
    let second_bytes = second_bytes(tree_bytes, workers);
    let (first, region, block) = port.open(tree_bytes - second_bytes * workers, |units| units);
    let seconds: Option<Vec<Memory>> = (0..workers).map(|_| Memory::new(second_bytes)).collect();
    let (Some(first), Some(seconds)) = (first, seconds) else {
        return Some(unknown(table, Reason::Memory));
    };
    if let Some(reason) = limits.reached() {
        return Some(unknown(table, reason));
    }
    let tree_options = JobTreeOptions {
        combination: options.pns.combination,
        open_entries: options.pns.store_open,
        refresh_age: options.pns.refresh_age,
        congestion_64: options.congestion_64,
    };
    let mut tree = JobTree::new(first, tree_options, root);
    tree.adopt(region, block);
    let gate = Gate::new(table);
    let search = Search {
        game,
        table,
        options,
        gate: &gate,
        port,
        stop: AtomicBool::new(false),
        crew: Crew::new(State {
            tree,
            counters: Counters {
                nodes: 1,
                first_level: 1,
                table_used: table.estimated_count(),
                ..Counters::default()
            },
            node_limit: limits.nodes.unwrap_or(u64::MAX),
            spent: 1,
            granted: 0,
            second_bytes: 0,
            reason: None,
        }),
    };
    let started = search.run(seconds, limits, observer);
    if started == 0 {
        return None;
    }
    let State { tree, counters, second_bytes, reason, .. } = search.crew.into_state();
    let outcome = match tree.value {
        Some(value) => Outcome::Known(value),
        None => Outcome::Unknown(reason.expect("an open search was stopped")),
    };
    let report = Report {
        outcome,
        phi: tree.phi,
        delta: tree.delta,
        best: tree.best,
        counters,
        memory_bytes: (table.bytes() + tree.bytes() + second_bytes) as u64,
    };
    port.leave(|| tree.into_parts());
    Some(report)
}

/// The report of a search that did not begin.
fn unknown(table: &Table, reason: Reason) -> Report {
    Report {
        outcome: Outcome::Unknown(reason),
        phi: 1,
        delta: 1,
        best: None,
        counters: Counters {
            nodes: 1,
            first_level: 1,
            table_used: table.estimated_count(),
            ..Counters::default()
        },
        memory_bytes: table.bytes() as u64,
    }
}

/// What the workers share.
struct Search<'a, G> {
    game: &'a G,
    table: &'a Table,
    options: Pn2Options,
    gate: &'a Gate<'a>,
    port: &'a TreePort,
    stop: AtomicBool,
    crew: Crew<State>,
}

/// What one of them holds at a time.
struct State {
    tree: JobTree,
    /// The sum of what the workers have reported.
    counters: Counters,
    node_limit: u64,
    /// Nodes of both levels, those of searches that are under way not counted.
    spent: u64,
    /// Nodes that searches under way may still make.
    granted: u64,
    /// Bytes that second-level trees ever took, of workers that have finished.
    second_bytes: usize,
    /// Why the search ended, if the root is not solved.
    reason: Option<Reason>,
}

/// A second-level search to be made.
struct Job {
    leaf: Leaf,
    budget: u64,
}

/// What came of it.
enum Found {
    Value(Value, Option<u64>),
    /// Its root's children are in the worker's list.
    Children,
    Stopped(Reason),
}

enum Next {
    Job(Job),
    /// None at the moment; with the version that was looked at.
    None(u64),
    Over,
}

impl State {
    /// Takes a result in.
    fn take_in(&mut self, job: Job, found: Found, children: &[Child], work: Work, news: &mut News) {
        let Work { nodes, expansions } = work;
        self.granted -= job.budget;
        self.spent += nodes;
        match found {
            Found::Value(value, best) => {
                self.tree.resolve(&job.leaf, value, best, expansions, news);
            }
            // Not even the first block had room.
            Found::Children if children.is_empty() => self.reason = Some(Reason::Memory),
            Found::Children => match self.tree.attach(&job.leaf, children, expansions, news) {
                Ok(added) => {
                    self.spent += added;
                    self.counters.nodes += added;
                    self.counters.first_level += added;
                }
                Err(_) => self.reason = Some(Reason::Memory),
            },
            Found::Stopped(reason) => self.reason = self.reason.or(Some(reason)),
        }
        self.tree.release(job.leaf);
    }

    /// Looks for a job.
    fn next<G: Game>(
        &mut self,
        facts: &Facts<G>,
        options: &Pn2Options,
        news: &mut News,
    ) -> Option<Job> {
        let left = self.node_limit.saturating_sub(self.spent + self.granted);
        if left == 0 {
            // What others have been granted may come back.
            if self.granted == 0 {
                self.reason = self.reason.or(Some(Reason::NodeLimit));
            }
            return None;
        }
        match self.tree.select(facts, news) {
            Selection::Leaf(leaf) => {
                let budget = options.budget(self.tree.nodes()).max(1).min(left);
                self.granted += budget;
                Some(Job { leaf, budget })
            }
            Selection::AllTaken | Selection::Solved => None,
        }
    }
}

/// Work of a second-level search.
#[derive(Clone, Copy)]
struct Work {
    nodes: u64,
    expansions: u64,
}

/// Stops everybody when its thread panics, so that nobody waits for it.
struct Watch<'s, G>(&'s Search<'s, G>);

impl<G> Drop for Watch<'_, G> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop.store(true, Ordering::Relaxed);
            self.0.crew.turn().end();
        }
    }
}

/// Reports a worker's counters now and then.
struct Reporter<'s> {
    crew: &'s Crew<State>,
    told: &'s Cell<Counters>,
}

impl Reporter<'_> {
    fn tell(&self, state: &mut State, counters: &Counters) {
        add_since(&mut state.counters, counters, &self.told.get());
        self.told.set(*counters);
    }
}

impl Observer for Reporter<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.tell(self.crew.turn().state(), &progress.counters);
    }
}

impl<G: Game> Search<'_, G> {
    /// Starts a worker for each memory, watches over the limits until all have finished, and returns
    /// how many could be started.
    fn run(&self, memories: Vec<Memory>, limits: Limits<'_>, observer: &mut dyn Observer) -> usize {
        thread::scope(|scope| {
            let _watch = Watch(self);
            let (alive, ended) = mpsc::channel::<()>();
            let mut handles = Vec::with_capacity(memories.len());
            for memory in memories {
                let alive = alive.clone();
                let worker = move || {
                    let _watch = Watch(self);
                    self.work(memory);
                    drop(alive);
                };
                match thread::Builder::new().name("pn2".into()).spawn_scoped(scope, worker) {
                    Ok(handle) => handles.push(handle),
                    Err(_) => break,
                }
            }
            drop(alive);
            let mut shown = 0;
            // Nobody sends; the channel closes when the last worker ends, be it by a panic.
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                if self.stop.load(Ordering::Relaxed) {
                    continue;
                }
                if let Some(reason) = limits.reached() {
                    self.end(reason);
                    continue;
                }
                let progress = self.progress();
                if progress.counters.expansions > shown {
                    shown = progress.counters.expansions;
                    observer.progress(&progress);
                }
            }
            let started = handles.len();
            for handle in handles {
                if let Err(panic) = handle.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            started
        })
    }

    /// Ends the search without an answer.
    fn end(&self, reason: Reason) {
        let mut turn = self.crew.turn();
        let state = turn.state();
        // Before anybody can see the flag and say no more than that he was stopped.
        state.reason = state.reason.or(Some(reason));
        self.stop.store(true, Ordering::Relaxed);
        turn.end();
    }

    fn progress(&self) -> Progress {
        let mut turn = self.crew.turn();
        let State { tree, counters, .. } = turn.state();
        let (phi, delta, best) = (tree.phi, tree.delta, tree.best);
        Progress { phi, delta, best, depth: 0, counters: *counters }
    }

    /// Searches leaves until the search is over.
    fn work(&self, mut memory: Memory) {
        let told = Cell::new(Counters::default());
        let reporter = Reporter { crew: &self.crew, told: &told };
        let mut observer = Reporter { ..reporter };
        let limits = Limits { stop: Some(&self.stop), ..Limits::default() };
        let control = Control::new(limits, &mut observer);
        let mut evaluator = Evaluator::new(self.game, self.table, control, self.options.pns.settle);
        evaluator.open_entries = self.options.pns.store_open;
        evaluator.control.counters.table_used = 0;
        let mut second = SecondLevel::new(self.options.pns);
        let mut children: Vec<Child> = Vec::new();
        let mut news = News::new();
        let mut pass = self.gate.pass();
        let mut done: Option<(Job, Found, Work)> = None;
        loop {
            pass.enter();
            let mut turn = self.crew.turn();
            reporter.tell(turn.state(), &evaluator.control.counters);
            if let Some((job, found, work)) = done.take() {
                turn.state().take_in(job, found, &children, work, &mut news);
                let (memory, region, root_block) = turn.state().tree.parts();
                self.port.look_at(memory, region, root_block);
                turn.changed();
            }
            let next = self.next(turn, &mut news);
            for (code, entry) in news.drain(..) {
                evaluator.store(code, entry);
            }
            let job = match next {
                Next::Job(job) => job,
                Next::None(version) => {
                    pass.leave();
                    self.crew.sleep(version);
                    continue;
                }
                Next::Over => break,
            };
            let before = evaluator.control.counters;
            let (leaf, budget) = (job.leaf.code, job.budget);
            second.search(&mut memory, 1, &mut evaluator, leaf, budget, |evaluator| {
                pass.keep_or_grow(evaluator.control.counters.table_used, |c| self.game.key(c));
                self.stop.load(Ordering::Relaxed)
            });
            let counters = &mut evaluator.control.counters;
            let work = Work {
                nodes: counters.nodes - before.nodes,
                expansions: counters.expansions - before.expansions,
            };
            counters.second_level += work.nodes;
            let found = if let Some(value) = second.tree.value {
                Found::Value(value, second.tree.best)
            } else if self.stop.load(Ordering::Relaxed) || evaluator.control.stopped.is_some() {
                Found::Stopped(evaluator.control.stopped.unwrap_or(Reason::Interrupted))
            } else {
                second.take_children(&memory, &mut children);
                Found::Children
            };
            done = Some((job, found, work));
        }
        let mut turn = self.crew.turn();
        reporter.tell(turn.state(), &evaluator.control.counters);
        turn.state().second_bytes += second.top as usize * UNIT;
    }

    /// Ends a turn by looking for a job.
    fn next(&self, mut turn: Turn<'_, State>, news: &mut News) -> Next {
        if turn.is_over() {
            return Next::Over;
        }
        let facts = Facts { game: self.game, table: self.table };
        let state = turn.state();
        let job = match state.reason {
            Some(_) => None,
            None => state.next(&facts, &self.options, news),
        };
        if let Some(job) = job {
            turn.leave();
            return Next::Job(job);
        }
        if state.tree.value.is_some() || state.reason.is_some() {
            self.stop.store(true, Ordering::Relaxed);
            turn.end();
            return Next::Over;
        }
        Next::None(turn.leave_without_job())
    }
}

#[cfg(test)]
mod tests;
