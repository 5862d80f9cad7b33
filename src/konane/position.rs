//! [`Position`]s, and [`Setup`]s, which have not been checked and may be impossible.
//!
//! A stone always stands on a square of its own colour, because a jump moves it by an even number of squares. So
//! the set of occupied squares and the side to move determine the position.

use std::fmt;
use std::str::FromStr;

use konane_base::serialize_as_text;
use serde::Serialize;

use super::board::{Board, Rules};
use super::geometry::{Colour, Dimensions, squares};
use super::square::Square;
use crate::error::ErrorKind;
use crate::system::quote;

/// Phase of a game. With the [standard rules](Rules::Standard) it follows from the number of empty squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Phase {
    /// No square is empty: Black removes one of its stones from a corner or the centre.
    #[serde(rename = "removal")]
    FirstRemoval,
    /// One square is empty: White removes an adjacent stone.
    #[serde(rename = "removal")]
    SecondRemoval,
    /// The players jump.
    #[serde(rename = "jump")]
    Jumping,
}

// Not derived: two of the phases have the same text, which a derived schema would list twice.
#[cfg(feature = "json-schema")]
impl schemars::JsonSchema for Phase {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Phase".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": ["removal", "jump"] })
    }
}

/// Phase of a position that is given as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PhaseChoice {
    /// The phase follows from the number of empty squares.
    #[default]
    Auto,
    /// The jumping phase with any number of empty squares ([`Rules::Jumping`]).
    Jump,
}

impl PhaseChoice {
    /// All values.
    pub const ALL: [PhaseChoice; 2] = [PhaseChoice::Auto, PhaseChoice::Jump];

    /// `auto` or `jump`.
    pub const fn name(self) -> &'static str {
        match self {
            PhaseChoice::Auto => "auto",
            PhaseChoice::Jump => "jump",
        }
    }

    /// The board on which positions of this phase are played.
    pub fn board(self, dimensions: Dimensions) -> Board {
        Board::with_rules(dimensions, self.rules())
    }

    /// The rules of this phase.
    pub const fn rules(self) -> Rules {
        match self {
            PhaseChoice::Auto => Rules::Standard,
            PhaseChoice::Jump => Rules::Jumping,
        }
    }
}

/// Error of reading a [`PhaseChoice`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a phase: write auto or jump")]
pub struct PhaseError(pub String);

impl FromStr for PhaseChoice {
    type Err = PhaseError;

    fn from_str(text: &str) -> Result<Self, PhaseError> {
        // Answers have `removal`, which follows from the number of empty squares.
        let text = if text == "removal" { PhaseChoice::Auto.name() } else { text };
        let mut all = PhaseChoice::ALL.into_iter();
        all.find(|choice| choice.name() == text).ok_or_else(|| PhaseError(quote(text)))
    }
}

/// Stones and a side to move, not yet checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    /// Squares with a black stone.
    pub black: u64,
    /// Squares with a white stone.
    pub white: u64,
    /// The side to move.
    pub to_move: Colour,
}

/// Error of a [`Setup`] that is not a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// Stones outside of the board.
    #[error("there are stones outside of the {board} board")]
    OutsideBoard {
        /// The board.
        board: Dimensions,
    },
    /// Two stones on a square.
    #[error("{square} carries a black and a white stone")]
    TwoStones {
        /// The square.
        square: Square,
    },
    /// A stone on a square of the other colour, and another stone on a square of its own.
    #[error(
        "a {colour} stone stands on {square}, a square of the other colour, and other stones do not: \
         jumps never change the colour of the square under a stone, so no game leads there"
    )]
    WrongColour {
        /// The colour of the stone.
        colour: &'static str,
        /// The square.
        square: Square,
    },
    /// All stones on squares of the other colour, before both removals.
    #[error(
        "all stones stand on squares of the other colour, such as the {colour} stone on {square}: \
         this is possible in the jumping phase only, after both removals"
    )]
    OtherColouring {
        /// The colour of a stone.
        colour: &'static str,
        /// The square of the stone.
        square: Square,
    },
    /// White to move with a full board.
    #[error("no stone has been removed yet, so Black is to move, not White")]
    FullBoardWhiteToMove,
    /// Black to move with one empty square.
    #[error("only {square} is empty, so White is to move (its removal is ply 2), not Black")]
    OneEmptyBlackToMove {
        /// The square.
        square: Square,
    },
    /// One empty square that Black cannot have emptied.
    #[error("only {square} is empty, but Black's first removal is one of {openings}")]
    ImpossibleOpening {
        /// The square.
        square: Square,
        /// The squares that Black may empty.
        openings: String,
    },
}

impl SetupError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// A position: the occupied squares, the side to move, the size of the board and its rules, as far as they matter
/// ([`Position::rules`]). It is created by [`Position::start`], from a text ([`super::notation`]) or from a [`Setup`].
///
/// An example of its [`Display`](fmt::Display) text is `xox/o1o/xox w`. The text has all parts of the position but the
/// number of files of an empty rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    occupied: u64,
    to_move: Colour,
    dimensions: Dimensions,
    rules: Rules,
}

impl Position {
    /// The full board with Black to move.
    pub fn start(board: &Board) -> Self {
        Position::new_unchecked(board, board.all(), Colour::Black)
    }

    /// Creates a position from a setup.
    ///
    /// In the jumping phase (two or more empty squares, or any number without [`Rules::Standard`]) every
    /// subset of stones with either side to move is accepted, as in a complete database, even if no game leads
    /// to it.
    ///
    /// # Errors
    /// If the setup is not a position of the board.
    pub fn from_setup(board: &Board, setup: Setup) -> Result<Self, SetupError> {
        let dimensions = board.dimensions();
        let first = |set: u64| Square::new(dimensions, set.trailing_zeros() as u8);
        let occupied = setup.black | setup.white;
        if occupied & !board.all() != 0 {
            return Err(SetupError::OutsideBoard { board: dimensions });
        }
        if setup.black & setup.white != 0 {
            return Err(SetupError::TwoStones { square: first(setup.black & setup.white) });
        }
        for (colour, stones) in [(Colour::Black, setup.black), (Colour::White, setup.white)] {
            let wrong = stones & !board.squares_of(colour);
            if wrong != 0 {
                let (colour, square) = (colour.name(), first(wrong));
                return Err(match setup.fits_other_colouring(board) {
                    true => SetupError::OtherColouring { colour, square },
                    false => SetupError::WrongColour { colour, square },
                });
            }
        }
        let empty = board.all() & !occupied;
        match (empty.count_ones(), setup.to_move) {
            _ if board.rules() != Rules::Standard => {}
            (0, Colour::White) => return Err(SetupError::FullBoardWhiteToMove),
            (1, Colour::Black) => {
                return Err(SetupError::OneEmptyBlackToMove { square: first(empty) });
            }
            (1, Colour::White) if empty & board.openings() == 0 => {
                let openings = squares(board.openings())
                    .map(|square| Square::new(dimensions, square).to_string())
                    .collect::<Vec<_>>()
                    .join(", ");
                return Err(SetupError::ImpossibleOpening { square: first(empty), openings });
            }
            _ => {}
        }
        Ok(Position::new_unchecked(board, occupied, setup.to_move))
    }

    /// Creates a position from its parts. The caller must ensure that it is a position of the board.
    #[inline(always)]
    pub fn new_unchecked(board: &Board, occupied: u64, to_move: Colour) -> Self {
        let rules = match board.rules() {
            Rules::Standard => Rules::Standard,
            Rules::OtherColouring if occupied != 0 => Rules::OtherColouring,
            _ if (board.all() & !occupied).count_ones() < 2 => Rules::Jumping,
            _ => Rules::Standard,
        };
        Position { occupied, to_move, dimensions: board.dimensions(), rules }
    }

    /// The rules of the position. A position that is the same on the standard board has [`Rules::Standard`], on
    /// whichever board it was created: with [`Rules::Jumping`] these are all positions with two or more empty squares.
    #[inline(always)]
    pub const fn rules(&self) -> Rules {
        self.rules
    }

    /// Returns true for a position of a game by the standard rules. Databases and proofs have no values of other
    /// positions: the same code stands for a different position there.
    #[inline(always)]
    pub fn is_standard(&self) -> bool {
        self.rules == Rules::Standard
    }

    /// The board of the position.
    pub fn board(&self) -> Board {
        Board::with_rules(self.dimensions, self.rules)
    }

    /// The size of the board.
    #[inline(always)]
    pub const fn dimensions(&self) -> Dimensions {
        self.dimensions
    }

    /// The occupied squares.
    #[inline(always)]
    pub const fn occupied(&self) -> u64 {
        self.occupied
    }

    /// The side to move.
    #[inline(always)]
    pub const fn to_move(&self) -> Colour {
        self.to_move
    }

    /// The stones of a colour.
    #[inline]
    pub fn stones(&self, board: &Board, colour: Colour) -> u64 {
        self.occupied & board.squares_of(colour)
    }

    /// The phase. It depends on the number of empty squares, and is always the jumping phase without
    /// [`Rules::Standard`].
    #[inline]
    pub fn phase(&self, board: &Board) -> Phase {
        match (board.all() & !self.occupied).count_ones() {
            0 | 1 if board.rules() != Rules::Standard => Phase::Jumping,
            0 => Phase::FirstRemoval,
            1 => Phase::SecondRemoval,
            _ => Phase::Jumping,
        }
    }

    /// The setup of this position.
    pub fn to_setup(&self, board: &Board) -> Setup {
        Setup {
            black: self.stones(board, Colour::Black),
            white: self.stones(board, Colour::White),
            to_move: self.to_move,
        }
    }
}

impl Setup {
    /// Returns true if no stone stands on a square of its own colour. An empty board is not of this kind.
    pub(super) fn fits_other_colouring(&self, board: &Board) -> bool {
        let black_fits = self.black & board.squares_of(Colour::Black) == 0;
        let white_fits = self.white & board.squares_of(Colour::White) == 0;
        black_fits && white_fits && self.black | self.white != 0
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ranks, files) = (self.dimensions.ranks(), self.dimensions.files());
        let mut text = String::new();
        for row in 0..ranks {
            if row > 0 {
                text.push('/');
            }
            let mut empty = 0;
            for file in 0..files {
                if self.occupied >> (row * files + file) & 1 == 0 {
                    empty += 1;
                    continue;
                }
                if empty > 0 {
                    text += &empty.to_string();
                    empty = 0;
                }
                // The colour of a square is that of its stone.
                let is_even = (row + file).is_multiple_of(2);
                let is_black = is_even != (self.rules == Rules::OtherColouring);
                text.push(if is_black { 'x' } else { 'o' });
            }
            if empty > 0 {
                text += &empty.to_string();
            }
        }
        text += match self.to_move {
            Colour::Black => " b",
            Colour::White => " w",
        };
        let gaps = self.dimensions.squares() - self.occupied.count_ones();
        if !self.is_standard() && gaps < 2 {
            text += " jump";
        }
        f.pad(&text)
    }
}

serialize_as_text!(Position: "A position, such as `xox/o1o/xox w`.");
