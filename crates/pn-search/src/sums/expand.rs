//! Expansion of couples: their options are made, as far as they are needed, and evaluated.
//!
//! The options that are likely to be good are made first. While one of them looks better than the
//! others can be expected to, these stay unmade, and a child stands for them all.

use super::evaluate::{CoupleNumbers, Evaluator, OWN, REST, SumChild};
use super::game::{Atom, EarlyExit, Enough, Impartial, OptionSubset};
use super::knowledge::{GrundyStore, TRACKED};
use super::store::{List, Listed, atom_of, options_of};
use super::workspace::code_of;
use crate::Value;
use crate::numbers::Pair;
use crate::run::Reason;
use crate::search_tree::Expanded;

/// A couple's atom and the options that its children refer to.
pub(super) struct ExpandedCouple {
    pub atom: Atom,
    pub list: List,
}

/// The options of an atom, as far as a couple needs them.
pub(super) enum Listing {
    OptionList(Listed),
    /// One of them is lost, so the couple is won.
    Won,
}

/// The place from which on options count as new, if none do.
pub(super) const NONE_NEW: usize = usize::MAX;

impl<G: Impartial, N: CoupleNumbers> Evaluator<'_, G, N> {
    /// Expands a couple by all options, or by those that are needed. Couples below options that are
    /// at `new_from` in the list or behind are counted.
    pub fn expand(
        &mut self,
        atom: Atom,
        nimber: u32,
        mut all: bool,
        mut new_from: usize,
    ) -> Expanded<ExpandedCouple> {
        all |= !self.options.lazy;
        let base = self.children.len();
        loop {
            let Listed { list, complete } = match self.listing(atom, nimber, all) {
                None => return Expanded::Stopped,
                Some(Listing::Won) => return Expanded::Solved(Value::Win),
                Some(Listing::OptionList(listed)) => listed,
            };
            let new = match self.evaluate(atom, nimber, &list, complete, new_from) {
                Err(value) => return Expanded::Solved(value),
                Ok(new) => new,
            };
            if !complete {
                let Pair { phi, delta } = self.options.leaf.of_rest(self.workspace.game, atom);
                if self.children[base..].iter().all(|child| child.delta > delta) {
                    self.children.truncate(base);
                    all = true;
                    new_from = new_from.min(list.len());
                    continue;
                }
                let child = SumChild { start: REST, nimber, phi, delta, rank: u32::MAX, key: 0 };
                self.children.push(child);
            }
            self.monitor.counters.nodes += new;
            return Expanded::Open(ExpandedCouple { atom, list });
        }
    }

    /// The options of an atom for the couple with a heap, all of them or at least the first. If they
    /// have to be made and one that is known to be lost beside the heap comes up, no others are made.
    /// `None` if the game has no room for them, and then the search has been told to stop.
    pub fn listing(&mut self, atom: Atom, nimber: u32, all: bool) -> Option<Listing> {
        let workspace = self.workspace;
        let before = workspace.store.get(atom);
        let share = match before {
            Some(listed) if listed.complete || !all => return Some(Listing::OptionList(listed)),
            Some(_) => OptionSubset::Rest,
            None if all => OptionSubset::All,
            None => OptionSubset::First,
        };
        let before = before.map(|listed| listed.list).unwrap_or_default();
        let (state, own_bytes) = (self.monitor.state(), self.own_bytes);
        let stop = || {
            if !state.poll() && workspace.balance(own_bytes).is_full {
                state.stop(Reason::Memory);
            }
            state.is_halted()
        };
        let number = |&atom: &Atom| workspace.knowledge.get(atom).grundy();
        let add = |sum: u32, number: Option<u32>| number.map(|number| sum ^ number);
        let loses = |option: &[Atom]| option.iter().map(number).try_fold(0, add) == Some(nimber);
        let questions = EarlyExit { stop: Some(&stop), enough: Some(&loses as &Enough<'_>) };
        let Ok(made) = self.maker.make(workspace.game, atom, share, &before, questions) else {
            // Nothing else has stopped the search if it was the game that gave up.
            self.monitor.stop(Reason::Memory);
            return None;
        };
        if share != OptionSubset::Rest {
            self.monitor.counters.generated += 1;
        }
        let Some(list) = made else { return Some(Listing::Won) };
        let listed = Listed { list, complete: share != OptionSubset::First };
        workspace.store.insert(atom, listed.clone());
        if listed.complete {
            // A Grundy number is at most the number of options and the length of the game.
            let count = options_of(&listed.list).count() as u32;
            let bound = count.min(workspace.game.features(atom).lives);
            self.exclude(atom, GrundyStore::above(bound));
        }
        Some(Listing::OptionList(listed))
    }

    /// Evaluates a couple by its children, as far as there are options in the list. What these say
    /// about other couples of the atom is noted.
    fn evaluate(
        &mut self,
        atom: Atom,
        nimber: u32,
        list: &[u32],
        complete: bool,
        new_from: usize,
    ) -> Result<u64, Value> {
        let base = self.children.len();
        // Of sums the heaps are not known yet.
        for (_, option) in options_of(list) {
            if let &[word] = option {
                self.numbers.announce(code_of(atom_of(word), nimber));
            }
        }
        // Grundy numbers of options: bits of those that are tracked.
        let mut values = 0u64;
        let mut decided = complete;
        let mut new = 0;
        for (start, option) in options_of(list) {
            let rest = self.reduce(option, nimber);
            if self.open.is_empty() {
                if rest == 0 {
                    self.children.truncate(base);
                    self.exclude(atom, values);
                    return Err(Value::Win);
                }
                values |= GrundyStore::bit(rest ^ nimber);
                continue;
            }
            decided = false;
            let (Pair { phi, delta }, unknown) = self.reduced(rest);
            if start as usize >= new_from {
                new += unknown;
            }
            if phi != 0 {
                let (rank, key) = (self.rank(rest), self.child_key_of(rest));
                self.children.push(SumChild { start, nimber, phi, delta, rank, key });
            }
            if delta == 0 {
                self.children.truncate(base);
                return Err(Value::Win);
            }
        }
        if decided {
            let grundy = self.mex(list, values);
            self.set_grundy(atom, grundy);
            // No option has this number, so the couple is lost if this is the heap, and otherwise
            // the move to the heap of the atom's number wins: options of the heap's were found above.
            return Err(if grundy == nimber { Value::Loss } else { Value::Win });
        }
        self.exclude(atom, values);
        match self.value(atom, nimber) {
            None => {}
            Some(value) => {
                self.children.truncate(base);
                return Err(value);
            }
        }
        for smaller in 0..nimber {
            let (Pair { phi, delta }, known) = self.couple(atom, smaller);
            new += u64::from(!known && new_from == 0);
            if phi != 0 {
                self.open.clear();
                self.open.push(atom);
                let (rank, key) = (self.rank(smaller), self.child_key_of(smaller));
                let (start, nimber) = (OWN, smaller);
                self.children.push(SumChild { start, nimber, phi, delta, rank, key });
            }
        }
        if complete && self.children.len() == base {
            return Err(Value::Loss);
        }
        Ok(new)
    }

    /// The least number that no option has, all of which are known.
    fn mex(&mut self, list: &[u32], tracked: u64) -> u32 {
        if tracked.trailing_ones() < TRACKED {
            return tracked.trailing_ones();
        }
        let mut values: Vec<u32> = Vec::new();
        for (_, option) in options_of(list) {
            values.push(self.reduce(option, 0));
        }
        values.sort_unstable();
        values.dedup();
        values.iter().zip(0..).take_while(|&(&value, index)| value == index).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::game::{AtomFeatures, GameFull, Keep, OptionList, Retained, Stop};
    use super::super::options::SearchOptions;
    use super::super::workspace::SolverState;
    use super::*;
    use crate::run::{Limits, SearchMonitor};

    /// Atoms whose options take long to make.
    struct Slow;

    impl Impartial for Slow {
        type Scratch = ();

        fn options(
            &self,
            _: Atom,
            (): &mut (),
            options: &mut OptionList<'_>,
        ) -> Result<(), GameFull> {
            (0..100_000).try_for_each(|_| options.keep_on())
        }

        fn features(&self, _: Atom) -> AtomFeatures {
            AtomFeatures { lives: 3, ..AtomFeatures::default() }
        }

        fn bytes(&self) -> u64 {
            0
        }

        fn retain(&self, _: &Keep<'_>, _: &Stop<'_>) -> Retained {
            Retained::default()
        }
    }

    #[test]
    fn what_the_search_keeps_itself_counts_while_options_are_made() {
        for (own_bytes, stopped) in [(0, None), (1 << 22, Some(Reason::Memory))] {
            let workspace = SolverState::new(&Slow, 1 << 22).unwrap();
            let mut nobody = ();
            let monitor = SearchMonitor::new(Limits::default(), &mut nobody);
            let (table, options) = (&workspace.table, SearchOptions::PAPER);
            let mut evaluator = Evaluator::new(&workspace, table, monitor, options, false);
            evaluator.own_bytes = own_bytes;
            let listed = evaluator.listing(7, 0, true);
            assert_eq!(listed.is_none(), stopped.is_some());
            assert_eq!(evaluator.monitor.stopped, stopped);
        }
    }
}
