//! A worker in another process: receives couples, searches them by df-pn, and sends the results.
//!
//! Workers exchange Grundy numbers, but no table entries: collecting and reading the numbers of open couples below a
//! leaf, with the names of their atoms, takes more time than it saves (docs/design/sprouts-search.md).

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::named::{Couple, Hints, ImportError, Named, append_numbers, numbers_in};
use crate::Value;
use crate::cluster::message::{Job, JobId, JobOutcome, WorkerId};
use crate::cluster::wire::{self, Kind};
use crate::cluster::{RemoteWorker, WireError, WorkerJobs};
use crate::numbers::Pair;
use crate::run::{Counters, Limits, Observer, Reason, SearchMonitor, SharedState, WorkerSlot};
use crate::search_tree::{Expanded, SearchTree};
use crate::sums::collect::Collector;
use crate::sums::evaluate::{Evaluator, TableEvaluator};
use crate::sums::expand::{ExpandedCouple, NONE_NEW};
use crate::sums::game::Atom;
use crate::sums::knowledge::MAX_GRUNDY;
use crate::sums::options::SearchOptions;
use crate::sums::threads::{GroupResult, POLL_INTERVAL, ThreadWorker, WorkerGroup};
use crate::sums::workspace::{SolverState, code_of, couple_of};

/// A worker for a game whose atoms have names.
///
/// The budget of a job limits both nodes and expansions, because an expansion may add no new nodes.
pub struct SumWorker<'a, G: Named> {
    pub(super) workspace: SolverState<'a, G>,
    options: SearchOptions,
    threads: NonZeroUsize,
    jobs: WorkerJobs<'a>,
    scratch: Mutex<G::Scratch>,
}

impl<'a, G: Named> SumWorker<'a, G> {
    /// Creates a worker for the search with id `search`. The worker owns the solver state: a job may let the table
    /// grow, and no other search may use the table meanwhile.
    pub fn new(
        workspace: SolverState<'a, G>,
        options: SearchOptions,
        threads: NonZeroUsize,
        search: u64,
        limits: Limits<'a>,
    ) -> Self {
        let jobs = WorkerJobs::new(search, limits);
        SumWorker { workspace, options, threads, jobs, scratch: Mutex::default() }
    }

    /// Calls `run` with an evaluator. Returns the result of `run`, the evaluator's counters, and the new Grundy
    /// numbers.
    fn evaluate<T>(
        &self,
        run: impl FnOnce(&mut TableEvaluator<'_, G>) -> T,
    ) -> (T, Counters, Vec<(Atom, u32)>) {
        let state = SharedState::new(1, Limits::default(), Counters::default());
        // There is no observer, so new Grundy numbers stay in the state.
        let monitor = SearchMonitor::with_interval(WorkerSlot::first(&state), None, POLL_INTERVAL);
        let workspace = &self.workspace;
        let mut evaluator =
            Evaluator::new(workspace, &workspace.table, monitor, self.options, false);
        let result = run(&mut evaluator);
        let counters = evaluator.monitor.counters;
        evaluator.monitor.finish();
        (result, counters, state.take_found())
    }

    /// Imports results of other workers until the memory is full. If some are left out, the search only takes longer.
    ///
    /// # Errors
    /// If a result contradicts this worker's results. The error is the atom.
    fn add_numbers(&self, results: &[u8], scratch: &mut G::Scratch) -> Result<(), Atom> {
        let import = |evaluator: &mut TableEvaluator<'_, G>| {
            for result in numbers_in(results).flatten() {
                match evaluator.import_number(result, scratch) {
                    Ok(_) => {}
                    Err(ImportError::Full) => break,
                    Err(ImportError::Contradiction(atom)) => return Err(atom),
                }
            }
            Ok(())
        };
        self.evaluate(import).0
    }

    /// Returns the atom of a job. If there is no memory for the atom, collects garbage. Returns `None` if there is no
    /// memory after that either.
    fn find(
        &self,
        name: &[u8],
        scratch: &mut G::Scratch,
        stop: Option<&AtomicBool>,
    ) -> Result<Option<Atom>, WireError> {
        let SolverState { game, .. } = &self.workspace;
        let mut found = game.find(name, scratch);
        let stop = || stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let threads = self.threads.get() as u32;
        if found.is_err() && Collector::default().collect(&self.workspace, &[], threads, &stop) {
            found = game.find(name, scratch);
        }
        match found {
            Err(_) => Ok(None),
            Ok(Some(atom)) => Ok(Some(atom)),
            Ok(None) => Err(WireError::Unexpected("a job with an atom of this game")),
        }
    }

    /// Searches a couple. Returns the outcome, the counters and the new Grundy numbers.
    fn search_couple(
        &self,
        code: u64,
        budget: u64,
        limits: Limits<'_>,
    ) -> (JobOutcome<Vec<Hints>>, Counters, Vec<u8>) {
        let workspace = &self.workspace;
        let threads = self.threads.get() as u32;
        let threads = WorkerGroup { workspace, options: self.options, count: threads };
        let budget = budget.div_ceil(threads.count.into());
        let mut found = GrundyCollector { game: workspace.game, results: Vec::new() };
        let (atom, _) = couple_of(code);
        let search = |worker: &mut ThreadWorker<'_, G>| worker.search_job(code, budget);
        let GroupResult { answer, counters, .. } =
            threads.search(&[atom], limits, &mut found, search);
        let mut spent = counters;
        let outcome = match answer.map(Pair::value) {
            Ok(Some(value)) => JobOutcome::Solved(value, None),
            Err(Reason::Interrupted) => JobOutcome::Stopped,
            Err(reason @ (Reason::FileError | Reason::TimeLimit | Reason::Contradiction)) => {
                JobOutcome::Failed(reason)
            }
            // If the memory is full, the results so far are sent.
            Ok(None) | Err(Reason::NodeLimit | Reason::Memory) => {
                let (outcome, counters, numbers) =
                    self.evaluate(|evaluator| children(evaluator, code));
                spent.add_since(&counters, &Counters::default());
                found.grundy_numbers(&numbers);
                outcome
            }
        };
        if let Some(number) = workspace.knowledge.get(atom).grundy() {
            // An earlier job may have found the number after the coordinator assigned this job.
            found.grundy_numbers(&[(atom, number)]);
        }
        // The coordinator counts the entries of its own table, and each Grundy number when it first receives it.
        let spent = Counters { table_used: 0, table_replaced: 0, grundy_numbers: 0, ..spent };
        (outcome, spent, found.results)
    }
}

impl<G: Named> RemoteWorker for SumWorker<'_, G> {
    fn search(
        &self,
        worker: WorkerId,
        reply: &[u8],
        entries: Option<&[u8]>,
    ) -> Result<Vec<u8>, WireError> {
        if let Some(bytes) = entries {
            wire::open(Kind::Entries, self.jobs.search, bytes)?;
        }
        self.jobs.run(worker, reply, |job, results, limits| {
            let Job { node: Couple { atom, nimber }, budget, .. } = job;
            if nimber > MAX_GRUNDY {
                return Err(WireError::Unexpected("a job with a valid nim heap"));
            }
            let scratch = &mut *self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = self.add_numbers(results, scratch);
            let atom = self.find(&atom, scratch, limits.stop)?;
            Ok(match (taken, atom) {
                (Err(atom), _) => {
                    // The worker sends its own number, unless it has only excluded the number in the result.
                    let SolverState { game, knowledge, .. } = &self.workspace;
                    let mut known = Vec::new();
                    if let Some(number) = knowledge.get(atom).grundy() {
                        append_numbers(*game, &[(atom, number)], &mut known);
                    }
                    (JobOutcome::Failed(Reason::Contradiction), Counters::default(), known)
                }
                (_, None) => (JobOutcome::Open(Vec::new()), Counters::default(), Vec::new()),
                (_, Some(atom)) => self.search_couple(code_of(atom, nimber), budget, limits),
            })
        })
    }

    fn entries(&self, node: &[u8]) -> Result<Vec<u8>, WireError> {
        let _: Couple = wire::decode(Kind::Node, self.jobs.search, node)?;
        Ok(wire::seal(Kind::Entries, self.jobs.search, |_| {}))
    }

    fn cancel(&self, job: JobId) {
        self.jobs.cancel(job);
    }

    fn counters(&self) -> Counters {
        self.jobs.counters()
    }

    fn capacity(&self) -> u64 {
        self.workspace.table.capacity()
    }
}

/// Returns the hints below a couple that is still open, or its value if it can be computed.
fn children<G: Named>(evaluator: &mut TableEvaluator<'_, G>, code: u64) -> JobOutcome<Vec<Hints>> {
    let (atom, nimber) = couple_of(code);
    let expanded = match SearchTree::value(evaluator, code) {
        Some(value) => Expanded::Solved(value),
        None => evaluator.expanded(code, true, NONE_NEW),
    };
    match expanded {
        Expanded::Solved(value) => {
            SearchTree::solved(evaluator, code, value, 1);
            JobOutcome::Solved(value, None)
        }
        Expanded::Won(_) => JobOutcome::Solved(Value::Win, None),
        Expanded::Stopped => JobOutcome::Open(Vec::new()),
        Expanded::Open(ExpandedCouple { list, .. }) => {
            JobOutcome::Open(evaluator.hints_below(atom, nimber, &list))
        }
    }
}

/// Collects new Grundy numbers as bytes of a message.
struct GrundyCollector<'g, G> {
    game: &'g G,
    results: Vec<u8>,
}

impl<G: Named> Observer for GrundyCollector<'_, G> {
    fn grundy_numbers(&mut self, numbers: &[(Atom, u32)]) -> bool {
        append_numbers(self.game, numbers, &mut self.results);
        true
    }
}
