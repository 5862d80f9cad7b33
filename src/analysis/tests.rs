//! Values of analyses, compared with plain recursion.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::remoteness::{RemotenessSearch, RemotenessTable};
use super::{Analysis, Analyst, ValueSource};
use crate::konane::notation::{parse_moves, parse_position};
use crate::konane::{Board, Colour, Phase, Position, SolveOptions, Solver};
use crate::proof::{Proof, ProofStrategy, ProofWriter, prove};
use crate::search::Value;
use crate::search::run::{Limits, Reason};
use crate::tablebase::values::remoteness::remoteness;
use crate::tablebase::{BuildOptions, Database, DatabaseOptions, Metric, build, plan};

/// Reference implementation: values by plain recursion.
struct ReferenceValues<'a> {
    board: &'a Board,
    values: HashMap<Position, Value>,
}

impl ReferenceValues<'_> {
    fn value(&mut self, position: &Position) -> Value {
        if let Some(&value) = self.values.get(position) {
            return value;
        }
        let mut won = false;
        for mv in position.moves(self.board) {
            won |= self.value(&position.play(self.board, mv)) == Value::Loss;
        }
        let value = if won { Value::Win } else { Value::Loss };
        self.values.insert(*position, value);
        value
    }

    fn agrees(&mut self, analysis: &Analysis) {
        assert_eq!(analysis.outcome(), Some(self.value(&analysis.position)));
        for judged in &analysis.moves {
            assert_eq!(judged.outcome(), Some(!self.value(&judged.after)));
            assert_eq!(judged.replies, judged.after.count_moves(self.board));
        }
        let mut moves: Vec<_> = analysis.moves.iter().map(|judged| judged.mv).collect();
        let mut legal = analysis.position.moves(self.board);
        let key = |mv: &_| format!("{mv:?}");
        moves.sort_by_key(key);
        legal.sort_by_key(key);
        assert_eq!(moves, legal);
        let outcomes: Vec<_> = analysis.moves.iter().map(|judged| judged.outcome()).collect();
        assert!(outcomes.is_sorted_by_key(|outcome| *outcome == Some(Value::Loss)), "{outcomes:?}");
    }
}

fn analyst(board: &str) -> Analyst {
    Analyst::new(board.parse().unwrap(), 4 << 20).unwrap()
}

fn position(board: &Board, stones: u64, white: bool) -> Position {
    let to_move = if white { Colour::White } else { Colour::Black };
    Position::new_unchecked(board, board.all() & stones & !0b101, to_move)
}

proptest! {
    #[test]
    fn judgements_agree_with_plain_recursion(
        size in prop::sample::select(vec!["3x3", "3x4", "4x4", "1x9", "2x8"]),
        stones: u64,
        white: bool,
    ) {
        let mut analyst = analyst(size);
        let board = analyst.board().clone();
        let position = position(&board, stones, white);
        let mut reference = ReferenceValues { board: &board, values: HashMap::new() };
        let analysis = analyst.analyse(&position, Limits::default(), &mut |_| {}).unwrap();
        reference.agrees(&analysis);
        prop_assert_eq!(analysis.reason, None);
        // The value is stored, and the chosen moves preserve it.
        prop_assert_eq!(&analyst.lookup_moves(&position).unwrap().outcome(), &analysis.outcome());
        let line = analyst.line(&position, Limits::default()).unwrap();
        let (mut at, mut value) = (position, reference.value(&position));
        for mv in line {
            prop_assert!(at.is_legal(&board, mv));
            at = at.play(&board, mv);
            value = !value;
            prop_assert_eq!(reference.value(&at), value);
        }
        prop_assert_eq!(at.count_moves(&board), 0);
    }
}

proptest! {
    /// The value of a chosen move is right, with any node limit.
    #[test]
    fn values_of_chosen_moves_are_right(
        size in prop::sample::select(vec!["3x4", "4x4", "2x8", "3x5"]),
        stones: u64,
        white: bool,
        nodes in 0u64..60,
    ) {
        let mut analyst = analyst(size);
        let board = analyst.board().clone();
        let position = position(&board, stones, white);
        let mut reference = ReferenceValues { board: &board, values: HashMap::new() };
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        match analyst.choose(&position, limits).unwrap() {
            None => prop_assert_eq!(position.count_moves(&board), 0),
            Some(choice) => {
                let after = position.play(&board, choice.mv);
                if let Some(judgement) = choice.judgement {
                    prop_assert_eq!(judgement.outcome, !reference.value(&after));
                    prop_assert_eq!(judgement.outcome, reference.value(&position));
                }
            }
        }
    }
}

/// Analysts that search in one table at the same time find the right values, count their own nodes and report
/// the progress of their own searches.
#[test]
fn analysts_that_share_a_table_find_the_right_values() {
    let mut first = analyst("4x5");
    let board = first.board().clone();
    assert!(!first.is_shared());
    let shared: Vec<Analyst> = (0..4).map(|_| first.share()).collect();
    assert!(first.is_shared());
    let search = |thread: u64, analyst: Analyst| {
        let mut analyst = analyst.on_progress(|_, progress| assert!(progress.counters.nodes > 0));
        let numbers =
            (0..20).map(|number| (number * 4 + thread).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let found = numbers.map(|stones| {
            let (position, before) = (position(&board, stones, stones % 2 == 0), analyst.nodes());
            let found = analyst.analyse(&position, Limits::default(), &mut |_| {}).unwrap();
            (found, analyst.nodes() - before)
        });
        found.collect::<Vec<_>>()
    };
    let found: Vec<(Analysis, u64)> = std::thread::scope(|scope| {
        let start = |(thread, analyst)| scope.spawn(move || search(thread, analyst));
        let threads: Vec<_> = (0..).zip(shared).map(start).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut reference = ReferenceValues { board: &board, values: HashMap::new() };
    found.iter().for_each(|(analysis, _)| reference.agrees(analysis));
    assert!(found.iter().any(|&(_, nodes)| nodes > 0));
    // All of them are done, and their results are known.
    assert!(!first.is_shared());
    for (analysis, _) in &found {
        assert_eq!(first.lookup_moves(&analysis.position).unwrap().outcome(), analysis.outcome());
    }
}

#[test]
fn the_node_limit_of_a_line_is_that_of_all_its_searches() {
    let mut analyst = analyst("5x6");
    let start = Position::start(analyst.board());
    let (analysis, choice) = analyst.solve(&start, Limits::default()).unwrap();
    assert_eq!(analysis.judgement, choice.unwrap().judgement);
    assert_eq!(analysis.reason, None);
    let before = analyst.nodes();
    let whole = analyst.line(&start, Limits::default()).unwrap();
    let nodes = analyst.nodes() - before;
    let mut fresh = Analyst::new("5x6".parse().unwrap(), 4 << 20).unwrap();
    fresh.solve(&start, Limits::default()).unwrap();
    let limits = Limits { nodes: Some(nodes / 2), ..Limits::default() };
    let line = fresh.line(&start, limits).unwrap();
    assert!(line.len() < whole.len(), "{} of {} moves, {nodes} nodes", line.len(), whole.len());
    let (open, _) = self::analyst("8x8")
        .solve(&Position::start(&Board::new("8x8".parse().unwrap())), limits)
        .unwrap();
    assert_eq!((open.outcome(), open.reason), (None, Some(Reason::NodeLimit)));
}

/// An analyst with a database of all positions with at most `max_stones` stones.
fn with_database(directory: &Path, size: &str, metric: Metric, max_stones: u32) -> Analyst {
    let board = Board::new(size.parse().unwrap());
    let options = BuildOptions::complete(directory.to_owned());
    let options = BuildOptions { metric, max_stones: Some(max_stones), ..options };
    let plan = plan(&board, &options).unwrap();
    build(&board, &plan, &(), &AtomicBool::new(false)).unwrap();
    let found = Database::find(&[directory], board.dimensions(), DatabaseOptions::default());
    analyst(size).with_database(found.unwrap()).unwrap()
}

/// Writes a proof to a file and opens it.
fn written_strategy(directory: &Path, proof: &Proof) -> ProofStrategy {
    let path = directory.join("a.proof");
    let writer = ProofWriter::create(&path).unwrap();
    writer.finish(&proof.header, &proof.certificate.codes).unwrap();
    ProofStrategy::open(&path).unwrap()
}

#[test]
fn databases_and_proofs_agree_with_a_search() {
    let directory = tempfile::tempdir().unwrap();
    let by_database = with_database(directory.path(), "3x4", Metric::Outcome, 12);
    let board = by_database.board().clone();
    let start = Position::start(&board);
    let proof = prove(&Solver::new(&board, &start), &mut ()).unwrap().proof.unwrap().unwrap();
    let strategy = written_strategy(directory.path(), &proof);
    let by_proof = analyst("3x4").with_proof(strategy).unwrap();
    let mut reference = ReferenceValues { board: &board, values: HashMap::new() };
    for text in ["", "b2", "a3", "a3 a2"] {
        let position = parse_moves(&board, text).unwrap();
        let analysis = by_database.lookup_moves(&position).unwrap();
        reference.agrees(&analysis);
        assert_eq!(analysis.judgement.unwrap().source, ValueSource::Database);
        // A proof has the value of its root. It may lack the positions after a move of the winner that it does not use.
        let judgement = by_proof.lookup_moves(&position).unwrap().judgement;
        if text.is_empty() {
            assert_eq!(judgement.unwrap().source, ValueSource::Proof);
            assert_eq!(judgement.unwrap().outcome, reference.value(&position));
        }
    }
}

/// Remoteness by plain recursion.
fn plies(board: &Board, position: &Position) -> u32 {
    let moves = position.moves(board).into_iter();
    remoteness(moves.map(|mv| plies(board, &position.play(board, mv)) + 1))
}

/// Uses a lost position in which only jumps over several stones lead to positions with few enough stones for a
/// database.
#[test]
fn a_loss_of_known_remoteness_is_not_preferred_to_one_of_unknown_remoteness() {
    for max_stones in [7, 8, 20] {
        let directory = tempfile::tempdir().unwrap();
        let mut analyst = with_database(directory.path(), "5x4", Metric::Remoteness, max_stones);
        let board = analyst.board().clone();
        let position = parse_position(&board, "1ox1/ox2/2x1/ox2/xo1o b").unwrap();
        let choice = analyst.choose(&position, Limits::default()).unwrap().unwrap();
        // With a database for 8 stones or more, the remoteness of all moves is known, and the move of the longest game
        // has to be chosen. With 7 stones, the game has to last for at least 3 plies after the move, which excludes the
        // shortest game.
        let least = if max_stones < 8 { 3 } else { plies(&board, &position) - 1 };
        let chosen = plies(&board, &position.play(&board, choice.mv));
        assert!(chosen >= least, "{max_stones} stones: {:?}", choice.mv);
    }
}

/// Checks the remoteness of positions in a database of few stones, and of positions whose moves all lead to such
/// positions, before and after searches.
#[test]
fn remoteness_agrees_with_plain_recursion() {
    let directory = tempfile::tempdir().unwrap();
    let mut analyst = with_database(directory.path(), "3x4", Metric::Remoteness, 5);
    let board = analyst.board().clone();
    let mut state = 1u64;
    let mut concluded = 0;
    for round in 0..2 {
        for _ in 0..2000 {
            state = state.wrapping_mul(0xD129_42A6_4C4D_9F2D).wrapping_add(0x5851_F42D);
            let position = position(&board, state >> 40 & state >> 20, state >> 63 == 1);
            let analysis = analyst.lookup_moves(&position).unwrap();
            let judgement = analysis.judgement;
            let found = judgement.and_then(|judgement| judgement.remoteness);
            if let Some(found) = found {
                assert_eq!(found, plies(&board, &position), "round {round}: {position:?}");
            }
            for judged in &analysis.moves {
                if let Some(found) = judged.judgement.and_then(|judgement| judgement.remoteness) {
                    assert_eq!(found, plies(&board, &judged.after) + 1, "{:?}", judged.mv);
                }
            }
            let beyond = |position: &Position| position.occupied().count_ones() > 5;
            if !analysis.moves.iter().any(|judged| beyond(&judged.after)) {
                assert!(found.is_some(), "round {round}: {position:?}");
                concluded += u32::from(beyond(&position) && found != Some(1));
            }
            analyst.analyse(&position, Limits::default(), &mut |_| {}).unwrap();
        }
    }
    assert!(concluded > 20, "{concluded}");
}

/// Compares searched remotenesses with those of a database.
fn agrees_with_database(size: &str, positions: impl Fn(&Board) -> Vec<Position>) {
    let directory = tempfile::tempdir().unwrap();
    let analyst = with_database(directory.path(), size, Metric::Remoteness, 25);
    let (board, database) = (analyst.board(), analyst.database().unwrap());
    let mut compared = 0;
    // A search has a node limit, so it is not used for all positions.
    for positions in positions(board).chunks(50) {
        let table = RemotenessTable::new(&positions[0]).unwrap();
        let mut search = RemotenessSearch::new(board, table, Limits::default());
        for position in positions {
            let Some(expected) = database.remoteness(position).unwrap() else { continue };
            let outcome = if expected % 2 == 1 { Value::Win } else { Value::Loss };
            assert_eq!(search.remoteness(position, outcome), Some(expected), "{position:?}");
            // A wrong outcome does not yield a remoteness.
            assert_eq!(search.remoteness(position, !outcome), None, "{position:?}");
            compared += 1;
        }
    }
    assert!(compared > 400, "{compared}");
}

#[test]
fn searched_remoteness_agrees_with_a_database() {
    agrees_with_database("4x4", |board| {
        let sides = [Colour::Black, Colour::White];
        let all = (0..1 << 16).flat_map(|set| sides.map(|side| (set, side)));
        let all = all.map(|(set, side)| Position::new_unchecked(board, set, side));
        all.filter(|position| position.phase(board) == Phase::Jumping).collect()
    });
    for size in ["4x5", "5x5"] {
        agrees_with_database(size, |board| {
            let mut state = 1u64;
            let mut random = || {
                state = state.wrapping_mul(0xD129_42A6_4C4D_9F2D).wrapping_add(0x5851_F42D);
                // Half of the positions have a quarter of the squares empty.
                let stones = state >> 20 | if state >> 62 & 1 == 1 { state >> 38 } else { 0 };
                position(board, stones, state >> 63 == 1)
            };
            (0..500).map(|_| random()).collect()
        });
    }
}

proptest! {
    /// The remotenesses of a position and its moves are right, and a line of best play has as many moves.
    #[test]
    fn searched_remoteness_agrees_with_plain_recursion(stones: u64, white: bool) {
        let mut analyst = analyst("3x4");
        let board = analyst.board().clone();
        let position = position(&board, stones, white);
        let analysis = analyst.analyse(&position, Limits::default(), &mut |_| {}).unwrap();
        let analysis = analyst.find_remoteness(analysis, Limits::default()).unwrap();
        let expected = plies(&board, &position);
        prop_assert_eq!(analysis.judgement.unwrap().remoteness, Some(expected));
        for judged in &analysis.moves {
            let expected = plies(&board, &judged.after) + 1;
            prop_assert_eq!(judged.judgement.unwrap().remoteness, Some(expected));
        }
        let best = analysis.moves.first().map(|best| best.judgement.unwrap().remoteness.unwrap());
        prop_assert_eq!(best.unwrap_or(0), expected);
        let line = analyst.line(&position, Limits::default()).unwrap();
        prop_assert_eq!(line.len() as u32, expected);
        prop_assert_eq!(line.first(), analysis.moves.first().map(|first| &first.mv));
        // The move that is chosen is the first one, and its value is that of the position.
        let choice = analyst.choose(&position, Limits::default()).unwrap();
        prop_assert_eq!(choice.map(|choice| choice.mv), line.first().copied());
        prop_assert!(choice.is_none_or(|choice| choice.judgement == analysis.judgement));
        let (mut at, mut left) = (position, expected);
        for mv in line {
            prop_assert!(at.is_legal(&board, mv));
            at = at.play(&board, mv);
            left -= 1;
            prop_assert_eq!(plies(&board, &at), left);
        }
    }
}

#[test]
fn the_remoteness_is_unknown_when_a_limit_is_reached() {
    let mut analyst = analyst("5x5");
    let start = Position::start(analyst.board());
    let analysis = analyst.analyse(&start, Limits::default(), &mut |_| {}).unwrap();
    let stop = AtomicBool::new(true);
    let limits = [
        Limits { nodes: Some(1000), ..Limits::default() },
        Limits { deadline: Some(std::time::Instant::now()), ..Limits::default() },
        Limits { stop: Some(&stop), ..Limits::default() },
    ];
    for limits in limits {
        let before = analyst.nodes();
        let limited = analyst.find_remoteness(analysis.clone(), limits).unwrap();
        assert_eq!(limited, analysis);
        assert!(analyst.nodes() - before <= 520, "half of the limit and one expansion");
    }
    let found = analyst.find_remoteness(analysis.clone(), Limits::default()).unwrap();
    assert_eq!(found.judgement.unwrap().remoteness, Some(15));
    assert_eq!(found.verdict.clone(), "Black wins in 15 plies: all 5 moves win.");
    // The table has these remotenesses, so they need no further nodes.
    let before = analyst.nodes();
    let repeated = analyst.find_remoteness(analysis, limits[1]).unwrap();
    assert_eq!((repeated, analyst.nodes()), (found, before));
}

#[test]
fn large_positions_have_no_searched_remoteness() {
    let mut analyst = analyst("6x6");
    // With 34 stones there is no search. With 32 stones, one reaches its own limit and is not repeated.
    for (moves, nodes) in [("c4 c3", 0..1), ("c4 c3 c6-c4 e3-c3", 4_000_000..4_000_100)] {
        let position = parse_moves(analyst.board(), moves).unwrap();
        let (analysis, _) = analyst.solve(&position, Limits::default()).unwrap();
        let before = analyst.nodes();
        for _ in 0..2 {
            let limited = analyst.find_remoteness(analysis.clone(), Limits::default()).unwrap();
            assert_eq!(limited, analysis);
            assert!(nodes.contains(&(analyst.nodes() - before)), "{}", analyst.nodes() - before);
        }
    }
}

#[test]
fn a_repeated_look_up_has_the_same_remoteness() {
    let mut analyst = analyst("3x3");
    let after = parse_moves(analyst.board(), "b2").unwrap();
    let start = Position::start(analyst.board());
    for _ in 0..2 {
        let analysis = analyst.lookup_moves(&after).unwrap();
        assert_eq!(analysis.judgement.unwrap().remoteness, Some(1));
        assert_eq!(analysis.verdict.clone(), "White wins in 1 ply: all 4 moves win.");
        analyst.analyse(&start, Limits::default(), &mut |_| {}).unwrap();
    }
}

/// The favourite move of a short search is not chosen if it loses by a proof.
#[test]
fn no_move_is_chosen_that_loses_by_a_proof() {
    let directory = tempfile::tempdir().unwrap();
    let board = Board::new("4x5".parse().unwrap());
    let limits = Limits { nodes: Some(20), ..Limits::default() };
    let options = SolveOptions { memory_bytes: 4 << 20, ..SolveOptions::default() };
    let (mut state, mut refuted) = (1u64, 0);
    while refuted < 10 {
        state = state.wrapping_mul(0xD129_42A6_4C4D_9F2D).wrapping_add(0x5851_F42D);
        let position = position(&board, state >> 20 | state >> 40, state >> 63 == 1);
        let Some(favourite) = analyst("4x5").choose(&position, limits).unwrap() else { continue };
        if favourite.judgement.is_some() {
            continue;
        }
        let after = position.play(&board, favourite.mv);
        let solver = Solver::new(&board, &after).options(options);
        let strategy = written_strategy(
            directory.path(),
            &prove(&solver, &mut ()).unwrap().proof.unwrap().unwrap(),
        );
        if strategy.winner() == position.to_move() {
            continue;
        }
        let mut analyst = analyst("4x5").with_proof(strategy).unwrap();
        if analyst.lookup_moves(&position).unwrap().count(None) > 0 {
            let choice = analyst.choose(&position, limits).unwrap().unwrap();
            assert_ne!(choice.mv, favourite.mv, "{position:?}");
            refuted += 1;
        }
    }
}

#[test]
fn values_are_unknown_when_a_limit_is_reached() {
    let mut analyst = analyst("8x8");
    let start = Position::start(analyst.board());
    let limits = Limits { nodes: Some(50_000), ..Limits::default() };
    let analysis = analyst.analyse(&start, limits, &mut |_| {}).unwrap();
    assert_eq!((analysis.outcome(), analysis.reason), (None, Some(Reason::NodeLimit)));
    assert!(analysis.count(None) == analysis.moves.len());
    let choice = analyst.choose(&start, limits).unwrap().unwrap();
    assert_eq!(choice.judgement, None);
    assert!(start.is_legal(analyst.board(), choice.mv));
    let stop = AtomicBool::new(true);
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    let analysis = analyst.analyse(&start, limits, &mut |_| {}).unwrap();
    assert_eq!(analysis.reason, Some(Reason::Interrupted));
}

#[test]
fn new_values_are_reported() {
    let mut analyst = analyst("5x5");
    let start = Position::start(analyst.board());
    let mut open_counts = Vec::new();
    let analysis = analyst
        .analyse(&start, Limits::default(), &mut |analysis| open_counts.push(analysis.count(None)))
        .unwrap();
    assert!(
        open_counts.len() > 1 && open_counts.is_sorted_by(|earlier, later| earlier >= later),
        "{open_counts:?}"
    );
    assert!(analysis.is_complete());
}

#[test]
fn the_end_of_a_game_has_a_value_by_the_rules() {
    let analyst = analyst("1x4");
    let over = parse_position(analyst.board(), "4 b").unwrap();
    let analysis = analyst.lookup_moves(&over).unwrap();
    assert_eq!(analysis.judgement.unwrap().source, ValueSource::Rules);
    assert_eq!(analysis.verdict.clone(), "Black cannot move. White has won.");
}

#[test]
fn proofs_of_other_boards_are_errors() {
    let board = Board::new("3x4".parse().unwrap());
    let start = Position::start(&board);
    let proof = prove(&Solver::new(&board, &start), &mut ()).unwrap().proof.unwrap().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let strategy = written_strategy(directory.path(), &proof);
    let error = analyst("4x4").with_proof(strategy).unwrap_err();
    assert_eq!(error.to_string(), "the proof is about 3x4, and the analysis about 4x4");
}

/// Asserts that a refutation answers every move of the loser and ends with positions without moves.
fn check_refutation(analyst: &mut Analyst, lost: &Position) -> usize {
    let board = analyst.board().clone();
    let found = analyst.refutation(lost, usize::MAX, Limits::default()).unwrap();
    assert_eq!(found[0].position, *lost);
    for (index, position) in found.iter().enumerate() {
        let defences = position.defences.as_ref().unwrap();
        let mut moves: Vec<_> = defences.iter().map(|defence| defence.mv).collect();
        let mut legal = position.position.moves(&board);
        let key = |mv: &_| format!("{mv:?}");
        moves.sort_by_key(key);
        legal.sort_by_key(key);
        assert_eq!((moves, position.moves as usize), (legal.clone(), legal.len()));
        for defence in defences {
            assert_eq!(defence.after, position.position.play(&board, defence.mv));
            assert!(defence.after.is_legal(&board, defence.answer));
            assert_eq!(defence.then, defence.after.play(&board, defence.answer));
            assert_eq!(found[defence.next].code, defence.then.code(&board));
            // Both players have moved, so the game ends.
            let stones = |position: &Position| position.occupied().count_ones();
            assert!(stones(&found[defence.next].position) < stones(&position.position));
        }
        assert!(found[..index].iter().all(|earlier| earlier.code != position.code));
    }
    found.len()
}

#[test]
fn refutations_answer_every_move() {
    let mut analyst = analyst("4x5");
    // White wins 4x5.
    let start = Position::start(analyst.board());
    let all = check_refutation(&mut analyst, &start);
    let limited = analyst.refutation(&start, 2, Limits::default()).unwrap();
    assert!(limited.len() < all);
    let known = |lost: &&super::LostPosition| lost.defences.is_some();
    assert_eq!(limited.iter().filter(known).count(), 2);
    let stop = AtomicBool::new(true);
    let mut fresh = self::analyst("6x6");
    let start = Position::start(fresh.board());
    let stopped = Limits { stop: Some(&stop), ..Limits::default() };
    let unknown = fresh.refutation(&start, 9, stopped).unwrap();
    assert!(unknown.len() == 1 && unknown[0].defences.is_none());
}
