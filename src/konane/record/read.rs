//! The reader of records: headers, then moves, each of them checked on the board.

use std::str::FromStr;

use super::{Mark, Record, RecordedMove, one_line};
use crate::error::ErrorKind;
use crate::konane::board::Board;
use crate::konane::geometry::{Colour, Dimensions, DimensionsError};
use crate::konane::notation::{MoveError, PositionError, parse_move, parse_position_as};
use crate::konane::position::{PhaseChoice, PhaseError, Position};
use crate::system::quote;

/// Why a text is not the record of a game.
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

/// What can be wrong in a record.
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
    #[error("Result: {0:?} is none: write black, white or unknown")]
    Result(String),
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
        match std::str::from_utf8(bytes) {
            Ok(text) => text.parse(),
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
        let mut reader = Reader::new(text);
        let headers = reader.headers()?;
        let mut record = headers.record()?;
        let board = record.board();
        reader.moves(&board, &mut record)?;
        let last = record.positions().pop().expect("the start at least");
        let winner = winner(&board, &last);
        match (&headers.result, record.result, winner) {
            (Some(header), Some(result), Some(winner)) if result != winner => {
                Err(header.error(RecordProblem::OtherResult { winner }))
            }
            _ => {
                record.result = record.result.or(winner);
                Ok(record)
            }
        }
    }
}

/// Who has won by the rules, if the game is over.
fn winner(board: &Board, last: &Position) -> Option<Colour> {
    (last.count_moves(board) == 0).then_some(!last.to_move())
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

/// The headers that mean something, and the others.
#[derive(Default)]
struct Headers<'a> {
    board: Option<Header<'a>>,
    black: Option<Header<'a>>,
    white: Option<Header<'a>>,
    position: Option<Header<'a>>,
    phase: Option<Header<'a>>,
    result: Option<Header<'a>>,
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
            _ => None,
        }
    }

    fn record(&self) -> Result<Record, RecordError> {
        let board = self.board.as_ref().ok_or(RecordError {
            line: 1,
            column: 1,
            problem: RecordProblem::NoBoard,
        })?;
        let dimensions: Dimensions =
            board.value.parse().map_err(|error| board.error(RecordProblem::Board(error)))?;
        let phase = match &self.phase {
            None => PhaseChoice::Auto,
            Some(header) => {
                let value = header.value.to_ascii_lowercase();
                value.parse().map_err(|error| header.error(RecordProblem::Phase(error)))?
            }
        };
        let start = match (&self.position, &self.phase) {
            (None, Some(phase)) => return Err(phase.error(RecordProblem::PhaseAlone)),
            (None, None) => Position::start(&Board::new(dimensions)),
            (Some(header), _) => {
                let read = parse_position_as(dimensions, header.value, phase);
                read.map_err(|error| header.error(RecordProblem::Position(error)))?.1
            }
        };
        // Elsewhere the header says nothing that the position does not say.
        let is_early_jump = start.is_early_jump(&phase.board(dimensions));
        let phase = if is_early_jump { phase } else { PhaseChoice::Auto };
        let result = match &self.result {
            None => None,
            Some(header) => match header.value.to_ascii_lowercase().as_str() {
                "black" => Some(Colour::Black),
                "white" => Some(Colour::White),
                "unknown" => None,
                _ => return Err(header.error(RecordProblem::Result(quote(header.value)))),
            },
        };
        Ok(Record {
            black: self.black.as_ref().and_then(Header::text),
            white: self.white.as_ref().and_then(Header::text),
            phase,
            result,
            others: self.others.clone(),
            ..Record::new(dimensions, start)
        })
    }
}

/// Goes through a text and knows the place.
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

    fn moves(&mut self, board: &Board, record: &mut Record) -> Result<(), RecordError> {
        let mut position = record.start;
        loop {
            self.until(|found| !found.is_whitespace());
            let Some(next) = self.rest.chars().next() else { return Ok(()) };
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
                '0'..='9' => self.number(Record::turn(&record.start, record.moves.len()))?,
                _ => {
                    let recorded = self.recorded(board, &position)?;
                    position = position.play(board, recorded.mv);
                    record.moves.push(recorded);
                }
            }
        }
    }

    fn comment(&mut self) -> Result<String, RecordError> {
        let Some(end) = self.rest.find('}') else {
            return Err(self.error(RecordProblem::OpenComment));
        };
        Ok(one_line(&self.take(end + 1)[1..end]))
    }

    /// Reads the number of a turn and the points behind it.
    fn number(&mut self, expected: usize) -> Result<(), RecordError> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let found = &self.rest[..digits];
        if found != expected.to_string() {
            let found = quote(found);
            return Err(self.error(RecordProblem::Number { expected, found }));
        }
        self.take(digits);
        self.until(|found| found != '.');
        Ok(())
    }

    fn recorded(&mut self, board: &Board, at: &Position) -> Result<RecordedMove, RecordError> {
        let ends = |found: char| found.is_whitespace() || "{}#".contains(found);
        let word = &self.rest[..self.rest.find(ends).unwrap_or(self.rest.len())];
        let mark = Mark::ALL.into_iter().find(|mark| word.ends_with(mark.symbol()));
        let text = mark.map_or(word, |_| &word[..word.len() - 1]);
        let mv = parse_move(board, at, text)
            .map_err(|reason| self.error(RecordProblem::Move { text: quote(word), reason }))?;
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
            ("Board: 3x3\n\n1. b2 2. b3", 3, 7, "number 2 stands where 1 is due"),
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
