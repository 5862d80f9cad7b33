//! Common functions of the tests.

use konane::search::sums::game::{Atom, Impartial, OptionList};
use konane::sprouts::{Land, Position, Scratch, Spot, Sprouts};
use std::collections::{HashMap, HashSet};

pub use konane::search::testing::random::Random;

/// A game with working memory and a table of computed Grundy numbers.
pub struct TestGame {
    pub game: Sprouts,
    pub scratch: Scratch,
    grundy: HashMap<Atom, u32>,
}

impl TestGame {
    pub fn new() -> TestGame {
        TestGame {
            game: Sprouts::new(u64::MAX),
            scratch: Scratch::default(),
            grundy: HashMap::new(),
        }
    }

    /// Returns the lands of a position.
    pub fn atoms(&mut self, text: &str) -> Vec<Atom> {
        let position: Position = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        self.game.atoms(&position, &mut self.scratch).expect("memory is not limited")
    }

    /// Returns the canonical text of a position.
    pub fn canonical(&mut self, text: &str) -> String {
        let atoms = self.atoms(text);
        self.game.text(&atoms)
    }

    /// Returns the options of a land.
    pub fn options(&mut self, atom: Atom) -> Vec<Vec<Atom>> {
        let mut options = OptionList::default();
        self.game.options(atom, &mut self.scratch, &mut options).expect("memory is not limited");
        options.iter().map(<[Atom]>::to_vec).collect()
    }

    /// Returns the children of a sum, without duplicates.
    pub fn children(&mut self, sum: &[Atom]) -> HashSet<Vec<Atom>> {
        let mut children = HashSet::new();
        for (place, &atom) in sum.iter().enumerate() {
            for option in self.options(atom) {
                let mut child = sum.to_vec();
                child.remove(place);
                child.extend(option);
                child.sort_unstable();
                children.insert(child);
            }
        }
        children
    }

    /// Returns the Grundy number of a sum by the definition: the least number that no option has.
    pub fn grundy(&mut self, sum: &[Atom]) -> u32 {
        sum.iter().fold(0, |all, &atom| all ^ self.grundy_of_land(atom))
    }

    fn grundy_of_land(&mut self, atom: Atom) -> u32 {
        if let Some(&known) = self.grundy.get(&atom) {
            return known;
        }
        let options = self.options(atom);
        let numbers: HashSet<u32> = options.iter().map(|option| self.grundy(option)).collect();
        let grundy = (0..).find(|number| !numbers.contains(number)).expect("options are finite");
        self.grundy.insert(atom, grundy);
        grundy
    }

    /// Returns all positions reachable from a position, itself included.
    pub fn reachable(&mut self, text: &str) -> HashSet<Vec<Atom>> {
        let start = self.atoms(text);
        let mut found = HashSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some(sum) = open.pop() {
            for child in self.children(&sum) {
                if found.insert(child.clone()) {
                    open.push(child);
                }
            }
        }
        found
    }
}

/// Returns the positions of a game with random moves.
pub fn random_game(sprouts: &mut TestGame, spots: usize, random: &mut Random) -> Vec<String> {
    let mut sum = sprouts.atoms(&format!("0*{spots}"));
    let mut texts = Vec::new();
    while !sum.is_empty() {
        texts.push(sprouts.game.text(&sum));
        let mut children: Vec<Vec<Atom>> = sprouts.children(&sum).into_iter().collect();
        children.sort();
        sum = children.swap_remove(random.index(children.len()));
    }
    texts
}

/// Writes a position in another way: boundaries rotated, regions reversed, boundaries, regions and lands in
/// another order, other names.
pub fn respelled(text: &str, random: &mut Random) -> String {
    let position: Position = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut lands = position.lands().to_vec();
    random.shuffle(&mut lands);
    let texts: Vec<String> = lands
        .into_iter()
        .map(|mut land| {
            random.shuffle(&mut land);
            for region in &mut land {
                random.shuffle(region);
                let reverse = random.index(2) == 0;
                for boundary in region {
                    let length = boundary.len();
                    boundary.rotate_left(random.index(length));
                    if reverse {
                        boundary.reverse();
                    }
                }
            }
            write(&land, random.index(1000))
        })
        .collect();
    if texts.is_empty() { "!".into() } else { texts.join("+") }
}

/// Writes a land; `offset` determines the first name.
pub fn write(land: &Land, offset: usize) -> String {
    let mut pair_locations: HashMap<u32, HashSet<(usize, usize)>> = HashMap::new();
    for (r, region) in land.iter().enumerate() {
        for (b, boundary) in region.iter().enumerate() {
            for spot in boundary {
                if let Spot::Pair(pair) = *spot {
                    pair_locations.entry(pair).or_default().insert((r, b));
                }
            }
        }
    }
    let name = |pair: u32| {
        let (first, index) =
            (if pair_locations[&pair].len() == 1 { b'a' } else { b'A' }, pair as usize + offset);
        let letter = char::from(first + (index % 26) as u8);
        // An index is needed only when the alphabet is exhausted; n(k) is upper case.
        match letter {
            _ if pair_locations.len() <= 26 => letter.to_string(),
            'n' => format!("m({})", 1000 + index),
            _ => format!("{letter}({index})"),
        }
    };
    let spot = |spot: &Spot| match *spot {
        Spot::Single(ends) => ends.to_string(),
        Spot::Pair(pair) => name(pair),
    };
    let boundary = |boundary: &Vec<Spot>| boundary.iter().map(spot).collect::<String>();
    let region =
        |region: &Vec<Vec<Spot>>| region.iter().map(boundary).collect::<Vec<_>>().join(".");
    land.iter().map(region).collect::<Vec<_>>().join("|")
}
