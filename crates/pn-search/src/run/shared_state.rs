//! State that the workers of a search share: limits, counters, the end of the search, and Grundy numbers.

use std::sync::{Arc, PoisonError};

use super::counters::COUNTERS;
use super::cutoff::CutoffMailboxes;
use super::resize_barrier::ResizeBarrier;
use super::sync::{AtomicU8, AtomicU64, Mutex, Ordering};
use super::virtual_loss::VirtualLossTable;
use super::{Counters, Limits, Reason};

/// Values of [`SharedState::halt`]. If a [`Reason`] has stopped the search, its index is added to [`REASONS`].
const RUNNING: u8 = 0;
const SOLVED: u8 = 1;
const PANIC: u8 = 2;
const REASONS: u8 = 3;

/// State that the workers of a search share, apart from the table.
pub(crate) struct SharedState<'a> {
    limits: Limits<'a>,
    /// Maximum number of workers, at least 1.
    workers: usize,
    pub node_limit: u64,
    /// Reason why all workers have to stop, or [`RUNNING`]. Only the first reason is stored.
    halt: AtomicU8,
    totals: [AtomicU64; COUNTERS],
    /// Grundy numbers that have not been reported to the observer.
    found: Mutex<Vec<(u32, u32)>>,
    pub virtual_losses: VirtualLossTable,
    pub mailboxes: CutoffMailboxes,
    pub barrier: ResizeBarrier,
}

impl<'a> SharedState<'a> {
    /// Creates the state of up to `workers` workers, at least one. `begin` are the counters at the start: the
    /// root, and the entries in the table.
    pub fn new(workers: usize, limits: Limits<'a>, begin: Counters) -> Arc<Self> {
        let workers = workers.max(1);
        let state = SharedState {
            limits,
            workers,
            node_limit: limits.nodes.unwrap_or(u64::MAX),
            halt: AtomicU8::new(RUNNING),
            totals: begin.to_array().map(AtomicU64::new),
            found: Mutex::new(Vec::new()),
            virtual_losses: VirtualLossTable::new(workers),
            mailboxes: CutoffMailboxes::new(workers),
            barrier: ResizeBarrier::new(),
        };
        if let Some(reason) = limits.reached() {
            state.stop(reason);
        }
        Arc::new(state)
    }

    fn halt(&self, halt: u8) {
        // Relaxed: a worker that reads the old state only works a little longer. The results are
        // published when the threads are joined.
        let _ = self.halt.compare_exchange(RUNNING, halt, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Number of expansions between two polls of a worker: `usual`, unless a scheduler sets another.
    pub fn interval(&self, usual: u32) -> u32 {
        self.limits.scheduler().map_or(usual, |scheduler| scheduler.interval().max(1))
    }

    /// Stops all workers, because the root is solved.
    pub fn finish(&self) {
        self.halt(SOLVED);
    }

    /// Stops all workers for a reason, without a value.
    pub fn stop(&self, reason: Reason) {
        self.halt(REASONS + reason as u8);
    }

    /// Returns true if all workers have to stop.
    #[inline(always)]
    pub fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed) != RUNNING
    }

    /// Reason for which the search was stopped; `None` if it runs, is solved, or a worker has panicked.
    pub fn reason(&self) -> Option<Reason> {
        let number = self.halt.load(Ordering::Relaxed).checked_sub(REASONS)?;
        Reason::ALL.get(usize::from(number)).copied()
    }

    /// Polls the stop flag and the clock. Returns true if all workers have to stop.
    pub fn poll(&self) -> bool {
        if !self.is_halted()
            && let Some(reason) = self.limits.reached()
        {
            self.stop(reason);
        }
        self.is_halted()
    }

    /// Continues a search that was stopped, with `table_used` entries in the table. No worker may be running.
    pub fn resume(&self, table_used: u64) {
        self.halt.store(RUNNING, Ordering::Relaxed);
        let mut counters = self.counters();
        counters.table_used = table_used;
        counters.collections += 1;
        for (total, count) in self.totals.iter().zip(counters.to_array()) {
            total.store(count, Ordering::Relaxed);
        }
    }

    /// Maximum number of workers, at least 1.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Sum of the counters that all workers have added.
    pub fn counters(&self) -> Counters {
        Counters::from_array(std::array::from_fn(|at| self.totals[at].load(Ordering::Relaxed)))
    }

    /// Takes the Grundy numbers that have not been reported.
    pub fn take_found(&self) -> Vec<(u32, u32)> {
        std::mem::take(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Membership of a worker in a search. The worker leaves when its slot is dropped, also by a panic.
pub(crate) struct WorkerSlot<'a> {
    pub state: Arc<SharedState<'a>>,
    /// Number of the worker, less than [`SharedState::workers`].
    number: usize,
    added: Counters,
}

impl<'a> WorkerSlot<'a> {
    /// Joins as the first worker.
    pub fn first(state: &Arc<SharedState<'a>>) -> Self {
        WorkerSlot::join(state, 0)
    }

    /// Joins once for each worker. All have to join before the first begins to search: the table must not grow
    /// between a worker's first look-up and its join.
    pub fn all(state: &Arc<SharedState<'a>>) -> impl Iterator<Item = Self> {
        (0..state.workers).map(|number| WorkerSlot::join(state, number))
    }

    fn join(state: &Arc<SharedState<'a>>, number: usize) -> Self {
        state.barrier.join();
        if let Some(scheduler) = state.limits.scheduler() {
            scheduler.join(number);
        }
        WorkerSlot { state: state.clone(), number, added: Counters::default() }
    }

    /// Number of the worker.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Waits at the resize barrier until one of the workers has done the work.
    pub fn pass_barrier(&self, work: impl FnOnce()) {
        let SharedState { limits, barrier, .. } = &*self.state;
        if let Some(scheduler) = limits.scheduler() {
            scheduler.enter_barrier(self.number);
        }
        barrier.pass(work);
        if let Some(scheduler) = limits.scheduler() {
            scheduler.leave_barrier(self.number);
        }
    }

    /// Adds the counts since the last call to the totals, and moves the Grundy numbers in `found` to the shared state.
    /// Returns the counters of the other workers.
    pub fn exchange(&mut self, counters: &Counters, found: &mut Vec<(u32, u32)>) -> Counters {
        let state = &*self.state;
        if let Some(scheduler) = state.limits.scheduler() {
            scheduler.yield_turn(self.number);
        }
        let (now, added) = (counters.to_array(), self.added.to_array());
        let mut others = [0; COUNTERS];
        for (at, total) in state.totals.iter().enumerate() {
            let more = now[at] - added[at];
            let before = if more > 0 {
                total.fetch_add(more, Ordering::Relaxed)
            } else {
                total.load(Ordering::Relaxed)
            };
            // The total is at least the worker's own share, unless a search was resumed.
            others[at] = before.saturating_sub(added[at]);
        }
        self.added = *counters;
        if !found.is_empty() {
            state.found.lock().unwrap_or_else(PoisonError::into_inner).append(found);
        }
        Counters::from_array(others)
    }
}

impl Drop for WorkerSlot<'_> {
    /// Stops the search if the thread panics, before the other workers can pass the barrier.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.state.halt(PANIC);
        }
        self.state.barrier.leave();
        if let Some(scheduler) = self.state.limits.scheduler() {
            scheduler.leave(self.number);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// There is a mailbox for each worker, for any number of workers.
    #[test]
    fn every_worker_has_a_mailbox() {
        for workers in [0, 1, 3] {
            let state = SharedState::new(workers, Limits::default(), Counters::default());
            let slots: Vec<_> =
                WorkerSlot::all(&state).chain([WorkerSlot::first(&state)]).collect();
            assert_eq!(slots.len(), workers.max(1) + 1);
            for slot in slots {
                assert_eq!(state.mailboxes.take(slot.number()), None);
            }
        }
    }
}
