//! Couples and sums as the tree that df-pn searches. The stored nodes are couples. A sum of several parts is an edge
//! that leads to the current couple of one part after the other. The current couple of a part is the one with the
//! least nimber that is not excluded yet.

use super::evaluate::{CoupleNumbers, Evaluator, OWN, REST, SumChild, TableEvaluator};
use super::expand::{ExpandedCouple, NONE_NEW};
use super::game::{Atom, Impartial};
use super::options::PartOrder;
use super::store::{list_of, option_at};
use super::workspace::{code_of, couple_of, key_of};
use crate::Value;
use crate::numbers::{Number, Pair};
use crate::run::SearchMonitor;
use crate::search_tree::{ChildRef, Expanded, NextStep, SearchTree};
use crate::table::Entry;
use crate::thresholds::Thresholds;

/// Current couple of a part of a sum: its atom, its nimber, and its phi and delta.
pub(super) type Summand = (Atom, u32, Pair);

impl ChildRef for SumChild {
    #[inline(always)]
    fn pair(&self) -> Pair {
        Pair { phi: self.phi, delta: self.delta }
    }

    #[inline(always)]
    fn set_pair(&mut self, Pair { phi, delta }: Pair) {
        (self.phi, self.delta) = (phi, delta);
    }

    #[inline(always)]
    fn rank(&self) -> u32 {
        self.rank
    }
}

impl<G: Impartial> TableEvaluator<'_, G> {
    /// Returns an edge to a sum that is not an option of a couple, such as the root. The first result is an artificial
    /// parent node, which the search of the edge needs.
    pub fn root_child(&self, atoms: &[Atom], nimber: u32) -> (ExpandedCouple, SumChild) {
        let list = list_of(atoms);
        let child = SumChild { start: 0, nimber, phi: 1, delta: 1, rank: 0, key: 0 };
        (ExpandedCouple { atom: 0, list }, child)
    }

    /// Returns the current couples of the parts of a sum whose Grundy numbers are needed: of all parts except the last.
    /// The parts of the sum are in `open`.
    pub fn parts(&self) -> impl Iterator<Item = Summand> {
        let parts = self.open.split_last().map_or(&[][..], |(_, first)| first);
        parts.iter().map(|&atom| {
            let nimber = self.current(atom);
            (atom, nimber, self.couple(atom, nimber).0)
        })
    }

    /// Returns min(phi, delta) of a part plus the number of workers below it.
    pub fn number(&self, &(atom, nimber, pair): &Summand) -> Number {
        let workers = match self.is_parallel {
            true => self.monitor.state().virtual_losses.get(key_of(code_of(atom, nimber))).count(),
            false => 0,
        };
        pair.least().saturating_add(workers)
    }

    /// Returns the part of a sum that is searched next. The parts of the sum are in `open`.
    fn part(&self) -> Summand {
        let mut parts = self.parts();
        let part = match (self.options.parts, self.is_parallel) {
            (PartOrder::First, false) => parts.next(),
            _ => parts.min_by_key(|part| self.number(part)),
        };
        part.expect("a sum has at least two open parts")
    }

    /// Returns the key of the sum whose open atoms are in `open`. There have to be at least two open atoms.
    pub fn open_key(&self, nimber: u32) -> u64 {
        u64::from(self.child_key_of(nimber)) << 32
    }

    /// Expands a couple; see [`Evaluator::expand`].
    pub fn expanded(&mut self, code: u64, all: bool, new_from: usize) -> Expanded<ExpandedCouple> {
        let (atom, nimber) = couple_of(code);
        Evaluator::expand(self, atom, nimber, all, new_from)
    }

    /// Reduces the sum of a child ([`Evaluator::reduce`]). Returns the nimber; the open atoms are in `open`.
    fn reduce_child(&mut self, node: &ExpandedCouple, child: &SumChild) -> u32 {
        match child.start {
            OWN => self.reduce(&[node.atom], child.nimber),
            start => self.reduce(option_at(&node.list, start), child.nimber),
        }
    }
}

impl<'a, G: Impartial> SearchTree<'a> for TableEvaluator<'a, G> {
    type Node = ExpandedCouple;
    type ChildRef = SumChild;

    /// The solution of a couple can solve other nodes, because a Grundy number solves all couples of its atom.
    const SUMS: bool = true;
    /// Virtual losses are added to all nodes: an expansion takes so long that a worker should not repeat one that
    /// another worker has begun.
    const MIN_SHARED_WORK: u64 = 0;

    #[inline(always)]
    fn monitor(&mut self) -> &mut SearchMonitor<'a> {
        &mut self.monitor
    }

    #[inline(always)]
    fn monitor_ref(&self) -> &SearchMonitor<'a> {
        &self.monitor
    }

    #[inline(always)]
    fn children(&mut self) -> &mut Vec<SumChild> {
        &mut self.children
    }

    #[inline(always)]
    fn children_ref(&self) -> &[SumChild] {
        &self.children
    }

    #[inline(always)]
    fn tick(&mut self) -> bool {
        let workspace = self.workspace;
        let grow = |threads| workspace.table.grow(threads, key_of);
        self.monitor.grow_table(|used| workspace.table_wants_growth(used), grow);
        let own_bytes = self.own_bytes;
        self.monitor.tick_with(|| workspace.balance(own_bytes))
    }

    #[inline(always)]
    fn key(&self, code: u64) -> u64 {
        key_of(code)
    }

    #[inline(always)]
    fn child_key(&self, child: &SumChild) -> u64 {
        u64::from(child.key) << 32
    }

    #[inline(always)]
    fn code(&self, _: &SumChild) -> Option<u64> {
        None
    }

    #[inline(always)]
    fn lookup(&self, code: u64) -> Option<Entry> {
        self.workspace.table.lookup(key_of(code), code)
    }

    #[inline(always)]
    fn value(&self, code: u64) -> Option<Value> {
        let (atom, nimber) = couple_of(code);
        Evaluator::value(self, atom, nimber)
    }

    fn expand(&mut self, code: u64, first_visit: bool) -> Expanded<ExpandedCouple> {
        self.expanded(code, false, if first_visit { 0 } else { NONE_NEW })
    }

    fn expand_rest(
        &mut self,
        code: u64,
        node: &ExpandedCouple,
        child: &SumChild,
        base: usize,
    ) -> Option<Expanded<ExpandedCouple>> {
        (child.start == REST).then(|| {
            self.children.truncate(base);
            self.expanded(code, true, node.list.len())
        })
    }

    fn step(
        &mut self,
        node: &ExpandedCouple,
        child: &SumChild,
        thresholds: Thresholds,
    ) -> NextStep {
        if child.start == OWN {
            return NextStep::Node(code_of(node.atom, child.nimber), thresholds);
        }
        let rest = self.reduce_child(node, child);
        match self.open[..] {
            [] => NextStep::Numbers(self.reduced(rest).0),
            [atom] => NextStep::Node(code_of(atom, rest), thresholds),
            _ => {
                let (pair, _) = self.reduced(rest);
                let (atom, nimber, part) = self.part();
                let others = pair.phi.saturating_sub(part.least());
                let thresholds = thresholds.of_part(others.into());
                NextStep::Summand { code: code_of(atom, nimber), thresholds, pair }
            }
        }
    }

    fn refresh(&mut self, node: &ExpandedCouple, base: usize) {
        let mut kept = base;
        for at in base..self.children.len() {
            let mut child = self.children[at];
            if child.start != REST {
                let rest = self.reduce_child(node, &child);
                child.set_pair(self.reduced(rest).0);
            }
            if child.phi != 0 {
                self.children[kept] = child;
                kept += 1;
            }
        }
        self.children.truncate(kept);
    }

    /// Removes a child. The other children stay in the order of the options.
    #[inline(always)]
    fn remove(&mut self, at: usize) {
        self.children.remove(at);
    }

    fn solved(&mut self, code: u64, value: Value, work: u64) {
        let (atom, nimber) = couple_of(code);
        Evaluator::solved(self, atom, nimber, value, work);
    }

    fn store(&mut self, code: u64, pair: Pair, work: u64) {
        self.numbers.set(code, pair, work, &mut self.monitor.counters);
    }
}
