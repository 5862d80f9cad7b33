//! Many threads in turns: one runs, the others wait.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use konane::search::run::Pace;

/// Expansions of a turn: some 50 µs, which is little beside a job.
const TURN: u32 = 32;

/// The threads of one search after another, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Turns {
    state: Mutex<State>,
    change: Condvar,
}

#[derive(Debug, Default)]
struct State {
    members: BTreeSet<usize>,
    /// Whose turn it is.
    holder: usize,
}

impl State {
    fn pass_on(&mut self, from: usize) {
        let next = self.members.range(from + 1..).next().or(self.members.first());
        self.holder = next.copied().unwrap_or(0);
    }
}

impl Turns {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pace for Turns {
    fn interval(&self) -> u32 {
        TURN
    }

    fn join(&self, number: usize) {
        let mut state = self.lock();
        state.members.insert(number);
        state.holder = 0;
    }

    fn turn(&self, number: usize) {
        let mut state = self.lock();
        if state.holder == number {
            state.pass_on(number);
            if state.holder == number {
                return;
            }
            self.change.notify_all();
        }
        while state.holder != number {
            state = self.change.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn leave(&self, number: usize) {
        let mut state = self.lock();
        state.members.remove(&number);
        if state.holder == number {
            state.pass_on(number);
            self.change.notify_all();
        }
    }
}
