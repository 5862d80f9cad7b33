//! Results of `probe` and perfect games, compared with plain recursion.

use crate::cgt::OutcomeClass;
use crate::notation::{parse_moves, parse_position};
use crate::tablebase::{DatabaseError, Metric, Scope, perfect_game, probe};
use crate::{Colour, ErrorKind, Phase, Position, Value};

use super::databases::{open, samples};
use super::naive::{Recursion, Sample, build, reachable};

#[test]
fn moves_are_rated_and_the_best_come_first() {
    let out = tempfile::tempdir().unwrap();
    for (size, scope) in [
        ("3x3", Scope::Complete),
        ("3x4", Scope::Reachable),
        ("4x4", Scope::Complete),
        ("1x1", Scope::Complete),
        ("2x2", Scope::Reachable),
        ("1x8", Scope::Reachable),
    ] {
        let metric = Metric::Outcome;
        let plan = Sample { size, scope, metric, max_stones: 64, chunk_bytes: 128 };
        let database = open(&build(out.path(), &plan, |_| false));
        let board = database.board();
        let mut oracle = Recursion::new(size);
        let mut positions: Vec<Position> = reachable(board)
            .into_iter()
            .map(|(occupied, side)| Position::new_unchecked(board, occupied, side))
            .collect();
        positions.push(Position::start(board));
        let start = Position::start(board);
        positions.extend(start.moves(board).into_iter().map(|mv| start.play(board, mv)));
        for position in positions.iter().rev().take(3000) {
            let answer = probe(&database, position).unwrap();
            assert_eq!(answer.outcome == Value::Win, oracle.value(position), "{position:?}");
            let values = [Colour::Black, Colour::White].map(|side| {
                let other = Position::new_unchecked(board, position.occupied(), side);
                let is_known = scope == Scope::Complete || positions.contains(&other);
                is_known.then(|| oracle.value(&other))
            });
            let class = match (position.phase(board), values) {
                (Phase::Jumping, [Some(black), Some(white)]) => {
                    Some(OutcomeClass::of(!white, !black))
                }
                _ => None,
            };
            assert_eq!(answer.class, class, "{position:?}");
            let moves = position.moves(board);
            assert_eq!(answer.moves.len(), moves.len());
            // Winning moves come first. Winning and losing moves are each in the order of the move generator.
            let place = |rated: &crate::tablebase::RatedMove| {
                let number = moves.iter().position(|&mv| mv == rated.mv).unwrap();
                (rated.outcome == Value::Loss, number)
            };
            assert!(answer.moves.is_sorted_by_key(place), "{answer:?}");
            for rated in &answer.moves {
                let loses = oracle.value(&position.play(board, rated.mv));
                assert_eq!(rated.outcome == Value::Loss, loses, "{position:?} {rated:?}");
            }
        }
    }
}

/// With the remoteness, the quickest wins and the longest losses come first, and a perfect game has as many plies
/// as the remoteness states.
#[test]
fn winners_hurry_and_losers_delay() {
    let database = open(&samples(2, "3x4-complete-remoteness"));
    let board = database.board();
    let mut oracle = Recursion::new("3x4");
    for (occupied, side) in reachable(board).into_iter().chain([(board.all(), Colour::Black)]) {
        let position = Position::new_unchecked(board, occupied, side);
        let plies = oracle.plies(&position);
        let answer = probe(&database, &position).unwrap();
        assert_eq!(answer.remoteness, Some(plies), "{position:?}");
        let moves = position.moves(board);
        let mut expected: Vec<(bool, i64, usize)> = moves
            .iter()
            .enumerate()
            .map(|(number, &mv)| match i64::from(oracle.plies(&position.play(board, mv))) {
                lost if lost % 2 == 0 => (false, lost, number),
                won => (true, -won, number),
            })
            .collect();
        expected.sort_unstable();
        let found: Vec<(bool, i64, usize)> = answer
            .moves
            .iter()
            .map(|rated| {
                let number = moves.iter().position(|&mv| mv == rated.mv).unwrap();
                // The remoteness of a move counts the move.
                let plies = i64::from(rated.remoteness.unwrap()) - 1;
                match rated.outcome {
                    Value::Win => (false, plies, number),
                    Value::Loss => (true, -plies, number),
                }
            })
            .collect();
        assert_eq!(found, expected, "{position:?}");
        assert_eq!(perfect_game(&database, position).count() as u32, plies, "{position:?}");
    }
}

#[test]
fn positions_that_are_not_covered() {
    let out = tempfile::tempdir().unwrap();
    let (scope, metric) = (Scope::Complete, Metric::Outcome);
    let plan = Sample { size: "3x4", scope, metric, max_stones: 9, chunk_bytes: 4096 };
    let small = open(&build(out.path(), &plan, |_| false));
    let start = Position::start(small.board());
    let error = probe(&small, &start).unwrap_err();
    assert!(matches!(error, DatabaseError::NotCovered { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("3x4 board with at most 9 stones"), "{text}");
    // The position has ten stones and is not covered. Its successors have nine and are covered.
    let position = parse_moves(small.board(), "b2 c2").unwrap();
    assert_eq!(probe(&small, &position).unwrap_err().kind(), ErrorKind::Usage);

    let reached = open(&samples(1, "3x3-reachable"));
    let board = reached.board();
    let alone = parse_position(board, "x2/3/3 w").unwrap();
    let error = probe(&reached, &alone).unwrap_err();
    assert!(error.kind() == ErrorKind::Usage && error.to_string().contains("x2/3/3 w"), "{error}");
    assert!(error.to_string().contains("that a game can reach"), "{error}");
    let outside = Position::new_unchecked(board, 1 << 40, Colour::Black);
    assert!(matches!(probe(&reached, &outside), Err(DatabaseError::OutsideBoard { .. })));
}

/// If a value is wrong and all checksums are correct, `probe` finds that the value contradicts those of the moves.
#[test]
fn a_value_that_contradicts_the_moves_is_an_error() {
    let out = tempfile::tempdir().unwrap();
    let (scope, metric) = (Scope::Complete, Metric::Outcome);
    let plan = Sample { size: "3x3", scope, metric, max_stones: 9, chunk_bytes: 4096 };
    let database = open(&build(out.path(), &plan, |address| {
        address.black == 3 && address.white == 2 && address.to_move == Colour::Black
    }));
    let board = database.board();
    let mut errors = 0;
    for (occupied, side) in reachable(board) {
        let position = Position::new_unchecked(board, occupied, side);
        if occupied.count_ones() == 5 && side == Colour::Black {
            let black = position.stones(board, Colour::Black).count_ones();
            let error = probe(&database, &position);
            assert_eq!(error.is_err(), black == 3, "{position:?}");
            errors += u32::from(error.is_err());
        }
    }
    assert_ne!(errors, 0);
}

#[test]
fn perfect_games_end_with_the_right_winner() {
    let database = open(&samples(1, "3x4-complete"));
    let board = database.board();
    let mut oracle = Recursion::new("3x4");
    for (occupied, side) in reachable(board).into_iter().chain([(board.all(), Colour::Black)]) {
        let from = Position::new_unchecked(board, occupied, side);
        let winner = if oracle.value(&from) { side } else { !side };
        let mut game = perfect_game(&database, from);
        let mut position = from;
        for step in &mut game {
            let (before, mv) = step.unwrap();
            assert_eq!(before, position);
            assert!(position.is_legal(board, mv), "{}", mv.to_string());
            position = position.play(board, mv);
        }
        assert_eq!(game.position(), Some(position));
        assert!(position.moves(board).is_empty());
        assert_eq!(position.to_move(), !winner, "the player who cannot move has lost");
    }
}
