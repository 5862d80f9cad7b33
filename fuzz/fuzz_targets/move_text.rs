//! Any text is parsed as a legal move or rejected, in any position. The same holds for lists of
//! moves.
#![no_main]

use arbitrary::Arbitrary;
use konane::notation::{parse_move, parse_moves, parse_square, read_move, square_name};
use konane::{Board, Dimensions, Position};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    ranks: u8,
    files: u8,
    /// Chooses the moves that lead to the position.
    choices: [u8; 8],
    plies: u8,
    /// Selects a legal move, which is placed before the text. If it is `None`, `squares` are.
    legal: Option<u8>,
    squares: Option<(u8, u8)>,
    text: &'a str,
}

fuzz_target!(|input: Input| {
    let ranks = u32::from(input.ranks) % 64 + 1;
    let files = u32::from(input.files) % (64 / ranks) + 1;
    let dimensions = Dimensions::new(ranks, files).expect("at most 64 squares");
    let board = Board::new(dimensions);
    let (mut position, mut game) = (Position::start(&board), String::new());
    for &choice in &input.choices[..usize::from(input.plies) % 9] {
        let moves = position.moves(&board);
        if moves.is_empty() {
            break;
        }
        let mv = moves[usize::from(choice) % moves.len()];
        game = game + &mv.to_string() + " ";
        position = position.play(&board, mv);
    }
    assert_eq!(parse_moves(&board, &game), Ok(position));
    let other = game.to_uppercase().replace(' ', ",").replace('-', "\u{2013}");
    assert_eq!(parse_moves(&board, &other), Ok(position));

    let mut text = String::new();
    let moves = position.moves(&board);
    if let (Some(choice), false) = (input.legal, moves.is_empty()) {
        text += &moves[usize::from(choice) % moves.len()].to_string();
    } else if let Some((from, to)) = input.squares {
        let name = |square: u8| square_name(dimensions, u32::from(square) % dimensions.squares());
        text = name(from) + &name(to);
    }
    text += input.text;
    let text = text.as_str();
    if let Ok(square) = parse_square(dimensions, text) {
        assert_eq!(square_name(dimensions, square), text.to_ascii_lowercase());
    }
    if let Ok(mv) = read_move(dimensions, text) {
        let written = mv.to_string();
        let squares: Vec<&str> = written.split('-').collect();
        let text = text.to_ascii_lowercase();
        assert!(text.starts_with(squares[0]) && text.ends_with(squares[squares.len() - 1]));
        assert_eq!(read_move(dimensions, &written), Ok(mv));
    }
    match parse_move(&board, &position, text) {
        Ok(mv) => assert!(position.is_legal(&board, mv)),
        Err(error) => assert!(error.to_string().len() < 1000, "long texts are cut"),
    }
    if let Err(error) = parse_moves(&board, &(game + text)) {
        assert!(error.to_string().len() < 1000, "long texts are cut");
    }
});
