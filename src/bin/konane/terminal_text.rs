//! Escaped text for the terminal.

use std::borrow::Cow;
use std::fmt;
use std::ops::AddAssign;

use console::Style as Ink;

/// Text without control sequences other than the program's own colours.
///
/// All added text is escaped, because it may contain parts of files or paths. Only
/// [`TerminalText::push_coloured`] adds control sequences. The functions that write to stdout take this type,
/// so no unescaped text reaches the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalText(String);

impl TerminalText {
    /// Returns an empty text.
    pub const fn new() -> Self {
        TerminalText(String::new())
    }

    /// Returns the escaped text.
    pub fn as_str(&self) -> &str {
        &self.0
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

/// Escapes control characters (C0 except line feeds, delete, C1) and bidirectional controls as in Rust, such
/// as `\u{1b}`. They would change the state of a terminal or the order of the characters.
pub fn escape_text(text: &str) -> Cow<'_, str> {
    let is_escaped = |character| character != '\n' && is_control(character);
    escape(text, is_escaped, |character| character.escape_default().to_string())
}

/// Escapes a text of one line like [`escape_text`], including line feeds.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape(text, is_control, |character| character.escape_default().to_string())
}

/// Returns true if a terminal may interpret the character instead of showing it.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes a JSON document, in which these characters can only occur inside strings.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    // All of them are in the basic multilingual plane, so four digits suffice.
    escape(text, is_control, |character| format!("\\u{:04x}", u32::from(character)))
}

fn escape(
    text: &str,
    is_escaped: impl Fn(char) -> bool,
    escaped: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_escaped(character) {
            true => result += &escaped(character),
            false => result.push(character),
        }
    }
    Cow::Owned(result)
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

    #[test]
    fn all_control_characters_are_escaped_and_nothing_else() {
        let bidirectional = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\
                             \u{2066}\u{2067}\u{2068}\u{2069}";
        let c0 = (0..0x20).chain(0x7f..0xa0).filter_map(char::from_u32);
        for character in c0.chain(bidirectional.chars()) {
            let text = format!("a{character}b");
            let escaped = escape_line(&text).into_owned();
            assert!(escaped.starts_with("a\\") && escaped.ends_with('b'), "{escaped:?}");
            assert!(!escaped.contains(is_control), "{escaped:?}");
            assert_eq!(escape_text(&text) == text, character == '\n', "{text:?}");
        }
        let plain = "Kaʻahumanu, \"\\u{1b}\" שלום 日本 ● …";
        assert!(matches!(escape_line(plain), Cow::Borrowed(text) if text == plain));
        assert_eq!(escape_json("[\"\u{9b}\u{202e}\"]"), r#"["\u009b\u202e"]"#);
        assert_eq!(escape_text("\u{1b}]0;x\u{7}\n\u{202e}"), "\\u{1b}]0;x\\u{7}\n\\u{202e}");
    }
}
