//! Any text is parsed as a position of a board or rejected. Each position has one canonical text:
//! writing a parsed text reproduces it, except for white space, upper case and dots.
#![no_main]

use arbitrary::Arbitrary;
use konane::notation::parse_position;
use konane::{Board, Colour, Dimensions, Position};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    ranks: u8,
    files: u8,
    /// A position whose text is changed by the edits. Random texts are almost never positions.
    stones: Option<(u64, bool)>,
    edits: [(u8, char); 2],
    /// Number of edits to make, modulo 3.
    edited: u8,
    text: &'a str,
}

fuzz_target!(|input: Input| {
    let ranks = u32::from(input.ranks) % 64 + 1;
    let files = u32::from(input.files) % (64 / ranks) + 1;
    let board = Board::new(Dimensions::new(ranks, files).expect("at most 64 squares"));
    let mut text = String::new();
    if let Some((stones, white)) = input.stones {
        let side = if white { Colour::White } else { Colour::Black };
        let position = Position::new_unchecked(&board, stones & board.all(), side);
        let mut characters: Vec<char> = position.to_string().chars().collect();
        for &(at, character) in &input.edits[..usize::from(input.edited) % 3] {
            let at = usize::from(at) % characters.len();
            characters[at] = character;
        }
        text = characters.into_iter().collect();
    }
    text += input.text;
    match parse_position(&board, &text) {
        Ok(position) => {
            let written = position.to_string();
            if !text.contains('.') {
                let words: Vec<&str> = text.split_whitespace().collect();
                assert_eq!(written, words.join(" ").to_ascii_lowercase());
            }
            assert_eq!(parse_position(&board, &written), Ok(position));
            let checked = Position::from_setup(&board, position.to_setup(&board));
            assert_eq!(checked, Ok(position));
        }
        Err(error) => assert!(error.to_string().len() < 1000, "long texts are cut"),
    }
});
