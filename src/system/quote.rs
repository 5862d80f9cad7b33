//! What somebody has written, in messages.

/// No more characters of it are repeated than this.
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
