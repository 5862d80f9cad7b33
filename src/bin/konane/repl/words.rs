//! The words of `analyse` and `play`.

use std::time::Duration;

use konane::system::parse_duration;

/// [`Word::Search`] without a time takes that of `--time` so many times.
pub const LONGER: u32 = 10;

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word<'a> {
    /// Nothing.
    Empty,
    /// To make a move, which is still to be read.
    Move(&'a str),
    /// To take a move back.
    Undo,
    /// To make a move again that was taken back.
    Redo,
    /// To begin again.
    New,
    /// To see the board.
    Board,
    /// To see the position's text.
    Position,
    /// To see the moves and what becomes of them.
    Moves,
    /// A move to make.
    Hint,
    /// To search for so long, or [`LONGER`].
    Search(Option<Duration>),
    /// To write the game to this file.
    Save(&'a str),
    /// To go on from the game in this file.
    Load(&'a str),
    /// To draw the board into this file.
    Draw(&'a str),
    /// To see what can be written.
    Help,
    /// To end.
    Quit,
    /// Not understood: why.
    Wrong(String),
}

/// Reads a line. What is no word is a move.
pub fn read<'a>(line: &'a str) -> Word<'a> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let alone = |meant: Word<'static>| match rest {
        "" => meant,
        _ => Word::Wrong(format!("{word} stands alone, without {rest:?}")),
    };
    let file = |meant: fn(&'a str) -> Word<'a>| match rest {
        "" => Word::Wrong(format!("the name of the file is missing: {word} FILE")),
        _ => meant(rest),
    };
    let one_move = |text: &'a str| match text.contains(char::is_whitespace) {
        true => Word::Wrong(format!("{text:?}: write one move a line, without spaces")),
        false => Word::Move(text),
    };
    match word {
        "" => Word::Empty,
        _ if line.starts_with('#') => Word::Empty,
        "move" if rest.is_empty() => Word::Wrong("the move is missing: move c3".to_owned()),
        "move" => one_move(rest),
        "undo" => alone(Word::Undo),
        "redo" => alone(Word::Redo),
        "new" => alone(Word::New),
        "board" => alone(Word::Board),
        "position" => alone(Word::Position),
        "moves" => alone(Word::Moves),
        "hint" => alone(Word::Hint),
        "search" if rest.is_empty() => Word::Search(None),
        "search" => match parse_duration(rest) {
            Ok(time) => Word::Search(Some(time)),
            Err(error) => Word::Wrong(format!("search {rest}: {error}")),
        },
        "save" => file(Word::Save),
        "load" => file(Word::Load),
        "draw" => file(Word::Draw),
        "help" | "?" => alone(Word::Help),
        "quit" | "exit" | "q" => alone(Word::Quit),
        _ => one_move(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_moves_and_mistakes() {
        for (line, expected) in [
            ("", Word::Empty),
            ("# a remark", Word::Empty),
            ("c3-c1", Word::Move("c3-c1")),
            ("move  c3-c1", Word::Move("c3-c1")),
            ("save a file", Word::Save("a file")),
            ("search", Word::Search(None)),
            ("search 2m", Word::Search(Some(Duration::from_secs(120)))),
            ("?", Word::Help),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
        for line in ["undo 2", "save", "move", "search soon", "c3 c4", "move c3 c4", "1. c3"] {
            assert!(matches!(read(line), Word::Wrong(_)), "{line}");
        }
    }
}
