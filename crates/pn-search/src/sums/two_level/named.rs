//! Atoms, couples and results in the form in which processes exchange them: with the names of atoms, because each
//! process has its own ids.
//!
//! - [`Named`] is a game whose atoms have names.
//! - [`Couple`], [`GrundyNumber`] and [`Hints`] are the contents of messages. Grundy numbers are written by
//!   [`append_numbers`] and read by [`numbers_in`].
//! - [`HintCollector`] collects the hints below a couple.

use ahash::{HashMap, HashMapExt, HashSet};
use serde::{Deserialize, Serialize};

use super::contradiction::excluded;
use crate::numbers::{INFINITY, Number};
use crate::sums::evaluate::TableEvaluator;
use crate::sums::game::{Atom, GameFull, Impartial};
use crate::sums::knowledge::{EXCLUSIONS, MAX_GRUNDY};
use crate::sums::store::{PackedList, options_of};
use crate::sums::workspace::{SolverState, code_of, key_of};
use crate::table::Entry;

/// An impartial game whose atoms have names that mean the same in every process.
///
/// A name contains all of the atom, so equal names mean equal atoms, and a result can not be assigned to another atom
/// by mistake.
pub trait Named: Impartial {
    /// Appends the name of an atom, of fewer than 2^16 bytes, to `name`.
    ///
    /// # Panics
    /// If the id was not assigned by this game.
    fn append_name(&self, atom: Atom, name: &mut Vec<u8>);

    /// Returns the atom with this name, or `None` if no atom can have this name. Names come from other processes, and
    /// a look-up has to be fast. So a game may accept the name of an atom that no position contains: nothing will ask
    /// for its results.
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

/// The Grundy number of an atom, as in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrundyNumber<'m> {
    /// Name of the atom.
    pub atom: &'m [u8],
    /// The number.
    pub number: u32,
}

/// Bytes of a Grundy number in a message before the name: the number and the length of the name, two bytes each,
/// little-endian.
const NUMBER_HEAD: usize = 4;

impl GrundyNumber<'_> {
    /// Appends the Grundy number to the bytes of a message.
    ///
    /// # Panics
    /// If the number exceeds [`MAX_GRUNDY`].
    pub(super) fn append_to(self, bytes: &mut Vec<u8>) {
        let GrundyNumber { atom, number } = self;
        let [number, length] = [number as usize, atom.len()].map(|part| {
            u16::try_from(part).expect("numbers and lengths of names fit").to_le_bytes()
        });
        bytes.extend([number, length].as_flattened());
        bytes.extend_from_slice(atom);
    }
}

/// Appends Grundy numbers of atoms to the bytes of a message.
///
/// # Panics
/// If a number exceeds [`MAX_GRUNDY`].
pub(super) fn append_numbers<G: Named>(game: &G, numbers: &[(Atom, u32)], bytes: &mut Vec<u8>) {
    let mut name = Vec::new();
    for &(atom, number) in numbers {
        name.clear();
        game.append_name(atom, &mut name);
        GrundyNumber { atom: &name, number }.append_to(bytes);
    }
}

/// Returns the Grundy numbers in the bytes of a message, up to the first one that is not complete (`None`).
pub(super) fn numbers_in(mut bytes: &[u8]) -> impl Iterator<Item = Option<GrundyNumber<'_>>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let found = bytes.split_first_chunk::<NUMBER_HEAD>().and_then(|(head, rest)| {
            let [number, length] = [[head[0], head[1]], [head[2], head[3]]].map(u16::from_le_bytes);
            let (atom, rest) = rest.split_at_checked(length.into())?;
            Some((GrundyNumber { atom, number: number.into() }, rest))
        });
        bytes = found.map_or(&[], |(_, rest)| rest);
        Some(found.map(|(number, _)| number))
    })
}

/// Excluded Grundy numbers of an atom, and phi and delta of its open couples. The sender has not computed the atom's
/// Grundy number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Name of the atom.
    #[serde(with = "serde_bytes")]
    pub atom: Vec<u8>,
    /// Numbers that are not the Grundy number, as bits.
    excluded: u64,
    couples: Vec<OpenCouple>,
}

/// Phi, delta and search effort of an open couple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OpenCouple {
    nimber: u32,
    phi: Number,
    delta: Number,
    work: u64,
}

impl Hints {
    /// Describes the excluded numbers for messages.
    pub(super) fn excluded_text(&self) -> String {
        excluded(self.excluded)
    }

    /// Returns true if an atom with these hints can exist.
    pub(super) fn is_valid(&self) -> bool {
        let open = 1..INFINITY;
        let is_valid = |couple: &OpenCouple| {
            couple.nimber <= MAX_GRUNDY
                && open.contains(&couple.phi)
                && open.contains(&couple.delta)
        };
        self.excluded & !EXCLUSIONS == 0 && self.couples.iter().all(is_valid)
    }
}

/// Error of the import of results or hints.
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
    /// Imports a Grundy number. Returns true if it was not known before. If `result` has a name that no atom has, or a
    /// number that the atom cannot have, it is ignored.
    pub(super) fn import_number(
        &mut self,
        result: GrundyNumber<'_>,
        scratch: &mut G::Scratch,
    ) -> Result<bool, ImportError> {
        let SolverState { game, knowledge, .. } = self.workspace;
        let GrundyNumber { atom, number } = result;
        let Some(atom) = game.find(atom, scratch)? else { return Ok(false) };
        if number > game.features(atom).lives.min(MAX_GRUNDY) {
            return Ok(false);
        }
        let known = knowledge.get(atom);
        match known.grundy() {
            Some(other) if other == number => return Ok(false),
            None if !known.excludes(number) => {}
            _ => return Err(ImportError::Contradiction(atom)),
        }
        self.set_grundy(atom, number);
        Ok(true)
    }

    /// Imports valid hints ([`Hints::is_valid`]). Hints with a name that no atom has are ignored.
    pub(super) fn import_hints(
        &mut self,
        hints: &Hints,
        scratch: &mut G::Scratch,
    ) -> Result<(), ImportError> {
        let SolverState { game, knowledge, table, .. } = self.workspace;
        let Hints { atom, excluded, couples } = hints;
        let Some(atom) = game.find(atom, scratch)? else { return Ok(()) };
        if !knowledge.get(atom).allows(*excluded) {
            return Err(ImportError::Contradiction(atom));
        }
        self.exclude(atom, *excluded);
        if knowledge.get(atom).grundy().is_some() {
            return Ok(());
        }
        for &OpenCouple { nimber, phi, delta, work } in couples {
            let code = code_of(atom, nimber);
            let own = table.lookup(key_of(code), code);
            // An open couple is stored unless the own table has an entry of more search effort.
            if self.value(atom, nimber).is_none() && own.is_none_or(|own| own.work <= work) {
                let entry = Entry { phi, delta, work };
                self.monitor.counters.stored(table.store(key_of(code), code, entry));
            }
        }
        Ok(())
    }

    /// Calls `each` with the couples that determine the numbers of a couple's children.
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

    /// Returns hints for a couple and for the couples directly below it.
    pub(super) fn hints_below(&mut self, atom: Atom, nimber: u32, list: &PackedList) -> Vec<Hints> {
        let mut collector = HintCollector::new(self.workspace);
        collector.add(atom, nimber);
        self.couples_below(atom, nimber, list, |atom, nimber| collector.add(atom, nimber));
        collector.hints
    }
}

/// Collects hints.
struct HintCollector<'w, 'g, G: Impartial> {
    workspace: &'w SolverState<'g, G>,
    hints: Vec<Hints>,
    /// Index of each atom in `hints`.
    indices: HashMap<Atom, usize>,
    /// Codes of the couples that have been added.
    added: HashSet<u64>,
}

impl<'w, 'g, G: Named> HintCollector<'w, 'g, G> {
    fn new(workspace: &'w SolverState<'g, G>) -> Self {
        let (indices, added) = (HashMap::new(), HashSet::default());
        HintCollector { workspace, hints: Vec::new(), indices, added }
    }

    /// Adds the excluded Grundy numbers of an atom, and phi and delta of its couple with `nimber`, if they are stored.
    fn add(&mut self, atom: Atom, nimber: u32) {
        let SolverState { game, knowledge, table, .. } = self.workspace;
        let code = code_of(atom, nimber);
        let known = knowledge.get(atom);
        if !self.added.insert(code) || known.grundy().is_some() {
            return;
        }
        let entry = table.lookup(key_of(code), code);
        let entry = entry.filter(|entry| entry.value().is_none() && !known.excludes(nimber));
        if known.is_empty() && entry.is_none() {
            return;
        }
        let index = *self.indices.entry(atom).or_insert_with(|| {
            let (mut name, excluded) = (Vec::new(), known.exclusions());
            game.append_name(atom, &mut name);
            self.hints.push(Hints { atom: name, excluded, couples: Vec::new() });
            self.hints.len() - 1
        });
        if let Some(Entry { phi, delta, work }) = entry {
            self.hints[index].couples.push(OpenCouple { nimber, phi, delta, work });
        }
    }
}
