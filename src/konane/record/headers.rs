//! Headers of records.
//!
//! * [`Headers`]: the headers of a record; [`Header`]: a value with its line and column.
//! * [`GameResult`]: value of the header `Result`, or of a result after the moves.
//! * [`RankOrder`]: direction in which the ranks are numbered, by the header `Flip-Ranks`.

use super::error::{RecordError, RecordProblem};
use super::{Record, RecordOptions, one_line};
use crate::konane::board::Board;
use crate::konane::geometry::{Colour, Dimensions};
use crate::konane::moves::Move;
use crate::konane::notation::{DASHES, parse_position_as};
use crate::konane::position::{PhaseChoice, Position};
use crate::konane::square::Square;
use crate::system::quote;

/// A result in a record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GameResult {
    /// The name of the winner.
    Winner(Colour),
    /// The score `1-0` or `0-1`, and the winner if the first number is White's score. Some programs write Black's score
    /// first, so a score that differs from the result by the rules is not an error.
    Score(Colour),
    /// The winner is unknown.
    Unknown,
}

impl GameResult {
    /// Parses the value of a header.
    fn parse(text: &str) -> Option<Self> {
        match text.replace(DASHES, "-").to_ascii_lowercase().as_str() {
            "black" | "white resigns" => Some(GameResult::Winner(Colour::Black)),
            "white" | "black resigns" => Some(GameResult::Winner(Colour::White)),
            "0-1" => Some(GameResult::Score(Colour::Black)),
            "1-0" => Some(GameResult::Score(Colour::White)),
            "unknown" | "*" => Some(GameResult::Unknown),
            _ => None,
        }
    }

    /// Parses a word between or after the moves. Names of colours are not results there, only `1-0`, `0-1` and `*`.
    pub fn of_word(word: &str) -> Option<Self> {
        GameResult::parse(word).filter(|_| word.starts_with(['0', '1', '*']))
    }

    /// The winner, if its name is given.
    pub fn named(self) -> Option<Colour> {
        match self {
            GameResult::Winner(colour) => Some(colour),
            GameResult::Score(_) | GameResult::Unknown => None,
        }
    }

    pub fn winner(self) -> Option<Colour> {
        match self {
            GameResult::Winner(colour) | GameResult::Score(colour) => Some(colour),
            GameResult::Unknown => None,
        }
    }
}

/// The direction in which a record numbers the ranks of its board.
#[derive(Clone, Copy)]
pub(super) struct RankOrder {
    pub dimensions: Dimensions,
    /// True if rank 1 is the top rank.
    pub is_flipped: bool,
}

impl RankOrder {
    /// Converts a move of the record to a move of the board.
    pub fn to_board_move(self, mv: Move) -> Move {
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

    /// Converts the text of a position from the order of ranks in the record to that of the board.
    fn to_board_text(self, text: &str) -> String {
        match text.trim().split_once(char::is_whitespace) {
            _ if !self.is_flipped => text.to_owned(),
            Some((ranks, rest)) => {
                ranks.split('/').rev().collect::<Vec<_>>().join("/") + " " + rest
            }
            None => text.split('/').rev().collect::<Vec<_>>().join("/"),
        }
    }

    /// Converts a problem whose message names squares or ranks: if the ranks are flipped, the message says so.
    pub fn problem(self, problem: RecordProblem) -> RecordProblem {
        match self.is_flipped {
            true => {
                let ranks = self.dimensions.ranks();
                RecordProblem::Flipped { problem: Box::new(problem), ranks }
            }
            false => problem,
        }
    }
}

/// A value, with the line and column at which it begins.
pub(super) struct Header<'a> {
    pub line: usize,
    pub column: usize,
    pub value: &'a str,
}

/// Name and value of a header, `Name: value` or, as in PGN, `[Name "value"]`.
pub(super) fn name_and_value(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let pair = match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
        Some(pair) => {
            let (name, value) = pair.trim().split_once(char::is_whitespace)?;
            let value = value.trim().strip_prefix('"')?;
            (name, value.strip_suffix('"')?)
        }
        None => line.split_once(':')?,
    };
    let (name, value) = (pair.0.trim(), pair.1.trim());
    is_name(name).then_some((name, value))
}

impl Header<'_> {
    pub fn error(&self, problem: RecordProblem) -> RecordError {
        RecordError { line: self.line, column: self.column, problem }
    }

    /// The value, or `None` if it is empty.
    fn text(&self) -> Option<String> {
        (!self.value.is_empty()).then(|| one_line(self.value))
    }
}

/// The headers of a record: those that the format defines, and the others.
#[derive(Default)]
pub(super) struct Headers<'a> {
    board: Option<Header<'a>>,
    black: Option<Header<'a>>,
    white: Option<Header<'a>>,
    position: Option<Header<'a>>,
    phase: Option<Header<'a>>,
    pub result: Option<Header<'a>>,
    flip_ranks: Option<Header<'a>>,
    pub others: Vec<(String, String)>,
}

impl<'a> Headers<'a> {
    /// The field of the header with this name in small or capital letters, or `None` if the format does not define
    /// the header.
    pub fn field_mut(&mut self, name: &str) -> Option<&mut Option<Header<'a>>> {
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

    pub fn dimensions(&self, options: RecordOptions) -> Result<Dimensions, RecordError> {
        let Some(board) = &self.board else {
            let problem = RecordProblem::NoBoard;
            return options.board.ok_or(RecordError { line: 1, column: 1, problem });
        };
        board.value.parse().map_err(|error| board.error(RecordProblem::Board(error)))
    }

    /// The value of the header `Flip-Ranks`.
    pub fn is_flipped(&self) -> Result<Option<bool>, RecordError> {
        let Some(header) = &self.flip_ranks else { return Ok(None) };
        match header.value.to_ascii_lowercase().as_str() {
            "yes" => Ok(Some(true)),
            "no" => Ok(Some(false)),
            _ => Err(header.error(RecordProblem::FlipRanks(quote(header.value)))),
        }
    }

    pub fn result(&self) -> Result<GameResult, RecordError> {
        let Some(header) = &self.result else { return Ok(GameResult::Unknown) };
        let problem = || header.error(RecordProblem::Result(quote(header.value)));
        GameResult::parse(header.value).ok_or_else(problem)
    }

    /// The record without moves and result.
    pub fn record(&self, ranks: RankOrder) -> Result<Record, RecordError> {
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
                let text = ranks.to_board_text(header.value);
                let read = parse_position_as(ranks.dimensions, &text, phase);
                let problem = |error| header.error(ranks.problem(RecordProblem::Position(error)));
                read.map_err(problem)?.1
            }
        };
        Ok(Record {
            black: self.black.as_ref().and_then(Header::text),
            white: self.white.as_ref().and_then(Header::text),
            others: self.others.clone(),
            ..Record::new(ranks.dimensions, start)
        })
    }
}

/// Returns true for a valid name of a header that the format does not define.
pub(super) fn is_other(name: &str) -> bool {
    is_name(name) && Headers::default().field_mut(name).is_none()
}

/// Returns true for letters, digits, hyphens and underscores that begin with a letter.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
