//! Outcomes of every algorithm with every kind of parameters, compared with the reference implementation.

use std::sync::Arc;

use konane::Value;
use konane::search::numbers::{Combination, Epsilon};
use konane::search::run::{Limits, Outcome, Reason, Report};
use konane::search::sums::{
    Atom, Named, SearchOptions, SolverState, Sum, dfpn, grundy, pns, two_level,
};
use konane::search::testing::impartial_games::{Declared, GrundysGame, Octal};
use proptest::prelude::*;

use super::ReferenceGrundy;

type Search<G> = fn(&SolverState<G>, &Sum, SearchOptions) -> Report;

/// Expansions of a job: even small games take many such jobs.
pub const SHORT: u64 = 5;

fn searches<G: Named>() -> [(&'static str, Search<G>); 5] {
    [
        ("dfpn", |state, root, options| dfpn(state, root, options, 1, Limits::default(), &mut ())),
        ("dfpn on 3 threads", |state, root, options| {
            dfpn(state, root, options, 3, Limits::default(), &mut ())
        }),
        ("pns", |state, root, options| pns(state, root, options, Limits::default(), &mut ())),
        ("two levels on 1 thread", |state, root, options| {
            two_level(state, root, options, SHORT, 1, Limits::default(), &mut ())
        }),
        ("two levels on 5 threads", |state, root, options| {
            two_level(state, root, options, SHORT, 5, Limits::default(), &mut ())
        }),
    ]
}

pub fn variants() -> Vec<SearchOptions> {
    let paper = SearchOptions::PAPER;
    let combination = Combination::mixed(8);
    vec![
        paper,
        SearchOptions { heuristic: true, ..paper },
        SearchOptions { combination, ..paper },
        SearchOptions { epsilon: Epsilon::new(0.3), ..paper },
        SearchOptions { lazy: true, ..paper },
        SearchOptions { sum_of_all_parts: false, ..paper },
        SearchOptions::TUNED,
    ]
}

/// Runs all searches of a sum and a heap, each with a new state.
fn check<G: Named>(game: &Arc<G>, reference: &mut ReferenceGrundy<G>, atoms: &[Atom], nimber: u32) {
    let value = match reference.sum(atoms) ^ nimber {
        0 => Value::Loss,
        _ => Value::Win,
    };
    let root = Sum::new(&**game, atoms, nimber);
    for options in variants() {
        for (name, search) in searches::<G>() {
            let state = SolverState::new(game.clone(), 1 << 22).unwrap();
            let report = search(&state, &root, options);
            assert_eq!(report.outcome, Outcome::Known(value), "{name}, {options:?}");
            for (atom, number) in state.knowledge().iter() {
                assert_eq!(number, reference.grundy(atom), "{name}, {options:?}, atom {atom}");
            }
            assert_eq!(report.counters.grundy_numbers, state.knowledge().numbers());
            // The same search again, with the results of the first one.
            let again = search(&state, &root, options);
            assert_eq!(again.outcome, report.outcome, "{name}, {options:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_games(
        seed: u64,
        size in 1u32..60,
        degree in 0u32..9,
        parts in prop::collection::vec(0u32..1 << 16, 0..4),
        nimber in 0u32..6,
    ) {
        let game = Arc::new(Declared::random(seed, size, degree));
        let atoms: Vec<Atom> = parts.iter().map(|part| part % size).collect();
        check(&game, &mut ReferenceGrundy::new(&*game), &atoms, nimber);
    }

    #[test]
    fn octal_games(
        digits in prop::collection::vec(0u8..8, 1..5),
        repeats: bool,
        heaps in prop::collection::vec(1u32..22, 0..4),
        nimber in 0u32..5,
    ) {
        let game = Arc::new(Octal::new(&digits, repeats));
        let atoms: Vec<Atom> = heaps.iter().map(|&heap| Octal::heap(heap)).collect();
        check(&game, &mut ReferenceGrundy::new(&*game), &atoms, nimber);
    }

    /// The results of a search are valid for any other search.
    #[test]
    fn workspaces_can_be_shared(
        seed: u64,
        queries in prop::collection::vec((0u32..40, 0u32..40, 0u32..6, 0usize..35), 1..12),
    ) {
        let game = Arc::new(Declared::random(seed, 40, 6));
        let mut reference = ReferenceGrundy::new(&*game);
        let state = SolverState::new(game.clone(), 1 << 22).unwrap();
        for (a, b, nimber, which) in queries {
            let won = reference.sum(&[a, b]) != nimber;
            let options = variants()[which / 5];
            let report = searches()[which % 5].1(&state, &Sum::new(&*game, &[a, b], nimber), options);
            prop_assert_eq!(report.outcome.value() == Some(Value::Win), won);
            prop_assert!(report.outcome.value().is_some());
        }
    }
}

#[test]
fn grundys_game_in_sums() {
    let mut reference = ReferenceGrundy::new(&GrundysGame);
    for sizes in [[20, 27, 31], [45, 46, 50], [50, 50, 13]] {
        let atoms: Vec<Atom> = sizes.iter().map(|&size| Octal::heap(size)).collect();
        for nimber in 0..3 {
            check(&Arc::new(GrundysGame), &mut reference, &atoms, nimber);
        }
    }
}

/// Heaps larger than the Grundy numbers that are excluded individually.
#[test]
fn large_nim_heaps() {
    let game = Arc::new(Octal::nim());
    let mut reference = ReferenceGrundy::new(&*game);
    for (sizes, nimber) in [([60, 70], 60 ^ 70), ([60, 70], 5), ([50, 1], 49), ([55, 55], 0)] {
        let atoms: Vec<Atom> = sizes.iter().map(|&size| Octal::heap(size)).collect();
        check(&game, &mut reference, &atoms, nimber);
    }
}

/// With any memory no outcome is wrong, and with enough memory it is known.
#[test]
fn little_memory_gives_no_wrong_outcome() {
    let (mut known, mut unknown) = (0, 0);
    for seed in 0..12 {
        let game = Arc::new(Declared::random(seed, 300, 8));
        let mut reference = ReferenceGrundy::new(&*game);
        let root = Sum::new(&*game, &[299, 298], 1);
        let value = if reference.sum(&[299, 298]) == 1 { Value::Loss } else { Value::Win };
        for bytes in [1 << 10, 1 << 14, 60_000, 80_000, 100_000, 1 << 18] {
            for (name, search) in searches() {
                let state = SolverState::new(game.clone(), bytes).unwrap();
                match search(&state, &root, SearchOptions::PAPER).outcome {
                    Outcome::Known(found) => {
                        assert_eq!(found, value, "seed {seed}, {name}, {bytes} bytes");
                        known += 1;
                    }
                    Outcome::Unknown(reason) => {
                        assert_eq!(reason, Reason::Memory, "seed {seed}, {name}, {bytes} bytes");
                        assert!(bytes < 1 << 18);
                        unknown += 1;
                    }
                }
            }
        }
    }
    assert!(known > 20 && unknown > 20, "{known} {unknown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn grundy_numbers_of_sums(
        seed: u64,
        atoms in prop::collection::vec(0u32..50, 0..5),
        which in 0usize..7,
    ) {
        let game = Arc::new(Declared::random(seed, 50, 7));
        let state = SolverState::new(game.clone(), 1 << 22).unwrap();
        let report = grundy(&state, &atoms, variants()[which], 1, Limits::default(), &mut ());
        prop_assert_eq!(report.grundy, Ok(ReferenceGrundy::new(&*game).sum(&atoms)));
    }
}
