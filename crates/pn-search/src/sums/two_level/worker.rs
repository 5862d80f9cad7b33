//! A worker in another process: receives couples, searches them by df-pn, and sends the results.
//!
//! Workers exchange Grundy numbers. They exchange neither won or open couples nor the table entries below a leaf: both
//! take more time than they save (docs/design/sprouts-search.md).

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::named::{
    Couple, ImportError, Named, SharedCouple, couple_bytes, couples_in, lost_couple,
};
use crate::Value;
use crate::cluster::message::JobOutcome;
use crate::cluster::{JobResult, JobSearch, WireError};
use crate::numbers::Pair;
use crate::parallel::for_each_share;
use crate::run::{Counters, Limits, Reason, SearchMonitor, SharedState, WorkerSlot};
use crate::search_tree::{Expanded, SearchTree};
use crate::sums::collect::Collector;
use crate::sums::evaluate::{Evaluator, TableEvaluator};
use crate::sums::expand::{ExpandedCouple, NONE_NEW};
use crate::sums::game::Atom;
use crate::sums::group::{GroupResult, POLL_INTERVAL, ThreadWorker, WorkerGroup};
use crate::sums::knowledge::MAX_GRUNDY;
use crate::sums::options::SearchOptions;
use crate::sums::solver_state::{SolverState, code_of, couple_of};

/// Minimum number of results for which a further thread is started. To import that many takes several times as long as
/// to start the thread.
const MIN_SHARE: usize = 256;

/// A worker of a game whose atoms have names, to be used in a [`WireWorker`](crate::cluster::WireWorker).
///
/// The budget of a job limits both nodes and expansions, because an expansion may add no new nodes.
pub struct SumWorker<G: Named> {
    pub(super) state: SolverState<G>,
    options: SearchOptions,
    threads: NonZeroUsize,
    min_shared_work: u64,
    scratch: Mutex<G::Scratch>,
}

impl<G: Named> SumWorker<G> {
    /// Creates a worker that shares Grundy numbers that took at least `min_shared_work` expansions. It owns the solver
    /// state: a job may let the table grow, and no other search may use the table meanwhile.
    pub fn new(
        state: SolverState<G>,
        options: SearchOptions,
        threads: NonZeroUsize,
        min_shared_work: u64,
    ) -> Self {
        SumWorker { state, options, threads, min_shared_work, scratch: Mutex::default() }
    }

    /// Calls `run` with an evaluator. Returns the result of `run` and the evaluator's counters.
    fn evaluate<T>(&self, run: impl FnOnce(&mut TableEvaluator<'_, G>) -> T) -> (T, Counters) {
        let shared = SharedState::new(1, Limits::default(), Counters::default());
        let monitor = SearchMonitor::with_interval(WorkerSlot::first(&shared), None, POLL_INTERVAL);
        let state = &self.state;
        let mut evaluator = Evaluator::new(state, &state.table, monitor, self.options, false);
        let result = run(&mut evaluator);
        (result, evaluator.monitor.counters)
    }

    /// Imports results of other workers, on all threads, until the memory is full. If some are left out, the search only
    /// takes longer.
    ///
    /// # Errors
    /// If a result contradicts this worker's results. The error is the atom.
    fn add_results(&self, results: &[SharedCouple<'_>]) -> Result<(), Atom> {
        let add = |results: &[SharedCouple<'_>]| self.add_share(results);
        for_each_share(results, self.threads, MIN_SHARE, add).into_iter().collect()
    }

    fn add_share(&self, results: &[SharedCouple<'_>]) -> Result<(), Atom> {
        let mut scratch = G::Scratch::default();
        let import = |evaluator: &mut TableEvaluator<'_, G>| {
            for &result in results {
                match evaluator.import(result, &mut scratch) {
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
        let SolverState { game, .. } = &self.state;
        let mut found = game.find(name, scratch);
        let stop = || stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let threads = self.threads.get() as u32;
        if found.is_err() && Collector::default().collect(&self.state, &[], threads, &stop) {
            found = game.find(name, scratch);
        }
        match found {
            Err(_) => Ok(None),
            Ok(Some(atom)) => Ok(Some(atom)),
            Ok(None) => Err(WireError::Unexpected("a job with an atom of this game")),
        }
    }

    /// Searches a couple. Returns the outcome, the counters and the new Grundy numbers for other workers.
    fn search_couple(&self, code: u64, budget: u64, limits: Limits<'_>) -> JobResult<Vec<u8>> {
        let state = &self.state;
        let threads = self.threads.get() as u32;
        let group = WorkerGroup { state, options: self.options, count: threads };
        let budget = budget.div_ceil(group.count.into());
        let (atom, _) = couple_of(code);
        let numbers = Mutex::new(Vec::new());
        let search = |worker: &mut ThreadWorker<'_, G>| {
            worker.tree.min_shared_work = self.min_shared_work;
            let found = worker.search_job(code, budget);
            lock(&numbers).append(&mut worker.tree.shared);
            found
        };
        let GroupResult { answer, counters, .. } = group.search(&[atom], limits, &mut (), search);
        let mut numbers = std::mem::take(&mut *lock(&numbers));
        let mut spent = counters;
        let outcome = match answer.map(Pair::value) {
            Ok(Some(value)) => JobOutcome::Solved(value, None),
            Err(Reason::Interrupted) => JobOutcome::Stopped,
            Err(reason @ (Reason::FileError | Reason::TimeLimit | Reason::Contradiction)) => {
                JobOutcome::Failed(reason)
            }
            // If the memory is full, the results so far are sent.
            Ok(None) | Err(Reason::NodeLimit | Reason::Memory) => {
                let (outcome, counters) = self.evaluate(|evaluator| children(evaluator, code));
                spent.add(&counters);
                outcome
            }
        };
        // The number may have taken few expansions, or an earlier job may have found it after the coordinator assigned
        // this job.
        numbers.extend(state.knowledge.get(atom).grundy().map(|number| (atom, number)));
        numbers.sort_unstable();
        numbers.dedup();
        let results = couple_bytes(state.game(), numbers.into_iter().map(lost_couple));
        // The coordinator counts the entries of its own table, and each Grundy number when it first receives it.
        let spent = Counters { table_used: 0, table_replaced: 0, grundy_numbers: 0, ..spent };
        (outcome, spent, results)
    }
}

impl<G: Named> JobSearch for SumWorker<G> {
    type Node = Couple;
    /// Results about the couples below a node.
    type Children = Vec<u8>;

    fn search(
        &self,
        Couple { atom, nimber }: Couple,
        results: &[u8],
        _entries: &[u8],
        budget: u64,
        limits: Limits<'_>,
    ) -> Result<JobResult<Vec<u8>>, WireError> {
        if nimber > MAX_GRUNDY {
            return Err(WireError::Unexpected("a job with a valid nim heap"));
        }
        let scratch = &mut *lock(&self.scratch);
        let results: Option<Vec<SharedCouple<'_>>> = couples_in(results).collect();
        let results = results.ok_or(WireError::Unexpected("a list of valid results"))?;
        let taken = self.add_results(&results);
        let atom = self.find(&atom, scratch, limits.stop)?;
        Ok(match (taken, atom) {
            (Err(atom), _) => {
                // The worker sends its own number, unless it has only excluded the number in the result.
                let SolverState { game, knowledge, .. } = &self.state;
                let number = knowledge.get(atom).grundy().map(|number| lost_couple((atom, number)));
                let known = couple_bytes(&**game, number);
                (JobOutcome::Failed(Reason::Contradiction), Counters::default(), known)
            }
            (_, None) => (JobOutcome::Open(Vec::new()), Counters::default(), Vec::new()),
            (_, Some(atom)) => self.search_couple(code_of(atom, nimber), budget, limits),
        })
    }

    fn capacity(&self) -> u64 {
        self.state.table.capacity()
    }
}

/// Returns the results below a couple that is still open, or its value if it can be computed.
fn children<G: Named>(evaluator: &mut TableEvaluator<'_, G>, code: u64) -> JobOutcome<Vec<u8>> {
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
            JobOutcome::Open(evaluator.results_below(atom, nimber, &list))
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
