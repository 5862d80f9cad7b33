//! Small impartial games for tests of searches.
//!
//! * [`Octal`]: octal games, such as Nim, Kayles and Dawson's Kayles.
//! * [`GrundysGame`]: Grundy's game.
//! * [`Declared`]: games that are given as lists of options.

use super::random::Random;
use crate::sums::{Atom, AtomFeatures, GameFull, Impartial, Named, OptionList, OptionSubset};

/// A game of heaps whose rules are given by octal digits (Guy and Smith 1956; Winning Ways, ch. 4).
///
/// Digit `i` is the sum of the permitted results of taking `i` pieces from a heap: no heap (1), one heap (2), two
/// heaps (4). The atom of a heap of size `n` is `n - 1`.
#[derive(Clone, Debug)]
pub struct Octal {
    digits: Vec<u8>,
    /// True if the last digit is repeated without end.
    repeats: bool,
}

impl Octal {
    /// Creates a game from its digits after the point.
    ///
    /// # Panics
    /// If a digit is above 7.
    pub fn new(digits: &[u8], repeats: bool) -> Self {
        assert!(digits.iter().all(|&digit| digit < 8), "octal digits are 0 to 7: {digits:?}");
        Octal { digits: digits.to_vec(), repeats }
    }

    /// Nim, 0.333…: take any number of pieces from one heap. The Grundy number of a heap is its size.
    pub fn nim() -> Self {
        Octal::new(&[3], true)
    }

    /// Kayles, 0.77: take one or two pieces from a heap, and leave the rest as one heap or two.
    pub fn kayles() -> Self {
        Octal::new(&[7, 7], false)
    }

    /// Dawson's Kayles, 0.07: take two pieces from a heap, and leave the rest as one heap or two.
    pub fn dawsons_kayles() -> Self {
        Octal::new(&[0, 7], false)
    }

    /// Returns the atom of a heap of at least one piece.
    ///
    /// # Panics
    /// For an empty heap, which is no atom.
    pub fn heap(size: u32) -> Atom {
        size.checked_sub(1).expect("an empty heap is no atom")
    }
}

impl Impartial for Octal {
    type Scratch = ();

    fn options(
        &self,
        atom: Atom,
        _: &mut (),
        options: &mut OptionList<'_>,
    ) -> Result<(), GameFull> {
        let size = atom + 1;
        for taken in 1..=size {
            let index = taken as usize - 1;
            let digit = match self.digits.get(index) {
                Some(&digit) => digit,
                None if self.repeats => self.digits[self.digits.len() - 1],
                None => break,
            };
            let rest = size - taken;
            if rest == 0 && digit & 1 != 0 {
                options.push(&[]);
            }
            if rest > 0 && digit & 2 != 0 {
                options.push(&[Octal::heap(rest)]);
            }
            if digit & 4 != 0 {
                for small in 1..=rest / 2 {
                    options.push(&[Octal::heap(small), Octal::heap(rest - small)]);
                }
            }
        }
        Ok(())
    }

    fn features(&self, atom: Atom) -> AtomFeatures {
        AtomFeatures { lives: atom + 1, estimated_options: atom + 1 }
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// Grundy's game (Grundy 1939): split a heap into two unequal ones. The atom of a heap of size `n`
/// is `n - 1`.
#[derive(Clone, Copy, Debug)]
pub struct GrundysGame;

impl Impartial for GrundysGame {
    type Scratch = ();

    fn options(
        &self,
        atom: Atom,
        _: &mut (),
        options: &mut OptionList<'_>,
    ) -> Result<(), GameFull> {
        let size = atom + 1;
        for small in 1..size.div_ceil(2) {
            options.push(&[Octal::heap(small), Octal::heap(size - small)]);
        }
        Ok(())
    }

    fn features(&self, atom: Atom) -> AtomFeatures {
        AtomFeatures { lives: atom, estimated_options: atom / 2 }
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// Implements [`Named`] with the ids of atoms as names.
macro_rules! named_by_number {
    ($($game:ty),+) => {$(
        impl Named for $game {
            fn append_name(&self, atom: Atom, name: &mut Vec<u8>) {
                name.extend(atom.to_le_bytes());
            }

            fn find(&self, name: &[u8], _: &mut Self::Scratch) -> Result<Option<Atom>, GameFull> {
                Ok(name.try_into().ok().map(Atom::from_le_bytes))
            }

            fn atom_text(&self, atom: Atom) -> String {
                atom.to_string()
            }
        }
    )+};
}
named_by_number!(Octal, GrundysGame, Declared);

/// A game that is declared option by option. The options of an atom consist of atoms with lower ids.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    options: Vec<OptionList<'static>>,
    features: Vec<AtomFeatures>,
}

impl Declared {
    /// Creates a game without atoms.
    pub fn new() -> Self {
        Declared::default()
    }

    /// Adds an atom with its options and returns it.
    ///
    /// # Panics
    /// If an option contains an atom that has not been added before.
    pub fn add(&mut self, options: &[&[Atom]]) -> Atom {
        let atom = self.options.len() as Atom;
        let mut list = OptionList::default();
        let mut lives = 0;
        for option in options {
            assert!(option.iter().all(|&part| part < atom), "options consist of earlier atoms");
            list.push(option);
            let of = |&part: &Atom| self.features[part as usize].lives;
            lives = lives.max(option.iter().map(of).fold(1, u32::saturating_add));
        }
        self.features.push(AtomFeatures { lives, estimated_options: list.len() as u32 });
        self.options.push(list);
        atom
    }

    /// Creates a random game of `atoms` atoms with up to `degree` options of up to three atoms each. It is the same
    /// for the same arguments. Some options have equal atoms, and some atoms have equal options.
    pub fn random(seed: u64, atoms: u32, degree: u32) -> Self {
        let mut random = Random(seed);
        let mut game = Declared::new();
        for atom in 0..atoms {
            // Atoms with near ids make the game deep; atoms with distant ids make transpositions.
            let reach = 1 + random.below(atom.clamp(1, 12).into()) as u32;
            let count = if atom == 0 { 0 } else { random.below(u64::from(degree) + 1) };
            let mut options = Vec::new();
            for _ in 0..count {
                let parts = [0, 1, 1, 1, 2, 2, 3][random.index(7)];
                let part = |random: &mut Random| {
                    let back = if random.below(4) == 0 { atom } else { reach.min(atom) };
                    atom - 1 - random.below(back.max(1).into()) as u32
                };
                options.push((0..parts).map(|_| part(&mut random)).collect::<Vec<_>>());
            }
            game.add(&options.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        game
    }

    /// Returns the number of atoms.
    pub fn atoms(&self) -> u32 {
        self.options.len() as u32
    }
}

impl Impartial for Declared {
    type Scratch = ();

    fn options(
        &self,
        atom: Atom,
        _: &mut (),
        options: &mut OptionList<'_>,
    ) -> Result<(), GameFull> {
        // The first half is returned as the options that are likely to be good.
        let all = &self.options[atom as usize];
        let half = all.len().div_ceil(2);
        let (skip, take) = match options.subset() {
            OptionSubset::All => (0, all.len()),
            OptionSubset::First => (0, half),
            OptionSubset::Rest => (half, all.len() - half),
        };
        for option in all.iter().skip(skip).take(take) {
            options.push(option);
        }
        Ok(())
    }

    fn features(&self, atom: Atom) -> AtomFeatures {
        self.features[atom as usize]
    }

    fn bytes(&self) -> u64 {
        let atoms: usize =
            self.options.iter().map(|options| options.iter().flatten().count()).sum();
        let ends: usize = self.options.iter().map(OptionList::len).sum();
        4 * (atoms + ends) as u64
    }
}
