//! A board and the one turned over the diagonal through the top-left square are the same game: the
//! table of winners names one of the two for both.

use std::collections::{BTreeSet, HashSet};

use konane::{Board, Colour, Dimensions, Move, Position, Square};
use proptest::prelude::*;

/// The square of the transposed board that a square of a board is mapped to.
fn turned(board: &Board, square: u8) -> u8 {
    let (ranks, files) = (board.dimensions().ranks() as u8, board.dimensions().files() as u8);
    (square % files) * ranks + square / files
}

fn turned_square(board: &Board, square: Square) -> Square {
    let transposed = Dimensions::new(board.dimensions().files(), board.dimensions().ranks());
    Square::new(transposed.expect("a board"), turned(board, square.index()))
}

fn turned_move(board: &Board, mv: Move) -> Move {
    match mv {
        Move::Remove { square } => Move::Remove { square: turned_square(board, square) },
        Move::Jump { from, to } => {
            Move::Jump { from: turned_square(board, from), to: turned_square(board, to) }
        }
    }
}

fn turned_set(board: &Board, set: u64) -> u64 {
    (0..board.dimensions().squares() as u8)
        .filter(|&square| set >> square & 1 == 1)
        .map(|square| 1u64 << turned(board, square))
        .sum()
}

/// The moves of a position, each as text that can be sorted.
fn names(moves: impl IntoIterator<Item = Move>) -> BTreeSet<String> {
    moves.into_iter().map(|mv| format!("{mv:?}")).collect()
}

/// A board and the turned one.
fn both(ranks: u32, files: u32) -> [Board; 2] {
    [(ranks, files), (files, ranks)].map(|(r, f)| Board::new(Dimensions::new(r, f).unwrap()))
}

/// Checks that two positions are the same but for turning, and so are their moves; returns these.
fn compare(boards: &[Board; 2], positions: [&Position; 2]) -> Vec<Move> {
    for colour in [Colour::Black, Colour::White] {
        let stones = turned_set(&boards[0], positions[0].stones(&boards[0], colour));
        assert_eq!(stones, positions[1].stones(&boards[1], colour));
    }
    let moves = positions[0].moves(&boards[0]);
    let there = names(positions[1].moves(&boards[1]));
    assert_eq!(names(moves.iter().map(|&mv| turned_move(&boards[0], mv))), there);
    moves
}

/// Every position that games on small boards reach.
#[test]
fn small_boards_are_the_same_game_as_the_turned_ones() {
    for (ranks, files) in [(1, 1), (1, 2), (1, 7), (2, 2), (2, 5), (3, 3), (3, 4), (4, 4), (3, 5)] {
        let boards = both(ranks, files);
        let mut seen = HashSet::new();
        let mut todo = vec![[Position::start(&boards[0]), Position::start(&boards[1])]];
        while let Some([here, there]) = todo.pop() {
            for mv in compare(&boards, [&here, &there]) {
                let next = here.play(&boards[0], mv);
                if seen.insert(format!("{next:?}")) {
                    todo.push([next, there.play(&boards[1], turned_move(&boards[0], mv))]);
                }
            }
        }
        // All but a square alone have a game that goes on after the first removal.
        assert!(seen.len() > 1 || ranks * files == 1, "{ranks}x{files}");
    }
}

fn sides() -> impl Strategy<Value = (u32, u32)> {
    (1u32..=64).prop_flat_map(|ranks| (Just(ranks), 1..=64 / ranks))
}

proptest! {
    /// Random games on boards of every size.
    #[test]
    fn games_on_a_board_and_the_turned_one_are_the_same(
        (ranks, files) in sides(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 64),
    ) {
        let boards = both(ranks, files);
        let mut positions = boards.each_ref().map(Position::start);
        for choice in choices {
            let moves = compare(&boards, [&positions[0], &positions[1]]);
            if moves.is_empty() {
                break;
            }
            let mv = *choice.get(&moves);
            positions = [
                positions[0].play(&boards[0], mv),
                positions[1].play(&boards[1], turned_move(&boards[0], mv)),
            ];
        }
    }
}
