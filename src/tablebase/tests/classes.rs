//! Outcome classes: counts of whole boards, and those of a database against values as combinatorial games.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::cgt::OutcomeClass;
use crate::search::run::Limits;
use crate::tablebase::classes::{ClassCounts, ClassLayer, count_classes, memory_needed};
use crate::tablebase::{Database, DatabaseOptions};
use crate::value::{ValueTerm, evaluate};
use crate::{Colour, Phase, Position};

use super::values::{jumps, recursion};
use super::{board, build, planned};

fn counted(size: &str) -> Vec<ClassLayer> {
    let counted = count_classes(&board(size), &mut |_, _| ControlFlow::Continue(()));
    counted.unwrap().expect("nothing stops it")
}

fn total(layers: &[ClassLayer]) -> ClassCounts {
    layers.iter().map(|layer| layer.counts).sum()
}

/// Every position of small boards, by plain recursion.
#[test]
fn counts_are_those_of_plain_recursion() {
    for size in ["1x1", "1x2", "1x9", "2x5", "5x2", "3x3", "3x4", "4x3", "3x5", "4x4"] {
        let board = board(size);
        let (ranks, files) = (board.dimensions().ranks(), board.dimensions().files());
        let wins = recursion(ranks, files);
        let is_zugzwang = |occupied: u64| {
            (0..2).all(|mover| {
                !wins[mover][occupied as usize]
                    && !jumps(ranks as i32, files as i32, occupied, mover).is_empty()
            })
        };
        let mut expected = vec![ClassCounts::default(); board.all().count_ones() as usize + 1];
        for occupied in 0..=board.all() {
            let counts = &mut expected[occupied.count_ones() as usize];
            let [black, white] = [0, 1].map(|mover| wins[mover][occupied as usize]);
            *match (black, white) {
                (true, false) => &mut counts.left,
                (false, true) => &mut counts.right,
                (true, true) => &mut counts.next,
                (false, false) => &mut counts.previous,
            } += 1;
            counts.zugzwangs += u64::from(is_zugzwang(occupied));
        }
        let layers = counted(size);
        assert_eq!(layers.len(), expected.len());
        for (stones, (layer, expected)) in (0..).zip(layers.iter().zip(expected)) {
            assert_eq!((layer.stones, layer.counts), (stones, expected), "{size}");
            assert_eq!(layer.zugzwang.is_some(), expected.zugzwangs > 0, "{size} {stones}");
            if let Some(position) = layer.zugzwang {
                assert_eq!(position.occupied().count_ones(), stones);
                assert!(is_zugzwang(position.occupied()), "{size} {position:?}");
            }
        }
    }
}

/// The counts of wins, for which the tests of the sweep have the sources.
fn has_wins(size: &str, [black, white]: [u64; 2]) {
    let layers = counted(size);
    let total = total(&layers);
    assert_eq!([total.left + total.next, total.right + total.next], [black, white], "{size}");
    assert_eq!(total.positions(), 1 << board(size).all().count_ones(), "{size}");
    published(size, &layers);
}

/// Compares the layers of a board with the published table.
fn published(size: &str, layers: &[ClassLayer]) {
    let table = include_str!("../../../docs/classes.csv").lines();
    let rows: Vec<&str> =
        table.filter_map(|line| line.strip_prefix(size)?.strip_prefix(',')).collect();
    let row = |layer: &ClassLayer| {
        let ClassCounts { left, right, next, previous, zugzwangs } = layer.counts;
        let zugzwang = layer.zugzwang.map_or(String::new(), |position| position.to_string());
        format!("{},{left},{right},{next},{previous},{zugzwangs},{zugzwang}", layer.stones)
    };
    assert_eq!(rows, layers.iter().map(row).collect::<Vec<_>>(), "{size}");
}

#[test]
fn sums_are_the_counts_of_wins() {
    has_wins("4x4", [33_547; 2]);
    has_wins("4x5", [557_278; 2]);
    has_wins("5x5", [26_673_313, 9_159_240]);
}

#[test]
#[ignore = "seconds and 2 GiB each"]
fn sums_of_large_boards_are_the_counts_of_wins() {
    has_wins("5x6", [586_238_976; 2]);
    has_wins("5x7", [27_010_758_956, 10_086_610_426]);
    has_wins("6x6", [37_909_325_558; 2]);
}

#[test]
fn a_count_is_stopped_by_its_observer() {
    let mut calls = 0;
    let stopped = count_classes(&board("3x5"), &mut |done, of| {
        calls += 1;
        assert!(done < of);
        if calls < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!((stopped.unwrap(), calls), (None, 3));
}

#[test]
fn memory_of_large_boards_does_not_overflow() {
    // 65,918 rows of 32 KiB, of which those of up to four numbers of black stones are kept at a time.
    assert!((1 << 30..2 << 30).contains(&memory_needed(&board("6x6"))));
    assert!(memory_needed(&board("8x8")) > 1 << 50);
}

/// Compares the classes of random positions with those of their values.
fn classes_are_those_of_values(size: &str, positions: u32) {
    let out = tempfile::tempdir().unwrap();
    let plan = planned(size, None, out.path());
    build(&plan);
    let database = Database::open(&plan.directory, DatabaseOptions::default()).unwrap();
    let board = Arc::new(board(size));
    let (mut random, mut seen) = (1u64, [0; 4]);
    for _ in 0..positions {
        let mut next = || {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            random ^ random >> 29
        };
        // The fewer the squares that may hold a stone, the fewer the stones.
        let occupied = next() & board.all() & if next() % 2 == 0 { next() } else { u64::MAX };
        let to_move = if next() % 2 == 0 { Colour::Black } else { Colour::White };
        let position = Position::new_unchecked(&board, occupied, to_move);
        if position.phase(&board) != Phase::Jumping {
            continue;
        }
        let terms = [ValueTerm::Position(Arc::clone(&board), position)];
        let value = evaluate(&terms, to_move, Limits::default(), 1 << 28, &mut |_| ()).unwrap();
        assert_eq!(database.class(&position).unwrap(), value.class, "{position}");
        seen[value.class.expect("no limit") as usize] += 1;
    }
    assert!(seen.iter().all(|&count| count > positions / 100), "{seen:?}");
    let start = Position::start(&board);
    assert_eq!(database.class(&start).unwrap(), None, "a position of the removal phase");
    let empty = Position::new_unchecked(&board, 0, Colour::White);
    assert_eq!(database.class(&empty).unwrap(), Some(OutcomeClass::Previous));
}

#[test]
fn classes_of_a_database_are_those_of_values() {
    classes_are_those_of_values("4x4", 500);
}

#[test]
#[ignore = "half a minute"]
fn classes_of_a_large_database_are_those_of_values() {
    classes_are_those_of_values("5x5", 10_000);
}
