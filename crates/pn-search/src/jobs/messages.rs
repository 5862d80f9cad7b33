//! What a leader and its workers tell each other.
//!
//! A worker says one [`Message`] at a time and gets one [`Answer`] to each. Messages may be late, lost,
//! doubled or out of order:
//!
//! * Who hears nothing says the same again, or hello, and is told what job it has.
//! * A job's name is never used twice, so both sides know what is about a job that is over.
//! * What was spent is told once, at a job's end, and how many facts have been read as a number from
//!   the search's beginning, so that nothing counts twice and nothing is left out.
//!
//! Nodes, facts and children are what the first level says they are. Where a message leaves the
//! process, they have to mean the same in the other one.

use serde::{Deserialize, Serialize};

use super::FirstLevel;
use crate::Value;
use crate::run::{Counters, Reason};

/// The name of a job.
pub type JobId = u64;

/// The name of a worker. One that begins anew has a new one.
pub type WorkerId = u64;

/// From a worker to the leader: of nodes `N`, children `C` and facts `T`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message<N, C, T> {
    /// Who says it.
    pub worker: WorkerId,
    /// Facts that the worker has found out since it was last answered.
    pub facts: Vec<T>,
    /// [`Answer::read`] of the last answer that has come, 0 before.
    pub read: usize,
    /// What it says.
    pub notice: Notice<N, C>,
}

/// A message to the leader of a first level.
pub(super) type MessageFor<F> =
    Message<<F as FirstLevel>::Node, <F as FirstLevel>::Children, <F as FirstLevel>::Fact>;

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice<N, C> {
    /// It has nothing to do.
    Hello,
    /// Its job has ended.
    Done {
        /// The job.
        job: JobId,
        /// What it has found.
        outcome: JobOutcome<N, C>,
        /// What it has counted for the whole job.
        spent: Counters,
    },
}

/// What a job has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobOutcome<N, C> {
    /// The node's value, and a lost child if it is won.
    Solved(Value, Option<N>),
    /// It is open, with these children. None at all: the worker had no memory for them.
    Open(C),
    /// It was called off.
    Stopped,
    /// The worker cannot go on, and neither can anybody else.
    Failed(Reason),
}

/// From the leader to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer<N, T> {
    /// What to do.
    pub order: Order<N>,
    /// Facts that others have found out.
    pub facts: Vec<T>,
    /// How many facts there have been, up to these.
    pub read: usize,
}

/// An answer of the leader of a first level.
pub(super) type AnswerOf<F> = Answer<<F as FirstLevel>::Node, <F as FirstLevel>::Fact>;

/// What a worker is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order<N> {
    /// Search a node.
    Search(Search<N>),
    /// There is nothing to do at the moment: say hello again.
    Wait,
    /// The search is over.
    Quit,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search<N> {
    /// Its name.
    pub job: JobId,
    /// The node to search.
    pub node: N,
    /// Nodes that may be evaluated.
    pub budget: u64,
    /// Another worker, who has searched the node's parent and knows more about it.
    pub last: Option<WorkerId>,
}
