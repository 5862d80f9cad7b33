//! A worker in another process: receives jobs and sends their results.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::message::{Instruction, Job, JobId, JobOutcome, Reply, Request, WorkerId, WorkerState};
use super::wire::{self, Kind, WireError};
use crate::run::{Counters, Limits};

/// A worker with a table of its own, for any game.
///
/// It searches one job at a time. All other methods may be called meanwhile, from other threads.
pub trait RemoteWorker: Sync {
    /// Searches the job in a reply, as the worker with this id, and returns the request with its result. `entries` are
    /// those of another worker below its node ([`RemoteWorker::entries`]); without them the search only takes
    /// longer.
    ///
    /// # Errors
    /// If the reply has no job of this search, or the entries are not valid.
    fn search(
        &self,
        worker: WorkerId,
        reply: &[u8],
        entries: Option<&[u8]>,
    ) -> Result<Vec<u8>, WireError>;

    /// Continues below the node of the last job until the next job comes or this number of nodes has been
    /// evaluated. The results are sent with that of the next job. Does nothing while a job is being
    /// searched.
    fn go_on(&self, nodes: Option<u64>) {
        let _ = nodes;
    }

    /// The entries of this worker below a node.
    ///
    /// # Errors
    /// If these bytes are not a node of this search.
    fn entries(&self, node: &[u8]) -> Result<Vec<u8>, WireError>;

    /// Cancels a job, now or when it comes.
    fn cancel(&self, job: JobId);

    /// Counters of all jobs of the worker.
    fn counters(&self) -> Counters;

    /// Number of entries that fit into its table.
    fn capacity(&self) -> u64;
}

/// Jobs of a worker: received, cancelled, counted and answered.
pub(crate) struct WorkerJobs<'a> {
    /// Id of the search.
    pub search: u64,
    /// Limits of every search, beside its budget and its stop flag.
    limits: Limits<'a>,
    cancelled: CancelledJobs,
    /// Held while a node is searched.
    busy: Mutex<()>,
    /// Number of jobs that wait.
    waiting: AtomicUsize,
    /// Stops the search without a job.
    wanted: AtomicBool,
    /// Counters of the search without a job since the last result.
    owed: Mutex<Counters>,
    /// Counters of all searches.
    total: Mutex<Counters>,
}

impl<'a> WorkerJobs<'a> {
    pub fn new(search: u64, limits: Limits<'a>) -> Self {
        let (cancelled, busy, waiting, wanted, owed, total) = Default::default();
        WorkerJobs { search, limits, cancelled, busy, waiting, wanted, owed, total }
    }

    /// Searches the job in a reply. `work` gets it with the results of other workers and the job's limits, and
    /// returns the outcome, the counters, and the results to share.
    ///
    /// # Errors
    /// If the reply has no job of this search, and those of `work`.
    pub fn run<N, C, R>(
        &self,
        worker: WorkerId,
        reply: &[u8],
        work: impl FnOnce(
            Job<N>,
            Vec<R>,
            Limits<'_>,
        ) -> Result<(JobOutcome<C>, Counters, Vec<R>), WireError>,
    ) -> Result<Vec<u8>, WireError>
    where
        N: Serialize + DeserializeOwned,
        C: Serialize,
        R: Serialize + DeserializeOwned,
    {
        let reply: Reply<N, R> = wire::decode(Kind::Reply, self.search, reply)?;
        let Reply { instruction: Instruction::Search(job), results, received } = reply else {
            return Err(WireError::Unexpected("a job"));
        };
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.wanted.store(true, Ordering::SeqCst);
        let _busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        let (id, nodes) = (job.id, Some(job.budget));
        let stop = self.cancelled.begin(id);
        let limits = Limits { nodes, stop: Some(&stop), ..self.limits };
        let found = work(job, results, limits);
        self.cancelled.end();
        let (outcome, mut spent, results) = found?;
        self.lock_total().add_since(&spent, &Counters::default());
        let owed = std::mem::take(&mut *self.owed.lock().unwrap_or_else(PoisonError::into_inner));
        spent.add_since(&owed, &Counters::default());
        let state = WorkerState::Done { job: id, outcome, spent };
        let request = Request { worker, results, received, state };
        Ok(wire::encode(Kind::Request, self.search, &request))
    }

    /// Searches without a job, unless there is one: see [`RemoteWorker::go_on`].
    ///
    /// A job increments `waiting` before it raises the flag `wanted`; here the flag is lowered before `waiting` is
    /// read. So a job that comes is seen here, or its flag stops `work`.
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
        let spent = work(Limits { nodes, stop, ..self.limits });
        self.lock_total().add_since(&spent, &Counters::default());
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        owed.add_since(&spent, &Counters::default());
    }

    /// See [`RemoteWorker::cancel`].
    pub fn cancel(&self, job: JobId) {
        self.cancelled.cancel(job);
    }

    /// See [`RemoteWorker::counters`].
    pub fn counters(&self) -> Counters {
        *self.lock_total()
    }

    fn lock_total(&self) -> MutexGuard<'_, Counters> {
        self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Jobs that have been cancelled.
#[derive(Debug, Default)]
struct CancelledJobs {
    state: Mutex<CancelState>,
}

#[derive(Debug, Default)]
struct CancelState {
    /// The job that is being searched, and the flag that stops it.
    current: Option<(JobId, Arc<AtomicBool>)>,
    /// Cancelled jobs that have not come.
    ahead: BTreeSet<JobId>,
    /// The latest job that has come. Ids grow, and those of one worker come nearly in order.
    latest: JobId,
}

/// Maximum distance of a job that has not come from the latest one.
const BEHIND: u64 = 1 << 16;

impl CancelledJobs {
    fn lock(&self) -> MutexGuard<'_, CancelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a job. The flag stops it.
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

    /// Cancels a job.
    pub fn cancel(&self, job: JobId) {
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
    fn a_job_can_be_cancelled_before_and_while_it_is_searched() {
        let calls = CancelledJobs::default();
        calls.cancel(5);
        let stop = calls.begin(4);
        assert!(!stop.load(Ordering::Relaxed));
        calls.cancel(4);
        assert!(stop.load(Ordering::Relaxed));
        calls.end();
        assert!(calls.begin(5).load(Ordering::Relaxed));
        calls.end();
        assert!(!calls.begin(6).load(Ordering::Relaxed));
        // Jobs that never come are forgotten.
        calls.cancel(7);
        calls.begin(8 + BEHIND);
        assert!(calls.lock().ahead.is_empty());
    }
}
