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
    members: BTreeMap<usize, Member>,
    /// Whose turn it is.
    holder: Option<usize>,
}

#[derive(Debug, Default)]
struct Member {
    place: Place,
    /// One that sleeps has left its thread here.
    sleeper: Option<Thread>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// It takes its turns.
    #[default]
    Here,
    /// It waits for all others to step aside.
    Aside,
    /// It waits for all others to come back.
    Back,
}

impl State {
    /// Gives the turn to the next member after one, or to the first, and wakes it: all others sleep on.
    fn pass_on(&mut self, from: Option<usize>) {
        let here =
            |(&number, member): (&usize, &Member)| (member.place == Place::Here).then_some(number);
        let next = from.and_then(|from| self.members.range(from + 1..).find_map(here));
        self.holder = next.or_else(|| self.members.iter().find_map(here));
        let member = self.holder.and_then(|holder| self.members.get_mut(&holder));
        if let Some(sleeper) = member.and_then(|member| member.sleeper.take()) {
            sleeper.unpark();
        }
    }

    /// Lets all go on that have come back, when nobody is aside any more.
    fn go_on_if_all_are_back(&mut self) {
        let has = |place| self.members.values().any(|member| member.place == place);
        if has(Place::Back) && !has(Place::Aside) {
            self.members.values_mut().for_each(|member| member.place = Place::Here);
            self.pass_on(None);
        }
    }
}

impl Turns {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until it is a member's turn.
    fn wait<'t>(&'t self, mut state: MutexGuard<'t, State>, number: usize) {
        while state.holder != Some(number) {
            state.members.entry(number).or_default().sleeper = Some(thread::current());
            drop(state);
            thread::park();
            state = self.lock();
        }
    }
}

impl Pace for Turns {
    fn interval(&self) -> u32 {
        TURN
    }

    fn join(&self, number: usize) {
        let mut state = self.lock();
        state.members.insert(number, Member::default());
        state.pass_on(None);
    }

    fn turn(&self, number: usize) {
        let mut state = self.lock();
        if state.holder == Some(number) {
            state.pass_on(Some(number));
        }
        self.wait(state, number);
    }

    fn step_aside(&self, number: usize) {
        let mut state = self.lock();
        state.members.entry(number).or_default().place = Place::Aside;
        if state.holder == Some(number) {
            state.pass_on(Some(number));
        }
    }

    fn come_back(&self, number: usize) {
        let mut state = self.lock();
        state.members.entry(number).or_default().place = Place::Back;
        state.go_on_if_all_are_back();
        self.wait(state, number);
    }

    fn leave(&self, number: usize) {
        let mut state = self.lock();
        state.members.remove(&number);
        state.go_on_if_all_are_back();
        if state.holder == Some(number) {
            state.pass_on(Some(number));
        }
    }
}
