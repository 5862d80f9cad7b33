//! A board and its transpose, the reflection in the diagonal through the top-left square, are the same game. The
//! table of winners has one of the two.

use std::collections::{BTreeSet, HashSet};

use konane::{Board, Colour, Dimensions, Move, Position, Square};
use proptest::prelude::*;

/// The square of the transposed board that a square of a board is mapped to.
fn transposed(board: &Board, square: u8) -> u8 {
    let (ranks, files) = (board.dimensions().ranks() as u8, board.dimensions().files() as u8);
    (square % files) * ranks + square / files
}

fn transposed_square(board: &Board, square: Square) -> Square {
    let dimensions = Dimensions::new(board.dimensions().files(), board.dimensions().ranks());
    Square::new(dimensions.expect("a board"), transposed(board, square.index()))
}

fn transposed_move(board: &Board, mv: Move) -> Move {
    match mv {
        Move::Remove { square } => Move::Remove { square: transposed_square(board, square) },
        Move::Jump { from, to } => {
            Move::Jump { from: transposed_square(board, from), to: transposed_square(board, to) }
        }
    }
}

fn transposed_set(board: &Board, set: u64) -> u64 {
    (0..board.dimensions().squares() as u8)
        .filter(|&square| set >> square & 1 == 1)
        .map(|square| 1u64 << transposed(board, square))
        .sum()
}

/// The texts of moves.
fn names(moves: impl IntoIterator<Item = Move>) -> BTreeSet<String> {
    moves.into_iter().map(|mv| format!("{mv:?}")).collect()
}

/// A board and its transpose.
fn both(ranks: u32, files: u32) -> [Board; 2] {
    [(ranks, files), (files, ranks)].map(|(r, f)| Board::new(Dimensions::new(r, f).unwrap()))
}

/// Checks that one position is the transpose of the other, and that the same holds for their moves. Returns the moves
/// of the first position.
fn compare(boards: &[Board; 2], positions: [&Position; 2]) -> Vec<Move> {
    for colour in [Colour::Black, Colour::White] {
        let stones = transposed_set(&boards[0], positions[0].stones(&boards[0], colour));
        assert_eq!(stones, positions[1].stones(&boards[1], colour));
    }
    let moves = positions[0].moves(&boards[0]);
    let there = names(positions[1].moves(&boards[1]));
    assert_eq!(names(moves.iter().map(|&mv| transposed_move(&boards[0], mv))), there);
    moves
}

/// Every position that is reachable on small boards.
#[test]
fn small_boards_are_the_same_game_as_their_transposes() {
    for (ranks, files) in [(1, 1), (1, 2), (1, 7), (2, 2), (2, 5), (3, 3), (3, 4), (4, 4), (3, 5)] {
        let boards = both(ranks, files);
        let mut seen = HashSet::new();
        let mut todo = vec![[Position::start(&boards[0]), Position::start(&boards[1])]];
        while let Some([here, there]) = todo.pop() {
            for mv in compare(&boards, [&here, &there]) {
                let next = here.play(&boards[0], mv);
                if seen.insert(format!("{next:?}")) {
                    todo.push([next, there.play(&boards[1], transposed_move(&boards[0], mv))]);
                }
            }
        }
        // On all boards except 1x1 there are games that continue after the first removal.
        assert!(seen.len() > 1 || ranks * files == 1, "{ranks}x{files}");
    }
}

fn sides() -> impl Strategy<Value = (u32, u32)> {
    (1u32..=64).prop_flat_map(|ranks| (Just(ranks), 1..=64 / ranks))
}

proptest! {
    /// Random games on boards of every size.
    #[test]
    fn games_on_a_board_and_its_transpose_are_the_same(
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
                positions[1].play(&boards[1], transposed_move(&boards[0], mv)),
            ];
        }
    }
}
