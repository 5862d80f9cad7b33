//! "This node is solved", to whoever is still below it.
//!
//! Every worker has a mailbox of one word, on a cache line of its own, which it reads before each
//! expansion. Whoever solves a node while others are below it (by [`super::visits::Visits`]) puts
//! the node's key into the boxes of all others. The owner takes the key out and looks for it on its
//! own path, which therefore nobody else ever reads.
//!
//! A later letter overwrites an earlier one that was not taken yet. That loses a signal and costs
//! some work; the worker finds the value in the table when it comes back to the node. Zero is an
//! empty box; a key that is zero is never sent. All accesses are relaxed: the value itself is in
//! the table, and a worker that is told before it can see it there searches on until it can.

use super::sync::{AtomicU64, Ordering};

/// See the module's head.
pub(crate) struct Signals {
    boxes: Box<[Mailbox]>,
}

#[cfg_attr(not(loom), repr(align(64)))]
struct Mailbox(AtomicU64);

impl Signals {
    /// For so many workers.
    pub fn new(workers: usize) -> Self {
        Signals { boxes: (0..workers).map(|_| Mailbox(AtomicU64::new(0))).collect() }
    }

    /// Tells all workers but `sender` that the node with this key is solved.
    pub fn send(&self, sender: usize, key: u64) {
        for (worker, mailbox) in self.boxes.iter().enumerate() {
            if worker != sender {
                mailbox.0.store(key, Ordering::Relaxed);
            }
        }
    }

    /// The last key that was sent to a worker and not yet taken.
    #[inline(always)]
    pub fn take(&self, worker: usize) -> Option<u64> {
        let mailbox = &self.boxes[worker].0;
        if mailbox.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let key = mailbox.swap(0, Ordering::Relaxed);
        (key != 0).then_some(key)
    }
}
