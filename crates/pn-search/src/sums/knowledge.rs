//! Exact results about the Grundy numbers of atoms. They are stored without replacement and shared by all threads and
//! all searches of a game. [`GrundyStore`] has the results of all atoms; [`GrundyInfo`] those of one atom.
//!
//! The couple of an atom P and a nim heap *k is lost exactly if gn(P) = k (Lemoine and Viennot
//! 2012). So a lost couple determines the Grundy number, and with it the outcomes of all couples of the atom; a won
//! couple excludes one number. One 64-bit word per atom stores the Grundy number and the excluded numbers:
//!
//! | bits | content |
//! |---|---|
//! | 0..47 | bit k: the Grundy number is not k |
//! | 47 | the Grundy number is below 47 |
//! | 48..64 | the Grundy number plus one, or 0 while it is unknown |
//!
//! Every change adds a true statement to a word that is read and written atomically, so relaxed atomic
//! accesses are enough: a thread that reads a statement late only repeats work.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::chunks::Chunks;
use super::game::Atom;

/// Grundy numbers below this one are excluded one by one; all others can only be excluded together.
pub const TRACKED: u32 = 47;
const BELOW_TRACKED: u64 = 1 << TRACKED;
const EXCLUSIONS: u64 = (1 << 48) - 1;
const NUMBER_SHIFT: u32 = 48;

/// Maximum Grundy number that can be stored.
pub const MAX_GRUNDY: u32 = (1 << 16) - 2;

/// Results about the Grundy number of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrundyInfo(u64);

impl GrundyInfo {
    /// Returns the Grundy number, if it is known.
    #[inline(always)]
    pub fn grundy(self) -> Option<u32> {
        ((self.0 >> NUMBER_SHIFT) as u32).checked_sub(1)
    }

    /// Returns true if the Grundy number is known not to be `nimber`. A known Grundy number excludes all others.
    #[inline(always)]
    pub fn excludes(self, nimber: u32) -> bool {
        match self.grundy() {
            Some(grundy) => grundy != nimber,
            None if nimber < TRACKED => self.0 >> nimber & 1 != 0,
            None => self.0 & BELOW_TRACKED != 0,
        }
    }

    /// Returns the least number that is not excluded: the nimber of the current couple of an atom
    /// whose Grundy number is being computed. It is at most [`TRACKED`] unless the Grundy number is known.
    #[inline(always)]
    pub fn min_candidate(self) -> u32 {
        self.grundy().unwrap_or((self.0 & (BELOW_TRACKED - 1)).trailing_ones())
    }

    /// Returns true if a possible Grundy number remains after the numbers of `bits` are excluded. `bits` is in the
    /// format of [`GrundyStore::exclude`].
    pub fn allows(self, bits: u64) -> bool {
        match self.grundy() {
            Some(grundy) if grundy < TRACKED => bits >> grundy & 1 == 0,
            Some(_) => bits & BELOW_TRACKED == 0,
            None => (self.0 | bits) & EXCLUSIONS != EXCLUSIONS,
        }
    }

    /// Returns true if there are no results.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the excluded numbers as bits. Bit [`TRACKED`] is set if all numbers from [`TRACKED`] on are excluded.
    /// The bits are valid only if the Grundy number is not known.
    #[inline(always)]
    pub fn exclusions(self) -> u64 {
        self.0 & EXCLUSIONS
    }
}

/// Results about the Grundy numbers of all atoms.
pub struct GrundyStore {
    words: Chunks<AtomicU64>,
    numbers: AtomicU64,
}

impl Default for GrundyStore {
    fn default() -> Self {
        GrundyStore::new()
    }
}

impl GrundyStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        GrundyStore { words: Chunks::default(), numbers: AtomicU64::new(0) }
    }

    /// Returns the results about an atom.
    #[inline(always)]
    pub fn get(&self, atom: Atom) -> GrundyInfo {
        GrundyInfo(self.words.get(atom).map_or(0, |word| word.load(Relaxed)))
    }

    /// Sets the Grundy number of an atom. Returns true if the Grundy number was not known before. A known number is not
    /// changed, and a contradiction is not detected here.
    ///
    /// # Panics
    /// If the number exceeds [`MAX_GRUNDY`].
    pub fn set_grundy(&self, atom: Atom, number: u32) -> bool {
        assert!(number <= MAX_GRUNDY, "Grundy numbers are at most {MAX_GRUNDY}, not {number}");
        let word = self.words.get_or_allocate(atom);
        let is_new = word
            .fetch_update(Relaxed, Relaxed, |old| {
                let known = GrundyInfo(old).grundy().is_some();
                (!known).then_some(old | u64::from(number + 1) << NUMBER_SHIFT)
            })
            .is_ok();
        if is_new {
            self.numbers.fetch_add(1, Relaxed);
        }
        is_new
    }

    /// Excludes the numbers whose bits are set. Bit [`TRACKED`] excludes all numbers from [`TRACKED`] on. If only one
    /// number remains, sets it as the Grundy number. Returns true if the Grundy number was not known before and is
    /// known now.
    pub fn exclude(&self, atom: Atom, bits: u64) -> bool {
        if bits == 0 {
            return false;
        }
        let word = self.words.get_or_allocate(atom);
        let old = word.load(Relaxed);
        if old >> NUMBER_SHIFT != 0 || old & bits == bits {
            return false;
        }
        let new = (word.fetch_or(bits, Relaxed) | bits) & EXCLUSIONS;
        let left = !new & EXCLUSIONS;
        left.is_power_of_two() && left != BELOW_TRACKED && {
            self.set_grundy(atom, left.trailing_zeros())
        }
    }

    /// Returns the bit of a nimber for [`Self::exclude`], or 0 if the nimber is not tracked.
    #[inline(always)]
    pub fn bit(nimber: u32) -> u64 {
        if nimber < TRACKED { 1 << nimber } else { 0 }
    }

    /// Returns the bits of all numbers above `bound` for [`Self::exclude`].
    #[inline(always)]
    pub fn above(bound: u32) -> u64 {
        if bound >= TRACKED { 0 } else { EXCLUSIONS & !((2 << bound) - 1) | BELOW_TRACKED }
    }

    /// Removes the exclusions of atoms for which `keep` returns false. Known Grundy numbers are not removed. No other
    /// thread may use the store at the same time.
    pub(super) fn retain(&self, keep: impl Fn(Atom) -> bool) {
        for (atom, word) in self.words.iter() {
            let known = word.load(Relaxed);
            if known != 0 && GrundyInfo(known).grundy().is_none() && !keep(atom) {
                word.store(0, Relaxed);
            }
        }
    }

    /// Returns the number of known Grundy numbers.
    pub fn numbers(&self) -> u64 {
        self.numbers.load(Relaxed)
    }

    /// Returns all known Grundy numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Atom, u32)> {
        self.words
            .iter()
            .filter_map(|(atom, word)| Some((atom, GrundyInfo(word.load(Relaxed)).grundy()?)))
    }

    /// Returns the bytes in use.
    pub fn bytes(&self) -> u64 {
        self.words.bytes()
    }
}

impl std::fmt::Debug for GrundyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GrundyStore").field("numbers", &self.numbers()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_numbers_do_not_change() {
        let knowledge = GrundyStore::new();
        assert_eq!(knowledge.get(9).grundy(), None);
        assert!(knowledge.set_grundy(9, 3));
        assert!(!knowledge.set_grundy(9, 4));
        assert_eq!(knowledge.get(9).grundy(), Some(3));
        assert!(knowledge.set_grundy(100_000, MAX_GRUNDY));
        assert_eq!(knowledge.iter().collect::<Vec<_>>(), [(9, 3), (100_000, MAX_GRUNDY)]);
        assert_eq!(knowledge.numbers(), 2);
    }

    #[test]
    fn retain_keeps_all_grundy_numbers() {
        let knowledge = GrundyStore::new();
        knowledge.set_grundy(3, 1);
        for atom in [3, 4, 5] {
            knowledge.exclude(atom, GrundyStore::bit(7));
        }
        knowledge.retain(|atom| atom == 5);
        assert_eq!(knowledge.get(3).grundy(), Some(1));
        assert!(knowledge.get(4).is_empty());
        assert!(!knowledge.get(5).is_empty() && knowledge.get(5).excludes(7));
        assert_eq!(knowledge.numbers(), 1);
    }

    #[test]
    fn large_nimbers_are_excluded_by_bounds_only() {
        let knowledge = GrundyStore::new();
        assert_eq!(GrundyStore::bit(TRACKED), 0);
        knowledge.exclude(1, GrundyStore::above(TRACKED));
        assert!(!knowledge.get(1).excludes(1000));
        knowledge.exclude(1, GrundyStore::above(TRACKED - 1));
        assert!(knowledge.get(1).excludes(1000) && !knowledge.get(1).excludes(TRACKED - 1));
        // If all tracked numbers are excluded, but there is no bound, the Grundy number remains unknown.
        assert!(!knowledge.exclude(2, BELOW_TRACKED - 1));
        assert_eq!(knowledge.get(2).grundy(), None);
        assert_eq!(knowledge.get(2).min_candidate(), TRACKED);
    }

    proptest! {
        /// Compares the store with a set of candidates.
        #[test]
        fn exclusions_agree_with_a_set(steps in prop::collection::vec((0u32..50, any::<bool>()), 1..60)) {
            let knowledge = GrundyStore::new();
            let mut candidates: Vec<u32> = (0..200).collect();
            for (nimber, bound) in steps {
                let bits = if bound { GrundyStore::above(nimber) } else { GrundyStore::bit(nimber) };
                let before = candidates.clone();
                if bound && nimber < TRACKED {
                    candidates.retain(|&c| c <= nimber);
                } else if nimber < TRACKED {
                    candidates.retain(|&c| c != nimber);
                }
                if candidates.is_empty() {
                    candidates = before; // A search never excludes all numbers.
                    continue;
                }
                knowledge.exclude(7, bits);
                let known = knowledge.get(7);
                prop_assert_eq!(known.grundy(), (candidates.len() == 1).then(|| candidates[0]));
                prop_assert_eq!(known.min_candidate(), candidates[0].min(TRACKED));
                for nimber in 0..200 {
                    prop_assert_eq!(known.excludes(nimber), !candidates.contains(&nimber));
                }
            }
        }
    }
}
