//! The interface between the search and an impartial game.
//!
//! A position is a sum of atoms, which are positions that are not sums themselves. A move changes one atom. The
//! game assigns an id to every atom. A sum is the list of its atoms; the empty list is the finished game. A player
//! who cannot move loses.
//!
//! - [`Impartial`] is a game.
//! - [`OptionList`] receives the options of an atom; [`OptionSubset`] selects some of them, and `EarlyExit` ends
//!   their generation early.
//! - [`AtomFeatures`] and [`Odds`] are estimates for an atom.
//! - [`GameFull`] is the error of a game without memory; [`Retained`] is the result of freeing memory.

use crate::error::ErrorKind;

/// Id of an atomic (indecomposable, non-empty) position, assigned by the game. Ids are dense from 0 and at
/// most [`MAX_ATOM`].
pub type Atom = u32;

/// Maximum id. The search stores an id in the lower 31 bits of a word, with a flag in the highest bit. The word with
/// all bits set has a meaning of its own.
pub const MAX_ATOM: Atom = (1 << 31) - 2;

/// Error: the game has no more ids, or no memory for more positions. [`OptionList::poll`] also returns it to end the
/// generation of options early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no room for more positions of the game: ids are below 2^31, and memory is limited; \
     allow more memory or ask about a smaller position"
)]
pub struct GameFull;

impl GameFull {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Limit
    }
}

/// Features of an atom that determine the order of children (Lemoine and Viennot 2015).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomFeatures {
    /// Upper bound on the number of moves that can still be made in the atom. The atom's Grundy number does not exceed
    /// it either. In Sprouts, it is the number of free curve ends.
    pub lives: u32,
    /// Estimated number of options of the atom.
    pub estimated_options: u32,
}

/// Estimated probabilities of the Grundy numbers 0, 1, 2, 3, 4, and 5 or more, as multiples of 1/65 535. They add up to
/// 65 535, except for rounding.
pub type Odds = [u16; 6];

/// Selection of the options of an atom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptionSubset {
    /// All options.
    #[default]
    All,
    /// Options that are likely to be good.
    First,
    /// All other options.
    Rest,
}

/// Function that returns true if an option decides the search of the atom.
pub(super) type OptionPredicate<'s> = dyn Fn(&[Atom]) -> bool + Sync + 's;

/// Conditions under which the generation of options ends early. If one of them holds, the list of options is not
/// needed.
#[derive(Clone, Copy, Default)]
pub(super) struct EarlyExit<'s> {
    /// Polled at intervals. Returns true if the search has to stop.
    pub stop: Option<&'s (dyn Fn() -> bool + Sync)>,
    /// Called for every option. Returns true if the option decides the search of the atom.
    pub is_decisive: Option<&'s OptionPredicate<'s>>,
}

impl std::fmt::Debug for EarlyExit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EarlyExit")
            .field("stop", &self.stop.is_some())
            .field("is_decisive", &self.is_decisive.is_some())
            .finish()
    }
}

/// Function that returns true if an atom has to be kept.
pub type Keep<'k> = dyn Fn(Atom) -> bool + Sync + 'k;

/// Function that returns true if a long operation has to stop. It is polled at intervals.
pub type Stop<'s> = dyn Fn() -> bool + Sync + 's;

/// Result of [`Impartial::retain`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Number of atoms that were kept.
    pub kept: u64,
    /// Number of atoms that were evicted.
    pub evicted: u64,
}

/// A list of options, each a list of atoms, in flat arrays.
#[derive(Clone, Debug, Default)]
pub struct OptionList<'s> {
    /// End of each option in `atoms`.
    ends: Vec<u32>,
    atoms: Vec<Atom>,
    subset: OptionSubset,
    early_exit: EarlyExit<'s>,
    calls: u32,
    /// True if one of the options is decisive.
    is_decided: bool,
}

/// Number of calls of [`OptionList::poll`] for each call of [`EarlyExit::stop`]. They take less than a millisecond.
const POLL_INTERVAL: u32 = 256;

impl<'s> OptionList<'s> {
    /// Creates an empty list whose generation ends when `stop` returns true.
    pub fn with_stop(stop: &'s Stop<'s>) -> Self {
        OptionList {
            early_exit: EarlyExit { stop: Some(stop), is_decisive: None },
            ..OptionList::default()
        }
    }
}

impl OptionList<'_> {
    /// Empties the list for a new generation of options. The memory of the list is used again.
    pub(super) fn reuse<'t>(
        self,
        subset: OptionSubset,
        early_exit: EarlyExit<'t>,
    ) -> OptionList<'t> {
        let OptionList { ends, atoms, .. } = self;
        let mut options =
            OptionList { ends, atoms, subset, early_exit, calls: 0, is_decided: false };
        options.clear();
        options
    }

    /// Ends the generation. Returns the list without its conditions for an early exit, and true if an option is
    /// decisive.
    pub(super) fn finish(self) -> (OptionList<'static>, bool) {
        let OptionList { ends, atoms, is_decided, .. } = self;
        (OptionList { ends, atoms, ..OptionList::default() }, is_decided)
    }

    /// Polls the conditions for an early exit. [`Impartial::options`] has to call this function for every move that it
    /// generates, unless the options of any atom are generated in a short time compared with the limits of a search.
    ///
    /// Early exits are frequent. Three quarters of all atoms of a search are expanded with a single nim heap only, and
    /// this couple is won by an option with a known Grundy number.
    ///
    /// # Errors
    /// [`GameFull`] if the search has to stop, or if an option is decisive. [`Impartial::options`] has to return this
    /// error; then the list is not used.
    #[inline]
    pub fn poll(&mut self) -> Result<(), GameFull> {
        self.calls += 1;
        let polls_stop = self.calls.is_multiple_of(POLL_INTERVAL);
        if self.is_decided || (polls_stop && self.early_exit.stop.is_some_and(|stop| stop())) {
            return Err(GameFull);
        }
        Ok(())
    }

    /// Returns the subset of options to generate. A game may always append options outside this subset. So a game that
    /// does not distinguish likely options may ignore the subset, and a game may append options of
    /// [`OptionSubset::First`] again when [`OptionSubset::Rest`] is requested.
    pub fn subset(&self) -> OptionSubset {
        self.subset
    }

    /// Adds an option.
    pub fn push(&mut self, atoms: &[Atom]) {
        if let Some(is_decisive) = self.early_exit.is_decisive {
            self.is_decided |= is_decisive(atoms);
        }
        self.atoms.extend_from_slice(atoms);
        self.ends.push(self.atoms.len() as u32);
    }

    /// Returns the options in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &[Atom]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.atoms[start as usize..end as usize])
    }

    /// Returns the number of options.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no options.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all options and keeps the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.atoms.clear();
    }
}

/// An impartial game under normal play, without cycles.
///
/// It is shared between threads. Every worker has its own scratch memory for the generation of options.
pub trait Impartial: Send + Sync {
    /// Scratch memory of a worker.
    type Scratch: Default + Send;

    /// Appends the options (children) of an atom, at least those of [`OptionList::subset`]. Each option is a sum of
    /// atoms, in any order. An option may contain equal atoms; the search cancels them in pairs. No atom may be its own
    /// descendant.
    ///
    /// # Errors
    /// [`GameFull`] if the game's tables have no memory for an option, or if [`OptionList::poll`] returns this error.
    /// Then the list may be incomplete.
    fn options(
        &self,
        atom: Atom,
        scratch: &mut Self::Scratch,
        options: &mut OptionList<'_>,
    ) -> Result<(), GameFull>;

    /// Returns the features of an atom. This function is called often, so it should be a look-up.
    fn features(&self, atom: Atom) -> AtomFeatures;

    /// Returns estimated probabilities of the Grundy numbers of an atom, if the game has them. They influence the
    /// order of the search, but never a result. This function is called often, so it should be a look-up.
    fn odds(&self, _atom: Atom) -> Option<&Odds> {
        None
    }

    /// Returns the bytes used by the game's tables of positions. They count towards the memory of the search.
    fn bytes(&self) -> u64;

    /// Evicts the atoms for which `keep` returns false, to free memory. Ids of evicted atoms may be assigned to other
    /// atoms; the kept atoms keep their ids. This function is called when the search has used up its memory and all
    /// workers have stopped. No other thread may use the game at the same time. If there is much to do, the work may be
    /// divided among the threads of the current rayon pool. When `stop` returns true, all remaining atoms are kept.
    ///
    /// A game whose tables do not grow evicts nothing.
    fn retain(&self, _keep: &Keep<'_>, _stop: &Stop<'_>) -> Retained {
        Retained::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generation_ends_when_the_search_stops() {
        let polls = std::sync::atomic::AtomicU32::new(0);
        let stop = || polls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2;
        let early_exit = EarlyExit { stop: Some(&stop), is_decisive: None };
        let mut options = OptionList::default().reuse(OptionSubset::All, early_exit);
        let calls = (0..).find(|_| options.poll().is_err());
        assert_eq!(calls, Some(3 * POLL_INTERVAL - 1));
        assert!((0..10_000).all(|_| OptionList::default().poll().is_ok()));
    }

    #[test]
    fn generation_ends_when_an_option_is_decisive() {
        let is_decisive = |atoms: &[Atom]| atoms == [7];
        let early_exit = EarlyExit { stop: None, is_decisive: Some(&is_decisive) };
        let mut options = OptionList::default().reuse(OptionSubset::All, early_exit);
        for atoms in [&[][..], &[1, 7], &[8]] {
            options.push(atoms);
            assert!(options.poll().is_ok());
        }
        options.push(&[7]);
        options.push(&[2]);
        assert!(options.poll().is_err());
        let (options, is_decided) = options.finish();
        assert!(is_decided && !options.reuse(OptionSubset::All, EarlyExit::default()).finish().1);
    }

    #[test]
    fn options_are_returned_as_they_were_added() {
        let mut options = OptionList::default();
        let lists: [&[Atom]; 4] = [&[], &[3], &[1, 2], &[]];
        for list in lists {
            options.push(list);
        }
        assert_eq!(options.iter().collect::<Vec<_>>(), lists);
        assert_eq!(options.len(), 4);
        options.clear();
        assert!(options.is_empty());
        assert_eq!(options.iter().count(), 0);
    }
}
