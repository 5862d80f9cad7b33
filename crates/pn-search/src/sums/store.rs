//! The options of atoms: generated once, packed, and shared by all threads and all nimbers. Those
//! that are likely to be good may be there before the others.
//!
//! # Layout
//!
//! An option is a row of words, one for each atom, the last one with its highest bit set; the
//! finished game is the word [`EMPTY`]. Equal atoms have cancelled in pairs (P + P = 0), and of
//! options that are equal then one is left. The atoms of an option stand in the order of their
//! lives and options, so that the last one is likely to be the hardest: its Grundy number need not be
//! known. Options that were made later stand behind the others.
//!
//! # Memory
//!
//! Lists are kept in shards of two generations. A list that is used moves to the young generation;
//! when that takes half of the shard's budget, the old one is dropped and the young one grows old.
//! So lists that have not been used for long go first, at no cost for those that are.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use ahash::HashMap;

use super::game::{Atom, EarlyExit, GameFull, Impartial, MAX_ATOM, OptionList, OptionSubset};
use super::options::hardness;

/// The finished game as an option.
const EMPTY: u32 = u32::MAX;
const END: u32 = 1 << 31;
const SHARDS: usize = 64;
/// Bytes of a list beside its words, with its place in the map.
const LIST_BYTES: u64 = 64;

/// A packed list of options.
pub(super) type List = Arc<[u32]>;

/// Options of an atom that have been generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub list: List,
    /// Whether these are all.
    pub complete: bool,
}

/// The atom of a word.
#[inline(always)]
pub(super) fn atom_of(word: u32) -> Atom {
    word & !END
}

/// The options of a list with the places where they start; the atoms of each are [`atom_of`] its
/// words.
pub(super) fn options_of(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    rows_of(words).map(|(start, row)| (start, option_of(row)))
}

/// The option that starts at a place.
#[inline(always)]
pub(super) fn option_at(words: &[u32], start: u32) -> &[u32] {
    option_of(row_at(words, start as usize))
}

/// The rows of a list with the places where they start.
fn rows_of(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut start = 0;
    std::iter::from_fn(move || {
        (start < words.len()).then(|| {
            let row = row_at(words, start);
            let place = start as u32;
            start += row.len();
            (place, row)
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

/// A list of one option, whose atoms do not cancel.
pub(super) fn list_of(atoms: &[Atom]) -> List {
    match atoms.split_last() {
        None => List::from([EMPTY]),
        Some((&last, first)) => first.iter().copied().chain([last | END]).collect(),
    }
}

/// Sorts the atoms of a sum and cancels equal ones in pairs.
pub(super) fn cancel(atoms: &mut Vec<Atom>, mut hardness: impl FnMut(Atom) -> u32) {
    atoms.sort_unstable_by_key(|&atom| (hardness(atom), atom));
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

/// What a worker makes lists with.
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
    /// A share of the options of an atom, behind those that have been made before, or nothing if one
    /// was enough. [`GameFull`] if the game has no room or the search has to stop.
    pub fn make(
        &mut self,
        game: &G,
        atom: Atom,
        share: OptionSubset,
        before: &[u32],
        questions: EarlyExit<'_>,
    ) -> Result<Option<List>, GameFull> {
        let mut raw = std::mem::take(&mut self.raw).reuse(share, questions);
        let made = game.options(atom, &mut self.scratch, &mut raw);
        let (raw, enough) = raw.unasked();
        self.raw = raw;
        if enough {
            return Ok(None);
        }
        made?;
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
            cancel(&mut self.atoms, |atom| hardness(game.features(atom)));
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
        Ok(Some(List::from(&self.words[..])))
    }
}

#[derive(Default)]
struct Generation {
    lists: HashMap<Atom, Listed>,
    bytes: u64,
}

#[derive(Default)]
struct Shard {
    young: Generation,
    old: Generation,
}

/// The lists that are kept.
pub(super) struct Store {
    shards: Box<[Mutex<Shard>]>,
    bytes: AtomicU64,
    budget: AtomicU64,
    /// The shard that is next to lose lists when the budget shrinks.
    turn: AtomicU32,
}

impl Store {
    /// A store of about `budget` bytes at most.
    pub fn new(budget: u64) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        let (bytes, budget) = (AtomicU64::new(0), AtomicU64::new(budget));
        Store { shards, bytes, budget, turn: AtomicU32::new(0) }
    }

    fn shard(&self, atom: Atom) -> std::sync::MutexGuard<'_, Shard> {
        // The lists are whole at any time, so a thread that died holding the lock does no harm.
        self.shards[atom as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The list of an atom, if it is kept.
    pub fn get(&self, atom: Atom) -> Option<Listed> {
        let shard = &mut *self.shard(atom);
        if let Some(listed) = shard.young.lists.get(&atom) {
            return Some(listed.clone());
        }
        let listed = shard.old.lists.remove(&atom)?;
        shard.old.bytes -= bytes_of(&listed);
        self.keep(shard, atom, listed.clone());
        Some(listed)
    }

    /// Keeps the list of an atom, if none with as many options is kept.
    pub fn insert(&self, atom: Atom, listed: Listed) {
        let shard = &mut *self.shard(atom);
        let young = &mut shard.young;
        if let Some(kept) = young.lists.get(&atom) {
            if kept.complete || !listed.complete {
                return;
            }
            young.bytes -= bytes_of(kept);
            self.bytes.fetch_sub(bytes_of(kept), Relaxed);
        }
        self.bytes.fetch_add(bytes_of(&listed), Relaxed);
        self.keep(shard, atom, listed);
    }

    fn keep(&self, shard: &mut Shard, atom: Atom, listed: Listed) {
        shard.young.bytes += bytes_of(&listed);
        shard.young.lists.insert(atom, listed);
        if shard.young.bytes > self.budget.load(Relaxed) / (2 * SHARDS as u64) {
            self.bytes.fetch_sub(shard.old.bytes, Relaxed);
            shard.old = std::mem::take(&mut shard.young);
        }
    }

    /// Changes the budget. What is above it goes, the older generations of some shards first.
    pub fn set_budget(&self, budget: u64) {
        self.budget.store(budget, Relaxed);
        for _ in 0..2 * SHARDS {
            if self.bytes() <= budget {
                return;
            }
            // Another shard every time, so that all lose alike.
            let shard = &mut *self.shard(self.turn.fetch_add(1, Relaxed));
            self.bytes.fetch_sub(shard.old.bytes, Relaxed);
            shard.old = std::mem::take(&mut shard.young);
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
}

fn bytes_of(listed: &Listed) -> u64 {
    4 * listed.list.len() as u64 + LIST_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::impartial_games::Declared;

    #[test]
    fn equal_atoms_cancel_and_equal_options_are_one() {
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
        let mut maker = OptionGenerator::default();
        let mut make = |share, before: &[u32]| {
            let made = maker.make(&game, two, share, before, EarlyExit::default()).unwrap();
            made.expect("nobody had enough")
        };
        let list = make(OptionSubset::All, &[]);
        let options: Vec<Vec<Atom>> = options_of(&list)
            .map(|(start, option)| {
                assert_eq!(option_at(&list, start), option);
                option.iter().map(|&word| atom_of(word)).collect()
            })
            .collect();
        // By lives, so the harder part comes last.
        let expected: [&[Atom]; 3] = [&[], &[one], &[zero, one]];
        for option in expected {
            assert_eq!(options.iter().filter(|&found| found == option).count(), 1, "{option:?}");
        }
        assert_eq!(options.len(), expected.len());
        // The rest comes behind the first, without those that are among these.
        let first = make(OptionSubset::First, &[]);
        let both = make(OptionSubset::Rest, &first);
        assert!(first.len() < both.len() && both.starts_with(&first));
        let sorted = |list: &[u32]| {
            let mut rows: Vec<Vec<u32>> = rows_of(list).map(|(_, row)| row.to_vec()).collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(sorted(&both), sorted(&list));
    }

    #[test]
    fn what_is_used_stays_and_the_budget_holds() {
        let budget = 64 * 1024;
        let store = Store::new(budget);
        let listed = |atom: Atom, complete| Listed { list: vec![atom | END; 12].into(), complete };
        let bytes = bytes_of(&listed(0, true));
        for atom in 0..100_000 {
            store.insert(atom, listed(atom, true));
            assert_eq!(store.get(atom), Some(listed(atom, true)));
            // Looked at all the time.
            assert_eq!(store.get(atom % 7), Some(listed(atom % 7, true)), "{atom}");
            assert!(store.bytes() <= budget + SHARDS as u64 * bytes);
        }
        assert_eq!(store.get(1000), None);
        let kept = (0..100_000).filter(|&atom| store.get(atom).is_some()).count() as u64;
        assert!(kept * bytes > budget / 4, "{kept}");
        // Not much more is lost than has to be.
        for budget in [budget / 2, budget / 10, 0] {
            store.set_budget(budget);
            assert!(store.bytes() <= budget && store.bytes() >= budget / 2);
        }
    }

    #[test]
    fn all_options_take_the_place_of_the_first() {
        let store = Store::new(64 * 1024);
        let listed = |words: u32, complete| Listed { list: (0..words).collect(), complete };
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
