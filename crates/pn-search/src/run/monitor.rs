//! Limits, counters and progress of one worker.

use super::{
    Counters, Limits, ListChildren, Observer, Progress, Reason, RootNumbers, SharedState,
    SharedTree, WorkerSlot,
};
use crate::numbers::Pair;

/// Expansions between two polls of the clock, the stop flag and the observer: a few milliseconds.
const INTERVAL: u32 = 2048;

/// The same for one worker of several. At every poll it also adds its counters to the totals.
const WORKER_INTERVAL: u32 = 256;

/// Number of oracle values after which the next poll is brought forward, because each value may have to be read from
/// a disk. Reading them takes a fraction of a millisecond if the system has them in memory, and some
/// seconds on a slow disk.
const KNOWN_INTERVAL: u64 = 256;

/// Memory of a search.
#[derive(Clone, Copy, Default)]
pub(crate) struct MemoryUse {
    /// Bytes in use.
    pub bytes: u64,
    /// True if too little memory is left for the search to continue.
    pub is_full: bool,
}

/// Limits, observer and counters of one worker of a running search.
pub(crate) struct SearchMonitor<'a> {
    slot: WorkerSlot<'a>,
    /// `None` for all workers but one, which reports the progress and the Grundy numbers of all.
    observer: Option<&'a mut dyn Observer>,
    interval: u32,
    countdown: u32,
    node_limit: u64,
    pub counters: Counters,
    /// Counters of the other workers at the last poll.
    others: Counters,
    /// Grundy numbers that have not been added to the shared state.
    found: Vec<(u32, u32)>,
    /// Reason why the search has to stop. Once it is set, the search returns from all nodes.
    pub stopped: Option<Reason>,
    /// Numbers of the root, for the observer. In a search with jobs, the root is the job's node.
    pub root: RootNumbers,
    /// Tree whose leaves are the workers' jobs.
    pub tree: Option<&'a dyn SharedTree>,
    /// Depth of the current iteration (α-β), for the observer.
    pub depth: u32,
}

impl<'a> SearchMonitor<'a> {
    /// Creates the monitor of a search on one thread.
    pub fn new(limits: Limits<'a>, observer: &'a mut dyn Observer) -> Self {
        let state = SharedState::new(1, limits, Counters::default());
        SearchMonitor::with_interval(WorkerSlot::first(&state), Some(observer), INTERVAL)
    }

    /// Creates the monitor of one worker of several. At most one of them has an observer.
    pub fn of_worker(slot: WorkerSlot<'a>, observer: Option<&'a mut dyn Observer>) -> Self {
        SearchMonitor::with_interval(slot, observer, WORKER_INTERVAL)
    }

    /// Creates the monitor of a worker that polls limits and reports progress every `interval` expansions.
    pub fn with_interval(
        slot: WorkerSlot<'a>,
        observer: Option<&'a mut dyn Observer>,
        interval: u32,
    ) -> Self {
        let node_limit = slot.state.node_limit;
        let interval = slot.state.interval(interval);
        let mut monitor = SearchMonitor {
            slot,
            observer,
            interval,
            countdown: interval,
            node_limit,
            counters: Counters::default(),
            others: Counters::default(),
            found: Vec::new(),
            stopped: None,
            root: RootNumbers::START,
            tree: None,
            depth: 0,
        };
        monitor.sync(MemoryUse::default());
        monitor
    }

    /// State shared with the other workers.
    #[inline(always)]
    pub fn state(&self) -> &SharedState<'a> {
        &self.slot.state
    }

    /// Number of the worker.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.slot.number()
    }

    /// Counters of all workers. The counters of the other workers are from the last poll.
    pub fn all_counters(&self) -> Counters {
        let mut all = self.others;
        all.add(&self.counters);
        all
    }

    /// Counts an expansion. Returns true if the search has to stop.
    #[inline(always)]
    pub fn tick(&mut self) -> bool {
        self.tick_for(MemoryUse::default, None)
    }

    /// Like [`Self::tick`], for a search that has the root's children in a tree. `children` lists them.
    #[inline(always)]
    pub fn tick_at(&mut self, children: &ListChildren<'_>) -> bool {
        self.tick_for(MemoryUse::default, Some(children))
    }

    /// Like [`Self::tick`], for a search that counts its memory.
    #[inline(always)]
    pub fn tick_with(&mut self, memory: impl FnOnce() -> MemoryUse) -> bool {
        self.tick_for(memory, None)
    }

    #[inline(always)]
    fn tick_for(
        &mut self,
        memory: impl FnOnce() -> MemoryUse,
        children: Option<&ListChildren<'_>>,
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

    /// Counts a value from the oracle.
    #[inline(always)]
    pub fn count_known(&mut self) {
        self.counters.known_hits += 1;
        if self.counters.known_hits.is_multiple_of(KNOWN_INTERVAL) {
            self.countdown = 1;
        }
    }

    /// Polls limits and reports progress without counting an expansion, for a worker that waits.
    pub fn poll(&mut self) {
        self.report(MemoryUse::default(), None);
    }

    /// Leaves the resize barrier while the worker waits: the table may grow in the meantime.
    pub fn leave_barrier(&self) {
        self.state().barrier.leave();
    }

    /// Joins the resize barrier again.
    pub fn join_barrier(&self) {
        self.state().barrier.join();
    }

    /// Ends the search of all workers for this reason, unless it has already ended.
    #[cold]
    pub fn stop(&mut self, reason: Reason) {
        if self.stopped.is_none() {
            self.state().stop(reason);
            self.check_halt();
        }
    }

    /// Adds a Grundy number that was unknown before.
    pub fn found(&mut self, atom: u32, number: u32) {
        self.counters.grundy_numbers += 1;
        self.found.push((atom, number));
    }

    /// Lets the table grow if `wants` returns true for its number of entries. If there are several workers, they wait
    /// here for each other, and one of them calls `grow`. The argument of `grow` is the number of threads that it may
    /// use, which is the number of workers.
    ///
    /// The stop flag and the clock are not polled while the table grows, so both are polled before.
    #[inline(always)]
    pub fn grow_table(&self, wants: impl FnOnce(u64) -> bool, grow: impl FnOnce(usize)) {
        let state = self.state();
        if wants(self.others.table_used + self.counters.table_used) && !state.poll() {
            state.barrier.request();
        }
        if state.barrier.is_wanted() {
            self.slot.pass_barrier(|| {
                if !state.poll() {
                    grow(state.workers());
                }
            });
        }
    }

    /// Exchanges the counters with the shared state, and polls the stop flag and the clock.
    fn sync(&mut self, memory: MemoryUse) {
        self.others = self.slot.exchange(&self.counters, &mut self.found);
        if memory.is_full && !self.state().poll() {
            self.state().stop(Reason::Memory);
        }
        self.state().poll();
        self.check_halt();
    }

    fn check_halt(&mut self) {
        if self.stopped.is_none() && self.state().is_halted() {
            // If the state has no reason, the root is solved or a worker has panicked.
            self.stopped = Some(self.state().reason().unwrap_or(Reason::Interrupted));
        }
    }

    /// Calls [`Self::sync`], and then the observer.
    fn report(&mut self, memory: MemoryUse, children: Option<&ListChildren<'_>>) {
        self.sync(memory);
        self.report_found();
        let counters = self.all_counters();
        let Some(observer) = &mut self.observer else { return };
        let (tree, depth) = (self.tree, self.depth);
        let RootNumbers { pair, best } = tree.map_or(self.root, SharedTree::root);
        let Pair { phi, delta } = pair;
        let list = tree.map(|tree| || tree.root_children());
        let children = list.as_ref().map(|list| list as &ListChildren<'_>).or(children);
        let memory_bytes = memory.bytes;
        let root = Progress { phi, delta, best, ..Progress::default() };
        let progress = Progress { depth, counters, memory_bytes, children, ..root };
        observer.progress(&progress);
    }

    /// Adds the last counters and results to the shared state. Called at the worker's end.
    pub fn finish(&mut self) {
        self.sync(MemoryUse::default());
        self.report_found();
    }

    /// Reports the Grundy numbers of all workers to the observer, if this worker has one. Grundy numbers that other
    /// workers find after the end of this worker stay in the shared state ([`SharedState::take_found`]).
    fn report_found(&mut self) {
        let Some(observer) = &mut self.observer else { return };
        let found = self.slot.state.take_found();
        if !found.is_empty() && !observer.grundy_numbers(&found) {
            self.stop(Reason::FileError);
        }
    }
}
