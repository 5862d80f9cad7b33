//! Atoms and couples by their names, and what processes tell each other about them: ids are each
//! one's own.

use ahash::{HashMap, HashMapExt, HashSet};
use serde::{Deserialize, Serialize};

use super::contradiction::excluded;
use crate::numbers::{INFINITY, Number};
use crate::sums::evaluate::Evaluator;
use crate::sums::game::{Atom, GameFull, Impartial};
use crate::sums::knowledge::{EXCLUSIONS, MAX_GRUNDY};
use crate::sums::store::{List, options_of};
use crate::sums::workspace::{SolverState, code_of, key_of};
use crate::table::{Entry, Table};

/// An impartial game whose atoms have names that mean the same in every process.
pub trait Named: Impartial {
    /// The name of an atom.
    ///
    /// # Panics
    /// If the id was not given out by this game.
    fn name(&self, atom: Atom) -> String;

    /// The atom with this name. The text may be anything; if no atom is called so, there is none.
    ///
    /// # Errors
    /// [`GameFull`] if the atom is new and has no room.
    fn find(&self, name: &str, scratch: &mut Self::Scratch) -> Result<Option<Atom>, GameFull>;
}

/// A couple of an atom and a nim heap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Couple {
    /// The atom's name.
    pub atom: String,
    /// The size of the heap.
    pub nimber: u32,
}

/// A Grundy number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrundyNumber {
    /// The atom's name.
    pub atom: String,
    /// Its number.
    pub number: u32,
}

/// What somebody knows of an atom whose Grundy number he does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// The atom's name.
    pub atom: String,
    /// The numbers that it does not have, as bits.
    excluded: u64,
    /// The numbers of open couples.
    couples: Vec<OpenCouple>,
}

/// Numbers of an open couple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OpenCouple {
    nimber: u32,
    phi: Number,
    delta: Number,
    work: u64,
}

impl Hints {
    /// The numbers that the atom does not have, for people.
    pub(super) fn excluded_text(&self) -> String {
        excluded(self.excluded)
    }

    /// Whether this can be said of an atom, whichever it is.
    pub(super) fn is_sound(&self) -> bool {
        let open = 1..INFINITY;
        let is_sound = |couple: &OpenCouple| {
            couple.nimber <= MAX_GRUNDY
                && open.contains(&couple.phi)
                && open.contains(&couple.delta)
        };
        self.excluded & !EXCLUSIONS == 0 && self.couples.iter().all(is_sound)
    }
}

/// Why something cannot be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LearnError {
    /// There is no room for an atom.
    Full,
    /// It contradicts what is known.
    Contradiction,
}

impl From<GameFull> for LearnError {
    fn from(GameFull: GameFull) -> Self {
        LearnError::Full
    }
}

impl<'a, G: Named> Evaluator<'a, G, &'a Table> {
    /// Takes over a Grundy number; whether it is news. What names no atom, or a number that the atom
    /// cannot have, is none.
    pub(super) fn learn(
        &mut self,
        fact: &GrundyNumber,
        scratch: &mut G::Scratch,
    ) -> Result<bool, LearnError> {
        let SolverState { game, knowledge, .. } = self.workspace;
        let &GrundyNumber { ref atom, number } = fact;
        let Some(atom) = game.find(atom, scratch)? else { return Ok(false) };
        if number > game.features(atom).lives.min(MAX_GRUNDY) {
            return Ok(false);
        }
        let known = knowledge.get(atom);
        match known.grundy() {
            Some(other) if other == number => return Ok(false),
            None if !known.excludes(number) => {}
            _ => return Err(LearnError::Contradiction),
        }
        self.set_grundy(atom, number);
        Ok(true)
    }

    /// Takes over hints, which are sound. What names no atom says nothing.
    pub(super) fn take_over(
        &mut self,
        hints: &Hints,
        scratch: &mut G::Scratch,
    ) -> Result<(), LearnError> {
        let SolverState { game, knowledge, table, .. } = self.workspace;
        let Hints { atom, excluded, couples } = hints;
        let Some(atom) = game.find(atom, scratch)? else { return Ok(()) };
        if !knowledge.get(atom).allows(*excluded) {
            return Err(LearnError::Contradiction);
        }
        self.exclude(atom, *excluded);
        if knowledge.get(atom).grundy().is_some() {
            return Ok(());
        }
        for &OpenCouple { nimber, phi, delta, work } in couples {
            let code = code_of(atom, nimber);
            let own = table.lookup(key_of(code), code);
            // Own numbers of more work are the better ones, and values are never lost to numbers.
            if self.value(atom, nimber).is_none() && own.is_none_or(|own| own.work <= work) {
                let entry = Entry { phi, delta, work };
                self.monitor.counters.stored(table.store(key_of(code), code, entry));
            }
        }
        Ok(())
    }

    /// Calls `each` with the couples that decide about the numbers of a couple's children.
    fn couples_below(
        &mut self,
        atom: Atom,
        nimber: u32,
        list: &List,
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
                // Which part is left out depends on the ids, so all are sent.
                ref parts => parts.iter().for_each(|&atom| each(atom, self.current(atom))),
            }
        }
    }

    /// What is known of the couples directly below a couple, and of the couple's atom.
    pub(super) fn hints_below(&mut self, atom: Atom, nimber: u32, list: &List) -> Vec<Hints> {
        let mut collection = Collection::new(self.workspace);
        collection.add(atom, nimber);
        self.couples_below(atom, nimber, list, |atom, nimber| collection.add(atom, nimber));
        collection.hints
    }
}

/// Hints that are being collected.
struct Collection<'w, 'g, G: Impartial> {
    workspace: &'w SolverState<'g, G>,
    hints: Vec<Hints>,
    /// Where an atom's are.
    places: HashMap<Atom, usize>,
    seen: HashSet<u64>,
}

impl<'w, 'g, G: Named> Collection<'w, 'g, G> {
    fn new(workspace: &'w SolverState<'g, G>) -> Self {
        let (places, seen) = (HashMap::new(), HashSet::default());
        Collection { workspace, hints: Vec::new(), places, seen }
    }

    /// Adds what is known of a couple.
    fn add(&mut self, atom: Atom, nimber: u32) {
        let SolverState { game, knowledge, table, .. } = self.workspace;
        let code = code_of(atom, nimber);
        let known = knowledge.get(atom);
        if !self.seen.insert(code) || known.grundy().is_some() {
            return;
        }
        let entry = table.lookup(key_of(code), code);
        let entry = entry.filter(|entry| entry.value().is_none() && !known.excludes(nimber));
        if known.is_nothing() && entry.is_none() {
            return;
        }
        let place = *self.places.entry(atom).or_insert_with(|| {
            let (atom, excluded) = (game.name(atom), known.exclusions());
            self.hints.push(Hints { atom, excluded, couples: Vec::new() });
            self.hints.len() - 1
        });
        if let Some(Entry { phi, delta, work }) = entry {
            self.hints[place].couples.push(OpenCouple { nimber, phi, delta, work });
        }
    }
}
