//! State spaces, compared with the published tables and with sets of positions.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use crate::tablebase::statespace::{Ply, PlyCounts, StateSpaceError, StateSpaceEvent, statespace};
use crate::{Board, Colour, Position};

/// The published table of a board: its plies and, as the last element with ply `u32::MAX`, the total.
fn published(board: &str) -> Vec<Ply> {
    let lines = include_str!("../../../tests/data/statespace.csv").lines();
    lines
        .filter_map(|line| line.strip_prefix(board)?.strip_prefix(','))
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let number = |at: usize| fields[at].parse::<u64>().unwrap();
            let counts = PlyCounts {
                unique: number(1),
                black_wins: number(2),
                white_wins: number(3),
                terminals: number(4),
            };
            Ply { ply: fields[0].parse().unwrap_or(u32::MAX), counts }
        })
        .collect()
}

fn plies_of(board: &Board) -> Vec<Ply> {
    statespace(board, &AtomicBool::new(false), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn searched(board: &str) -> Vec<Ply> {
    let board = Board::new(board.parse().unwrap());
    let mut plies = plies_of(&board);
    let counts = plies.iter().map(|ply| ply.counts).sum();
    plies.push(Ply { ply: u32::MAX, counts });
    plies
}

#[test]
fn published_tables_up_to_6x5() {
    for board in ["3x3", "4x3", "4x4", "5x4", "5x5", "6x5"] {
        let published = published(board);
        assert!(published.len() > 5, "{board} is in the table");
        assert_eq!(searched(board), published, "{board}");
    }
}

#[test]
#[ignore = "10 GiB and half a minute or more"]
fn published_table_of_6x6() {
    assert_eq!(searched("6x6"), published("6x6"));
}

/// Returns true if the side to move wins, by recursion.
fn wins(board: &Board, position: Position, known: &mut HashMap<Position, bool>) -> bool {
    if let Some(&won) = known.get(&position) {
        return won;
    }
    let won =
        position.moves(board).into_iter().any(|m| !wins(board, position.play(board, m), known));
    known.insert(position, won);
    won
}

/// Reference implementation: the state space as sets of positions. Each position is represented by its least image
/// under the symmetries that keep the colours.
fn slow(board: &Board) -> Vec<Ply> {
    let (mut seen, mut known) = (HashSet::new(), HashMap::new());
    let mut frontier = vec![Position::start(board)];
    let mut plies = Vec::new();
    for ply in 0.. {
        let reduced = |p: Position| {
            Position::new_unchecked(
                board,
                board.symmetries().least_preserving(p.occupied()),
                p.to_move(),
            )
        };
        frontier = frontier.into_iter().map(reduced).filter(|&p| seen.insert(p)).collect();
        if frontier.is_empty() {
            return plies;
        }
        let mut here = PlyCounts::default();
        let mut next = Vec::new();
        for &position in &frontier {
            let moves = position.moves(board);
            let black = wins(board, position, &mut known) == (position.to_move() == Colour::Black);
            here.unique += 1;
            here.black_wins += u64::from(black);
            here.white_wins += u64::from(!black);
            here.terminals += u64::from(moves.is_empty());
            next.extend(moves.into_iter().map(|m| position.play(board, m)));
        }
        plies.push(Ply { ply, counts: here });
        frontier = next;
    }
    unreachable!("games end")
}

#[test]
fn state_spaces_as_sets_of_positions() {
    let sizes = [
        "1x1", "1x2", "2x1", "2x2", "1x3", "1x13", "2x6", "7x2", "3x3", "3x4", "3x5", "5x3", "3x6",
        "4x4", "1x16", "4x5",
    ];
    for size in sizes {
        let board = Board::new(size.parse().unwrap());
        let plies = plies_of(&board);
        assert_eq!(plies, slow(&board), "{size}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| searched("5x5"))
    };
    let one = run(1);
    assert_eq!(run(2), one);
    assert_eq!(run(7), one);
}

#[test]
fn every_layer_is_sent_once_in_descending_order() {
    let (mut values, mut layers, mut marked, mut works) = (Vec::new(), Vec::new(), 0, Vec::new());
    let board = Board::new("4x4".parse().unwrap());
    let mut observe = |event: StateSpaceEvent<'_>| {
        match event {
            StateSpaceEvent::Values { black, of } => {
                assert_eq!(of, 8);
                values.push(black);
            }
            StateSpaceEvent::Ply(_) => {}
            StateSpaceEvent::Work { done, of } => works.push((done, of)),
            StateSpaceEvent::Band { reached, wins } => {
                for side in 0..2 {
                    assert_eq!(reached[side].black(), wins[side].black());
                    for row in reached[side].row_numbers() {
                        let bits = reached[side].row(row).iter();
                        marked += bits.map(|word| u64::from(word.count_ones())).sum::<u64>();
                    }
                }
                layers.push(reached[0].black());
            }
        }
        ControlFlow::Continue(())
    };
    let plies = statespace(&board, &AtomicBool::new(false), &mut observe).unwrap();
    assert_eq!(values, (0..=8).collect::<Vec<_>>());
    assert_eq!(works.len(), values.len() + plies.len());
    assert!(works.is_sorted_by(|a, b| a.0 < b.0 && a.1 == b.1), "{works:?}");
    let (done, of) = works[works.len() - 1];
    assert!(done * 10 > of * 9 && done <= of, "{done} of {of}");
    assert_eq!(layers, (0..=8).rev().collect::<Vec<_>>());
    // If a symmetry maps the black pattern to itself, the row marks all images of a position, which counts once in
    // `unique`.
    let unique: u64 = plies.iter().filter(|p| p.ply >= 2).map(|p| p.counts.unique).sum();
    assert!(marked >= unique && marked < 2 * unique);
}

#[test]
fn the_observer_ends_the_search() {
    let mut layers = 0;
    let mut stop_at_layer = |event: StateSpaceEvent<'_>| match event {
        StateSpaceEvent::Band { .. } => {
            layers += 1;
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    };
    let board = Board::new("3x3".parse().unwrap());
    let error = statespace(&board, &AtomicBool::new(false), &mut stop_at_layer).unwrap_err();
    assert!(matches!(error, StateSpaceError::Interrupted), "{error}");
    assert_eq!(layers, 1);
}

#[test]
fn boards_that_are_too_large_and_interruption() {
    let run = |size: &str| {
        let board = Board::new(size.parse().unwrap());
        let mut ignore = |_: StateSpaceEvent<'_>| ControlFlow::Continue(());
        statespace(&board, &AtomicBool::new(true), &mut ignore).unwrap_err()
    };
    assert!(matches!(run("3x3"), StateSpaceError::Interrupted));
    let error = run("37x1");
    assert!(error.to_string().contains("37x1 has 37 squares"), "{error}");
}
