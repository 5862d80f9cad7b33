//! The parser of records: headers, then moves, each of which is checked on the board.
//!
//! [`RecordOptions`] complete a record. `Reader` is the unread text with its line and column. `MoveNumbering` states
//! whether the numbers of a record count turns or plies.

use std::str::FromStr;

use super::error::{RecordError, RecordProblem};
use super::headers::{GameResult, Header, Headers, RankOrder, name_and_value};
use super::{Mark, Record, RecordedMove, one_line};
use crate::konane::board::{Board, Rules};
use crate::konane::geometry::{Colour, Dimensions};
use crate::konane::notation::{check_move, read_move};
use crate::konane::position::Position;
use crate::system::quote;

/// Properties of a record that its text may lack.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordOptions {
    /// The board, if there is no header `Board`.
    pub board: Option<Dimensions>,
    /// Rank 1 is the top rank, as with the header `Flip-Ranks: yes`. Overrides the header.
    pub flip_ranks: bool,
}

impl Record {
    /// Parses the bytes of a file.
    ///
    /// # Errors
    /// As [`str::parse`], or if the bytes are not UTF-8.
    pub fn from_bytes(bytes: &[u8], options: RecordOptions) -> Result<Self, RecordError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Record::read(text, options),
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let line = valid.matches('\n').count() + 1;
                let column = valid.chars().rev().take_while(|&found| found != '\n').count() + 1;
                Err(RecordError { line, column, problem: RecordProblem::NotUtf8 })
            }
        }
    }

    fn read(text: &str, options: RecordOptions) -> Result<Self, RecordError> {
        let mut reader = Reader::new(text);
        let headers = reader.headers()?;
        let dimensions = headers.dimensions(options)?;
        let read = |is_flipped| {
            let ranks = RankOrder { dimensions, is_flipped };
            let mut record = headers.record(ranks)?;
            reader.clone().moves(ranks, &headers, &mut record)?;
            Ok(record)
        };
        // With an even number of ranks, the colour of a1 depends on the order of the ranks, so a text read in the
        // wrong order soon gives an error, or stones on squares of the other colour. With an odd number, a1 is black in
        // either order. Both orders may be legal, and the record is read as not flipped.
        let has_two_readings = dimensions.ranks().is_multiple_of(2);
        let is_flipped = if options.flip_ranks { Some(true) } else { headers.is_flipped()? };
        match (is_flipped, read(is_flipped.unwrap_or(false))) {
            (None, Ok(record))
                if has_two_readings && record.start.rules() == Rules::OtherColouring =>
            {
                read(true).or(Ok(record))
            }
            (None, Err(error)) if has_two_readings => read(true).map_err(|flipped| {
                // Both readings fail. The one that gets further in the text is more likely to be the intended one.
                let place = |error: &RecordError| (error.line, error.column);
                if place(&flipped) > place(&error) { flipped } else { error }
            }),
            (_, read) => read,
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
        Record::read(text, RecordOptions::default())
    }
}

/// The winner by the rules, or `None` if the game is not over.
fn winner(board: &Board, last: &Position) -> Option<Colour> {
    (last.count_moves(board) == 0).then_some(!last.to_move())
}

/// Returns true for a text that begins with a pair of numbers in parentheses, such as `(3, 4)`.
fn is_row_and_column(text: &str) -> bool {
    let pair = text.strip_prefix('(').and_then(|text| text.split_once(')'));
    let is_number = |text: &str| text.trim().parse::<u32>().is_ok();
    let numbers = pair.and_then(|(pair, _)| pair.split_once(','));
    numbers.is_some_and(|(row, column)| is_number(row) && is_number(column))
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

    /// Reads the headers and the empty line after them. A text without headers may begin with the moves.
    fn headers(&mut self) -> Result<Headers<'a>, RecordError> {
        let (mut headers, mut begun) = (Headers::default(), false);
        while !self.rest.is_empty() {
            let (line, start, before) = (self.line, self.rest, self.clone());
            let text = self.until(|found| found == '\n');
            self.take(usize::from(!self.rest.is_empty()));
            if text.trim().is_empty() && begun {
                break;
            }
            if text.trim().is_empty() || text.trim_start().starts_with('#') {
                continue;
            }
            let column = |part: &str| {
                let before = part.as_ptr() as usize - start.as_ptr() as usize;
                start[..before].chars().count() + 1
            };
            let Some((name, value)) = name_and_value(text) else {
                if !begun && !text.trim_start().starts_with('[') {
                    *self = before;
                    break;
                }
                let column = column(text.trim_start());
                let problem = RecordProblem::NotAHeader(quote(text.trim()));
                return Err(RecordError { line, column, problem });
            };
            begun = true;
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

    /// Reads the moves, the comments and the result. Skips variations and NAGs.
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
                '(' => self.variation()?,
                ')' => return Err(self.error(RecordProblem::StrayParenthesis)),
                '$' | '!' | '?' => {
                    self.take(1);
                    self.until(|found| !found.is_ascii_digit() && !"!?".contains(found));
                }
                _ if result_at_end.is_some() => return Err(self.error(RecordProblem::AfterResult)),
                _ if let Some((found, bytes)) = self.result(position.to_move()) => {
                    let differ = match (result, found) {
                        (GameResult::Score(header), GameResult::Score(found))
                        | (GameResult::Winner(header), GameResult::Winner(found)) => {
                            header != found
                        }
                        _ => false,
                    };
                    if differ {
                        let text = quote(&self.rest[..bytes]);
                        return Err(self.error(RecordProblem::TwoResults(text)));
                    }
                    result_at_end = Some(found);
                    self.take(bytes);
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
        let at_end = result_at_end.unwrap_or(GameResult::Unknown);
        let named = result.named().or(at_end.named());
        record.result = by_rules.or(named).or(result.winner()).or(at_end.winner());
        Ok(())
    }

    /// The text before the next white space, comment, remark, variation or NAG.
    fn word(&self) -> &'a str {
        let ends = |found: char| found.is_whitespace() || "{}()#$".contains(found);
        &self.rest[..self.rest.find(ends).unwrap_or(self.rest.len())]
    }

    /// The result that is next, and the length of its text: a score, or a resignation, by default of the player to move.
    fn result(&self, to_move: Colour) -> Option<(GameResult, usize)> {
        let word = self.word();
        if let Some(found) = GameResult::of_word(word) {
            return Some((found, word.len()));
        }
        let mut after = self.clone();
        after.take(word.len());
        after.until(|found| !found.is_whitespace());
        let (loser, verb) = match word.to_ascii_lowercase().as_str() {
            "black" => (Colour::Black, after.word()),
            "white" => (Colour::White, after.word()),
            _ => (to_move, word),
        };
        let is_verb = verb.trim_end_matches('.').eq_ignore_ascii_case("resigns");
        let end = verb.as_ptr() as usize + verb.len() - self.rest.as_ptr() as usize;
        is_verb.then_some((GameResult::Winner(!loser), end))
    }

    /// Skips a variation with all variations and comments in it.
    fn variation(&mut self) -> Result<(), RecordError> {
        if is_row_and_column(self.rest) {
            return Err(self.error(RecordProblem::RowAndColumn));
        }
        let open = self.error(RecordProblem::OpenVariation);
        let mut depth = 0;
        loop {
            match self.rest.chars().next() {
                None => return Err(open),
                Some('{') => drop(self.comment()?),
                Some('}') => return Err(self.error(RecordProblem::StrayBrace)),
                Some('#') => drop(self.until(|found| found == '\n')),
                Some(found) => {
                    depth += i64::from(found == '(') - i64::from(found == ')');
                    self.take(found.len_utf8());
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
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

    /// Reads a move and its mark. Marks of more than one character, such as `!?`, are skipped.
    fn recorded_move(
        &mut self,
        board: &Board,
        at: &Position,
        ranks: RankOrder,
    ) -> Result<RecordedMove, RecordError> {
        let word = self.word();
        let is_mark = |found: char| Mark::ALL.into_iter().any(|mark| mark.symbol() == found);
        let text = word.trim_end_matches(is_mark);
        let marks = &word[text.len()..];
        let mark = Mark::ALL.into_iter().find(|mark| marks.chars().eq([mark.symbol()]));
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
            ("1. b2", 1, 1, "the board is missing"),
            ("[Board \"0x3\"]\n", 1, 9, "Board: "),
            ("[Board 3x3]\n", 1, 1, "is no header"),
            ("Board: 3x3\n\n1. b2 (1. a1 (1. c1)", 3, 7, "closing parenthesis is missing"),
            ("Board: 3x3\n\n1. b2 ({)} c1", 3, 7, "closing parenthesis is missing"),
            ("Board: 3x3\n\n1. b2 (1. a1) )", 3, 15, "a closing parenthesis without"),
            ("Board: 3x3\n\n1. ( 2, 2) (2,1)", 3, 4, "a row and a column in parentheses"),
            ("Board: 4x4\nResult: white\n\na4 b4 White resigns", 4, 7, "contradicts"),
            ("Board: 4x4\n\na4 resigns c4-a4", 3, 12, "behind the result"),
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
        let error =
            Record::from_bytes(b"Board: 3x3\nBlack: \xff", RecordOptions::default()).unwrap_err();
        assert_eq!((error.line, error.column), (2, 8));
    }
}
