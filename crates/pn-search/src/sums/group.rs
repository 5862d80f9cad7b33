//! Runs the workers of a search, and restarts them after a garbage collection when the memory was full.
//!
//! [`WorkerGroup`] runs the workers; [`ThreadWorker`] is one of them; [`GroupResult`] is their result.

use std::panic::resume_unwind;
use std::sync::Arc;

use super::collect::Collector;
use super::evaluate::{Evaluator, TableEvaluator};
use super::game::{Atom, Impartial};
use super::options::SearchOptions;
use super::solver_state::SolverState;
use crate::dfpn;
use crate::numbers::Pair;
use crate::parallel::run_workers;
use crate::run::{Counters, Limits, Observer, Outcome, Reason, Report, SearchMonitor, SharedState};
use crate::threads::start_worker;

/// Stack of a thread for each move of the longest game, in bytes.
const STACK_BYTES_PER_MOVE: usize = 4096;
/// Stack of a thread in addition to [`STACK_BYTES_PER_MOVE`] for each move.
const STACK_BYTES: usize = 4 << 20;

/// Expansions between two polls of the clock, the stop flag and the memory. Expansions of large
/// positions take a millisecond each.
pub(super) const POLL_INTERVAL: u32 = 64;

/// A worker of df-pn on sums. It always uses the protocol for several threads, which has no measurable cost on one
/// thread: an expansion takes microseconds.
pub(super) type ThreadWorker<'a, G> = dfpn::Worker<TableEvaluator<'a, G>, true>;

/// The workers of a search.
pub(super) struct WorkerGroup<'w, G: Impartial> {
    pub state: &'w SolverState<G>,
    pub options: SearchOptions,
    /// Number of workers. At least one is started.
    pub count: u32,
}

/// Result of a group of workers.
pub(super) struct GroupResult<T> {
    pub answer: Result<T, Reason>,
    /// Phi and delta of the root, as last computed by the first worker.
    pub root: Pair,
    pub counters: Counters,
    /// Number of workers that were started. If they were restarted, the maximum.
    pub threads: u32,
}

impl GroupResult<Pair> {
    /// Returns the report of a search. The answer has to be the numbers of a solved root.
    pub fn report(self, memory_bytes: u64) -> Report {
        let (outcome, pair) = match self.answer.map(|pair| (pair.value(), pair)) {
            Ok((Some(value), pair)) => (Outcome::Known(value), pair),
            Ok((None, _)) => unreachable!("the answer of a search has a value"),
            Err(reason) => (Outcome::Unknown(reason), self.root),
        };
        let Pair { phi, delta } = pair;
        let GroupResult { counters, threads, .. } = self;
        Report { outcome, phi, delta, best: None, counters, memory_bytes, threads }
    }
}

impl<G: Impartial> WorkerGroup<'_, G> {
    /// Runs workers until `task` returns an answer in one of them or the search is stopped. If the memory is full,
    /// collects garbage and restarts the workers. The atoms of `root` are kept.
    pub fn search<T: Send>(
        &self,
        root: &[Atom],
        limits: Limits<'_>,
        observer: &mut dyn Observer,
        task: impl Fn(&mut ThreadWorker<'_, G>) -> Option<T> + Sync,
    ) -> GroupResult<T> {
        let count = self.count.max(1) as usize;
        let table = &self.state.table;
        let begin = Counters { table_used: table.estimated_count(), ..Counters::default() };
        let shared = SharedState::new(count, limits, begin);
        let mut collector = Collector::default();
        let mut threads = 1;
        loop {
            let (found, root_pair, started) = self.run_once(&task, root, &shared, observer);
            threads = started.max(threads);
            let unreported = shared.take_found();
            if !unreported.is_empty() && !observer.grundy_numbers(&unreported) {
                shared.stop(Reason::FileError);
            }
            if found.is_none()
                && shared.reason() == Some(Reason::Memory)
                && collector.collect(self.state, root, self.count, &|| limits.reached().is_some())
            {
                shared.resume(table.count().0);
                continue;
            }
            let stopped = || shared.reason().expect("a search without an answer has been stopped");
            let answer = found.ok_or_else(stopped);
            return GroupResult { answer, root: root_pair, counters: shared.counters(), threads };
        }
    }

    /// Runs workers until one has an answer or the search is stopped. Returns the answer, the root's phi and delta as
    /// last computed by the first worker, and the number of workers.
    fn run_once<T: Send>(
        &self,
        task: &(impl Fn(&mut ThreadWorker<'_, G>) -> Option<T> + Sync),
        root: &[Atom],
        shared: &Arc<SharedState<'_>>,
        observer: &mut dyn Observer,
    ) -> (Option<T>, Pair, u32) {
        let &WorkerGroup { state, options, count } = self;
        let lives = |&atom: &Atom| state.game.features(atom).lives as usize;
        let moves: usize = root.iter().map(lives).sum();
        let stack = STACK_BYTES.saturating_add(moves.saturating_mul(STACK_BYTES_PER_MOVE));
        let run = |observer: &mut dyn Observer| {
            run_workers(shared, stack, observer, |slot, observer| {
                // Shortens the lifetime of the trait object.
                let observer = observer.map(|observer| observer as &mut dyn Observer);
                let monitor = SearchMonitor::with_interval(slot, observer, POLL_INTERVAL);
                let table = &state.table;
                let evaluator = Evaluator::new(state, table, monitor, options, count > 1);
                let mut worker = ThreadWorker::new(evaluator, options.params());
                let found = task(&mut worker);
                let monitor = &mut worker.tree.monitor;
                if found.is_some() {
                    monitor.state().finish();
                }
                monitor.finish();
                (found, monitor.root.pair)
            })
        };
        // The stack of the calling thread may be too small, so it is used only if no thread can be started.
        let results = std::thread::scope(|scope| {
            let first = start_worker(scope, "search", stack, || run(&mut *observer))?;
            Some(first.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let results = results.unwrap_or_else(|| run(observer));
        let (started, pair) = (results.len() as u32, results[0].1);
        (results.into_iter().find_map(|(found, _)| found), pair, started)
    }
}
