//! Couples and sums as the tree that df-pn searches. The stored nodes are couples. A sum of several parts is an edge
//! that leads to the current couple of one part after the other. The current couple of a part is the one with the
//! least nimber that is not excluded yet.

use super::evaluate::{CoupleNumbers, Evaluator, OWN, REST, SumChild, TableEvaluator};
use super::expand::{ExpandedCouple, NONE_NEW};
use super::game::{Atom, Impartial};
use super::options::PartOrder;
use super::solver_state::{code_of, couple_of, key_of};
use super::store::{list_of, option_at};
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

    /// Returns the current couple of a part of a sum.
    fn summand(&self, atom: Atom) -> Summand {
        let nimber = self.current(atom);
        (atom, nimber, self.couple(atom, nimber).0)
    }

    /// Returns the current couples of the parts of the sum in `open` that can be searched next.
    pub fn parts(&self) -> impl Iterator<Item = Summand> {
        self.counted().iter().map(|&atom| self.summand(atom))
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
        if self.options.parts == PartOrder::Lives && !self.is_parallel {
            return self.summand(self.first_part());
        }
        let least = self.parts().min_by_key(|part| self.number(part));
        least.expect("a sum has at least two open parts")
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
    const LIMITS_MIN: bool = true;
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
        let state = self.state;
        let grow = |threads| state.table.grow(threads, key_of);
        self.monitor.grow_table(|used| state.table_wants_growth(used), grow);
        let own_bytes = self.own_bytes;
        self.monitor.tick_with(|| state.balance(own_bytes))
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
        self.state.table.lookup(key_of(code), code)
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

    /// Removes a child. The other children keep their order.
    #[inline(always)]
    fn remove(&mut self, at: usize) {
        self.children.remove(at);
    }

    fn solved(&mut self, code: u64, value: Value, work: u64) {
        let (atom, nimber) = couple_of(code);
        Evaluator::solved(self, atom, nimber, value, work);
        if work >= self.min_shared_work {
            let number = self.state.knowledge.get(atom).grundy();
            self.shared.extend(number.map(|number| (atom, number)));
        }
    }

    fn store(&mut self, code: u64, pair: Pair, work: u64) {
        self.numbers.set(code, pair, work, &mut self.monitor.counters);
    }
}

#[cfg(test)]
mod tests {
    use super::super::dfpn::dfpn;
    use super::super::game::AtomFeatures;
    use super::super::options::SearchOptions;
    use super::super::solver_state::{SolverState, Sum};
    use super::*;
    use crate::run::Limits;
    use crate::testing::impartial_games::Declared;
    use std::sync::Arc;

    /// Returns phi and delta of a sum by equations (5) to (7) of the paper, and the part that is searched next. The sum
    /// has all parts whose Grundy numbers are unknown if `all` is true, otherwise all but the last one.
    fn reference(
        state: &SolverState<Declared>,
        sum: &Sum,
        all: bool,
    ) -> (Pair, Option<(Atom, u32)>) {
        let stored = |atom, nimber| {
            let code = code_of(atom, nimber);
            match state.table.lookup(key_of(code), code) {
                _ if state.knowledge.get(atom).excludes(nimber) => Pair::WIN,
                Some(entry) => entry.pair(),
                None => Pair { phi: 1, delta: 1 },
            }
        };
        let (mut nimber, mut parts) = (sum.nimber(), Vec::new());
        for &atom in sum.atoms() {
            match state.knowledge.get(atom).grundy() {
                Some(grundy) => nimber ^= grundy,
                None => parts.push(atom),
            }
        }
        match parts[..] {
            [] => return (if nimber == 0 { Pair::LOSS } else { Pair::WIN }, None),
            [atom] => return (stored(atom, nimber), None),
            _ => {}
        }
        if !all {
            parts.pop();
        }
        let mut number = 0;
        let mut couples = Vec::new();
        for &atom in &parts {
            let nimber = (0..).find(|&nimber| stored(atom, nimber) != Pair::WIN).unwrap();
            let Pair { phi, delta } = stored(atom, nimber);
            number += phi.min(delta);
            let AtomFeatures { lives, estimated_options } = state.game.features(atom);
            couples.push((lives, estimated_options, atom, nimber));
        }
        couples.sort_by_key(|&(lives, options, ..)| (lives, options));
        (Pair { phi: number, delta: number }, Some((couples[0].2, couples[0].3)))
    }

    #[test]
    fn sums_have_the_numbers_of_the_paper() {
        let (mut sums, mut searched) = (0, 0);
        for seed in 0..60 {
            let game = Declared::random(seed, 40, 7);
            let state = SolverState::new(Arc::new(game), 1 << 22).unwrap();
            let options = SearchOptions { sum_of_all_parts: seed % 2 == 0, ..SearchOptions::PAPER };
            let limits = Limits { nodes: Some(10 * (1 + seed % 9)), ..Limits::default() };
            dfpn(&state, &Sum::new(state.game(), &[39, 38, 36], 0), options, 1, limits, &mut ());
            let mut observer = ();
            let monitor = SearchMonitor::new(Limits::default(), &mut observer);
            let mut tree = Evaluator::new(&state, &state.table, monitor, options, false);
            for (a, b) in (20..40).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let sum = Sum::new(state.game(), &[a, b, (a + b) / 2], seed as u32 % 3);
                let (pair, next) = reference(&state, &sum, options.sum_of_all_parts);
                let rest = tree.reduce(sum.atoms(), sum.nimber());
                assert_eq!(tree.reduced(rest).0, pair, "{seed} {sum:?}");
                if let Some((atom, nimber)) = next {
                    assert_eq!(tree.first_part(), atom, "{seed} {sum:?}");
                    assert_eq!((tree.part().0, tree.part().1), (atom, nimber), "{seed} {sum:?}");
                    sums += 1;
                    searched += usize::from(pair.phi > tree.counted().len() as Number);
                }
            }
        }
        assert!(sums > 1_000 && searched > 200, "{sums} {searched}");
    }
}
