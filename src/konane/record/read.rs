//! The reader of records: headers, then moves, each of them checked on the board.

use std::str::FromStr;

use super::{Mark, Record, RecordedMove, one_line};
use crate::error::ErrorKind;
use crate::konane::board::Board;
use crate::konane::geometry::{Colour, Dimensions, DimensionsError};
use crate::konane::moves::Move;
use crate::konane::notation::{
    DASHES, MoveError, PositionError, check_move, parse_position_as, read_move,
};
use crate::konane::position::{PhaseChoice, PhaseError, Position};
use crate::konane::square::Square;
use crate::system::quote;

/// Error of a text that is not the record of a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, character {column}: {problem}")]
pub struct RecordError {
    /// Where: the line, counted from 1.
    pub line: usize,
    /// The character in it, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: RecordProblem,
}

impl RecordError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// Problem in a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordProblem {
    /// Bytes that are no UTF-8.
    #[error("the text is not UTF-8 from here on")]
    NotUtf8,
    /// There is no `Board:` header.
    #[error("the board is missing: begin with a line such as Board: 6x6")]
    NoBoard,
    /// A line before the moves that is no header.
    #[error(
        "{0:?} is no header: write Name: value, and an empty line between the headers and the moves"
    )]
    NotAHeader(String),
    /// A header that can only be there once.
    #[error("the header {0} is there twice")]
    Twice(String),
    /// The value of `Board:`.
    #[error("Board: {0}")]
    Board(DimensionsError),
    /// The value of `Position:`.
    #[error("Position: {0}")]
    Position(PositionError),
    /// The value of `Phase:`.
    #[error("Phase: {0}")]
    Phase(PhaseError),
    /// `Phase:` without `Position:`.
    #[error("Phase: the position is missing: the phase is that of the header Position")]
    PhaseAlone,
    /// The value of `Result:`.
    #[error("Result: {0:?} is not a result: write black, white or unknown, or 1-0, 0-1 or *")]
    Result(String),
    /// The value of `Flip-Ranks:`.
    #[error("Flip-Ranks: {0:?} is neither yes nor no")]
    FlipRanks(String),
    /// A result behind the moves that is not that of the header.
    #[error("the result {0:?} contradicts the header Result")]
    TwoResults(String),
    /// A move behind the result.
    #[error("a move or a number stands behind the result, which ends the game")]
    AfterResult,
    /// A problem in a record whose ranks are numbered from the top.
    #[error(
        "{problem} (the ranks are flipped: rank 1 of the record is rank {ranks} in this message)"
    )]
    Flipped {
        /// The problem, with squares as they are named after the ranks have been flipped.
        problem: Box<RecordProblem>,
        /// Number of ranks.
        ranks: u32,
    },
    /// A `Result:` that the end of the game contradicts.
    #[error("Result: the game ends with a win of {winner}, who makes the last move")]
    OtherResult {
        /// Who wins.
        winner: Colour,
    },
    /// A number that is not the one of the next move.
    #[error("move number {found} stands where {expected} is due")]
    Number {
        /// The number of the next move.
        expected: usize,
        /// As it is written.
        found: String,
    },
    /// Not a legal move.
    #[error("{text:?}: {reason}")]
    Move {
        /// The move as it is written.
        text: String,
        /// What is wrong with it.
        reason: MoveError,
    },
    /// A comment that does not end.
    #[error("a comment begins here, and its closing brace is missing")]
    OpenComment,
    /// The end of a comment that has not begun.
    #[error("a closing brace without a comment before it")]
    StrayBrace,
}

impl Record {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// As [`str::parse`], or if they are not UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        Record::from_utf8(bytes, None)
    }

    /// Reads the bytes of a file whose rank 1 is the top rank, as with the header `Flip-Ranks: yes`.
    ///
    /// # Errors
    /// As [`Record::from_bytes`].
    pub fn from_bytes_flipped(bytes: &[u8]) -> Result<Self, RecordError> {
        Record::from_utf8(bytes, Some(true))
    }

    fn from_utf8(bytes: &[u8], is_flipped: Option<bool>) -> Result<Self, RecordError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Record::read(text, is_flipped),
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let line = valid.matches('\n').count() + 1;
                let column = valid.chars().rev().take_while(|&found| found != '\n').count() + 1;
                Err(RecordError { line, column, problem: RecordProblem::NotUtf8 })
            }
        }
    }
}

impl FromStr for Record {
    type Err = RecordError;

    /// Reads the text of a file.
    ///
    /// # Errors
    /// With line and character, and what should be there.
    fn from_str(text: &str) -> Result<Self, RecordError> {
        Record::read(text, None)
    }
}

impl Record {
    /// Reads a text, with flipped ranks or without, or as the text requires it.
    fn read(text: &str, is_flipped: Option<bool>) -> Result<Self, RecordError> {
        let mut reader = Reader::new(text);
        let headers = reader.headers()?;
        let dimensions = headers.dimensions()?;
        let read = |is_flipped| {
            let ranks = Ranks { dimensions, is_flipped };
            let mut record = headers.record(ranks)?;
            reader.clone().moves(ranks, &headers, &mut record)?;
            Ok(record)
        };
        // With an odd number of ranks, a1 is black in either direction.
        let has_two_readings = dimensions.ranks().is_multiple_of(2);
        match is_flipped.or(headers.is_flipped()?) {
            Some(is_flipped) => read(is_flipped),
            None if has_two_readings => read(false).or_else(|error: RecordError| {
                // The reading that gets further is the one that was meant.
                read(true).map_err(|flipped| {
                    let place = |error: &RecordError| (error.line, error.column);
                    if place(&flipped) > place(&error) { flipped } else { error }
                })
            }),
            None => read(false),
        }
    }
}

/// The winner by the rules, if the game is over.
fn winner(board: &Board, last: &Position) -> Option<Colour> {
    (last.count_moves(board) == 0).then_some(!last.to_move())
}

/// The direction in which a record numbers the ranks of its board.
#[derive(Clone, Copy)]
struct Ranks {
    dimensions: Dimensions,
    is_flipped: bool,
}

impl Ranks {
    /// A move of the record as a move of the board.
    fn of_board(self, mv: Move) -> Move {
        let (ranks, files) = (self.dimensions.ranks() as u8, self.dimensions.files() as u8);
        let flip = |square: Square| match self.is_flipped {
            true => {
                let (row, file) = (square.index() / files, square.index() % files);
                Square::new(self.dimensions, (ranks - 1 - row) * files + file)
            }
            false => square,
        };
        match mv {
            Move::Remove { square } => Move::Remove { square: flip(square) },
            Move::Jump { from, to } => Move::Jump { from: flip(from), to: flip(to) },
        }
    }

    /// The text of a position of the record as a text of the board.
    fn text_of_board(self, text: &str) -> String {
        match text.trim().split_once(char::is_whitespace) {
            _ if !self.is_flipped => text.to_owned(),
            Some((ranks, rest)) => {
                ranks.split('/').rev().collect::<Vec<_>>().join("/") + " " + rest
            }
            None => text.split('/').rev().collect::<Vec<_>>().join("/"),
        }
    }

    /// A problem with squares or ranks in its message.
    fn problem(self, problem: RecordProblem) -> RecordProblem {
        match self.is_flipped {
            true => {
                let ranks = self.dimensions.ranks();
                RecordProblem::Flipped { problem: Box::new(problem), ranks }
            }
            false => problem,
        }
    }
}

/// A result in a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GameResult {
    /// The name of the winner.
    Winner(Colour),
    /// `1-0` or `0-1`: the winner, where White's score is the first number. Some programs put the
    /// first player's there, so the rules decide about a finished game.
    Score(Colour),
    /// No winner.
    Unknown,
}

impl GameResult {
    fn parse(text: &str) -> Option<Self> {
        match text.replace(DASHES, "-").to_ascii_lowercase().as_str() {
            "black" => Some(GameResult::Winner(Colour::Black)),
            "white" => Some(GameResult::Winner(Colour::White)),
            "0-1" => Some(GameResult::Score(Colour::Black)),
            "1-0" => Some(GameResult::Score(Colour::White)),
            "unknown" | "*" => Some(GameResult::Unknown),
            _ => None,
        }
    }

    /// The result of a word between or behind the moves, where names of colours are no results.
    fn of_word(word: &str) -> Option<Self> {
        GameResult::parse(word).filter(|_| word.starts_with(['0', '1', '*']))
    }

    fn winner(self) -> Option<Colour> {
        match self {
            GameResult::Winner(colour) | GameResult::Score(colour) => Some(colour),
            GameResult::Unknown => None,
        }
    }
}

/// Numbering of the moves of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    /// Black's move and White's after it have one number.
    Turns,
    /// Every move has a number of its own.
    Plies,
}

/// A value and where it begins.
struct Header<'a> {
    line: usize,
    column: usize,
    value: &'a str,
}

impl Header<'_> {
    fn error(&self, problem: RecordProblem) -> RecordError {
        RecordError { line: self.line, column: self.column, problem }
    }

    /// The value, if there is one.
    fn text(&self) -> Option<String> {
        (!self.value.is_empty()).then(|| one_line(self.value))
    }
}

/// The headers with a meaning, and the others.
#[derive(Default)]
struct Headers<'a> {
    board: Option<Header<'a>>,
    black: Option<Header<'a>>,
    white: Option<Header<'a>>,
    position: Option<Header<'a>>,
    phase: Option<Header<'a>>,
    result: Option<Header<'a>>,
    flip_ranks: Option<Header<'a>>,
    others: Vec<(String, String)>,
}

impl<'a> Headers<'a> {
    /// Where a header of this name goes, in whatever capitals.
    fn place(&mut self, name: &str) -> Option<&mut Option<Header<'a>>> {
        match name.to_ascii_lowercase().as_str() {
            "board" => Some(&mut self.board),
            "black" => Some(&mut self.black),
            "white" => Some(&mut self.white),
            "position" => Some(&mut self.position),
            "phase" => Some(&mut self.phase),
            "result" => Some(&mut self.result),
            "flip-ranks" => Some(&mut self.flip_ranks),
            _ => None,
        }
    }

    fn dimensions(&self) -> Result<Dimensions, RecordError> {
        let board = self.board.as_ref().ok_or(RecordError {
            line: 1,
            column: 1,
            problem: RecordProblem::NoBoard,
        })?;
        board.value.parse().map_err(|error| board.error(RecordProblem::Board(error)))
    }

    /// The value of the header `Flip-Ranks`.
    fn is_flipped(&self) -> Result<Option<bool>, RecordError> {
        let Some(header) = &self.flip_ranks else { return Ok(None) };
        match header.value.to_ascii_lowercase().as_str() {
            "yes" => Ok(Some(true)),
            "no" => Ok(Some(false)),
            _ => Err(header.error(RecordProblem::FlipRanks(quote(header.value)))),
        }
    }

    fn result(&self) -> Result<GameResult, RecordError> {
        let Some(header) = &self.result else { return Ok(GameResult::Unknown) };
        let problem = || header.error(RecordProblem::Result(quote(header.value)));
        GameResult::parse(header.value).ok_or_else(problem)
    }

    /// The record without its moves and its result.
    fn record(&self, ranks: Ranks) -> Result<Record, RecordError> {
        let phase = match &self.phase {
            None => PhaseChoice::Auto,
            Some(header) => {
                let value = header.value.to_ascii_lowercase();
                value.parse().map_err(|error| header.error(RecordProblem::Phase(error)))?
            }
        };
        let start = match (&self.position, &self.phase) {
            (None, Some(phase)) => return Err(phase.error(RecordProblem::PhaseAlone)),
            (None, None) => Position::start(&Board::new(ranks.dimensions)),
            (Some(header), _) => {
                let text = ranks.text_of_board(header.value);
                let read = parse_position_as(ranks.dimensions, &text, phase);
                let problem = |error| header.error(ranks.problem(RecordProblem::Position(error)));
                read.map_err(problem)?.1
            }
        };
        // In all other positions the phase follows from the position.
        let is_early_jump = start.is_early_jump(&phase.board(ranks.dimensions));
        let phase = if is_early_jump { phase } else { PhaseChoice::Auto };
        Ok(Record {
            black: self.black.as_ref().and_then(Header::text),
            white: self.white.as_ref().and_then(Header::text),
            phase,
            others: self.others.clone(),
            ..Record::new(ranks.dimensions, start)
        })
    }
}

/// The rest of a text, and its place.
#[derive(Clone)]
struct Reader<'a> {
    rest: &'a str,
    line: usize,
    column: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Reader { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1, column: 1 }
    }

    fn error(&self, problem: RecordProblem) -> RecordError {
        RecordError { line: self.line, column: self.column, problem }
    }

    /// Takes so many bytes.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        for character in taken.chars() {
            if character == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            } else {
                self.column += 1;
            }
        }
        taken
    }

    /// Takes what comes before such a character, or everything.
    fn until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        self.take(self.rest.find(stop).unwrap_or(self.rest.len()))
    }

    /// Reads up to the empty line, and over it.
    fn headers(&mut self) -> Result<Headers<'a>, RecordError> {
        let (mut headers, mut begun) = (Headers::default(), false);
        while !self.rest.is_empty() {
            let (line, start) = (self.line, self.rest);
            let text = self.until(|found| found == '\n');
            self.take(usize::from(!self.rest.is_empty()));
            if text.trim().is_empty() && begun {
                break;
            }
            if text.trim().is_empty() || text.trim_start().starts_with('#') {
                continue;
            }
            begun = true;
            let column = |part: &str| {
                let before = part.as_ptr() as usize - start.as_ptr() as usize;
                start[..before].chars().count() + 1
            };
            let name = text.split(':').next().map(str::trim).filter(|name| is_name(name));
            let Some(name) = name.filter(|_| text.contains(':')) else {
                let column = column(text.trim_start());
                let problem = RecordProblem::NotAHeader(quote(text.trim()));
                return Err(RecordError { line, column, problem });
            };
            let value = text.split_once(':').map_or("", |(_, value)| value).trim();
            let header = Header { line, column: column(value), value };
            match headers.place(name) {
                None => headers.others.push((name.to_owned(), one_line(value))),
                Some(place) if place.is_none() => *place = Some(header),
                Some(_) => {
                    let problem = RecordProblem::Twice(name.to_owned());
                    return Err(RecordError { line, column: column(name), problem });
                }
            }
        }
        Ok(headers)
    }

    /// Reads the moves and comments, and finds the result.
    fn moves(
        mut self,
        ranks: Ranks,
        headers: &Headers<'_>,
        record: &mut Record,
    ) -> Result<(), RecordError> {
        let board = &record.board();
        let mut position = record.start;
        let (mut numbering, mut result_at_end) = (None, None);
        let result = headers.result()?;
        loop {
            self.until(|found| !found.is_whitespace());
            let Some(next) = self.rest.chars().next() else { break };
            match next {
                '#' => drop(self.until(|found| found == '\n')),
                '}' => return Err(self.error(RecordProblem::StrayBrace)),
                '{' => {
                    let comment = self.comment()?;
                    let comments = match record.moves.last_mut() {
                        Some(recorded) => &mut recorded.comments,
                        None => &mut record.comments,
                    };
                    comments.extend((!comment.is_empty()).then_some(comment));
                }
                _ if result_at_end.is_some() => return Err(self.error(RecordProblem::AfterResult)),
                _ if let Some(found) = GameResult::of_word(self.word()) => {
                    let are_two = matches!(
                        (result, found),
                        (GameResult::Score(header), GameResult::Score(found)) if header != found
                    );
                    if are_two {
                        return Err(self.error(RecordProblem::TwoResults(quote(self.word()))));
                    }
                    result_at_end = Some(found);
                    self.take(self.word().len());
                }
                '0'..='9' => {
                    let ply = record.moves.len();
                    self.number(Record::turn(&record.start, ply), ply + 1, &mut numbering)?;
                }
                _ => {
                    let recorded = self.recorded(board, &position, ranks)?;
                    position = position.play(board, recorded.mv);
                    record.moves.push(recorded);
                }
            }
        }
        let by_rules = winner(board, &position);
        if let (Some(header), GameResult::Winner(named), Some(winner)) =
            (&headers.result, result, by_rules)
            && named != winner
        {
            return Err(header.error(RecordProblem::OtherResult { winner }));
        }
        let at_end = result_at_end.and_then(GameResult::winner);
        record.result = by_rules.or(result.winner()).or(at_end);
        Ok(())
    }

    /// The text before the next white space, comment or remark.
    fn word(&self) -> &'a str {
        let ends = |found: char| found.is_whitespace() || "{}#".contains(found);
        &self.rest[..self.rest.find(ends).unwrap_or(self.rest.len())]
    }

    fn comment(&mut self) -> Result<String, RecordError> {
        let Some(end) = self.rest.find('}') else {
            return Err(self.error(RecordProblem::OpenComment));
        };
        Ok(one_line(&self.take(end + 1)[1..end]))
    }

    /// Reads the number of the next move, which is in this turn and the given ply of the record, counted from 1,
    /// and the points behind it. The first number that only one numbering explains decides which one
    /// the record has.
    fn number(
        &mut self,
        turn: usize,
        ply: usize,
        numbering: &mut Option<Numbering>,
    ) -> Result<(), RecordError> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let found = &self.rest[..digits];
        let is = |number: usize| found == number.to_string();
        match *numbering {
            None if is(turn) && is(ply) => {}
            None | Some(Numbering::Turns) if is(turn) => *numbering = Some(Numbering::Turns),
            None | Some(Numbering::Plies) if is(ply) => *numbering = Some(Numbering::Plies),
            _ => {
                let expected = if *numbering == Some(Numbering::Plies) { ply } else { turn };
                let found = quote(found);
                return Err(self.error(RecordProblem::Number { expected, found }));
            }
        }
        self.take(digits);
        self.until(|found| found != '.');
        Ok(())
    }

    fn recorded(
        &mut self,
        board: &Board,
        at: &Position,
        ranks: Ranks,
    ) -> Result<RecordedMove, RecordError> {
        let word = self.word();
        let mark = Mark::ALL.into_iter().find(|mark| word.ends_with(mark.symbol()));
        let text = mark.map_or(word, |_| &word[..word.len() - 1]);
        let mv = read_move(ranks.dimensions, text).map(|mv| ranks.of_board(mv));
        let mv = mv.and_then(|mv| check_move(board, at, mv).map(|()| mv)).map_err(|reason| {
            let text = quote(word);
            self.error(ranks.problem(RecordProblem::Move { text, reason }))
        })?;
        self.take(word.len());
        Ok(RecordedMove { mark, ..RecordedMove::new(mv) })
    }
}

/// Whether a reader takes a header of this name for one that means nothing here.
pub(super) fn is_other(name: &str) -> bool {
    is_name(name) && Headers::default().place(name).is_none()
}

/// Letters, digits, hyphens and underscores, a letter first.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named_with_their_places() {
        for (text, line, column, part) in [
            ("", 1, 1, "Board: 6x6"),
            ("Black: x\n", 1, 1, "the board is missing"),
            ("Board: 0x6\n", 1, 8, "Board: "),
            ("Board: 3x3\nboard: 3x3\n", 2, 1, "twice"),
            ("Board: 3x3\n1. b2\n", 2, 1, "\"1. b2\" is no header"),
            ("Board: 3x3\nPosition: xox/oxo b\n\n", 2, 11, "Position: "),
            ("Board: 3x3\nResult:  draw\n\n", 2, 10, "black, white or unknown"),
            ("Board: 3x3\nFlip-Ranks: up\n\n", 2, 13, "\"up\" is neither yes nor no"),
            ("Board: 3x3\n\n1. b2 3. b3", 3, 7, "number 3 stands where 1 is due"),
            ("Board: 5x5\n\n1. c3 2. c4 2. c1-c3", 3, 13, "number 2 stands where 3 is due"),
            ("Board: 5x5\n\n1. c3 c4 2. c1-c3 4. a4-c4", 3, 19, "number 4 stands where 2 is due"),
            ("Board: 4x4\n\n1. a4 b4 0-1 c4-a4", 3, 14, "behind the result"),
            ("Board: 4x4\nResult: 0-1\n\na4 b4 1-0", 4, 7, "\"1-0\" contradicts"),
            ("Board: 6x6\n\n1. e6-e5-e4", 3, 4, "in one line"),
            // Of the two readings of a record the one that gets further is reported.
            ("Board: 4x4\n\n1. a1 a2 a2", 3, 10, "rank 1 of the record is rank 4"),
            ("Board: 4x4\n\n1. b1 b2", 3, 4, "\"b1\": b1 is not legal here"),
            ("Board: 3x3\n\n1. b2\n  c1", 4, 3, "\"c1\": c1 is not legal here"),
            ("Board: 3x3\n\n1. é2", 3, 4, "\"é2\": \"é2\" is not a square"),
            ("Board: 3x3\n\n1. b2 {x", 3, 7, "closing brace is missing"),
            ("Board: 3x3\n\n1. b2 }", 3, 7, "a closing brace without"),
            ("Board: 1x4\nPosition: 4 w\nResult: white\n\n", 3, 9, "a win of Black"),
        ] {
            let error = text.parse::<Record>().unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text:?}: {error}");
            assert!(error.to_string().contains(part), "{text:?}: {error}");
        }
        let error = Record::from_bytes(b"Board: 3x3\nBlack: \xff").unwrap_err();
        assert_eq!((error.line, error.column), (2, 8));
    }
}
