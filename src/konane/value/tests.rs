//! Values against the rules: winners by plain recursion, values without symmetries, regions and memo.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;
use crate::konane::board::Rules;
use crate::konane::notation::parse_position_as;
use crate::konane::position::PhaseChoice;
use crate::konane::symmetry::Symmetry;

fn board(text: &str) -> Board {
    Board::with_rules(text.parse().unwrap(), Rules::Jumping)
}

fn store() -> GameStore<'static> {
    GameStore::new(Limits::default(), 1 << 30)
}

fn run<'e, 'a>(
    games: &'e mut GameStore<'a>,
    observer: &'e mut dyn FnMut(&ValueProgress),
) -> Evaluation<'e, 'a> {
    Evaluation { games, positions: 0, max_positions: None, observer }
}

/// The sum of the values of the regions.
fn split_value(
    values: &mut PositionValues<'_>,
    occupied: u64,
    run: &mut Evaluation<'_, '_>,
) -> GameId {
    regions(values.board, occupied).into_iter().fold(run.games.zero(), |sum, region| {
        let value = values.region_value(region.occupied, run).unwrap();
        run.games.sum(sum, value).unwrap()
    })
}

/// Returns true if the player to move wins: plain recursion with a map.
fn wins(board: &Board, position: Position, known: &mut HashMap<Position, bool>) -> bool {
    if let Some(&result) = known.get(&position) {
        return result;
    }
    let result =
        position.moves(board).into_iter().any(|mv| !wins(board, position.play(board, mv), known));
    known.insert(position, result);
    result
}

/// The value by the definition, without regions, codes or a memo of positions.
fn plain_value(board: &Board, occupied: u64, games: &mut GameStore<'_>) -> GameId {
    let [left, right] = [Colour::Black, Colour::White].map(|colour| {
        let position = Position::new_unchecked(board, occupied, colour);
        let moves = position.moves(board).into_iter();
        moves
            .map(|mv| plain_value(board, position.play(board, mv).occupied(), games))
            .collect::<Vec<_>>()
    });
    games.game(&left, &right).unwrap()
}

#[test]
fn classes_agree_with_winners_on_all_positions_of_small_boards() {
    for size in ["1x12", "2x6", "3x4", "4x4", "3x5"] {
        let board = board(size);
        let (mut games, mut observer, mut known) =
            (store(), |_: &ValueProgress| (), HashMap::new());
        let (mut run, mut values) = (run(&mut games, &mut observer), PositionValues::new(&board));
        for occupied in 0..=board.all() {
            let value = values.region_value(occupied, &mut run).unwrap();
            let class = run.games.class(value);
            let [black, white] = [Colour::Black, Colour::White].map(|colour| {
                wins(&board, Position::new_unchecked(&board, occupied, colour), &mut known)
            });
            assert_eq!(class, OutcomeClass::of(!white, !black), "{size} {occupied:b}");
            // The regions, which this board does not need, have the same sum.
            assert_eq!(split_value(&mut values, occupied, &mut run), value, "{size} {occupied:b}");
        }
    }
}

#[test]
fn symmetries_do_not_change_values() {
    for size in ["3x4", "3x3", "2x5", "1x10"] {
        let all = board(size);
        let none = all.clone().with_symmetry(Symmetry::None).unwrap();
        let (mut games, mut observer) = (store(), |_: &ValueProgress| ());
        let mut run = run(&mut games, &mut observer);
        let (mut values, mut plain) = (PositionValues::new(&all), PositionValues::new(&none));
        for occupied in 0..=all.all() {
            assert_eq!(
                values.region_value(occupied, &mut run),
                plain.region_value(occupied, &mut run)
            );
            for permutation in all.symmetries().exchanging() {
                let image = crate::konane::symmetry::permute(permutation, occupied);
                let negative =
                    plain.region_value(image, &mut run).map(|value| run.games.negative(value));
                assert_eq!(values.region_value(occupied, &mut run), negative);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn values_agree_with_the_definition(size in 0..4usize, occupied in any::<u64>()) {
        let board = board(["3x3", "2x5", "3x4", "1x11"][size]);
        let (mut games, mut observer) = (store(), |_: &ValueProgress| ());
        let expected = plain_value(&board, occupied & board.all(), &mut games);
        let mut values = PositionValues::new(&board);
        let value = split_value(&mut values, occupied & board.all(), &mut run(&mut games, &mut observer));
        prop_assert_eq!(value, expected);
    }
}

#[test]
fn a_position_is_the_sum_of_its_regions() {
    let mut random = 1u64;
    let mut next = || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        random ^ random >> 29
    };
    let mut splits = 0;
    // Few stones, some of them in blocks with empty files between them: dense positions hardly ever fall apart.
    for (size, files) in [("3x10", 0b11_1000_0111), ("4x9", 0b1_1000_0011), ("6x6", 0b11_1111)] {
        let board = board(size);
        let width = board.dimensions().files();
        let block =
            (0..board.dimensions().ranks()).fold(0u64, |set, rank| set | files << (rank * width));
        let (mut games, mut observer) = (store(), |_: &ValueProgress| ());
        let (mut run, mut values) = (run(&mut games, &mut observer), PositionValues::new(&board));
        for _ in 0..1500 {
            let occupied = next() & next() & block;
            let parts = regions(&board, occupied);
            let whole = values.region_value(occupied, &mut run).unwrap();
            assert_eq!(split_value(&mut values, occupied, &mut run), whole, "{size} {occupied:b}");
            assert_eq!(parts.iter().fold(0, |all, part| all ^ part.stones) & !occupied, 0);
            splits += u32::from(parts.len() > 1);
        }
    }
    assert!(splits > 50, "{splits}");
}

fn term(size: &str, text: &str) -> ValueTerm {
    let (board, position) =
        parse_position_as(size.parse().unwrap(), text, PhaseChoice::Jump).unwrap();
    ValueTerm::Position(Arc::new(board), position)
}

fn evaluated(terms: &[ValueTerm], to_move: Colour) -> SumValue {
    evaluate(terms, to_move, Limits::default(), 1 << 26, &mut |_| ()).unwrap()
}

#[test]
fn small_positions_have_the_values_found_by_hand() {
    for (size, text, value) in [
        ("1x3", "xo1 b", "1"),
        ("1x3", "1ox b", "1"),
        ("1x4", "1oxo b", "1"),
        // After Black's only jump, White has one: {-1|} = 0.
        ("1x4", "xo1o b", "0"),
        ("1x5", "xo1o1 b", "1"),
        ("1x5", "2xo1 b", "*"),
        ("3x5", "2xo1/5/2xo1 b", "0"),
        ("2x2", "xo/ox b", "0"),
        // With all stones on squares of the other colour.
        ("1x6", "1xoxo1 b", "0"),
        ("1x3", "ox1 b", "-1"),
        ("1x3", "ox1 w jump", "-1"),
        ("3x5", "1xo2/5/1xo2 b", "0"),
    ] {
        let found = evaluated(&[term(size, text)], Colour::Black);
        assert_eq!(found.value, value, "{size} {text}");
    }
}

#[test]
fn moves_of_a_sum_win_by_the_rules() {
    // Two strips, as the first and the last rank of a board: they do not touch.
    for first in ["xo1o", "1oxo", "xo1o1", "x1xo1"] {
        for second in ["xo1o", "1oxo"] {
            let width = first.len();
            let row = |text: &str| format!("{text}{}", "1".repeat(width - text.len()));
            let rows = format!("{}/{width}/{}", row(first), row(second));
            let whole = format!("3x{width}");
            for to_move in [Colour::Black, Colour::White] {
                let side = if to_move == Colour::Black { "b" } else { "w" };
                let terms = [
                    term(&format!("1x{width}"), &format!("{} {side}", row(first))),
                    term(&format!("1x{width}"), &format!("{} {side}", row(second))),
                ];
                let sum = evaluated(&terms, to_move);
                let single = evaluated(&[term(&whole, &format!("{rows} {side}"))], to_move);
                assert_eq!((&sum.value, sum.winner), (&single.value, single.winner), "{rows}");
                let count = |found: &SumValue, outcome| {
                    found.moves.iter().filter(|mv| mv.outcome == outcome).count()
                };
                for outcome in [Value::Win, Value::Loss] {
                    assert_eq!(count(&sum, outcome), count(&single, outcome), "{rows}");
                }
            }
        }
    }
}

#[test]
fn games_are_terms_of_sums() {
    let terms = [
        term("1x5", "2xo1 b"),
        ValueTerm::Game("{0|-1}".to_owned()),
        ValueTerm::Game("*2".to_owned()),
    ];
    let found = evaluated(&terms, Colour::White);
    assert_eq!(
        (found.value.as_str(), found.winner),
        ("{*3|-1*3}", Some(Colour::White)),
        "{found:?}"
    );
    // White may jump in the first term, and move to a right option of the others.
    let mut moves: Vec<(u32, &str)> =
        found.moves.iter().map(|mv| (mv.term.unwrap(), mv.mv.as_str())).collect();
    moves.sort_unstable();
    assert_eq!(moves, [(1, "d1-b1"), (2, "-1"), (3, "*"), (3, "0")]);
    let switch = found.moves.iter().find(|mv| mv.term == Some(2)).unwrap();
    assert_eq!((switch.outcome, switch.value.as_str()), (Value::Win, "-1"));
}

#[test]
fn limits_leave_the_value_unknown() {
    let start = "xox1xo/oxoxox/xo1oxo/oxoxox/xoxoxo/oxoxox b";
    let stop = AtomicBool::new(true);
    for (limits, memory, reason) in [
        (Limits { nodes: Some(1000), ..Limits::default() }, 1 << 26, Reason::NodeLimit),
        (
            Limits { deadline: Some(Instant::now()), ..Limits::default() },
            1 << 26,
            Reason::TimeLimit,
        ),
        (Limits { stop: Some(&stop), ..Limits::default() }, 1 << 26, Reason::Interrupted),
        (Limits::default(), 1 << 20, Reason::Memory),
    ] {
        let mut calls = 0;
        let found =
            evaluate(&[term("6x6", start)], Colour::Black, limits, memory, &mut |_| calls += 1)
                .unwrap();
        assert_eq!(
            (found.value.as_str(), found.reason, found.class),
            ("unknown", Some(reason), None)
        );
        assert!(found.nodes <= 1000 || reason != Reason::NodeLimit);
        assert!(
            found.memory_bytes <= memory && found.moves.is_empty() && found.components.len() == 1
        );
    }
}

#[test]
fn positions_before_the_jumping_phase_are_errors() {
    let board = Board::new("4x4".parse().unwrap());
    let start = Position::start(&board);
    let terms = [ValueTerm::Position(Arc::new(board), start)];
    let error =
        evaluate(&terms, Colour::Black, Limits::default(), 1 << 26, &mut |_| ()).unwrap_err();
    assert_eq!(error, ValueError::Removal(start));
}

#[test]
fn a_census_counts_every_position() {
    let rows = census(&board("3x3"), Limits::default(), 1 << 26, &mut |_| ()).unwrap();
    assert_eq!(rows.iter().map(|row| row.positions).sum::<u64>(), 512);
    assert!(rows.is_sorted_by(|a, b| a.temperature >= b.temperature));
    for row in &rows {
        let found =
            evaluated(&[ValueTerm::Position(Arc::new(board("3x3")), row.example)], Colour::Black);
        assert_eq!((found.value, found.mean), (row.value.clone(), Some(row.mean)));
    }
}

/// Returns true if the player to move wins a sum of positions and of games with options: plain recursion.
fn wins_sum(
    games: &GameStore<'_>,
    positions: &mut Vec<(Board, u64)>,
    known: &mut Vec<GameId>,
    colour: Colour,
    memo: &mut HashMap<(Vec<u64>, Vec<GameId>, Colour), bool>,
) -> bool {
    let key = (positions.iter().map(|p| p.1).collect(), known.clone(), colour);
    if let Some(&result) = memo.get(&key) {
        return result;
    }
    let mut result = false;
    for at in 0..positions.len() {
        let (board, occupied) = positions[at].clone();
        let position = Position::new_unchecked(&board, occupied, colour);
        for mv in position.moves(&board) {
            positions[at].1 = position.play(&board, mv).occupied();
            result |= !wins_sum(games, positions, known, !colour, memo);
        }
        positions[at].1 = occupied;
    }
    for at in 0..known.len() {
        let game = known[at];
        let options: Vec<GameId> = match colour {
            Colour::Black => games.left_options(game).collect(),
            Colour::White => games.right_options(game).collect(),
        };
        for option in options {
            known[at] = option;
            result |= !wins_sum(games, positions, known, !colour, memo);
        }
        known[at] = game;
    }
    memo.insert(key, result);
    result
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A limit of nodes leaves most components to the search; without a limit, values decide.
    #[test]
    fn winners_of_sums_are_those_of_plain_recursion(
        occupied in proptest::collection::vec((0usize..3, any::<u64>()), 1..3),
        game in prop::sample::select(vec!["0", "*", "{2|-1}", "^", "-1/2", "+-(1,{2|0})"]),
        to_move in prop::sample::select(vec![Colour::Black, Colour::White]),
        max in prop::sample::select(vec![0, 20, 500_000]),
    ) {
        let boards = ["1x7", "3x3", "2x5"].map(board);
        let mut positions: Vec<(Board, u64)> = occupied
            .iter()
            .map(|&(at, occupied)| (boards[at].clone(), occupied & boards[at].all()))
            .collect();
        let position = |(board, occupied): &(Board, u64)| {
            let position = Position::new_unchecked(board, *occupied, to_move);
            ValueTerm::Position(Arc::new(board.clone()), position)
        };
        let mut terms: Vec<ValueTerm> = positions.iter().map(position).collect();
        terms.push(ValueTerm::Game(game.to_owned()));
        let mut games = store();
        let mut known = vec![games.parse(game).unwrap()];
        let mut memo = HashMap::new();
        let wins = wins_sum(&games, &mut positions, &mut known, to_move, &mut memo);

        let solution = sum_search::solve_sum_within(
            &terms, to_move, Limits::default(), 1 << 26, max, &mut |_| (),
        ).unwrap();
        let expected = if wins { Value::Win } else { Value::Loss };
        prop_assert_eq!(solution.outcome, Some(expected));
        prop_assert_eq!(solution.best_move.is_some(), wins);
        let Some(best) = solution.best_move else { return Ok(()) };

        // The move leads to a sum that the opponent loses.
        let at = best.term as usize - 1;
        match positions.get(at).cloned() {
            Some((board, occupied)) => {
                let position = Position::new_unchecked(&board, occupied, to_move);
                let mv = position.moves(&board).into_iter().find(|mv| mv.to_string() == best.mv);
                positions[at].1 = position.play(&board, mv.unwrap()).occupied();
            }
            None => known[0] = games.parse(&best.mv).unwrap(),
        }
        prop_assert!(!wins_sum(&games, &mut positions, &mut known, !to_move, &mut memo));
    }
}

#[test]
fn sums_that_are_too_large_or_reach_a_limit_have_no_winner() {
    let start = "xoxoxo/oxoxox/xo2xo/oxoxox/xoxoxo/oxoxox b";
    let solve = |terms: &[ValueTerm], nodes| {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        sum_search::solve_sum_within(terms, Colour::Black, limits, 1 << 24, 100, &mut |_| ())
    };
    let solution = solve(&[term("6x6", start), ValueTerm::Game("*".to_owned())], 1000).unwrap();
    assert_eq!((solution.outcome, solution.reason), (None, Some(Reason::NodeLimit)));
    assert!(solution.nodes <= 1010 && solution.searched == 1, "{solution:?}");
    let error = solve(&[term("6x6", start), term("6x6", start)], 1000).unwrap_err();
    assert!(matches!(error, ValueError::TooLarge { bits: 70.. }), "{error}");
}

/// An evaluation that ends for lack of memory leaves enough for the search.
#[test]
fn sums_are_searched_after_an_evaluation_has_filled_its_memory() {
    let large = term("6x6", "xoxoxo/oxoxox/xo2xo/oxoxox/xoxoxo/oxoxox b");
    let terms = [term("4x4", "xo2/2ox/1o1o/o1o1 b"), ValueTerm::Game("{2|-1}".to_owned()), large];
    for memory in [1 << 20, 1 << 21, 1 << 22, 1 << 23] {
        let solution =
            solve_sum(&terms, Colour::Black, Limits::default(), memory, &mut |_| ()).unwrap();
        assert_eq!((solution.winner, solution.searched), (Some(Colour::Black), 1), "{memory}");
        assert!(solution.memory_bytes <= memory, "{solution:?}");
    }
}

/// No square is in reach of stones of two regions.
#[test]
fn regions_have_no_square_in_common() {
    for size in ["1x10", "2x5", "3x4"] {
        let board = board(size);
        for occupied in 0..=board.all() {
            let mut taken = 0;
            for BoardRegion { reach, stones, occupied } in regions(&board, occupied) {
                assert_eq!((taken & reach, stones & !reach), (0, 0), "{size} {occupied:b}");
                taken |= reach;
            }
        }
    }
}

/// A complete count is the number of positions that an evaluation visits, and an estimate is close to it.
#[test]
fn plans_agree_with_evaluations() {
    let terms = [
        vec![term("4x4", "xo2/2ox/1o1o/o1o1 b"), term("1x12", "1o1ox1x1xoxo b")],
        vec![term("2x8", "xo1o1oxo/o1ox1xox b")],
        vec![term("5x5", "xox2/oxoxo/xo2x/oxoxo/xoxox b"), ValueTerm::Game("*".to_owned())],
    ];
    for terms in terms {
        let plan_within = |nodes, memory| {
            let limits = Limits { nodes, ..Limits::default() };
            plan(&terms, limits, memory, &mut |_| ()).unwrap()
        };
        let nodes = evaluated(&terms, Colour::Black).nodes;
        let exact = plan_within(None, 1 << 30);
        assert_eq!((exact.positions, exact.counted, exact.reason), (Some(nodes), nodes, None));
        if nodes < 10_000 {
            continue;
        }
        // 10 % of the positions, and 4 layers.
        let rough = plan_within(Some(nodes / 10), 1 << 30);
        assert_eq!(rough.reason, Some(Reason::NodeLimit));
        let error = rough.positions.unwrap() as f64 / nodes as f64;
        assert!(rough.counted < nodes && (0.7..1.5).contains(&error), "{rough:?}");
        assert!(plan_within(Some(0), 1 << 30).positions.is_some());
        // Too little memory for the layers.
        let little = plan_within(None, 1 << 16);
        assert_eq!(little.reason, Some(Reason::Memory));
        assert!(little.counted < nodes, "{little:?}");
    }
}
