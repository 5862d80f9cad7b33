//! What searches of one game share, and what one search leaves for the next: Grundy numbers,
//! options, and the numbers of open couples.

use super::game::{Atom, Impartial};
use super::knowledge::GrundyStore;
use super::options::hardness;
use super::store::{Store, cancel};
use crate::Value;
use crate::run::MemoryUse;
use crate::split_mix;
use crate::table::{Table, TableError};

/// A position: a sum of atoms and a nim heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The atoms, none of them twice.
    atoms: Vec<Atom>,
    /// The size of the nim heap.
    nimber: u32,
}

impl Sum {
    /// The sum of some atoms and the nim heap *`nimber`; equal atoms cancel.
    pub fn new<G: Impartial>(game: &G, atoms: &[Atom], nimber: u32) -> Self {
        let mut atoms = atoms.to_vec();
        cancel(&mut atoms, |atom| hardness(game.features(atom)));
        Sum { atoms, nimber }
    }

    /// The atoms that are left, the hardest last, as their lives and options say.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// The size of the nim heap.
    pub fn nimber(&self) -> u32 {
        self.nimber
    }
}

/// The part of the memory that the table takes.
const TABLE_SHARE: u64 = 4;
/// The part that the store must have at the least, or searches stop.
const LEAST_STORE_SHARE: u64 = 16;

/// Grundy numbers, options and the table of one game; shared by reference between threads.
///
/// All proof-number searches with one workspace must have the same [`super::SearchOptions`], or the
/// numbers that one leaves mislead the next. They never make a result wrong.
pub struct SolverState<'g, G: Impartial> {
    pub(super) game: &'g G,
    pub(super) knowledge: GrundyStore,
    pub(super) store: Store,
    pub(super) table: Table,
    memory_bytes: u64,
}

/// What a [`SolverState`] holds beside the game, for owners of the game who cannot hold a reference to
/// it as well.
pub struct Shelved {
    knowledge: GrundyStore,
    store: Store,
    table: Table,
    memory_bytes: u64,
}

impl<'g, G: Impartial> SolverState<'g, G> {
    /// An empty workspace for at most `memory_bytes` bytes, with the game's own tables. At most
    /// a quarter is for the table; that is reserved at once, and used and counted as it fills.
    ///
    /// # Errors
    /// [`TableError`] if that is too little, or the system refuses.
    pub fn new(game: &'g G, memory_bytes: u64) -> Result<Self, TableError> {
        let table = Table::new((memory_bytes / TABLE_SHARE) as usize)?;
        let store = Store::new(memory_bytes / 2);
        Ok(SolverState { game, knowledge: GrundyStore::new(), store, table, memory_bytes })
    }

    /// Puts everything aside but the game.
    pub fn shelve(self) -> Shelved {
        let SolverState { knowledge, store, table, memory_bytes, .. } = self;
        Shelved { knowledge, store, table, memory_bytes }
    }

    /// Takes up what was put aside; of the same game, or all of it is wrong.
    pub fn take_up(game: &'g G, shelved: Shelved) -> Self {
        let Shelved { knowledge, store, table, memory_bytes } = shelved;
        SolverState { game, knowledge, store, table, memory_bytes }
    }

    /// The Grundy number of a sum, if those of all its atoms are known.
    pub fn grundy(&self, sum: &Sum) -> Option<u32> {
        let number = |&atom: &Atom| self.knowledge.get(atom).grundy();
        sum.atoms.iter().map(number).try_fold(sum.nimber, |all, number| Some(all ^ number?))
    }

    /// Who wins a sum for the side to move, if it follows from what is known about each of its atoms.
    pub fn value(&self, sum: &Sum) -> Option<Value> {
        let (mut nimber, mut open) = (sum.nimber, None);
        for &atom in &sum.atoms {
            let known = self.knowledge.get(atom);
            match known.grundy() {
                Some(number) => nimber ^= number,
                None if open.is_some() => return None,
                None => open = Some(known),
            }
        }
        match open {
            None if nimber == 0 => Some(Value::Loss),
            Some(known) if !known.excludes(nimber) => None,
            _ => Some(Value::Win),
        }
    }

    /// What is known about Grundy numbers. Numbers that are set here are believed.
    pub fn knowledge(&self) -> &GrundyStore {
        &self.knowledge
    }

    /// The table of the numbers of open couples.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Bytes of everything that is in use.
    pub fn bytes(&self) -> u64 {
        self.fixed_bytes() + self.store.bytes()
    }

    /// What cannot be given back.
    fn fixed_bytes(&self) -> u64 {
        self.game.bytes() + self.knowledge.bytes() + self.table.used_bytes() as u64
    }

    /// Whether the table should grow now that it has so many entries, and there is memory for it.
    pub(super) fn table_wants_growth(&self, used: u64) -> bool {
        self.table.wants_growth(used) && {
            let fixed = self.fixed_bytes() + self.table.used_bytes() as u64;
            fixed + self.memory_bytes / LEAST_STORE_SHARE <= self.memory_bytes
        }
    }

    /// Divides the memory anew. `own` bytes of the caller's count as well.
    pub(super) fn balance(&self, own: u64) -> MemoryUse {
        let fixed = self.fixed_bytes() + own;
        let rest = self.memory_bytes.saturating_sub(fixed);
        self.store.set_budget(rest);
        let is_full = rest < self.memory_bytes / LEAST_STORE_SHARE;
        MemoryUse { bytes: fixed + self.store.bytes(), is_full }
    }
}

/// The exact code of a couple.
#[inline(always)]
pub(super) fn code_of(atom: Atom, nimber: u32) -> u64 {
    u64::from(nimber) << 32 | u64::from(atom)
}

/// The couple of a code.
#[inline(always)]
pub(super) fn couple_of(code: u64) -> (Atom, u32) {
    (code as Atom, (code >> 32) as u32)
}

/// A mixed key of a code, whose upper bits choose the cluster.
#[inline(always)]
pub(super) fn key_of(code: u64) -> u64 {
    split_mix::mix(code.wrapping_add(split_mix::STEP))
}
