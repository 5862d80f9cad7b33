//! Parsing of squares, moves and positions. (Their `Display` implementations write them.)
//!
//! ```text
//! square    file letters and rank number: a1 is bottom left; files a .. z, aa, ab, ..
//! move      e4 removes a stone; c3-g3 jumps (also read without the hyphen)
//! position  xox/o1o/xox w: ranks from the top, x Black, o White, a number for that many
//!           empty squares, then b or w for the side to move
//!           1ox b jump: in the jumping phase, although fewer than two squares are empty
//! ```
//!
//! Every square, move and position is written in exactly one way. The parsers also accept the notation of
//! other programs:
//!
//! * moves: capital letters, any dash between the squares or none (`C3–G3`, `c3g3`), and the squares
//!   on which a jump lands on its way (`c3-e3-g3`); commas between moves
//! * positions: capital letters; `b` and `w` for stones; a point or `_` for an empty square; diagrams with one rank per
//!   line; white space or bars between squares, or bars between ranks; names of ranks and files as in the
//!   program's own drawings
//! * positions whose stones all stand on squares of the other colour, in the jumping phase
//!   ([`Rules::OtherColouring`]). If some stones do and others do not, the text is not a position.
//! * white space of any kind and length around the parts of a position and between moves
//!
//! Other texts are errors with the place, the reason and, if there is one, the remedy:
//! [`SquareError`], [`MoveError`] (with an [`IllegalMove`] for the broken rule), [`MoveListError`] and
//! [`PositionError`]. No text makes a parser panic.

use super::board::{Board, Rules};
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
        "rank {rank}, character {column}: {found:?} is none of x or b (Black), o or w (White), a number \
         of empty squares, and . or _ for one empty square"
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
    /// The word `jump` for a position with fewer than two empty squares where only the standard rules are possible.
    #[error(
        "the position is in the jumping phase with fewer than two empty squares, and no game that begins \
         with two removals has it"
    )]
    NoRemovals,
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
/// If the text is not a position, is a position of another board or of other rules, or has impossible stones
/// ([`Position::from_setup`]).
pub fn parse_position(board: &Board, text: &str) -> Result<Position, PositionError> {
    let (setup, phase) = read_setup(board.dimensions(), text)?;
    let is_early = gaps(board.dimensions(), &setup) < 2;
    if phase == PhaseChoice::Jump && is_early && board.rules() == Rules::Standard {
        return Err(PositionError::NoRemovals);
    }
    Ok(Position::from_setup(board, setup)?)
}

/// Parses a position of a given phase. Also returns the board on which the position is played. If all stones stand on
/// squares of the other colour, this is a board of [`Rules::OtherColouring`], but only in the jumping phase.
///
/// # Errors
/// As [`parse_position`].
pub fn parse_position_as(
    dimensions: Dimensions,
    text: &str,
    phase: PhaseChoice,
) -> Result<(Board, Position), PositionError> {
    let (setup, word) = read_setup(dimensions, text)?;
    let phase = if word == PhaseChoice::Jump { word } else { phase };
    let mut board = phase.board(dimensions);
    let is_jumping = phase == PhaseChoice::Jump || gaps(dimensions, &setup) >= 2;
    if is_jumping && setup.fits_other_colouring(&board) {
        board = Board::with_rules(dimensions, Rules::OtherColouring);
    }
    let position = Position::from_setup(&board, setup)?;
    Ok((board, position))
}

/// Returns the dimensions of the board of a position's text, or `None` if no board has them. Only the number of ranks and
/// the squares of the first rank are read.
pub fn dimensions_of(text: &str) -> Option<Dimensions> {
    let parts = PositionParts::of(text, None);
    let first = parts.ranks.first()?;
    // The parser reports a character without a meaning, on any board.
    let files = width(first).unwrap_or(first.chars().count() as u32);
    Dimensions::new(parts.ranks.len() as u32, files).ok()
}

/// Returns true for the first lines of a diagram that continues on the next line: complete ranks without the side to move.
pub fn is_partial_diagram(dimensions: Dimensions, text: &str) -> bool {
    let parts = PositionParts::of(text, Some(dimensions));
    let is_diagram = parts.ranks.len() > 1 || dimensions.ranks() > 1;
    is_diagram
        && !parts.ranks.is_empty()
        && !text.contains('/')
        && parts.words.is_empty()
        && parts.ranks.len() <= dimensions.ranks() as usize
        && parts.ranks.iter().all(|rank| width(rank) == Some(dimensions.files()))
}

/// Number of empty squares.
fn gaps(dimensions: Dimensions, setup: &Setup) -> u32 {
    dimensions.squares() - (setup.black | setup.white).count_ones()
}

/// Parses the stones, the side to move, and the phase if the text names it.
fn read_setup(dimensions: Dimensions, text: &str) -> Result<(Setup, PhaseChoice), PositionError> {
    if text.trim().is_empty() {
        return Err(PositionError::Empty);
    }
    let parts = PositionParts::of(text, Some(dimensions));
    let (black, white) = parse_ranks(dimensions, &parts.ranks)?;
    let mut words = parts.words.into_iter();
    let to_move = match words.next() {
        Some("b" | "B") => Colour::Black,
        Some("w" | "W") => Colour::White,
        Some(word) => return Err(PositionError::UnknownSide(quote(word))),
        None => return Err(PositionError::MissingSide),
    };
    let mut words = words.peekable();
    let is_jump = words.next_if(|word| word.eq_ignore_ascii_case(JUMP)).is_some();
    if let Some(word) = words.next() {
        return Err(PositionError::TrailingText(quote(word)));
    }
    let phase = if is_jump { PhaseChoice::Jump } else { PhaseChoice::Auto };
    Ok((Setup { black, white, to_move }, phase))
}

/// The word after the side to move for a position in the jumping phase with fewer than two empty squares.
pub(super) const JUMP: &str = PhaseChoice::Jump.name();

/// The text of a position, divided into its ranks and the words after them.
struct PositionParts<'a> {
    ranks: Vec<&'a str>,
    words: Vec<&'a str>,
}

impl<'a> PositionParts<'a> {
    /// Divides a text, of a position on a board of these dimensions if they are known. A diagram has one rank per line, or
    /// bars, or white space between its squares. `b` or `w` as the last word of a diagram is the side to move, unless
    /// the last rank needs it as its last stone.
    fn of(text: &'a str, dimensions: Option<Dimensions>) -> Self {
        let text = text.trim();
        let words: Vec<&str> = text.split_whitespace().collect();
        let has_spaces = words.len() > 2 && words[0].chars().count() == 1 && words[2] != JUMP;
        if !has_spaces && !text.contains(['\n', '|']) {
            let ranks = words.first().map_or(Vec::new(), |ranks| ranks.split('/').collect());
            return PositionParts { ranks, words: words.into_iter().skip(1).collect() };
        }
        let (mut squares, mut words) = (text, Vec::new());
        if let Some(before) = without_last(squares, |word| word.eq_ignore_ascii_case(JUMP)) {
            words.push(squares[before.len()..].trim());
            squares = before;
        }
        let is_stone = || {
            let ranks = ranks_of_diagram(squares, dimensions);
            dimensions.zip(ranks.last()).is_some_and(|(board, last)| {
                ranks.len() <= board.ranks() as usize && width(last) == Some(board.files())
            })
        };
        let is_file = squares.lines().last().is_some_and(is_file_names);
        let is_side = |word: &str| matches!(word, "b" | "B" | "w" | "W");
        if let Some(before) = without_last(squares, is_side)
            && !is_file
            && !is_stone()
        {
            words.insert(0, squares[before.len()..].trim());
            squares = before;
        }
        PositionParts { ranks: ranks_of_diagram(squares, dimensions), words }
    }
}

/// The ranks of a diagram, without their names and without lines that are not ranks.
fn ranks_of_diagram(text: &str, dimensions: Option<Dimensions>) -> Vec<&str> {
    // Bars are between ranks if all ranks are on one line and have several squares.
    let has_ranks_between_bars = !text.contains(['\n', '/'])
        && text.split('|').any(|part| width(part).is_some_and(|width| width > 1));
    let is_end = |c: char| c == '\n' || c == '/' || c == '|' && has_ranks_between_bars;
    let is_frame = |line: &str| line.chars().all(|c| "+-|".contains(c));
    let ranks = text.split(is_end).map(str::trim);
    let ranks: Vec<&str> = ranks.filter(|rank| !is_frame(rank) && !is_file_names(rank)).collect();
    let top = dimensions.map_or(ranks.len(), |board| board.ranks() as usize);
    let without_names: Option<Vec<&str>> =
        ranks.iter().zip((1..=top).rev()).map(|(rank, name)| without_name(rank, name)).collect();
    match without_names {
        Some(without_names) if !ranks.is_empty() && ranks.len() <= top => {
            // A number at the beginning may also be a number of empty squares.
            let fits = match dimensions {
                Some(board) => width(without_names[0]) == Some(board.files()),
                None => ranks.len() > 1,
            };
            if fits { without_names } else { ranks }
        }
        _ => ranks,
    }
}

/// The text before the last word, if that is one for which `is_word` is true.
fn without_last(text: &str, is_word: impl Fn(&str) -> bool) -> Option<&str> {
    let text = text.trim_end();
    let (before, word) = text.rsplit_once(char::is_whitespace)?;
    is_word(word).then_some(before)
}

/// Returns true for the names of the files below or above a diagram: `a b c`.
fn is_file_names(line: &str) -> bool {
    let letters = line.chars().filter(|c| !is_separator(*c));
    let mut names = letters.zip('a'..).peekable();
    names.peek().is_some() && names.all(|(found, name)| found.eq_ignore_ascii_case(&name))
}

/// The squares of a rank of a diagram that begins with its name, as in `3 x o x`.
fn without_name(rank: &str, name: usize) -> Option<&str> {
    let (found, squares) = rank.split_once(is_separator)?;
    (found.parse() == Ok(name)).then_some(squares)
}

/// Returns true for characters that may stand between the squares of a diagram: bars, white space, and the brackets
/// around the squares of the last move.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || "|[]".contains(c)
}

/// What a character of a rank stands for.
enum RankPart {
    Black,
    White,
    Empty,
    Digit(u32),
    Separator,
}

impl RankPart {
    fn of(c: char) -> Option<Self> {
        match c {
            'x' | 'X' | 'b' | 'B' | '●' => Some(RankPart::Black),
            'o' | 'O' | 'w' | 'W' | '○' => Some(RankPart::White),
            '.' | '_' | '·' => Some(RankPart::Empty),
            '0'..='9' => Some(RankPart::Digit(c as u32 - '0' as u32)),
            c if is_separator(c) => Some(RankPart::Separator),
            _ => None,
        }
    }
}

/// Number of squares of a rank's text, or `None` if a character has no meaning.
fn width(rank: &str) -> Option<u32> {
    let (mut width, mut count) = (0u32, 0u32);
    for c in rank.chars() {
        match RankPart::of(c)? {
            RankPart::Digit(digit) => count = count.saturating_mul(10).saturating_add(digit),
            part => {
                let is_square = !matches!(part, RankPart::Separator);
                width = width.saturating_add(count).saturating_add(is_square.into());
                count = 0;
            }
        }
    }
    Some(width.saturating_add(count))
}

/// Black and white stones of the ranks of a position's text.
fn parse_ranks(board: Dimensions, ranks: &[&str]) -> Result<(u64, u64), PositionError> {
    // A wrong number of ranks is reported before all other errors: in most cases the position belongs
    // to another board, and errors about single squares would hide that.
    let found = ranks.len();
    if found != board.ranks() as usize {
        return Err(PositionError::RankCount { found, board });
    }
    let (mut black, mut white) = (0, 0);
    for (row, rank_text) in (0..).zip(ranks) {
        let rank = board.ranks() - row;
        let mut file = 0;
        let mut characters = (1..).zip(rank_text.chars()).peekable();
        while let Some((column, found)) = characters.next() {
            let unknown = PositionError::UnknownCharacter { rank, column, found };
            let part = RankPart::of(found).ok_or(unknown)?;
            let width = match part {
                RankPart::Separator => continue,
                RankPart::Digit(0) => return Err(PositionError::ZeroCount { rank, column }),
                RankPart::Digit(mut count) => {
                    while let Some((_, digit)) = characters.next_if(|(_, c)| c.is_ascii_digit()) {
                        let digit = digit as u32 - '0' as u32;
                        count = count.saturating_mul(10).saturating_add(digit);
                    }
                    count
                }
                _ => 1,
            };
            if width > board.files() - file {
                return Err(PositionError::RankTooLong { rank, column, board });
            }
            match part {
                RankPart::Black => black |= 1u64 << (row * board.files() + file),
                RankPart::White => white |= 1u64 << (row * board.files() + file),
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
