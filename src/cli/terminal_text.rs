//! Text for people, as it is written to a terminal.

use std::fmt;
use std::ops::AddAssign;

use console::Style as Ink;

use crate::system::escape_text;

/// Text without control sequences other than the program's own colours.
///
/// Every text that is added is escaped, because any of them may contain a part of a file or a path;
/// only [`TerminalText::push_coloured`] adds control sequences. The functions that write to stdout
/// take this type, so no text reaches the terminal unescaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalText(String);

impl TerminalText {
    /// Without text.
    pub const fn new() -> Self {
        TerminalText(String::new())
    }

    /// The text, escaped.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the text.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a character in a colour.
    pub fn push_coloured(&mut self, character: char, ink: Ink) {
        let escaped = escape_text(character.encode_utf8(&mut [0; 4])).into_owned();
        self.0 += &ink.force_styling(true).apply_to(escaped).to_string();
    }
}

impl<T: AsRef<str>> From<T> for TerminalText {
    fn from(text: T) -> Self {
        TerminalText(escape_text(text.as_ref()).into_owned())
    }
}

impl<T: AsRef<str>> AddAssign<T> for TerminalText {
    fn add_assign(&mut self, text: T) {
        self.0 += &escape_text(text.as_ref());
    }
}

impl AddAssign<TerminalText> for TerminalText {
    fn add_assign(&mut self, text: TerminalText) {
        self.0 += &text.0;
    }
}

impl fmt::Write for TerminalText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        *self += text;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn only_colours_are_control_sequences() {
        let mut text = TerminalText::from("a\u{1b}[31m\n");
        text += "\u{9b}1m";
        text.push_coloured('x', Ink::new().bold());
        write!(text, "\u{202e}").unwrap();
        text += TerminalText::from("\r");
        let expected = "a\\u{1b}[31m\n\\u{9b}1m\u{1b}[1mx\u{1b}[0m\\u{202e}\\r";
        assert_eq!(text.as_str(), expected);
    }
}
