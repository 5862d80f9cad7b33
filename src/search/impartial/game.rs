//! What the search asks of an impartial game.
//!
//! A position is a sum of atoms: parts that do not fall apart themselves, of which a player moves in
//! one. The game gives every atom an id; a sum is the list of its atoms, and the empty list is the
//! finished game. Who cannot move loses.

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
pub struct Full;

/// What the order of children wants to know about an atom (Lemoine and Viennot 2015).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// At least the number of moves that can still be made in the atom, so at least its Grundy
    /// number too. In Sprouts, the curve ends that are still free.
    pub lives: u32,
    /// About how many options the atom has.
    pub estimated_options: u32,
}

/// A question that is asked now and then while options are being generated.
#[derive(Clone, Copy, Default)]
struct Stop<'s>(Option<&'s (dyn Fn() -> bool + Sync)>);

impl std::fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "asked" } else { "never" })
    }
}

/// A list of options, each a list of atoms, in flat arrays.
#[derive(Clone, Debug, Default)]
pub struct Options<'s> {
    /// Where each option ends in `atoms`.
    ends: Vec<u32>,
    atoms: Vec<Atom>,
    stop: Stop<'s>,
    calls: u32,
}

/// Calls of [`Options::keep_on`] between two questions: less than a millisecond.
const CALLS: u32 = 256;

impl Options<'_> {
    /// An empty list in the memory of another one, for a generation that is given up when `stop`
    /// becomes true.
    pub(super) fn reuse<'t>(self, stop: Stopper<'t>) -> Options<'t> {
        let mut options =
            Options { ends: self.ends, atoms: self.atoms, stop: Stop(stop), calls: 0 };
        options.clear();
        options
    }

    /// The same list, which nobody asks about any more.
    pub(super) fn unasked(self) -> Options<'static> {
        Options { ends: self.ends, atoms: self.atoms, stop: Stop(None), calls: 0 }
    }

    /// To be called by [`Impartial::options`] for every move that it looks at, if an atom may have
    /// so many that a limit of the search can be reached meanwhile.
    ///
    /// # Errors
    /// [`Full`] if the search has to stop: the list will not be used.
    #[inline]
    pub fn keep_on(&mut self) -> Result<(), Full> {
        self.calls += 1;
        if self.calls.is_multiple_of(CALLS) && self.stop.0.is_some_and(|stop| stop()) {
            return Err(Full);
        }
        Ok(())
    }

    /// Adds an option.
    pub fn push(&mut self, atoms: &[Atom]) {
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

/// Says whether a generation of options is to be given up.
pub(super) type Stopper<'t> = Option<&'t (dyn Fn() -> bool + Sync)>;

/// An impartial game under normal play, without cycles.
///
/// It is shared between threads; what writing down options needs is in the scratch space, of which
/// every worker has its own.
pub trait Impartial: Sync {
    /// Working memory of one worker.
    type Scratch: Default + Send;

    /// Appends the options (children) of an atom. Each is a sum of atoms, in any order; equal atoms
    /// may stand in it twice, and the search cancels them. No atom is its own descendant.
    ///
    /// # Errors
    /// [`Full`] if an option has no room in the game's tables; the list may be incomplete then.
    fn options(
        &self,
        atom: Atom,
        scratch: &mut Self::Scratch,
        options: &mut Options<'_>,
    ) -> Result<(), Full>;

    /// What the order of children wants to know. Called often, so it should be a look-up.
    fn features(&self, atom: Atom) -> Features;

    /// Bytes that the game's tables of positions take now. They count against the memory of the
    /// search.
    fn bytes(&self) -> u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generation_is_given_up_when_asked_to() {
        let asked = std::sync::atomic::AtomicU32::new(0);
        let stop = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2;
        let mut options = Options::default().reuse(Some(&stop));
        let calls = (0..).find(|_| options.keep_on().is_err());
        assert_eq!(calls, Some(3 * CALLS - 1));
        assert!((0..10_000).all(|_| Options::default().keep_on().is_ok()));
    }

    #[test]
    fn options_keep_their_borders() {
        let mut options = Options::default();
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
