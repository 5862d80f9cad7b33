//! Where all workers stand still for a moment.
//!
//! # Protocol
//!
//! Whoever wants the standstill raises a flag, which every worker reads (relaxed: it is a hint and
//! nothing else hangs on it) before each expansion. A worker that sees it comes to the gate and
//! waits. The last one to come does the work, with the gate's mutex in its hand, lowers the flag,
//! and lets everybody go on. A worker that ends leaves; if all the others are waiting by then, one of
//! them is the last now. Whoever has nothing to do with the table for a while can leave, too, and
//! join again later.
//!
//! Whoever waits has released the mutex after its last access to what the work changes, and takes
//! it again before the next; so the work happens after the one and before the other, and its own
//! accesses can be relaxed.

use std::sync::PoisonError;

use super::sync::{AtomicBool, Condvar, Mutex, Ordering};

/// See the module's head.
pub(in crate::search) struct Gate {
    wanted: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    members: usize,
    waiting: usize,
    /// Standstills so far: whoever waits is free once it has grown.
    passed: u64,
}

impl Gate {
    /// For workers that are still to [`Gate::join`].
    pub fn new() -> Self {
        Gate {
            wanted: AtomicBool::new(false),
            state: Mutex::new(State { members: 0, waiting: 0, passed: 0 }),
            changed: Condvar::new(),
        }
    }

    /// A worker comes, and is waited for until it leaves. Not in the middle of the work.
    pub fn join(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).members += 1;
    }

    /// Whether somebody wants all workers to come.
    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Asks all workers to come.
    pub fn request(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// Waits until all workers are here and one of them has done the work. A worker that comes
    /// although nobody wants it goes on at once.
    pub fn pass(&self, work: impl FnOnce()) {
        // Nobody panics with the mutex in its hand, except in `work`, and then the state is whole.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // The flag is lowered under the mutex, so whoever has come too late sees that here.
        if !self.is_wanted() {
            return;
        }
        let passed = state.passed;
        state.waiting += 1;
        while state.passed == passed {
            if state.waiting == state.members {
                work();
                self.wanted.store(false, Ordering::Relaxed);
                state.waiting = 0;
                state.passed += 1;
                self.changed.notify_all();
                return;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A worker ends, and nobody has to wait for it any more.
    pub fn leave(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.members -= 1;
        self.changed.notify_all();
    }
}
