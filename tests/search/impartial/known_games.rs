//! Games whose Grundy numbers are published (Guy and Smith 1956; Berlekamp, Conway and Guy, Winning
//! Ways, chapter 4; OEIS).

use std::sync::Arc;

use konane::search::run::Limits;
use konane::search::sums::{Impartial, SearchOptions, SolverState, grundy};
use konane::search::testing::impartial_games::{GrundysGame, Octal};

use super::ReferenceGrundy;

/// Kayles, heaps 0 to 24 (OEIS A002186).
const KAYLES: [u32; 25] =
    [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6, 4, 1, 2, 7, 1, 4, 3, 2, 1, 4, 6, 7, 4];

/// Dawson's Kayles, heaps 0 to 34 (OEIS A002187, with one more heap of 0 before it).
const DAWSONS_KAYLES: [u32; 35] = [
    0, 0, 1, 1, 2, 0, 3, 1, 1, 0, 3, 3, 2, 2, 4, 0, 5, 2, 2, 3, 3, 0, 1, 1, 3, 0, 2, 1, 1, 0, 4, 5,
    2, 7, 4,
];

/// Grundy's game, heaps 0 to 50 (OEIS A002188).
const GRUNDYS_GAME: [u32; 51] = [
    0, 0, 0, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 3, 2, 1, 3, 2, 4, 3, 0, 4, 3, 0, 4, 3, 0, 4, 1, 2, 3, 1,
    2, 4, 1, 2, 4, 1, 2, 4, 1, 5, 4, 1, 5, 4, 1, 5, 4, 1, 0,
];

/// Checks each heap with the reference implementation and, without earlier results, with df-pn.
fn check<G: Impartial>(game: G, numbers: &[u32]) {
    let game = Arc::new(game);
    let mut reference = ReferenceGrundy::new(&*game);
    for (size, &number) in numbers.iter().enumerate().skip(1) {
        let atom = Octal::heap(size as u32);
        assert_eq!(reference.grundy(atom), number, "reference, heap {size}");
        let state = SolverState::new(game.clone(), 1 << 22).unwrap();
        let report = grundy(&state, &[atom], SearchOptions::PAPER, 1, Limits::default(), &mut ());
        assert_eq!(report.grundy, Ok(number), "heap {size}");
    }
}

#[test]
fn kayles() {
    check(Octal::kayles(), &KAYLES);
}

/// From heap 71 on the numbers repeat every 12 heaps (Guy and Smith).
#[test]
fn kayles_is_periodic() {
    const PERIOD: [u32; 12] = [4, 1, 2, 8, 1, 4, 7, 2, 1, 8, 2, 7];
    let game = Octal::kayles();
    let state = SolverState::new(Arc::new(game), 1 << 24).unwrap();
    for size in 72..130u32 {
        let atoms = [Octal::heap(size)];
        let report = grundy(&state, &atoms, SearchOptions::PAPER, 1, Limits::default(), &mut ());
        assert_eq!(report.grundy, Ok(PERIOD[size as usize % 12]), "heap {size}");
    }
}

#[test]
fn dawsons_kayles() {
    check(Octal::dawsons_kayles(), &DAWSONS_KAYLES);
}

#[test]
fn grundys_game() {
    check(GrundysGame, &GRUNDYS_GAME);
}

/// The Grundy number of a heap is its size, also for numbers that the search does not exclude individually.
#[test]
fn nim() {
    let numbers: Vec<u32> = (0..80).collect();
    check(Octal::nim(), &numbers);
}
