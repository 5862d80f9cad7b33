//! Something that several workers use, one at a time, and what they wait for.
//!
//! [`Turns`] holds the state behind a lock. A worker takes a turn to bring a result and to ask for the
//! next job, both at once. If there is no job, it sleeps until something has changed.
//!
//! # Protocol
//!
//! Every change that may make jobs counts the version up, under the lock. A worker that found no job
//! remembers the version at which it looked, and sleeps while it is the same. So it never sleeps
//! through a change: either the change came before its look, or the version differs.
//!
//! Workers are woken one at a time. Who takes a job wakes one sleeper; that one looks, and if it
//! gets a job it wakes the next. So a result that makes three jobs wakes three workers or four, and
//! not a thousand. Who finds no job need not wake anybody: there is none until the next change, and
//! who makes that has a look himself. For the same reason, a wake-up that hits a worker that has
//! seen the newest version is not lost for the others. The end wakes everybody.
//!
//! All data is exchanged under the lock, so no other memory ordering is needed.

#![forbid(unsafe_code)]

#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex, MutexGuard};

use std::sync::PoisonError;

/// See the module.
pub(crate) struct Turns<S> {
    shared: Mutex<Shared<S>>,
    change: Condvar,
}

struct Shared<S> {
    state: S,
    version: u64,
    asleep: usize,
    over: bool,
}

/// The state in the hands of one worker.
pub(crate) struct Turn<'c, S> {
    turns: &'c Turns<S>,
    shared: MutexGuard<'c, Shared<S>>,
}

impl<S> Turns<S> {
    pub fn new(state: S) -> Self {
        let shared = Shared { state, version: 0, asleep: 0, over: false };
        Turns { shared: Mutex::new(shared), change: Condvar::new() }
    }

    /// Locks the state. A worker that panicked with the state in its hands has ended the search, or
    /// is about to, so what it left is only looked at.
    pub fn take(&self) -> Turn<'_, S> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        Turn { turns: self, shared }
    }

    /// Sleeps until there is another version than `seen`, or the search is over.
    pub fn sleep(&self, seen: u64) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.asleep += 1;
        while shared.version == seen && !shared.over {
            shared = self.change.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
        shared.asleep -= 1;
    }

    /// The state, when everybody has gone.
    pub fn into_state(self) -> S {
        self.shared.into_inner().unwrap_or_else(PoisonError::into_inner).state
    }
}

impl<S> Turn<'_, S> {
    pub fn state(&mut self) -> &mut S {
        &mut self.shared.state
    }

    /// Says that jobs may have come up.
    pub fn changed(&mut self) {
        self.shared.version += 1;
    }

    /// Ends the turn of a worker that has got a job.
    pub fn leave(self) {
        if self.shared.asleep > 0 {
            self.turns.change.notify_one();
        }
    }

    /// Ends the turn of a worker that has found no job; the version is for [`Turns::sleep`].
    pub fn leave_without_job(self) -> u64 {
        self.shared.version
    }

    /// Ends the search for everybody.
    pub fn end(&mut self) {
        self.shared.over = true;
        self.turns.change.notify_all();
    }
}

/// The protocol under the loom model checker:
///
/// ```text
/// RUSTFLAGS="--cfg loom" cargo test --lib loom
/// ```
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// Jobs that lie ready, jobs that are out, and how many more results will bring new ones.
    struct Jobs {
        ready: usize,
        out: usize,
        brings: Vec<usize>,
        done: usize,
        over: bool,
    }

    /// Works as the searches do: turn, result, next job, sleep.
    fn work(turns: &Turns<Jobs>) {
        let mut has_job = false;
        loop {
            let mut turn = turns.take();
            if has_job {
                let jobs = turn.state();
                jobs.out -= 1;
                jobs.done += 1;
                jobs.ready += jobs.brings.pop().unwrap_or(0);
                turn.changed();
            }
            if turn.state().over {
                return;
            }
            let jobs = turn.state();
            has_job = jobs.ready > 0;
            if has_job {
                jobs.ready -= 1;
                jobs.out += 1;
                turn.leave();
            } else if jobs.out == 0 {
                turn.state().over = true;
                turn.end();
                return;
            } else {
                let version = turn.leave_without_job();
                turns.sleep(version);
            }
        }
    }

    /// Nobody sleeps for ever (the checker reports a deadlock), and every job is done once.
    fn run(workers: usize, preemptions: usize, brings: &[usize]) {
        let total = 1 + brings.iter().sum::<usize>();
        let brings: Vec<usize> = brings.iter().rev().copied().collect();
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(preemptions);
        builder.check(move || {
            let brings = brings.clone();
            let turns =
                Arc::new(Turns::new(Jobs { ready: 1, out: 0, brings, done: 0, over: false }));
            let others: Vec<_> = (1..workers)
                .map(|_| {
                    let turns = turns.clone();
                    thread::spawn(move || work(&turns))
                })
                .collect();
            work(&turns);
            for other in others {
                other.join().unwrap();
            }
            let mut turn = turns.take();
            assert_eq!((turn.state().done, turn.state().out), (total, 0));
        });
    }

    #[test]
    fn loom_two_workers_share_jobs_and_end_together() {
        run(2, 4, &[2, 1]);
    }

    #[test]
    fn loom_one_result_wakes_as_many_workers_as_it_makes_jobs() {
        run(3, 2, &[2]);
    }

    #[test]
    fn loom_the_end_wakes_who_sleeps() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(4);
        builder.check(|| {
            let turns = Arc::new(Turns::new(Jobs {
                ready: 0,
                out: 1,
                brings: Vec::new(),
                done: 0,
                over: false,
            }));
            let sleeper = {
                let turns = turns.clone();
                thread::spawn(move || work(&turns))
            };
            let mut turn = turns.take();
            turn.state().over = true;
            turn.end();
            drop(turn);
            sleeper.join().unwrap();
        });
    }
}
