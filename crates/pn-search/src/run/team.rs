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
pub(crate) struct Team<'a> {
    limits: Limits<'a>,
    /// Maximum number of members, at least 1.
    workers: usize,
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
    /// Creates a team of up to `workers` members, at least one. `begin` are the counters at the start:
    /// the root, and the entries in the table.
    pub fn new(workers: usize, limits: Limits<'a>, begin: Counters) -> Arc<Self> {
        let workers = workers.max(1);
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
        self.limits.scheduler().map_or(usual, |scheduler| scheduler.interval().max(1))
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

    /// Maximum number of members, at least 1.
    pub fn workers(&self) -> usize {
        self.workers
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

/// A worker's membership of a team, which ends when it is dropped, also by a panic.
pub(crate) struct Member<'a> {
    pub team: Arc<Team<'a>>,
    /// Less than [`Team::workers`].
    number: usize,
    told: Counters,
}

impl<'a> Member<'a> {
    /// Joins a team as its first member.
    pub fn first(team: &Arc<Team<'a>>) -> Self {
        Member::join(team, 0)
    }

    /// Joins a team once for each of its workers. All of them have to join before the first begins to
    /// search: the table must not grow before a member joins that has looked at it.
    pub fn all(team: &Arc<Team<'a>>) -> impl Iterator<Item = Self> {
        (0..team.workers).map(|number| Member::join(team, number))
    }

    fn join(team: &Arc<Team<'a>>, number: usize) -> Self {
        team.gate.join();
        if let Some(scheduler) = team.limits.scheduler() {
            scheduler.join(number);
        }
        Member { team: team.clone(), number, told: Counters::default() }
    }

    /// The member's number in its team.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Waits at the barrier until one of the members has done the work.
    pub fn pass_gate(&self, work: impl FnOnce()) {
        let Team { limits, gate, .. } = &*self.team;
        if let Some(scheduler) = limits.scheduler() {
            scheduler.enter_barrier(self.number);
        }
        gate.pass(work);
        if let Some(scheduler) = limits.scheduler() {
            scheduler.leave_barrier(self.number);
        }
    }

    /// Hands over what has been counted and found since the last time. Returns what the others have
    /// counted.
    pub fn tell(&mut self, counters: &Counters, found: &mut Vec<(u32, u32)>) -> Counters {
        let team = &*self.team;
        if let Some(scheduler) = team.limits.scheduler() {
            scheduler.yield_turn(self.number);
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
    /// Stops the search if the thread panics, before the others can pass the barrier.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.team.halt(PANIC);
        }
        self.team.gate.leave();
        if let Some(scheduler) = self.team.limits.scheduler() {
            scheduler.leave(self.number);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A mailbox for each member, whatever number of workers is asked for.
    #[test]
    fn every_member_has_a_mailbox() {
        for workers in [0, 1, 3] {
            let team = Team::new(workers, Limits::default(), Counters::default());
            let members: Vec<_> = Member::all(&team).chain([Member::first(&team)]).collect();
            assert_eq!(members.len(), workers.max(1) + 1);
            for member in members {
                assert_eq!(team.signals.take(member.number()), None);
            }
        }
    }
}
