//! Drawing of boards in a terminal.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};

use console::Style as Ink;

use crate::terminal_text::TerminalText;
use konane::{Board, Colour, Move, Position};

/// Colours of the board in the palette of 256 colours, which themes of terminals do not change: both stones are readable
/// on brown (contrast 4.4 and 4.7), whether the terminal is dark or light.
mod palette {
    pub const BOARD: u8 = 130;
    pub const BLACK: u8 = 16;
    pub const WHITE: u8 = 231;
    pub const EMPTY: u8 = 180;
    pub const MARK: u8 = 226;
}

/// Characters and colours that the output can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colours and bold letters.
    colours: bool,
    /// Characters beyond ASCII.
    unicode: bool,
}

impl Style {
    /// Style of files and pipes.
    pub const PLAIN: Style = Style { colours: false, unicode: false };

    /// Returns the style for stdout: plain unless it is a terminal. On a terminal it depends on `NO_COLOR`,
    /// `TERM` and the locale.
    pub fn of_stdout() -> Self {
        if !io::stdout().is_terminal() || std::env::var_os("TERM").is_some_and(|t| t == "dumb") {
            return Style::PLAIN;
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .filter_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        let locale = locale.map(|value| value.to_ascii_lowercase()).next().unwrap_or_default();
        let unicode = locale.contains("utf-8") || locale.contains("utf8");
        Style { colours: console::colors_enabled(), unicode }
    }

    /// Returns the character for a square.
    fn square(self, stone: Option<Colour>) -> char {
        match (stone, self.unicode) {
            (None, false) => '.',
            (None, true) => '·',
            (Some(Colour::Black), false) => 'x',
            (Some(Colour::Black), true) => '●',
            (Some(Colour::White), false) => 'o',
            (Some(Colour::White), true) => '○',
        }
    }

    /// Returns the character for the stones of a side.
    pub fn stone(self, side: Colour) -> char {
        self.square(Some(side))
    }

    /// Appends a character of the board, in a colour of the palette if the output can show colours.
    fn push(self, text: &mut TerminalText, character: char, colour: u8) {
        match self.colours {
            true => {
                let ink = Ink::new().color256(colour).on_color256(palette::BOARD);
                text.push_coloured(
                    character,
                    if colour == palette::EMPTY { ink } else { ink.bold() },
                );
            }
            false => *text += character.to_string(),
        }
    }
}

/// Returns the board with the names of ranks and files, one line per rank. The first and the last square of
/// the last move are in brackets.
pub fn draw(board: &Board, position: &Position, last: Option<Move>, style: Style) -> TerminalText {
    let (ranks, files) = (board.dimensions().ranks(), board.dimensions().files());
    let marked = last.map_or(0, Move::marked);
    let mut text = TerminalText::new();
    for row in 0..ranks {
        let _ = write!(text, "{:>4} ", ranks - row);
        let is_marked = |file: u32| file < files && marked >> (row * files + file) & 1 == 1;
        for file in 0..=files {
            // Between two squares: the end of one bracket or the beginning of another.
            match file.checked_sub(1).is_some_and(is_marked) {
                true => style.push(&mut text, ']', palette::MARK),
                false if is_marked(file) => style.push(&mut text, '[', palette::MARK),
                // Files and pipes get no space at the end of a line.
                false if file < files || style.colours => {
                    style.push(&mut text, ' ', palette::EMPTY)
                }
                false => {}
            }
            if file == files {
                break;
            }
            let square = row * files + file;
            let is_occupied = position.occupied() >> square & 1 == 1;
            let stone = is_occupied.then(|| board.colour_of(square));
            let colour = match stone {
                None => palette::EMPTY,
                Some(Colour::Black) => palette::BLACK,
                Some(Colour::White) => palette::WHITE,
            };
            style.push(&mut text, style.square(stone), colour);
        }
        text += "\n";
    }
    text += "     ";
    for file in 0..files {
        // Columns are one character wide, so only the last letter of names after z is shown.
        let _ = write!(text, " {}", char::from(b'a' + (file % 26) as u8));
    }
    text += "\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use konane::notation::{parse_move, parse_moves};

    #[test]
    fn the_last_move_is_marked() {
        let board = Board::new("3x4".parse().unwrap());
        let before = parse_moves(&board, "b2 b3").unwrap();
        let jump = parse_move(&board, &before, "d2-b2").unwrap();
        let after = before.play(&board, jump);
        let plain = "   3  x . x o\n   2  o[x].[.]\n   1  x o x o\n      a b c d\n";
        assert_eq!(draw(&board, &after, Some(jump), Style::PLAIN).as_str(), plain);
        let unmarked = plain.replace(['[', ']'], " ").replace(". \n", ".\n");
        assert_eq!(draw(&board, &after, None, Style::PLAIN).as_str(), unmarked);
        let shown = draw(&board, &after, None, Style { colours: false, unicode: true });
        assert_eq!(shown.as_str(), unmarked.replace('x', "●").replace('o', "○").replace('.', "·"));
        let shown = draw(&board, &after, None, Style { colours: true, unicode: false });
        let is_board = |line: &str| line.contains("38;5;16m");
        let stripped = console::strip_ansi_codes(shown.as_str()).replace(" \n", "\n");
        assert_eq!(stripped, unmarked);
        // Every character of the board, but no name of a rank or file, has the board's colour behind it.
        let coloured = shown.as_str().matches("\u{1b}[48;5;130m").count();
        assert_eq!(coloured, 3 * (2 * 4 + 1), "{shown:?}");
        assert!(shown.as_str().lines().take(3).all(is_board), "{shown:?}");
    }
}
