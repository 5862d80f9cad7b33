//! The resize barrier, the virtual losses and the cut-off mailboxes under the loom model checker
//! (`RUSTFLAGS="--cfg loom" cargo test --lib loom`).

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::cutoff::{CutoffMailboxes, CutoffRequest};
use super::resize_barrier::ResizeBarrier;
use super::virtual_loss::VirtualLossTable;
use crate::table::{Entry, Stored, Table};

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

fn barrier_of(slots: usize) -> ResizeBarrier {
    let barrier = ResizeBarrier::new();
    (0..slots).for_each(|_| barrier.join());
    barrier
}

/// Data that every worker reads and that changes only at the barrier. Loom reports a change that is concurrent with
/// another access, or not ordered with it by a lock.
struct Shared {
    barrier: ResizeBarrier,
    value: UnsafeCell<u32>,
}

#[allow(unsafe_code)]
impl Shared {
    fn read(&self) -> u32 {
        // SAFETY: the model checks that no change is concurrent with another access.
        self.value.with(|value| unsafe { *value })
    }

    fn pass(&self) {
        // SAFETY: the model checks that no change is concurrent with another access.
        self.barrier.pass(|| self.value.with_mut(|value| unsafe { *value += 1 }));
    }
}

#[test]
fn loom_no_worker_reads_during_the_work_and_none_waits_for_ever() {
    explore(3, || {
        let shared = Arc::new(Shared { barrier: barrier_of(3), value: UnsafeCell::new(0) });
        let others = [true, false].map(|requests| {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.read();
                if requests {
                    shared.barrier.request();
                }
                if shared.barrier.is_wanted() {
                    shared.pass();
                    shared.read();
                }
                shared.barrier.leave();
            })
        });
        shared.read();
        if shared.barrier.is_wanted() {
            shared.pass();
        }
        shared.barrier.leave();
        for other in others {
            other.join().unwrap();
        }
        // The worker that requested the barrier has passed it, so the work has been done once.
        assert_eq!(shared.read(), 1);
    });
}

#[test]
fn loom_two_requests_do_the_work_once_or_twice() {
    explore(3, || {
        let shared = Arc::new(Shared { barrier: barrier_of(2), value: UnsafeCell::new(0) });
        let request = |shared: &Shared| {
            shared.barrier.request();
            shared.pass();
            assert!(shared.read() >= 1);
            shared.barrier.leave();
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || request(&shared))
        };
        request(&shared);
        other.join().unwrap();
        assert!((1..=2).contains(&shared.read()));
    });
}

/// If the work panics, the panic continues in the worker that did the work, and the other two go on.
#[test]
fn loom_a_panic_in_the_work_releases_the_other_workers() {
    explore(2, || {
        let barrier = Arc::new(barrier_of(3));
        barrier.request();
        let run = |barrier: &ResizeBarrier| {
            let result = catch_unwind(AssertUnwindSafe(|| {
                // `resume_unwind` does not call the panic hook, which would print a message for each interleaving.
                barrier.pass(|| resume_unwind(Box::new(())));
            }));
            barrier.leave();
            result.is_err()
        };
        let others = [0, 1].map(|_| {
            let barrier = barrier.clone();
            thread::spawn(move || run(&barrier))
        });
        let mut panics = usize::from(run(&barrier));
        for other in others {
            panics += usize::from(other.join().unwrap());
        }
        assert_eq!(panics, 1);
        assert!(!barrier.is_wanted());
    });
}

/// Two workers that share a table store an entry each, and one lets the table grow. If the growth
/// were concurrent with a store, an entry could be lost or misplaced.
#[test]
fn loom_no_store_is_lost_during_growth() {
    explore(3, || {
        let shared = Arc::new((barrier_of(2), Table::growing_from_one_cluster()));
        // The upper bits of a code determine its half of the table.
        let workers = [(1u64, true), (1 << 63, false)].map(|(code, requests)| {
            let shared = shared.clone();
            thread::spawn(move || {
                let (barrier, table) = &*shared;
                let entry = Entry { phi: 1, delta: 1, work: 1 };
                assert_eq!(table.store(code, code, entry), Stored::Filled);
                if requests {
                    barrier.request();
                }
                if barrier.is_wanted() {
                    barrier.pass(|| table.grow(1, |code| code));
                }
                barrier.leave();
            })
        });
        for worker in workers {
            worker.join().unwrap();
        }
        for code in [1, 1 << 63] {
            assert!(shared.1.lookup(code, code).is_some());
        }
    });
}

#[test]
fn loom_virtual_losses_are_counted_and_updates_are_seen() {
    explore(3, || {
        let virtual_losses = Arc::new(VirtualLossTable::with_bits(1));
        let before = virtual_losses.add(0);
        let others = [0, 1].map(|updates| {
            let virtual_losses = virtual_losses.clone();
            thread::spawn(move || {
                virtual_losses.add(0);
                for _ in 0..updates {
                    virtual_losses.notify(0);
                }
                virtual_losses.remove(0);
            })
        });
        let seen = virtual_losses.get(0);
        assert!((1..=3).contains(&seen.count()));
        assert!(seen.count() <= 1 + seen.updates_since(before));
        for other in others {
            other.join().unwrap();
        }
        let after = virtual_losses.get(0);
        assert_eq!((after.count(), after.updates_since(before)), (1, 3));
        assert_eq!(virtual_losses.remove(0), 0);
    });
}

#[test]
fn loom_a_message_arrives_once_unless_a_later_one_replaces_it() {
    explore(3, || {
        let mailboxes = Arc::new(CutoffMailboxes::new(3));
        let senders = [1, 2].map(|sender| {
            let mailboxes = mailboxes.clone();
            thread::spawn(move || mailboxes.send(sender, 10 * sender as u64))
        });
        let take = |worker| match mailboxes.take(worker) {
            Some(CutoffRequest::Solved(key)) => Some(key),
            Some(CutoffRequest::Cancel) => panic!("no job was cancelled"),
            None => None,
        };
        let first = take(0);
        let second = take(0);
        for sender in senders {
            sender.join().unwrap();
        }
        let third = take(0);
        assert_eq!(take(0), None);
        let mut taken: Vec<u64> = [first, second, third].into_iter().flatten().collect();
        assert!(!taken.is_empty() && taken.len() <= 2);
        taken.sort();
        taken.dedup();
        assert!(taken.iter().all(|key| [10, 20].contains(key)));
        assert_eq!(take(1), Some(20));
        assert_eq!(take(2), Some(10));
    });
}
