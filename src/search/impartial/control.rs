//! Limits, progress and counters of searches of impartial games, shared by their threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::evaluate::Pair;
use super::game::Atom;
use crate::search::control::{Limits, Outcome, Reason};
use crate::search::numbers::Number;
use crate::search::table::Stored;

/// What a search counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Couples expanded, again and again ones included: what the paper calls iterations.
    pub iterations: u64,
    /// Couples evaluated for the first time, as far as the table remembers.
    pub nodes: u64,
    /// Atoms whose options were generated, again where they had been dropped.
    pub generated: u64,
    /// Grundy numbers found.
    pub grundy_numbers: u64,
    /// Table entries in use.
    pub table_used: u64,
    /// Table entries dropped for others.
    pub table_replaced: u64,
    /// How often df-pn forgot what it could find again, because its memory was full.
    pub collections: u64,
    /// Jobs of the two-level search.
    pub jobs: u64,
}

impl Counters {
    fn fields(&mut self) -> [&mut u64; FIELDS] {
        [
            &mut self.iterations,
            &mut self.nodes,
            &mut self.generated,
            &mut self.grundy_numbers,
            &mut self.table_used,
            &mut self.table_replaced,
            &mut self.collections,
            &mut self.jobs,
        ]
    }

    /// Counts what a store did.
    #[inline(always)]
    pub(super) fn stored(&mut self, stored: Stored) {
        match stored {
            Stored::Filled => self.table_used += 1,
            Stored::Updated => {}
            Stored::Replaced => self.table_replaced += 1,
        }
    }
}

const FIELDS: usize = 8;
/// The places of two fields.
const TABLE_USED: usize = 4;
const COLLECTIONS: usize = 6;

/// A look at a running search.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Proof number of the root.
    pub phi: Number,
    /// Disproof number of the root.
    pub delta: Number,
    /// Counters so far.
    pub counters: Counters,
    /// Bytes in use.
    pub memory_bytes: u64,
}

/// Receives progress and Grundy numbers now and then, from one of the threads that search.
pub trait Observer: Send {
    /// Called every few dozen expansions and more; so it should return soon. What cannot go on,
    /// say because a file cannot be written, ends the search with [`Reason::KnownValues`] if this
    /// is false.
    fn progress(&mut self, progress: &Progress) -> bool {
        let _ = progress;
        true
    }

    /// Grundy numbers that have been found since the last call. All of them are reported before the
    /// search returns, also where it is stopped. The result is that of [`Self::progress`].
    fn grundy_numbers(&mut self, numbers: &[(Atom, u32)]) -> bool {
        let _ = numbers;
        true
    }
}

/// Ignores everything.
impl Observer for () {}

/// Expansions between two looks at the clock, the stop flag and the memory. Those of large
/// positions take a millisecond each.
const INTERVAL: u32 = 64;

/// What the threads of a search share.
pub(super) struct Shared<'a> {
    limits: Limits<'a>,
    node_limit: u64,
    observer: Mutex<&'a mut dyn Observer>,
    totals: [AtomicU64; FIELDS],
    stopped: OnceLock<Reason>,
    /// Somebody has the answer, or the search was stopped.
    halted: AtomicBool,
    /// The root's numbers, phi in the lower half.
    root: AtomicU64,
}

impl<'a> Shared<'a> {
    pub fn new(limits: Limits<'a>, observer: &'a mut dyn Observer, table_used: u64) -> Self {
        let shared = Shared {
            limits,
            node_limit: limits.nodes.unwrap_or(u64::MAX),
            observer: Mutex::new(observer),
            totals: Default::default(),
            stopped: OnceLock::new(),
            halted: AtomicBool::new(false),
            root: AtomicU64::new(1 << 32 | 1),
        };
        shared.totals[TABLE_USED].store(table_used, Relaxed);
        if let Some(reason) = limits.reached() {
            shared.stop(reason);
        }
        shared
    }

    pub fn stop(&self, reason: Reason) {
        let _ = self.stopped.set(reason);
        self.halted.store(true, Relaxed);
    }

    /// Ends the search, because somebody has the answer.
    pub fn finish(&self) {
        self.halted.store(true, Relaxed);
    }

    /// Whether the search has to end.
    #[inline(always)]
    pub fn halted(&self) -> bool {
        self.halted.load(Relaxed)
    }

    pub fn set_root(&self, phi: Number, delta: Number) {
        self.root.store(u64::from(delta) << 32 | u64::from(phi), Relaxed);
    }

    /// Looks at the limits, and says whether the search has to end.
    pub fn has_to_stop(&self, too_much_memory: impl FnOnce() -> bool) -> bool {
        if self.halted() {
            return true;
        }
        if let Some(reason) = self.limits.reached() {
            self.stop(reason);
        } else if too_much_memory() {
            self.stop(Reason::Memory);
        }
        self.halted()
    }

    /// Lets the search go on after memory has stopped it and the table has so many entries left.
    pub fn resume(&mut self, table_used: u64) {
        self.stopped = OnceLock::new();
        self.halted = AtomicBool::new(false);
        self.totals[TABLE_USED].store(table_used, Relaxed);
        self.totals[COLLECTIONS].fetch_add(1, Relaxed);
    }

    /// Why the search was stopped.
    ///
    /// # Panics
    /// If it was not.
    pub fn reason(&self) -> Reason {
        self.stopped.get().copied().expect("a search without an answer was stopped")
    }

    /// The report on a root that has these numbers, or else those that were noted last.
    pub fn report(&self, pair: Option<Pair>, memory_bytes: u64) -> Report {
        let root = self.root.load(Relaxed);
        let noted = Pair { phi: root as Number, delta: (root >> 32) as Number };
        let (outcome, pair) = match pair.and_then(|pair| Some((pair.value()?, pair))) {
            Some((value, pair)) => (Outcome::Known(value), pair),
            None => (Outcome::Unknown(self.reason()), noted),
        };
        let Pair { phi, delta } = pair;
        Report { outcome, phi, delta, counters: self.totals(), memory_bytes }
    }

    pub fn totals(&self) -> Counters {
        let mut counters = Counters::default();
        for (field, total) in counters.fields().into_iter().zip(&self.totals) {
            *field = total.load(Relaxed);
        }
        counters
    }
}

/// One thread's side of the control.
pub(super) struct Control<'s, 'a> {
    pub shared: &'s Shared<'a>,
    countdown: u32,
    /// Not yet added to the totals.
    pub counters: Counters,
    /// Nodes of all threads when this one last looked.
    nodes_before: u64,
    /// Table entries of all threads when this one last looked.
    used_before: u64,
    /// Not yet reported.
    found: Vec<(Atom, u32)>,
}

impl<'s, 'a> Control<'s, 'a> {
    pub fn new(shared: &'s Shared<'a>) -> Self {
        let totals = shared.totals();
        Control {
            shared,
            countdown: INTERVAL,
            counters: Counters::default(),
            nodes_before: totals.nodes,
            used_before: totals.table_used,
            found: Vec::new(),
        }
    }

    /// Counts an expansion and says whether the search has to stop. `memory` tells the bytes in use
    /// and whether they are too many.
    #[inline(always)]
    pub fn tick(&mut self, memory: impl FnOnce() -> (u64, bool)) -> bool {
        self.counters.iterations += 1;
        self.countdown -= 1;
        if self.countdown == 0 {
            self.countdown = INTERVAL;
            self.look(memory());
        }
        if self.nodes_before + self.counters.nodes >= self.shared.node_limit {
            self.shared.stop(Reason::NodeLimit);
        }
        self.shared.halted()
    }

    /// Table entries in use.
    #[inline(always)]
    pub fn table_used(&self) -> u64 {
        self.used_before + self.counters.table_used
    }

    /// Notes a Grundy number that was not known before.
    pub fn found(&mut self, atom: Atom, number: u32) {
        self.counters.grundy_numbers += 1;
        self.found.push((atom, number));
    }

    /// Adds the counters to the totals, reports, and looks at the limits.
    pub fn look(&mut self, (memory_bytes, too_much): (u64, bool)) {
        let shared = self.shared;
        for (field, total) in self.counters.fields().into_iter().zip(&shared.totals) {
            total.fetch_add(std::mem::take(field), Relaxed);
        }
        let counters = shared.totals();
        (self.nodes_before, self.used_before) = (counters.nodes, counters.table_used);
        shared.has_to_stop(|| too_much);
        let root = shared.root.load(Relaxed);
        let (phi, delta) = (root as Number, (root >> 32) as Number);
        // Whoever finds the observer busy reports the next time.
        if let Ok(mut observer) = shared.observer.try_lock() {
            let progress = Progress { phi, delta, counters, memory_bytes };
            let ok = observer.progress(&progress)
                && (self.found.is_empty() || observer.grundy_numbers(&self.found));
            self.found.clear();
            if !ok {
                shared.stop(Reason::KnownValues);
            }
        }
    }

    /// Reports what is left, at the end of a thread.
    pub fn finish(mut self, memory_bytes: u64) {
        self.look((memory_bytes, false));
        if !self.found.is_empty() {
            let mut observer = self.shared.observer.lock().unwrap_or_else(PoisonError::into_inner);
            if !observer.grundy_numbers(&self.found) {
                self.shared.stop(Reason::KnownValues);
            }
        }
    }
}

/// The result of a search.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// What is known about the root.
    pub outcome: Outcome,
    /// The root's proof number at the end.
    pub phi: Number,
    /// The root's disproof number at the end.
    pub delta: Number,
    /// What was counted.
    pub counters: Counters,
    /// Bytes of everything that the search kept, at its end.
    pub memory_bytes: u64,
}
