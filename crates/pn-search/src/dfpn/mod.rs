//! Depth-first proof-number search (Nagai 2002; thesis, 2.4) with the 1+ε trick (Pawlewicz and Lew
//! 2006), on one thread or on many, over any `Nand` tree: of plain games ([`dfpn`]) and of sums
//! with Grundy numbers ([`super::sums`]; Čížek, Balko and Schmid, "DFPN with Grundy Numbers").
//!
//! A node is searched until its numbers leave the thresholds given by its parent (`Thresholds`);
//! its children's numbers live on a stack of the worker while it is, and in the table between
//! visits. Memory is the table and the stacks, about 24 bytes times branching factor times depth
//! each.

mod plain;
mod team;

pub use plain::{DfpnOptions, dfpn, dfpn_parallel};
pub(crate) use plain::{dfpn_sharing, reserve_first_entries};

use super::nand::{Edge, Expanded, Nand, Step, scan};
use super::numbers::{Combination, Pair};
use super::table::Entry;
use super::thresholds::{Others, Thresholds};
use crate::Value;
use team::{Path, PeerUpdate};

/// How df-pn combines and chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choosing {
    /// How delta follows from the children's phi.
    pub combination: Combination,
    /// See [`DfpnOptions::epsilon_1024`].
    pub epsilon_1024: u32,
    /// See [`DfpnOptions::virtual_1024`].
    pub virtual_1024: u32,
}

/// A node's numbers when its search returns.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub pair: Pair,
    /// Expansions by this search, without those of earlier visits.
    pub work: u64,
}

/// One thread of a search, one of several if `TEAM`.
pub(super) struct Worker<T, const TEAM: bool> {
    pub tree: T,
    choosing: Choosing,
    path: Path,
    /// The worker has no peers, so it adds no virtual losses.
    is_alone: bool,
    /// Rest of the budget: new nodes of a plain game, expansions of sums. The search returns when it
    /// is spent.
    budget: u64,
    /// So many nodes from the root on have one open child each.
    forced: usize,
}

impl<'a, T: Nand<'a>, const TEAM: bool> Worker<T, TEAM> {
    pub fn new(tree: T, choosing: Choosing) -> Self {
        let is_alone = tree.control_ref().team().workers() == 1;
        Worker { tree, choosing, path: Path::default(), is_alone, budget: u64::MAX, forced: 0 }
    }

    /// Searches what an edge leads to until it is solved or the search has to stop.
    pub fn solve(&mut self, node: &T::Node, edge: &T::Edge) -> Pair {
        let mut pair = Pair { phi: 1, delta: 1 };
        while pair.value().is_none() && self.tree.control_ref().stopped.is_none() {
            self.path.take_cutoff();
            if let Some(found) = self.follow(node, edge, Thresholds::ROOT, 0) {
                pair = found.pair;
            }
        }
        pair
    }

    /// Searches a node as a job: until it is solved, `budget` is spent, or the job is cancelled. Returns the
    /// node's numbers, or `None` if the job was cancelled or the search was stopped.
    pub fn search_job(&mut self, code: u64, budget: u64) -> Option<Pair> {
        self.budget = budget;
        self.forced = 0;
        self.tree.control().root = (1, 1, None);
        let pair = loop {
            let found = self.search(code, Thresholds::ROOT, 0).map(|found| found.pair);
            let is_cancelled = TEAM && self.path.take_cutoff() == Some(0);
            match found {
                Some(pair) if pair.value().is_some() => break found,
                _ if is_cancelled || self.tree.control_ref().stopped.is_some() => break None,
                Some(_) if self.budget == 0 => break found,
                // Another worker has solved the node: its value is known.
                _ => {}
            }
        };
        self.budget = u64::MAX;
        pair
    }

    /// Searches what an edge leads to until it is solved or its numbers leave the thresholds. `None`
    /// if the search was stopped before it found out anything.
    #[inline(always)]
    fn follow(
        &mut self,
        node: &T::Node,
        edge: &T::Edge,
        thresholds: Thresholds,
        depth: usize,
    ) -> Option<Found> {
        let mut work = 0;
        loop {
            match self.tree.step(node, edge, thresholds) {
                Step::Numbers(pair) => return Some(Found { pair, work }),
                Step::Node(code, thresholds) => {
                    let found = self.search(code, thresholds, depth)?;
                    return Some(Found { work: work + found.work, ..found });
                }
                Step::Part { code, thresholds: part, pair } => {
                    if depth == 0 {
                        self.tree.control().root = (pair.phi, pair.delta, None);
                    }
                    if !thresholds.hold(pair, T::SUMS) || self.has_to_return(depth) {
                        return Some(Found { pair, work });
                    }
                    let key = (TEAM && !self.is_alone).then(|| self.tree.edge_key(edge));
                    self.add_virtual_loss(key);
                    // Not the root's, even if it is a part of the root.
                    let found = self.search(code, part, depth + 1);
                    self.remove_virtual_loss(key);
                    work += found?.work;
                }
            }
        }
    }

    /// Searches a node until it is solved, its numbers leave the thresholds, or the search has to
    /// stop. The numbers are kept then. Nothing is returned if the search was stopped before it
    /// found out anything.
    fn search(&mut self, code: u64, thresholds: Thresholds, depth: usize) -> Option<Found> {
        let tree = &mut self.tree;
        if T::SUMS
            && let Some(value) = tree.value(code)
        {
            return Some(Found { pair: Pair::of(value), work: 0 });
        }
        if T::SUMS {
            self.budget = self.budget.saturating_sub(1);
        }
        if tree.tick() || TEAM && self.is_cut_off() {
            return None;
        }
        let known = self.tree.lookup(code);
        // A tree whose values spread has been asked above.
        if TEAM
            && !T::SUMS
            && depth > 0
            && let Some(Entry { phi, delta, .. }) = known
            && let pair = (Pair { phi, delta })
            && !thresholds.hold(pair, T::SUMS)
        {
            // Somebody else has done it since the parent looked.
            return Some(Found { pair, work: 0 });
        }
        let before = known.map_or(0, |entry| entry.work);
        if !TEAM || self.is_alone || before < T::NOTABLE_WORK && depth > 0 {
            return self.expand_and_go_on(code, thresholds, depth, known.is_none(), before);
        }
        self.push_visit(code, depth);
        let found = self.expand_and_go_on(code, thresholds, depth, known.is_none(), before);
        self.pop_visit(found.is_some_and(|found| found.pair.value().is_some()));
        found
    }

    #[inline(always)]
    fn expand_and_go_on(
        &mut self,
        code: u64,
        thresholds: Thresholds,
        depth: usize,
        first_visit: bool,
        before: u64,
    ) -> Option<Found> {
        let base = self.tree.edges_ref().len();
        let nodes = self.tree.control_ref().counters.nodes;
        let expanded = self.tree.expand(code, first_visit);
        if !T::SUMS {
            let made = self.tree.control_ref().counters.nodes - nodes;
            self.budget = self.budget.saturating_sub(made);
        }
        let node = match expanded {
            Expanded::Solved(value) => return Some(self.solved(code, value, before, 1)),
            Expanded::Won(child) => {
                if depth == 0 {
                    self.tree.control().root.2 = Some(child);
                }
                return Some(self.solved(code, Value::Win, before, 1));
            }
            Expanded::Stopped => return None,
            Expanded::Open(node) => node,
        };
        let mut work = 1;
        let end = self.search_children(code, node, thresholds, depth, base, &mut work);
        self.tree.edges().truncate(base);
        Some(match end {
            Ok(value) => self.solved(code, value, before, work),
            Err(pair) => {
                self.tree.store(code, pair, before + work);
                Found { pair, work }
            }
        })
    }

    /// Searches the children from `base` until their node is solved, or its numbers leave the
    /// thresholds.
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
        let Choosing { combination, epsilon_1024, .. } = self.choosing;
        loop {
            let mut contended = false;
            if TEAM && self.path.is_below(depth) {
                match self.sync_with_peers(code, &node, base, depth) {
                    PeerUpdate::Solved(value) => return Ok(value),
                    PeerUpdate::Open { others } => contended = others,
                }
            }
            let edges = &self.tree.edges_ref()[base..];
            let scan = scan(edges);
            let pair = Pair { phi: scan.least, delta: combination.combine(scan.max, scan.sum) };
            if depth <= self.forced && !edges.is_empty() {
                // The search does not come back from an only child before the end, so the numbers
                // above follow from this node's.
                self.forced = depth + usize::from(!T::SUMS && edges.len() == 1);
                let best = self.tree.code(&edges[scan.best]);
                let root = &mut self.tree.control().root;
                *root = match depth {
                    0 => (pair.phi, pair.delta, best),
                    _ if depth.is_multiple_of(2) => (pair.phi, pair.delta, root.2),
                    _ => (pair.delta, pair.phi, root.2),
                };
            }
            if let Some(value) = pair.value() {
                return Ok(value);
            }
            if !thresholds.hold(pair, T::SUMS)
                || self.tree.control_ref().stopped.is_some()
                || self.has_to_return(depth)
            {
                return Err(pair);
            }
            let choice =
                if TEAM && contended { Some(self.choose(base, thresholds.phi)) } else { None };
            let chosen = choice.map_or(scan.best, |choice| choice.child);
            let edge = self.tree.edges_ref()[base + chosen];
            match self.tree.expand_rest(code, &node, &edge, base) {
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
                least_delta: scan.second,
                max_phi: if scan.max_at == chosen { scan.max_other } else { scan.max },
                sum_phi: scan.sum - u64::from(edge.pair().phi),
            };
            let mut below = thresholds.of_child(others, combination, epsilon_1024, T::SUMS);
            if let Some(choice) = choice {
                // The chosen child need not be the one of least delta.
                below.delta = choice.delta_threshold;
                below.or_delta = below.or_delta.max(edge.pair().delta + 1);
            }
            let Some(found) = self.follow(&node, &edge, below, depth + 1) else {
                // What is known about the child stays.
                continue;
            };
            *work += found.work;
            if found.pair.phi == 0 {
                self.tree.remove(base + chosen);
            } else {
                self.tree.edges()[base + chosen].set_pair(found.pair);
            }
            if T::SUMS
                && let Some(value) = self.tree.value(code)
            {
                // Something below, or another worker, has found it out.
                return Ok(value);
            }
        }
    }

    /// Keeps a value for which `before` expansions were made in earlier visits and `work` in this.
    fn solved(&mut self, code: u64, value: Value, before: u64, work: u64) -> Found {
        self.tree.solved(code, value, before + work);
        Found { pair: Pair::of(value), work }
    }

    /// Returns true if the search has to leave a node of this depth: its budget is spent, or a node above
    /// has been cut off.
    #[inline(always)]
    fn has_to_return(&self, depth: usize) -> bool {
        self.budget == 0 || TEAM && self.path.is_cut_off(depth)
    }
}
