//! Parts of messages: quoted input, lists of alternatives, escaped control characters.

use std::borrow::Borrow;

#[cfg(feature = "cli")]
use std::borrow::Cow;

/// Maximum number of characters of a text that an error repeats.
const QUOTED: usize = 40;

/// The beginning of the text, with `…` where there is more.
pub fn quote(text: &str) -> String {
    let mut characters = text.chars();
    let mut quoted: String = characters.by_ref().take(QUOTED).collect();
    if characters.next().is_some() {
        quoted.push('…');
    }
    quoted
}

/// A list of alternatives: `a, b or c`.
pub fn alternatives<S: Borrow<str>>(names: &[S]) -> String {
    match names {
        [] => String::new(),
        [only] => only.borrow().to_owned(),
        [first @ .., last] => format!("{} or {}", first.join(", "), last.borrow()),
    }
}

/// The text with control characters (C0 except line feeds, delete, C1) and bidirectional controls
/// escaped as in Rust, such as `\u{1b}`: they would change the state of a terminal, or the order of
/// the characters that it shows.
#[cfg(feature = "cli")]
pub fn escape_text(text: &str) -> Cow<'_, str> {
    escape(text, |found| found != '\n' && is_control(found))
}

/// As [`escape_text`] for a text of one line, in which line feeds are escaped as well.
#[cfg(feature = "cli")]
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape(text, is_control)
}

/// Returns whether a terminal may interpret the character instead of showing it.
#[cfg(feature = "cli")]
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// As [`escape_line`] for a JSON document, in which these characters can only be inside of strings.
#[cfg(feature = "cli")]
pub fn escape_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_control(character) {
            // All of them are in the basic plane, so they have four digits.
            true => escaped += &format!("\\u{:04x}", u32::from(character)),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(feature = "cli")]
fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_escaped(character) {
            true => escaped.extend(character.escape_default()),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

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
