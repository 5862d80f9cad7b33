//! Konane by the public rules, and positions for tests.

use konane::search::plain::game::{Child, Expansion, Game};
use konane::{Board, Colour, Phase, Position};

use crate::algorithms::Random;

/// Reference implementation of Konane as a game: positions and their move lists, without symmetries, kernels and
/// estimates. For boards of at most 63 squares.
pub struct PlainKonane<'a>(pub &'a Board);

impl PlainKonane<'_> {
    pub fn code(position: &Position) -> u64 {
        position.occupied() | (position.to_move() as u64) << 63
    }
}

impl Game for PlainKonane<'_> {
    type Scratch = ();

    fn expand(
        &self,
        code: u64,
        _: &mut (),
        children: &mut Vec<Child>,
        prefetch: impl FnMut(u64),
    ) -> Expansion {
        let to_move = if code >> 63 == 0 { Colour::Black } else { Colour::White };
        let position = Position::new_unchecked(self.0, code & !(1 << 63), to_move);
        let moves = position.moves(self.0);
        if moves.is_empty() {
            return Expansion::Lost;
        }
        let codes: Vec<u64> =
            moves.iter().map(|&mv| Self::code(&position.play(self.0, mv))).collect();
        codes.iter().copied().for_each(prefetch);
        let child = |&code| Child { code, phi: 1, delta: 1, effort: 0 };
        children.extend(codes.iter().map(child));
        Expansion::Open
    }

    fn key(&self, code: u64) -> u64 {
        code
    }
}

pub fn board(text: &str) -> Board {
    Board::new(text.parse().unwrap())
}

/// Boards, each with the maximum number of stones for which negamax is fast.
pub const BOARDS: &[(&str, u32)] = &[
    ("3x3", 9),
    ("3x4", 12),
    ("4x3", 12),
    ("4x4", 16),
    ("3x5", 15),
    ("5x3", 15),
    ("4x5", 15),
    ("5x4", 15),
    ("5x5", 13),
    ("1x1", 1),
    ("1x2", 2),
    ("1x9", 9),
    ("1x20", 20),
    ("13x1", 13),
    ("2x2", 4),
    ("2x7", 14),
    ("2x10", 16),
    ("9x2", 16),
    ("3x7", 14),
    ("7x7", 12),
    ("8x7", 12),
];

/// A jumping-phase position with at most `most` stones.
pub fn random_position(random: &mut Random, board: &Board, most: u32) -> Option<Position> {
    let mut occupied = board.all();
    let squares = board.dimensions().squares();
    let target = 1 + random.below(u64::from(most.min(squares))) as u32;
    while occupied.count_ones() > target {
        occupied &= !(1 << random.below(u64::from(squares)));
    }
    let position =
        Position::new_unchecked(board, occupied, random.pick(&[Colour::Black, Colour::White]));
    (position.phase(board) == Phase::Jumping).then_some(position)
}
