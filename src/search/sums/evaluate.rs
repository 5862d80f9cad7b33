//! First evaluation of couples and sums: what is known, what the table says, leaf estimates.
//!
//! The nodes of the NAND tree with Grundy numbers (Lemoine and Viennot 2012; Čížek, Balko and
//! Schmid, "NAND Trees with Grundy Numbers"): a sum is reduced by the Grundy numbers that are known.
//! If one atom is left, it is a couple, an atomic node; if more are left, it is a decomposable node,
//! whose numbers follow from those of the current couples of its parts and are kept nowhere. A
//! Grundy node is its current couple.

use super::SearchOptions;
use super::game::{Atom, Enough, Impartial, Questions};
use super::knowledge::{Knowledge, TRACKED};
use super::store::{List, Maker, atom_of, options_of};
use super::workspace::{Workspace, code_of, key_of};
use crate::search::Value;
use crate::search::numbers::{MAX, Number, Pair};
use crate::search::run::{Control, Counters, Reason};
use crate::search::table::{Entry, Table};

/// Where the numbers of couples are kept.
pub(super) trait Numbers {
    fn get(&self, code: u64) -> Option<Pair>;
    /// Says that the numbers of a couple will soon be asked for.
    fn announce(&self, _code: u64) {}
    fn set(&mut self, code: u64, pair: Pair, work: u64, counters: &mut Counters);
}

impl Numbers for &Table {
    #[inline(always)]
    fn get(&self, code: u64) -> Option<Pair> {
        let Entry { phi, delta, .. } = self.lookup(key_of(code), code)?;
        Some(Pair { phi, delta })
    }

    #[inline(always)]
    fn announce(&self, code: u64) {
        self.prefetch(key_of(code));
    }

    fn set(&mut self, code: u64, Pair { phi, delta }: Pair, work: u64, counters: &mut Counters) {
        counters.stored(self.store(key_of(code), code, Entry { phi, delta, work }));
    }
}

/// The child that is the couple of the parent's own atom and a smaller heap.
pub(super) const OWN: u32 = u32::MAX;

/// A child of a couple.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    /// Where the option starts in the parent's list, or [`OWN`].
    pub start: u32,
    /// The size of the heap beside it.
    pub nimber: u32,
    pub phi: Number,
    pub delta: Number,
    /// Among children of equal delta, the least comes first.
    pub rank: u32,
    /// The upper half of the key by which workers are counted, if there are several.
    pub key: u32,
}

/// What an expansion found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evaluation {
    Solved(Value),
    /// The open children are at the top of the list.
    Open,
}

/// The options of an atom, as far as a couple needs them.
pub(super) enum Listing {
    All(List),
    /// One of them is lost, so the couple is won.
    Won,
}

/// What one worker evaluates positions with.
pub(super) struct Evaluator<'a, G: Impartial, N> {
    pub workspace: &'a Workspace<'a, G>,
    pub numbers: N,
    pub control: Control<'a>,
    pub options: SearchOptions,
    /// Open children, those of the last expansion at the top.
    pub children: Vec<Child>,
    /// The open atoms of the sum that was reduced last.
    pub open: Vec<Atom>,
    /// Whether children need keys, because there are several workers.
    pub several: bool,
    /// Bytes that the caller keeps beside the workspace.
    pub own_bytes: u64,
    maker: Maker<G>,
}

impl<'a, G: Impartial, N: Numbers> Evaluator<'a, G, N> {
    pub fn new(
        workspace: &'a Workspace<'a, G>,
        numbers: N,
        control: Control<'a>,
        options: SearchOptions,
        several: bool,
    ) -> Self {
        Evaluator {
            workspace,
            numbers,
            control,
            options,
            children: Vec::with_capacity(1024),
            open: Vec::new(),
            several,
            own_bytes: 0,
            maker: Maker::default(),
        }
    }

    /// The options of an atom for the couple with a heap. If they have to be made and one that is
    /// known to be lost beside the heap comes up, no others are made. `None` if the game has no room
    /// for them, and then the search has been told to stop.
    pub fn listing(&mut self, atom: Atom, nimber: u32) -> Option<Listing> {
        let workspace = self.workspace;
        if let Some(list) = workspace.store.get(atom) {
            return Some(Listing::All(list));
        }
        let team = self.control.team();
        let stop = || {
            if !team.look() && workspace.balance(0).is_full {
                team.stop(Reason::Memory);
            }
            team.is_halted()
        };
        let number = |&atom: &Atom| workspace.knowledge.get(atom).grundy();
        let add = |sum: u32, number: Option<u32>| number.map(|number| sum ^ number);
        let loses = |option: &[Atom]| option.iter().map(number).try_fold(0, add) == Some(nimber);
        let questions = Questions { stop: Some(&stop), enough: Some(&loses as &Enough<'_>) };
        let Ok(made) = self.maker.make(workspace.game, atom, questions) else {
            // Nothing else has stopped the search if it was the game that gave up.
            self.control.stop(Reason::Memory);
            return None;
        };
        self.control.counters.generated += 1;
        let Some((list, count)) = made else { return Some(Listing::Won) };
        workspace.store.insert(atom, list.clone());
        // A Grundy number is at most the number of options and the length of the game.
        let bound = count.min(workspace.game.features(atom).lives);
        self.exclude(atom, Knowledge::above(bound));
        Some(Listing::All(list))
    }

    /// Reduces a sum by what is known: leaves its open atoms in `open` and returns the nimber.
    #[inline]
    pub fn reduce(&mut self, words: &[u32], mut nimber: u32) -> u32 {
        self.open.clear();
        for &word in words {
            let atom = atom_of(word);
            match self.workspace.knowledge.get(atom).grundy() {
                Some(grundy) => nimber ^= grundy,
                None => self.open.push(atom),
            }
        }
        nimber
    }

    /// The value of a couple, if it is known.
    #[inline]
    pub fn value(&self, atom: Atom, nimber: u32) -> Option<Value> {
        let known = self.workspace.knowledge.get(atom);
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

    /// The numbers of a couple of an atom whose Grundy number is not known, and whether the table
    /// has them.
    #[inline]
    pub fn couple(&self, atom: Atom, nimber: u32) -> (Pair, bool) {
        let known = self.workspace.knowledge.get(atom);
        if known.excludes(nimber) {
            return (Pair::WIN, true);
        }
        match self.numbers.get(code_of(atom, nimber)) {
            Some(pair) => (pair, true),
            None => (self.options.leaf.of(self.workspace.game, atom, nimber, known), false),
        }
    }

    /// The nimber of the current couple of an atom whose Grundy number is not known: the least that is
    /// not excluded.
    #[inline]
    pub fn current(&self, atom: Atom) -> u32 {
        let mut nimber = self.workspace.knowledge.get(atom).least_candidate();
        while nimber >= TRACKED && self.value(atom, nimber) == Some(Value::Win) {
            nimber += 1;
        }
        nimber
    }

    /// The numbers of the sum whose open atoms are in `open`, and how many of them are new.
    #[inline]
    pub fn reduced(&self, nimber: u32) -> (Pair, u64) {
        match self.open[..] {
            [] => (Pair::of(if nimber == 0 { Value::Loss } else { Value::Win }), 0),
            [atom] => {
                let (pair, known) = self.couple(atom, nimber);
                (pair, u64::from(!known))
            }
            [ref first @ .., _] => {
                let (mut total, mut new) = (0, 0);
                for &atom in first {
                    let (pair, known) = self.couple(atom, self.current(atom));
                    total += u64::from(pair.least());
                    new += u64::from(!known);
                }
                let number = total.clamp(1, u64::from(MAX)) as Number;
                (Pair { phi: number, delta: number }, new)
            }
        }
    }

    /// Evaluates a couple by its children. What the options say about other couples of the atom is
    /// noted.
    pub fn expand(
        &mut self,
        atom: Atom,
        nimber: u32,
        list: &[u32],
        first_visit: bool,
    ) -> Evaluation {
        let base = self.children.len();
        // Of sums the heaps are not known yet.
        for (_, option) in options_of(list) {
            if let &[word] = option {
                self.numbers.announce(code_of(atom_of(word), nimber));
            }
        }
        // Grundy numbers of options: bits of those that are tracked.
        let mut values = 0u64;
        let mut decided = true;
        let mut new = 0;
        for (start, option) in options_of(list) {
            let rest = self.reduce(option, nimber);
            if self.open.is_empty() {
                if rest == 0 {
                    self.children.truncate(base);
                    self.exclude(atom, values);
                    return Evaluation::Solved(Value::Win);
                }
                values |= Knowledge::bit(rest ^ nimber);
                continue;
            }
            decided = false;
            let (Pair { phi, delta }, unknown) = self.reduced(rest);
            new += unknown;
            if phi != 0 {
                let (rank, key) = (self.rank(rest), self.edge_key_of(rest));
                self.children.push(Child { start, nimber, phi, delta, rank, key });
            }
            if delta == 0 {
                self.children.truncate(base);
                return Evaluation::Solved(Value::Win);
            }
        }
        if decided {
            let grundy = self.mex(list, values);
            self.set_grundy(atom, grundy);
            // No option has this number, so the couple is lost if this is the heap, and otherwise
            // the move to the heap of the atom's number wins: options of the heap's were found above.
            return Evaluation::Solved(if grundy == nimber { Value::Loss } else { Value::Win });
        }
        self.exclude(atom, values);
        match self.value(atom, nimber) {
            None => {}
            Some(value) => {
                self.children.truncate(base);
                return Evaluation::Solved(value);
            }
        }
        for smaller in 0..nimber {
            let (Pair { phi, delta }, known) = self.couple(atom, smaller);
            new += u64::from(!known);
            if phi != 0 {
                self.open.clear();
                self.open.push(atom);
                let (rank, key) = (self.rank(smaller), self.edge_key_of(smaller));
                let (start, nimber) = (OWN, smaller);
                self.children.push(Child { start, nimber, phi, delta, rank, key });
            }
        }
        if first_visit {
            self.control.counters.nodes += new;
        }
        if self.children.len() == base {
            return Evaluation::Solved(Value::Loss);
        }
        Evaluation::Open
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

    /// The order among children of equal delta (Lemoine and Viennot 2015): lives and four times the
    /// heap, then more lands, then fewer options. Of the sum whose open atoms are in `open`.
    #[inline]
    fn rank(&self, nimber: u32) -> u32 {
        if !self.options.heuristic {
            return 0;
        }
        let (mut lives, mut options) = (nimber.saturating_mul(4), 0u32);
        for &atom in &self.open {
            let features = self.workspace.game.features(atom);
            lives = lives.saturating_add(features.lives);
            options = options.saturating_add(features.estimated_options);
        }
        let fewer_lands = 15 - self.open.len().min(15) as u32;
        lives.min(0xFFF) << 20 | fewer_lands << 16 | options.min(0xFFFF)
    }

    /// The upper half of the key of the sum whose open atoms are in `open`; of a couple's key if it
    /// is one.
    #[inline]
    pub fn edge_key_of(&self, nimber: u32) -> u32 {
        let key = match self.open[..] {
            _ if !self.several => 0,
            [atom] => key_of(code_of(atom, nimber)),
            ref atoms => {
                let start = u64::from(nimber) << 32 | atoms.len() as u64;
                let code = atoms.iter().fold(start, |code, &atom| key_of(code) ^ u64::from(atom));
                key_of(code)
            }
        };
        (key >> 32) as u32
    }

    /// Notes what a couple turned out to be. `work` is the number of expansions for it.
    pub fn solved(&mut self, atom: Atom, nimber: u32, value: Value, work: u64) {
        match value {
            Value::Loss => self.set_grundy(atom, nimber),
            Value::Win if nimber < TRACKED => self.exclude(atom, Knowledge::bit(nimber)),
            Value::Win => {
                let counters = &mut self.control.counters;
                self.numbers.set(code_of(atom, nimber), Pair::WIN, work, counters);
            }
        }
    }

    pub fn set_grundy(&mut self, atom: Atom, number: u32) {
        if self.workspace.knowledge.set_grundy(atom, number) {
            self.control.found(atom, number);
        }
    }

    pub fn exclude(&mut self, atom: Atom, bits: u64) {
        let knowledge = &self.workspace.knowledge;
        if knowledge.exclude(atom, bits)
            && let Some(number) = knowledge.get(atom).grundy()
        {
            self.control.found(atom, number);
        }
    }
}
