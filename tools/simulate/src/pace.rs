//! Many threads in turns: one runs, the others wait.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use konane::search::run::Pace;

/// Expansions of a turn: some 0.1 ms, which is little beside a job.
const TURN: u32 = 128;

/// The threads of one search after another, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Turns {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Those that sleep have left their thread here.
    members: BTreeMap<usize, Option<Thread>>,
    /// Whose turn it is.
    holder: usize,
}

impl State {
    /// Gives the turn to the next member, whom it wakes: all others sleep on.
    fn pass_on(&mut self, from: usize) {
        let next = self.members.range(from + 1..).next().or(self.members.first_key_value());
        self.holder = next.map_or(0, |(&number, _)| number);
        if let Some(sleeper) = self.members.get_mut(&self.holder).and_then(Option::take) {
            sleeper.unpark();
        }
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
        state.members.insert(number, None);
        state.holder = 0;
    }

    fn turn(&self, number: usize) {
        let mut state = self.lock();
        if state.holder == number {
            state.pass_on(number);
        }
        while state.holder != number {
            state.members.insert(number, Some(thread::current()));
            drop(state);
            thread::park();
            state = self.lock();
        }
    }

    fn leave(&self, number: usize) {
        let mut state = self.lock();
        state.members.remove(&number);
        if state.holder == number {
            state.pass_on(number);
        }
    }
}
