//! The exact canonical code of a position; [`Position::code`] says what it is.

use super::board::Board;
use super::geometry::Colour;
use super::moves::Move;
use super::position::{Phase, Position};

/// Set in the code of a position with White to move on a board with two odd sides.
pub const WHITE_TO_MOVE: u64 = 1 << 63;

impl Position {
    /// The exact canonical code. Some 10 ns.
    ///
    /// In the jumping phase the two players differ in nothing but their squares, so a symmetry that
    /// exchanges the colours together with a change of the side to move gives an equivalent position.
    /// Therefore:
    ///
    /// * on a board with an even side every jumping-phase position is written with Black to move, and
    ///   its code is the least occupancy over the colour-preserving symmetries (Black to move) or over
    ///   the exchanging ones (White to move);
    /// * on a board with two odd sides, which has at most 63 squares, no symmetry exchanges the
    ///   colours; the code is the least occupancy over the group, with bit 63 set for White to move;
    /// * before the second removal the players do differ, and only the colour-preserving symmetries
    ///   are used. The number of empty squares (0 or 1) tells these positions from all others of the
    ///   board. [`Board::jumping`] has no such positions; a code with 0 or 1 empty squares stands for a
    ///   position in the jumping phase there.
    ///
    /// The code is a complete description: two positions have the same code exactly when a symmetry
    /// maps one to the other. Nothing is hashed.
    #[inline]
    pub fn code(&self, board: &Board) -> u64 {
        let (occupied, symmetries) = (self.occupied(), board.symmetries());
        let white = self.to_move() == Colour::White;
        if white
            && self.phase(board) == Phase::Jumping
            && let Some(least) = symmetries.least_exchanging(occupied)
        {
            return least;
        }
        let least = symmetries.least_preserving(occupied);
        if white && !board.dimensions().has_even_side() { least | WHITE_TO_MOVE } else { least }
    }

    /// The position that a canonical code stands for; for other codes, nothing sensible.
    #[inline]
    pub fn from_code(board: &Board, code: u64) -> Position {
        let (occupied, marked) = if board.dimensions().has_even_side() {
            (code, false)
        } else {
            (code & !WHITE_TO_MOVE, code >> 63 == 1)
        };
        let one_empty = !board.is_jumping() && (board.all() & !occupied).count_ones() == 1;
        let to_move = if marked || one_empty { Colour::White } else { Colour::Black };
        Position::new_unchecked(board, occupied, to_move)
    }

    /// The first move, in the order of generation, that leads to a position with this code.
    pub fn move_to(&self, board: &Board, code: u64) -> Option<Move> {
        self.moves(board).into_iter().find(|&mv| self.play(board, mv).code(board) == code)
    }
}
