//! Any text is parsed as a position of a board or rejected. Each position has one canonical text:
//! writing a parsed text reproduces it, except for white space, upper case and the spellings of other programs.
#![no_main]

use arbitrary::Arbitrary;
use konane::notation::parse_position_as;
use konane::{Board, Colour, Dimensions, PhaseChoice, Position, Rules};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    ranks: u8,
    files: u8,
    /// A position whose text is changed by the edits. Random texts are almost never positions.
    stones: Option<(u64, bool, u8)>,
    edits: [(u8, char); 2],
    /// Number of edits to make, modulo 3.
    edited: u8,
    text: &'a str,
}

fuzz_target!(|input: Input| {
    let ranks = u32::from(input.ranks) % 64 + 1;
    let files = u32::from(input.files) % (64 / ranks) + 1;
    let dimensions = Dimensions::new(ranks, files).expect("at most 64 squares");
    let mut text = String::new();
    if let Some((stones, white, rules)) = input.stones {
        let rules =
            [Rules::Standard, Rules::Jumping, Rules::OtherColouring][usize::from(rules) % 3];
        let board = Board::with_rules(dimensions, rules);
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
    match parse_position_as(dimensions, &text, PhaseChoice::Auto) {
        Ok((board, position)) => {
            let written = position.to_string();
            let words: Vec<&str> = text.split_whitespace().collect();
            let is_own = |c: char| c.is_ascii_digit() || "xoXO/".contains(c);
            if words.len() == 2 && words[0].chars().all(is_own) {
                assert_eq!(written, words.join(" ").to_ascii_lowercase());
            }
            let again = parse_position_as(dimensions, &written, PhaseChoice::Auto);
            assert_eq!(again.map(|(_, again)| again), Ok(position));
            let checked = Position::from_setup(&board, position.to_setup(&board));
            assert_eq!(checked, Ok(position));
        }
        Err(error) => assert!(error.to_string().len() < 1000, "long texts are cut"),
    }
});
