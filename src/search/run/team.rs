//! What the workers of one search share: limits, counters, the end of the search, facts.

use std::sync::{Arc, PoisonError};

use super::counters::COUNTERS;
use super::gate::Gate;
use super::signals::Signals;
use super::sync::{AtomicU8, AtomicU64, Mutex, Ordering};
use super::visits::Visits;
use super::{Counters, Limits, Reason};

/// States of [`Team::halt`]; from [`REASONS`] on, that of a [`Reason`].
const RUNNING: u8 = 0;
const SOLVED: u8 = 1;
const PANIC: u8 = 2;
const REASONS: u8 = 3;

/// What the workers of one search share, apart from the table.
pub(in crate::search) struct Team<'a> {
    limits: Limits<'a>,
    /// How many there are at most.
    pub workers: usize,
    pub node_limit: u64,
    /// Why everybody has to stop; the first one stays.
    halt: AtomicU8,
    totals: [AtomicU64; COUNTERS],
    /// Grundy numbers that are still to be told to the observer.
    found: Mutex<Vec<(u32, u32)>>,
    pub visits: Visits,
    pub signals: Signals,
    pub gate: Gate,
}

impl<'a> Team<'a> {
    /// A team of `workers` at most, which has counted something already: the root, and what is in
    /// the table.
    pub fn new(workers: usize, limits: Limits<'a>, begin: Counters) -> Arc<Self> {
        let team = Team {
            limits,
            workers,
            node_limit: limits.nodes.unwrap_or(u64::MAX),
            halt: AtomicU8::new(RUNNING),
            totals: begin.to_array().map(AtomicU64::new),
            found: Mutex::new(Vec::new()),
            visits: Visits::new(workers),
            signals: Signals::new(workers),
            gate: Gate::new(),
        };
        if let Some(reason) = limits.reached() {
            team.stop(reason);
        }
        Arc::new(team)
    }

    fn halt(&self, halt: u8) {
        // Relaxed: a worker that reads the old state works a little longer. The results come
        // through the threads' ends.
        let _ = self.halt.compare_exchange(RUNNING, halt, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Expansions between two looks of a member at the world outside.
    pub fn interval(&self, usual: u32) -> u32 {
        self.limits.pace.map_or(usual, |pace| pace.interval().max(1))
    }

    /// Stops everybody, because the root is solved.
    pub fn finish(&self) {
        self.halt(SOLVED);
    }

    /// Stops everybody without an answer.
    pub fn stop(&self, reason: Reason) {
        self.halt(REASONS + reason as u8);
    }

    /// Whether everybody has to stop.
    #[inline(always)]
    pub fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed) != RUNNING
    }

    /// The limit that stopped the search, if one did.
    pub fn reason(&self) -> Option<Reason> {
        let number = self.halt.load(Ordering::Relaxed).checked_sub(REASONS)?;
        Reason::ALL.get(usize::from(number)).copied()
    }

    /// Looks at the stop flag and the clock, and says whether everybody has to stop.
    pub fn look(&self) -> bool {
        if !self.is_halted()
            && let Some(reason) = self.limits.reached()
        {
            self.stop(reason);
        }
        self.is_halted()
    }

    /// Lets a search that was stopped go on, with so many entries left in the table. Nobody may be
    /// searching.
    pub fn resume(&self, table_used: u64) {
        self.halt.store(RUNNING, Ordering::Relaxed);
        let mut counters = self.counters();
        counters.table_used = table_used;
        counters.collections += 1;
        for (total, count) in self.totals.iter().zip(counters.to_array()) {
            total.store(count, Ordering::Relaxed);
        }
    }

    /// What all workers have counted, as far as they have told.
    pub fn counters(&self) -> Counters {
        Counters::from_array(std::array::from_fn(|at| self.totals[at].load(Ordering::Relaxed)))
    }

    /// Takes the Grundy numbers that are still to be told.
    pub fn take_found(&self) -> Vec<(u32, u32)> {
        std::mem::take(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One worker's place in the team, which it gives up at its end, also by a panic.
pub(in crate::search) struct Member<'a> {
    pub team: Arc<Team<'a>>,
    pub number: usize,
    told: Counters,
}

impl<'a> Member<'a> {
    /// Takes a place. All places have to be taken before anybody begins: the gate waits for those
    /// who are still to come.
    pub fn new(team: &Arc<Team<'a>>, number: usize) -> Self {
        team.gate.join();
        if let Some(pace) = team.limits.pace {
            pace.join(number);
        }
        Member { team: team.clone(), number, told: Counters::default() }
    }

    /// Waits at the gate, where one of all does the work.
    pub fn pass_gate(&self, work: impl FnOnce()) {
        let Team { limits, gate, .. } = &*self.team;
        if let Some(pace) = limits.pace {
            pace.step_aside(self.number);
        }
        gate.pass(work);
        if let Some(pace) = limits.pace {
            pace.come_back(self.number);
        }
    }

    /// Hands over what has been counted and found since the last time. Returns what the others have
    /// counted.
    pub fn tell(&mut self, counters: &Counters, found: &mut Vec<(u32, u32)>) -> Counters {
        let team = &*self.team;
        if let Some(pace) = team.limits.pace {
            pace.turn(self.number);
        }
        let (now, told) = (counters.to_array(), self.told.to_array());
        let mut others = [0; COUNTERS];
        for (at, total) in team.totals.iter().enumerate() {
            let more = now[at] - told[at];
            let before = if more > 0 {
                total.fetch_add(more, Ordering::Relaxed)
            } else {
                total.load(Ordering::Relaxed)
            };
            // Never less than what this worker has told, unless a search was resumed.
            others[at] = before.saturating_sub(told[at]);
        }
        self.told = *counters;
        if !found.is_empty() {
            team.found.lock().unwrap_or_else(PoisonError::into_inner).append(found);
        }
        Counters::from_array(others)
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.team.halt(PANIC);
        }
        self.team.gate.leave();
        if let Some(pace) = self.team.limits.pace {
            pace.leave(self.number);
        }
    }
}
