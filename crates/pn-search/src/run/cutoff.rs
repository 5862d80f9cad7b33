//! Cut-off requests to workers.
//!
//! Every worker has a mailbox of one word, on a cache line of its own, which it reads before each
//! expansion. When a worker solves a node and [`super::virtual_loss::VirtualLossTable`] shows that other workers are
//! below it, the worker puts the node's key into the mailboxes of all other workers. Each of them takes the key from
//! its mailbox and looks for the node on its own path.
//!
//! A later message overwrites an earlier one that was not taken yet. That loses a request and costs some
//! work; the worker finds the value in the table when it comes back to the node. The words 0 (empty) and
//! [`CANCEL`] are reserved: a node with key 0 is not reported, and a node with the key [`CANCEL`] is taken for a
//! cancellation, which costs some work. All accesses are relaxed: the value itself is in the table, and a
//! worker that receives the key before the value is visible to it searches on until then.

use super::sync::{AtomicU64, Ordering};

/// Cancels the worker's job.
const CANCEL: u64 = u64::MAX;

/// Message to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutoffRequest {
    /// The node with this key is solved.
    Solved(u64),
    /// The worker's job is cancelled.
    Cancel,
}

/// Mailboxes of all workers. See the module documentation.
pub(crate) struct CutoffMailboxes {
    boxes: Box<[Mailbox]>,
}

#[cfg_attr(not(loom), repr(align(64)))]
struct Mailbox(AtomicU64);

impl CutoffMailboxes {
    /// Creates `workers` empty mailboxes.
    pub fn new(workers: usize) -> Self {
        CutoffMailboxes { boxes: (0..workers).map(|_| Mailbox(AtomicU64::new(0))).collect() }
    }

    /// Sends the key of a solved node to all workers but `sender`.
    pub fn send(&self, sender: usize, key: u64) {
        for (worker, mailbox) in self.boxes.iter().enumerate() {
            if worker != sender {
                mailbox.0.store(key, Ordering::Relaxed);
            }
        }
    }

    /// Cancels the job of a worker.
    pub fn cancel(&self, worker: usize) {
        self.boxes[worker].0.store(CANCEL, Ordering::Relaxed);
    }

    /// Takes the message in a worker's mailbox, if there is one.
    #[inline(always)]
    pub fn take(&self, worker: usize) -> Option<CutoffRequest> {
        let mailbox = &self.boxes[worker].0;
        if mailbox.load(Ordering::Relaxed) == 0 {
            return None;
        }
        match mailbox.swap(0, Ordering::Relaxed) {
            0 => None,
            CANCEL => Some(CutoffRequest::Cancel),
            key => Some(CutoffRequest::Solved(key)),
        }
    }
}
