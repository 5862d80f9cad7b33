//! A worker in another process: receives jobs and sends their results.
//!
//! [`RemoteWorker`] is the interface for the carrier of the messages. [`WorkerJobs`] handles the jobs of a worker, for
//! any game. [`CancelledJobs`] stores which jobs have been cancelled.

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
    /// Searches the job in a reply, as the worker with this id, and returns the request with the job's result.
    /// `entries` are the entries of another worker below the job's node ([`RemoteWorker::entries`]); without them the
    /// search only takes longer.
    ///
    /// # Errors
    /// If the reply has no job of this search, or the entries are not valid.
    fn search(
        &self,
        worker: WorkerId,
        reply: &[u8],
        entries: Option<&[u8]>,
    ) -> Result<Vec<u8>, WireError>;

    /// Continues the search below the node of the last job until the next job arrives or this number of nodes has
    /// been evaluated. The counters and shared results of this search are sent with the result of the next job. Does
    /// nothing while a job is being searched.
    fn continue_search(&self, nodes: Option<u64>) {
        let _ = nodes;
    }

    /// Returns the entries of this worker below a node.
    ///
    /// # Errors
    /// If these bytes are not a node of this search.
    fn entries(&self, node: &[u8]) -> Result<Vec<u8>, WireError>;

    /// Cancels a job that is being searched or has not arrived yet.
    fn cancel(&self, job: JobId);

    /// Returns the counters of all jobs of the worker.
    fn counters(&self) -> Counters;

    /// Returns the number of entries that fit into the worker's table.
    fn capacity(&self) -> u64;
}

/// Jobs of a worker: decodes and counts them, handles cancellations, and encodes their results.
pub(crate) struct WorkerJobs<'a> {
    /// Id of the search.
    pub search: u64,
    /// Limits of every search. The node limit and the stop flag are replaced by those of each search.
    limits: Limits<'a>,
    cancelled: Mutex<CancelledJobs>,
    /// Locked while a node is searched.
    busy: Mutex<()>,
    /// Number of jobs that wait for `busy`.
    waiting: AtomicUsize,
    /// Stop flag of a search without a job, set when a job arrives.
    has_job: AtomicBool,
    /// Counters of searches without a job since the last result.
    unreported: Mutex<Counters>,
    /// Counters of all searches.
    total: Mutex<Counters>,
}

impl<'a> WorkerJobs<'a> {
    pub fn new(search: u64, limits: Limits<'a>) -> Self {
        let (cancelled, busy, waiting, has_job, unreported, total) = Default::default();
        WorkerJobs { search, limits, cancelled, busy, waiting, has_job, unreported, total }
    }

    /// Searches the job in a reply. `work` receives the job, the results of other workers and the job's limits, and
    /// returns the outcome, the counters, and the results to share.
    ///
    /// # Errors
    /// If the reply has no job of this search. Errors of `work` are returned.
    pub fn run<N, C>(
        &self,
        worker: WorkerId,
        reply: &[u8],
        work: impl FnOnce(
            Job<N>,
            &[u8],
            Limits<'_>,
        ) -> Result<(JobOutcome<C>, Counters, Vec<u8>), WireError>,
    ) -> Result<Vec<u8>, WireError>
    where
        N: Serialize + DeserializeOwned,
        C: Serialize,
    {
        let reply: Reply<N> = wire::decode(Kind::Reply, self.search, reply)?;
        let Reply { instruction: Instruction::Search(job), results, received } = reply else {
            return Err(WireError::Unexpected("a job"));
        };
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.has_job.store(true, Ordering::SeqCst);
        let _busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        let (id, nodes) = (job.id, Some(job.budget));
        let stop = self.lock_cancelled().begin(id);
        let limits = Limits { nodes, stop: Some(&stop), ..self.limits };
        let found = work(job, &results, limits);
        self.lock_cancelled().current = None;
        let (outcome, mut spent, results) = found?;
        self.lock_total().add_since(&spent, &Counters::default());
        let unreported =
            std::mem::take(&mut *self.unreported.lock().unwrap_or_else(PoisonError::into_inner));
        spent.add_since(&unreported, &Counters::default());
        let state = WorkerState::Done { job: id, outcome, spent };
        let request = Request { worker, results, received, state };
        Ok(wire::encode(Kind::Request, self.search, &request))
    }

    /// Searches without a job, unless a job is waiting: see [`RemoteWorker::continue_search`].
    ///
    /// [`WorkerJobs::run`] increments `waiting` before it sets the flag `has_job`; this function clears the flag
    /// before it reads `waiting`. So either this function reads the new count, or the flag stops `work`.
    pub fn continue_search(&self, nodes: Option<u64>, work: impl FnOnce(Limits<'_>) -> Counters) {
        let _busy = match self.busy.try_lock() {
            Ok(busy) => busy,
            Err(TryLockError::Poisoned(busy)) => busy.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.has_job.store(false, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            return;
        }
        let stop = Some(&self.has_job);
        let spent = work(Limits { nodes, stop, ..self.limits });
        self.lock_total().add_since(&spent, &Counters::default());
        let mut unreported = self.unreported.lock().unwrap_or_else(PoisonError::into_inner);
        unreported.add_since(&spent, &Counters::default());
    }

    /// See [`RemoteWorker::cancel`].
    pub fn cancel(&self, job: JobId) {
        self.lock_cancelled().cancel(job);
    }

    /// See [`RemoteWorker::counters`].
    pub fn counters(&self) -> Counters {
        *self.lock_total()
    }

    fn lock_cancelled(&self) -> MutexGuard<'_, CancelledJobs> {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_total(&self) -> MutexGuard<'_, Counters> {
        self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cancelled jobs.
#[derive(Debug, Default)]
struct CancelledJobs {
    /// The job that is being searched, and the flag that stops it.
    current: Option<(JobId, Arc<AtomicBool>)>,
    /// Cancelled jobs that have not arrived.
    pending: BTreeSet<JobId>,
    /// The latest job that has arrived. Ids increase, and those of one worker arrive nearly in order.
    latest: JobId,
}

/// Maximum difference between the id of the latest job and that of a pending cancellation. Older cancellations are
/// dropped.
const MAX_DELAY: u64 = 1 << 16;

impl CancelledJobs {
    /// Begins a job. Returns the flag that stops it.
    fn begin(&mut self, job: JobId) -> Arc<AtomicBool> {
        self.latest = self.latest.max(job);
        let oldest = self.latest.saturating_sub(MAX_DELAY);
        self.pending = self.pending.split_off(&oldest);
        let stop = Arc::new(AtomicBool::new(self.pending.remove(&job)));
        self.current = Some((job, stop.clone()));
        stop
    }

    /// Cancels a job.
    fn cancel(&mut self, job: JobId) {
        match &self.current {
            Some((current, stop)) if *current == job => stop.store(true, Ordering::Relaxed),
            _ => {
                self.pending.insert(job);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_can_be_cancelled_before_and_while_it_is_searched() {
        let mut cancelled = CancelledJobs::default();
        cancelled.cancel(5);
        let stop = cancelled.begin(4);
        assert!(!stop.load(Ordering::Relaxed));
        cancelled.cancel(4);
        assert!(stop.load(Ordering::Relaxed));
        cancelled.current = None;
        assert!(cancelled.begin(5).load(Ordering::Relaxed));
        cancelled.current = None;
        assert!(!cancelled.begin(6).load(Ordering::Relaxed));
        // Cancellations of jobs that never arrive are dropped.
        cancelled.cancel(7);
        cancelled.begin(8 + MAX_DELAY);
        assert!(cancelled.pending.is_empty());
    }
}
