//! A worker in another process: receives jobs and sends their results.
//!
//! [`RemoteWorker`] is the interface for the carrier of the messages. [`WireWorker`] implements it for any game, whose
//! part is [`JobSearch`]. [`CancelledJobs`] stores which jobs have been cancelled.

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
    fn continue_search(&self, _nodes: Option<u64>) {}

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

/// Outcome of a job, its counters, and the results to share with other workers.
pub type JobResult<C> = (JobOutcome<C>, Counters, Vec<u8>);

/// The part of a worker that depends on the game: a search with a table of its own.
pub trait JobSearch: Sync {
    /// A node, as in a message.
    type Node: Clone + Send + DeserializeOwned;
    /// The open children of a node, as in a message.
    type Children: Serialize;

    /// Imports results of all other workers and entries of one of them, then searches a node.
    ///
    /// # Errors
    /// If the node, the results or the entries are not valid.
    fn search(
        &self,
        node: Self::Node,
        results: &[u8],
        entries: &[u8],
        budget: u64,
        limits: Limits<'_>,
    ) -> Result<JobResult<Self::Children>, WireError>;

    /// Continues the search below an open node. Does nothing unless implemented.
    fn continue_search(&self, _node: Self::Node, _limits: Limits<'_>) -> Counters {
        Counters::default()
    }

    /// Returns the entries of this worker below a node. There are none unless implemented.
    fn entries(&self, _node: Self::Node) -> Vec<u8> {
        Vec::new()
    }

    /// Returns the number of entries that fit into the table.
    fn capacity(&self) -> u64;
}

/// A worker that receives and sends bytes: decodes and counts jobs, handles cancellations, and encodes results.
pub struct WireWorker<'a, S: JobSearch> {
    pub(crate) job_search: S,
    search: u64,
    /// Limits of every search. The node limit and the stop flag are replaced by those of each search.
    limits: Limits<'a>,
    cancelled: Mutex<CancelledJobs>,
    /// Locked while a node is searched.
    last: Mutex<LastJob<S::Node>>,
    /// Number of jobs that wait for `last`.
    waiting: AtomicUsize,
    /// Stop flag of a search without a job, set when a job arrives.
    has_job: AtomicBool,
    /// Counters of all searches.
    total: Mutex<Counters>,
}

/// Node and counters that the last job has left.
struct LastJob<N> {
    /// The node, if it is still open.
    open: Option<N>,
    /// Counters of searches without a job since then.
    unreported: Counters,
}

impl<'a, S: JobSearch> WireWorker<'a, S> {
    /// Creates a worker of the search with id `search`. `limits` apply to every job, in addition to its budget.
    pub fn new(job_search: S, search: u64, limits: Limits<'a>) -> Self {
        let last = Mutex::new(LastJob { open: None, unreported: Counters::default() });
        let (cancelled, waiting, has_job, total) = Default::default();
        WireWorker { job_search, search, limits, cancelled, last, waiting, has_job, total }
    }

    fn count(&self, spent: &Counters) {
        lock(&self.total).add(spent);
    }
}

impl<S: JobSearch> RemoteWorker for WireWorker<'_, S> {
    fn search(
        &self,
        worker: WorkerId,
        reply: &[u8],
        entries: Option<&[u8]>,
    ) -> Result<Vec<u8>, WireError> {
        let entries = entries.map(|bytes| wire::open(Kind::Entries, self.search, bytes));
        let entries = entries.transpose()?.unwrap_or_default();
        let reply: Reply<S::Node> = wire::decode(Kind::Reply, self.search, reply)?;
        let Reply { instruction: Instruction::Search(job), results, received } = reply else {
            return Err(WireError::Unexpected("a job"));
        };
        let Job { id: job, node, budget, .. } = job;
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.has_job.store(true, Ordering::SeqCst);
        let mut last = lock(&self.last);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        let stop = lock(&self.cancelled).begin(job);
        let limits = Limits { nodes: Some(budget), stop: Some(&stop), ..self.limits };
        let found = self.job_search.search(node.clone(), &results, entries, budget, limits);
        lock(&self.cancelled).current = None;
        let (outcome, mut spent, results) = found?;
        self.count(&spent);
        let open = matches!(outcome, JobOutcome::Open(_)).then_some(node);
        let LastJob { unreported, .. } =
            std::mem::replace(&mut *last, LastJob { open, unreported: Counters::default() });
        spent.add(&unreported);
        let state = WorkerState::Done { job, outcome, spent };
        let request = Request { worker, results, received, state };
        Ok(wire::encode(Kind::Request, self.search, &request))
    }

    /// [`RemoteWorker::search`] increments `waiting` before it sets the flag `has_job`; this function clears the flag
    /// before it reads `waiting`. So either this function reads the new count, or the flag stops the search.
    fn continue_search(&self, nodes: Option<u64>) {
        let mut last = match self.last.try_lock() {
            Ok(last) => last,
            Err(TryLockError::Poisoned(last)) => last.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.has_job.store(false, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            return;
        }
        if let Some(node) = last.open.clone() {
            let limits = Limits { nodes, stop: Some(&self.has_job), ..self.limits };
            let spent = self.job_search.continue_search(node, limits);
            self.count(&spent);
            last.unreported.add(&spent);
        }
    }

    fn entries(&self, node: &[u8]) -> Result<Vec<u8>, WireError> {
        let entries = self.job_search.entries(wire::decode(Kind::Node, self.search, node)?);
        Ok(wire::seal(Kind::Entries, self.search, |bytes| bytes.extend(entries)))
    }

    fn cancel(&self, job: JobId) {
        lock(&self.cancelled).cancel(job);
    }

    fn counters(&self) -> Counters {
        *lock(&self.total)
    }

    fn capacity(&self) -> u64 {
        self.job_search.capacity()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
