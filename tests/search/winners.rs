//! Winners of boards by every algorithm, compared with the published table.

use std::collections::HashMap;

use konane::{Algorithm, Board, Colour, Dimensions, Position, Profile, SolveOptions, Solver};

/// The published winners by board.
fn published() -> HashMap<String, &'static str> {
    let rows = include_str!("../data/konane_winners.csv").lines();
    let rows = rows.filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|line| line.split_once(',').unwrap())
        .filter(|&(_, winner)| winner != "unknown")
        .map(|(board, winner)| (board.to_string(), winner))
        .collect()
}

fn winner(dimensions: Dimensions, algorithm: Algorithm, profile: Profile) -> Colour {
    let board = Board::new(dimensions);
    let options =
        SolveOptions { algorithm, profile, memory_bytes: 512 << 20, ..SolveOptions::default() };
    let start = Position::start(&board);
    let solution = Solver::new(&board, &start).options(options).run().unwrap();
    let Some(colour) = solution.winner else {
        panic!("{dimensions} {algorithm}: {:?}", solution.reason);
    };
    // If Black wins, there is a winning move; if Black loses, there is none.
    assert_eq!(solution.best_move.is_some(), colour == Colour::Black);
    if let Some(mv) = solution.best_move {
        assert!(start.is_legal(&board, mv));
    }
    colour
}

fn boards(list: impl IntoIterator<Item = (u32, u32)>) -> Vec<Dimensions> {
    list.into_iter().map(|(ranks, files)| Dimensions::new(ranks, files).unwrap()).collect()
}

/// All boards of up to `ranks` x `files`.
fn up_to(ranks: u32, files: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=ranks).flat_map(move |r| (1..=files).map(move |f| (r, f)))
}

#[test]
fn dfpn_finds_the_published_winners() {
    let published = published();
    // If the tests are optimised, these boards and those of up to 6x6 include all published boards of up to 40
    // squares.
    let files = if OPTIMISED { 8 } else { 6 };
    let oblong = up_to(5, files).chain(up_to(files, 5));
    let lines = (7..=20).flat_map(|n| [(1, n), (n, 1)]);
    let others = [(5, 7), (7, 5), (4, 9), (9, 4), (2, 12), (12, 2)];
    let mut winners = HashMap::new();
    for dimensions in boards(up_to(6, 6).chain(oblong).chain(lines).chain(others)) {
        let found = winner(dimensions, Algorithm::Dfpn, Profile::Tuned);
        if let Some(&expected) = published.get(&dimensions.to_string()) {
            assert_eq!(found.name(), expected, "{dimensions}");
        }
        winners.insert((dimensions.ranks(), dimensions.files()), found);
    }
    // A board and its transpose are the same game.
    for (&(ranks, files), &found) in &winners {
        assert_eq!(winners[&(files, ranks)], found, "{ranks}x{files}");
    }
}

/// Checks boards that an algorithm solves in some seconds.
fn check(algorithm: Algorithm, profile: Profile, list: impl IntoIterator<Item = (u32, u32)>) {
    let published = published();
    for dimensions in boards(list) {
        let found = winner(dimensions, algorithm, profile);
        let expected = published[&dimensions.to_string()];
        assert_eq!(found.name(), expected, "{dimensions} {algorithm}");
    }
}

/// True if large boards take seconds only.
const OPTIMISED: bool = !cfg!(debug_assertions);

/// Boards of up to 5x5, or of up to `ranks` x `files` if the tests are optimised.
fn feasible(ranks: u32, files: u32) -> impl Iterator<Item = (u32, u32)> {
    let (ranks, files) = if OPTIMISED { (ranks, files) } else { (5, 5) };
    up_to(ranks, files)
}

#[test]
fn pns_finds_the_published_winners() {
    check(Algorithm::Pns, Profile::Tuned, feasible(6, 6));
    check(Algorithm::Pns, Profile::Thesis, feasible(5, 6));
}

#[test]
fn pn2_finds_the_published_winners() {
    check(Algorithm::Pn2, Profile::Tuned, feasible(6, 6));
    check(Algorithm::Pn2, Profile::Thesis, feasible(5, 6));
}

#[test]
fn dfpn_with_published_parameters_finds_the_published_winners() {
    check(Algorithm::Dfpn, Profile::Thesis, feasible(6, 6));
}

#[test]
fn alpha_beta_finds_the_published_winners() {
    check(Algorithm::AlphaBeta, Profile::Tuned, feasible(5, 6));
    check(Algorithm::AlphaBeta, Profile::Thesis, feasible(5, 5));
}

/// Boards of the committed table that df-pn solved with few nodes. Another algorithm finds the same winner
/// on the transposed board.
#[test]
fn pns_finds_the_winners_of_the_committed_table() {
    let table = include_str!("../../docs/benchmarks/winners.csv");
    let mut checked = 0;
    for row in table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        let nodes: u64 = row[7].parse().unwrap();
        if row[2] == "unknown" || nodes > 1000 {
            continue;
        }
        let board: Dimensions = row[0].parse().unwrap();
        let turned = Dimensions::new(board.files(), board.ranks()).unwrap();
        let found = winner(turned, Algorithm::Pns, Profile::Tuned);
        assert_eq!(found.name(), row[2], "{turned}");
        checked += 1;
    }
    assert!(checked > 90, "only {checked} boards are easy");
}
