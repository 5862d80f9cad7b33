//! Limits, counters and the end of a search on several threads.

use super::sync::{AtomicU8, AtomicU64, Ordering};
use super::{Gate, Signals, Visits};
use crate::search::control::{Counters, Limits, Reason};

/// Why everybody has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Halt {
    No,
    Solved,
    NodeLimit,
    TimeLimit,
    Memory,
    Interrupted,
    KnownValues,
    Panic,
}

/// What the workers of one search share, apart from the table.
pub(in crate::search) struct Team<'a> {
    limits: Limits<'a>,
    nodes: u64,
    /// A [`Halt`]; the first one stays.
    halt: AtomicU8,
    totals: [AtomicU64; 6],
    pub visits: Visits,
    pub signals: Signals,
    pub gate: Gate,
}

impl<'a> Team<'a> {
    /// A team of `workers`, in whose table `table_used` entries are in use.
    pub fn new(workers: usize, limits: Limits<'a>, table_used: u64) -> Self {
        let begin = Counters { nodes: 1, table_used, ..Counters::default() };
        Team {
            limits,
            nodes: limits.nodes.unwrap_or(u64::MAX),
            halt: AtomicU8::new(Halt::No as u8),
            totals: fields(&begin).map(AtomicU64::new),
            visits: Visits::new(workers),
            signals: Signals::new(workers),
            gate: Gate::new(workers),
        }
    }

    fn halt(&self, halt: Halt) {
        // Relaxed: a worker that reads the old state works a little longer. The results come
        // through the threads' ends.
        let _ = self.halt.compare_exchange(
            Halt::No as u8,
            halt as u8,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }

    /// Stops everybody, because the root is solved.
    pub fn finish(&self) {
        self.halt(Halt::Solved);
    }

    /// The limit that stopped the search, if one did.
    pub fn reason(&self) -> Option<Reason> {
        let halt = self.halt.load(Ordering::Relaxed);
        HALTS.into_iter().find(|&(code, _)| code as u8 == halt).map(|(_, reason)| reason)
    }

    /// The entries of the table that are in use, as far as the workers have told.
    pub fn table_used(&self) -> u64 {
        self.totals[TABLE_USED].load(Ordering::Relaxed)
    }

    /// What all workers have counted, as far as they have told.
    pub fn counters(&self) -> Counters {
        let [nodes, expansions, settle_positions, known_hits, table_used, table_replaced] =
            std::array::from_fn(|at| self.totals[at].load(Ordering::Relaxed));
        Counters {
            nodes,
            expansions,
            settle_positions,
            known_hits,
            table_used,
            table_replaced,
            ..Counters::default()
        }
    }
}

/// The limits among the ends.
const HALTS: [(Halt, Reason); 5] = [
    (Halt::NodeLimit, Reason::NodeLimit),
    (Halt::TimeLimit, Reason::TimeLimit),
    (Halt::Memory, Reason::Memory),
    (Halt::Interrupted, Reason::Interrupted),
    (Halt::KnownValues, Reason::KnownValues),
];

/// Places in [`fields`].
const NODES: usize = 0;
const TABLE_USED: usize = 4;

fn fields(counters: &Counters) -> [u64; 6] {
    let &Counters {
        nodes,
        expansions,
        settle_positions,
        known_hits,
        table_used,
        table_replaced,
        ..
    } = counters;
    [nodes, expansions, settle_positions, known_hits, table_used, table_replaced]
}

/// One worker's place in the team, which it gives up at its end, also by a panic.
pub(in crate::search) struct Member<'a> {
    pub team: &'a Team<'a>,
    pub number: usize,
    told: [u64; 6],
}

impl<'a> Member<'a> {
    pub fn new(team: &'a Team<'a>, number: usize) -> Self {
        Member { team, number, told: [0; 6] }
    }

    /// Hands over what has been counted since the last time, and says whether to stop. If everybody
    /// stops because the root is solved, the reason is [`Reason::Interrupted`].
    pub fn report(&mut self, counters: &Counters, stopped: Option<Reason>) -> Option<Reason> {
        let team = self.team;
        let now = fields(counters);
        for (at, total) in team.totals.iter().enumerate() {
            let more = now[at] - self.told[at];
            if more > 0 {
                total.fetch_add(more, Ordering::Relaxed);
            }
        }
        self.told = now;
        let reason = stopped.or_else(|| {
            let full = team.totals[NODES].load(Ordering::Relaxed) >= team.nodes;
            if full { Some(Reason::NodeLimit) } else { team.limits.reached() }
        });
        if let Some(reason) = reason
            && let Some((halt, _)) = HALTS.into_iter().find(|&(_, other)| other == reason)
        {
            team.halt(halt);
        }
        let halted = team.halt.load(Ordering::Relaxed) != Halt::No as u8;
        halted.then(|| team.reason().unwrap_or(Reason::Interrupted))
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.team.halt(Halt::Panic);
        }
        self.team.gate.leave();
    }
}
