//! Examples of the text of squares, moves and positions, and of every error.

use konane::notation::{
    IllegalMove, MoveError, PositionError, SquareError, dimensions_of, is_partial_diagram,
    parse_line, parse_move, parse_moves, parse_position, parse_square, read_move, square_name,
};
use konane::{Board, Colour, Dimensions, Move, Position, SetupError, Square};

use crate::positions::{all_dimensions, board};

fn position(board: &Board, text: &str) -> Position {
    parse_position(board, text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

// ------------------------------------------------------------------------------ squares

#[test]
fn names_of_the_squares_of_a_board_differ() {
    for d in all_dimensions() {
        let mut names = std::collections::BTreeSet::new();
        for square in 0..d.squares() {
            let name = square_name(d, square);
            assert_eq!(parse_square(d, &name), Ok(square), "{d} {name}");
            assert_eq!(parse_square(d, &name.to_uppercase()), Ok(square), "{d} {name}");
            names.insert(name);
        }
        assert_eq!(names.len(), d.squares() as usize, "{d}");
    }
}

#[test]
fn names_of_squares() {
    for (size, square, name) in [
        ("8x8", 0, "a8"),
        ("8x8", 63, "h1"),
        ("8x8", 56, "a1"),
        ("1x1", 0, "a1"),
        ("64x1", 0, "a64"),
        ("1x64", 25, "z1"),
        ("1x64", 26, "aa1"),
        ("1x64", 51, "az1"),
        ("1x64", 52, "ba1"),
        ("1x64", 63, "bl1"),
        ("2x32", 31, "af2"),
    ] {
        assert_eq!(square_name(size.parse().unwrap(), square), name, "{size}");
    }
}

#[test]
fn texts_that_are_not_squares_are_errors() {
    let d: Dimensions = "6x6".parse().unwrap();
    for text in [
        "",
        "a",
        "1",
        "1a",
        "a0",
        "a01",
        "a1 ",
        " a1",
        "a-1",
        "a+1",
        "a1a",
        "a1.0",
        "é1",
        "aé",
        "a１",
        "a1\0",
        "\u{1F600}",
        "Å1",
    ] {
        let expected = SquareError::Syntax(text.to_string());
        assert_eq!(parse_square(d, text), Err(expected), "{text:?}");
    }
    let many_letters = "z".repeat(100_000) + "1";
    let many_digits = format!("a{}", "9".repeat(100_000));
    for text in ["g1", "a7", "g7", "aa1", "a4294967296", "a4294967297", &many_letters, &many_digits]
    {
        let error = parse_square(d, text).unwrap_err();
        assert!(matches!(error, SquareError::OffBoard { .. }), "{text:?}");
        assert!(error.to_string().len() < 200, "long texts are cut");
    }
    assert_eq!(
        parse_square(d, "g7").unwrap_err().to_string(),
        "there is no square g7 on the 6x6 board, whose files are a to f and whose ranks are 1 to 6"
    );
}

// -------------------------------------------------------------------------------- moves

fn jump_on(dimensions: Dimensions, from: u8, to: u8) -> Move {
    Move::Jump { from: Square::new(dimensions, from), to: Square::new(dimensions, to) }
}

#[test]
fn both_spellings_of_a_jump() {
    let d: Dimensions = "8x8".parse().unwrap();
    let jump = read_move(d, "c3-g3").unwrap();
    assert_eq!(jump, jump_on(d, 42, 46));
    for text in ["c3g3", "C3-G3", "C3g3", "c3-G3", "C3G3"] {
        assert_eq!(read_move(d, text), Ok(jump), "{text}");
    }
    assert_eq!(jump.to_string(), "c3-g3");
    let wide: Dimensions = "1x64".parse().unwrap();
    let jump = jump_on(wide, 26, 30);
    assert_eq!(read_move(wide, "aa1ae1"), Ok(jump));
    assert_eq!(jump.to_string(), "aa1-ae1");
}

#[test]
fn texts_that_are_not_moves_are_errors() {
    let d: Dimensions = "8x8".parse().unwrap();
    assert_eq!(read_move(d, ""), Err(MoveError::Empty));
    for text in [
        "-", "c3-", "-c3", "c3--g3", "c3-g3-", "c3–", "c3-–g3", "c3 g3", "c3xg3!", "33", "cc",
        "c3:g3", "c3~g3",
    ] {
        let error = read_move(d, text).unwrap_err();
        let syntax = matches!(error, MoveError::Square(SquareError::Syntax(_)));
        assert!(syntax, "{text:?}: {error:?}");
    }
    for text in ["i1", "c3-i3", "i3-c3", "c3xg3", "a9"] {
        let error = read_move(d, text).unwrap_err();
        let off_board = matches!(error, MoveError::Square(SquareError::OffBoard { .. }));
        assert!(off_board, "{text:?}: {error:?}");
    }
}

#[test]
fn jumps_in_the_notation_of_other_programs_are_parsed() {
    let d: Dimensions = "6x6".parse().unwrap();
    let jump = read_move(d, "e6-e2").unwrap();
    for text in [
        "e6-e4-e2",
        "E6–E4–E2",
        "e6e4e2",
        "e6–e2",
        "e6\u{2010}e2",
        "e6\u{2011}e2",
        "e6\u{2012}e2",
        "e6\u{2014}e2",
        "e6\u{2015}e2",
        "e6\u{2212}e2",
    ] {
        assert_eq!(read_move(d, text), Ok(jump), "{text}");
    }
    assert_eq!(read_move(d, "f1d1b1"), read_move(d, "f1-b1"));
    // A change of axis, steps of one square, a reversal, no movement.
    for text in ["e6-e4-c4", "e6-e5-e4", "e6-e2-e4", "e6-e6-e4", "e6-e4-e4", "a1-c3-e5", "e6-e4-e3"]
    {
        let error = read_move(d, text).unwrap_err();
        assert_eq!(error, MoveError::Path(text.to_owned()));
        assert!(error.to_string().contains("in one line"), "{error}");
    }
    // An illegal jump is illegal with the squares in between, too.
    assert_eq!(
        reason(&board("6x6"), "xoxoxo/oxoxox/xoxoxo/oxoxox/xoxoxo/oxoxo1 w", "a1a3a5"),
        IllegalMove::SecondRemovalDue
    );
}

#[test]
fn positions_in_the_notation_of_other_programs_are_parsed() {
    let board = board("4x4");
    let position = position(&board, "xoxo/ox1x/x1xo/oxox b");
    for text in ["xoxo/ox.x/x.xo/oxox b", "XOXO/OX.X/X.XO/OXOX B", "xOxo/oX1x/x.xo/oxox b"] {
        assert_eq!(parse_position(&board, text), Ok(position), "{text}");
    }
    for text in [
        "bwbw/wb_b/b.bw/wbwb b".to_owned(),
        "x o x o/o x . x/x . x o/o x o x b".to_owned(),
        "xoxo\nox_x\nx_xo\noxox\nb".to_owned(),
        "xoxo|ox.x|x.xo|oxox b".to_owned(),
        "X|O|X|O\r\nO|X|.|X\r\nX|.|X|O\r\nO|X|O|X b\r\n".to_owned(),
        "| x | o | x | o |\n+---+---+---+---+\n| o | x |   1 | x |\n|x|_|x|o|\n|o|x|o|x| b jump"
            .to_owned(),
        "  a b c d\n4 B W B W\n3 W B . B\n2 B . B W\n1 W B W B\n\nB".to_owned(),
        "   4  x o x o\n   3  o[x].[x]\n   2  x . x o\n   1  o x o x b".to_owned(),
        "4 ● ○ ● ○\n3 ○ ● · ●\n2 ● · ● ○\n1 ○ ● ○ ●\n  a b c d\nb".to_owned(),
    ] {
        let read = parse_position(&board, &text);
        assert_eq!(read, Ok(position), "{text}");
        assert_eq!(dimensions_of(&text), Some(board.dimensions()), "{text}");
    }
    // The last letter is a stone if the rank needs it.
    for text in ["B W B W\nW B . B\nB . B W\nW B W B", "xoxo\noxox\nx2o\no2w\n  a b c d"] {
        assert_eq!(parse_position(&board, text), Err(PositionError::MissingSide), "{text}");
    }
    let text = include_str!("../data/diagram.txt");
    assert_eq!(parse_position(&board, text), parse_position(&board, "xoxo/oxox/xo1o/1xo1 b"));
    for lines in 1..4 {
        let part: Vec<&str> = text.lines().take(lines).collect();
        assert!(is_partial_diagram(board.dimensions(), &part.join("\n")), "{lines}");
    }
    assert!(!is_partial_diagram(board.dimensions(), text));
    for line in ["xoxo b", "hello", "xox", "xoxo/oxox/xoxo/oxox", "xoxo|oxox|xoxo|oxox b", ""] {
        assert!(!is_partial_diagram(board.dimensions(), line), "{line:?}");
    }
    let text = "..../..1./3./.2. W";
    assert_eq!(parse_position(&board, text), parse_position(&board, "4/4/4/4 w"));
    assert_eq!(parse_position(&board, text).unwrap().to_string(), "4/4/4/4 w");
}

/// The broken rule of an illegal move.
fn reason(board: &Board, at: &str, mv: &str) -> IllegalMove {
    match parse_move(board, &position(board, at), mv) {
        Err(MoveError::Illegal { reason, .. }) => reason,
        other => panic!("{at} {mv}: {other:?}"),
    }
}

#[test]
fn errors_of_illegal_moves_have_the_broken_rule() {
    let six = board("6x6");
    let square = |board: &Board, name: &str| {
        Square::new(board.dimensions(), parse_square(board.dimensions(), name).unwrap() as u8)
    };
    let start = "xoxoxo/oxoxox/xoxoxo/oxoxox/xoxoxo/oxoxox b";
    assert_eq!(reason(&six, start, "a6-c6"), IllegalMove::FirstRemovalDue);
    // a1 is a corner of White, b5 neither corner nor centre.
    assert_eq!(reason(&six, start, "a1"), IllegalMove::NotAnOpening);
    assert_eq!(reason(&six, start, "b5"), IllegalMove::NotAnOpening);

    let second = "1oxoxo/oxoxox/xoxoxo/oxoxox/xoxoxo/oxoxox w";
    assert_eq!(reason(&six, second, "c6-a6"), IllegalMove::SecondRemovalDue);
    let hole = square(&six, "a6");
    let expected = IllegalMove::NotBesideTheHole { hole };
    for mv in ["a6", "b5", "c6", "d6"] {
        assert_eq!(reason(&six, second, mv), expected, "{mv}");
    }

    // Files a to f of rank 6: hole, hole, black, white, black, white.
    let third = "2xoxo/oxoxox/xoxoxo/oxoxox/xoxoxo/oxoxox b";
    let side = Colour::Black;
    assert_eq!(reason(&six, third, "c6"), IllegalMove::JumpDue { side });
    let on = square(&six, "b6");
    assert_eq!(reason(&six, third, "b6-d6"), IllegalMove::EmptyStart { square: on, side });
    let on = square(&six, "d6");
    assert_eq!(reason(&six, third, "d6-b6"), IllegalMove::EnemyStart { square: on, side });
    assert_eq!(reason(&six, third, "c6-a5"), IllegalMove::NotALine);
    assert_eq!(reason(&six, third, "c6-c6"), IllegalMove::NotALine);
    assert_eq!(reason(&six, third, "c6-b6"), IllegalMove::OddDistance);
    let on = square(&six, "b6");
    assert_eq!(reason(&six, third, "c6-a6"), IllegalMove::NothingToTake { square: on });
    let on = square(&six, "e6");
    assert_eq!(reason(&six, third, "c6-e6"), IllegalMove::Occupied { square: on });
    let on = square(&six, "c2");
    assert_eq!(reason(&six, third, "c4-c2"), IllegalMove::Occupied { square: on });

    // The second part of a long jump can break both rules, too.
    let line = board("1x9");
    assert_eq!(reason(&line, "1o1oxo3 b", "e1-i1"), {
        IllegalMove::NothingToTake { square: square(&line, "h1") }
    });
    assert_eq!(reason(&line, "xo5ox w", "d1-f1"), {
        IllegalMove::EmptyStart { square: square(&line, "d1"), side: Colour::White }
    });
    assert_eq!(reason(&line, "xo3o3 b", "a1-g1"), {
        IllegalMove::NothingToTake { square: square(&line, "d1") }
    });
    assert_eq!(reason(&line, "xo1oxo3 b", "a1-g1"), {
        IllegalMove::Occupied { square: square(&line, "e1") }
    });
}

#[test]
fn errors_list_legal_moves() {
    let six = board("6x6");
    let start = Position::start(&six);
    let text = |board: &Board, position: &Position, mv| {
        parse_move(board, position, mv).unwrap_err().to_string()
    };
    assert_eq!(
        text(&six, &start, "a1"),
        "a1 is not legal here: Black removes one of its own stones, from a corner or the centre; \
         legal: a6 c4 d3 f1"
    );
    let over = board("1x1");
    let lost = position(&over, "1 w");
    assert_eq!(
        text(&over, &lost, "a1"),
        "a1 is not legal here: White's opening removal must be a white stone next to the hole on a1; \
         White has no legal move and has lost"
    );
    let wide = board("1x64");
    let long = position(&wide, &format!("xo{} b", "1o".repeat(31)));
    assert_eq!(
        text(&wide, &long, "a1-b1"),
        "a1-b1 is not legal here: a jump ends two squares further on for each stone that it \
         takes; 31 moves are legal, such as a1-c1 a1-e1 a1-g1 a1-i1 a1-k1 a1-m1 a1-o1 a1-q1"
    );
}

#[test]
fn lists_of_moves_are_parsed() {
    let six = board("6x6");
    assert_eq!(parse_moves(&six, " \n"), Ok(Position::start(&six)));
    let played = parse_moves(&six, "a6 a5\tc6-a6  c6a6").unwrap_err();
    assert_eq!((played.number, played.text.as_str()), (4, "c6a6"));
    let played = parse_moves(&six, "a6\na5 c6a6").unwrap();
    let text = "x2oxo/1xoxox/xoxoxo/oxoxox/xoxoxo/oxoxox w";
    assert_eq!(played.to_string(), text);

    for text in ["a6,a5,c6-a6", "A6, A5, C6A6", ",a6,,a5 ,\tc6a6,"] {
        assert_eq!(parse_moves(&six, text), Ok(played), "{text:?}");
    }
    // With move numbers, as in records and annotations.
    for text in ["1. a6 a5 2. c6-a6", "1.a6 a5 2.c6-a6", "1. a6 1... a5 2. c6-a6"] {
        assert_eq!(parse_moves(&six, text), Ok(played), "{text:?}");
    }
    for (text, number, word) in [("1 a6", 1, "1"), ("1. a6 2. x9", 2, "x9"), ("a6. a5", 1, "a6.")] {
        let error = parse_moves(&six, text).unwrap_err();
        assert_eq!((error.number, error.text.as_str()), (number, word), "{text:?}");
    }
    // From a position in the middle of a game.
    let before = parse_moves(&six, "a6 a5").unwrap();
    let line = parse_line(&six, &before, "c6-a6").unwrap();
    assert_eq!(before.play(&six, line[0]), played);
    assert_eq!(parse_line(&six, &before, ""), Ok(Vec::new()));
    assert_eq!(parse_line(&six, &played, "c6-a6").unwrap_err().number, 1);

    let error = parse_moves(&six, "a6 b5").unwrap_err();
    assert_eq!(
        error.to_string(),
        "move 2 (\"b5\"): b5 is not legal here: White's opening removal must be a white stone next to the hole on a6; \
         legal: b6 a5"
    );
    let error = parse_moves(&six, &format!("a6 {}", "q".repeat(1000))).unwrap_err();
    assert_eq!(error.number, 2);
    assert!(error.to_string().len() < 300);
    // More moves after the end of the game.
    let error = parse_moves(&board("1x1"), &"a1 ".repeat(100_000)).unwrap_err();
    assert_eq!(error.number, 2);
}

// ---------------------------------------------------------------------------- positions

#[test]
fn texts_of_some_positions() {
    for (size, text) in [
        ("3x3", "xox/oxo/xox b"),
        ("3x3", "1ox/oxo/xox w"),
        ("3x3", "xox/o1o/x1x w"),
        ("3x3", "3/3/3 b"),
        ("3x3", "3/3/3 w"),
        ("1x1", "x b"),
        ("1x1", "1 w"),
        ("1x64", "64 b"),
        ("1x64", "x62o w"),
        ("4x1", "x/o/1/1 b"),
    ] {
        let board = board(size);
        assert_eq!(position(&board, text).to_string(), text, "{size}");
    }
    let three = board("3x3");
    let start = position(&three, "xox/oxo/xox b");
    assert_eq!(start, Position::start(&three));
    let spaced = position(&three, "\t xox/oxo/xox \u{a0}\n b\r\n");
    assert_eq!(spaced, start);
}

fn refusal(size: &str, text: &str) -> PositionError {
    let error = parse_position(&board(size), text).expect_err(text);
    assert!(error.to_string().len() < 300, "long texts are cut: {error}");
    error
}

#[test]
fn texts_that_are_not_positions_are_errors() {
    let size = "3x3";
    let d: Dimensions = size.parse().unwrap();
    for text in ["", "  \n"] {
        assert_eq!(refusal(size, text), PositionError::Empty);
    }
    for (text, found) in [
        ("b", 1),
        ("xox b", 1),
        ("xox/oxo b", 2),
        ("xox/oxo/xox/oxo b", 4),
        ("xox/oxo/xox/ b", 4),
        ("xoxo/oxox/xoxo/oxox b", 4),
    ] {
        assert_eq!(refusal(size, text), PositionError::RankCount { found, board: d }, "{text}");
    }
    for (text, rank, found) in
        [("xo/oxo/xox b", 3, 2), ("xox//xox b", 2, 0), ("xox/oxo/2 b", 1, 2), ("// b", 3, 0)]
    {
        let board = d;
        assert_eq!(refusal(size, text), PositionError::RankTooShort { rank, found, board });
    }
    let huge = format!("xox/oxo/{} b", "9".repeat(100_000));
    for (text, rank, column) in [
        ("xoxo/oxo/xox b", 3, 4),
        ("xox/4/xox b", 2, 1),
        ("xox/o3/xox b", 2, 2),
        ("xox/oxo/x10 b", 1, 2),
        ("xox/oxo/x4294967295 b", 1, 2),
        ("xox/oxo/4294967296 b", 1, 1),
        ("xox/oxo/18446744073709551619 b", 1, 1),
        (huge.as_str(), 1, 1),
    ] {
        let board = d;
        assert_eq!(refusal(size, text), PositionError::RankTooLong { rank, column, board });
    }
    for (text, rank, column, found) in [
        ("xox/o-o/xox b", 2, 2, '-'),
        ("xox/oxo/xo, b", 1, 3, ','),
        ("xox/oé/xox b", 2, 2, 'é'),
        ("xox/oxo/\u{1F600}ox b", 1, 1, '\u{1F600}'),
        ("xox/oxo/３ b", 1, 1, '３'),
    ] {
        let expected = PositionError::UnknownCharacter { rank, column, found };
        assert_eq!(refusal(size, text), expected, "{text}");
    }
    for (text, rank, column) in [("xox/0oxo/xox b", 2, 1), ("xox/oxo/x02 b", 1, 2)] {
        assert_eq!(refusal(size, text), PositionError::ZeroCount { rank, column }, "{text}");
    }
    for text in ["xox/oxo/xox", "xox/oxo/xox "] {
        assert_eq!(refusal(size, text), PositionError::MissingSide);
    }
    for side in ["x", "black", "bw", "é"] {
        let expected = PositionError::UnknownSide(side.to_string());
        assert_eq!(refusal(size, &format!("xox/oxo/xox {side}")), expected);
    }
    refusal(size, &format!("xox/oxo/xox {}", "é".repeat(100_000)));
    let trailing = PositionError::TrailingText("0".to_string());
    assert_eq!(refusal(size, "xox/oxo/xox b 0 1"), trailing);
    refusal(size, &"/".repeat(1_000_000));
}

#[test]
fn impossible_stones_are_errors() {
    let setup = |size, text| match refusal(size, text) {
        PositionError::Setup(error) => error,
        other => panic!("{size} {text}: {other:?}"),
    };
    let three = board("3x3").dimensions();
    let square = |name| Square::new(three, parse_square(three, name).unwrap() as u8);
    let expected = SetupError::WrongColour { colour: "black", square: square("b3") };
    assert_eq!(setup("3x3", "1xx/3/3 b"), expected);
    let expected = SetupError::OtherColouring { colour: "white", square: square("c1") };
    assert_eq!(setup("3x3", "3/3/2o b"), expected);
    assert_eq!(setup("3x3", "xox/oxo/xox w"), SetupError::FullBoardWhiteToMove);
    let expected = SetupError::OneEmptyBlackToMove { square: square("a3") };
    assert_eq!(setup("3x3", "1ox/oxo/xox b"), expected);
    for (text, hole) in [("x1x/oxo/xox w", "b3"), ("xox/1xo/xox w", "a2")] {
        let square = square(hole);
        let openings = "a3, c3, b2, a1, c1".to_string();
        assert_eq!(setup("3x3", text), SetupError::ImpossibleOpening { square, openings });
    }
    // A board with one square: its only stone is black, and without it White is to move and loses.
    assert_eq!(setup("1x1", "x w"), SetupError::FullBoardWhiteToMove);
    assert!(matches!(setup("1x1", "1 b"), SetupError::OneEmptyBlackToMove { .. }));
    assert!(matches!(setup("1x1", "o b"), SetupError::OtherColouring { .. }));
    // With the standard rules only.
    assert_eq!(refusal("3x3", "1ox/oxo/xox b jump"), PositionError::NoRemovals);
    let trailing = PositionError::TrailingText("jumps".to_string());
    assert_eq!(refusal("3x3", "1ox/oxo/x2 b jumps"), trailing);
}

#[test]
fn messages_of_errors() {
    for (size, text, message) in [
        (
            "6x6",
            "xoxox/oxoxo/xoxox/oxoxo/xoxox b",
            "this position has 5 ranks, the 6x6 board has 6",
        ),
        ("6x6", "xo b", "this position has 1 rank, the 6x6 board has 6"),
        (
            "3x4",
            "xox/oxo/xox b",
            "rank 3 is too short: it describes 3 of the 4 squares in a rank of the 3x4 board; \
             empty squares at the end need a number too",
        ),
        (
            "3x2",
            "xo/oxo/xo b",
            "rank 2 is too long: character 3 leads beyond file b, the last one of the 3x2 board",
        ),
        (
            "1x3",
            "x-x b",
            "rank 1, character 2: '-' is none of x or b (Black), o or w (White), a number of empty squares, \
             and . or _ for one empty square",
        ),
        (
            "1x3",
            "x0ox b",
            "rank 1, character 2: a number of empty squares begins with 1 to 9, not with 0",
        ),
        (
            "1x3",
            "xox",
            "the side to move is missing: add a space and b (Black) or w (White) after the ranks",
        ),
        ("1x3", "xox x", "\"x\" is not a side to move: write b (Black) or w (White) in its place"),
    ] {
        assert_eq!(refusal(size, text).to_string(), message);
    }
}
