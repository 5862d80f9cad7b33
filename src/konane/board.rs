//! The precomputed masks of one board.

use super::geometry::{Colour, Dimensions, Direction};
use super::symmetry::{Symmetries, Symmetry, SymmetryError};

/// Rules of a board, which determine the phases of its positions and the colours of its squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// A game begins with two removals, and the top-left square is black.
    #[default]
    Standard,
    /// No removals: every position is in the jumping phase, even with fewer than two empty squares. For strips (boards
    /// of one rank) with one empty square, values have been published.
    Jumping,
    /// No removals, and the top-left square is white. The literature draws positions of the jumping phase without
    /// regard to the colours of the squares.
    OtherColouring,
}

/// The masks and symmetries of one board. They do not change during a game.
///
/// Construction takes some microseconds and up to 17 KiB, so boards should be shared by reference.
#[derive(Clone, Debug)]
pub struct Board {
    dimensions: Dimensions,
    all: u64,
    colours: [u64; 2],
    openings: u64,
    /// Distance between neighbours on the two axes; 0 on an axis that is too short for a jump.
    pub(super) shifts: [u32; 2],
    /// Squares of a colour on which a jump in a direction can land: `landing[colour][direction]`.
    pub(super) landings: [[u64; 4]; 2],
    symmetry: Symmetry,
    symmetries: Symmetries,
    rules: Rules,
}

impl Board {
    /// Precomputes the masks and symmetries of a board with the [standard rules](Rules::Standard).
    pub fn new(dimensions: Dimensions) -> Self {
        Board::with_rules(dimensions, Rules::Standard)
    }

    /// [`Board::new`] with other rules.
    ///
    /// On a board of [`Rules::Jumping`], positions with two or more empty squares, and their codes, are the same as on
    /// the standard board. All other codes stand for different positions than on the standard board
    /// ([`Position::is_standard`](super::Position::is_standard)).
    pub fn with_rules(dimensions: Dimensions, rules: Rules) -> Self {
        let (ranks, files) = (dimensions.ranks(), dimensions.files());
        let squares = dimensions.squares();
        let all = if squares == 64 { u64::MAX } else { (1 << squares) - 1 };
        let squares_where = |is_in: &dyn Fn(u32, u32) -> bool| -> u64 {
            (0..squares).filter(|&s| is_in(s / files, s % files)).map(|s| 1u64 << s).sum()
        };
        let even = squares_where(&|r, f| (r + f) % 2 == 0);
        let colours = match rules {
            Rules::OtherColouring => [all & !even, even],
            Rules::Standard | Rules::Jumping => [even, all & !even],
        };
        let middle = |n: u32, i: u32| i == n / 2 || i == (n - 1) / 2;
        let openings = colours[0]
            & squares_where(&|r, f| {
                let corner = (r == 0 || r == ranks - 1) && (f == 0 || f == files - 1);
                corner || (middle(ranks, r) && middle(files, f))
            });
        let on_board = [
            squares_where(&|_, f| f >= 2),
            squares_where(&|r, _| r >= 2),
            squares_where(&|_, f| f + 2 < files),
            squares_where(&|r, _| r + 2 < ranks),
        ];
        let landings = colours.map(|c| on_board.map(|m| c & m));
        let shifts = [if files >= 3 { 1 } else { 0 }, if ranks >= 3 { files } else { 0 }];
        let symmetry = Symmetry::All;
        let symmetries = Symmetries::new(dimensions, symmetry);
        Board { dimensions, all, colours, openings, shifts, landings, symmetry, symmetries, rules }
    }

    /// Returns this board with other symmetries: fewer positions share a code. Proofs, checkpoints of other
    /// searches and databases have the codes of [`Symmetry::All`].
    ///
    /// # Errors
    /// If the board has 64 squares and not all symmetries are used.
    pub fn with_symmetry(self, symmetry: Symmetry) -> Result<Board, SymmetryError> {
        if symmetry != Symmetry::All && self.all == u64::MAX {
            return Err(SymmetryError(self.dimensions));
        }
        Ok(Board { symmetry, symmetries: Symmetries::new(self.dimensions, symmetry), ..self })
    }

    /// The symmetries by which positions share a code.
    #[inline]
    pub fn symmetry(&self) -> Symmetry {
        self.symmetry
    }

    /// Returns true if the code of a position with White to move is marked by a bit of its own. Otherwise a symmetry
    /// that exchanges the colours maps the position to one with Black to move.
    #[inline]
    pub(super) fn marks_white(&self) -> bool {
        self.symmetry != Symmetry::All || !self.dimensions.has_even_side()
    }

    /// The rules.
    #[inline(always)]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Ranks and files.
    #[inline]
    pub fn dimensions(&self) -> Dimensions {
        self.dimensions
    }

    /// The set of all squares, which is also the set of stones of the start.
    #[inline]
    pub fn all(&self) -> u64 {
        self.all
    }

    /// The squares of a colour.
    #[inline]
    pub fn squares_of(&self, colour: Colour) -> u64 {
        self.colours[colour.index()]
    }

    /// The colour of a square.
    ///
    /// # Panics
    /// In debug builds, if the square is not on the board.
    #[inline]
    pub fn colour_of(&self, square: u32) -> Colour {
        debug_assert!(square < self.dimensions.squares());
        if self.colours[0] >> square & 1 == 1 { Colour::Black } else { Colour::White }
    }

    /// The black squares whose stone may be removed on ply 1: corners and centre.
    #[inline]
    pub fn openings(&self) -> u64 {
        self.openings
    }

    /// The squares orthogonally adjacent to a set of squares.
    pub fn neighbours(&self, set: u64) -> u64 {
        let files = self.dimensions.files();
        let first_file = self.file_mask(0);
        let last_file = self.file_mask(files - 1);
        let vertical = set.checked_shl(files).unwrap_or(0) | set.checked_shr(files).unwrap_or(0);
        (((set & !last_file) << 1) | ((set & !first_file) >> 1) | vertical) & self.all
    }

    fn file_mask(&self, file: u32) -> u64 {
        let files = self.dimensions.files();
        (0..self.dimensions.ranks()).map(|r| 1u64 << (r * files + file)).sum()
    }

    /// Masks for shifts by one step along the axis of a direction: the squares that may be shifted backward, and the
    /// squares that may be shifted forward, without wrapping around an edge of the board. Both sets are empty on an
    /// axis that is too short for a jump.
    pub(super) fn with_neighbours(&self, direction: Direction) -> (u64, u64) {
        let (first, last) = match direction.axis() {
            0 => (self.file_mask(0), self.file_mask(self.dimensions.files() - 1)),
            // All squares may be shifted by a rank: they leave the board instead of wrapping around an edge.
            _ => (0, 0),
        };
        if self.step(direction) == 0 { (0, 0) } else { (self.all & !first, self.all & !last) }
    }

    /// The symmetries of this board.
    #[doc(hidden)]
    #[inline]
    pub fn symmetries(&self) -> &Symmetries {
        &self.symmetries
    }

    /// Maximum number of stones that one jump can take: 3 on 8×8, 31 on 1×64.
    pub fn longest_jump(&self) -> u32 {
        (self.dimensions.ranks().max(self.dimensions.files()) - 1) / 2
    }

    /// Absolute difference between the numbers of two neighbouring squares in a direction; 0 on an axis that is too
    /// short for a jump. A step increases the number if [`Direction::is_forward`] is true.
    #[inline(always)]
    pub(super) fn step(&self, direction: Direction) -> u32 {
        self.shifts[direction.axis()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_have_1_to_64_squares() {
        for ranks in 0..=70 {
            for files in 0..=70 {
                let ok = ranks * files >= 1 && ranks * files <= 64;
                assert_eq!(Dimensions::new(ranks, files).is_ok(), ok, "{ranks}x{files}");
                if ok {
                    let d = Dimensions::new(ranks, files).unwrap();
                    assert_eq!(d.to_string().parse(), Ok(d));
                    let board = Board::new(d);
                    assert_eq!(board.all().count_ones(), ranks * files);
                    assert_eq!(board.colours[0] ^ board.colours[1], board.all());
                    assert_eq!(board.colour_of(0), Colour::Black);
                }
            }
        }
    }

    #[test]
    fn opening_squares_by_parity() {
        // 8x8: two black corners and two of the four centre squares; 5x5: four corners, one
        // centre; 1x4: a1 is a corner, c1 one of the two centre squares, d1 is white.
        for (text, count) in
            [("8x8", 4), ("5x5", 5), ("1x4", 2), ("1x1", 1), ("8x7", 3), ("2x2", 2)]
        {
            let board = Board::new(text.parse().unwrap());
            assert_eq!(board.openings().count_ones(), count, "{text}");
        }
    }

    #[test]
    fn neighbours_agree_with_coordinates() {
        for text in ["1x1", "1x64", "64x1", "8x8", "3x5", "5x3", "2x32"] {
            let d: Dimensions = text.parse().unwrap();
            let board = Board::new(d);
            for s in 0..d.squares() {
                let (r, f) = ((s / d.files()) as i32, (s % d.files()) as i32);
                let expected: u64 = [(r - 1, f), (r + 1, f), (r, f - 1), (r, f + 1)]
                    .into_iter()
                    .filter(|&(r, f)| {
                        r >= 0 && f >= 0 && r < d.ranks() as i32 && f < d.files() as i32
                    })
                    .map(|(r, f)| 1u64 << (r as u32 * d.files() + f as u32))
                    .sum();
                assert_eq!(board.neighbours(1 << s), expected, "{text} square {s}");
            }
        }
    }
}
