//! The exact canonical code of a position ([`Position::code`]).

use super::board::{Board, Rules};
use super::geometry::Colour;
use super::moves::Move;
use super::position::{Phase, Position};

/// Set in the code of a position with White to move where no symmetry exchanges the colours: on a board with two
/// odd sides, or with [`Symmetry::Colours`](super::Symmetry::Colours) or [`Symmetry::None`](super::Symmetry::None).
pub const WHITE_TO_MOVE: u64 = 1 << 63;

impl Position {
    /// The exact canonical code. Takes some 10 ns.
    ///
    /// In the jumping phase the players differ only in their squares. So a symmetry that exchanges the
    /// colours, together with a change of the side to move, leads to an equivalent position. Therefore:
    ///
    /// * On a board with an even side, the code of a jumping-phase position stands for Black to move. It is the
    ///   least occupancy over the colour-preserving symmetries (Black to move) or over the colour-exchanging
    ///   symmetries (White to move).
    /// * On a board with two odd sides, which has at most 63 squares, no symmetry exchanges the
    ///   colours. The code is the least occupancy over all symmetries, with bit 63 set for White to move.
    /// * With fewer symmetries ([`Board::with_symmetry`]) the code is the least occupancy over these, with bit 63 set
    ///   for White to move.
    /// * Before the second removal the players differ in their moves, so only the colour-preserving symmetries
    ///   apply. These positions are distinguished from all others of the board by the number of empty squares
    ///   (0 or 1). Without [`Rules::Standard`] there are no such positions: a code with 0 or 1 empty squares
    ///   stands for a position in the jumping phase.
    ///
    /// The code is a complete description, not a hash: two positions have the same code exactly if a symmetry
    /// maps one to the other.
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
        if white && board.marks_white() { least | WHITE_TO_MOVE } else { least }
    }

    /// The position of a canonical code. For other codes the result is unspecified.
    #[inline]
    pub fn from_code(board: &Board, code: u64) -> Position {
        let (occupied, marked) = if board.marks_white() {
            (code & !WHITE_TO_MOVE, code >> 63 == 1)
        } else {
            (code, false)
        };
        let is_standard = board.rules() == Rules::Standard;
        let one_empty = is_standard && (board.all() & !occupied).count_ones() == 1;
        let to_move = if marked || one_empty { Colour::White } else { Colour::Black };
        Position::new_unchecked(board, occupied, to_move)
    }

    /// The first move, in the order of generation, to a position with this code.
    pub fn move_to(&self, board: &Board, code: u64) -> Option<Move> {
        self.moves(board).into_iter().find(|&mv| self.play(board, mv).code(board) == code)
    }
}
