//! Depth-first proof-number search (Nagai 2002; thesis, 2.4) with the 1+ε trick (Pawlewicz and Lew
//! 2006), on one thread or on many, over any `SearchTree`: of plain games ([`dfpn`]) and of sums
//! with Grundy numbers ([`super::sums`]; Čížek, Balko and Schmid, "DFPN with Grundy Numbers").
//!
//! A node is searched until phi or delta reaches the threshold that the node's parent has set
//! (`Thresholds`). During the search of a node, the numbers of its children are on a stack of the
//! worker; between visits they are in the table. Memory consists of the table and one stack per
//! worker, which takes about 24 bytes times branching factor times depth.

mod peers;
mod plain;

pub use plain::{DfpnOptions, dfpn, dfpn_parallel};
pub(crate) use plain::{dfpn_sharing, reserve_first_entries};

use std::fmt;
use std::str::FromStr;

use super::numbers::{Combination, Epsilon, Number, Pair};
use super::run::RootNumbers;
use super::search_tree::{ChildRef, Expanded, NextStep, SearchTree, scan};
use super::thresholds::{Others, Thresholds};
use crate::Value;
use peers::{PeerUpdate, SearchPath};

/// Parameters of the selection of children.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SelectionParams {
    /// Combination of the children's phi to delta.
    pub combination: Combination,
    /// See [`DfpnOptions::epsilon`].
    pub epsilon: Epsilon,
    /// See [`DfpnOptions::epsilon_at_or_nodes`].
    pub epsilon_at_or_nodes: bool,
    /// See [`DfpnOptions::virtual_loss`].
    pub virtual_loss: VirtualLoss,
}

/// Increase of a child's delta for each other worker below it, on several threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VirtualLoss {
    /// 1 and a share of delta, for the selection of a child only: a node's own numbers, which are stored and
    /// compared with its thresholds, contain no virtual loss.
    Selection {
        /// Share of delta, in 1/1024.
        share_1024: u32,
    },
    /// 1, which is part of the numbers that are stored and compared with thresholds (Kaneko 2010; thesis, 2.5).
    Stored,
}

impl VirtualLoss {
    /// Delta of a child with `workers` workers below it.
    #[inline(always)]
    fn apply(self, delta: Number, workers: u64) -> u64 {
        let share = match self {
            VirtualLoss::Selection { share_1024 } => workers * u64::from(share_1024),
            VirtualLoss::Stored => 0,
        };
        u64::from(delta) + workers + ((u64::from(delta) * share) >> 10)
    }

    /// Largest delta that [`VirtualLoss::apply`] does not raise above `number`.
    #[inline(always)]
    fn remove(self, number: u64, workers: u64) -> u64 {
        let share = match self {
            VirtualLoss::Selection { share_1024 } => workers * u64::from(share_1024),
            // The child's own numbers contain the virtual losses below it.
            VirtualLoss::Stored => return number,
        };
        (number.saturating_sub(workers) << 10) / (1024 + share)
    }
}

/// `stored`, or `selection:SHARE` with the share in 1/1024.
impl fmt::Display for VirtualLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VirtualLoss::Stored => f.write_str("stored"),
            VirtualLoss::Selection { share_1024 } => write!(f, "selection:{share_1024}"),
        }
    }
}

impl FromStr for VirtualLoss {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "stored" {
            return Ok(VirtualLoss::Stored);
        }
        let share = text.strip_prefix("selection:").and_then(|share| share.parse().ok());
        match share.filter(|&share: &u32| share <= 1 << 16) {
            Some(share_1024) => Ok(VirtualLoss::Selection { share_1024 }),
            None => Err("expected stored, or selection:SHARE with a share from 0 to 65536 in 1/1024, such as \
                         selection:4"
                .to_owned()),
        }
    }
}

/// A node's numbers when its search returns.
#[derive(Clone, Copy)]
pub(super) struct SearchResult {
    pub pair: Pair,
    /// Expansions by this search, without those of earlier visits.
    pub work: u64,
}

/// A worker of a search. `PARALLEL` is false only if the search never has more than one worker.
pub(super) struct Worker<T, const PARALLEL: bool> {
    pub tree: T,
    params: SelectionParams,
    path: SearchPath,
    /// True if there are no other workers. Then the worker adds no virtual losses.
    is_alone: bool,
    /// Rest of the job's budget: a number of new nodes in a plain game, a number of expansions for sums. The search
    /// returns when the budget is spent.
    budget: u64,
    /// Length of the path from the root on which every node has exactly one open child.
    only_child_depth: usize,
}

impl<'a, T: SearchTree<'a>, const PARALLEL: bool> Worker<T, PARALLEL> {
    pub fn new(tree: T, params: SelectionParams) -> Self {
        let is_alone = tree.monitor_ref().state().workers() == 1;
        Worker {
            tree,
            params,
            path: SearchPath::default(),
            is_alone,
            budget: u64::MAX,
            only_child_depth: 0,
        }
    }

    /// Searches a child until it is solved or the search has to stop.
    pub fn solve(&mut self, node: &T::Node, child: &T::ChildRef) -> Pair {
        let mut pair = Pair { phi: 1, delta: 1 };
        while pair.value().is_none() && self.tree.monitor_ref().stopped.is_none() {
            self.path.take_cutoff();
            if let Some(found) = self.search_child(node, child, Thresholds::ROOT, 0) {
                pair = found.pair;
            }
        }
        pair
    }

    /// Searches a node as a job: until it is solved, `budget` is spent, or the job is cancelled. Returns the
    /// node's numbers, or `None` if the job was cancelled or the search was stopped.
    pub fn search_job(&mut self, code: u64, budget: u64) -> Option<Pair> {
        self.budget = budget;
        self.only_child_depth = 0;
        self.tree.monitor().root = RootNumbers::START;
        let pair = loop {
            let found = self.search(code, Thresholds::ROOT, 0).map(|found| found.pair);
            let is_cancelled = PARALLEL && self.path.take_cutoff() == Some(0);
            match found {
                Some(pair) if pair.value().is_some() => break found,
                _ if is_cancelled || self.tree.monitor_ref().stopped.is_some() => break None,
                Some(_) if self.budget == 0 => break found,
                // Another worker has solved the node. The next iteration finds the value.
                _ => {}
            }
        };
        self.budget = u64::MAX;
        pair
    }

    /// Searches a child until it is solved or its numbers reach a threshold. Returns `None` if the search was
    /// stopped before it had a result.
    #[inline(always)]
    fn search_child(
        &mut self,
        node: &T::Node,
        child: &T::ChildRef,
        thresholds: Thresholds,
        depth: usize,
    ) -> Option<SearchResult> {
        let mut work = 0;
        loop {
            match self.tree.step(node, child, thresholds) {
                NextStep::Numbers(pair) => return Some(SearchResult { pair, work }),
                NextStep::Node(code, thresholds) => {
                    let found = self.search(code, thresholds, depth)?;
                    return Some(SearchResult { work: work + found.work, ..found });
                }
                NextStep::Summand { code, thresholds: part, pair } => {
                    if depth == 0 {
                        self.tree.monitor().root = RootNumbers { pair, best: None };
                    }
                    if !thresholds.hold(pair, T::LIMITS_MIN) || self.has_to_return(depth) {
                        return Some(SearchResult { pair, work });
                    }
                    let key = (PARALLEL && !self.is_alone).then(|| self.tree.child_key(child));
                    self.add_virtual_loss(key);
                    // Not depth 0, even for a summand of the root: numbers at depth 0 are reported as the
                    // root's numbers.
                    let found = self.search(code, part, depth + 1);
                    self.remove_virtual_loss(key);
                    work += found?.work;
                }
            }
        }
    }

    /// Searches a node until it is solved, its numbers reach a threshold, or the search has to stop. Stores the
    /// numbers. Returns `None` if the search was stopped before it had a result.
    fn search(&mut self, code: u64, thresholds: Thresholds, depth: usize) -> Option<SearchResult> {
        let tree = &mut self.tree;
        if T::SUMS
            && let Some(value) = tree.value(code)
        {
            return Some(SearchResult { pair: Pair::of(value), work: 0 });
        }
        if T::SUMS {
            self.budget = self.budget.saturating_sub(1);
        }
        if tree.tick() || PARALLEL && self.is_cut_off() {
            return None;
        }
        let known = self.tree.lookup(code);
        // For sums, the value was looked up above.
        if PARALLEL
            && !T::SUMS
            && depth > 0
            && let Some(pair) = known.map(|entry| entry.pair())
            && !thresholds.hold(pair, T::LIMITS_MIN)
        {
            // Another worker has updated this entry since the parent read it.
            return Some(SearchResult { pair, work: 0 });
        }
        let before = known.map_or(0, |entry| entry.work);
        if !PARALLEL || self.is_alone || before < T::MIN_SHARED_WORK && depth > 0 {
            return self.expand_and_search(code, thresholds, depth, known.is_none(), before);
        }
        self.push_visit(code, depth);
        let found = self.expand_and_search(code, thresholds, depth, known.is_none(), before);
        self.pop_visit(found.is_some_and(|found| found.pair.value().is_some()));
        found
    }

    #[inline(always)]
    fn expand_and_search(
        &mut self,
        code: u64,
        thresholds: Thresholds,
        depth: usize,
        first_visit: bool,
        before: u64,
    ) -> Option<SearchResult> {
        let base = self.tree.children_ref().len();
        let nodes = self.tree.monitor_ref().counters.nodes;
        let expanded = self.tree.expand(code, first_visit);
        if !T::SUMS {
            let made = self.tree.monitor_ref().counters.nodes - nodes;
            self.budget = self.budget.saturating_sub(made);
        }
        let node = match expanded {
            Expanded::Solved(value) => return Some(self.solved(code, value, before, 1)),
            Expanded::Won(child) => {
                if depth == 0 {
                    self.tree.monitor().root.best = Some(child);
                }
                return Some(self.solved(code, Value::Win, before, 1));
            }
            Expanded::Stopped => return None,
            Expanded::Open(node) => node,
        };
        let mut work = 1;
        let end = self.search_children(code, node, thresholds, depth, base, &mut work);
        self.tree.children().truncate(base);
        Some(match end {
            Ok(value) => self.solved(code, value, before, work),
            Err(pair) => {
                self.tree.store(code, pair, before + work);
                SearchResult { pair, work }
            }
        })
    }

    /// Searches the children of a node, those from index `base` of the stack on, until the node is
    /// solved, its numbers reach a threshold, or the search has to stop.
    #[inline(always)]
    fn search_children(
        &mut self,
        code: u64,
        mut node: T::Node,
        thresholds: Thresholds,
        depth: usize,
        base: usize,
        work: &mut u64,
    ) -> Result<Value, Pair> {
        let SelectionParams { combination, virtual_loss, .. } = self.params;
        // The root is an OR node of its player, and so is every second node below.
        let is_relaxed = !self.params.epsilon_at_or_nodes || depth.is_multiple_of(2);
        let epsilon = if is_relaxed { self.params.epsilon } else { Epsilon::ZERO };
        loop {
            let mut contended = false;
            if PARALLEL && self.path.is_below(depth) {
                match self.sync_with_peers(code, &node, base, depth) {
                    PeerUpdate::Solved(value) => return Ok(value),
                    PeerUpdate::Open { others } => contended = others,
                }
            }
            let children = &self.tree.children_ref()[base..];
            let scan = scan(children);
            let choice = if PARALLEL && contended && !children.is_empty() {
                Some(self.choose(base, thresholds.phi, epsilon))
            } else {
                None
            };
            let phi = match choice {
                // If a child is lost, the node is won, with any virtual losses.
                Some(choice) if virtual_loss == VirtualLoss::Stored && scan.least > 0 => {
                    choice.virtual_phi
                }
                _ => scan.least,
            };
            let delta = combination.combine(scan.max, scan.sum, scan.count);
            let pair = Pair { phi, delta };
            if depth <= self.only_child_depth && !children.is_empty() {
                self.only_child_depth = depth + usize::from(!T::SUMS && children.len() == 1);
                let best = self.tree.code(&children[scan.best]);
                self.report_root(depth, pair, best);
            }
            if let Some(value) = pair.value() {
                return Ok(value);
            }
            if !thresholds.hold(pair, T::LIMITS_MIN)
                || self.tree.monitor_ref().stopped.is_some()
                || self.has_to_return(depth)
            {
                return Err(pair);
            }
            let chosen = choice.map_or(scan.best, |choice| choice.child);
            let child = self.tree.children_ref()[base + chosen];
            match self.tree.expand_rest(code, &node, &child, base) {
                None => {}
                Some(Expanded::Open(whole)) => {
                    node = whole;
                    continue;
                }
                Some(Expanded::Solved(value)) => return Ok(value),
                Some(Expanded::Won(_)) => return Ok(Value::Win),
                Some(Expanded::Stopped) => return Err(pair),
            }
            let others = Others {
                min_delta: scan.second,
                max_phi: if scan.max_at == chosen { scan.max_other } else { scan.max },
                sum_phi: scan.sum - u64::from(child.pair().phi),
                count: scan.count - 1,
            };
            let mut below = thresholds.of_child(others, combination, epsilon, T::LIMITS_MIN);
            if let Some(choice) = choice {
                // The chosen child need not be the one of least delta, for which `of_child` has computed the
                // thresholds.
                below.delta = choice.delta_threshold;
                below.or_delta = below.or_delta.max(child.pair().delta + 1);
            }
            let Some(found) = self.search_child(&node, &child, below, depth + 1) else {
                // The search was stopped or cut off. The child keeps its numbers.
                continue;
            };
            *work += found.work;
            if found.pair.phi == 0 {
                self.tree.remove(base + chosen);
            } else {
                self.tree.children()[base + chosen].set_pair(found.pair);
            }
            if T::SUMS
                && let Some(value) = self.tree.value(code)
            {
                // The search of the child or another worker has solved the node.
                return Ok(value);
            }
        }
    }

    /// Reports the root's numbers, which follow from those of a node of depth `depth` if each node above has one open
    /// child: the search returns from an only child when the child is solved or the search ends. Phi and delta are
    /// exchanged at every ply.
    fn report_root(&mut self, depth: usize, pair: Pair, best: Option<u64>) {
        let root = &mut self.tree.monitor().root;
        let Pair { phi, delta } = pair;
        let is_even = depth.is_multiple_of(2);
        root.pair = if is_even { pair } else { Pair { phi: delta, delta: phi } };
        if depth == 0 {
            root.best = best;
        }
    }

    /// Stores a value that took `before` expansions in earlier visits and `work` expansions in this visit.
    fn solved(&mut self, code: u64, value: Value, before: u64, work: u64) -> SearchResult {
        self.tree.solved(code, value, before + work);
        SearchResult { pair: Pair::of(value), work }
    }

    /// Returns true if the search has to leave a node of this depth: its budget is spent, or a node above
    /// has been cut off.
    #[inline(always)]
    fn has_to_return(&self, depth: usize) -> bool {
        self.budget == 0 || PARALLEL && self.path.is_cut_off(depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_virtual_loss_is_one_for_each_worker() {
        assert_eq!(VirtualLoss::Stored.apply(1000, 3), 1003);
        // The child's own numbers contain the virtual losses below it.
        assert_eq!(VirtualLoss::Stored.remove(1003, 3), 1003);
        let selection = VirtualLoss::Selection { share_1024: 4 };
        assert_eq!(selection.apply(1000, 3), 1000 + 3 + 1000 * 3 * 4 / 1024);
        assert_eq!(selection.remove(selection.apply(1000, 3), 3), 1000 - 1);
        assert_eq!(selection.apply(1000, 0), 1000);
    }

    #[test]
    fn texts_of_virtual_losses_are_read_back() {
        for text in ["stored", "selection:0", "selection:65536"] {
            assert_eq!(text.parse::<VirtualLoss>().expect("a virtual loss").to_string(), text);
        }
        for text in ["", "selection", "selection:", "selection:-1", "selection:65537", "Stored"] {
            assert!(text.parse::<VirtualLoss>().is_err(), "{text}");
        }
    }
}
