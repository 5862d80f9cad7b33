//! Files of Grundy numbers (`.spr`) in the format of SPOTS and GLOP:
//!
//! ```text
//! [Positions+Nimber]
//! 0*2 0
//! 0.AB|AB 1
//! ```
//!
//! A line holds a position of one land, a space, and its Grundy number. The position is in the notation of
//! SPOTS and GLOP or in GLOP's older form (module `notation`). Every line ends with a newline. Empty lines are
//! skipped.
//!
//! If the first line is [`LOST`], every other line is only a position, of one land or several, that is lost
//! for the player to move; its Grundy number is 0. GLOP's plain search writes such files. Both programs also
//! write files of positions that are lost in misère play. They are rejected with an error that says so,
//! because Grundy numbers do not follow from outcomes of misère play.
//!
//! [`SprReader`] reads [`SprEntry`] values and [`SprWriter`] writes a file. [`SprError`] is the error of
//! both, with a [`LineProblem`] for an invalid line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use konane_base::file::{FileError, open_regular};
use konane_base::system::quote;
use pn_search::ErrorKind;

use super::error::TextError;
use super::position::Position;

/// First line of a file of Grundy numbers.
pub const HEADER: &str = "[Positions+Nimber]";
/// First line of a file of lost positions.
pub const LOST: &str = "[WinLoss:Losing_Position]";
/// First line of a file of positions that are lost in misère play.
const MISERE: &str = "[WinLoss_Misere:Losing_Position]";
/// Byte order mark that some editors write before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Maximum length of a line in bytes. A land of [`MAX_VERTICES`](super::MAX_VERTICES) vertices needs less.
pub const MAX_LINE_BYTES: u64 = 1 << 16;

/// Error in a line.
#[derive(Debug, thiserror::Error)]
pub enum LineProblem {
    /// The first line is neither [`HEADER`] nor [`LOST`].
    #[error("the file has to begin with the line {HEADER} or {LOST}, but begins with {0:?}")]
    Header(String),
    /// The file contains outcomes of misère play.
    #[error(
        "the file contains positions that are lost in misère play, in which a player who cannot move \
         wins; Grundy numbers do not follow from these outcomes"
    )]
    Misere,
    /// The line is longer than [`MAX_LINE_BYTES`] or not UTF-8.
    #[error("the line is longer than {MAX_LINE_BYTES} bytes or not UTF-8 text")]
    NoText,
    /// There is no space between position and number.
    #[error("a position, a space and a Grundy number are expected")]
    NoNumber,
    /// The number is invalid.
    #[error("the Grundy number {0:?} is not a number below 2^32")]
    Number(String),
    /// The position is invalid.
    #[error("position: {0}")]
    Position(#[from] TextError),
    /// The position does not have exactly one land.
    #[error("the position has {0} lands, but must have exactly one")]
    Lands(usize),
    /// The file ends within a line.
    #[error("the file ends without a newline: it may have been cut off")]
    CutOff,
}

/// Reason for which a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SprError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is invalid.
    #[error("{path}, line {line}: {problem}")]
    Line {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// Error in the line.
        problem: LineProblem,
    },
}

impl SprError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            SprError::File(error) => error.kind(),
            SprError::Line { .. } => ErrorKind::File,
        }
    }
}

/// A position and its number, as read from a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SprEntry {
    /// Number of the line, from 1.
    pub line: u64,
    /// The position as written. It has one land unless the file holds lost positions.
    pub position: Position,
    /// The Grundy number that the file claims for the position.
    pub grundy: u32,
}

/// Iterator over the entries of a file. It ends after an error.
#[derive(Debug)]
pub struct SprReader<R> {
    input: R,
    path: PathBuf,
    line: u64,
    buffer: Vec<u8>,
    /// True if lines are lost positions, without numbers.
    lost: bool,
    ended: bool,
}

impl SprReader<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// If the file cannot be opened or is not a regular file.
    pub fn open(path: &Path) -> Result<Self, SprError> {
        Ok(SprReader::new(BufReader::new(open_regular(path)?), path))
    }
}

impl<R: BufRead> SprReader<R> {
    /// Reads from any reader. `path` is used in error messages.
    pub fn new(input: R, path: &Path) -> SprReader<R> {
        let (path, buffer) = (path.to_path_buf(), Vec::new());
        SprReader { input, path, line: 0, buffer, lost: false, ended: false }
    }

    fn problem(&self, problem: LineProblem) -> SprError {
        SprError::Line { path: self.path.clone(), line: self.line, problem }
    }

    /// Returns the next line that is not empty, without the end of line and a byte order mark; `None` at the
    /// end of the file.
    fn next_line(&mut self) -> Result<Option<&str>, SprError> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let mut limited = (&mut self.input).take(MAX_LINE_BYTES);
            let read = limited.read_until(b'\n', &mut self.buffer);
            read.map_err(FileError::io("read", &self.path))?;
            match self.buffer.pop() {
                None => return Ok(None),
                Some(b'\n') => {}
                Some(_) if self.buffer.len() as u64 + 1 == MAX_LINE_BYTES => {
                    return Err(self.problem(LineProblem::NoText));
                }
                Some(_) => return Err(self.problem(LineProblem::CutOff)),
            }
            if self.buffer.last() == Some(&b'\r') {
                self.buffer.pop();
            }
            if self.line == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.buffer.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.buffer.is_empty() {
                break;
            }
        }
        match std::str::from_utf8(&self.buffer) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(SprError::Line {
                path: self.path.clone(),
                line: self.line,
                problem: LineProblem::NoText,
            }),
        }
    }

    fn next_entry(&mut self) -> Result<Option<SprEntry>, SprError> {
        if self.line == 0 {
            let kind = match self.next_line()?.unwrap_or_default() {
                HEADER => Ok(false),
                LOST => Ok(true),
                MISERE => Err(LineProblem::Misere),
                other => Err(LineProblem::Header(quote(other))),
            };
            self.lost = kind.map_err(|problem| self.problem(problem))?;
        }
        let lost = self.lost;
        let Some(text) = self.next_line()? else { return Ok(None) };
        let parsed = match lost {
            true => text.parse().map(|position| (position, 0)).map_err(LineProblem::Position),
            false => parse_line(text),
        };
        match parsed {
            Ok((position, grundy)) => Ok(Some(SprEntry { line: self.line, position, grundy })),
            Err(problem) => Err(self.problem(problem)),
        }
    }
}

fn parse_line(text: &str) -> Result<(Position, u32), LineProblem> {
    let (position, number) = text.trim_ascii().rsplit_once(' ').ok_or(LineProblem::NoNumber)?;
    let cut = || LineProblem::Number(quote(number));
    // `parse` alone would accept a sign.
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(cut());
    }
    let grundy = number.parse().map_err(|_| cut())?;
    let position: Position = position.parse()?;
    match position.lands().len() {
        1 => Ok((position, grundy)),
        lands => Err(LineProblem::Lands(lands)),
    }
}

impl<R: BufRead> Iterator for SprReader<R> {
    type Item = Result<SprEntry, SprError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let entry = self.next_entry().transpose();
        self.ended = !matches!(entry, Some(Ok(_)));
        entry
    }
}

/// Writes entries one by one.
#[derive(Debug)]
pub struct SprWriter<W> {
    output: W,
    path: PathBuf,
}

impl<W: Write> SprWriter<W> {
    /// Writes the header. `output` should be buffered. `path` is used in error messages.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub fn new(output: W, path: &Path) -> Result<SprWriter<W>, SprError> {
        let mut writer = SprWriter { output, path: path.to_path_buf() };
        let result = writeln!(writer.output, "{HEADER}");
        writer.checked(result)?;
        Ok(writer)
    }

    /// Writes a text of a land, as returned by [`Sprouts::spots_texts`](super::Sprouts::spots_texts), and
    /// its number.
    ///
    /// # Errors
    /// If the line cannot be written.
    pub fn write(&mut self, land: &str, grundy: u32) -> Result<(), SprError> {
        let result = writeln!(self.output, "{land} {grundy}");
        self.checked(result)
    }

    /// Flushes the output and returns it.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn finish(mut self) -> Result<W, SprError> {
        let result = self.output.flush();
        self.checked(result)?;
        Ok(self.output)
    }

    fn checked(&self, result: io::Result<()>) -> Result<(), SprError> {
        Ok(result.map_err(FileError::io("write", &self.path))?)
    }
}
