//! Limits, progress and counters: everything between a search and the world outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::game::Value;
use super::numbers::Number;
use super::parallel::Member;
use super::table::Stored;

/// Why a search ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The node limit was reached.
    NodeLimit,
    /// The deadline passed.
    TimeLimit,
    /// The tree has no room left.
    Memory,
    /// Somebody set the stop flag.
    Interrupted,
    /// A known value could not be read ([`super::known::Answer::Failed`]).
    KnownValues,
}

impl Reason {
    /// The reason in a few words.
    pub const fn text(self) -> &'static str {
        match self {
            Reason::NodeLimit => "node limit",
            Reason::TimeLimit => "time limit",
            Reason::Memory => "memory limit",
            Reason::Interrupted => "interrupted",
            Reason::KnownValues => "database error",
        }
    }
}

/// What a search says about its root, seen from the side to move there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Proven.
    Known(Value),
    /// Not proven, and why.
    Unknown(Reason),
}

impl Outcome {
    /// The value, if it is proven.
    pub fn value(self) -> Option<Value> {
        match self {
            Outcome::Known(value) => Some(value),
            Outcome::Unknown(_) => None,
        }
    }
}

/// When to give up. The default is never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// Most nodes to evaluate; overrun by at most one expansion, and on several threads by those of
    /// some hundred expansions on each.
    pub nodes: Option<u64>,
    /// Time to stop at; overrun by some milliseconds.
    pub deadline: Option<Instant>,
    /// Stops the search within milliseconds once it is true.
    pub stop: Option<&'a AtomicBool>,
}

impl Limits<'_> {
    /// Looks at the stop flag and the clock; the number of nodes is the search's own to watch.
    pub(super) fn reached(&self) -> Option<Reason> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            Some(Reason::Interrupted)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Reason::TimeLimit)
        } else {
            None
        }
    }
}

/// What a search counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Positions evaluated for the first time, as far as the table remembers.
    pub nodes: u64,
    /// Positions expanded, again and again ones included.
    pub expansions: u64,
    /// Positions visited by bounded exact searches ([`super::game::Game::settle`]).
    pub settle_positions: u64,
    /// Answers from known values ([`super::known`]), repeated ones included.
    pub known_hits: u64,
    /// PN²: nodes of the first-level tree.
    pub first_level: u64,
    /// PN²: nodes of all second-level trees.
    pub second_level: u64,
    /// Table entries in use. Those that an earlier search left in the table are estimated
    /// ([`super::table::Table::estimated_count`]).
    pub table_used: u64,
    /// Table entries dropped for others.
    pub table_replaced: u64,
}

impl Counters {
    /// Counts what a store did.
    #[inline(always)]
    pub fn stored(&mut self, stored: Stored) {
        match stored {
            Stored::Filled => self.table_used += 1,
            Stored::Updated => {}
            Stored::Replaced => self.table_replaced += 1,
        }
    }
}

/// A look at a running search.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Proof number of the root for the side to move.
    pub phi: Number,
    /// Disproof number of the root.
    pub delta: Number,
    /// Code of the child that the search holds for the best.
    pub best: Option<u64>,
    /// Depth of the current iteration (α-β), else 0.
    pub depth: u32,
    /// Counters so far.
    pub counters: Counters,
}

/// Receives progress now and then, from the thread that called the search.
pub trait Observer {
    /// Called every few milliseconds or more often; so it should return soon.
    fn progress(&mut self, progress: &Progress);
}

/// Ignores everything.
impl Observer for () {
    fn progress(&mut self, _: &Progress) {}
}

/// Expansions between two looks at the clock, the stop flag and the observer: a few milliseconds.
const INTERVAL: u32 = 2048;

/// The same for a worker of a team, which also hands over its counters then.
const MEMBER_INTERVAL: u32 = 256;

/// Limits, observer and counters of one running search, or of one worker of it.
pub(super) struct Control<'a> {
    limits: Limits<'a>,
    observer: &'a mut dyn Observer,
    member: Option<Member<'a>>,
    countdown: u32,
    node_limit: u64,
    pub counters: Counters,
    /// Set once a limit is reached; the search unwinds.
    pub stopped: Option<Reason>,
    /// The root's numbers and best child, for the observer.
    pub root: (Number, Number, Option<u64>),
    /// Depth of the current iteration (α-β), for the observer.
    pub depth: u32,
    /// Table entries in use by all workers, as far as this one has been told.
    pub table_used_by_all: u64,
}

impl<'a> Control<'a> {
    /// For a search on one thread.
    pub fn new(limits: Limits<'a>, observer: &'a mut dyn Observer) -> Self {
        let mut control = Control {
            limits,
            observer,
            member: None,
            countdown: INTERVAL,
            node_limit: limits.nodes.unwrap_or(u64::MAX),
            counters: Counters::default(),
            stopped: None,
            root: (1, 1, None),
            depth: 0,
            table_used_by_all: 0,
        };
        control.look();
        control
    }

    /// For one worker of a team, whose limits are the team's.
    pub fn of_member(member: Member<'a>, observer: &'a mut dyn Observer) -> Self {
        let mut control = Control::new(Limits::default(), observer);
        control.countdown = MEMBER_INTERVAL;
        control.member = Some(member);
        control.look();
        control
    }

    /// The worker's place in its team, if it has one.
    #[inline(always)]
    pub fn member(&self) -> Option<&Member<'a>> {
        self.member.as_ref()
    }

    /// Counts an expansion and says whether the search has to stop.
    #[inline(always)]
    pub fn tick(&mut self) -> bool {
        self.counters.expansions += 1;
        self.countdown -= 1;
        if self.countdown == 0 {
            self.countdown = if self.member.is_some() { MEMBER_INTERVAL } else { INTERVAL };
            self.look();
            let (phi, delta, best) = self.root;
            let depth = self.depth;
            let counters = match &self.member {
                Some(member) => member.team.counters(),
                None => self.counters,
            };
            self.observer.progress(&Progress { phi, delta, best, depth, counters });
        }
        if self.counters.nodes >= self.node_limit && self.stopped.is_none() {
            self.stopped = Some(Reason::NodeLimit);
        }
        self.stopped.is_some()
    }

    /// Whether the last tick looked at the world outside, as every 2048th does.
    #[inline(always)]
    pub fn has_just_looked(&self) -> bool {
        self.countdown == INTERVAL
    }

    /// Looks at the stop flag and the clock. A worker also hears from its team; at its end it has
    /// to call this once more, for the team to hear from it.
    pub fn look(&mut self) {
        match &mut self.member {
            Some(member) => {
                self.stopped = member.report(&self.counters, self.stopped);
                self.table_used_by_all = member.team.table_used();
            }
            None if self.stopped.is_none() => self.stopped = self.limits.reached(),
            None => {}
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
    /// If the root is won: the code of a lost child. Else the child that the search held for the
    /// best, if it expanded the root.
    pub best: Option<u64>,
    /// What was counted.
    pub counters: Counters,
    /// Bytes of the whole table and of the part of the tree's memory that was ever in use.
    pub memory_bytes: u64,
}
