//! Expansion of couples: generates the options that are needed, and evaluates them.
//!
//! Options that are likely to be good are generated first. One child ([`REST`]) with an estimated delta represents all
//! other options. They are generated as soon as every other child has a greater delta than this estimate.

use super::evaluate::{CoupleNumbers, Evaluator, OWN, REST, SumChild};
use super::game::{Atom, EarlyExit, Impartial, OptionPredicate, OptionSubset};
use super::knowledge::{GrundyStore, TRACKED};
use super::solver_state::code_of;
use super::store::{GeneratedOptions, PackedList, atom_of, options_of};
use crate::Value;
use crate::numbers::Pair;
use crate::run::Reason;
use crate::search_tree::Expanded;
use crate::split_mix::mix;

/// The atom of an expanded couple, and the list of options to which [`SumChild::start`] refers.
pub(super) struct ExpandedCouple {
    pub atom: Atom,
    pub list: PackedList,
}

/// Options of an atom for the expansion of a couple.
pub(super) enum Listing {
    Options(GeneratedOptions),
    /// An option is lost for the opponent, so the couple is won.
    Won,
}

/// Value of `new_from` for an expansion that counts no nodes.
pub(super) const NONE_NEW: usize = usize::MAX;

impl<G: Impartial, N: CoupleNumbers> Evaluator<'_, G, N> {
    /// Expands a couple by all options if `all` is true, otherwise by the options that are needed. Counts the new
    /// couples among the children, but only for options that start at index `new_from` of the list or later.
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
            let GeneratedOptions { list, complete } = match self.listing(atom, nimber, all) {
                None => return Expanded::Stopped,
                Some(Listing::Won) => return Expanded::Solved(Value::Win),
                Some(Listing::Options(listed)) => listed,
            };
            let new = match self.evaluate(atom, nimber, &list, complete, new_from) {
                Err(value) => return Expanded::Solved(value),
                Ok(new) => new,
            };
            if let Some(seed) = self.options.seed {
                let random = |child: &SumChild| {
                    mix((u64::from(child.start) << 32 | u64::from(child.nimber)) ^ seed)
                };
                self.children[base..].sort_unstable_by_key(random);
            }
            if !complete {
                let Pair { phi, delta } = self.options.leaf.of_rest(self.state.game(), atom);
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

    /// Returns options of an atom, for the expansion of its couple with `nimber`: all options if `all` is true,
    /// otherwise at least [`OptionSubset::First`]. If options have to be generated, generation ends at the first option
    /// that is known to be lost together with a nim heap of size `nimber`. If the game has no memory for the options or
    /// the search has to stop, stops the search and returns `None`.
    pub fn listing(&mut self, atom: Atom, nimber: u32, all: bool) -> Option<Listing> {
        let state = self.state;
        let before = state.store.get(atom);
        let subset = match before {
            Some(listed) if listed.complete || !all => return Some(Listing::Options(listed)),
            Some(_) => OptionSubset::Rest,
            None if all => OptionSubset::All,
            None => OptionSubset::First,
        };
        let before = before.map(|listed| listed.list).unwrap_or_default();
        let (shared, own_bytes) = (self.monitor.state(), self.own_bytes);
        let stop = || {
            if !shared.poll() && state.balance(own_bytes).is_full {
                shared.stop(Reason::Memory);
            }
            shared.is_halted()
        };
        let number = |&atom: &Atom| state.knowledge.get(atom).grundy();
        let add = |sum: u32, number: Option<u32>| number.map(|number| sum ^ number);
        let loses = |option: &[Atom]| option.iter().map(number).try_fold(0, add) == Some(nimber);
        let is_decisive = Some(&loses as &OptionPredicate<'_>);
        let early_exit = EarlyExit { stop: Some(&stop), is_decisive };
        let generated = self.generator.generate(state.game(), atom, subset, &before, early_exit);
        let Ok(list) = generated else {
            // Has no effect if the search has been stopped for another reason.
            self.monitor.stop(Reason::Memory);
            return None;
        };
        if subset != OptionSubset::Rest {
            self.monitor.counters.generated += 1;
        }
        let Some(list) = list else { return Some(Listing::Won) };
        let listed = GeneratedOptions { list, complete: subset != OptionSubset::First };
        state.store.insert(atom, listed.clone());
        if listed.complete {
            // A Grundy number exceeds neither the number of options nor the length of the game.
            let count = options_of(&listed.list).count() as u32;
            let bound = count.min(state.game.features(atom).lives);
            self.exclude(atom, GrundyStore::above(bound));
        }
        Some(Listing::Options(listed))
    }

    /// Evaluates the children of a couple and pushes the open children. Returns the number of new couples among them,
    /// or the value of the couple if it is solved. The atom cannot have the Grundy number of an option, so the known
    /// Grundy numbers of the options are excluded.
    fn evaluate(
        &mut self,
        atom: Atom,
        nimber: u32,
        list: &[u32],
        complete: bool,
        new_from: usize,
    ) -> Result<u64, Value> {
        let base = self.children.len();
        // Only options of one atom are prefetched: a sum of several atoms has to be reduced before its couples are
        // known.
        for (_, option) in options_of(list) {
            if let &[word] = option {
                self.numbers.prefetch(code_of(atom_of(word), nimber));
            }
        }
        // Known Grundy numbers of options as bits.
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
            // If the nimber is the Grundy number, the couple is lost. If the nimber is greater, the move in the heap to
            // the Grundy number wins. The nimber is not less: then an option would have the Grundy number `nimber`, and
            // the loop above would have returned.
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

    /// Returns the least number that is not the Grundy number of an option. The Grundy numbers of all options have to
    /// be known; `tracked` has the bits of those below [`TRACKED`].
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
    use super::super::solver_state::SolverState;
    use super::*;
    use crate::run::{Limits, SearchMonitor};
    use std::sync::Arc;

    /// A game whose options take long to generate.
    struct SlowGame;

    impl Impartial for SlowGame {
        type Scratch = ();

        fn options(
            &self,
            _: Atom,
            (): &mut (),
            options: &mut OptionList<'_>,
        ) -> Result<(), GameFull> {
            (0..100_000).try_for_each(|_| options.poll())
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
    fn own_bytes_count_while_options_are_generated() {
        for (own_bytes, stopped) in [(0, None), (1 << 22, Some(Reason::Memory))] {
            let state = SolverState::new(Arc::new(SlowGame), 1 << 22).unwrap();
            let mut observer = ();
            let monitor = SearchMonitor::new(Limits::default(), &mut observer);
            let (table, options) = (&state.table, SearchOptions::PAPER);
            let mut evaluator = Evaluator::new(&state, table, monitor, options, false);
            evaluator.own_bytes = own_bytes;
            let listed = evaluator.listing(7, 0, true);
            assert_eq!(listed.is_none(), stopped.is_some());
            assert_eq!(evaluator.monitor.stopped, stopped);
        }
    }
}
