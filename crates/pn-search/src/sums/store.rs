//! Options of atoms. They are generated once, packed, and shared by all threads and all nimbers. Options that are
//! likely to be good may be stored before the others are generated.
//!
//! [`OptionGenerator`] generates and packs the options of an atom; [`OptionStore`] stores the packed lists.
//!
//! # Layout
//!
//! An option is a row of words, one for each atom. The last word has its highest bit set. The option without atoms
//! (the finished game) is the single word [`EMPTY`]. Equal atoms are cancelled in pairs (P + P = 0), and equal options
//! are stored once.
//!
//! To solve a sum, the Grundy numbers of all atoms but the last are computed; of the last atom, only one couple has to
//! be solved. So the atoms of an option are sorted by estimated difficulty, the hardest last.
//!
//! If the likely options are generated first ([`OptionSubset`]), the other options are appended later.
//!
//! # Memory
//!
//! Lists are stored in shards, each with a young and an old generation of lists. A list that is used moves to the young
//! generation. When the young generation takes half of the shard's budget, the old one is dropped, and the young one
//! becomes the old one. So lists that have not been used for long are evicted first, and the other lists need not be
//! moved.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use ahash::HashMap;

use super::game::{Atom, EarlyExit, GameFull, Impartial, MAX_ATOM, OptionList, OptionSubset};
use super::options::difficulty;

/// The finished game as an option.
const EMPTY: u32 = u32::MAX;
/// Flag of the last word of an option.
const END: u32 = 1 << 31;
const SHARDS: usize = 64;
/// Bytes of a list in addition to its words, including its entry in the map.
const LIST_OVERHEAD_BYTES: u64 = 64;

/// A packed list of options.
pub(super) type PackedList = Arc<[u32]>;

/// Options of an atom that have been generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GeneratedOptions {
    pub list: PackedList,
    /// True if the list has all options.
    pub complete: bool,
}

/// Returns the atom of a word.
#[inline(always)]
pub(super) fn atom_of(word: u32) -> Atom {
    word & !END
}

/// Returns the options of a list with their start indices. An option is a slice of words; [`atom_of`] returns the atom
/// of a word.
pub(super) fn options_of(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    rows_of(words).map(|(start, row)| (start, option_of(row)))
}

/// Returns the option that starts at an index.
#[inline(always)]
pub(super) fn option_at(words: &[u32], start: u32) -> &[u32] {
    option_of(row_at(words, start as usize))
}

/// Returns the rows of a list with their start indices.
fn rows_of(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut start = 0;
    std::iter::from_fn(move || {
        (start < words.len()).then(|| {
            let row = row_at(words, start);
            let row_start = start as u32;
            start += row.len();
            (row_start, row)
        })
    })
}

#[inline(always)]
fn row_at(words: &[u32], start: usize) -> &[u32] {
    let words = &words[start..];
    let last = words.iter().position(|word| word & END != 0).unwrap_or(words.len() - 1);
    &words[..=last]
}

#[inline(always)]
fn option_of(row: &[u32]) -> &[u32] {
    if row == [EMPTY] { &[] } else { row }
}

/// Returns a list of one option. Its atoms have to be distinct.
pub(super) fn list_of(atoms: &[Atom]) -> PackedList {
    match atoms.split_last() {
        None => PackedList::from([EMPTY]),
        Some((&last, first)) => first.iter().copied().chain([last | END]).collect(),
    }
}

/// Sorts the atoms of a sum by difficulty and cancels equal ones in pairs.
pub(super) fn cancel_pairs(atoms: &mut Vec<Atom>, mut difficulty: impl FnMut(Atom) -> u32) {
    atoms.sort_unstable_by_key(|&atom| (difficulty(atom), atom));
    let mut kept = 0;
    for index in 0..atoms.len() {
        if kept > 0 && atoms[kept - 1] == atoms[index] {
            kept -= 1;
        } else {
            atoms[kept] = atoms[index];
            kept += 1;
        }
    }
    atoms.truncate(kept);
}

/// Generates and packs lists of options. Each worker has its own.
pub(super) struct OptionGenerator<G: Impartial> {
    scratch: G::Scratch,
    raw: OptionList<'static>,
    atoms: Vec<Atom>,
    packed: Vec<Vec<u32>>,
    words: Vec<u32>,
}

impl<G: Impartial> Default for OptionGenerator<G> {
    fn default() -> Self {
        OptionGenerator {
            scratch: G::Scratch::default(),
            raw: OptionList::default(),
            atoms: Vec::new(),
            packed: Vec::new(),
            words: Vec::new(),
        }
    }
}

impl<G: Impartial> OptionGenerator<G> {
    /// Generates a subset of the options of an atom. Returns the list `before` with these options appended, without
    /// duplicates, or `None` if an option is decisive.
    ///
    /// # Errors
    /// [`GameFull`] if the game has no memory or the search has to stop.
    pub fn generate(
        &mut self,
        game: &G,
        atom: Atom,
        subset: OptionSubset,
        before: &[u32],
        early_exit: EarlyExit<'_>,
    ) -> Result<Option<PackedList>, GameFull> {
        let mut raw = std::mem::take(&mut self.raw).reuse(subset, early_exit);
        let generated = game.options(atom, &mut self.scratch, &mut raw);
        let (raw, is_decided) = raw.finish();
        self.raw = raw;
        if is_decided {
            return Ok(None);
        }
        generated?;
        let count = self.raw.len();
        if self.packed.len() < count {
            self.packed.resize_with(count, Vec::new);
        }
        for (option, packed) in self.raw.iter().zip(&mut self.packed) {
            self.atoms.clear();
            self.atoms.extend_from_slice(option);
            if self.atoms.iter().any(|&atom| atom > MAX_ATOM) {
                return Err(GameFull);
            }
            cancel_pairs(&mut self.atoms, |atom| difficulty(game.features(atom)));
            packed.clear();
            packed.extend_from_slice(&self.atoms);
            match packed.last_mut() {
                Some(last) => *last |= END,
                None => packed.push(EMPTY),
            }
        }
        let packed = &mut self.packed[..count];
        packed.sort_unstable();
        self.words.clear();
        self.words.extend_from_slice(before);
        let known: Vec<&[u32]> = rows_of(before).map(|(_, row)| row).collect();
        for index in 0..count {
            let option = &packed[index][..];
            if (index == 0 || packed[index] != packed[index - 1])
                && known.binary_search(&option).is_err()
            {
                self.words.extend_from_slice(option);
            }
        }
        Ok(Some(PackedList::from(&self.words[..])))
    }
}

#[derive(Default)]
struct Generation {
    lists: HashMap<Atom, GeneratedOptions>,
    bytes: u64,
}

#[derive(Default)]
struct Shard {
    young: Generation,
    old: Generation,
}

/// Store of packed lists with a memory budget.
pub(super) struct OptionStore {
    shards: Box<[Mutex<Shard>]>,
    bytes: AtomicU64,
    budget: AtomicU64,
    /// The next shard whose lists are evicted when the budget shrinks.
    next_shard: AtomicU32,
}

impl OptionStore {
    /// Creates a store of about `budget` bytes at most.
    pub fn new(budget: u64) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        let (bytes, budget) = (AtomicU64::new(0), AtomicU64::new(budget));
        OptionStore { shards, bytes, budget, next_shard: AtomicU32::new(0) }
    }

    fn shard(&self, atom: Atom) -> std::sync::MutexGuard<'_, Shard> {
        // A poisoned mutex is usable, because lists are replaced as a whole.
        self.shards[atom as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the list of an atom, if it is stored.
    pub fn get(&self, atom: Atom) -> Option<GeneratedOptions> {
        let shard = &mut *self.shard(atom);
        if let Some(listed) = shard.young.lists.get(&atom) {
            return Some(listed.clone());
        }
        let listed = shard.old.lists.remove(&atom)?;
        shard.old.bytes -= bytes_of(&listed);
        self.insert_young(shard, atom, listed.clone());
        Some(listed)
    }

    /// Stores the list of an atom. A stored list is replaced only if it is incomplete and the new list is complete.
    pub fn insert(&self, atom: Atom, listed: GeneratedOptions) {
        let shard = &mut *self.shard(atom);
        let young = &mut shard.young;
        if let Some(stored) = young.lists.get(&atom) {
            if stored.complete || !listed.complete {
                return;
            }
            young.bytes -= bytes_of(stored);
            self.bytes.fetch_sub(bytes_of(stored), Relaxed);
        }
        self.bytes.fetch_add(bytes_of(&listed), Relaxed);
        self.insert_young(shard, atom, listed);
    }

    fn insert_young(&self, shard: &mut Shard, atom: Atom, listed: GeneratedOptions) {
        shard.young.bytes += bytes_of(&listed);
        shard.young.lists.insert(atom, listed);
        if shard.young.bytes > self.budget.load(Relaxed) / (2 * SHARDS as u64) {
            self.bytes.fetch_sub(shard.old.bytes, Relaxed);
            shard.old = std::mem::take(&mut shard.young);
        }
    }

    /// Changes the budget. While the lists exceed it, drops the old generation of one shard after the other, and in a
    /// second round the lists that were young before.
    pub fn set_budget(&self, budget: u64) {
        self.budget.store(budget, Relaxed);
        for _ in 0..2 * SHARDS {
            if self.bytes() <= budget {
                return;
            }
            // Every call continues where the last one ended, so that the loss is spread evenly.
            let shard = &mut *self.shard(self.next_shard.fetch_add(1, Relaxed));
            self.bytes.fetch_sub(shard.old.bytes, Relaxed);
            shard.old = std::mem::take(&mut shard.young);
        }
    }

    /// Returns the bytes in use.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
}

fn bytes_of(listed: &GeneratedOptions) -> u64 {
    4 * listed.list.len() as u64 + LIST_OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::impartial_games::Declared;

    #[test]
    fn equal_atoms_cancel_and_equal_options_are_stored_once() {
        let mut game = Declared::new();
        let zero = game.add(&[]);
        let one = game.add(&[&[], &[zero]]);
        let two = game.add(&[
            &[one, zero],
            &[zero, one, zero, zero],
            &[one, one],
            &[zero, zero],
            &[],
            &[one, one, one],
        ]);
        let mut generator = OptionGenerator::default();
        let mut generate = |subset, before: &[u32]| {
            let list = generator.generate(&game, two, subset, before, EarlyExit::default());
            list.unwrap().expect("no option is decisive")
        };
        let list = generate(OptionSubset::All, &[]);
        let options: Vec<Vec<Atom>> = options_of(&list)
            .map(|(start, option)| {
                assert_eq!(option_at(&list, start), option);
                option.iter().map(|&word| atom_of(word)).collect()
            })
            .collect();
        // Atoms are sorted by lives, so the harder one comes last.
        let expected: [&[Atom]; 3] = [&[], &[one], &[zero, one]];
        for option in expected {
            assert_eq!(options.iter().filter(|&found| found == option).count(), 1, "{option:?}");
        }
        assert_eq!(options.len(), expected.len());
        // The options of `Rest` follow those of `First`, without duplicates.
        let first = generate(OptionSubset::First, &[]);
        let both = generate(OptionSubset::Rest, &first);
        assert!(first.len() < both.len() && both.starts_with(&first));
        let sorted = |list: &[u32]| {
            let mut rows: Vec<Vec<u32>> = rows_of(list).map(|(_, row)| row.to_vec()).collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(sorted(&both), sorted(&list));
    }

    #[test]
    fn used_lists_stay_and_the_budget_is_kept() {
        let budget = 64 * 1024;
        let store = OptionStore::new(budget);
        let listed =
            |atom: Atom, complete| GeneratedOptions { list: vec![atom | END; 12].into(), complete };
        let bytes = bytes_of(&listed(0, true));
        for atom in 0..100_000 {
            store.insert(atom, listed(atom, true));
            assert_eq!(store.get(atom), Some(listed(atom, true)));
            // Seven lists are used again and again, so they stay in the store.
            assert_eq!(store.get(atom % 7), Some(listed(atom % 7, true)), "{atom}");
            assert!(store.bytes() <= budget + SHARDS as u64 * bytes);
        }
        assert_eq!(store.get(1000), None);
        let kept = (0..100_000).filter(|&atom| store.get(atom).is_some()).count() as u64;
        assert!(kept * bytes > budget / 4, "{kept}");
        // Not much more than necessary is evicted.
        for budget in [budget / 2, budget / 10, 0] {
            store.set_budget(budget);
            assert!(store.bytes() <= budget && store.bytes() >= budget / 2);
        }
    }

    #[test]
    fn complete_lists_replace_incomplete_ones() {
        let store = OptionStore::new(64 * 1024);
        let listed =
            |words: u32, complete| GeneratedOptions { list: (0..words).collect(), complete };
        for (inserted, kept) in [
            (listed(3, false), listed(3, false)),
            (listed(5, false), listed(3, false)),
            (listed(9, true), listed(9, true)),
            (listed(3, false), listed(9, true)),
            (listed(7, true), listed(9, true)),
        ] {
            store.insert(4, inserted);
            assert_eq!(store.get(4), Some(kept.clone()));
            assert_eq!(store.bytes(), bytes_of(&kept));
        }
    }
}
