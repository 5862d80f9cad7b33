//! What the search asks of an impartial game.
//!
//! A position is a sum of atoms: parts that do not fall apart themselves, of which a player moves in
//! one. The game gives every atom an id; a sum is the list of its atoms, and the empty list is the
//! finished game. Who cannot move loses.

use crate::error::ErrorKind;

/// Id of an atomic (indecomposable, non-empty) position, given out by the game; dense from 0 and at
/// most [`MAX_ATOM`].
pub type Atom = u32;

/// The greatest id that the search can handle: the highest bit of a word is its own.
pub const MAX_ATOM: Atom = (1 << 31) - 2;

/// The game has no more ids, or no memory for more positions.
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

/// What the order of children wants to know about an atom (Lemoine and Viennot 2015).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomFeatures {
    /// At least the number of moves that can still be made in the atom, so at least its Grundy
    /// number too. In Sprouts, the curve ends that are still free.
    pub lives: u32,
    /// About how many options the atom has.
    pub estimated_options: u32,
}

/// How likely it is that a Grundy number is 0, 1, 2, …; the last one stands for all from there on. The
/// sum is 65 535, but for rounding.
pub type Odds = [u16; 6];

/// Which options of an atom are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptionSubset {
    /// All of them.
    #[default]
    All,
    /// Those that are likely to be good.
    First,
    /// The others.
    Rest,
}

/// Whether an option is all that needs to be known.
pub(super) type Enough<'s> = dyn Fn(&[Atom]) -> bool + Sync + 's;

/// Conditions under which the generation of options ends early. If one of them holds, the list is
/// not needed any more.
#[derive(Clone, Copy, Default)]
pub(super) struct EarlyExit<'s> {
    /// Asked now and then: whether the search has to stop.
    pub stop: Option<&'s (dyn Fn() -> bool + Sync)>,
    /// Asked about every option: whether nothing else needs to be known about the atom.
    pub enough: Option<&'s Enough<'s>>,
}

impl std::fmt::Debug for EarlyExit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let asked = [("stop", self.stop.is_some()), ("enough", self.enough.is_some())];
        f.debug_set()
            .entries(asked.iter().filter(|(_, asked)| *asked).map(|(name, _)| name))
            .finish()
    }
}

/// Which atoms are to be kept.
pub type Keep<'k> = dyn Fn(Atom) -> bool + Sync + 'k;

/// Whether to stop: what takes long asks now and then.
pub type Stop<'s> = dyn Fn() -> bool + Sync + 's;

/// What [`Impartial::retain`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Atoms that were kept.
    pub kept: u64,
    /// Atoms that were forgotten.
    pub forgotten: u64,
}

/// A list of options, each a list of atoms, in flat arrays.
#[derive(Clone, Debug, Default)]
pub struct OptionList<'s> {
    /// Where each option ends in `atoms`.
    ends: Vec<u32>,
    atoms: Vec<Atom>,
    share: OptionSubset,
    questions: EarlyExit<'s>,
    calls: u32,
    /// Whether one of the options was enough.
    enough: bool,
}

/// Calls of [`OptionList::keep_on`] between two questions: less than a millisecond.
const CALLS: u32 = 256;

impl<'s> OptionList<'s> {
    /// An empty list whose generation is given up once `stop` says so.
    pub fn until(stop: &'s Stop<'s>) -> Self {
        OptionList {
            questions: EarlyExit { stop: Some(stop), enough: None },
            ..OptionList::default()
        }
    }
}

impl OptionList<'_> {
    /// An empty list in the memory of another one, for a generation that is given up when the
    /// answer to a question is yes.
    pub(super) fn reuse<'t>(self, share: OptionSubset, questions: EarlyExit<'t>) -> OptionList<'t> {
        let OptionList { ends, atoms, .. } = self;
        let mut options = OptionList { ends, atoms, share, questions, calls: 0, enough: false };
        options.clear();
        options
    }

    /// The same list, which nobody asks about any more, and whether one option was enough.
    pub(super) fn unasked(self) -> (OptionList<'static>, bool) {
        let OptionList { ends, atoms, enough, .. } = self;
        (OptionList { ends, atoms, ..OptionList::default() }, enough)
    }

    /// To be called by [`Impartial::options`] for every move that it looks at, if an atom may have
    /// so many that a limit of the search can be reached meanwhile.
    ///
    /// Three quarters of all atoms of a search are asked for a single heap, and an option that is
    /// known already wins there.
    ///
    /// # Errors
    /// [`GameFull`] if the search has to stop, or if it has got what it needs: the list will not be used.
    #[inline]
    pub fn keep_on(&mut self) -> Result<(), GameFull> {
        self.calls += 1;
        let asks = self.calls.is_multiple_of(CALLS);
        if self.enough || (asks && self.questions.stop.is_some_and(|stop| stop())) {
            return Err(GameFull);
        }
        Ok(())
    }

    /// Which options are wanted. A game may append others as well, so one that does not tell them
    /// apart need not ask; an option that it has appended to [`OptionSubset::First`] may come again.
    pub fn share(&self) -> OptionSubset {
        self.share
    }

    /// Adds an option.
    pub fn push(&mut self, atoms: &[Atom]) {
        if let Some(enough) = self.questions.enough {
            self.enough |= enough(atoms);
        }
        self.atoms.extend_from_slice(atoms);
        self.ends.push(self.atoms.len() as u32);
    }

    /// The options in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &[Atom]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.atoms[start as usize..end as usize])
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets all of them and keeps the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.atoms.clear();
    }
}

/// An impartial game under normal play, without cycles.
///
/// It is shared between threads; what writing down options needs is in the scratch space, of which
/// every worker has its own.
pub trait Impartial: Sync {
    /// Working memory of one worker.
    type Scratch: Default + Send;

    /// Appends the options (children) of an atom, or the [`OptionList::share`] of them that is wanted.
    /// Each is a sum of atoms, in any order; equal atoms may stand in it twice, and the search cancels
    /// them. No atom is its own descendant.
    ///
    /// # Errors
    /// [`GameFull`] if an option has no room in the game's tables; the list may be incomplete then.
    fn options(
        &self,
        atom: Atom,
        scratch: &mut Self::Scratch,
        options: &mut OptionList<'_>,
    ) -> Result<(), GameFull>;

    /// What the order of children wants to know. Called often, so it should be a look-up.
    fn features(&self, atom: Atom) -> AtomFeatures;

    /// A guess at the Grundy number, if the game has one. It decides what is searched first, and no
    /// result. Called often, so it should be a look-up.
    fn odds(&self, _atom: Atom) -> Option<&Odds> {
        None
    }

    /// Bytes that the game's tables of positions take now. They count against the memory of the
    /// search.
    fn bytes(&self) -> u64;

    /// Forgets the atoms that need not be kept, so that there is room for others; those may get
    /// their ids. The others keep theirs. A search that has used up its memory calls this while it
    /// stands still, and nobody else may use the game meanwhile. Runs in rayon's current pool, if
    /// it has much to do. Once `stop` says so, the rest is kept as well.
    ///
    /// A game whose tables do not grow forgets nothing.
    fn retain(&self, _keep: &Keep<'_>, _stop: &Stop<'_>) -> Retained {
        Retained::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generation_is_given_up_when_asked_to() {
        let asked = std::sync::atomic::AtomicU32::new(0);
        let stop = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2;
        let questions = EarlyExit { stop: Some(&stop), enough: None };
        let mut options = OptionList::default().reuse(OptionSubset::All, questions);
        let calls = (0..).find(|_| options.keep_on().is_err());
        assert_eq!(calls, Some(3 * CALLS - 1));
        assert!((0..10_000).all(|_| OptionList::default().keep_on().is_ok()));
    }

    #[test]
    fn generation_is_given_up_when_an_option_is_enough() {
        let enough = |atoms: &[Atom]| atoms == [7];
        let questions = EarlyExit { stop: None, enough: Some(&enough) };
        let mut options = OptionList::default().reuse(OptionSubset::All, questions);
        for atoms in [&[][..], &[1, 7], &[8]] {
            options.push(atoms);
            assert!(options.keep_on().is_ok());
        }
        options.push(&[7]);
        options.push(&[2]);
        assert!(options.keep_on().is_err());
        let (options, enough) = options.unasked();
        assert!(enough && !options.reuse(OptionSubset::All, EarlyExit::default()).unasked().1);
    }

    #[test]
    fn options_keep_their_borders() {
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
