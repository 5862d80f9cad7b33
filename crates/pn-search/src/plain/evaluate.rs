//! Evaluation of positions: expansion, table, oracle, and leaf solver.

use super::game::{Child, Expansion, Game};
use super::oracle::OracleAnswer;
use super::root::Root;
use crate::cluster::shared_entry::SharedEntry;
use crate::numbers::Pair;
use crate::run::{Limits, Observer, Reason, SearchMonitor};
use crate::search_tree::{ChildRef, Expanded, NextStep, SearchTree};
use crate::table::{Entry, Table};
use crate::thresholds::Thresholds;
use crate::{LeafSolverOptions, Value, split_mix};

/// Number of marks in [`Evaluator::failed_recently`].
const FAILURE_MARKS: usize = 1 << 16;

/// Options of the evaluation of children, for all searches of plain games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EvaluationOptions {
    pub leaf_solver: LeafSolverOptions,
    /// Maximum number of unsuccessful attempts to solve children of one expansion by the leaf
    /// solver. The children are tried by delta, the least first. A child counts as an attempt even
    /// if the leaf solver is not called for it: because its numbers are from the table, its effort
    /// is too great, or it is marked as failed. Children beyond the maximum are not tried in the
    /// expansion. A depth-first search calls the leaf solver for such a child when it reaches the
    /// child.
    pub max_attempts: u32,
    /// Evaluates all children of a node at its first expansion, as in the thesis (section 3.5): each counts as a
    /// node, and the values that the oracle has for them are stored in the table. Otherwise the evaluation ends at
    /// the first lost child, and only the value of the node itself is stored.
    pub evaluate_all: bool,
    /// Seed of a random order of the children, which decides between equally good ones.
    pub seed: Option<u64>,
    /// True if phi and delta of open positions are also taken from the table, not only values.
    pub open_entries: bool,
}

impl EvaluationOptions {
    /// Options that call the leaf solver for all children, and switch off the rest.
    pub const fn with_leaf_solver(leaf_solver: LeafSolverOptions) -> Self {
        EvaluationOptions {
            leaf_solver,
            max_attempts: u32::MAX,
            evaluate_all: false,
            seed: None,
            open_entries: false,
        }
    }
}

/// Evaluates positions for one worker.
pub(crate) struct Evaluator<'a, G: Game> {
    pub game: &'a G,
    pub table: &'a Table,
    pub monitor: SearchMonitor<'a>,
    pub scratch: G::Scratch,
    /// Stack of open children, those of the last expansion at the top. A depth-first search keeps
    /// the children of all nodes on its path here.
    pub children: Vec<Child>,
    /// Keys of the children of the expansion in progress.
    keys: Vec<u64>,
    pub options: EvaluationOptions,
    /// Marks of positions that the leaf solver has recently failed to solve: an odd byte of the position's key, at an
    /// index from other bits of the key; 0 if there is none. If two positions have the same mark at the same index, the
    /// leaf solver may skip one that it could solve; this has no other effect.
    failed_recently: Box<[u8]>,
    /// Minimum search effort of an entry that is also added to [`Self::shared`].
    pub min_shared_work: u64,
    /// Entries to be shared with workers in other processes, in the order in which they were stored.
    pub shared: Vec<SharedEntry>,
}

impl<'a, G: Game> Evaluator<'a, G> {
    /// Creates the evaluator of a search on one thread that is the only user of its table. Counts
    /// the root.
    pub fn alone(
        root: Root<'a, G>,
        limits: Limits<'a>,
        observer: &'a mut dyn Observer,
        options: EvaluationOptions,
    ) -> Self {
        let Root { game, table, .. } = root;
        let mut monitor = SearchMonitor::new(limits, observer);
        monitor.counters.nodes = 1;
        monitor.counters.table_used = table.estimated_count();
        Evaluator::new(game, table, monitor, options)
    }
}

impl<'a, G: Game> Evaluator<'a, G> {
    /// Creates the evaluator of a worker.
    pub fn new(
        game: &'a G,
        table: &'a Table,
        monitor: SearchMonitor<'a>,
        options: EvaluationOptions,
    ) -> Self {
        Evaluator {
            game,
            table,
            monitor,
            scratch: G::Scratch::default(),
            children: Vec::with_capacity(256),
            keys: Vec::with_capacity(256),
            options,
            failed_recently: vec![0; FAILURE_MARKS].into(),
            min_shared_work: u64::MAX,
            shared: Vec::new(),
        }
    }

    /// Looks up a position in the table.
    #[inline(always)]
    pub fn lookup(&self, code: u64) -> Option<Entry> {
        self.table.lookup(self.game.key(code), code)
    }

    /// Lets the table grow if it is full enough. If there are several workers, they wait here for
    /// each other before the table grows.
    #[inline(always)]
    pub fn grow_if_full(&self) {
        let (game, table) = (self.game, self.table);
        let grow = |threads| table.grow(threads, |code| game.key(code));
        self.monitor.grow_table(|used| table.wants_growth(used), grow);
    }

    /// Looks up the value of a position in the table.
    #[inline]
    pub fn value(&self, code: u64) -> Option<Value> {
        self.lookup(code)?.value()
    }

    /// Expands a position and appends its open children with their numbers. Children that the table
    /// does not contain count as nodes on the first visit only.
    pub fn expand(&mut self, code: u64, first_visit: bool) -> Expanded<()> {
        let base = self.children.len();
        let (game, table, keys) = (self.game, self.table, &mut self.keys);
        keys.clear();
        let prefetch = |code| {
            let key = game.key(code);
            table.prefetch(key);
            keys.push(key);
        };
        match game.expand(code, &mut self.scratch, &mut self.children, prefetch) {
            Expansion::Lost => Expanded::Solved(Value::Loss),
            Expansion::Won(child) => {
                if self.options.evaluate_all && first_visit {
                    self.evaluate_children_of_won(code);
                }
                Expanded::Won(child)
            }
            Expansion::Open => self.evaluate_children(base, first_visit),
        }
    }

    /// Evaluates all children of a node that has a child without moves.
    #[cold]
    fn evaluate_children_of_won(&mut self, code: u64) {
        let mut codes = Vec::new();
        let base = self.children.len();
        self.game.expand(code, &mut self.scratch, &mut self.children, |code| codes.push(code));
        self.children.truncate(base);
        for code in codes {
            if self.lookup(code).is_none() {
                self.monitor.counters.nodes += 1;
                self.query_oracle(code);
            }
        }
    }

    /// Queries the oracle for the value of a child. Stops the search if the query fails.
    #[inline(always)]
    fn query_oracle(&mut self, code: u64) -> OracleAnswer {
        let answer = self.game.oracle_value(code);
        match answer {
            OracleAnswer::Unknown => {}
            OracleAnswer::Known(value) => {
                self.monitor.count_known();
                if self.options.evaluate_all {
                    self.store(code, Entry::solved(value, 0));
                }
            }
            OracleAnswer::Failed => self.monitor.stop(Reason::FileError),
        }
        answer
    }

    /// Replaces the estimates of the children from index `base` on by numbers from the table, the
    /// oracle or the leaf solver, and removes won children. If the node is not open afterwards, the
    /// list is truncated to `base` children.
    fn evaluate_children(&mut self, base: usize, first_visit: bool) -> Expanded<()> {
        let mut result = self.look_up_children(base, first_visit).map(Expanded::Won);
        if result.is_none() {
            result = self.query_oracle_for_children(base);
        }
        if result.is_none() && self.options.leaf_solver.budget > 0 {
            result = self.solve_best_leaves(base).map(Expanded::Won);
        }
        if let Some(evaluation) = result {
            self.children.truncate(base);
            return evaluation;
        }
        self.drop_won(base);
        if let Some(seed) = self.options.seed {
            self.children[base..].sort_unstable_by_key(|child| split_mix::mix(child.code ^ seed));
        }
        if self.children.len() == base { Expanded::Solved(Value::Loss) } else { Expanded::Open(()) }
    }

    /// Takes the numbers of the children from index `base` on from the table. On the first visit,
    /// counts the children for which the table has no numbers. Returns the code of the first lost child,
    /// and stops there unless all children are evaluated.
    #[inline(always)]
    fn look_up_children(&mut self, base: usize, first_visit: bool) -> Option<u64> {
        let mut lost = None;
        assert_eq!(self.keys.len(), self.children.len() - base, "one prefetch per child");
        for (index, (child, &key)) in self.children[base..].iter_mut().zip(&self.keys).enumerate() {
            match self.table.lookup(key, child.code) {
                Some(entry) if self.options.open_entries || entry.value().is_some() => {
                    child.set_pair(entry.pair());
                }
                _ => {
                    self.game.estimate(&self.scratch, index, child);
                    self.monitor.counters.nodes += u64::from(first_visit);
                }
            }
            if child.delta == 0 && lost.is_none() {
                lost = Some(child.code);
                if !self.options.evaluate_all {
                    break;
                }
            }
        }
        lost
    }

    /// Calls the leaf solver for the children from index `base` on, those of least delta first.
    /// Stops at a lost child and returns its code, or after [`EvaluationOptions::max_attempts`] children that
    /// were not solved.
    #[inline(always)]
    fn solve_best_leaves(&mut self, base: usize) -> Option<u64> {
        let mut next = base;
        while next < self.children.len() && ((next - base) as u32) < self.options.max_attempts {
            let mut best = next;
            for index in next + 1..self.children.len() {
                if self.children[index].delta < self.children[best].delta {
                    best = index;
                }
            }
            // Won children have infinite deltas, so all remaining children are won.
            if self.children[best].phi == 0 {
                break;
            }
            self.children.swap(next, best);
            match self.solve_leaf(self.children[next]) {
                Some(Value::Loss) => return Some(self.children[next].code),
                Some(Value::Win) => self.children[next].set_pair(Pair::WIN),
                None => {
                    self.children[next].effort = Child::NEVER_SOLVE;
                    next += 1;
                }
            }
        }
        None
    }

    /// Removes the won children among those from index `base` on.
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

    /// Queries the oracle for the unsolved children from index `base` on. Returns a result if a
    /// child is lost or a query failed.
    #[inline(always)]
    fn query_oracle_for_children(&mut self, base: usize) -> Option<Expanded<()>> {
        let mut lost = None;
        for index in base..self.children.len() {
            let Child { code, phi, .. } = self.children[index];
            if phi == 0 {
                continue;
            }
            match self.query_oracle(code) {
                OracleAnswer::Unknown => {}
                OracleAnswer::Known(Value::Win) => self.children[index].set_pair(Pair::WIN),
                OracleAnswer::Known(Value::Loss) => {
                    lost = lost.or(Some(code));
                    if !self.options.evaluate_all {
                        break;
                    }
                }
                OracleAnswer::Failed => return Some(Expanded::Stopped),
            }
        }
        lost.map(Expanded::Won)
    }

    /// Returns true if the table or the oracle says that the root is lost. A root that is known to be won has to
    /// be expanded, because the result names a lost child.
    pub fn root_is_lost(&mut self, root: u64) -> bool {
        let known = self.table.lookup(self.game.key(root), root);
        if known.is_some_and(|entry| entry.value() == Some(Value::Loss)) {
            return true;
        }
        match self.game.oracle_value(root) {
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

    /// Calls the leaf solver for a child, if the options admit the child and the leaf solver has not
    /// recently failed for it.
    #[inline(always)]
    fn solve_leaf(&mut self, child: Child) -> Option<Value> {
        if !self.options.leaf_solver.admits(&child) {
            return None;
        }
        let key = self.game.key(child.code);
        let (index, mark) = (key as usize % FAILURE_MARKS, (key >> 24) as u8 | 1);
        if self.failed_recently[index] == mark {
            return None;
        }
        let solution =
            self.game.solve_leaf(child.code, self.options.leaf_solver.budget, &mut self.scratch);
        self.monitor.counters.leaf_positions += u64::from(solution.positions);
        if solution.value.is_none() {
            self.failed_recently[index] = mark;
        }
        solution.value
    }

    /// Adds an entry to [`Self::shared`]. Not inlined: most searches share nothing.
    #[cold]
    fn share(&mut self, code: u64, entry: Entry) {
        self.shared.push(SharedEntry { code, entry });
    }

    /// Stores the entry of a position in the table.
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

    /// Sets the numbers, and disables the leaf solver for the child.
    #[inline(always)]
    fn set_pair(&mut self, Pair { phi, delta }: Pair) {
        (self.phi, self.delta) = (phi, delta);
        self.effort = Child::NEVER_SOLVE;
    }
}

impl<'a, G: Game> SearchTree<'a> for Evaluator<'a, G> {
    type Node = ();
    type ChildRef = Child;

    const SUMS: bool = false;
    const LIMITS_MIN: bool = false;
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
        match self.solve_leaf(*child) {
            Some(value) => NextStep::Numbers(Pair::of(value)),
            None => NextStep::Node(child.code, thresholds),
        }
    }

    fn refresh(&mut self, (): &(), base: usize) {
        for child in &self.children[base..] {
            self.table.prefetch(self.game.key(child.code));
        }
        for at in base..self.children.len() {
            if let Some(entry) = self.lookup(self.children[at].code) {
                self.children[at].set_pair(entry.pair());
            }
        }
        self.drop_won(base);
    }

    /// Does not keep the order: the last child is moved to the index of the removed one.
    #[inline(always)]
    fn remove(&mut self, at: usize) {
        self.children.swap_remove(at);
    }

    #[inline(always)]
    fn solved(&mut self, code: u64, value: Value, work: u64) {
        Evaluator::store(self, code, Entry::solved(value, work));
    }

    #[inline(always)]
    fn store(&mut self, code: u64, pair: Pair, work: u64) {
        Evaluator::store(self, code, Entry::new(pair, work));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;
    use crate::plain::game::LeafSolution;
    use crate::plain::oracle::{Oracle, WithOracle};

    /// A root with three children. The leaf solver fails for the first, solves the second as a win,
    /// and is not called for the third.
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
            prefetch: impl FnMut(u64),
        ) -> Expansion {
            (1..4).for_each(prefetch);
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

        fn solve_leaf(&self, code: u64, budget: u32, (): &mut ()) -> LeafSolution {
            self.searches[code as usize].fetch_add(1, Ordering::Relaxed);
            let value = (code == 2).then_some(Value::Win);
            LeafSolution { value, positions: if code == 2 { 1 } else { budget } }
        }
    }

    fn evaluator<'a>(
        game: &'a Three,
        table: &'a Table,
        observer: &'a mut (),
    ) -> Evaluator<'a, Three> {
        let leaf_solver = LeafSolverOptions { budget: 10, effort: 8 };
        Evaluator::alone(
            Root::new(game, 0, table),
            Limits::default(),
            observer,
            EvaluationOptions::with_leaf_solver(leaf_solver),
        )
    }

    /// The stop flag is not polled while a table grows, so no growth may begin once it is set.
    #[test]
    fn no_growth_begins_once_the_search_has_to_stop() {
        let (game, table, mut observer) = (Three::default(), Table::new(1 << 20).unwrap(), ());
        let stop = AtomicBool::new(false);
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        let root = Root::new(&game, 0, &table);
        let mut evaluator = Evaluator::alone(
            root,
            limits,
            &mut observer,
            EvaluationOptions::with_leaf_solver(LeafSolverOptions::NEVER),
        );
        evaluator.monitor.counters.table_used = table.capacity();
        let mut sizes = Vec::new();
        for stops in [false, false, true, true] {
            stop.store(stops, Ordering::Relaxed);
            evaluator.grow_if_full();
            sizes.push(table.used_bytes() >> 16);
        }
        assert_eq!(sizes, [2, 4, 4, 4]);
    }

    /// An oracle may read from a slow disk, so the next poll is brought forward by its answers.
    #[test]
    fn oracle_answers_bring_the_next_poll_forward() {
        struct Won;
        impl Oracle for Won {
            fn value(&self, _: u64) -> OracleAnswer {
                OracleAnswer::Known(Value::Win)
            }
        }
        let (three, table, mut observer) = (Three::default(), Table::new(1 << 12).unwrap(), ());
        let game = WithOracle::new(&three, Some(&Won));
        let stop = AtomicBool::new(false);
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        let root = Root::new(&game, 0, &table);
        let mut evaluator = Evaluator::alone(
            root,
            limits,
            &mut observer,
            EvaluationOptions::with_leaf_solver(LeafSolverOptions::NEVER),
        );
        stop.store(true, Ordering::Relaxed);
        let mut expansions = 0;
        while !evaluator.monitor.tick() {
            assert_eq!(evaluator.expand(0, true), Expanded::Solved(Value::Loss));
            expansions += 1;
        }
        assert_eq!(expansions, 256 / 3 + 1);
    }

    /// The thesis evaluates all children of a node and stores the values that the database has for them.
    #[test]
    fn all_children_are_evaluated_and_their_values_stored() {
        struct LostFromTwo;
        impl Oracle for LostFromTwo {
            fn value(&self, code: u64) -> OracleAnswer {
                OracleAnswer::Known(if code >= 2 { Value::Loss } else { Value::Win })
            }
        }
        let (three, mut observer) = (Three::default(), ());
        let game = WithOracle::new(&three, Some(&LostFromTwo));
        for (all, nodes, values) in [
            (false, 1 + 3, [None, None, None]),
            (true, 1 + 3, [Some(Value::Win), Some(Value::Loss), Some(Value::Loss)]),
        ] {
            let table = Table::new(1 << 12).unwrap();
            let root = Root::new(&game, 0, &table);
            let limits = Limits::default();
            let mut evaluator = Evaluator::alone(
                root,
                limits,
                &mut observer,
                EvaluationOptions::with_leaf_solver(LeafSolverOptions::NEVER),
            );
            evaluator.options.evaluate_all = all;
            assert_eq!(evaluator.expand(0, true), Expanded::Won(2));
            assert_eq!([1, 2, 3].map(|code| evaluator.value(code)), values);
            assert_eq!(evaluator.monitor.counters.nodes, nodes);
        }
    }

    /// A failed leaf solution is not repeated soon; the child keeps its estimate. A solved leaf is
    /// solved again, because no entry is stored for it.
    #[test]
    fn failed_leaf_solutions_are_not_repeated() {
        let (game, table, mut observer) = (Three::default(), Table::new(1 << 12).unwrap(), ());
        let mut evaluator = evaluator(&game, &table, &mut observer);
        for _ in 0..3 {
            assert_eq!(evaluator.expand(0, true), Expanded::Open(()));
            let open: Vec<_> =
                evaluator.children.iter().map(|child| (child.code, child.phi)).collect();
            assert_eq!(open, [(1, 5), (3, 5)]);
            evaluator.children.clear();
        }
        let searches = game.searches.each_ref().map(|count| count.load(Ordering::Relaxed));
        assert_eq!(searches, [0, 1, 3, 0]);
        assert_eq!(evaluator.monitor.counters.leaf_positions, 10 + 3);
    }

    /// After one failure in the expansion, the leaf solver is called for the other children only
    /// when the search reaches them.
    #[test]
    fn other_leaves_are_solved_when_the_search_reaches_them() {
        let (game, table, mut observer) = (Three::default(), Table::new(1 << 12).unwrap(), ());
        let mut evaluator = evaluator(&game, &table, &mut observer);
        evaluator.options.max_attempts = 1;
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
        // The leaf solver is not called for a child that has been searched.
        evaluator.children[1].set_pair(Pair { phi: 3, delta: 4 });
        assert!(!evaluator.options.leaf_solver.admits(&evaluator.children[1]));
    }
}
