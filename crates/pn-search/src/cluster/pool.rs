//! Workers of one process that share a table: the coordinator behind a mutex.
//!
//! A worker that needs a job locks the coordinator, delivers the result of its last job, and takes the next job.
//! If there is no job, the worker waits on a condition variable until another worker has delivered a result. While it
//! waits, it polls the limits and the observer every few milliseconds. All data is exchanged under the mutex.
//!
//! The workers share one [`SharedState`](crate::run::SharedState), which has the limits, the totals and the resize
//! barrier. A worker that waits for a job leaves the barrier. No worker waits at the barrier while it holds the
//! mutex. Cancellations are sent through the worker's mailbox.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::message::{Instruction, Job, JobOutcome, Request, WorkerState};
use super::{Coordinator, CoordinatorConfig, JobTree, PlainTree};
use crate::parallel::run_workers;
use crate::plain::evaluate::{EvaluationOptions, Evaluator};
use crate::plain::game::Game;
use crate::run::{
    Counters, Limits, Observer, Report, RootChild, RootNumbers, SearchMonitor, SharedState,
    SharedTree,
};

/// Time between two polls of the limits by a worker that waits for a job.
const POLL_PERIOD: Duration = Duration::from_millis(5);

/// Coordinator of the workers of one process.
pub(crate) struct Pool<T: JobTree> {
    coordinator: Mutex<Coordinator<T>>,
    changed: Condvar,
}

impl<T: JobTree> Pool<T> {
    /// Creates a pool for a tree. The limits of the search are in the workers' shared state.
    pub fn new(tree: T, config: CoordinatorConfig) -> Self {
        Pool { coordinator: Mutex::new(Coordinator::new(tree, config, 0)), changed: Condvar::new() }
    }

    /// Locks the coordinator. A poisoned mutex is usable: a worker that panics has stopped the search, so the
    /// coordinator is only read after that.
    pub fn lock(&self) -> MutexGuard<'_, Coordinator<T>> {
        self.coordinator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the coordinator after all workers have ended.
    pub fn into_coordinator(self) -> Coordinator<T> {
        self.coordinator.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs jobs of a worker until the search is over. `search` searches a node with a budget.
    pub fn run_jobs<'m, W>(
        &self,
        worker: &mut W,
        monitor: impl Fn(&mut W) -> &mut SearchMonitor<'m>,
        mut search: impl FnMut(&mut W, u64, u64) -> JobOutcome<T::Children>,
    ) {
        let mut state = WorkerState::Idle;
        while let Some(Job { id, node, budget, .. }) = self.next(monitor(worker), state) {
            let before = monitor(worker).counters;
            let outcome = search(worker, node, budget);
            let spent = monitor(worker).counters.since(&before);
            state = WorkerState::Done { job: id, outcome, spent };
        }
    }

    /// Delivers the result of a worker's last job, if it has had one, and waits for its next job. Returns `None` at
    /// the end of the search. The coordinator's counts are added to the worker's counters.
    fn next(
        &self,
        monitor: &mut SearchMonitor<'_>,
        mut state: WorkerState<T::Children>,
    ) -> Option<Job<u64>> {
        let number = monitor.number();
        let mut spent = match state {
            WorkerState::Done { spent, .. } => spent,
            WorkerState::Idle => Counters::default(),
        };
        loop {
            let mut coordinator = self.lock();
            let before = coordinator.counters();
            if let Some(reason) = monitor.stopped {
                coordinator.end(reason);
            }
            let has_result = !matches!(state, WorkerState::Idle);
            let state = std::mem::replace(&mut state, WorkerState::Idle);
            let worker = number as u64;
            let instruction = coordinator
                .handle(Request { worker, results: Vec::new(), received: 0, state })
                .instruction;
            for (worker, _) in coordinator.take_cancelled() {
                monitor.state().mailboxes.cancel(worker as usize);
            }
            if has_result || matches!(instruction, Instruction::Quit) {
                self.changed.notify_all();
            }
            for (atom, grundy) in coordinator.tree.take_grundy_numbers() {
                monitor.found(atom, grundy);
            }
            let counted = coordinator.counters().since(&before).since(&std::mem::take(&mut spent));
            // `found` has counted the Grundy numbers above.
            let counted = Counters { grundy_numbers: 0, ..counted };
            monitor.counters.add(&counted);
            // Removes a cut-off request for an earlier job.
            monitor.state().mailboxes.take(number);
            match instruction {
                Instruction::Search(job) => return Some(job),
                Instruction::Quit => return None,
                Instruction::Wait => {}
            }
            monitor.leave_barrier();
            drop(self.changed.wait_timeout(coordinator, POLL_PERIOD));
            monitor.join_barrier();
            monitor.poll();
        }
    }
}

/// Searches a plain game with `workers` workers, one per thread, which run jobs in `work`. The calling thread is one of
/// them. The threads have stacks of `stack_bytes`. Returns the report and the results of the workers.
///
/// # Panics
/// If the game, the observer or `work` does. The other threads are stopped first.
pub(crate) fn search_plain<'a, G: Game, T: Send>(
    tree: PlainTree<'a, G>,
    evaluation: EvaluationOptions,
    workers: usize,
    stack_bytes: usize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    work: impl Fn(&Pool<PlainTree<'a, G>>, Evaluator<'_, G>) -> T + Sync,
) -> (Report, Vec<T>) {
    let PlainTree { game, table, config, .. } = tree;
    let table_used = tree.table_used();
    let begin = Counters { nodes: 1, first_level: 1, table_used, ..Counters::default() };
    let state = SharedState::new(workers, limits, begin);
    let pool = Pool::new(tree, config);
    let results = run_workers(&state, stack_bytes, observer, |slot, observer| {
        // Shortens the lifetime of the trait object.
        let observer = observer.map(|observer| observer as &mut dyn Observer);
        let mut monitor = SearchMonitor::of_worker(slot, observer);
        monitor.tree = Some(&pool);
        work(&pool, Evaluator::new(game, table, monitor, evaluation))
    });
    let coordinator = pool.into_coordinator();
    let (reason, threads) = (coordinator.reason(), results.len() as u32);
    (coordinator.tree.report(reason, state.counters(), threads), results)
}

impl<T: JobTree + Send> SharedTree for Pool<T> {
    fn root(&self) -> RootNumbers {
        self.lock().tree.root()
    }

    fn root_children(&self) -> Vec<RootChild> {
        self.lock().tree.root_children()
    }
}
