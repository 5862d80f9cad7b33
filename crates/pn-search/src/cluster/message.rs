//! Messages between a coordinator and its workers.
//!
//! A worker sends one [`Request`] at a time and receives one [`Reply`] to each. Messages may be delayed,
//! lost, duplicated or reordered:
//!
//! * A worker that receives no reply sends an idle request. If a job has been assigned to the worker, the reply contains
//!   this job. The result of a job that the worker does not have any more is ignored; if the worker has another job by
//!   then, the reply is [`Instruction::Wait`].
//! * A job's id is never used twice, so both sides can recognise messages about jobs that have ended.
//! * Counters are sent once, at a job's end. The number of shared results that a worker has received is
//!   sent as a total since the start of the search, so no result is counted twice or left out.
//!
//! The type of children belongs to the coordinator's `JobTree`, and so does the encoding of shared results, which are
//! bytes: the coordinator checks and imports them when they arrive, and copies the bytes into the replies to all other
//! workers. If messages are sent to other processes, neither may depend on the state of a process.
//!
//! * [`Request`] is sent by a worker; [`WorkerState`] and [`JobOutcome`] are its parts.
//! * [`Reply`] is sent by the coordinator; [`Instruction`] and [`Job`] are its parts.
//! * [`SharedResults`] are results of one worker that others receive.

use serde::{Deserialize, Serialize};

use super::JobTree;
use crate::Value;
use crate::run::{Counters, Reason};

/// Id of a job.
pub type JobId = u64;

/// Id of a worker. A worker that is restarted gets a new one.
pub type WorkerId = u64;

/// Results that are shared with other workers, in the encoding of the game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedResults {
    /// Number of results.
    pub count: usize,
    /// The results, one after the other.
    pub bytes: Vec<u8>,
}

/// Message from a worker to the coordinator, with children `C`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request<C> {
    /// The sender.
    pub worker: WorkerId,
    /// Shared results that the worker has found and not sent before, one after the other.
    #[serde(with = "serde_bytes")]
    pub results: Vec<u8>,
    /// [`Reply::received`] of the last reply; 0 before the first reply.
    pub received: usize,
    /// State of the worker.
    pub state: WorkerState<C>,
}

/// A request to the coordinator of a tree.
pub(super) type RequestFor<T> = Request<<T as JobTree>::Children>;

/// State of a worker that sends a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerState<C> {
    /// The worker has no job.
    Idle,
    /// The worker's job has ended.
    Done {
        /// The job.
        job: JobId,
        /// Result of the job.
        outcome: JobOutcome<C>,
        /// Counters of the whole job, and of searches without a job before it.
        spent: Counters,
    },
}

/// Result of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobOutcome<C> {
    /// The node's value. If the node is won and its children are positions, the code is that of a lost child.
    Solved(Value, Option<u64>),
    /// The node is open, with these children. An empty list means that the worker had no memory for them.
    Open(C),
    /// The job was cancelled.
    Stopped,
    /// The search cannot continue.
    Failed(Reason),
}

/// Message from the coordinator to a worker, with nodes `N`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply<N> {
    /// Instruction to the worker.
    pub instruction: Instruction<N>,
    /// Results of other workers, one after the other.
    #[serde(with = "serde_bytes")]
    pub results: Vec<u8>,
    /// Number of results that all workers have shared since the start of the search, up to the last result in this
    /// reply.
    pub received: usize,
}

/// Instruction to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instruction<N> {
    /// Search a node.
    Search(Job<N>),
    /// There is no job at the moment: send an idle request later.
    Wait,
    /// The search is over.
    Quit,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job<N> {
    /// Id of the job.
    pub id: JobId,
    /// The node to search.
    pub node: N,
    /// Maximum number of nodes to evaluate.
    pub budget: u64,
    /// Another worker that has searched the node's parent. Its table contains entries below the node.
    pub last: Option<WorkerId>,
}
