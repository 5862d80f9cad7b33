//! Searches of Sprouts positions.

use std::sync::Arc;

use konane::Value;
use konane::search::run::{Limits, Outcome, Reason, Report};
use konane::search::sums::{SearchOptions, SolverState, Sum, dfpn, grundy, pns, two_level};
use konane::sprouts::{Position, Scratch, Sprouts};

use super::ReferenceGrundy;
use super::agreement::variants;

const OUTCOMES: &str = include_str!("../../data/sprouts_outcomes.csv");
const GRUNDY: &str = include_str!("../../data/sprouts_grundy.csv");

/// Rows of a table, without comments and header line.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').collect())
}

/// The published outcomes: number of spots and value.
fn outcomes() -> Vec<(u32, Value)> {
    let solved = rows(OUTCOMES).filter(|row| row[1] == "win" || row[1] == "loss");
    let value = |text| if text == "win" { Value::Win } else { Value::Loss };
    solved.map(|row| (row[0].parse().unwrap(), value(row[1]))).collect()
}

fn with_root<T>(text: &str, nimber: u32, work: impl FnOnce(&SolverState<Sprouts>, &Sum) -> T) -> T {
    with_memory(1 << 30, text, nimber, work)
}

fn with_memory<T>(
    bytes: u64,
    text: &str,
    nimber: u32,
    work: impl FnOnce(&SolverState<Sprouts>, &Sum) -> T,
) -> T {
    let game = Arc::new(Sprouts::new(bytes));
    let position: Position = text.parse().unwrap();
    let atoms = game.atoms(&position, &mut Scratch::default()).unwrap();
    let state = SolverState::new(game.clone(), bytes).unwrap();
    work(&state, &Sum::new(&*game, &atoms, nimber))
}

fn solve(text: &str, options: SearchOptions, threads: u32) -> Report {
    with_root(text, 0, |state, root| {
        dfpn(state, root, options, threads, Limits::default(), &mut ())
    })
}

/// Solves on two levels, in jobs of `iterations` expansions.
fn solve_in_jobs(
    state: &SolverState<Sprouts>,
    root: &Sum,
    iterations: u64,
    threads: u32,
) -> Report {
    let (options, limits) = (SearchOptions::TUNED, Limits::default());
    two_level(state, root, options, iterations, threads, limits, &mut ())
}

/// Maximum number of spots of a start, a few less in unoptimised builds.
fn max_spots(spots: u32) -> u32 {
    if cfg!(debug_assertions) { spots - 4 } else { spots }
}

#[test]
fn small_starts_have_the_published_outcomes() {
    for (spots, value) in outcomes() {
        let text = format!("0*{spots}");
        if spots <= max_spots(11) {
            for threads in 1..=2 {
                let report = solve(&text, SearchOptions::TUNED, threads);
                assert_eq!(report.outcome.value(), Some(value), "{text}, {threads} threads");
            }
            for (iterations, threads) in [(1, 1), (100, 4)] {
                let report = with_root(&text, 0, |state, root| {
                    solve_in_jobs(state, root, iterations, threads)
                });
                assert_eq!(report.outcome.value(), Some(value), "{text}, jobs of {iterations}");
            }
        }
        if spots <= max_spots(8) {
            for options in variants() {
                let report = solve(&text, options, 1);
                assert_eq!(report.outcome.value(), Some(value), "{text}, {options:?}");
            }
            let report = with_root(&text, 0, |state, root| {
                pns(state, root, SearchOptions::PAPER, Limits::default(), &mut ())
            });
            assert_eq!(report.outcome.value(), Some(value), "{text}, PNS");
        }
    }
}

/// All known Grundy numbers of starts depend on the number of spots modulo 6: 0 for 0, 1 and
/// 2, otherwise 1 (Lemoine and Viennot 2015).
#[test]
fn starts_have_the_conjectured_grundy_numbers() {
    for spots in 1..=max_spots(10) {
        let expected = u32::from(spots % 6 > 2);
        let number = with_root(&format!("0*{spots}"), 0, |state, root| {
            grundy(state, root.atoms(), SearchOptions::TUNED, 2, Limits::default(), &mut ())
        });
        assert_eq!(number.grundy, Ok(expected), "{spots} spots");
    }
}

#[test]
fn the_table_of_grundy_numbers() {
    let game = Arc::new(Sprouts::new(1 << 30));
    let mut scratch = Scratch::default();
    let mut checked = 0;
    for row in rows(GRUNDY) {
        let expected: u32 = row[1].parse().unwrap();
        let atoms = game.atoms(&row[0].parse().unwrap(), &mut scratch).unwrap();
        let (options, limits) = (SearchOptions::TUNED, Limits::default());
        let state = SolverState::new(game.clone(), 1 << 27).unwrap();
        let found = grundy(&state, &atoms, options, 1, limits, &mut ());
        assert_eq!(found.grundy, Ok(expected), "{}", row[0]);
        let state = SolverState::new(game.clone(), 1 << 27).unwrap();
        for nimber in 0..3 {
            let value = if nimber == expected { Value::Loss } else { Value::Win };
            let root = Sum::new(&*game, &atoms, nimber);
            let report = dfpn(&state, &root, SearchOptions::PAPER, 1, limits, &mut ());
            assert_eq!(report.outcome.value(), Some(value), "{} + *{nimber}", row[0]);
        }
        checked += 1;
    }
    assert_eq!(checked, 150);
}

/// All Grundy numbers found by a search, compared with recursion over all moves.
#[test]
fn all_grundy_numbers_found_by_a_search_are_right() {
    let game = Arc::new(Sprouts::new(1 << 30));
    let start = game.atoms(&Position::start(5).unwrap(), &mut Scratch::default()).unwrap();
    let mut reference = ReferenceGrundy::new(&*game);
    for options in variants() {
        for (threads, two_levels) in [(1, false), (3, false), (3, true)] {
            let state = SolverState::new(game.clone(), 1 << 28).unwrap();
            let root = Sum::new(&*game, &start, 0);
            if two_levels {
                solve_in_jobs(&state, &root, 30, threads);
            } else {
                dfpn(&state, &root, options, threads, Limits::default(), &mut ());
            }
            let mut numbers = 0;
            for (land, number) in state.knowledge().iter() {
                assert_eq!(number, reference.grundy(land), "{}", game.land_text(land));
                numbers += 1;
            }
            assert!(numbers > 5);
        }
    }
}

/// When the memory is full, garbage collection removes everything that can be found again, and the search continues.
#[test]
fn a_search_continues_when_the_memory_is_full() {
    let (spots, value) = (12, Value::Loss);
    for (threads, two_levels, memory) in
        [(1, false, 1 << 20), (3, false, 1 << 20), (3, true, 5 << 18)]
    {
        let game = Arc::new(Sprouts::new(memory));
        let atoms = game.atoms(&Position::start(spots).unwrap(), &mut Scratch::default()).unwrap();
        let state = SolverState::new(game.clone(), memory).unwrap();
        let root = Sum::new(&*game, &atoms, 0);
        let options = SearchOptions::TUNED;
        let report = if two_levels {
            solve_in_jobs(&state, &root, 100, threads)
        } else {
            dfpn(&state, &root, options, threads, Limits::default(), &mut ())
        };
        assert_eq!(report.outcome.value(), Some(value), "0*{spots}, {threads} threads");
        assert!(report.counters.collections > 0);
        assert!(report.memory_bytes <= memory + (1 << 20), "{}", report.memory_bytes);
        // The stored numbers are right, although ids of evicted lands may have been assigned to other lands.
        let large = Sprouts::new(1 << 30);
        let mut reference = ReferenceGrundy::new(&large);
        let mut numbers = 0;
        for (land, number) in state.knowledge().iter() {
            let position: Position = game.land_text(land).parse().unwrap();
            if position.lives() <= 9 {
                let land = large.atoms(&position, &mut Scratch::default()).unwrap();
                assert_eq!(number, reference.sum(&land), "{position}");
                numbers += 1;
            }
        }
        assert!(numbers > 50, "{numbers}");
    }
}

/// If the memory is too small for the Grundy numbers, the search ends without an outcome.
#[test]
fn too_little_memory_gives_no_outcome() {
    let memory = 1 << 20;
    for spots in [100, 2000] {
        let game = Arc::new(Sprouts::new(memory));
        let atoms = game.atoms(&Position::start(spots).unwrap(), &mut Scratch::default()).unwrap();
        let state = SolverState::new(game.clone(), memory).unwrap();
        let root = Sum::new(&*game, &atoms, 0);
        let report = dfpn(&state, &root, SearchOptions::TUNED, 1, Limits::default(), &mut ());
        assert_eq!(report.outcome, Outcome::Unknown(Reason::Memory), "0*{spots}");
        assert!(report.memory_bytes <= memory + (1 << 20), "{}", report.memory_bytes);
    }
}

/// Takes eight minutes of processor time and up to 2 GiB; `cargo test --release -- --ignored larger_starts
/// --nocapture` prints the figures. 0*33 is omitted, because it takes longer than all others.
#[test]
#[ignore = "takes four minutes on two cores"]
fn larger_starts_have_the_published_outcomes() {
    let larger = outcomes().into_iter().filter(|&(spots, _)| (12..=35).contains(&spots));
    for (spots, value) in larger.filter(|&(spots, _)| spots != 33) {
        let report = with_memory(8 << 30, &format!("0*{spots}"), 0, |state, root| {
            dfpn(state, root, SearchOptions::TUNED, 2, Limits::default(), &mut ())
        });
        println!("0*{spots}: {:?}, {:?}", report.outcome, report.counters);
        assert_eq!(report.outcome.value(), Some(value), "0*{spots}");
    }
}
