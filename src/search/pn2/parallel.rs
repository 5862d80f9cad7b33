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
mod tests {
    use super::*;
    use crate::search::game::{Expansion, Settled};
    use crate::search::graph::GraphGame;
    use crate::search::known::{Informed, Known};
    use crate::search::negamax::Negamax;
    use crate::search::pn2::pn2;
    use crate::search::pn2::tests::{THESIS, variants};
    use crate::search::pns::tests::{large_game, random_game};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicU64;
    use std::time::Instant;

    fn search<G: Game>(
        game: &G,
        table: &Table,
        tree_bytes: usize,
        options: Pn2Options,
        workers: usize,
        limits: Limits<'_>,
        observer: &mut dyn Observer,
    ) -> Report {
        search_with(
            game,
            0,
            table,
            tree_bytes,
            options,
            workers,
            limits,
            observer,
            &TreePort::idle(),
        )
        .expect("threads can be started, and the root is not known")
    }

    #[test]
    fn random_games_have_the_value_of_negamax_with_any_number_of_workers() {
        let mut several = 0;
        for seed in 0..40 {
            let game = random_game(seed);
            let mut oracle = Negamax::new(&game);
            let value = oracle.value(0);
            for options in variants() {
                let workers = [1, 2, 3, 8, 33][seed as usize % 5];
                let table = Table::new(1 << 14).unwrap();
                let limits = Limits::default();
                let report = search(&game, &table, 1 << 22, options, workers, limits, &mut ());
                assert_eq!(report.outcome, Outcome::Known(value), "seed {seed}, {options:?}");
                if value == Value::Win {
                    let best = report.best.expect("a won root has a lost child");
                    assert_eq!(oracle.value(best), Value::Loss, "seed {seed}, {options:?}");
                }
                let counters = report.counters;
                assert_eq!(counters.nodes, counters.first_level + counters.second_level);
                several += u32::from(counters.first_level > 10);
            }
        }
        assert!(several > 10, "{several}");
    }

    /// Whatever the memory, no outcome but the right one.
    #[test]
    fn the_smallest_tables_and_trees_do_not_lead_to_wrong_values() {
        let (mut known, mut unknown) = (0, 0);
        for seed in 0..40 {
            let game = random_game(seed);
            let value = Negamax::new(&game).value(0);
            let table = Table::new(64 << (seed % 4)).unwrap();
            let limits = Limits { nodes: Some(20_000), ..Limits::default() };
            for (options, bytes) in
                variants().into_iter().zip([500, 5000, 1 << 14, 1 << 16, 1 << 18])
            {
                let report = search(&game, &table, bytes, options, 6, limits, &mut ());
                assert!(report.memory_bytes <= (table.bytes() + bytes) as u64);
                match report.outcome {
                    Outcome::Known(found) => {
                        assert_eq!(found, value, "seed {seed}, {options:?}");
                        known += 1;
                    }
                    Outcome::Unknown(Reason::Memory | Reason::NodeLimit) => unknown += 1,
                    Outcome::Unknown(reason) => panic!("{reason:?}"),
                }
            }
        }
        assert!(known > 40 && unknown > 10, "{known} {unknown}");
    }

    #[test]
    fn one_thread_is_the_sequential_search() {
        let one = NonZeroUsize::MIN;
        for seed in 0..20 {
            let game = random_game(seed);
            for options in variants() {
                let [a, b] = [true, false].map(|parallel| {
                    let table = Table::new(1 << 14).unwrap();
                    let (limits, bytes) = (Limits::default(), 1 << 20);
                    if parallel {
                        pn2_parallel(
                            &game,
                            0,
                            &table,
                            bytes,
                            options,
                            one,
                            limits,
                            &mut (),
                            &TreePort::idle(),
                        )
                    } else {
                        pn2(&game, 0, &table, bytes, options, limits, &mut ())
                    }
                });
                assert_eq!((a.counters, a.best), (b.counters, b.best));
            }
        }
    }

    #[test]
    fn any_number_of_threads_may_be_asked_for() {
        let game = random_game(4);
        let value = Negamax::new(&game).value(0);
        for threads in [2, 3, 64, 1024, usize::MAX] {
            for bytes in [1 << 16, 1 << 20, 1 << 26] {
                let table = Table::new(1 << 14).unwrap();
                let threads = NonZeroUsize::new(threads).unwrap();
                let limits = Limits::default();
                let report = pn2_parallel(
                    &game,
                    0,
                    &table,
                    bytes,
                    THESIS,
                    threads,
                    limits,
                    &mut (),
                    &TreePort::idle(),
                );
                assert_eq!(report.outcome, Outcome::Known(value));
                assert!(report.memory_bytes <= (table.bytes() + bytes) as u64);
            }
        }
    }

    #[test]
    fn limits_stop_all_workers_and_are_named() {
        let game = large_game();
        let stop = AtomicBool::new(true);
        let run = |workers, limits| {
            let table = Table::new(1 << 14).unwrap();
            search(&game, &table, 1 << 24, THESIS, workers, limits, &mut ())
        };
        for workers in [1, 2, 16] {
            for nodes in [0, 1, 2, 50, 3000, 20_000] {
                let limits = Limits { nodes: Some(nodes), ..Limits::default() };
                let report = run(workers, limits);
                assert_eq!(report.outcome, Outcome::Unknown(Reason::NodeLimit));
                assert!(report.counters.nodes <= nodes.max(1) + 2 * 58 * workers as u64);
                assert!(report.phi > 0 && report.delta > 0);
            }
            let limits = Limits { stop: Some(&stop), ..Limits::default() };
            assert_eq!(run(workers, limits).outcome, Outcome::Unknown(Reason::Interrupted));
            let started = Instant::now();
            let deadline = Some(started + Duration::from_millis(30));
            let limits = Limits { deadline, ..Limits::default() };
            assert_eq!(run(workers, limits).outcome, Outcome::Unknown(Reason::TimeLimit));
            // Generous: a loaded machine may not run us for a while.
            assert!(started.elapsed() < Duration::from_secs(5));
        }
    }

    struct StopsAfterThree<'a> {
        stop: &'a AtomicBool,
        calls: u32,
        expansions: u64,
    }

    impl Observer for StopsAfterThree<'_> {
        fn progress(&mut self, progress: &Progress) {
            assert!(progress.counters.expansions > self.expansions);
            self.expansions = progress.counters.expansions;
            self.calls += 1;
            self.stop.store(self.calls >= 3, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_observer_is_called_and_may_stop_the_search() {
        let game = large_game();
        for workers in [1, 2, 8] {
            let table = Table::new(1 << 14).unwrap();
            let stop = AtomicBool::new(false);
            let mut observer = StopsAfterThree { stop: &stop, calls: 0, expansions: 0 };
            let limits = Limits { stop: Some(&stop), ..Limits::default() };
            let report = search(&game, &table, 1 << 26, THESIS, workers, limits, &mut observer);
            assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted));
            assert!((3..=4).contains(&observer.calls), "{}", observer.calls);
        }
    }

    /// A game that panics at some expansion.
    struct Brittle<'a> {
        game: &'a GraphGame,
        left: AtomicU64,
    }

    impl Game for Brittle<'_> {
        type Scratch = ();

        fn expand(
            &self,
            code: u64,
            scratch: &mut (),
            children: &mut Vec<Child>,
            announce: impl FnMut(u64),
        ) -> Expansion {
            assert!(self.left.fetch_sub(1, Ordering::Relaxed) > 0, "the game broke");
            self.game.expand(code, scratch, children, announce)
        }

        fn key(&self, code: u64) -> u64 {
            self.game.key(code)
        }

        fn settle(&self, code: u64, budget: u32, scratch: &mut ()) -> Settled {
            self.game.settle(code, budget, scratch)
        }
    }

    #[test]
    fn a_panic_of_one_worker_or_of_the_observer_ends_the_search() {
        struct Panics;
        impl Observer for Panics {
            fn progress(&mut self, _: &Progress) {
                panic!("the observer broke");
            }
        }
        let game = large_game();
        let message = |panic: Box<dyn std::any::Any + Send>| {
            *panic.downcast::<&str>().expect("a plain message")
        };
        for left in [0, 1, 30, 3000] {
            let brittle = Brittle { game: &game, left: AtomicU64::new(left) };
            let table = Table::new(1 << 14).unwrap();
            let limits = Limits::default();
            let panic = catch_unwind(AssertUnwindSafe(|| {
                search(&brittle, &table, 1 << 26, THESIS, 5, limits, &mut ())
            }));
            assert_eq!(message(panic.unwrap_err()), "the game broke");
        }
        let table = Table::new(1 << 14).unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| {
            search(&game, &table, 1 << 26, THESIS, 5, Limits::default(), &mut Panics)
        }));
        assert_eq!(message(panic.unwrap_err()), "the observer broke");
    }

    #[test]
    fn a_known_root_takes_one_expansion_and_failed_answers_end_the_search() {
        struct All(Answer);
        impl Known for All {
            fn value(&self, _: u64) -> Answer {
                self.0
            }
        }
        struct NoneAtTheRoot;
        impl Known for NoneAtTheRoot {
            fn value(&self, code: u64) -> Answer {
                if code == 0 { Answer::Unknown } else { Answer::Failed }
            }
        }
        let nim = large_game();
        let table = Table::new(1 << 14).unwrap();
        let two = NonZeroUsize::new(2).unwrap();
        let lost = All(Answer::Known(Value::Loss));
        let game = Informed::new(&nim, &lost);
        let limits = Limits::default();
        let report = pn2_parallel(
            &game,
            0,
            &table,
            1 << 20,
            THESIS,
            two,
            limits,
            &mut (),
            &TreePort::idle(),
        );
        assert_eq!(report.outcome, Outcome::Known(Value::Loss));
        let game = Informed::new(&nim, &NoneAtTheRoot);
        let report = search(&game, &table, 1 << 20, THESIS, 3, limits, &mut ());
        assert_eq!(report.outcome, Outcome::Unknown(Reason::KnownValues));
    }

    #[test]
    fn the_table_grows_under_many_workers() {
        let game = large_game();
        let table = Table::new(1 << 22).unwrap();
        let limits = Limits { nodes: Some(400_000), ..Limits::default() };
        let options = variants()[1];
        let report = search(&game, &table, 1 << 26, options, 24, limits, &mut ());
        let (count, _) = table.count();
        assert_eq!(report.counters.table_used, count);
        assert!(!table.wants_growth(count - 24 * 16), "{count}");
        assert!(count > 5000, "{count}");
    }
}
