//! Every judgement against plain recursion.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::{Analysis, Analyst, Source};
use crate::konane::notation::{parse_moves, parse_position};
use crate::konane::{Board, Colour, Position, SolveOptions, Solver};
use crate::proof::{Guide, Proof, ProofWriter, prove};
use crate::search::Value;
use crate::search::run::{Limits, Reason};
use crate::tablebase::values::remoteness::remoteness;
use crate::tablebase::{BuildOptions, Database, DatabaseOptions, Metric, build, plan};

/// Values by plain recursion.
struct Twin<'a> {
    board: &'a Board,
    values: HashMap<Position, Value>,
}

impl Twin<'_> {
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
        let mut twin = Twin { board: &board, values: HashMap::new() };
        let analysis = analyst.analyse(&position, Limits::default(), &mut |_| {}).unwrap();
        twin.agrees(&analysis);
        prop_assert_eq!(analysis.reason, None);
        // Once found, it is known, and the choice keeps the outcome.
        prop_assert_eq!(&analyst.look(&position).unwrap().outcome(), &analysis.outcome());
        let line = analyst.line(&position, Limits::default()).unwrap();
        let (mut at, mut value) = (position, twin.value(&position));
        for mv in line {
            prop_assert!(at.is_legal(&board, mv));
            at = at.play(&board, mv);
            value = !value;
            prop_assert_eq!(twin.value(&at), value);
        }
        prop_assert_eq!(at.count_moves(&board), 0);
    }
}

proptest! {
    /// What a choice claims holds for the move, with however little search.
    #[test]
    fn a_choice_claims_what_is_so(
        size in prop::sample::select(vec!["3x4", "4x4", "2x8", "3x5"]),
        stones: u64,
        white: bool,
        nodes in 0u64..60,
    ) {
        let mut analyst = analyst(size);
        let board = analyst.board().clone();
        let position = position(&board, stones, white);
        let mut twin = Twin { board: &board, values: HashMap::new() };
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        match analyst.choose(&position, limits).unwrap() {
            None => prop_assert_eq!(position.count_moves(&board), 0),
            Some(choice) => {
                let after = position.play(&board, choice.mv);
                if let Some(judgement) = choice.judgement {
                    prop_assert_eq!(judgement.outcome, !twin.value(&after));
                    prop_assert_eq!(judgement.outcome, twin.value(&position));
                }
            }
        }
    }
}

/// An analyst with a database of all positions with so many stones at most.
fn with_database(directory: &Path, size: &str, metric: Metric, max_stones: u32) -> Analyst {
    let board = Board::new(size.parse().unwrap());
    let options = BuildOptions::complete(directory.to_owned());
    let options = BuildOptions { metric, max_stones: Some(max_stones), ..options };
    let plan = plan(&board, &options).unwrap();
    build(&board, &plan, &(), &AtomicBool::new(false)).unwrap();
    let found = Database::find(directory, board.dimensions(), DatabaseOptions::default());
    analyst(size).with_database(found.unwrap()).unwrap()
}

/// A proof, written to a file.
fn guide(directory: &Path, proof: &Proof) -> Guide {
    let path = directory.join("a.proof");
    let writer = ProofWriter::create(&path).unwrap();
    writer.finish(&proof.header, &proof.certificate.codes).unwrap();
    Guide::open(&path).unwrap()
}

#[test]
fn databases_and_proofs_say_what_a_search_finds() {
    let directory = tempfile::tempdir().unwrap();
    let by_database = with_database(directory.path(), "3x4", Metric::Outcome, 12);
    let board = by_database.board().clone();
    let start = Position::start(&board);
    let proof = prove(&Solver::new(&board, &start), &mut ()).unwrap().proof.unwrap().unwrap();
    let guide = guide(directory.path(), &proof);
    let by_proof = analyst("3x4").with_proof(guide).unwrap();
    let mut twin = Twin { board: &board, values: HashMap::new() };
    for text in ["", "b2", "a3", "a3 a2"] {
        let position = parse_moves(&board, text).unwrap();
        let analysis = by_database.look(&position).unwrap();
        twin.agrees(&analysis);
        assert_eq!(analysis.judgement.unwrap().source, Source::Database);
        // A proof answers every move of the loser, so that every position on the way is known.
        let judgement = by_proof.look(&position).unwrap().judgement;
        if text.is_empty() {
            assert_eq!(judgement.unwrap().source, Source::Proof);
            assert_eq!(judgement.unwrap().outcome, twin.value(&position));
        }
    }
}

/// Plies to the end by plain recursion.
fn plies(board: &Board, position: &Position) -> u32 {
    let moves = position.moves(board).into_iter();
    remoteness(moves.map(|mv| plies(board, &position.play(board, mv))))
}

/// Jumps over several stones lead into a database of few stones, and shorter ones do not.
#[test]
fn a_known_loss_is_not_longer_for_being_known() {
    for max_stones in [7, 8, 20] {
        let directory = tempfile::tempdir().unwrap();
        let mut analyst = with_database(directory.path(), "5x4", Metric::Remoteness, max_stones);
        let board = analyst.board().clone();
        let position = parse_position(&board, "1ox1/ox2/2x1/ox2/xo1o b").unwrap();
        let choice = analyst.choose(&position, Limits::default()).unwrap().unwrap();
        // The longest one where all lengths follow from the database, else not the shortest.
        let least = if max_stones < 8 { 3 } else { plies(&board, &position) - 1 };
        let chosen = plies(&board, &position.play(&board, choice.mv));
        assert!(chosen >= least, "{max_stones} stones: {:?}", choice.mv);
    }
}

/// What stands in a database of few stones, what its moves say of a position beyond it, and what an
/// earlier search has left of either.
#[test]
fn lengths_are_those_of_plain_recursion() {
    let directory = tempfile::tempdir().unwrap();
    let mut analyst = with_database(directory.path(), "3x4", Metric::Remoteness, 5);
    let board = analyst.board().clone();
    let mut state = 1u64;
    let mut concluded = 0;
    for round in 0..2 {
        for _ in 0..2000 {
            state = state.wrapping_mul(0xD129_42A6_4C4D_9F2D).wrapping_add(0x5851_F42D);
            let position = position(&board, state >> 40 & state >> 20, state >> 63 == 1);
            let analysis = analyst.look(&position).unwrap();
            let judgement = analysis.judgement;
            let found = judgement.and_then(|judgement| judgement.remoteness);
            if let Some(found) = found {
                assert_eq!(found, plies(&board, &position), "round {round}: {position:?}");
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

#[test]
fn an_answer_does_not_get_worse_when_it_is_asked_again() {
    let mut analyst = analyst("3x3");
    let after = parse_moves(analyst.board(), "b2").unwrap();
    let start = Position::start(analyst.board());
    for _ in 0..2 {
        let analysis = analyst.look(&after).unwrap();
        assert_eq!(analysis.judgement.unwrap().remoteness, Some(1));
        assert_eq!(analysis.verdict.clone(), "White wins in 1 ply: all 4 moves win.");
        analyst.analyse(&start, Limits::default(), &mut |_| {}).unwrap();
    }
}

/// What a search likes best that does not get far, and that a proof then says is lost.
#[test]
fn no_move_is_chosen_that_a_proof_has_lost() {
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
        let guide =
            guide(directory.path(), &prove(&solver, &mut ()).unwrap().proof.unwrap().unwrap());
        if guide.winner() == position.to_move() {
            continue;
        }
        let mut analyst = analyst("4x5").with_proof(guide).unwrap();
        if analyst.look(&position).unwrap().count(None) > 0 {
            let choice = analyst.choose(&position, limits).unwrap().unwrap();
            assert_ne!(choice.mv, favourite.mv, "{position:?}");
            refuted += 1;
        }
    }
}

#[test]
fn limits_leave_moves_open() {
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
fn values_are_told_as_they_are_found() {
    let mut analyst = analyst("5x5");
    let start = Position::start(analyst.board());
    let mut told = Vec::new();
    let analysis = analyst
        .analyse(&start, Limits::default(), &mut |analysis| told.push(analysis.count(None)))
        .unwrap();
    assert!(told.len() > 1 && told.is_sorted_by(|earlier, later| earlier >= later), "{told:?}");
    assert!(analysis.is_complete());
}

#[test]
fn the_end_of_a_game_is_known_by_the_rules() {
    let analyst = analyst("1x4");
    let over = parse_position(analyst.board(), "4 b").unwrap();
    let analysis = analyst.look(&over).unwrap();
    assert_eq!(analysis.judgement.unwrap().source, Source::Rules);
    assert_eq!(analysis.verdict.clone(), "Black cannot move. White has won.");
}

#[test]
fn other_boards_are_refused() {
    let board = Board::new("3x4".parse().unwrap());
    let start = Position::start(&board);
    let proof = prove(&Solver::new(&board, &start), &mut ()).unwrap().proof.unwrap().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let guide = guide(directory.path(), &proof);
    let error = analyst("4x4").with_proof(guide).unwrap_err();
    assert_eq!(error.to_string(), "the proof is about 3x4, and the analysis about 4x4");
}
