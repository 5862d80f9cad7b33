//! Any text is a position of a board or is refused. There is one text for each position: what
//! was read is written again letter by letter, but for white space.
#![no_main]

use arbitrary::Arbitrary;
use konane::konane::notation::{format_position, parse_position};
use konane::konane::{Board, Dimensions, Position};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    ranks: u8,
    files: u8,
    text: &'a str,
}

fuzz_target!(|input: Input| {
    let ranks = u32::from(input.ranks) % 64 + 1;
    let files = u32::from(input.files) % (64 / ranks) + 1;
    let board = Board::new(Dimensions::new(ranks, files).expect("at most 64 squares"));
    match parse_position(&board, input.text) {
        Ok(position) => {
            let text = format_position(&board, &position);
            let words: Vec<&str> = input.text.split_whitespace().collect();
            assert_eq!(text, words.join(" "));
            assert_eq!(parse_position(&board, &text), Ok(position));
            let checked = Position::from_setup(&board, position.to_setup(&board));
            assert_eq!(checked, Ok(position));
        }
        Err(error) => assert!(error.to_string().len() < 1000, "long texts are cut"),
    }
});
