//! Proofs of starts and of random positions are valid, have the right winner, and contain lost positions only.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::time::Instant;

use konane::proof::{Side, prove};
use konane::{Algorithm, Board, Position, Profile, SolveOptions, Solver};
use proptest::prelude::*;

use crate::plain::{RecursiveValues, check, colour, is_proof};
use crate::samples::{board, bytes_of, proof, proof_with, random_position};

/// Published winners by board.
pub fn winners() -> HashMap<&'static str, &'static str> {
    let rows = include_str!("../data/konane_winners.csv").lines();
    let rows = rows.filter(|line| !line.starts_with('#')).skip(1);
    rows.filter_map(|line| line.split_once(',')).collect()
}

#[test]
fn every_board_up_to_5x6_has_a_valid_proof_of_the_published_winner() {
    let (winners, mut compared) = (winners(), 0);
    let sizes = (1..=30).flat_map(|ranks| (1..=30 / ranks).map(move |files| (ranks, files)));
    for (ranks, files) in sizes {
        let size = format!("{ranks}x{files}");
        let board = board(&size);
        let start = Position::start(&board);
        let found = proof(&board, &start);
        if let Some(winner) = winners.get(size.as_str()) {
            assert_eq!(found.header.winner.name(), *winner, "{size}");
            compared += 1;
        }
        let codes = &found.certificate.codes;
        assert!(is_proof(&board, &found.header, codes), "{size}");
        let bytes = bytes_of(&found.header, codes);
        let report = check(bytes).unwrap_or_else(|error| panic!("{size}: {error}"));
        assert_eq!(report.flaw, None, "{size}");
        assert_eq!(report.header, found.header);
        assert_eq!(report.root, start.to_string());
    }
    assert!(compared > 45, "{compared} boards");
}

#[test]
fn a_6x7_proof_is_valid_if_the_table_has_replaced_entries() {
    let board = board("6x7");
    let start = Position::start(&board);
    let mut again = Vec::new();
    for memory in [1 << 20, 256 << 20] {
        let found = proof_with(&board, &start, memory);
        assert_eq!(found.header.winner, Side::White);
        let report = check(bytes_of(&found.header, &found.certificate.codes)).unwrap();
        assert_eq!(report.flaw, None);
        again.push(found.certificate.searched_again);
    }
    assert!(again[0] > again[1], "{again:?} positions were searched again");
}

#[test]
fn proofs_of_every_algorithm_and_profile_are_valid() {
    let board = board("4x6");
    let start = Position::start(&board);
    for algorithm in Algorithm::ALL {
        for profile in [Profile::Tuned, Profile::Thesis] {
            let options = SolveOptions {
                algorithm,
                profile,
                memory_bytes: 32 << 20,
                ..SolveOptions::default()
            };
            let solver = Solver::new(&board, &start).options(options);
            let proved = prove(&solver, &mut ()).unwrap();
            let found = proved.proof.unwrap().unwrap();
            let report = check(bytes_of(&found.header, &found.certificate.codes)).unwrap();
            assert_eq!(report.flaw, None, "{algorithm} {profile:?}");
        }
    }
}

/// The entries of 6x6 fill a table of one mebibyte.
#[test]
fn proofs_are_valid_for_any_number_of_threads_and_any_memory() {
    for (size, winner) in [("5x5", Side::Black), ("5x6", Side::White), ("6x6", Side::White)] {
        let board = board(size);
        let start = Position::start(&board);
        for algorithm in Algorithm::ALL.into_iter().filter(|algorithm| algorithm.is_parallel()) {
            for (threads, memory_bytes) in
                [(1, 1 << 20), (2, 1 << 20), (3, 9 << 20), (8, 1 << 20), (64, 64 << 20)]
            {
                let threads = NonZeroUsize::new(threads).unwrap();
                // The search ends if the tree does not fit into the memory.
                let least = if algorithm.keeps_tree() { 32 << 20 } else { 0 };
                let memory_bytes = least.max(memory_bytes);
                let options =
                    SolveOptions { algorithm, threads, memory_bytes, ..SolveOptions::default() };
                let solver = Solver::new(&board, &start).options(options);
                let proved = prove(&solver, &mut ()).unwrap();
                let found = proved.proof.unwrap().unwrap();
                let name = format!("{size}, {algorithm}, {threads} threads, {memory_bytes} B");
                assert_eq!(found.header.winner, winner, "{name}");
                let report = check(bytes_of(&found.header, &found.certificate.codes)).unwrap();
                assert_eq!(report.flaw, None, "{name}");
            }
        }
    }
}

#[test]
fn the_same_search_gives_the_same_proof_on_any_number_of_threads() {
    let board = board("5x6");
    let start = Position::start(&board);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| proof(&board, &start))
    };
    assert_eq!(on(1), on(3));
}

/// Every position of a proof is lost, by plain recursion.
#[test]
fn all_positions_of_small_proofs_are_lost() {
    for size in ["3x3", "1x9", "3x4", "4x4", "3x5", "5x3", "2x7", "4x5", "5x4", "5x5"] {
        let board = board(size);
        let mut oracle = RecursiveValues::default();
        let start = Position::start(&board);
        // Proofs of all positions of the first plies, so that the sets differ.
        let mut roots = vec![start];
        for at in 0..12 {
            let Some(position) = roots.get(at).copied() else { break };
            roots.extend(position.moves(&board).into_iter().map(|mv| position.play(&board, mv)));
        }
        for root in roots.into_iter().take(40) {
            let found = proof(&board, &root);
            let wins = oracle.wins(&board, &root);
            let winner = colour(found.header.winner);
            assert_eq!(winner, if wins { root.to_move() } else { !root.to_move() }, "{size}");
            assert!(is_proof(&board, &found.header, &found.certificate.codes), "{size}");
            for &code in &found.certificate.codes {
                let position = Position::from_code(&board, code);
                assert!(!position.moves(&board).is_empty(), "{size}: no moves in {code:#x}");
                assert!(!oracle.wins(&board, &position), "{size}: {code:#x} is won");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 30 } else { 300 }))]

    #[test]
    fn random_positions_have_valid_proofs(
        size in prop::sample::select(vec!["5x5", "4x6", "6x5", "5x6", "3x9", "2x16", "1x40", "7x5", "6x6"]),
        bits: u64,
        thinning: u64,
        white: bool,
    ) {
        let board = board(size);
        let position = random_position(&board, bits, thinning, white);
        let found = proof(&board, &position);
        prop_assert!(is_proof(&board, &found.header, &found.certificate.codes));
        let report = check(bytes_of(&found.header, &found.certificate.codes)).unwrap();
        prop_assert_eq!(report.flaw, None);
    }

    /// Large boards with few stones: codes of up to 64 bits.
    #[test]
    fn random_positions_of_large_boards_have_valid_proofs(
        size in prop::sample::select(vec!["8x8", "7x9", "4x16", "1x64", "64x1", "7x7", "8x7"]),
        sets in prop::array::uniform3(any::<u64>()),
        white: bool,
    ) {
        let board = board(size);
        let position = random_position(&board, (sets[0] & sets[1]) | (sets[0] & sets[2] & sets[1] >> 7), 0, white);
        let found = proof(&board, &position);
        prop_assert!(is_proof(&board, &found.header, &found.certificate.codes));
        let report = check(bytes_of(&found.header, &found.certificate.codes)).unwrap();
        prop_assert_eq!(report.flaw, None);
    }
}

/// `cargo test --release --test proofs -- --ignored --nocapture large`
#[test]
#[ignore = "measures: half a minute"]
fn large_boards() {
    for size in ["6x6", "6x7", "7x7"] {
        let board = Board::new(size.parse().unwrap());
        let begun = Instant::now();
        let found = proof_with(&board, &Position::start(&board), 1 << 30);
        let bytes = bytes_of(&found.header, &found.certificate.codes);
        let written = begun.elapsed();
        let (length, begun) = (bytes.len(), Instant::now());
        let report = check(bytes).unwrap();
        assert_eq!(report.flaw, None);
        println!(
            "{size}: {} positions, {length} bytes, solved and written in {written:.1?}, {} moves \
             of the loser verified in {:.1?}",
            found.header.positions,
            report.answered,
            begun.elapsed()
        );
        assert!(length < 200 << 20 && written.as_secs() < 300);
    }
}
