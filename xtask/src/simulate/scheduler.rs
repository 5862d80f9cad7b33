//! Threads of a simulated machine, which run one at a time in a fixed order. Thus all threads do about the
//! same share of a job, however many processors the real machine has.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use konane::search::run::Scheduler;

/// Expansions per turn: about 0.1 ms, short compared with a job.
const TURN: u32 = 128;

/// The threads of a search, which take turns in the order of their numbers.
#[derive(Debug, Default)]
pub struct TurnScheduler {
    state: Mutex<TurnState>,
}

#[derive(Debug, Default)]
struct TurnState {
    threads: BTreeMap<usize, ThreadState>,
    /// Number of the thread whose turn it is.
    running: Option<usize>,
}

#[derive(Debug, Default)]
struct ThreadState {
    phase: ThreadPhase,
    /// Handle of the thread while it is parked.
    parked: Option<Thread>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThreadPhase {
    /// Takes turns.
    #[default]
    Active,
    /// Waits at a barrier of the search until all other threads have reached it.
    AtBarrier,
    /// Has passed the barrier and waits until all other threads have passed it.
    Passed,
}

impl TurnState {
    /// Starts the turn of the next active thread after `from`. If there is none, starts that of the first
    /// active thread. All others stay parked.
    fn pass_on(&mut self, from: Option<usize>) {
        let active = |(&number, thread): (&usize, &ThreadState)| {
            (thread.phase == ThreadPhase::Active).then_some(number)
        };
        let next = from.and_then(|from| self.threads.range(from + 1..).find_map(active));
        self.running = next.or_else(|| self.threads.iter().find_map(active));
        let thread = self.running.and_then(|number| self.threads.get_mut(&number));
        if let Some(parked) = thread.and_then(|thread| thread.parked.take()) {
            parked.unpark();
        }
    }

    /// Activates all threads if no thread is still at the barrier.
    fn activate_if_all_passed(&mut self) {
        let has = |phase| self.threads.values().any(|thread| thread.phase == phase);
        if has(ThreadPhase::Passed) && !has(ThreadPhase::AtBarrier) {
            self.threads.values_mut().for_each(|thread| thread.phase = ThreadPhase::Active);
            self.pass_on(None);
        }
    }
}

impl TurnScheduler {
    fn lock(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parks the calling thread until its turn.
    fn wait<'t>(&'t self, mut state: MutexGuard<'t, TurnState>, number: usize) {
        while state.running != Some(number) {
            state.threads.entry(number).or_default().parked = Some(thread::current());
            drop(state);
            thread::park();
            state = self.lock();
        }
    }
}

impl Scheduler for TurnScheduler {
    fn interval(&self) -> u32 {
        TURN
    }

    fn join(&self, number: usize) {
        let mut state = self.lock();
        state.threads.insert(number, ThreadState::default());
        state.pass_on(None);
    }

    fn yield_turn(&self, number: usize) {
        let mut state = self.lock();
        if state.running == Some(number) {
            state.pass_on(Some(number));
        }
        self.wait(state, number);
    }

    fn enter_barrier(&self, number: usize) {
        let mut state = self.lock();
        state.threads.entry(number).or_default().phase = ThreadPhase::AtBarrier;
        if state.running == Some(number) {
            state.pass_on(Some(number));
        }
    }

    fn leave_barrier(&self, number: usize) {
        let mut state = self.lock();
        state.threads.entry(number).or_default().phase = ThreadPhase::Passed;
        state.activate_if_all_passed();
        self.wait(state, number);
    }

    fn leave(&self, number: usize) {
        let mut state = self.lock();
        state.threads.remove(&number);
        state.activate_if_all_passed();
        if state.running == Some(number) {
            state.pass_on(Some(number));
        }
    }
}
