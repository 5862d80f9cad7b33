//! Databases and searches: values agree with `solve`, searches with a database find the same
//! winners, and damaged files give no outcome.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use konane::Value;
use konane::notation::parse_moves;
use konane::search::plain::oracle::{Oracle, OracleAnswer};
use konane::search::run::Reason;
use konane::tablebase::Scope;
use konane::tablebase::{
    BuildOptions, Database, DatabaseOptions, DatabaseValues, build, plan, probe,
};
use konane::{Algorithm, Board, Colour, Dimensions, Position, Profile, SolveOptions, Solver};

use konane::search::testing::random::Random;

fn database(directory: &Path, size: &str, max_stones: Option<u32>) -> Database {
    let board = Board::new(size.parse().expect("a board"));
    let options = BuildOptions {
        max_stones,
        memory_bytes: Some(1 << 30),
        ..BuildOptions::complete(directory.to_owned())
    };
    let plan = plan(&board, &options).expect("a plan");
    build(&board, &plan, &(), &AtomicBool::new(false)).expect("a database");
    Database::open(&plan.directory, DatabaseOptions::default()).expect("a database")
}

fn options(algorithm: Algorithm) -> SolveOptions {
    SolveOptions { algorithm, memory_bytes: 1 << 20, ..SolveOptions::default() }
}

/// Returns true if the side to move wins, determined by a search without a database.
fn wins(board: &Board, position: &Position) -> bool {
    let solver = Solver::new(board, position).options(options(Algorithm::Dfpn));
    solver.run().expect("memory").winner.expect("no limit") == position.to_move()
}

/// Returns the position after some random moves.
fn after_moves(board: &Board, random: &mut Random, plies: usize) -> Position {
    let mut position = Position::start(board);
    for _ in 0..plies {
        let moves = position.moves(board);
        if moves.is_empty() {
            break;
        }
        position = position.play(board, moves[random.index(moves.len())]);
    }
    position
}

/// Returns a random position of the jumping phase with many or few stones.
fn scattered(board: &Board, random: &mut Random) -> Position {
    let mut occupied = board.all() & random.next();
    match random.index(3) {
        0 => occupied |= board.all() & random.next(),
        1 => occupied &= random.next(),
        _ => {}
    }
    if (board.all() & !occupied).count_ones() < 2 {
        occupied &= !0b11;
    }
    let side = if random.index(2) == 0 { Colour::Black } else { Colour::White };
    Position::new_unchecked(board, occupied, side)
}

#[test]
fn values_of_random_positions_agree_with_the_search() {
    let place = tempfile::tempdir().expect("a directory");
    for size in ["5x5", "4x6"] {
        let database = database(place.path(), size, None);
        let board = database.board();
        let mut random = Random(5);
        let mut won = 0;
        let cases = if cfg!(debug_assertions) { 200 } else { 4000 };
        for case in 0..cases {
            let position = match case % 2 {
                0 => after_moves(board, &mut random, case / 2 % 20),
                _ => scattered(board, &mut random),
            };
            let expected = wins(board, &position);
            let lookup = database.value(&position).expect("a value");
            assert_eq!(lookup == Some(Value::Win), expected, "{size} {position:?}");
            let answer = probe(&database, &position).expect("an answer");
            assert_eq!(answer.outcome == Value::Win, expected, "{size} {position:?}");
            let code = position.code(board);
            let value = if expected { Value::Win } else { Value::Loss };
            let values = DatabaseValues::new(&database);
            assert_eq!(values.value(code), OracleAnswer::Known(value), "{size} {position:?}");
            won += u32::from(expected);
        }
        assert!(won > cases as u32 / 4 && won < cases as u32 * 3 / 4, "{won} of {cases}");
    }
}

/// With every algorithm, from positions inside and outside the covered layers, the winner agrees
/// with the complete database, and the best move wins.
#[test]
fn searches_with_few_layers_find_the_same_winners() {
    let place = tempfile::tempdir().expect("a directory");
    let whole = database(place.path(), "5x5", None);
    let board = whole.board();
    let mut hits = 0;
    for max_stones in [0, 6, 13, 17] {
        let part = database(place.path(), "5x5", Some(max_stones));
        let mut random = Random(max_stones.into());
        for case in 0..60 {
            let position = after_moves(board, &mut random, case % 16);
            let expected = whole.value(&position).expect("a value") == Some(Value::Win);
            for algorithm in Algorithm::ALL {
                let values = DatabaseValues::new(&part);
                let solver = Solver::new(board, &position).options(options(algorithm));
                let solution = solver.oracle(&values).run().expect("memory");
                let winner = if expected { position.to_move() } else { !position.to_move() };
                assert_eq!(solution.winner, Some(winner), "{algorithm} {position:?}");
                assert_eq!(solution.best_move.is_some(), expected);
                if let Some(best) = solution.best_move {
                    let after = position.play(board, best);
                    assert_eq!(whole.value(&after).expect("a value"), Some(Value::Loss));
                }
                let counters = solution.report.counters;
                let covered = position.occupied().count_ones() <= max_stones;
                assert!(!covered || counters.expansions <= 1, "{algorithm} {counters:?}");
                hits += counters.known_hits;
                assert!(values.into_error().is_none());
            }
        }
    }
    assert!(hits > 1000, "{hits}");
}

#[test]
fn uncovered_positions_are_unknown_without_an_error() {
    let place = tempfile::tempdir().expect("a directory");
    let database = database(place.path(), "7x7", Some(4));
    let board = database.board();
    let values = DatabaseValues::new(&database);
    let mut random = Random(1);
    for _ in 0..1000 {
        let position = scattered(board, &mut random);
        let code = position.code(board);
        let covered = position.occupied().count_ones() <= 4;
        assert_eq!(values.value(code) != OracleAnswer::Unknown, covered, "{position:?}");
    }
    assert!(values.into_error().is_none());
}

/// A database of reachable positions has no values of other positions. Searches from other
/// positions are still correct.
#[test]
fn unreachable_positions_are_searched() {
    let place = tempfile::tempdir().expect("a directory");
    let board = Board::new("4x5".parse().expect("a board"));
    let options_of_build =
        BuildOptions { scope: Scope::Reachable, ..BuildOptions::complete(place.path().to_owned()) };
    let plan = plan(&board, &options_of_build).expect("a plan");
    build(&board, &plan, &(), &AtomicBool::new(false)).expect("a database");
    let database = Database::open(&plan.directory, DatabaseOptions::default()).expect("files");
    let mut random = Random(3);
    let mut unreached = 0;
    for case in 0..400 {
        let position = match case % 2 {
            0 => after_moves(&board, &mut random, case / 2 % 14),
            _ => scattered(&board, &mut random),
        };
        let expected = wins(&board, &position);
        let values = DatabaseValues::new(&database);
        let answer = values.value(position.code(&board));
        match database.value(&position).expect("a value") {
            None => {
                // The oracle may still have a value if the position with exchanged colours is
                // reachable.
                let value = if expected { Value::Win } else { Value::Loss };
                let possible = [OracleAnswer::Unknown, OracleAnswer::Known(value)];
                assert!(possible.contains(&answer) && case % 2 == 1, "{position:?}");
                unreached += u32::from(answer == OracleAnswer::Unknown);
            }
            Some(found) => {
                let value = if expected { Value::Win } else { Value::Loss };
                assert_eq!(found, value, "{position:?}");
                assert_eq!(answer, OracleAnswer::Known(value), "{position:?}");
            }
        }
        let solver = Solver::new(&board, &position).options(options(Algorithm::ALL[case / 2 % 4]));
        let solution = solver.oracle(&values).run();
        let winner = if expected { position.to_move() } else { !position.to_move() };
        assert_eq!(solution.expect("memory").winner, Some(winner), "{position:?}");
        assert!(values.into_error().is_none());
    }
    assert!(unreached > 50, "{unreached}");
}

/// If the first layers that a search reads are damaged, no algorithm returns an outcome. All report
/// the reason, and the error names the file.
#[test]
fn damaged_files_end_a_search_without_an_outcome() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = database(place.path(), "5x5", Some(18)).directory().to_owned();
    for stones in 12..=18 {
        let path = directory.join(format!("stones-{stones:02}.kdb"));
        let mut bytes = fs::read(&path).expect("a file");
        let footer = bytes.len() - 40;
        let index = u64::from_le_bytes(bytes[footer..footer + 8].try_into().expect("8 bytes"));
        bytes[88..index as usize].iter_mut().step_by(8).for_each(|byte| *byte ^= 0x10);
        fs::write(&path, bytes).expect("the file is written");
    }
    let size: Dimensions = "5x5".parse().expect("a board");
    let database = Database::find(&[place.path()], size, DatabaseOptions::default());
    let database = database.expect("chunks are checked when they are read");
    let board = database.board();
    for algorithm in Algorithm::ALL {
        // The thesis profile has no leaf solver, which might end the search before it reads the
        // files.
        let options = SolveOptions { profile: Profile::Thesis, ..options(algorithm) };
        let start = parse_moves(board, "a5").expect("a move");
        let values = DatabaseValues::new(&database);
        let solver = Solver::new(board, &start).options(options);
        let solution = solver.oracle(&values).run().expect("memory");
        assert_eq!(solution.reason, Some(Reason::FileError), "{algorithm}");
        assert!(
            solution.report.counters.expansions > 1,
            "the search failed before its second expansion"
        );
        let error = values.into_error().expect("an error");
        assert!(error.is_damage(), "{error}");
        assert!(error.to_string().contains("stones-"), "{error}");
    }
}
