//! Parsing of squares, moves and positions. (Their `Display` implementations write them.)
//!
//! ```text
//! square    file letters and rank number: a1 is bottom left; files a .. z, aa, ab, ..
//! move      e4 removes a stone; c3-g3 jumps (also read without the hyphen)
//! position  xox/o1o/xox w: ranks from the top, x Black, o White, a number for that many
//!           empty squares, then b or w for the side to move
//! ```
//!
//! Every square, move and position is written in exactly one way. The parsers also accept the notation of
//! other programs:
//!
//! * moves: capital letters, any dash between the squares or none (`C3–G3`, `c3g3`), and the squares
//!   on which a jump lands on its way (`c3-e3-g3`); commas between moves
//! * positions: capital letters, and a point for an empty square. The colour of a stone has to be that
//!   of its square, so a diagram with another orientation does not become a wrong position.
//! * white space of any kind and length around the parts of a position and between moves
//!
//! Other texts are errors with the place, the reason and, if there is one, the remedy:
//! [`SquareError`], [`MoveError`] (with an [`IllegalMove`] for the broken rule), [`MoveListError`] and
//! [`PositionError`]. No text makes a parser panic.

use super::board::Board;
use super::geometry::{Colour, Dimensions};
use super::moves::Move;
use super::position::{Phase, PhaseChoice, Position, Setup, SetupError};
use super::square::file_name;
use crate::error::ErrorKind;
use crate::system::quote;

pub use super::square::{Square, SquareError, parse_square, square_name};

/// Maximum number of legal moves that an error lists.
const MAX_LISTED: usize = 8;

/// Error of a text that is not a move of the position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// No text at all.
    #[error("a move is missing: write a square such as e4 to remove a stone, c3-g3 to jump")]
    Empty,
    /// A part of the text is not a square of the board.
    #[error(transparent)]
    Square(#[from] SquareError),
    /// More than two squares that are not the start and the landing squares of one jump, in this order.
    #[error(
        "{0:?} is not a jump: its squares have to lie in one line and in one direction, each two \
         squares or a multiple of that from the one before it"
    )]
    Path(String),
    /// A well-formed move that the rules do not allow here.
    #[error("{text} is not legal here: {reason}; {legal}")]
    Illegal {
        /// The move in canonical form.
        text: String,
        /// The rule that it breaks.
        reason: IllegalMove,
        /// A sentence with some of the legal moves, or about the lack of legal moves.
        legal: String,
    },
}

impl MoveError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// The rule that a move breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalMove {
    /// A jump on ply 1.
    #[error("Black removes a stone first, jumps begin on ply 3")]
    FirstRemovalDue,
    /// A jump on ply 2.
    #[error("White removes a stone first, jumps begin on ply 3")]
    SecondRemovalDue,
    /// A removal after ply 2.
    #[error("both removals have been made, so {side} jumps: write the start and the end")]
    JumpDue {
        /// The side to move.
        side: Colour,
    },
    /// A removal on ply 1 from a square that is neither a corner nor in the centre.
    #[error("Black removes one of its own stones, from a corner or the centre")]
    NotAnOpening,
    /// A removal on ply 2 from a square that is not adjacent to the hole.
    #[error("White's opening removal must be a white stone next to the hole on {hole}")]
    NotBesideTheHole {
        /// The square that Black has emptied.
        hole: Square,
    },
    /// A jump from an empty square.
    #[error("no stone of {side} is on {square}, which is empty")]
    EmptyStart {
        /// The start.
        square: Square,
        /// The side to move.
        side: Colour,
    },
    /// A jump with a stone of the opponent.
    #[error("no stone of {side} is on {square}, which has a stone of {}", !*side)]
    EnemyStart {
        /// The start.
        square: Square,
        /// The side to move.
        side: Colour,
    },
    /// Start and end share neither rank nor file, or are the same.
    #[error("a jump goes to another square of the same rank or file")]
    NotALine,
    /// Start and end are an odd number of squares apart.
    #[error("a jump ends two squares further on for each stone that it takes")]
    OddDistance,
    /// A landing square is occupied.
    #[error("{square} is occupied, and a jump lands on empty squares only")]
    Occupied {
        /// The landing square.
        square: Square,
    },
    /// A square to jump over is empty.
    #[error("{square} is empty, so there is no stone to take")]
    NothingToTake {
        /// The square without a stone.
        square: Square,
    },
}

/// Error of a list of moves that is not the beginning of a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("move {number} ({text:?}): {reason}")]
pub struct MoveListError {
    /// Number of the wrong move, counted from 1.
    pub number: usize,
    /// The move as it was written.
    pub text: String,
    /// The error of the move.
    pub reason: MoveError,
}

impl MoveListError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// Error of a text that is not a position of the board.
///
/// Ranks are named by their number; the top rank has the highest. Characters are counted from 1 within
/// their rank.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// No text at all.
    #[error(
        "a position is missing: write its ranks from the top with / between them, then b or w, \
         such as xox/oxo/xox b"
    )]
    Empty,
    /// A number of ranks that the board does not have.
    #[error(
        "this position has {found} rank{}, the {board} board has {}",
        if *found == 1 { "" } else { "s" },
        .board.ranks()
    )]
    RankCount {
        /// Ranks in the text.
        found: usize,
        /// The board.
        board: Dimensions,
    },
    /// A rank with fewer squares than the board has files.
    #[error(
        "rank {rank} is too short: it describes {found} of the {} squares in a rank of the \
         {board} board; empty squares at the end need a number too",
        .board.files()
    )]
    RankTooShort {
        /// The rank's number.
        rank: u32,
        /// Squares that the text describes.
        found: u32,
        /// The board.
        board: Dimensions,
    },
    /// A rank with more squares than the board has files.
    #[error(
        "rank {rank} is too long: character {column} leads beyond file {}, the last one of the \
         {board} board",
        file_name(.board.files() - 1)
    )]
    RankTooLong {
        /// The rank's number.
        rank: u32,
        /// Number of the character that leads beyond the edge: a stone or a number of empty squares.
        column: usize,
        /// The board.
        board: Dimensions,
    },
    /// A character that has no meaning in a position.
    #[error(
        "rank {rank}, character {column}: {found:?} is none of x (Black), o (White), a number of \
         empty squares, and . for one empty square"
    )]
    UnknownCharacter {
        /// The rank's number.
        rank: u32,
        /// Number of the character in the rank.
        column: usize,
        /// The character.
        found: char,
    },
    /// A number of empty squares that is zero or has leading zeros.
    #[error(
        "rank {rank}, character {column}: a number of empty squares begins with 1 to 9, not with 0"
    )]
    ZeroCount {
        /// The rank's number.
        rank: u32,
        /// Number of the character in the rank.
        column: usize,
    },
    /// Nothing after the ranks.
    #[error("the side to move is missing: add a space and b (Black) or w (White) after the ranks")]
    MissingSide,
    /// A word other than `b` and `w` in the place of the side to move.
    #[error("{0:?} is not a side to move: write b (Black) or w (White) in its place")]
    UnknownSide(String),
    /// Text after the side to move.
    #[error("{0:?} stands after the side to move, where the position ends: leave it out")]
    TrailingText(String),
    /// Stones that no position of the board can have.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl PositionError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// Parses a move that has to be legal in the position. White space around it is not accepted.
///
/// # Errors
/// If the text is not a move, or if the rules do not allow the move here; the error names the rule
/// and lists some legal moves.
pub fn parse_move(board: &Board, position: &Position, text: &str) -> Result<Move, MoveError> {
    let mv = read_move(board.dimensions(), text)?;
    check_move(board, position, mv)?;
    Ok(mv)
}

/// Characters that may stand between the squares of a jump: hyphens, dashes and the minus sign.
pub(super) const DASHES: [char; 8] =
    ['-', '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2015}', '\u{2212}'];

/// Parses a move without checking that it is legal. A removal is written as one square. A jump is written as its
/// start and its end; any of the landing squares between them may be written as well.
///
/// # Errors
/// If a part of the text is not a square of the board, or if there are more than two squares and no jump can visit
/// them in this order.
pub fn read_move(dimensions: Dimensions, text: &str) -> Result<Move, MoveError> {
    if text.is_empty() {
        return Err(MoveError::Empty);
    }
    let names: Vec<&str> = text.split(DASHES).flat_map(without_dashes).collect();
    // If a square is missing, the error quotes the whole move.
    if names.contains(&"") {
        return Err(SquareError::Syntax(quote(text)).into());
    }
    let squares = names.into_iter().map(|name| parse_square(dimensions, name));
    let squares = squares.collect::<Result<Vec<u32>, _>>()?;
    let square = |index: u32| Square::new(dimensions, index as u8);
    match squares[..] {
        [index] => Ok(Move::Remove { square: square(index) }),
        [from, .., to] if squares.len() == 2 || is_path(dimensions, &squares) => {
            Ok(Move::Jump { from: square(from), to: square(to) })
        }
        _ => Err(MoveError::Path(quote(text))),
    }
}

/// Splits names of squares that follow each other without a dash. A letter after a digit begins the next
/// name.
fn without_dashes(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let is_begin = |&i: &usize| bytes[i - 1].is_ascii_digit() && bytes[i].is_ascii_alphabetic();
    let (mut names, mut begin) = (Vec::new(), 0);
    for next in (1..bytes.len()).filter(is_begin) {
        names.push(&text[begin..next]);
        begin = next;
    }
    names.push(&text[begin..]);
    names
}

/// Returns true if a jump can visit these squares in this order. The stones of a position are not considered.
fn is_path(dimensions: Dimensions, squares: &[u32]) -> bool {
    let step = |pair: &[u32]| {
        let [from, to] = [pair[0] as i32, pair[1] as i32];
        let files = dimensions.files() as i32;
        let (ranks, files) = (to / files - from / files, to % files - from % files);
        let is_jump = (ranks == 0) != (files == 0) && ranks % 2 == 0 && files % 2 == 0;
        is_jump.then_some((ranks.signum(), files.signum()))
    };
    let first = step(&squares[..2]);
    first.is_some() && squares.windows(2).all(|pair| step(pair) == first)
}

/// Checks that a move is legal. Takes as long as [`Position::moves`].
///
/// # Errors
/// [`MoveError::Illegal`], with the broken rule.
///
/// # Panics
/// If a square of the move is not on the board.
pub fn check_move(board: &Board, position: &Position, mv: Move) -> Result<(), MoveError> {
    let moves = position.moves(board);
    if moves.contains(&mv) {
        return Ok(());
    }
    let dimensions = board.dimensions();
    let side = position.to_move();
    let reason = match (mv, position.phase(board)) {
        (Move::Jump { .. }, Phase::FirstRemoval) => IllegalMove::FirstRemovalDue,
        (Move::Jump { .. }, Phase::SecondRemoval) => IllegalMove::SecondRemovalDue,
        (Move::Jump { from, to }, Phase::Jumping) => {
            broken_jump_rule(board, position, from.index().into(), to.index().into())
        }
        (Move::Remove { .. }, Phase::Jumping) => IllegalMove::JumpDue { side },
        (Move::Remove { .. }, Phase::FirstRemoval) => IllegalMove::NotAnOpening,
        (Move::Remove { .. }, Phase::SecondRemoval) => {
            let hole = (board.all() & !position.occupied()).trailing_zeros();
            IllegalMove::NotBesideTheHole { hole: Square::new(dimensions, hole as u8) }
        }
    };
    let listed: Vec<String> = moves.iter().take(MAX_LISTED).map(Move::to_string).collect();
    let legal = match moves.len() {
        0 => format!("{side} has no legal move and has lost"),
        n if n > MAX_LISTED => format!("{n} moves are legal, such as {}", listed.join(" ")),
        _ => format!("legal: {}", listed.join(" ")),
    };
    Err(MoveError::Illegal { text: mv.to_string(), reason, legal })
}

/// The first rule that an illegal jump breaks, from its start to its end.
fn broken_jump_rule(board: &Board, position: &Position, from: u32, to: u32) -> IllegalMove {
    let dimensions = board.dimensions();
    let side = position.to_move();
    let square = |index: u32| Square::new(dimensions, index as u8);
    let occupied = |square: u32| position.occupied() >> square & 1 == 1;
    if !occupied(from) {
        return IllegalMove::EmptyStart { square: square(from), side };
    }
    if board.colour_of(from) != side {
        return IllegalMove::EnemyStart { square: square(from), side };
    }
    let files = dimensions.files();
    let step = if from / files == to / files {
        1
    } else if from % files == to % files {
        files
    } else {
        return IllegalMove::NotALine;
    };
    let distance = from.abs_diff(to) / step;
    if distance == 0 {
        return IllegalMove::NotALine;
    }
    if distance % 2 == 1 {
        return IllegalMove::OddDistance;
    }
    let along = |i: u32| {
        if to > from { from + i * step } else { from - i * step }
    };
    for i in (1..distance).step_by(2) {
        if !occupied(along(i)) {
            return IllegalMove::NothingToTake { square: square(along(i)) };
        }
        if occupied(along(i + 1)) {
            return IllegalMove::Occupied { square: square(along(i + 1)) };
        }
    }
    // Not reached: every illegal jump breaks one of the rules above. If it were reached, a wrong reason would be better
    // than a panic.
    IllegalMove::NotALine
}

/// Returns the position after a list of moves from the start of the game ([`parse_line`]).
///
/// # Errors
/// If one of the moves is not legal.
pub fn parse_moves(board: &Board, text: &str) -> Result<Position, MoveListError> {
    let start = Position::start(board);
    let moves = parse_line(board, &start, text)?;
    Ok(moves.into_iter().fold(start, |position, mv| position.play(board, mv)))
}

/// Parses a sequence of moves from a position, separated by white space, commas, or both. Move numbers (`1.`,
/// `1...`) are ignored.
///
/// # Errors
/// If one of the moves is not legal.
pub fn parse_line(board: &Board, begin: &Position, text: &str) -> Result<Vec<Move>, MoveListError> {
    let (mut position, mut moves) = (*begin, Vec::new());
    let words = text.split(|c: char| c.is_whitespace() || c == ',').map(without_number);
    for (index, word) in words.filter(|word| !word.is_empty()).enumerate() {
        let mv = parse_move(board, &position, word).map_err(|reason| MoveListError {
            number: index + 1,
            text: quote(word),
            reason,
        })?;
        position = position.play(board, mv);
        moves.push(mv);
    }
    Ok(moves)
}

/// Removes the number of the move from a word such as `1.c3`.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < word.len() && rest.starts_with('.') {
        rest.trim_start_matches('.')
    } else {
        word
    }
}

/// Parses a position of the board.
///
/// # Errors
/// If the text is not a position, is a position of another board, or has impossible stones
/// ([`Position::from_setup`]).
pub fn parse_position(board: &Board, text: &str) -> Result<Position, PositionError> {
    let mut words = text.split_whitespace();
    let ranks = words.next().ok_or(PositionError::Empty)?;
    let (black, white) = parse_ranks(board.dimensions(), ranks)?;
    let to_move = match words.next() {
        Some("b" | "B") => Colour::Black,
        Some("w" | "W") => Colour::White,
        Some(word) => return Err(PositionError::UnknownSide(quote(word))),
        None => return Err(PositionError::MissingSide),
    };
    if let Some(word) = words.next() {
        return Err(PositionError::TrailingText(quote(word)));
    }
    let setup = Setup { black, white, to_move };
    Ok(Position::from_setup(board, setup)?)
}

/// Returns the dimensions of the board of a position's text, or `None` if no board has them. Only the number of ranks and
/// the squares of the first rank are read.
pub fn dimensions_of(text: &str) -> Option<Dimensions> {
    let mut ranks = text.split_whitespace().next()?.split('/');
    let first = ranks.next()?;
    let is_digit = |c: char| c.is_ascii_digit();
    if !first.chars().all(|c| is_digit(c) || "xoXO.".contains(c)) {
        return None;
    }
    let gaps = first.split(|c| !is_digit(c)).filter_map(|count| count.parse::<u32>().ok());
    let stones = first.chars().filter(|&c| !is_digit(c)).count() as u32;
    let files = gaps.fold(stones, u32::saturating_add);
    Dimensions::new(1 + ranks.count() as u32, files).ok()
}

/// Parses a position of a given phase. Also returns the board on which positions of that phase are played
/// ([`PhaseChoice::board`]).
///
/// # Errors
/// As [`parse_position`].
pub fn parse_position_as(
    dimensions: Dimensions,
    text: &str,
    phase: PhaseChoice,
) -> Result<(Board, Position), PositionError> {
    let board = phase.board(dimensions);
    let position = parse_position(&board, text)?;
    Ok((board, position))
}

/// Black and white stones of the ranks of a position's text.
fn parse_ranks(board: Dimensions, text: &str) -> Result<(u64, u64), PositionError> {
    // A wrong number of ranks is reported before all other errors: in most cases the position belongs
    // to another board, and errors about single squares would hide that.
    let found = text.split('/').count();
    if found != board.ranks() as usize {
        return Err(PositionError::RankCount { found, board });
    }
    let (mut black, mut white) = (0, 0);
    for (row, rank_text) in (0..).zip(text.split('/')) {
        let rank = board.ranks() - row;
        let mut file = 0;
        let mut characters = (1..).zip(rank_text.chars()).peekable();
        while let Some((column, found)) = characters.next() {
            let width = match found {
                'x' | 'o' | 'X' | 'O' | '.' => 1,
                '0' => return Err(PositionError::ZeroCount { rank, column }),
                '1'..='9' => {
                    let mut count = found as u32 - '0' as u32;
                    while let Some((_, digit)) = characters.next_if(|(_, c)| c.is_ascii_digit()) {
                        let digit = digit as u32 - '0' as u32;
                        count = count.saturating_mul(10).saturating_add(digit);
                    }
                    count
                }
                _ => {
                    return Err(PositionError::UnknownCharacter { rank, column, found });
                }
            };
            if width > board.files() - file {
                return Err(PositionError::RankTooLong { rank, column, board });
            }
            match found {
                'x' | 'X' => black |= 1u64 << (row * board.files() + file),
                'o' | 'O' => white |= 1u64 << (row * board.files() + file),
                _ => {}
            }
            file += width;
        }
        if file < board.files() {
            return Err(PositionError::RankTooShort { rank, found: file, board });
        }
    }
    Ok((black, white))
}
