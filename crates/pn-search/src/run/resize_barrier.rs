//! A barrier that stops all workers of a search while one of them lets the table grow.
//!
//! # Protocol
//!
//! A worker that wants the barrier raises a flag. Every worker reads this flag before each expansion;
//! the read is relaxed, because the flag is a hint and publishes nothing. A worker that sees the flag
//! comes to the barrier and waits. The last worker to come does the work, the growth of the table,
//! with the barrier's mutex locked. Then it lowers the flag and releases all others. A worker that
//! ends leaves the barrier. If all others are waiting at that moment, one of them does the work. A
//! worker that does not use the table for a while can also leave, and join again later.
//!
//! A worker releases the mutex after its last access to the table, and locks it again before its
//! next access. The work is done in between, with the mutex locked. So all accesses of all workers
//! happen before or after the work, and the accesses themselves can be relaxed.
//!
//! # Panics
//!
//! If the work panics, the barrier opens as after a success, and the panic continues in the worker
//! that did the work. The others search on until that worker has stopped the search: the work has to
//! leave the data in a valid state ([`crate::table::Table::grow`] does).

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;

use super::sync::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering};

/// The barrier. See the module documentation.
pub(crate) struct ResizeBarrier {
    wanted: AtomicBool,
    state: Mutex<BarrierState>,
    changed: Condvar,
}

struct BarrierState {
    /// Number of workers that have joined and not left.
    slots: usize,
    /// Number of workers that wait at the barrier.
    waiting: usize,
    /// Number of times that the barrier has opened. A waiting worker continues once this has grown.
    passed: u64,
}

impl ResizeBarrier {
    /// Creates a barrier without workers. They are added by [`ResizeBarrier::join`].
    pub fn new() -> Self {
        ResizeBarrier {
            wanted: AtomicBool::new(false),
            state: Mutex::new(BarrierState { slots: 0, waiting: 0, passed: 0 }),
            changed: Condvar::new(),
        }
    }

    /// Locks the state. It is valid even if the lock is poisoned: no code that can panic changes it.
    fn lock(&self) -> MutexGuard<'_, BarrierState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a worker, for which the others wait until it leaves. Blocks while the work is being done.
    pub fn join(&self) {
        self.lock().slots += 1;
    }

    /// Returns true if a worker has requested the barrier.
    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Requests that all workers come to the barrier.
    pub fn request(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// Waits until all workers have come and one of them has done the work. Returns at once if no
    /// worker has requested the barrier.
    ///
    /// # Panics
    /// If `work` does. The other workers are released before.
    pub fn pass(&self, work: impl FnOnce()) {
        let mut state = self.lock();
        // The flag is lowered with the mutex locked. So a worker that comes after the work finds it
        // lowered here.
        if !self.is_wanted() {
            return;
        }
        let passed = state.passed;
        state.waiting += 1;
        while state.passed == passed {
            if state.waiting == state.slots {
                let result = catch_unwind(AssertUnwindSafe(work));
                self.wanted.store(false, Ordering::Relaxed);
                state.waiting = 0;
                state.passed += 1;
                self.changed.notify_all();
                drop(state);
                return result.unwrap_or_else(|panic| resume_unwind(panic));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Removes a worker: the others no longer wait for it.
    pub fn leave(&self) {
        self.lock().slots -= 1;
        self.changed.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Time after which a worker that has not returned is taken to wait for ever.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn a_panic_in_the_work_releases_the_other_workers() {
        // Leaked, so that the test fails instead of joining threads that never end.
        let barrier: &'static ResizeBarrier = Box::leak(Box::new(ResizeBarrier::new()));
        (0..3).for_each(|_| barrier.join());
        barrier.request();
        let (returned, results) = channel();
        for _ in 0..3 {
            let returned = returned.clone();
            thread::spawn(move || {
                let result = catch_unwind(|| barrier.pass(|| panic!("the work fails")));
                barrier.leave();
                returned.send(result.is_err()).unwrap();
            });
        }
        let results: Result<Vec<bool>, RecvTimeoutError> =
            (0..3).map(|_| results.recv_timeout(PATIENCE)).collect();
        let panicked = results.expect("every worker returns");
        assert_eq!(panicked.iter().filter(|&&panicked| panicked).count(), 1);
        assert!(!barrier.is_wanted());
    }
}
