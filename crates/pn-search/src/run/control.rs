//! One worker's side of limits, counters and progress.

use super::{Counters, Limits, Member, Observer, Progress, Reason, RootChildren, Team};
use crate::numbers::Number;

/// Expansions between two looks at the clock, the stop flag and the observer: a few milliseconds.
const INTERVAL: u32 = 2048;

/// The same for a worker of several, which also hands over its counters then.
const MEMBER_INTERVAL: u32 = 256;

/// Known values after which a look comes early, as each may have to be read from a disk: a fraction of a
/// millisecond where the system has them in memory, some seconds on a slow disk.
const KNOWN_INTERVAL: u64 = 256;

/// What a search says of its memory.
#[derive(Clone, Copy, Default)]
pub(crate) struct MemoryUse {
    /// Bytes in use.
    pub bytes: u64,
    /// Whether there is too little left to go on.
    pub is_full: bool,
}

/// Limits, observer and counters of one running search, or of one worker of it.
pub(crate) struct Control<'a> {
    member: Member<'a>,
    /// `None` for a worker that leaves the Grundy numbers of its team to another one.
    observer: Option<&'a mut dyn Observer>,
    interval: u32,
    countdown: u32,
    node_limit: u64,
    pub counters: Counters,
    /// What the others of the team had counted at the last look.
    others: Counters,
    /// Grundy numbers that the team has not been told.
    found: Vec<(u32, u32)>,
    /// Set once a limit is reached; the search unwinds.
    pub stopped: Option<Reason>,
    /// The root's numbers and best child, for the observer.
    pub root: (Number, Number, Option<u64>),
    /// Depth of the current iteration (α-β), for the observer.
    pub depth: u32,
}

impl<'a> Control<'a> {
    /// For a search on one thread.
    pub fn new(limits: Limits<'a>, observer: &'a mut dyn Observer) -> Self {
        let team = Team::new(1, limits, Counters::default());
        Control::of_member(Member::first(&team), Some(observer), INTERVAL)
    }

    /// For one worker of several. At most one of them has an observer.
    pub fn of_worker(member: Member<'a>, observer: Option<&'a mut dyn Observer>) -> Self {
        Control::of_member(member, observer, MEMBER_INTERVAL)
    }

    /// For a worker of a team that polls limits and reports progress every `interval` expansions.
    pub fn of_member(
        member: Member<'a>,
        observer: Option<&'a mut dyn Observer>,
        interval: u32,
    ) -> Self {
        let node_limit = member.team.node_limit;
        let interval = member.team.interval(interval);
        let mut control = Control {
            member,
            observer,
            interval,
            countdown: interval,
            node_limit,
            counters: Counters::default(),
            others: Counters::default(),
            found: Vec::new(),
            stopped: None,
            root: (1, 1, None),
            depth: 0,
        };
        control.look(MemoryUse::default());
        control
    }

    /// The worker's team.
    #[inline(always)]
    pub fn team(&self) -> &Team<'a> {
        &self.member.team
    }

    /// The worker's number in its team.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.member.number()
    }

    /// What everybody has counted, the others as far as was known at the last look.
    pub fn all_counters(&self) -> Counters {
        let mut all = self.others;
        all.add_since(&self.counters, &Counters::default());
        all
    }

    /// Counts an expansion and says whether the search has to stop.
    #[inline(always)]
    pub fn tick(&mut self) -> bool {
        self.tick_for(MemoryUse::default, None)
    }

    /// The same for a search that has the root's children in a tree.
    #[inline(always)]
    pub fn tick_at(&mut self, children: &dyn RootChildren) -> bool {
        self.tick_for(MemoryUse::default, Some(children))
    }

    /// The same for a search that counts its memory.
    #[inline(always)]
    pub fn tick_with(&mut self, memory: impl FnOnce() -> MemoryUse) -> bool {
        self.tick_for(memory, None)
    }

    #[inline(always)]
    fn tick_for(
        &mut self,
        memory: impl FnOnce() -> MemoryUse,
        children: Option<&dyn RootChildren>,
    ) -> bool {
        self.counters.expansions += 1;
        self.countdown -= 1;
        if self.countdown == 0 {
            self.countdown = self.interval;
            self.report(memory(), children);
        }
        if self.others.nodes + self.counters.nodes >= self.node_limit {
            self.stop(Reason::NodeLimit);
        }
        self.stopped.is_some()
    }

    /// Counts an answer of known values.
    #[inline(always)]
    pub fn count_known(&mut self) {
        self.counters.known_hits += 1;
        if self.counters.known_hits.is_multiple_of(KNOWN_INTERVAL) {
            self.countdown = 1;
        }
    }

    /// Whether the last tick looked at the world outside.
    #[inline(always)]
    pub fn has_just_looked(&self) -> bool {
        self.countdown == self.interval
    }

    /// Ends the search, for the whole team, unless it has ended.
    #[cold]
    pub fn stop(&mut self, reason: Reason) {
        if self.stopped.is_none() {
            self.team().stop(reason);
            self.hear();
        }
    }

    /// Notes a Grundy number that was not known before.
    pub fn found(&mut self, atom: u32, number: u32) {
        self.counters.grundy_numbers += 1;
        self.found.push((atom, number));
    }

    /// Lets the table grow when it is full enough: if `wants` says so of its number of entries. A
    /// worker of several may have to wait here until all others have come, too. `grow` is told how many
    /// threads it may take, as many as are waiting.
    ///
    /// Nobody looks at the stop flag and the clock while it grows, so both are looked at before.
    #[inline(always)]
    pub fn grow_table(&self, wants: impl FnOnce(u64) -> bool, grow: impl FnOnce(usize)) {
        let team = self.team();
        if wants(self.others.table_used + self.counters.table_used) && !team.look() {
            team.gate.request();
        }
        if team.gate.is_wanted() {
            self.member.pass_gate(|| {
                if !team.look() {
                    grow(team.workers());
                }
            });
        }
    }

    /// Hands over the counters, looks at the stop flag and the clock, and hears from the team.
    fn look(&mut self, memory: MemoryUse) {
        self.others = self.member.tell(&self.counters, &mut self.found);
        if memory.is_full && !self.team().look() {
            self.team().stop(Reason::Memory);
        }
        self.team().look();
        self.hear();
    }

    fn hear(&mut self) {
        if self.stopped.is_none() && self.team().is_halted() {
            // Everybody stops because the root is solved, or somebody has panicked.
            self.stopped = Some(self.team().reason().unwrap_or(Reason::Interrupted));
        }
    }

    /// Calls [`Self::look`], and then the observer.
    fn report(&mut self, memory: MemoryUse, children: Option<&dyn RootChildren>) {
        self.look(memory);
        self.tell_found();
        let counters = self.all_counters();
        let Some(observer) = &mut self.observer else { return };
        let ((phi, delta, best), depth) = (self.root, self.depth);
        let memory_bytes = memory.bytes;
        let root = Progress { phi, delta, best, ..Progress::default() };
        let progress = Progress { depth, counters, memory_bytes, children, ..root };
        observer.progress(&progress);
    }

    /// Hands over what is left, at the worker's end.
    pub fn finish(&mut self) {
        self.look(MemoryUse::default());
        self.tell_found();
    }

    /// Reports the Grundy numbers that the team has found to the observer, if this worker has one.
    /// Those that others find after its end are left in the team ([`Team::take_found`]).
    fn tell_found(&mut self) {
        let Some(observer) = &mut self.observer else { return };
        let found = self.member.team.take_found();
        if !found.is_empty() && !observer.grundy_numbers(&found) {
            self.stop(Reason::FileError);
        }
    }
}
