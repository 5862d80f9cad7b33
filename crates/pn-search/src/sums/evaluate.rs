//! Evaluation of couples and sums by exact results, stored numbers and leaf estimates.
//!
//! The nodes are those of the NAND tree with Grundy numbers (Lemoine and Viennot 2012; Čížek, Balko and Schmid, "NAND
//! Trees with Grundy Numbers"). A sum is *reduced*: its atoms with known Grundy numbers are replaced by nim heaps,
//! and all heaps are added to one. The other atoms are *open*.
//!
//! - If no atom is open, the sum is solved.
//! - If one atom is open, the sum is a couple (the paper's atomic node). The phi and delta of couples are stored.
//! - If more atoms are open, the sum is the paper's decomposable node. Its phi and delta are not stored. They are
//!   computed from those of the current couples of its open atoms, without the hardest one: the search does not need
//!   its Grundy number. With [`SearchOptions::sum_of_all_parts`], all of them count (equation (6) of the paper's full
//!   version). The *current couple* of an atom is the one with the least nimber that is not excluded yet. It represents
//!   the paper's Grundy node of this atom (equation (5)).
//!
//! The types of this module:
//!
//! - [`Evaluator`] evaluates positions; every worker has its own.
//! - [`CoupleNumbers`] stores phi and delta of couples: in the table, or in the map of PNS.
//! - [`SumChild`] is a child of an expanded couple.

use super::game::{Atom, AtomFeatures, Impartial};
use super::knowledge::{GrundyStore, TRACKED};
use super::options::{PartOrder, SearchOptions};
use super::solver_state::{SolverState, code_of, key_of};
use super::store::{OptionGenerator, atom_of};
use crate::Value;
use crate::numbers::{MAX, Number, Pair};
use crate::run::{Counters, SearchMonitor};
use crate::table::{Entry, Table};

/// Storage of phi and delta of couples.
pub(super) trait CoupleNumbers {
    fn get(&self, code: u64) -> Option<Pair>;
    /// Prefetches the entry of a couple.
    fn prefetch(&self, _code: u64) {}
    fn set(&mut self, code: u64, pair: Pair, work: u64, counters: &mut Counters);
}

impl CoupleNumbers for &Table {
    #[inline(always)]
    fn get(&self, code: u64) -> Option<Pair> {
        self.lookup(key_of(code), code).map(|entry| entry.pair())
    }

    #[inline(always)]
    fn prefetch(&self, code: u64) {
        Table::prefetch(self, key_of(code));
    }

    fn set(&mut self, code: u64, pair: Pair, work: u64, counters: &mut Counters) {
        counters.stored(self.store(key_of(code), code, Entry::new(pair, work)));
    }
}

/// Value of [`SumChild::start`] for a move in the nim heap: the child is the parent's own atom with a smaller heap.
pub(super) const OWN: u32 = u32::MAX;
/// Value of [`SumChild::start`] for the child that represents all options that have not been generated.
pub(super) const REST: u32 = u32::MAX - 1;

/// A child of a couple.
#[derive(Clone, Copy, Debug)]
pub(super) struct SumChild {
    /// Start index of the option in the parent's list, or [`OWN`] or [`REST`].
    pub start: u32,
    /// Size of the nim heap.
    pub nimber: u32,
    pub phi: Number,
    pub delta: Number,
    /// Rank among children of equal delta. The child of least rank is searched first.
    pub rank: u32,
    /// Upper half of the key for virtual losses, 0 if there is only one worker.
    pub key: u32,
}

/// Evaluates and expands positions for one worker.
pub(super) struct Evaluator<'a, G: Impartial, N> {
    pub state: &'a SolverState<G>,
    pub numbers: N,
    pub monitor: SearchMonitor<'a>,
    pub options: SearchOptions,
    /// Stack of open children. The children of the last expansion are at the top.
    pub children: Vec<SumChild>,
    /// Open atoms of the last sum that [`Evaluator::reduce`] has reduced.
    pub open: Vec<Atom>,
    /// True if there are several workers, so that children need keys.
    pub is_parallel: bool,
    /// Bytes that the search uses in addition to the solver state.
    pub own_bytes: u64,
    /// Minimum number of expansions for a Grundy number in `shared`. `u64::MAX`, the default, means that there are none.
    pub min_shared_work: u64,
    /// Grundy numbers to be sent to other workers.
    pub shared: Vec<(Atom, u32)>,
    pub generator: OptionGenerator<G>,
}

/// Evaluator with the numbers in the table.
pub(super) type TableEvaluator<'a, G> = Evaluator<'a, G, &'a Table>;

impl<'a, G: Impartial, N: CoupleNumbers> Evaluator<'a, G, N> {
    pub fn new(
        state: &'a SolverState<G>,
        numbers: N,
        monitor: SearchMonitor<'a>,
        options: SearchOptions,
        is_parallel: bool,
    ) -> Self {
        Evaluator {
            state,
            numbers,
            monitor,
            options,
            children: Vec::with_capacity(1024),
            open: Vec::new(),
            is_parallel,
            own_bytes: 0,
            min_shared_work: u64::MAX,
            shared: Vec::new(),
            generator: OptionGenerator::default(),
        }
    }

    /// Reduces the sum of some atoms and the heap `nimber`. Returns the nimber of the reduced sum; its open atoms are
    /// in `open`.
    #[inline]
    pub fn reduce(&mut self, words: &[u32], mut nimber: u32) -> u32 {
        self.open.clear();
        for &word in words {
            let atom = atom_of(word);
            match self.state.knowledge.get(atom).grundy() {
                Some(grundy) => nimber ^= grundy,
                None => self.open.push(atom),
            }
        }
        nimber
    }

    /// Returns the value of a couple, if it is known.
    #[inline]
    pub fn value(&self, atom: Atom, nimber: u32) -> Option<Value> {
        let known = self.state.knowledge.get(atom);
        if known.excludes(nimber) {
            return Some(Value::Win);
        }
        if known.grundy().is_some() {
            return Some(Value::Loss);
        }
        if nimber < TRACKED {
            return None;
        }
        self.numbers.get(code_of(atom, nimber))?.value()
    }

    /// Returns phi and delta of a couple of an atom whose Grundy number is not known, and true if they come from a
    /// search, false if they are an estimate.
    #[inline]
    pub fn couple(&self, atom: Atom, nimber: u32) -> (Pair, bool) {
        let known = self.state.knowledge.get(atom);
        if known.excludes(nimber) {
            return (Pair::WIN, true);
        }
        match self.numbers.get(code_of(atom, nimber)) {
            Some(pair) => (pair, true),
            None => (self.options.leaf.of(self.state.game(), atom, nimber, known), false),
        }
    }

    /// Returns the nimber of the current couple of an atom whose Grundy number is not known: the least nimber that is
    /// not excluded.
    #[inline]
    pub fn current(&self, atom: Atom) -> u32 {
        let mut nimber = self.state.knowledge.get(atom).min_candidate();
        while nimber >= TRACKED && self.value(atom, nimber) == Some(Value::Win) {
            nimber += 1;
        }
        nimber
    }

    /// Returns the open atoms whose current couples count for phi and delta of the sum in `open`. One of them is
    /// searched next. There have to be at least two open atoms.
    #[inline(always)]
    pub fn counted(&self) -> &[Atom] {
        &self.open[..self.open.len() - usize::from(!self.options.sum_of_all_parts)]
    }

    /// Returns the first part of the sum in `open` in the order of [`PartOrder`].
    pub fn first_part(&self) -> Atom {
        let mut parts = self.counted().iter().copied();
        let first = match self.options.parts {
            PartOrder::Least => parts.next(),
            PartOrder::Lives => parts.min_by_key(|&atom| {
                let AtomFeatures { lives, estimated_options } = self.state.game.features(atom);
                (lives, estimated_options)
            }),
        };
        first.expect("a sum has at least two open atoms")
    }

    /// Returns phi and delta of the reduced sum whose open atoms are in `open`, and the number of couples for which
    /// estimates were used.
    #[inline]
    pub fn reduced(&self, nimber: u32) -> (Pair, u64) {
        match self.open[..] {
            [] => (Pair::of(if nimber == 0 { Value::Loss } else { Value::Win }), 0),
            [atom] => {
                let (pair, known) = self.couple(atom, nimber);
                (pair, u64::from(!known))
            }
            _ => {
                let (mut total, mut new) = (0, 0);
                for &atom in self.counted() {
                    let (pair, known) = self.couple(atom, self.current(atom));
                    total += u64::from(pair.least());
                    new += u64::from(!known);
                }
                let number = total.clamp(1, u64::from(MAX)) as Number;
                (Pair { phi: number, delta: number }, new)
            }
        }
    }

    /// Returns the rank, among children of equal delta, of the sum whose open atoms are in `open`. The child of least
    /// rank is searched first (order of Lemoine and Viennot 2015).
    ///
    /// | bits | content |
    /// |---|---|
    /// | 20..32 | lives plus four times the nimber |
    /// | 16..20 | 15 minus the number of atoms |
    /// | 0..16 | estimated number of options |
    #[inline]
    pub fn rank(&self, nimber: u32) -> u32 {
        if !self.options.heuristic {
            return 0;
        }
        let (mut lives, mut options) = (nimber.saturating_mul(4), 0u32);
        for &atom in &self.open {
            let features = self.state.game.features(atom);
            lives = lives.saturating_add(features.lives);
            options = options.saturating_add(features.estimated_options);
        }
        let fewer_atoms = 15 - self.open.len().min(15) as u32;
        lives.min(0xFFF) << 20 | fewer_atoms << 16 | options.min(0xFFFF)
    }

    /// Returns the upper half of the key of the sum whose open atoms are in `open`. A sum of one atom has the key of
    /// its couple.
    #[inline]
    pub fn child_key_of(&self, nimber: u32) -> u32 {
        let key = match self.open[..] {
            _ if !self.is_parallel => 0,
            [atom] => key_of(code_of(atom, nimber)),
            ref atoms => {
                let start = u64::from(nimber) << 32 | atoms.len() as u64;
                let code = atoms.iter().fold(start, |code, &atom| key_of(code) ^ u64::from(atom));
                key_of(code)
            }
        };
        (key >> 32) as u32
    }

    /// Stores the value of a couple. `work` is the number of expansions that the proof took.
    pub fn solved(&mut self, atom: Atom, nimber: u32, value: Value, work: u64) {
        match value {
            Value::Loss => self.set_grundy(atom, nimber),
            Value::Win if nimber < TRACKED => self.exclude(atom, GrundyStore::bit(nimber)),
            Value::Win => {
                let counters = &mut self.monitor.counters;
                self.numbers.set(code_of(atom, nimber), Pair::WIN, work, counters);
            }
        }
    }

    pub fn set_grundy(&mut self, atom: Atom, number: u32) {
        if self.state.knowledge.set_grundy(atom, number) {
            self.monitor.found(atom, number);
        }
    }

    pub fn exclude(&mut self, atom: Atom, bits: u64) {
        let knowledge = &self.state.knowledge;
        if knowledge.exclude(atom, bits)
            && let Some(number) = knowledge.get(atom).grundy()
        {
            self.monitor.found(atom, number);
        }
    }
}
