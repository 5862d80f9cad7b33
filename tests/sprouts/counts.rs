//! Numbers of positions and children, and Grundy numbers, compared with tables.

use super::common::TestGame;
use konane::sprouts::Position;

#[test]
fn numbers_of_reachable_positions() {
    // Distinct positions, including the finished one; a sum of lands is one position. Weaker canonical
    // forms distinguish more positions: SPOTS has 157 and 1796 for three and four spots.
    for (start, positions) in [("0", 3), ("0*2", 18), ("0*3", 148), ("0*4", 1505)] {
        assert_eq!(TestGame::new().reachable(start).len(), positions, "{start}");
    }
}

#[test]
#[ignore = "takes 20 seconds"]
fn number_of_reachable_positions_from_six_spots() {
    assert_eq!(TestGame::new().reachable("0*6").len(), 226_809);
}

struct PublishedRow {
    text: String,
    grundy: u32,
    children: usize,
    lives: u32,
}

fn published() -> Vec<PublishedRow> {
    let table = include_str!("../data/sprouts_grundy.csv");
    let rows = table.lines().filter(|line| !line.starts_with(['#', 'p']));
    let rows: Vec<PublishedRow> = rows
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let position: Position = fields[0].parse().unwrap();
            PublishedRow {
                text: fields[0].into(),
                grundy: fields[1].parse().unwrap(),
                children: fields[2].parse().unwrap(),
                lives: position.lives(),
            }
        })
        .collect();
    assert_eq!(rows.len(), 150);
    rows
}

/// The table counts children up to isomorphism, as positions: a child that arises from two lands of a sum
/// counts once.
#[test]
fn published_numbers_of_children() {
    let mut sprouts = TestGame::new();
    for row in published() {
        let sum = sprouts.atoms(&row.text);
        assert_eq!(sprouts.children(&sum).len(), row.children, "{}", row.text);
    }
}

#[test]
fn published_grundy_numbers_of_small_positions() {
    let mut sprouts = TestGame::new();
    let small: Vec<PublishedRow> = published().into_iter().filter(|row| row.lives <= 12).collect();
    assert!(small.len() >= 60, "{}", small.len());
    for row in small {
        let sum = sprouts.atoms(&row.text);
        assert_eq!(sprouts.grundy(&sum), row.grundy, "{}", row.text);
    }
}
