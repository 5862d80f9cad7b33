//! What the master and its workers tell each other.
//!
//! Messages hold codes and numbers only, so that they can be sent to another process or machine as
//! well as to another thread. A link has to deliver the messages of one sender to one receiver in
//! their order, or report that the other end is gone; nothing else is asked of it.

#![forbid(unsafe_code)]

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use crate::search::control::{Counters, Reason};
use crate::search::game::{Child, Value};
use crate::search::numbers::Number;

/// The name of a job, never used twice.
pub type JobId = u64;

/// From the master to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Search a position.
    Job {
        /// The job's name.
        id: JobId,
        /// The position.
        code: u64,
        /// Nodes to evaluate at most.
        nodes: u64,
    },
    /// Nobody needs the job's result any more.
    Stop {
        /// The job's name. If it is done already, the order means nothing.
        id: JobId,
    },
}

/// From a worker to the master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// How far a job has come.
    Update {
        /// The job.
        id: JobId,
        /// Proof number of its position.
        phi: Number,
        /// Disproof number of its position.
        delta: Number,
        /// What the worker has counted for the job so far.
        counters: Counters,
    },
    /// A job has ended.
    Done {
        /// The job.
        id: JobId,
        /// What it has found.
        outcome: JobOutcome,
        /// What the worker has counted for the whole job.
        counters: Counters,
    },
    /// The worker takes no more orders, and finishes none that it has.
    Leaving,
}

/// What a job has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobOutcome {
    /// The position's value, and a lost child if it is won.
    Solved(Value, Option<u64>),
    /// It is open; its open children with their numbers.
    Open(Vec<Child>),
    /// It was stopped, by the master or for the worker's own reason.
    Stopped(Reason),
}

/// The other end of a link is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other end of the link is gone")]
pub struct Gone;

/// The master's end of the links to all its workers, which are numbered from 0.
pub trait MasterLink {
    /// The number of workers.
    fn workers(&self) -> usize;

    /// Sends an order.
    ///
    /// # Errors
    /// [`Gone`] if the worker will never read it.
    fn send(&mut self, worker: usize, order: Order) -> Result<(), Gone>;

    /// Waits for a notice of any worker; `None` if there was none in time.
    ///
    /// # Errors
    /// [`Gone`] if there are no workers any more.
    fn receive(&mut self, patience: Duration) -> Result<Option<(usize, Notice)>, Gone>;
}

/// A worker's end of its link.
pub trait WorkerLink {
    /// Waits for an order.
    ///
    /// # Errors
    /// [`Gone`] if the master is, which is how it dismisses its workers.
    fn wait(&mut self) -> Result<Order, Gone>;

    /// An order that has arrived, if there is one.
    ///
    /// # Errors
    /// As [`WorkerLink::wait`].
    fn poll(&mut self) -> Result<Option<Order>, Gone>;

    /// Sends a notice.
    ///
    /// # Errors
    /// As [`WorkerLink::wait`].
    fn tell(&mut self, notice: Notice) -> Result<(), Gone>;
}

/// Links within one process.
pub struct Channels {
    orders: Vec<Sender<Order>>,
    notices: Receiver<(usize, Notice)>,
}

/// A worker's end of [`Channels`].
pub struct WorkerChannel {
    number: usize,
    orders: Receiver<Order>,
    notices: Sender<(usize, Notice)>,
}

impl Drop for WorkerChannel {
    fn drop(&mut self) {
        // Nobody may be there to hear it.
        let _ = self.notices.send((self.number, Notice::Leaving));
    }
}

/// Links to so many workers, and the workers' ends.
pub fn channels(workers: usize) -> (Channels, Vec<WorkerChannel>) {
    let (sender, notices) = channel();
    let (orders, ends) = (0..workers)
        .map(|number| {
            let (orders, received) = channel();
            (orders, WorkerChannel { number, orders: received, notices: sender.clone() })
        })
        .unzip();
    (Channels { orders, notices }, ends)
}

impl MasterLink for Channels {
    fn workers(&self) -> usize {
        self.orders.len()
    }

    fn send(&mut self, worker: usize, order: Order) -> Result<(), Gone> {
        self.orders[worker].send(order).map_err(|_| Gone)
    }

    fn receive(&mut self, patience: Duration) -> Result<Option<(usize, Notice)>, Gone> {
        match self.notices.recv_timeout(patience) {
            Ok(notice) => Ok(Some(notice)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Gone),
        }
    }
}

impl WorkerLink for WorkerChannel {
    fn wait(&mut self) -> Result<Order, Gone> {
        self.orders.recv().map_err(|_| Gone)
    }

    fn poll(&mut self) -> Result<Option<Order>, Gone> {
        match self.orders.try_recv() {
            Ok(order) => Ok(Some(order)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Gone),
        }
    }

    fn tell(&mut self, notice: Notice) -> Result<(), Gone> {
        self.notices.send((self.number, notice)).map_err(|_| Gone)
    }
}
