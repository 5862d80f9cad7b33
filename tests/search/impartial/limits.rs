//! Limits stop searches, with the right reason and without losing results.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use konane::search::run::{Limits, Observer, Outcome, Progress, Reason};
use konane::search::sums::{Atom, SearchOptions, SolverState, Sum, dfpn, grundy, pns, two_level};
use konane::search::testing::impartial_games::Declared;

use super::ReferenceGrundy;
use super::agreement::SHORT;

fn game() -> Arc<Declared> {
    Arc::new(Declared::random(7, 3000, 12))
}

const ROOT: [Atom; 2] = [2999, 2998];

#[test]
fn limits_end_searches_with_their_reason() {
    let game = game();
    let root = Sum::new(&*game, &ROOT, 0);
    let stop = AtomicBool::new(true);
    let cases = [
        (Limits { nodes: Some(20), ..Limits::default() }, Reason::NodeLimit),
        (Limits { deadline: Some(Instant::now()), ..Limits::default() }, Reason::TimeLimit),
        (Limits { stop: Some(&stop), ..Limits::default() }, Reason::Interrupted),
    ];
    for (limits, reason) in cases {
        for name in ["dfpn", "pns", "two levels", "grundy"] {
            let state = SolverState::new(game.clone(), 1 << 22).unwrap();
            let options = SearchOptions::PAPER;
            let outcome = match name {
                "dfpn" => dfpn(&state, &root, options, 1, limits, &mut ()).outcome,
                "pns" => pns(&state, &root, options, limits, &mut ()).outcome,
                "two levels" => {
                    two_level(&state, &root, options, SHORT, 3, limits, &mut ()).outcome
                }
                _ => {
                    let report = grundy(&state, &ROOT, options, 1, limits, &mut ());
                    assert_eq!(report.grundy, Err(reason));
                    continue;
                }
            };
            assert_eq!(outcome, Outcome::Unknown(reason), "{name}");
        }
    }
}

#[test]
fn a_stopped_search_can_be_continued() {
    let game = game();
    let root = Sum::new(&*game, &ROOT, 2);
    let mut reference = ReferenceGrundy::new(&*game);
    let won = reference.sum(&ROOT) != 2;
    for options in [SearchOptions::PAPER, SearchOptions::TUNED] {
        let state = SolverState::new(game.clone(), 1 << 22).unwrap();
        let mut stops = 0;
        loop {
            let limits = Limits { nodes: Some(1000), ..Limits::default() };
            let report = dfpn(&state, &root, options, 1, limits, &mut ());
            if let Some(value) = report.outcome.value() {
                assert_eq!(value == konane::Value::Win, won);
                break;
            }
            stops += 1;
            assert!(stops < 1000, "{options:?}");
        }
        assert!(stops > 1, "{options:?}");
    }
}

/// Records all Grundy numbers, and can end the search.
#[derive(Default)]
struct NumberRecorder {
    numbers: Vec<(Atom, u32)>,
    calls: u32,
    refuses: bool,
}

impl Observer for NumberRecorder {
    fn progress(&mut self, progress: &Progress) {
        assert!(progress.memory_bytes > 0 && progress.counters.expansions > 0);
        self.calls += 1;
    }

    fn grundy_numbers(&mut self, numbers: &[(Atom, u32)]) -> bool {
        self.numbers.extend_from_slice(numbers);
        !self.refuses
    }
}

/// The reported numbers include those that are found while the search ends, and those found by threads other
/// than the reporting one.
#[test]
fn every_grundy_number_is_reported_once() {
    let game = game();
    let root = Sum::new(&*game, &ROOT, 0);
    for (nodes, threads, refuses) in
        [None, Some(500)].into_iter().flat_map(|n| [(n, 1, false), (n, 3, false), (n, 3, true)])
    {
        let state = SolverState::new(game.clone(), 1 << 22).unwrap();
        let mut recorder = NumberRecorder { refuses, ..NumberRecorder::default() };
        let limits = Limits { nodes, ..Limits::default() };
        dfpn(&state, &root, SearchOptions::PAPER, threads, limits, &mut recorder);
        assert!(recorder.calls > 0 || threads > 1);
        recorder.numbers.sort_unstable();
        let expected: Vec<_> = state.knowledge().iter().collect();
        assert_eq!(recorder.numbers, expected, "{nodes:?} {threads} {refuses}");
        assert!(!expected.is_empty());
    }
}

#[test]
fn an_observer_can_end_a_search() {
    let game = game();
    let state = SolverState::new(game.clone(), 1 << 22).unwrap();
    let mut recorder = NumberRecorder { refuses: true, ..NumberRecorder::default() };
    let root = Sum::new(&*game, &ROOT, 0);
    let report = dfpn(&state, &root, SearchOptions::PAPER, 1, Limits::default(), &mut recorder);
    assert_eq!(report.outcome, Outcome::Unknown(Reason::FileError));
}

#[test]
fn known_numbers_are_used() {
    let game = game();
    let mut reference = ReferenceGrundy::new(&*game);
    let state = SolverState::new(game.clone(), 1 << 22).unwrap();
    for atom in ROOT {
        state.knowledge().set_grundy(atom, reference.grundy(atom));
    }
    let stop = AtomicBool::new(false);
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    let report = grundy(&state, &ROOT, SearchOptions::PAPER, 1, limits, &mut ());
    assert_eq!(report.grundy, Ok(reference.sum(&ROOT)));
    assert_eq!(report.counters.expansions, 0);
    assert!(!stop.load(Ordering::Relaxed));
}
