//! Parts of messages: quoted input, lists of alternatives.

use std::borrow::Borrow;

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
