//! Compares searches of impartial games with plain recursion, on games with known Grundy numbers and on random
//! games.

mod agreement;
mod known_games;
mod limits;
mod sprouts;

use std::collections::{BTreeSet, HashMap};

use konane::search::sums::{Atom, Impartial, OptionList};

/// Grundy numbers by definition: the least number that no option has. Computed numbers are stored. Couples, bounds
/// and cancellation are not used.
pub struct ReferenceGrundy<'g, G: Impartial> {
    game: &'g G,
    scratch: G::Scratch,
    numbers: HashMap<Atom, u32>,
}

impl<'g, G: Impartial> ReferenceGrundy<'g, G> {
    pub fn new(game: &'g G) -> Self {
        ReferenceGrundy { game, scratch: G::Scratch::default(), numbers: HashMap::new() }
    }

    pub fn grundy(&mut self, atom: Atom) -> u32 {
        if let Some(&number) = self.numbers.get(&atom) {
            return number;
        }
        let mut options = OptionList::default();
        self.game.options(atom, &mut self.scratch, &mut options).unwrap();
        let values: BTreeSet<u32> = options.iter().map(|option| self.sum(option)).collect();
        let number = (0..).find(|number| !values.contains(number)).unwrap();
        self.numbers.insert(atom, number);
        number
    }

    pub fn sum(&mut self, atoms: &[Atom]) -> u32 {
        atoms.iter().fold(0, |sum, &atom| sum ^ self.grundy(atom))
    }
}
