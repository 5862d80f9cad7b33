//! Random positions of random boards.

use konane::{Board, Colour, Dimensions, Position};
use proptest::prelude::*;

/// Number of random cases of a property; a tenth of it in unoptimised builds.
pub fn cases(optimised: u32) -> ProptestConfig {
    let slow = cfg!(debug_assertions);
    ProptestConfig::with_cases(if slow { optimised / 10 } else { optimised })
}

/// All board sizes.
pub fn all_dimensions() -> Vec<Dimensions> {
    let pairs = (1..=64).flat_map(|ranks| (1..=64).map(move |files| (ranks, files)));
    pairs.filter_map(|(ranks, files)| Dimensions::new(ranks, files).ok()).collect()
}

pub fn board(text: &str) -> Board {
    Board::new(text.parse().expect("a board size"))
}

/// Any size. Extreme and common ones are more frequent.
pub fn dimensions() -> impl Strategy<Value = Dimensions> {
    let named = [
        "1x1", "1x2", "2x1", "1x3", "1x64", "64x1", "2x32", "32x2", "3x21", "21x3", "7x9", "9x7",
        "8x8", "7x7", "8x7", "6x6", "5x5", "4x4", "1x63",
    ];
    let named = named.map(|text| text.parse::<Dimensions>().expect("a board size"));
    prop_oneof![
        proptest::sample::select(named.to_vec()),
        proptest::sample::select(all_dimensions()),
    ]
}

/// Instructions for a position of any board.
#[derive(Clone, Debug)]
pub enum Recipe {
    /// Any stones and any side to move, changed to a legal position if necessary.
    Stones { set: u64, white: bool },
    /// The position after some moves from the start. Each number selects one of the legal moves.
    Playout(Vec<u8>),
}

impl Recipe {
    pub fn position(&self, board: &Board) -> Position {
        match self {
            Recipe::Playout(choices) => {
                let mut position = Position::start(board);
                for &choice in choices {
                    let moves = position.moves(board);
                    if moves.is_empty() {
                        break;
                    }
                    position = position.play(board, moves[choice as usize % moves.len()]);
                }
                position
            }
            Recipe::Stones { set, white } => {
                let occupied = set & board.all();
                let empty = board.all() & !occupied;
                match empty.count_ones() {
                    0 => Position::start(board),
                    1 => {
                        let hole = board.openings() & board.openings().wrapping_neg();
                        Position::new_unchecked(board, board.all() & !hole, Colour::White)
                    }
                    _ if *white => Position::new_unchecked(board, occupied, Colour::White),
                    _ => Position::new_unchecked(board, occupied, Colour::Black),
                }
            }
        }
    }
}

/// Sets of few, half of, and most of the stones, and playouts of all lengths.
pub fn recipe() -> impl Strategy<Value = Recipe> {
    let set = prop_oneof![
        any::<u64>(),
        (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a & b),
        (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a | b),
        (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(a, b, c)| a | b | c),
    ];
    prop_oneof![
        (set, any::<bool>()).prop_map(|(set, white)| Recipe::Stones { set, white }),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Recipe::Playout),
    ]
}
