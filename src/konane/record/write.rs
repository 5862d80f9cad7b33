//! The writer of records.

use std::fmt::{self, Write as _};

use super::headers::is_other;
use super::{Record, one_line};
use crate::konane::board::Rules;
use crate::konane::geometry::Colour;
use crate::konane::position::Position;

/// Lines of moves have fewer characters than this.
const WIDTH: usize = 80;

/// The text of the file. Text that the format does not allow is changed: white space in headers and comments
/// becomes single spaces, and a closing brace in a comment becomes a parenthesis. Empty headers and comments are
/// omitted, and so are [other headers](Record::others) with invalid names or with names that the format defines.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let board = self.board();
        let mut text = format!("Board: {}\n", self.dimensions);
        header(&mut text, "Black", self.black.as_deref().unwrap_or_default());
        header(&mut text, "White", self.white.as_deref().unwrap_or_default());
        if !self.start.is_standard() || self.start != Position::start(&board) {
            header(&mut text, "Position", &self.start.to_string());
        }
        // The position of the flipped ranks would be one of the standard rules, and would be preferred.
        let has_two_readings = self.dimensions.ranks().is_multiple_of(2);
        if self.start.rules() == Rules::OtherColouring && has_two_readings {
            header(&mut text, "Flip-Ranks", "no");
        }
        header(&mut text, "Result", self.result.map_or("", Colour::name));
        for (name, value) in self.others.iter().filter(|(name, _)| is_other(name)) {
            text += format!("{name}: {}", one_line(value)).trim_end();
            text.push('\n');
        }
        text.push('\n');
        let mut lines = WrappedText { text, column: 0 };
        lines.comments(&self.comments);
        for (ply, recorded) in self.moves.iter().enumerate() {
            let black = (ply % 2 == 0) == (self.start.to_move() == Colour::Black);
            let turn = Record::turn(&self.start, ply);
            let before = ply.checked_sub(1).map(|before| &self.moves[before].comments);
            let number = match (black, before) {
                (true, _) => format!("{turn}. "),
                // As in chess, a move of White has a number only if it is the first move or follows a comment.
                (false, Some(comments)) if comments.is_empty() => String::new(),
                (false, _) => format!("{turn}... "),
            };
            let mark = recorded.mark.map(|mark| mark.symbol().to_string()).unwrap_or_default();
            lines.word(&(number + &recorded.mv.to_string() + &mark));
            lines.comments(&recorded.comments);
        }
        if lines.column > 0 {
            lines.text.push('\n');
        }
        f.write_str(&lines.text)
    }
}

/// Writes a header unless it is empty.
fn header(text: &mut String, name: &str, value: &str) {
    let value = one_line(value);
    if !value.is_empty() {
        writeln!(text, "{name}: {value}").expect("writing to a string succeeds");
    }
}

/// Text with lines of limited length.
struct WrappedText {
    text: String,
    column: usize,
}

impl WrappedText {
    fn word(&mut self, word: &str) {
        let length = word.chars().count();
        if self.column > 0 && self.column + 1 + length >= WIDTH {
            self.text.push('\n');
            self.column = 0;
        } else if self.column > 0 {
            self.text.push(' ');
            self.column += 1;
        }
        self.text += word;
        self.column += length;
    }

    fn comments(&mut self, comments: &[String]) {
        for comment in comments {
            let comment = one_line(&comment.replace('}', ")"));
            if !comment.is_empty() {
                for word in format!("{{{comment}}}").split(' ') {
                    self.word(word);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::board::Board;

    #[test]
    fn text_that_the_format_does_not_allow_is_changed() {
        let board = Board::new("3x3".parse().unwrap());
        let mut record = Record::new(board.dimensions(), Position::start(&board));
        record.black = Some(" two\nlines ".to_owned());
        record.white = Some(" ".to_owned());
        record.comments = vec!["a {b} c".to_owned(), String::new()];
        // These are not valid names of other headers.
        let names = ["", "two words", "Board", "RESULT", "a:b", "# x", "9th", "a\nb", "Ort-\u{fc}"];
        record.others = names.map(|name| (name.to_owned(), "value".to_owned())).into();
        let text = record.to_string();
        assert_eq!(text, "Board: 3x3\nBlack: two lines\n\n{a {b) c}\n");
        assert_eq!(text.parse::<Record>().unwrap().to_string(), text);
    }
}
