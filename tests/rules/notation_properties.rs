//! Properties of the text of any square, move and position.

use konane::notation::{
    IllegalMove, MoveError, check_move, parse_move, parse_moves, parse_position, parse_position_as,
    parse_square, square_name,
};
use konane::{Board, Colour, Dimensions, Move, PhaseChoice, Position, Rules, Square};
use proptest::prelude::*;

use crate::positions::{board, cases, dimensions, recipe};

/// Texts that are similar to valid ones, and other texts.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[xo1-9/ bw]{0,20}",
        "[a-h][0-9]{1,2}-?[a-h]?[0-9]{0,2}",
        "\\PC{0,20}",
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn positions_survive_a_round_trip(dimensions in dimensions(), recipe in recipe()) {
        let board = Board::new(dimensions);
        let position = recipe.position(&board);
        let text = position.to_string();
        prop_assert_eq!(parse_position(&board, &text), Ok(position), "{}", text);
    }

    #[test]
    fn positions_of_all_rules_survive_a_round_trip_as_text_and_as_diagram(
        dimensions in dimensions(), set: u64, is_full: bool, white: bool, has_names: bool,
        rules in prop::sample::select(vec![Rules::Standard, Rules::Jumping, Rules::OtherColouring]),
        stones in prop::sample::select(vec!["xo._", "XO..", "BW__", "bw..", "●○··"]),
        separator in prop::sample::select(vec!["", " ", "|", " | "]),
    ) {
        let board = Board::with_rules(dimensions, rules);
        // With at most one empty square, or with any number.
        let occupied = board.all() & if is_full { !(1 << (set % 64)) } else { set };
        let to_move = if white { Colour::White } else { Colour::Black };
        let position = Position::new_unchecked(&board, occupied, to_move);
        let setup = position.to_setup(&board);
        prop_assume!(Position::from_setup(&board, setup).is_ok());
        let text = position.to_string();
        let read = parse_position_as(dimensions, &text, PhaseChoice::Auto);
        let (read_board, read) = read.unwrap_or_else(|error| panic!("{text}: {error}"));
        prop_assert_eq!(read, position, "{}", text);
        prop_assert_eq!(read.rules(), read_board.rules());
        prop_assert_eq!(read.moves(&read_board), position.moves(&board));

        let (_, words) = text.split_once(' ').expect("a side to move");
        let stones: Vec<String> = stones.chars().map(String::from).collect();
        let mut diagram = String::new();
        for row in 0..dimensions.ranks() {
            // With bars between its squares, a single rank has no name.
            if has_names && dimensions.ranks() > 1 {
                diagram += &format!("{:>3} ", dimensions.ranks() - row);
            }
            let square = |file: u32| {
                let bit = 1u64 << (row * dimensions.files() + file);
                let stone = [setup.black, setup.white].iter().position(|set| set & bit != 0);
                stones[stone.unwrap_or(2)].as_str()
            };
            let squares: Vec<&str> = (0..dimensions.files()).map(square).collect();
            diagram += &squares.join(separator);
            diagram.push('\n');
        }
        diagram += words;
        let read = parse_position_as(dimensions, &diagram, PhaseChoice::Auto);
        prop_assert_eq!(read.map(|(_, read)| read), Ok(position), "{}", diagram);
    }

    #[test]
    fn moves_survive_a_round_trip(dimensions in dimensions(), recipe in recipe()) {
        let board = Board::new(dimensions);
        let position = recipe.position(&board);
        for mv in position.moves(&board) {
            let text = mv.to_string();
            prop_assert_eq!(parse_move(&board, &position, &text), Ok(mv), "{}", text);
            for dash in ["", "\u{2013}", "\u{2212}"] {
                let other = text.replace('-', dash).to_uppercase();
                prop_assert_eq!(parse_move(&board, &position, &other), Ok(mv), "{}", other);
            }
        }
    }

    #[test]
    fn games_survive_a_round_trip(
        dimensions in dimensions(), choices in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let board = Board::new(dimensions);
        let (mut position, mut text) = (Position::start(&board), String::new());
        for choice in choices {
            let moves = position.moves(&board);
            if moves.is_empty() {
                break;
            }
            let mv = moves[choice as usize % moves.len()];
            text = text + &mv.to_string() + " ";
            position = position.play(&board, mv);
        }
        prop_assert_eq!(parse_moves(&board, &text), Ok(position));
    }

    #[test]
    fn exactly_the_legal_moves_are_accepted(
        dimensions in dimensions(), recipe in recipe(), from: u8, to: u8,
    ) {
        let board = Board::new(dimensions);
        let position = recipe.position(&board);
        let squares = dimensions.squares() as u8;
        let [from, to] = [from, to].map(|index| Square::new(dimensions, index % squares));
        for mv in [Move::Remove { square: from }, Move::Jump { from, to }] {
            let legal = position.is_legal(&board, mv);
            prop_assert_eq!(check_move(&board, &position, mv).is_ok(), legal);
            let text = mv.to_string();
            prop_assert_eq!(parse_move(&board, &position, &text).is_ok(), legal);
        }
    }

    #[test]
    fn any_text_is_valid_or_an_error(dimensions in dimensions(), recipe in recipe(), text in text()) {
        let board = Board::new(dimensions);
        let at = recipe.position(&board);
        if let Ok(position) = parse_position(&board, &text) {
            let written = position.to_string();
            prop_assert_eq!(parse_position(&board, &written), Ok(position));
            let words: Vec<&str> = text.split_whitespace().collect();
            let is_own = |c: char| c.is_ascii_digit() || "xoXO/".contains(c);
            if words.len() == 2 && words[0].chars().all(is_own) {
                prop_assert_eq!(written, words.join(" ").to_ascii_lowercase());
            }
        }
        if let Ok(square) = parse_square(dimensions, &text) {
            prop_assert_eq!(square_name(dimensions, square), text.to_ascii_lowercase());
        }
        if let Ok(mv) = parse_move(&board, &at, &text) {
            let written = mv.to_string();
            let squares: Vec<&str> = written.split('-').collect();
            let text = text.to_ascii_lowercase();
            prop_assert!(text.starts_with(squares[0]), "{} {}", text, written);
            prop_assert!(text.ends_with(squares[squares.len() - 1]), "{} {}", text, written);
        }
        let _ = parse_moves(&board, &text);
        if let Ok(size) = text.parse::<Dimensions>() {
            prop_assert_eq!(size.to_string().parse(), Ok(size));
        }
    }
}

/// The error of every illegal jump, in all positions of a line, is a rule that the jump breaks. The fallback for
/// unreachable cases is not returned.
#[test]
fn the_rule_of_an_error_is_broken() {
    let line = board("1x7");
    for occupied in 0..=line.all() {
        for side in [Colour::Black, Colour::White] {
            let position = Position::new_unchecked(&line, occupied, side);
            if (line.all() & !occupied).count_ones() < 2 {
                continue;
            }
            for (from, to) in (0..7).flat_map(|from| (0..7).map(move |to| (from, to))) {
                let square = |index| Square::new(line.dimensions(), index);
                let mv = Move::Jump { from: square(from), to: square(to) };
                let reason = match check_move(&line, &position, mv) {
                    Ok(()) => continue,
                    Err(MoveError::Illegal { reason, .. }) => reason,
                    Err(other) => panic!("{mv:?}: {other}"),
                };
                assert_eq!(reason == IllegalMove::NotALine, {
                    let own = position.stones(&line, side) >> from & 1 == 1;
                    own && from == to
                });
            }
        }
    }
}
