//! Perft and counts of distinct positions, compared with published tables and the reference implementation.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use konane::{Board, Perft, PerftError, Position};

use crate::positions::board;
use crate::reference::ReferencePosition;

/// True in unoptimised builds, which count fewer plies.
const SLOW: bool = cfg!(debug_assertions);

/// The data rows of a table, without comments and header line.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.skip(1).map(|line| line.split(',').collect())
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number in the table")
}

/// Nodes of 8x8 by depth (thesis, Table B.1).
fn published_perft() -> Vec<(u32, u64)> {
    rows(include_str!("../data/perft_8x8.csv"))
        .map(|row| (number(row[0]) as u32, number(row[1])))
        .collect()
}

/// Number of new positions of plies 1 to 10 by board, with and without symmetry (Table B.2).
fn published_unique() -> BTreeMap<&'static str, [Vec<u64>; 2]> {
    let mut boards: BTreeMap<&str, [Vec<u64>; 2]> = BTreeMap::new();
    for row in rows(include_str!("../data/unique_states.csv")) {
        let [with, without] = boards.entry(row[0]).or_default();
        assert_eq!(number(row[1]) as usize, with.len() + 1, "plies in order");
        with.push(number(row[2]));
        without.push(number(row[3]));
    }
    boards
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("a pool of threads").install(work)
}

#[test]
fn the_table_of_8x8() {
    let board = board("8x8");
    let perft = Perft::new(&board);
    let start = Position::start(&board);
    let deepest = if SLOW { 7 } else { 11 };
    let mut checked = 0;
    for (depth, nodes) in published_perft() {
        if depth <= deepest {
            let total: u64 = perft.divide(&start, depth).iter().map(|&(_, n)| n).sum();
            assert_eq!(total, nodes, "depth {depth}");
            checked += 1;
        }
        if depth < deepest {
            assert_eq!(perft.count(&start, depth), nodes, "depth {depth}");
        }
    }
    assert_eq!(checked, deepest);
}

/// If equal positions are merged, the counts are the same, with any memory limit.
#[test]
fn merged_counts_are_those_of_the_table() {
    let board = board("8x8");
    let perft = Perft::new(&board);
    let start = Position::start(&board);
    let never = AtomicBool::new(false);
    let deepest = if SLOW { 9 } else { 12 };
    for (depth, nodes) in published_perft() {
        if depth <= deepest {
            for memory in [u64::MAX, 2 << 20, 0] {
                if depth < 11 || memory == u64::MAX {
                    let found = perft.merged(&start, depth, memory, &|_, _| (), &never);
                    assert_eq!(found, Ok(nodes), "depth {depth}, {memory} bytes");
                }
            }
        }
    }
}

#[test]
fn merged_counts_are_those_of_the_sequences() {
    let never = AtomicBool::new(false);
    for text in ["1x1", "2x2", "1x9", "3x4", "4x4", "5x5", "6x6", "7x9"] {
        let board = board(text);
        let perft = Perft::new(&board);
        let mut position = Position::start(&board);
        for _ in 0..5 {
            assert_eq!(perft.merged(&position, 0, u64::MAX, &|_, _| (), &never), Ok(1));
            for depth in 1..=7 {
                for memory in [u64::MAX, 10_000] {
                    let merged = perft.merged(&position, depth, memory, &|_, _| (), &never);
                    assert_eq!(merged, Ok(perft.count(&position, depth)), "{text} depth {depth}");
                    let divided = perft.merged_divide(&position, depth, memory, &|_, _| (), &never);
                    assert_eq!(divided, Ok(perft.divide(&position, depth)), "{text} {depth}");
                }
            }
            match position.moves(&board).first() {
                Some(&mv) => position = position.play(&board, mv),
                None => break,
            }
        }
    }
}

#[test]
fn progress_of_counts_ends_with_all_pieces() {
    let board = board("8x8");
    let (perft, start, never) =
        (Perft::new(&board), Position::start(&board), AtomicBool::new(false));
    type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);
    let reports = |count: &dyn Fn(Progress<'_>)| {
        let reports = Mutex::new(Vec::new());
        count(&|done, of| reports.lock().unwrap().push((done, of)));
        let mut reports = reports.into_inner().unwrap();
        reports.sort_unstable();
        reports
    };
    let merged = reports(&|progress| {
        perft.merged(&start, 8, u64::MAX, progress, &never).unwrap();
    });
    let divided = reports(&|progress| {
        perft.divide_until(&start, 8, progress, &never).unwrap();
    });
    for reports in [merged, divided] {
        let all = reports.len() as u64;
        assert!(all > 10 && reports.into_iter().eq((1..=all).map(|done| (done, all))));
    }
    // Equivalent first moves share a computation, so the last ones may not be reported.
    let by_move = reports(&|progress| {
        perft.merged_divide(&start, 8, u64::MAX, progress, &never).unwrap();
    });
    assert!(by_move.iter().all(|&(done, of)| done <= of && of == by_move[0].1));
    assert!(by_move.len() > 10 && by_move.is_sorted());
}

#[test]
fn counts_end_when_the_flag_is_set() {
    let board = board("8x8");
    let perft = Perft::new(&board);
    let start = Position::start(&board);
    let set = AtomicBool::new(true);
    assert_eq!(perft.merged(&start, 9, u64::MAX, &|_, _| (), &set), Err(PerftError::Interrupted));
    assert_eq!(perft.merged(&start, 9, 0, &|_, _| (), &set), Err(PerftError::Interrupted));
    assert_eq!(perft.divide_until(&start, 9, &|_, _| (), &set), Err(PerftError::Interrupted));
}

/// No game has so many plies, and no lists are allocated for them.
#[test]
fn the_count_of_more_plies_than_possible_is_zero() {
    let never = AtomicBool::new(false);
    for text in ["1x1", "3x3", "8x8"] {
        let board = board(text);
        let perft = Perft::new(&board);
        let mut position = Position::start(&board);
        for _ in 0..4 {
            for depth in [Perft::MAX_PLIES + 1, u32::MAX] {
                for memory in [0, u64::MAX] {
                    assert_eq!(
                        perft.merged(&position, depth, memory, &|_, _| (), &never),
                        Ok(0),
                        "{text}"
                    );
                }
                assert_eq!(perft.count(&position, depth), 0, "{text}");
                let divided = perft.divide(&position, depth);
                assert_eq!(divided.len(), position.moves(&board).len(), "{text}");
                assert!(divided.iter().all(|&(_, count)| count == 0), "{text}");
            }
            match position.moves(&board).first() {
                Some(&mv) => position = position.play(&board, mv),
                None => break,
            }
        }
    }
}

#[test]
fn counts_of_positions_end_at_the_memory_limit() {
    let board = board("6x6");
    let perft = Perft::new(&board);
    let start = Position::start(&board);
    let never = AtomicBool::new(false);
    let plies = perft.unique_plies(&start, true, 10_000, &never);
    let (counts, ends): (Vec<_>, Vec<_>) = plies.take(10).partition(Result::is_ok);
    let counts: Result<Vec<u64>, _> = counts.into_iter().collect();
    let counts = counts.expect("numbers");
    assert!(counts.len() > 2);
    assert_eq!(counts, perft.unique(&start, counts.len() as u32, true));
    assert_eq!(ends[0], Err(PerftError::Memory));
}

#[test]
fn divide_counts_the_sequences_of_each_move() {
    for text in ["1x1", "2x2", "1x9", "4x4", "6x6", "7x9"] {
        let board = board(text);
        let perft = Perft::new(&board);
        let mut position = Position::start(&board);
        for _ in 0..4 {
            for depth in 1..=6 {
                let shares = perft.divide(&position, depth);
                let moves = position.moves(&board);
                assert_eq!(moves, shares.iter().map(|&(mv, _)| mv).collect::<Vec<_>>());
                for (mv, nodes) in shares {
                    let expected = perft.count(&position.play(&board, mv), depth - 1);
                    assert_eq!(nodes, expected, "{text} depth {depth} {mv:?}");
                }
            }
            match position.moves(&board).last() {
                Some(&mv) => position = position.play(&board, mv),
                None => break,
            }
        }
    }
}

#[test]
fn counts_do_not_depend_on_the_number_of_threads() {
    let board = board("7x8");
    let perft = Perft::new(&board);
    let start = Position::start(&board);
    let plies = if SLOW { 6 } else { 8 };
    let run = |threads| {
        on_threads(threads, || {
            let divided = perft.divide(&start, plies);
            let merged =
                perft.merged(&start, plies + 1, u64::MAX, &|_, _| (), &AtomicBool::new(false));
            let unique = [true, false].map(|symmetry| perft.unique(&start, plies - 1, symmetry));
            (divided, merged, unique)
        })
    };
    let alone = run(1);
    for threads in [2, 7] {
        assert_eq!(run(threads), alone, "{threads} threads");
    }
}

#[test]
fn counts_agree_with_the_reference() {
    for (text, depth) in [
        ("1x1", 3),
        ("1x2", 4),
        ("1x9", 9),
        ("9x1", 9),
        ("2x7", 10),
        ("7x2", 10),
        ("3x3", 9),
        ("3x5", 8),
        ("5x3", 8),
        ("4x4", 8),
        ("5x5", 7),
        ("6x6", 6),
        ("1x64", 7),
        ("64x1", 7),
        ("2x32", 6),
        ("3x21", 5),
        ("9x7", 5),
        ("7x9", 5),
    ] {
        let board = board(text);
        let perft = Perft::new(&board);
        let start = Position::start(&board);
        let reference = ReferencePosition::start(board.dimensions());
        let depth = if SLOW { depth.min(6) } else { depth };
        for depth in 0..=depth {
            let nodes = reference.perft(depth);
            assert_eq!(perft.count(&start, depth), nodes, "{text} depth {depth}");
        }
    }
}

/// Number of plies of the table that are compared. The last ply of 8x8 without symmetry, 12.8 million
/// positions, would take longer than all other tests together.
fn affordable(board: &str, symmetry: bool) -> usize {
    let plies = match (board, symmetry) {
        ("8x8", false) => 9,
        _ => 10,
    };
    if SLOW { plies - 3 } else { plies }
}

#[test]
fn the_tables_of_distinct_positions() {
    let published = published_unique();
    assert_eq!(published.len(), 8, "boards in the table");
    for (text, [with, without]) in published {
        let board = board(text);
        let perft = Perft::new(&board);
        let start = Position::start(&board);
        for (symmetry, expected) in [(true, with), (false, without)] {
            assert_eq!(expected.len(), 10);
            let mut expected = expected[..affordable(text, symmetry)].to_vec();
            if text == "1x1" && !symmetry {
                // The table has 1 state at ply 1 with symmetry and none without. These numbers contradict each
                // other, because there are at least as many states without symmetry. Black removes the only stone,
                // and the result is one position, the empty board, in which White has lost.
                assert_eq!(expected[0], 0, "the table's own row");
                expected[0] = 1;
            }
            let found = perft.unique(&start, expected.len() as u32, symmetry);
            assert_eq!(found, expected, "{text}, symmetry {symmetry}");
        }
    }
}

/// After the end of all games there are zeros, not a shorter list.
#[test]
fn counts_have_the_requested_number_of_plies() {
    let board: Board = board("2x2");
    let perft = Perft::new(&board);
    let start = Position::start(&board);
    assert_eq!(perft.unique(&start, 5, true), [1, 1, 0, 0, 0]);
    assert!(perft.unique(&start, 0, true).is_empty());
    assert_eq!(perft.count(&start, 3), 0);
    assert_eq!(perft.count(&start, 0), 1);
}
