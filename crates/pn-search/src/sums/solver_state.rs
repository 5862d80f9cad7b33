//! The state that searches of a game share and that is kept between searches: Grundy numbers,
//! options, and the numbers of open couples. [`SolverState`] is this state; [`Sum`] is a position.

use std::sync::Arc;

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

    /// Returns the atoms that have not been cancelled, sorted by estimated difficulty, the hardest last.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Returns the size of the nim heap.
    pub fn nimber(&self) -> u32 {
        self.nimber
    }
}

/// The table gets at most the memory divided by this number.
const TABLE_DIVISOR: u64 = 4;
/// The option store gets at least the memory divided by this number. A search stops if less memory is left for it.
const MIN_STORE_DIVISOR: u64 = 16;

/// Grundy numbers, options and the table of one game. The state is shared by reference between threads.
///
/// All proof-number searches with the same state should have the same [`super::SearchOptions`]. Otherwise the phi and
/// delta that one search stores are poor estimates for the next search. But they never make a result wrong.
pub struct SolverState<G: Impartial> {
    pub(super) game: Arc<G>,
    pub(super) knowledge: GrundyStore,
    pub(super) store: OptionStore,
    pub(super) table: Table,
    memory_bytes: u64,
}

impl<G: Impartial> SolverState<G> {
    /// Creates an empty state for at most `memory_bytes` bytes, including the game's own tables. At most a quarter is
    /// for the table. The table's address space is reserved at once; its memory is used and counted as the table fills.
    ///
    /// # Errors
    /// [`TableError`] if the memory is too small or cannot be allocated.
    pub fn new(game: Arc<G>, memory_bytes: u64) -> Result<Self, TableError> {
        let table = Table::new((memory_bytes / TABLE_DIVISOR) as usize)?;
        let store = OptionStore::new(memory_bytes / 2);
        let knowledge = GrundyStore::new();
        Ok(SolverState { game, knowledge, store, table, memory_bytes })
    }

    /// Returns the game.
    pub fn game(&self) -> &G {
        &self.game
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

    /// Returns the table with phi and delta of open couples.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the bytes in use.
    pub fn bytes(&self) -> u64 {
        self.fixed_bytes() + self.store.bytes()
    }

    /// Returns the bytes in use outside the option store. A smaller budget of the option store does not free them.
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

    /// Sets the budget of the option store to the memory that all other data leaves. Returns the memory in use. `own`
    /// is the number of bytes that the caller uses; it is included.
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

/// Returns a well-mixed key of a code. The upper bits of the key are the index of the table's cluster.
#[inline(always)]
pub(super) fn key_of(code: u64) -> u64 {
    split_mix::mix(code.wrapping_add(split_mix::STEP))
}
