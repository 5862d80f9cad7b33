//! Drawings of positions: the board with its stones, and the last move if it is known.

use std::fmt::Write;

use super::board::Board;
use super::geometry::{Colour, squares};
use super::moves::Move;
use super::position::Position;
use super::square::file_name;

/// Side length of a square.
const SIDE: u32 = 44;
/// Width of the margin with the names of files and ranks, on all sides.
const MARGIN: u32 = 26;
/// Radius of a stone.
const STONE: u32 = 17;

/// Colours of the squares of Black and of White.
const SQUARES: [&str; 2] = ["#c9a36b", "#e6cfa4"];
const STONES: [&str; 2] = ["#222222", "#fafafa"];
const MARK: &str = "#c0392b";

/// Returns a position as an SVG document: squares in the colours of their owners, stones, names of
/// files and ranks. `last`, the move that led to the position, is marked: with a ring around the square of a
/// removed stone, or with an arrow along a jump. Sizes are in pixels, 44 for a square. A document takes some
/// 100 bytes for each square.
///
/// # Panics
/// If the move or the stones are not on the board.
pub fn svg(board: &Board, position: &Position, last: Option<Move>) -> String {
    let dimensions = board.dimensions();
    let (ranks, files) = (dimensions.ranks(), dimensions.files());
    assert_eq!(position.occupied() & !board.all(), 0, "stones outside of the board");
    let corner = |square: u8| {
        let square = u32::from(square);
        (MARGIN + square % files * SIDE, MARGIN + square / files * SIDE)
    };
    let centre = |square: u8| {
        assert!(u32::from(square) < dimensions.squares(), "a square outside of the board");
        let (x, y) = corner(square);
        (x + SIDE / 2, y + SIDE / 2)
    };
    let mut body = String::new();
    let mut put = |element: String| {
        body += &element;
        body.push('\n');
    };
    for square in squares(board.all()) {
        let (x, y) = corner(square);
        let fill = SQUARES[board.colour_of(square.into()).index()];
        put(format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"{fill}\"/>"
        ));
    }
    for colour in [Colour::Black, Colour::White] {
        let fill = STONES[colour.index()];
        for square in squares(position.stones(board, colour)) {
            let (x, y) = centre(square);
            put(format!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{STONE}\" fill=\"{fill}\" stroke=\"#555555\"/>"
            ));
        }
    }
    let line = format!("fill=\"none\" stroke=\"{MARK}\" stroke-width=\"3\"");
    match last {
        None => {}
        Some(Move::Remove { square }) => {
            let (x, y) = centre(square.index());
            put(format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\" {line}/>", STONE - 6));
        }
        Some(Move::Jump { from, to }) => {
            let ((x, y), (to_x, to_y)) = (centre(from.index()), centre(to.index()));
            put(format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"5\" fill=\"{MARK}\"/>"));
            put(format!("<path d=\"M{x} {y}L{to_x} {to_y}\" {line} stroke-dasharray=\"7 5\"/>"));
            put(format!("<circle cx=\"{to_x}\" cy=\"{to_y}\" r=\"{STONE}\" {line}/>"));
        }
    }
    let (width, height) = (2 * MARGIN + files * SIDE, 2 * MARGIN + ranks * SIDE);
    let mut name = |x: u32, y: u32, text: &str| {
        put(format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>"));
    };
    for file in 0..files {
        let (x, text) = (MARGIN + file * SIDE + SIDE / 2, file_name(file));
        name(x, MARGIN - 9, &text);
        name(x, height - MARGIN + 18, &text);
    }
    for row in 0..ranks {
        let (y, text) = (MARGIN + row * SIDE + SIDE / 2 + 5, (ranks - row).to_string());
        name(MARGIN / 2, y, &text);
        name(width - MARGIN / 2, y, &text);
    }
    let mut document = String::new();
    let title = format!("{dimensions}, {} to move", position.to_move());
    write!(
        document,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
    .expect("writing to a string succeeds");
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::notation::{parse_move, parse_moves};

    #[test]
    fn every_stone_and_the_last_move_are_drawn() {
        for (size, moves) in [("3x3", "b2 b3"), ("8x8", "d5 d4 d7-d5"), ("1x64", ""), ("1x1", "")] {
            let board = Board::new(size.parse().unwrap());
            let before = parse_moves(&board, moves).unwrap();
            let stones = before.occupied().count_ones() as usize;
            let text = svg(&board, &before, None);
            assert_eq!(text.matches("<circle").count(), stones, "{size}");
            assert_eq!(text.matches("<rect").count() as u32, board.dimensions().squares() + 1);
            assert!(!text.contains(MARK));
            for mv in before.moves(&board) {
                let after = before.play(&board, mv);
                assert!(svg(&board, &after, Some(mv)).contains(MARK), "{size} {mv:?}");
            }
        }
    }

    #[test]
    fn a_removal_has_a_ring_and_a_jump_an_arrow() {
        let board = Board::new("3x3".parse().unwrap());
        let start = Position::start(&board);
        let removal = parse_move(&board, &start, "b2").unwrap();
        let text = svg(&board, &start.play(&board, removal), Some(removal));
        assert!(text.contains("<circle cx=\"92\" cy=\"92\" r=\"11\" fill=\"none\""), "{text}");
        let board = Board::new("5x5".parse().unwrap());
        let before = parse_moves(&board, "c3 c4").unwrap();
        let jump = parse_move(&board, &before, "c1-c3").unwrap();
        let text = svg(&board, &before.play(&board, jump), Some(jump));
        assert!(text.contains("<path d=\"M136 224L136 136\""), "{text}");
    }
}
