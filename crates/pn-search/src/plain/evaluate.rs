//! Evaluation of positions: expansion, table, known values, and bounded exact search.

use super::game::{Child, Expansion, Game};
use super::oracle::OracleAnswer;
use super::root::Root;
use crate::cluster::SharedEntry;
use crate::numbers::Pair;
use crate::run::{Limits, Observer, Reason, SearchMonitor};
use crate::search_tree::{ChildRef, Expanded, NextStep, SearchTree};
use crate::table::{Entry, Table};
use crate::thresholds::Thresholds;
use crate::{LeafSolverOptions, Value};

/// Places of [`Evaluator::hard`].
const HARD: usize = 1 << 16;

/// What one thread evaluates positions with.
pub(crate) struct Evaluator<'a, G: Game> {
    pub game: &'a G,
    pub table: &'a Table,
    pub monitor: SearchMonitor<'a>,
    pub scratch: G::Scratch,
    /// Open children, those of the last expansion at the top. A depth-first search keeps those of
    /// its whole path here.
    pub children: Vec<Child>,
    /// Keys of the children of the expansion in progress.
    keys: Vec<u64>,
    settle: LeafSolverOptions,
    /// How many children of one expansion are looked at in vain for an exact search, those of least
    /// delta first. One counts also if none is tried on it: because its numbers are from the table, it
    /// would take too much effort, or it is marked as hard. On the others a depth-first search tries
    /// them when it comes to them.
    pub tries: u32,
    /// Where exact searches have used up their budget lately: a byte of the position's key in the
    /// place that other bits of it choose. A wrong one costs an exact search, no more. As all begin as
    /// 0, a position with this mark, one of 256, is not tried until another has taken its place.
    hard: Box<[u8]>,
    /// Whether numbers of open positions are taken from the table, or only values.
    pub open_entries: bool,
    /// Minimum work of an entry that is also added to [`Self::shared`].
    pub min_shared_work: u64,
    /// Entries to be shared with workers in other processes, in the order in which they were stored.
    pub shared: Vec<SharedEntry>,
}

impl<'a, G: Game> Evaluator<'a, G> {
    /// For a search on one thread that is the only user of its table. Counts the root.
    pub fn alone(
        root: Root<'a, G>,
        limits: Limits<'a>,
        observer: &'a mut dyn Observer,
        settle: LeafSolverOptions,
    ) -> Self {
        let Root { game, table, .. } = root;
        let mut monitor = SearchMonitor::new(limits, observer);
        monitor.counters.nodes = 1;
        monitor.counters.table_used = table.estimated_count();
        Evaluator::new(game, table, monitor, settle)
    }
}

impl<'a, G: Game> Evaluator<'a, G> {
    /// Creates the evaluator of a worker.
    pub fn new(
        game: &'a G,
        table: &'a Table,
        monitor: SearchMonitor<'a>,
        settle: LeafSolverOptions,
    ) -> Self {
        Evaluator {
            game,
            table,
            monitor,
            scratch: G::Scratch::default(),
            children: Vec::with_capacity(256),
            keys: Vec::with_capacity(256),
            settle,
            tries: u32::MAX,
            hard: vec![0; HARD].into(),
            open_entries: false,
            min_shared_work: u64::MAX,
            shared: Vec::new(),
        }
    }

    /// What the table knows about a position.
    #[inline(always)]
    pub fn lookup(&self, code: u64) -> Option<Entry> {
        self.table.lookup(self.game.key(code), code)
    }

    /// Lets the table grow when it is full enough. A worker of several may have to wait here until all
    /// others have come.
    #[inline(always)]
    pub fn grow_if_full(&self) {
        let (game, table) = (self.game, self.table);
        let grow = |threads| table.grow(threads, |code| game.key(code));
        self.monitor.grow_table(|used| table.wants_growth(used), grow);
    }

    /// The value of a position, if the table knows it.
    #[inline]
    pub fn value(&self, code: u64) -> Option<Value> {
        self.lookup(code)?.value()
    }

    /// Expands a position and appends its open children, with their numbers. Children that the
    /// table does not know count as nodes on the first visit only.
    pub fn expand(&mut self, code: u64, first_visit: bool) -> Expanded<()> {
        let base = self.children.len();
        let (game, table, keys) = (self.game, self.table, &mut self.keys);
        keys.clear();
        let announce = |code| {
            let key = game.key(code);
            table.prefetch(key);
            keys.push(key);
        };
        match game.expand(code, &mut self.scratch, &mut self.children, announce) {
            Expansion::Lost => Expanded::Solved(Value::Loss),
            Expansion::Won(child) => Expanded::Won(child),
            Expansion::Open => self.evaluate_children(base, first_visit),
        }
    }

    /// Replaces the estimates of the children from `base` by what the table, known values or an
    /// exact search say, and drops those that are won. Unless the result is open, the list is cut
    /// off at `base`.
    fn evaluate_children(&mut self, base: usize, first_visit: bool) -> Expanded<()> {
        let mut decided = self.look_up(base, first_visit).map(Expanded::Won);
        if decided.is_none() {
            decided = self.ask(base);
        }
        if decided.is_none() && self.settle.budget > 0 {
            decided = self.settle_best(base).map(Expanded::Won);
        }
        if let Some(evaluation) = decided {
            self.children.truncate(base);
            return evaluation;
        }
        self.drop_won(base);
        if self.children.len() == base { Expanded::Solved(Value::Loss) } else { Expanded::Open(()) }
    }

    /// Takes the numbers of the children from `base` from the table, and counts those that it does
    /// not know on the first visit. Ends at the first that is lost, whose code is returned.
    #[inline(always)]
    fn look_up(&mut self, base: usize, first_visit: bool) -> Option<u64> {
        assert_eq!(self.keys.len(), self.children.len() - base, "every child is announced once");
        for (child, &key) in self.children[base..].iter_mut().zip(&self.keys) {
            match self.table.lookup(key, child.code) {
                Some(entry) if self.open_entries || entry.value().is_some() => {
                    child.set_pair(Pair { phi: entry.phi, delta: entry.delta });
                }
                _ => self.monitor.counters.nodes += u64::from(first_visit),
            }
            if child.delta == 0 {
                return Some(child.code);
            }
        }
        None
    }

    /// Tries exact searches on the children from `base`, those of least delta first, until one is
    /// lost, whose code is returned, or as many have been looked at in vain as [`Self::tries`] says.
    #[inline(always)]
    fn settle_best(&mut self, base: usize) -> Option<u64> {
        let mut next = base;
        while next < self.children.len() && ((next - base) as u32) < self.tries {
            let mut best = next;
            for index in next + 1..self.children.len() {
                if self.children[index].delta < self.children[best].delta {
                    best = index;
                }
            }
            // Won children have infinite deltas, so all that are left are won.
            if self.children[best].phi == 0 {
                break;
            }
            self.children.swap(next, best);
            match self.settle(self.children[next]) {
                Some(Value::Loss) => return Some(self.children[next].code),
                Some(Value::Win) => self.children[next].set_pair(Pair::WIN),
                None => {
                    self.children[next].effort = Child::NEVER_SETTLE;
                    next += 1;
                }
            }
        }
        None
    }

    /// Drops the children from `base` that are won.
    #[inline(always)]
    fn drop_won(&mut self, base: usize) {
        let mut kept = base;
        for index in base..self.children.len() {
            if self.children[index].phi != 0 {
                self.children[kept] = self.children[index];
                kept += 1;
            }
        }
        self.children.truncate(kept);
    }

    /// Asks the game for known values of the children from `base` that are not solved. An
    /// evaluation is returned if a child is lost or an answer failed.
    #[inline(always)]
    fn ask(&mut self, base: usize) -> Option<Expanded<()>> {
        for child in &mut self.children[base..] {
            if child.phi == 0 {
                continue;
            }
            match self.game.known(child.code) {
                OracleAnswer::Unknown => {}
                OracleAnswer::Known(value) => {
                    self.monitor.count_known();
                    if value == Value::Loss {
                        return Some(Expanded::Won(child.code));
                    }
                    child.set_pair(Pair::WIN);
                }
                OracleAnswer::Failed => {
                    self.monitor.stop(Reason::FileError);
                    return Some(Expanded::Stopped);
                }
            }
        }
        None
    }

    /// Whether the root is known to be lost. One that is known to be won has to be expanded in any
    /// case: a lost child belongs to the answer.
    pub fn root_is_lost(&mut self, root: u64) -> bool {
        match self.game.known(root) {
            OracleAnswer::Unknown | OracleAnswer::Known(Value::Win) => false,
            OracleAnswer::Known(Value::Loss) => {
                self.monitor.count_known();
                true
            }
            OracleAnswer::Failed => {
                self.monitor.stop(Reason::FileError);
                false
            }
        }
    }

    /// Tries the bounded exact search on a child, if it is one for which it may suffice.
    #[inline(always)]
    fn settle(&mut self, child: Child) -> Option<Value> {
        if !self.settle.admits(&child) {
            return None;
        }
        let key = self.game.key(child.code);
        let (place, mark) = (key as usize % HARD, (key >> 24) as u8);
        if self.hard[place] == mark {
            return None;
        }
        let settled = self.game.settle(child.code, self.settle.budget, &mut self.scratch);
        self.monitor.counters.settle_positions += u64::from(settled.positions);
        if settled.value.is_none() {
            self.hard[place] = mark;
        }
        settled.value
    }

    /// Adds an entry to [`Self::shared`]. Not inlined: most searches share nothing.
    #[cold]
    fn share(&mut self, code: u64, entry: Entry) {
        self.shared.push(SharedEntry { code, entry });
    }

    /// Stores the entry of a position.
    #[inline(always)]
    pub fn store(&mut self, code: u64, entry: Entry) {
        if entry.work >= self.min_shared_work {
            self.share(code, entry);
        }
        let stored = self.table.store(self.game.key(code), code, entry);
        self.monitor.counters.stored(stored);
    }
}

impl ChildRef for Child {
    #[inline(always)]
    fn pair(&self) -> Pair {
        Pair { phi: self.phi, delta: self.delta }
    }

    /// What is known is not searched exactly.
    #[inline(always)]
    fn set_pair(&mut self, Pair { phi, delta }: Pair) {
        (self.phi, self.delta) = (phi, delta);
        self.effort = Child::NEVER_SETTLE;
    }
}

impl<'a, G: Game> SearchTree<'a> for Evaluator<'a, G> {
    type Node = ();
    type ChildRef = Child;

    const SUMS: bool = false;
    const MIN_SHARED_WORK: u64 = 8;

    #[inline(always)]
    fn monitor(&mut self) -> &mut SearchMonitor<'a> {
        &mut self.monitor
    }

    #[inline(always)]
    fn monitor_ref(&self) -> &SearchMonitor<'a> {
        &self.monitor
    }

    #[inline(always)]
    fn children(&mut self) -> &mut Vec<Child> {
        &mut self.children
    }

    #[inline(always)]
    fn children_ref(&self) -> &[Child] {
        &self.children
    }

    #[inline(always)]
    fn tick(&mut self) -> bool {
        self.grow_if_full();
        self.monitor.tick()
    }

    #[inline(always)]
    fn key(&self, code: u64) -> u64 {
        self.game.key(code)
    }

    #[inline(always)]
    fn child_key(&self, child: &Child) -> u64 {
        self.game.key(child.code)
    }

    #[inline(always)]
    fn code(&self, child: &Child) -> Option<u64> {
        Some(child.code)
    }

    #[inline(always)]
    fn lookup(&self, code: u64) -> Option<Entry> {
        Evaluator::lookup(self, code)
    }

    #[inline(always)]
    fn value(&self, code: u64) -> Option<Value> {
        Evaluator::value(self, code)
    }

    #[inline(always)]
    fn expand(&mut self, code: u64, first_visit: bool) -> Expanded<()> {
        Evaluator::expand(self, code, first_visit)
    }

    #[inline(always)]
    fn step(&mut self, (): &(), child: &Child, thresholds: Thresholds) -> NextStep {
        match self.settle(*child) {
            Some(value) => NextStep::Numbers(Pair::of(value)),
            None => NextStep::Node(child.code, thresholds),
        }
    }

    fn refresh(&mut self, (): &(), base: usize) {
        for child in &self.children[base..] {
            self.table.prefetch(self.game.key(child.code));
        }
        for at in base..self.children.len() {
            if let Some(Entry { phi, delta, .. }) = self.lookup(self.children[at].code) {
                self.children[at].set_pair(Pair { phi, delta });
            }
        }
        self.drop_won(base);
    }

    /// In no order: the last child takes its place.
    #[inline(always)]
    fn remove(&mut self, at: usize) {
        self.children.swap_remove(at);
    }

    #[inline(always)]
    fn solved(&mut self, code: u64, value: Value, work: u64) {
        Evaluator::store(self, code, Entry::solved(value, work));
    }

    #[inline(always)]
    fn store(&mut self, code: u64, Pair { phi, delta }: Pair, work: u64) {
        Evaluator::store(self, code, Entry { phi, delta, work });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;
    use crate::plain::game::LeafSolution;
    use crate::plain::oracle::{Oracle, WithOracle};

    /// A root with three children, of which the first is too hard for exact searches, the second is
    /// won by one, and the third is not tried.
    #[derive(Default)]
    struct Three {
        searches: [AtomicU32; 4],
    }

    impl Game for Three {
        type Scratch = ();

        fn expand(
            &self,
            _: u64,
            (): &mut (),
            children: &mut Vec<Child>,
            announce: impl FnMut(u64),
        ) -> Expansion {
            (1..4).for_each(announce);
            children.extend((1..4).map(|code| Child {
                code,
                phi: 5,
                delta: 5,
                effort: if code == 3 { 9 } else { 2 },
            }));
            Expansion::Open
        }

        fn key(&self, code: u64) -> u64 {
            code << 40 | code << 24 | code
        }

        fn settle(&self, code: u64, budget: u32, (): &mut ()) -> LeafSolution {
            self.searches[code as usize].fetch_add(1, Ordering::Relaxed);
            let value = (code == 2).then_some(Value::Win);
            LeafSolution { value, positions: if code == 2 { 1 } else { budget } }
        }
    }

    fn evaluator<'a>(
        game: &'a Three,
        table: &'a Table,
        nobody: &'a mut (),
    ) -> Evaluator<'a, Three> {
        let settle = LeafSolverOptions { budget: 10, effort: 8 };
        Evaluator::alone(Root::new(game, 0, table), Limits::default(), nobody, settle)
    }

    /// While a table grows, nobody would hear that the search has to stop.
    #[test]
    fn no_growth_begins_once_the_search_has_to_stop() {
        let (game, table, mut nobody) = (Three::default(), Table::new(1 << 20).unwrap(), ());
        let stop = AtomicBool::new(false);
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        let root = Root::new(&game, 0, &table);
        let mut evaluator = Evaluator::alone(root, limits, &mut nobody, LeafSolverOptions::NEVER);
        evaluator.monitor.counters.table_used = table.capacity();
        let mut sizes = Vec::new();
        for stops in [false, false, true, true] {
            stop.store(stops, Ordering::Relaxed);
            evaluator.grow_if_full();
            sizes.push(table.used_bytes() >> 16);
        }
        assert_eq!(sizes, [2, 4, 4, 4]);
    }

    /// Where children's values come from a slow disk, the search hears soon that it has to stop.
    #[test]
    fn answers_of_known_values_bring_the_next_look_forward() {
        struct Won;
        impl Oracle for Won {
            fn value(&self, _: u64) -> OracleAnswer {
                OracleAnswer::Known(Value::Win)
            }
        }
        let (three, table, mut nobody) = (Three::default(), Table::new(1 << 12).unwrap(), ());
        let game = WithOracle::new(&three, &Won);
        let stop = AtomicBool::new(false);
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        let root = Root::new(&game, 0, &table);
        let mut evaluator = Evaluator::alone(root, limits, &mut nobody, LeafSolverOptions::NEVER);
        stop.store(true, Ordering::Relaxed);
        let mut expansions = 0;
        while !evaluator.monitor.tick() {
            assert_eq!(evaluator.expand(0, true), Expanded::Solved(Value::Loss));
            expansions += 1;
        }
        assert_eq!(expansions, 256 / 3 + 1);
    }

    /// What an exact search was too short for is not searched again at once, and keeps its estimate;
    /// what was solved is solved again, as nothing is stored for it.
    #[test]
    fn exact_searches_that_failed_are_not_repeated() {
        let (game, table, mut nobody) = (Three::default(), Table::new(1 << 12).unwrap(), ());
        let mut evaluator = evaluator(&game, &table, &mut nobody);
        for _ in 0..3 {
            assert_eq!(evaluator.expand(0, true), Expanded::Open(()));
            let open: Vec<_> =
                evaluator.children.iter().map(|child| (child.code, child.phi)).collect();
            assert_eq!(open, [(1, 5), (3, 5)]);
            evaluator.children.clear();
        }
        let searches = game.searches.each_ref().map(|count| count.load(Ordering::Relaxed));
        assert_eq!(searches, [0, 1, 3, 0]);
        assert_eq!(evaluator.monitor.counters.settle_positions, 10 + 3);
    }

    /// After one in vain the others wait until the search comes to them.
    #[test]
    fn the_others_are_tried_when_the_search_comes_to_them() {
        let (game, table, mut nobody) = (Three::default(), Table::new(1 << 12).unwrap(), ());
        let mut evaluator = evaluator(&game, &table, &mut nobody);
        evaluator.tries = 1;
        assert_eq!(evaluator.expand(0, true), Expanded::Open(()));
        let searches = |game: &Three| game.searches.each_ref().map(|c| c.load(Ordering::Relaxed));
        assert_eq!((evaluator.children.len(), searches(&game)), (3, [0, 1, 0, 0]));
        for at in 0..3 {
            let child = evaluator.children[at];
            match evaluator.step(&(), &child, Thresholds::ROOT) {
                NextStep::Numbers(pair) => assert_eq!((child.code, pair), (2, Pair::WIN)),
                NextStep::Node(code, _) => assert_eq!(code, child.code),
                NextStep::Summand { .. } => panic!("a child is no sum"),
            }
        }
        assert_eq!(searches(&game), [0, 1, 1, 0]);
        // A child that has been searched is not tried any more.
        evaluator.children[1].set_pair(Pair { phi: 3, delta: 4 });
        assert!(!evaluator.settle.admits(&evaluator.children[1]));
    }
}
