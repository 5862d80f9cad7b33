//! The state that searches of a game share and that is kept between searches: Grundy numbers,
//! options, and the numbers of open couples. [`SolverState`] is this state; [`Sum`] is a position.

use super::game::{Atom, Impartial};
use super::knowledge::GrundyStore;
use super::options::difficulty;
use super::store::{OptionStore, cancel_pairs};
use crate::Value;
use crate::run::MemoryUse;
use crate::split_mix;
use crate::table::{Table, TableError};

/// A position: a sum of atoms and a nim heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The atoms, all distinct.
    atoms: Vec<Atom>,
    /// Size of the nim heap.
    nimber: u32,
}

impl Sum {
    /// Creates the sum of some atoms and the nim heap *`nimber`. Equal atoms are cancelled in pairs.
    pub fn new<G: Impartial>(game: &G, atoms: &[Atom], nimber: u32) -> Self {
        let mut atoms = atoms.to_vec();
        cancel_pairs(&mut atoms, |atom| difficulty(game.features(atom)));
        Sum { atoms, nimber }
    }

    /// Returns the atoms that are left, sorted by estimated difficulty, the hardest last.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Returns the size of the nim heap.
    pub fn nimber(&self) -> u32 {
        self.nimber
    }
}

/// Divisor of the memory for the table's share.
const TABLE_DIVISOR: u64 = 4;
/// Divisor of the memory for the minimum share of the store. A search stops if the store would have less.
const MIN_STORE_DIVISOR: u64 = 16;

/// Grundy numbers, options and the table of one game. It is shared by reference between threads.
///
/// All proof-number searches with the same state should have the same [`super::SearchOptions`]. Otherwise numbers
/// stored by one search are poor estimates for the next. They never make a result wrong.
pub struct SolverState<'g, G: Impartial> {
    pub(super) game: &'g G,
    pub(super) knowledge: GrundyStore,
    pub(super) store: OptionStore,
    pub(super) table: Table,
    memory_bytes: u64,
}

/// The parts of a [`SolverState`] without the reference to the game, for owners of the game that cannot store a
/// reference to it as well.
pub struct SolverParts {
    knowledge: GrundyStore,
    store: OptionStore,
    table: Table,
    memory_bytes: u64,
}

impl<'g, G: Impartial> SolverState<'g, G> {
    /// Creates an empty state for at most `memory_bytes` bytes, including the game's own tables. At most
    /// a quarter is for the table. Its address space is reserved at once; its memory is used and counted as it fills.
    ///
    /// # Errors
    /// [`TableError`] if the memory is too small or cannot be allocated.
    pub fn new(game: &'g G, memory_bytes: u64) -> Result<Self, TableError> {
        let table = Table::new((memory_bytes / TABLE_DIVISOR) as usize)?;
        let store = OptionStore::new(memory_bytes / 2);
        Ok(SolverState { game, knowledge: GrundyStore::new(), store, table, memory_bytes })
    }

    /// Returns the state without the game.
    pub fn into_parts(self) -> SolverParts {
        let SolverState { knowledge, store, table, memory_bytes, .. } = self;
        SolverParts { knowledge, store, table, memory_bytes }
    }

    /// Creates a state from the parts of an earlier one. The game must be the same, because all data refers to its
    /// ids.
    pub fn from_parts(game: &'g G, parts: SolverParts) -> Self {
        let SolverParts { knowledge, store, table, memory_bytes } = parts;
        SolverState { game, knowledge, store, table, memory_bytes }
    }

    /// Returns the Grundy number of a sum, if those of all its atoms are known.
    pub fn grundy(&self, sum: &Sum) -> Option<u32> {
        let number = |&atom: &Atom| self.knowledge.get(atom).grundy();
        sum.atoms.iter().map(number).try_fold(sum.nimber, |all, number| Some(all ^ number?))
    }

    /// Returns the value of a sum for the side to move, if it follows from the results about its atoms.
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

    /// Returns the results about Grundy numbers. Numbers that are set there are trusted without verification.
    pub fn knowledge(&self) -> &GrundyStore {
        &self.knowledge
    }

    /// Returns the table of the numbers of open couples.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the bytes in use.
    pub fn bytes(&self) -> u64 {
        self.fixed_bytes() + self.store.bytes()
    }

    /// Returns the bytes in use that setting a budget cannot free.
    fn fixed_bytes(&self) -> u64 {
        self.game.bytes() + self.knowledge.bytes() + self.table.used_bytes() as u64
    }

    /// Returns true if the table should grow with `used` entries and there is memory for it.
    pub(super) fn table_wants_growth(&self, used: u64) -> bool {
        self.table.wants_growth(used) && {
            let fixed = self.fixed_bytes() + self.table.used_bytes() as u64;
            fixed + self.memory_bytes / MIN_STORE_DIVISOR <= self.memory_bytes
        }
    }

    /// Updates the budget of the store and returns the memory in use. `own` are bytes of the caller, which also count.
    pub(super) fn balance(&self, own: u64) -> MemoryUse {
        let fixed = self.fixed_bytes() + own;
        let rest = self.memory_bytes.saturating_sub(fixed);
        self.store.set_budget(rest);
        let is_full = rest < self.memory_bytes / MIN_STORE_DIVISOR;
        MemoryUse { bytes: fixed + self.store.bytes(), is_full }
    }
}

/// Returns the exact code of a couple.
#[inline(always)]
pub(super) fn code_of(atom: Atom, nimber: u32) -> u64 {
    u64::from(nimber) << 32 | u64::from(atom)
}

/// Returns the couple of a code.
#[inline(always)]
pub(super) fn couple_of(code: u64) -> (Atom, u32) {
    (code as Atom, (code >> 32) as u32)
}

/// Returns a mixed key of a code. Its upper bits are the index of the cluster.
#[inline(always)]
pub(super) fn key_of(code: u64) -> u64 {
    split_mix::mix(code.wrapping_add(split_mix::STEP))
}
