//! Moves and canonical forms compared with the reference implementation.

use super::common::{Random, TestGame, random_game};
use super::reference::Drawing;
use konane::search::sums::game::Atom;
use std::collections::{BTreeMap, HashSet};

fn drawing(text: &str) -> Drawing {
    Drawing::new(&text.parse().unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// Returns the children of a position according to the reference implementation, with their texts read by
/// the library.
fn children_by_definition(sprouts: &mut TestGame, text: &str) -> HashSet<Vec<Atom>> {
    let children = drawing(text).children();
    children.iter().map(|child| sprouts.atoms(&child.text())).collect()
}

#[test]
fn children_of_all_positions_from_four_spots() {
    let mut sprouts = TestGame::new();
    let positions = sprouts.reachable("0*4");
    for sum in positions {
        let text = sprouts.game.text(&sum);
        assert_eq!(sprouts.children(&sum), children_by_definition(&mut sprouts, &text), "{text}");
    }
}

#[test]
fn children_of_positions_of_random_games() {
    let mut sprouts = TestGame::new();
    let mut random = Random(3);
    for game in 0..60 {
        for text in random_game(&mut sprouts, 5 + game % 4, &mut random) {
            let sum = sprouts.atoms(&text);
            assert_eq!(
                sprouts.children(&sum),
                children_by_definition(&mut sprouts, &text),
                "{text}"
            );
        }
    }
}

/// Positions with every kind of symmetry that the moves use.
#[test]
fn children_of_symmetric_positions() {
    let texts = [
        "0*5.AB|AB",
        "1a1a.1a1a.2a2a",
        "0*2.1a1a.1a1a.2",
        "1a2a1b2b.2.2",
        "0.A.B.C|2A|2B|2C",
        "0.AB.CD|AB|CD.0",
        "0.AB|0.AB",
        "12.12.1.1.2",
        "112122",
        "121212.0",
        "12a12a.0",
        "1aAa.1aBa|2A|2B",
        "0.ABC|0.ACB",
        "ABCD|AB.0|CD.0",
        "1ABC.0|2ABC.0",
        "1212.1221.12",
    ];
    let mut sprouts = TestGame::new();
    for text in texts {
        let sum = sprouts.atoms(text);
        assert_eq!(sprouts.children(&sum), children_by_definition(&mut sprouts, text), "{text}");
        let canonical = sprouts.game.text(&sum);
        assert_eq!(sprouts.children(&sum), children_by_definition(&mut sprouts, &canonical));
    }
}

/// For each region, for each boundary, the length and the curve ends of its spots; all sorted.
type Shape = Vec<Vec<(usize, Vec<u8>)>>;

/// Returns the shape of a land, which isomorphic lands share. Reduces the number of comparisons.
fn shape(land: &Drawing) -> Shape {
    let mut regions = Shape::new();
    for region in &land.regions {
        let mut walks: Vec<(usize, Vec<u8>)> = Vec::new();
        for walk in region {
            let mut ends: Vec<u8> = walk.iter().map(|&spot| land.ends[spot]).collect();
            ends.sort_unstable();
            walks.push((walk.len(), ends));
        }
        walks.sort();
        regions.push(walks);
    }
    regions.sort();
    regions
}

/// The reference implementation simplifies, splits and compares raw children independently. Its classes
/// must be the ids of the library.
#[test]
fn canonical_forms_are_the_classes_of_isomorphic_lands() {
    let mut sprouts = TestGame::new();
    let mut classes: BTreeMap<Shape, Vec<(Drawing, Atom)>> = BTreeMap::new();
    let mut seen = HashSet::new();
    for sum in sprouts.reachable("0*4") {
        let text = sprouts.game.text(&sum);
        for child in drawing(&text).children() {
            let raw = child.text();
            let sum = sprouts.atoms(&raw);
            let lands = child.simplified().lands();
            assert_eq!(lands.len(), sum.len(), "{raw}");
            let mut ids: Vec<Atom> = Vec::new();
            for land in lands {
                let text = land.text();
                let id = sprouts.atoms(&text);
                assert_eq!(id.len(), 1, "{text} is one land");
                ids.push(id[0]);
                if seen.insert(text) {
                    let class = classes.entry(shape(&land)).or_default();
                    class.push((land, id[0]));
                }
            }
            ids.sort_unstable();
            assert_eq!(ids, sum, "{raw}");
        }
    }
    let mut compared = 0;
    for class in classes.values() {
        // One drawing of each id. Every other drawing is compared with all these drawings.
        let mut first: Vec<&(Drawing, Atom)> = Vec::new();
        for member in class {
            let mut seen_before = false;
            for other in &first {
                seen_before |= other.1 == member.1;
                let same = member.0.is_isomorphic(&other.0);
                assert_eq!(same, other.1 == member.1, "{} {}", member.0.text(), other.0.text());
                compared += 1;
            }
            if !seen_before {
                first.push(member);
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}
