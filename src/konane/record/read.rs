//! The parser of records: headers, then moves, each of which is checked on the board.
//!
//! `Reader` is the unread text with its line and column. `MoveNumbering` states whether the numbers of a record count
//! turns or plies.

use std::str::FromStr;

use super::error::{RecordError, RecordProblem};
use super::headers::{GameResult, Header, Headers, RankOrder, is_name};
use super::{Mark, Record, RecordedMove, one_line};
use crate::konane::board::Board;
use crate::konane::geometry::Colour;
use crate::konane::notation::{check_move, read_move};
use crate::konane::position::Position;
use crate::system::quote;

impl Record {
    /// Parses the bytes of a file.
    ///
    /// # Errors
    /// As [`str::parse`], or if the bytes are not UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        Record::from_utf8(bytes, None)
    }

    /// Parses the bytes of a file whose rank 1 is the top rank, as with the header `Flip-Ranks: yes`.
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

    /// Parses a text. Without `is_flipped`, the text determines the order of the ranks.
    fn read(text: &str, is_flipped: Option<bool>) -> Result<Self, RecordError> {
        let mut reader = Reader::new(text);
        let headers = reader.headers()?;
        let dimensions = headers.dimensions()?;
        let read = |is_flipped| {
            let ranks = RankOrder { dimensions, is_flipped };
            let mut record = headers.record(ranks)?;
            reader.clone().moves(ranks, &headers, &mut record)?;
            Ok(record)
        };
        // With an even number of ranks, the colour of a1 depends on the order of the ranks, so a text read in the
        // wrong order soon gives an error. With an odd number, a1 is black in either order. Both orders may be
        // legal, and the record is read as not flipped.
        let has_two_readings = dimensions.ranks().is_multiple_of(2);
        match is_flipped.or(headers.is_flipped()?) {
            Some(is_flipped) => read(is_flipped),
            None if has_two_readings => read(false).or_else(|error: RecordError| {
                // Both readings fail. The one that gets further in the text is more likely to be the intended one.
                read(true).map_err(|flipped| {
                    let place = |error: &RecordError| (error.line, error.column);
                    if place(&flipped) > place(&error) { flipped } else { error }
                })
            }),
            None => read(false),
        }
    }
}

impl FromStr for Record {
    type Err = RecordError;

    /// Parses the text of a file.
    ///
    /// # Errors
    /// An error has the line, the character, and the expected text.
    fn from_str(text: &str) -> Result<Self, RecordError> {
        Record::read(text, None)
    }
}

/// The winner by the rules, or `None` if the game is not over.
fn winner(board: &Board, last: &Position) -> Option<Colour> {
    (last.count_moves(board) == 0).then_some(!last.to_move())
}

/// The way in which a record numbers its moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MoveNumbering {
    /// A move of Black and the following one of White have the same number.
    Turns,
    /// Every move has a different number.
    Plies,
}

/// The unread text, with the line and column at which it begins.
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

    /// Reads `bytes` bytes.
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

    /// Reads up to the first character for which `stop` is true, or to the end.
    fn until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        self.take(self.rest.find(stop).unwrap_or(self.rest.len()))
    }

    /// Reads the headers and the empty line after them.
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
            let parts = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
            let Some((name, value)) = parts.filter(|(name, _)| is_name(name)) else {
                let column = column(text.trim_start());
                let problem = RecordProblem::NotAHeader(quote(text.trim()));
                return Err(RecordError { line, column, problem });
            };
            let header = Header { line, column: column(value), value };
            match headers.field_mut(name) {
                None => headers.others.push((name.to_owned(), one_line(value))),
                Some(field) if field.is_none() => *field = Some(header),
                Some(_) => {
                    let problem = RecordProblem::Twice(name.to_owned());
                    return Err(RecordError { line, column: column(name), problem });
                }
            }
        }
        Ok(headers)
    }

    /// Reads the moves, the comments and the result.
    fn moves(
        mut self,
        ranks: RankOrder,
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
                    let differ = matches!(
                        (result, found),
                        (GameResult::Score(header), GameResult::Score(found)) if header != found
                    );
                    if differ {
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
                    let recorded = self.recorded_move(board, &position, ranks)?;
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

    /// Reads the number of the next move and the points after it. `turn` and `ply` are those of the next move, both
    /// counted from 1. The first number that differs between the two numberings determines the numbering of the record.
    fn number(
        &mut self,
        turn: usize,
        ply: usize,
        numbering: &mut Option<MoveNumbering>,
    ) -> Result<(), RecordError> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let found = &self.rest[..digits];
        let is = |number: usize| found == number.to_string();
        match *numbering {
            None if is(turn) && is(ply) => {}
            None | Some(MoveNumbering::Turns) if is(turn) => {
                *numbering = Some(MoveNumbering::Turns)
            }
            None | Some(MoveNumbering::Plies) if is(ply) => *numbering = Some(MoveNumbering::Plies),
            _ => {
                let expected = if *numbering == Some(MoveNumbering::Plies) { ply } else { turn };
                let found = quote(found);
                return Err(self.error(RecordProblem::Number { expected, found }));
            }
        }
        self.take(digits);
        self.until(|found| found != '.');
        Ok(())
    }

    /// Reads a move and its mark.
    fn recorded_move(
        &mut self,
        board: &Board,
        at: &Position,
        ranks: RankOrder,
    ) -> Result<RecordedMove, RecordError> {
        let word = self.word();
        let mark = Mark::ALL.into_iter().find(|mark| word.ends_with(mark.symbol()));
        let text = mark.map_or(word, |_| &word[..word.len() - 1]);
        let mv = read_move(ranks.dimensions, text).map(|mv| ranks.to_board_move(mv));
        let mv = mv.and_then(|mv| check_move(board, at, mv).map(|()| mv)).map_err(|reason| {
            let text = quote(word);
            self.error(ranks.problem(RecordProblem::Move { text, reason }))
        })?;
        self.take(word.len());
        Ok(RecordedMove { mark, ..RecordedMove::new(mv) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_place_of_the_problem() {
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
            // Of the two readings of a record, the error that comes later is reported.
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
