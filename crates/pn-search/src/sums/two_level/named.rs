//! Atoms, couples and results in the form in which processes exchange them: with the names of atoms, because each
//! process has its own ids.
//!
//! - [`Named`] is a game whose atoms have names.
//! - [`Couple`] and [`SharedCouple`] are the contents of messages. Shared couples are written by [`couple_bytes`] and
//!   read by [`couples_in`].

use ahash::HashSet;
use serde::{Deserialize, Serialize};

use super::contradiction;
use crate::Value;
use crate::sums::evaluate::TableEvaluator;
use crate::sums::game::{Atom, GameFull, Impartial};
use crate::sums::knowledge::{GrundyStore, MAX_GRUNDY, TRACKED};
use crate::sums::solver_state::{SolverState, code_of, couple_of, key_of};
use crate::sums::store::{PackedList, atom_of, options_of};
use crate::table::{Entry, entry};

/// An impartial game whose atoms have names that mean the same in every process.
///
/// A name contains all of the atom, so equal names mean equal atoms, and a result cannot be assigned to another atom
/// by mistake.
pub trait Named: Impartial {
    /// Appends the name of an atom, of fewer than 2^15 bytes, to `name`.
    ///
    /// # Panics
    /// If the id was not assigned by this game.
    fn append_name(&self, atom: Atom, name: &mut Vec<u8>);

    /// Returns the atom with this name, or `None` if no atom can have this name. Names come from other processes, and
    /// a look-up has to be fast. So a game may accept the name of an atom that no position contains: no search reads its
    /// results.
    ///
    /// # Errors
    /// [`GameFull`] if the atom is new and there is no memory for it.
    fn find(&self, name: &[u8], scratch: &mut Self::Scratch) -> Result<Option<Atom>, GameFull>;

    /// Returns an atom as text, for messages to people.
    ///
    /// # Panics
    /// If the id was not assigned by this game.
    fn atom_text(&self, atom: Atom) -> String;
}

/// A couple of an atom and a nim heap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Couple {
    /// Name of the atom.
    #[serde(with = "serde_bytes")]
    pub atom: Vec<u8>,
    /// Size of the nim heap.
    pub nimber: u32,
}

/// A couple with its phi, delta and search effort, as in a message. If the couple is lost, its nimber is the Grundy
/// number of its atom; if it is won, its nimber is excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedCouple<'m> {
    /// Name of the atom.
    pub atom: &'m [u8],
    /// Size of the nim heap.
    pub nimber: u32,
    /// Phi, delta and search effort.
    pub entry: Entry,
}

/// Bytes of a couple in a message before the name: the nimber and the length of the name, two bytes each. All numbers
/// are little-endian.
const HEAD: usize = 4;

/// Flag in the length of the name: after the head follow phi, delta and the search effort in eight bytes, as in the
/// upper half of a table cell ([`entry`]). They are left out if the couple is lost, because most couples in messages are.
const HAS_ENTRY: u16 = 1 << 15;

impl SharedCouple<'_> {
    /// Appends the couple to the bytes of a message.
    ///
    /// # Panics
    /// If the nimber or the length of the name is too large.
    pub(super) fn append_to(self, bytes: &mut Vec<u8>) {
        let SharedCouple { atom, nimber, entry } = self;
        assert!(atom.len() < HAS_ENTRY.into(), "names are shorter than 2^15 bytes");
        let nimber = u16::try_from(nimber).expect("nimbers fit into 16 bits");
        let mut length = atom.len() as u16;
        let is_lost = entry.value() == Some(Value::Loss);
        length |= if is_lost { 0 } else { HAS_ENTRY };
        bytes.extend([nimber, length].map(u16::to_le_bytes).as_flattened());
        if !is_lost {
            bytes.extend(((entry.pack(0) >> 64) as u64).to_le_bytes());
        }
        bytes.extend_from_slice(atom);
    }

    /// Describes a solved couple for messages to people.
    pub(super) fn text(self) -> String {
        match self.entry.value() {
            Some(Value::Loss) => contradiction::number(self.nimber),
            _ => contradiction::couple(self.nimber, Value::Win),
        }
    }

    /// Reads the first couple of some bytes. Returns it with the other bytes, or `None` if the bytes are invalid.
    fn read(bytes: &[u8]) -> Option<(SharedCouple<'_>, &[u8])> {
        let (&[n0, n1, l0, l1], mut rest) = bytes.split_first_chunk::<HEAD>()?;
        let [nimber, length] = [[n0, n1], [l0, l1]].map(u16::from_le_bytes);
        let mut entry = Entry::solved(Value::Loss, 1);
        if length & HAS_ENTRY != 0 {
            let (&numbers, after) = rest.split_first_chunk()?;
            let cell = u128::from(u64::from_le_bytes(numbers)) << 64;
            entry = Some(Entry::unpack(cell)).filter(|_| entry::is_valid(cell))?;
            rest = after;
        }
        let (atom, rest) = rest.split_at_checked((length & !HAS_ENTRY).into())?;
        let nimber = u32::from(nimber);
        (nimber <= MAX_GRUNDY).then_some((SharedCouple { atom, nimber, entry }, rest))
    }
}

/// Returns couples, given by their codes, as bytes of a message.
pub(super) fn couple_bytes<G: Named>(
    game: &G,
    couples: impl IntoIterator<Item = (u64, Entry)>,
) -> Vec<u8> {
    let (mut bytes, mut name) = (Vec::new(), Vec::new());
    for (code, entry) in couples {
        let (atom, nimber) = couple_of(code);
        name.clear();
        game.append_name(atom, &mut name);
        SharedCouple { atom: &name, nimber, entry }.append_to(&mut bytes);
    }
    bytes
}

/// Returns the code and the entry of the couple that is lost because an atom has this Grundy number.
pub(super) fn lost_couple((atom, number): (Atom, u32)) -> (u64, Entry) {
    (code_of(atom, number), Entry::solved(Value::Loss, 1))
}

/// Returns the couples in the bytes of a message, up to the first one that is invalid (`None`).
pub(super) fn couples_in(mut bytes: &[u8]) -> impl Iterator<Item = Option<SharedCouple<'_>>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let read = SharedCouple::read(bytes);
        bytes = read.map_or(&[], |(_, rest)| rest);
        Some(read.map(|(couple, _)| couple))
    })
}

/// Error of the import of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportError {
    /// There is no memory for an atom.
    Full,
    /// The imported data contradicts earlier results about this atom.
    Contradiction(Atom),
}

impl From<GameFull> for ImportError {
    fn from(GameFull: GameFull) -> Self {
        ImportError::Full
    }
}

impl<G: Named> TableEvaluator<'_, G> {
    /// Imports a couple. Returns true if it was not known before. A couple with a name that no atom has, or with a
    /// number that the atom cannot have, is ignored. An open couple is ignored if the own table has an entry of at least
    /// as much search effort.
    pub(super) fn import(
        &mut self,
        couple: SharedCouple<'_>,
        scratch: &mut G::Scratch,
    ) -> Result<bool, ImportError> {
        let SolverState { game, knowledge, table, .. } = self.state;
        let SharedCouple { atom, nimber, entry } = couple;
        let Some(atom) = game.find(atom, scratch)? else { return Ok(false) };
        let known = knowledge.get(atom);
        match entry.value() {
            Some(Value::Loss) if nimber > game.features(atom).lives => return Ok(false),
            Some(Value::Loss) if known.grundy() == Some(nimber) => return Ok(false),
            Some(Value::Loss) if known.excludes(nimber) => {
                return Err(ImportError::Contradiction(atom));
            }
            Some(Value::Loss) => self.set_grundy(atom, nimber),
            Some(Value::Win)
                if known.grundy() == Some(nimber) || !known.allows(GrundyStore::bit(nimber)) =>
            {
                return Err(ImportError::Contradiction(atom));
            }
            _ if self.value(atom, nimber).is_some() => return Ok(false),
            Some(Value::Win) => self.solved(atom, nimber, Value::Win, entry.work),
            None => {
                let code = code_of(atom, nimber);
                let own = table.lookup(key_of(code), code);
                if own.is_some_and(|own| own.work >= entry.work) {
                    return Ok(false);
                }
                self.monitor.counters.stored(table.store(key_of(code), code, entry));
            }
        }
        Ok(true)
    }

    /// Calls `each` with the open couples that determine the numbers of a couple's children.
    fn couples_below(
        &mut self,
        atom: Atom,
        nimber: u32,
        list: &PackedList,
        mut each: impl FnMut(Atom, u32),
    ) {
        for smaller in 0..nimber {
            each(atom, smaller);
        }
        for (_, option) in options_of(list) {
            let rest = self.reduce(option, nimber);
            match self.open[..] {
                [] => {}
                [atom] => each(atom, rest),
                // A search omits the last part. Which part is the last may depend on the ids of the process, so all
                // parts are included.
                ref parts => parts.iter().for_each(|&atom| each(atom, self.current(atom))),
            }
        }
    }

    /// Returns results about a couple and the couples directly below it, as bytes of a message.
    pub(super) fn results_below(&mut self, atom: Atom, nimber: u32, list: &PackedList) -> Vec<u8> {
        let mut codes = vec![code_of(atom, nimber)];
        self.couples_below(atom, nimber, list, |atom, nimber| codes.push(code_of(atom, nimber)));
        let SolverState { game, knowledge, table, .. } = self.state;
        let (mut couples, mut added) = (Vec::new(), HashSet::default());
        let mut atoms = HashSet::default();
        let parts = options_of(list).flat_map(|(_, option)| option.iter().copied().map(atom_of));
        for atom in parts {
            if let Some(number) = knowledge.get(atom).grundy()
                && atoms.insert(atom)
            {
                couples.push(lost_couple((atom, number)));
            }
        }
        for code in codes {
            let (atom, nimber) = couple_of(code);
            let known = knowledge.get(atom);
            if known.grundy().is_some() || !added.insert(code) {
                continue;
            }
            if atoms.insert(atom) {
                // Every process excludes the numbers above the number of lives itself.
                let excluded = (0..=game.features(atom).lives.min(TRACKED - 1))
                    .filter(|&number| known.excludes(number));
                let won = |number| (code_of(atom, number), Entry::solved(Value::Win, 1));
                couples.extend(excluded.map(won));
            }
            let entry = table.lookup(key_of(code), code);
            let is_open = |entry: &Entry| entry.value().is_none() && !known.excludes(nimber);
            couples.extend(entry.filter(is_open).map(|entry| (code, entry)));
        }
        couple_bytes(&**game, couples)
    }
}
