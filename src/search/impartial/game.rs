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

/// A list of options, each a list of atoms, in flat arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where each option ends in `atoms`.
    ends: Vec<u32>,
    atoms: Vec<Atom>,
}

impl Options {
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
        options: &mut Options,
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
