//! [`Move`]s: generation, counting and play.
//!
//! In each direction, at most one jump ends on a given square: of two such jumps, the shorter one would start on a
//! square that the longer one needs to be empty. Therefore the moves of a position are the set bits of four landing
//! sets, one for each direction, and counting them needs no list.
//!
//! Let `k` be the distance between neighbouring squares in a forward direction, and `C` the squares of the mover's
//! colour. The empty squares of this colour behind a stone are `P = (occupied << k) & !occupied & C`. Jumps over one
//! stone land on `(occupied << 2k) & P`. If jumps over `n` stones land on `landings`, jumps over `n + 1` stones land on
//! `(landings << 2k) & P`. The masks of [`Board`] keep the shifts from wrapping around the board's edges.

use std::fmt;

use konane_base::serialize_as_text;

use super::board::Board;
use super::geometry::{Colour, Direction, squares};
use super::position::{Phase, Position};
use super::square::Square;

/// A move. Its [`Display`](fmt::Display) text is `e4` for a removal, `c3-g3` for a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Move {
    /// One of the first two plies.
    Remove {
        /// The square of the removed stone.
        square: Square,
    },
    /// A jump over one or more stones in a straight line.
    Jump {
        /// The square on which the stone starts.
        from: Square,
        /// The square on which the stone ends.
        to: Square,
    },
}

impl Move {
    /// The squares on which a jump starts and ends, or the square of the removed stone.
    pub const fn marked(self) -> u64 {
        match self {
            Move::Remove { square } => square.bit(),
            Move::Jump { from, to } => from.bit() | to.bit(),
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Remove { square } => square.fmt(f),
            Move::Jump { from, to } => f.pad(&format!("{from}-{to}")),
        }
    }
}

serialize_as_text!(Move: "A move, such as `e4` or `c3-g3`.");

/// Calls `visit(n, set)` for n = 1, 2, and so on: `set` has the landing squares of all jumps of `colour` in this
/// direction that take n stones. Stops at the first n without such jumps.
#[inline(always)]
pub(super) fn for_each_landing_set(
    board: &Board,
    occupied: u64,
    colour: Colour,
    direction: Direction,
    mut visit: impl FnMut(u32, u64),
) {
    let step = board.step(direction);
    let target = board.landings[colour.index()][direction as usize];
    let shift = |set: u64, by: u32| {
        if direction.is_forward() { set << by } else { set >> by }
    };
    let passable = shift(occupied, step) & !occupied & target;
    let mut landings = shift(occupied, 2 * step) & passable;
    let mut taken = 1;
    while landings != 0 {
        visit(taken, landings);
        landings = shift(landings, 2 * step) & passable;
        taken += 1;
    }
}

impl Position {
    /// All legal moves. The order is stable: by direction, then by length, then by square.
    pub fn moves(&self, board: &Board) -> Vec<Move> {
        let mut moves = Vec::new();
        let square = |index| Square::new(board.dimensions(), index);
        let removals = match self.phase(board) {
            Phase::Jumping => {
                for direction in Direction::ALL {
                    let (occupied, colour) = (self.occupied(), self.to_move());
                    for_each_landing_set(board, occupied, colour, direction, |taken, landings| {
                        let distance = 2 * taken * board.step(direction);
                        for to in squares(landings) {
                            let from = if direction.is_forward() {
                                to - distance as u8
                            } else {
                                to + distance as u8
                            };
                            moves.push(Move::Jump { from: square(from), to: square(to) });
                        }
                    });
                }
                return moves;
            }
            Phase::FirstRemoval => board.openings(),
            Phase::SecondRemoval => board.neighbours(board.all() & !self.occupied()),
        };
        moves.extend(squares(removals).map(|index| Move::Remove { square: square(index) }));
        moves
    }

    /// Number of legal moves. Does not generate them.
    pub fn count_moves(&self, board: &Board) -> u32 {
        match self.phase(board) {
            Phase::Jumping => self.count_jumps(board, self.to_move()),
            Phase::FirstRemoval => board.openings().count_ones(),
            Phase::SecondRemoval => board.neighbours(board.all() & !self.occupied()).count_ones(),
        }
    }

    /// Number of jumps that `colour` would have if it were to move.
    pub fn count_jumps(&self, board: &Board, colour: Colour) -> u32 {
        let mut count = 0;
        for direction in Direction::ALL {
            for_each_landing_set(board, self.occupied(), colour, direction, |_, landings| {
                count += landings.count_ones();
            });
        }
        count
    }

    /// Number of stones of `colour` that could jump if it were to move, for the movable-pieces ratio
    /// (thesis, 3.8).
    pub fn count_movable(&self, board: &Board, colour: Colour) -> u32 {
        let mut movable = 0u64;
        for direction in Direction::ALL {
            let back = 2 * board.step(direction);
            for_each_landing_set(board, self.occupied(), colour, direction, |taken, landings| {
                if taken == 1 {
                    movable |=
                        if direction.is_forward() { landings >> back } else { landings << back };
                }
            });
        }
        movable.count_ones()
    }

    /// Returns true if a move is legal in this position. Takes as long as [`Position::moves`].
    pub fn is_legal(&self, board: &Board, mv: Move) -> bool {
        self.moves(board).contains(&mv)
    }

    /// The position after a legal move.
    ///
    /// # Panics
    /// In debug builds, if the move is not legal.
    pub fn play(&self, board: &Board, mv: Move) -> Position {
        debug_assert!(self.is_legal(board, mv), "{mv:?} is not legal in {self:?}");
        let changed = match mv {
            Move::Remove { square } => square.bit(),
            Move::Jump { from, to } => {
                let (from, to) = (from.index(), to.index());
                let files = board.dimensions().files();
                let (low, high) = (u32::from(from.min(to)), u32::from(from.max(to)));
                let step = if low / files == high / files { 1 } else { files };
                let taken = (low + step..high).step_by(2 * step as usize);
                taken.fold(1 << from | 1 << to, |set, square| set | 1u64 << square)
            }
        };
        Position::new_unchecked(board, self.occupied() ^ changed, !self.to_move())
    }
}
