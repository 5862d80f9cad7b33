//! A worker's side: a job in, what came of it out.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::wire::{self, Kind, WireError};
use crate::jobs::messages::{Answer, JobId, JobOutcome, Message, Notice, Order, Search, WorkerId};
use crate::run::{Counters, Limits, Pace};

/// A worker with a memory of its own, whatever it searches.
///
/// One job is searched at a time; everything else may be called meanwhile, from other threads.
pub trait RemoteWorker: Sync {
    /// Searches a job, as the worker of this name. `entries` are what others know about its node
    /// ([`RemoteWorker::entries`]); without them the search only takes longer.
    ///
    /// # Errors
    /// If the answer is no job of this search, or the entries are none.
    fn search(
        &self,
        worker: WorkerId,
        answer: &[u8],
        entries: Option<&[u8]>,
    ) -> Result<Vec<u8>, WireError>;

    /// Searches on below the node of the last job, until the next job comes or so many nodes have been
    /// evaluated. What is found out goes with the next job's result. Does nothing while a job is being
    /// searched.
    fn go_on(&self, nodes: Option<u64>) {
        let _ = nodes;
    }

    /// What this worker knows below a node.
    ///
    /// # Errors
    /// If these bytes are no node of this search.
    fn entries(&self, node: &[u8]) -> Result<Vec<u8>, WireError>;

    /// Gives a job up, now or when it comes.
    fn call_off(&self, job: JobId);

    /// What the worker has counted in all its jobs.
    fn counters(&self) -> Counters;

    /// Entries that fit into its table.
    fn capacity(&self) -> u64;
}

/// The jobs of a worker, whatever it searches: taken in, called off, counted and answered.
pub(crate) struct WorkerJobs<'a> {
    /// Which search they belong to.
    pub search: u64,
    pace: Option<&'a dyn Pace>,
    calls: CallOffs,
    /// Held by whoever searches.
    busy: Mutex<()>,
    /// Jobs that wait for their turn.
    waiting: AtomicUsize,
    /// Stops what goes on without a job.
    wanted: AtomicBool,
    /// What was counted without a job since the last result.
    owed: Mutex<Counters>,
    /// What has been counted.
    total: Mutex<Counters>,
}

impl<'a> WorkerJobs<'a> {
    pub fn new(search: u64, pace: Option<&'a dyn Pace>) -> Self {
        let (calls, busy, waiting, wanted, owed, total) = Default::default();
        WorkerJobs { search, pace, calls, busy, waiting, wanted, owed, total }
    }

    /// Searches the job in an answer. `work` gets it with the facts of others and the job's limits; the
    /// message has the outcome, what was counted, and the facts that were found out.
    ///
    /// # Errors
    /// If the answer is no job of this search, and those of `work`.
    pub fn run<N, C, T>(
        &self,
        worker: WorkerId,
        answer: &[u8],
        work: impl FnOnce(
            Search<N>,
            Vec<T>,
            Limits<'_>,
        ) -> Result<(JobOutcome<N, C>, Counters, Vec<T>), WireError>,
    ) -> Result<Vec<u8>, WireError>
    where
        N: Serialize + DeserializeOwned,
        C: Serialize,
        T: Serialize + DeserializeOwned,
    {
        let answer: Answer<N, T> = wire::decode(Kind::Answer, self.search, answer)?;
        let Answer { order: Order::Search(search), facts, read } = answer else {
            return Err(WireError::Unexpected("a job"));
        };
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.wanted.store(true, Ordering::SeqCst);
        let _busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        let (job, nodes) = (search.job, Some(search.budget));
        let stop = self.calls.begin(job);
        let limits = Limits { nodes, stop: Some(&stop), pace: self.pace, ..Limits::default() };
        let found = work(search, facts, limits);
        self.calls.end();
        let (outcome, mut spent, facts) = found?;
        self.lock_total().add_since(&spent, &Counters::default());
        let owed = std::mem::take(&mut *self.owed.lock().unwrap_or_else(PoisonError::into_inner));
        spent.add_since(&owed, &Counters::default());
        let notice = Notice::Done { job, outcome, spent };
        let message = Message { worker, facts, read, notice };
        Ok(wire::encode(Kind::Message, self.search, &message))
    }

    /// Searches without a job, unless there is one: see [`RemoteWorker::go_on`].
    ///
    /// A job says that it waits before it raises the flag `wanted`; here the flag is lowered before the
    /// look at who waits. So a job that comes is seen here, or its flag stops `work`.
    pub fn go_on(&self, nodes: Option<u64>, work: impl FnOnce(Limits<'_>) -> Counters) {
        let _busy = match self.busy.try_lock() {
            Ok(busy) => busy,
            Err(TryLockError::Poisoned(busy)) => busy.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.wanted.store(false, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            return;
        }
        let stop = Some(&self.wanted);
        let spent = work(Limits { nodes, stop, pace: self.pace, ..Limits::default() });
        self.lock_total().add_since(&spent, &Counters::default());
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        owed.add_since(&spent, &Counters::default());
    }

    /// See [`RemoteWorker::call_off`].
    pub fn call_off(&self, job: JobId) {
        self.calls.call_off(job);
    }

    /// See [`RemoteWorker::counters`].
    pub fn counters(&self) -> Counters {
        *self.lock_total()
    }

    fn lock_total(&self) -> MutexGuard<'_, Counters> {
        self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which jobs have been called off.
#[derive(Debug, Default)]
struct CallOffs {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The job that is being searched, and what stops it.
    current: Option<(JobId, Arc<AtomicBool>)>,
    /// Jobs that are still to come.
    ahead: BTreeSet<JobId>,
    /// The latest job that has come. Names grow, and those of one worker come nearly in order.
    latest: JobId,
}

/// How many jobs behind the latest one may still come.
const BEHIND: u64 = 1 << 16;

impl CallOffs {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a job; the flag stops it.
    pub fn begin(&self, job: JobId) -> Arc<AtomicBool> {
        let mut state = self.lock();
        state.latest = state.latest.max(job);
        let oldest = state.latest.saturating_sub(BEHIND);
        state.ahead = state.ahead.split_off(&oldest);
        let stop = Arc::new(AtomicBool::new(state.ahead.remove(&job)));
        state.current = Some((job, stop.clone()));
        stop
    }

    /// Ends the job.
    pub fn end(&self) {
        self.lock().current = None;
    }

    /// Calls a job off.
    pub fn call_off(&self, job: JobId) {
        let mut state = self.lock();
        match &state.current {
            Some((current, stop)) if *current == job => stop.store(true, Ordering::Relaxed),
            _ => {
                state.ahead.insert(job);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_can_be_called_off_before_and_while_it_is_searched() {
        let calls = CallOffs::default();
        calls.call_off(5);
        let stop = calls.begin(4);
        assert!(!stop.load(Ordering::Relaxed));
        calls.call_off(4);
        assert!(stop.load(Ordering::Relaxed));
        calls.end();
        assert!(calls.begin(5).load(Ordering::Relaxed));
        calls.end();
        assert!(!calls.begin(6).load(Ordering::Relaxed));
        // What never comes is forgotten.
        calls.call_off(7);
        calls.begin(8 + BEHIND);
        assert!(calls.lock().ahead.is_empty());
    }
}
