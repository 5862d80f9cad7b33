//! Properties of the records of random games, and records in the notation of other programs.

use konane::notation::square_name;
use konane::record::{Mark, Record, RecordOptions, RecordedMove};
use konane::{Board, Colour, Dimensions, Move, Position};
use proptest::prelude::*;

use crate::positions::{cases, dimensions, recipe};

const FLIPPED: RecordOptions = RecordOptions { board: None, flip_ranks: true };

/// Words of headers and comments.
fn words() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9é#{:.,?!~-]{1,12}( [a-zA-Z0-9é#{:.,-]{1,12}){0,12}"
}

fn comments() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(words(), 0..3)
}

fn mark() -> impl Strategy<Value = Option<Mark>> {
    prop::option::of(prop::sample::select(Mark::ALL.to_vec()))
}

/// Notation of another program.
#[derive(Clone, Copy, Debug)]
struct Style {
    /// Rank 1 is the top rank.
    is_flipped: bool,
    /// Every move has a different number.
    numbers_plies: bool,
    capitals: bool,
    dash: &'static str,
    /// Jumps with all landing squares.
    paths: bool,
    /// A point for each empty square.
    points: bool,
    /// The result is a score after the moves instead of a header.
    score_at_end: bool,
}

fn style() -> impl Strategy<Value = Style> {
    let dashes = ["-", "", "\u{2010}", "\u{2011}", "\u{2012}", "\u{2013}", "\u{2014}", "\u{2212}"];
    let flags = any::<[bool; 6]>();
    (flags, prop::sample::select(dashes.to_vec())).prop_map(|(flags, dash)| {
        let [is_flipped, numbers_plies, capitals, paths, points, score_at_end] = flags;
        Style { is_flipped, numbers_plies, capitals, dash, paths, points, score_at_end }
    })
}

impl Style {
    fn square(self, dimensions: Dimensions, square: u8) -> String {
        let (ranks, files) = (dimensions.ranks() as u8, dimensions.files() as u8);
        let flipped = (ranks - 1 - square / files) * files + square % files;
        square_name(dimensions, u32::from(if self.is_flipped { flipped } else { square }))
    }

    fn mv(self, dimensions: Dimensions, mv: Move) -> String {
        let squares = match mv {
            Move::Remove { square } => vec![square.index()],
            Move::Jump { from, to } if self.paths => {
                let (from, to) = (from.index(), to.index());
                let files = dimensions.files() as u8;
                let hop = if from / files == to / files { 2 } else { 2 * files };
                let landings = from.abs_diff(to) / hop;
                let landing = |hops| if to > from { from + hops * hop } else { from - hops * hop };
                (0..=landings).map(landing).collect()
            }
            Move::Jump { from, to } => vec![from.index(), to.index()],
        };
        let names = squares.into_iter().map(|square| self.square(dimensions, square));
        names.collect::<Vec<_>>().join(self.dash)
    }

    fn position(self, position: &Position) -> String {
        let mut text = position.to_string();
        if self.is_flipped {
            let (ranks, side) = text.split_once(' ').unwrap();
            text = ranks.split('/').rev().collect::<Vec<_>>().join("/") + " " + side;
        }
        if self.points {
            // The largest number first, so that no number is replaced within another one, such as 1 in 12.
            for empty in (1..=64).rev() {
                text = text.replace(&empty.to_string(), &".".repeat(empty));
            }
        }
        text
    }

    fn record(self, record: &Record) -> String {
        let board = Board::new(record.dimensions);
        let mut text = format!("Board: {}\n", record.dimensions);
        let start = self.position(&record.start);
        if record.start != Position::start(&board) {
            text += &format!("Position: {start}\n");
        }
        // On other boards, the first move or the stones determine the orientation.
        let is_told = record.dimensions.ranks().is_multiple_of(2) && !record.moves.is_empty();
        if self.is_flipped && !is_told {
            text += "Flip-Ranks: yes\n";
        }
        let score = match record.result {
            Some(Colour::White) => "1-0",
            Some(Colour::Black) => "0-1",
            None => "*",
        };
        if !self.score_at_end {
            text += &format!("Result: {score}\n");
        }
        text += "\n";
        let second = usize::from(record.start.to_move() == Colour::White);
        for (ply, recorded) in record.moves.iter().enumerate() {
            let turn = (ply + second) / 2 + 1;
            let number = if self.numbers_plies { ply + 1 } else { turn };
            text += &format!("{number}. {} ", self.mv(record.dimensions, recorded.mv));
        }
        if self.score_at_end {
            text += score;
        }
        if self.capitals { text.to_uppercase() } else { text }
    }
}

/// A game whose moves are selected by `choices`. If it is not over, its result is `result`.
fn game(dimensions: Dimensions, start: Position, choices: &[u8], result: Option<Colour>) -> Record {
    let board = Board::new(dimensions);
    let mut record = Record::new(dimensions, start);
    let mut last = start;
    for &choice in choices {
        let legal = last.moves(&board);
        if legal.is_empty() {
            break;
        }
        let mv = legal[usize::from(choice) % legal.len()];
        record.moves.push(RecordedMove::new(mv));
        last = last.play(&board, mv);
    }
    let is_over = last.count_moves(&board) == 0;
    record.result = if is_over { Some(!last.to_move()) } else { result };
    record
}

#[test]
fn a_game_in_the_notation_of_another_program_is_read() {
    let own = "Board: 4x4\nResult: black\n\n\
               1. a4 b4 2. a2-a4 d4-b4 3. a4-c4 c3-a3 4. b1-b3 a3-c3 5. d1-b1 d2-b2 6. c4-c2 a1-c1 \
               7. c2-a2\n";
    let record: Record = own.parse().unwrap();
    assert_eq!(record.moves.len(), 13);
    // Rank 1 is the top rank, so a1 is black.
    let moves = "1. A1 2. B1 3. A3–A1 4. D1–B1 5. A1–C1 6. C2–A2 7. B4–B2 8. A2–C2 9. D4–B4 10. D3–B3 \
                 11. C1–C3 12. A4–C4 13. C3–A3";
    // The game is over, so its end determines the winner, also if the first number is the score of the first player.
    for score in ["0-1", "1-0", "0–1", "*"] {
        let [header, end] = [format!("Result: {score}\n"), format!(" {score} # over\n")];
        for (header, end) in [(&*header, ""), ("", &*end), (&*header, &*end), ("", "")] {
            let text = format!("Board: 4x4\n{header}\n{moves}{end}");
            assert_eq!(text.parse().as_ref(), Ok(&record), "{text}");
        }
    }
    let flipped = Record::from_bytes(format!("Board: 4x4\n\n{moves}").as_bytes(), FLIPPED);
    assert_eq!(flipped.as_ref(), Ok(&record));
    assert_eq!(record.to_string().replace('\n', " "), own.replace('\n', " "));
    // A record that is legal in the orientation of this project is read in it.
    assert!(Record::from_bytes(own.as_bytes(), FLIPPED).is_err());
    let denied = format!("Board: 4x4\nFlip-Ranks: no\n\n{moves}");
    assert!(denied.parse::<Record>().unwrap_err().to_string().contains("\"A1\": a1 is not legal"));
}

#[test]
fn a_score_of_an_unfinished_game_names_the_winner() {
    for (score, result) in [
        ("1-0", Some(Colour::White)),
        ("0-1", Some(Colour::Black)),
        ("0–1", Some(Colour::Black)),
        ("*", None),
    ] {
        let header: Record = format!("Board: 4x4\nResult: {score}\n\n1. a4").parse().unwrap();
        let end: Record = format!("Board: 4x4\n\n1. a4 {score}").parse().unwrap();
        assert_eq!((header.result, end.result), (result, result), "{score}");
    }
    // A name is unambiguous, a score is not.
    let both: Record = "Board: 4x4\nResult: black\n\n1. a4 1-0".parse().unwrap();
    assert_eq!(both.result, Some(Colour::Black));
}

#[test]
fn variations_nags_and_resignations_are_read() {
    let plain: Record = "Board: 8x8\n\n1. d5 e5 2. b5-d5 g5-c5".parse().unwrap();
    let varied = include_str!("../data/record_variation.txt");
    assert_eq!(varied.parse().as_ref(), Ok(&plain));
    for moves in [
        "1. d5 $1 e5 $14$3 2. b5-d5!? g5-c5??",
        "1. d5 !? (1. e4 (1. a8 {(} 1... a7) # )\n 1... e5) e5 2. b5-d5 ( {}) g5-c5 ()",
        "1. d5(1. a8)e5$2(1... d4)2. b5-d5(c3)g5-c5",
    ] {
        assert_eq!(format!("Board: 8x8\n\n{moves}").parse().as_ref(), Ok(&plain), "{moves}");
        let board = Some(plain.dimensions);
        let read = Record::from_bytes(moves.as_bytes(), RecordOptions { board, flip_ranks: false });
        assert_eq!(read.as_ref(), Ok(&plain), "{moves}");
    }
    let (black, white) = (Some(Colour::Black), Some(Colour::White));
    for (header, end, result) in [
        ("", "resigns", white),
        ("", "Resigns.", white),
        ("", "White resigns {tired} $6", black),
        ("", "black\nresigns", white),
        ("Result: Black resigns\n", "", white),
        ("Result: white\n", "Black resigns.", white),
        // A name is unambiguous, a score is not.
        ("Result: 0-1\n", "black resigns", white),
    ] {
        let text = format!("Board: 8x8\n{header}\n1. d5 e5 {end}");
        assert_eq!(text.parse::<Record>().map(|record| record.result), Ok(result), "{text}");
    }
    let pgn = "[Event \"A [B] \\\"C\\\"\"]\n[Board \"8x8\"]\n[Black \"Kaiulani\"]\n [ White  \"konane\" ]\n\
               [Result \"*\"]\n\n1. d5 e5 *";
    let record: Record = pgn.parse().unwrap();
    assert_eq!(record.others, [("Event".to_owned(), "A [B] \\\"C\\\"".to_owned())]);
    assert_eq!(
        (record.black.as_deref(), record.white.as_deref()),
        (Some("Kaiulani"), Some("konane"))
    );
}

#[test]
fn records_of_positions_of_other_rules_survive_a_round_trip() {
    for (position, is_flipped) in [
        ("1ox/oxo/xox b jump", false),
        ("oxo/x1x/o1o w", false),
        // Two readings: the stones fit the standard colouring if the ranks are flipped.
        ("ox2/xo2/ox1x/xo2 b", true),
        ("xoxo/oxox/1oxo/oxox b jump", false),
        ("oxox/xoxo/1xox/xoxo b jump", true),
        ("oxox/xoxo/o2x/xoxo b", true),
    ] {
        let files = position.split('/').count();
        let text = format!("Board: {files}x{files}\nPosition: {position}\n\n");
        let record: Record = text.parse().unwrap();
        assert_eq!(record.start.to_string() != position, is_flipped, "{position}");
        assert_eq!(record.to_string().parse().as_ref(), Ok(&record), "{position}");
        let kept = format!("Board: {files}x{files}\nFlip-Ranks: no\nPosition: {position}\n\n");
        let kept: Record = kept.parse().unwrap();
        assert_eq!(kept.start.to_string(), position);
        assert_eq!(kept.to_string().parse(), Ok(kept));
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn games_in_the_notation_of_other_programs_are_read(
        dimensions in dimensions(),
        recipe in prop::option::of(recipe()),
        choices in prop::collection::vec(any::<u8>(), 0..30),
        result in prop::sample::select(vec![None, Some(Colour::Black), Some(Colour::White)]),
        style in style(),
    ) {
        let board = Board::new(dimensions);
        let start = recipe.map_or(Position::start(&board), |recipe| recipe.position(&board));
        let record = game(dimensions, start, &choices, result);
        let text = style.record(&record);
        prop_assert_eq!(text.parse::<Record>(), Ok(record.clone()), "{}", text);
        if style.is_flipped {
            let flipped = Record::from_bytes(text.as_bytes(), FLIPPED);
            prop_assert_eq!(flipped, Ok(record), "{}", text);
        }
    }
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn games_survive_a_round_trip(
        dimensions in dimensions(),
        recipe in prop::option::of(recipe()),
        moves in prop::collection::vec((any::<u8>(), mark(), comments()), 0..30),
        names in (prop::option::of(words()), prop::option::of(words())),
        other in words(),
        opening in comments(),
    ) {
        let board = Board::new(dimensions);
        let start = recipe.map_or(Position::start(&board), |recipe| recipe.position(&board));
        let mut record = Record::new(dimensions, start);
        (record.black, record.white) = names;
        record.others = vec![("Event".to_owned(), other), ("X-1".to_owned(), String::new())];
        record.comments = opening;
        let mut last = start;
        for (choice, mark, comments) in moves {
            let legal = last.moves(&board);
            if legal.is_empty() {
                break;
            }
            let mv = legal[usize::from(choice) % legal.len()];
            record.moves.push(RecordedMove { mv, mark, comments });
            last = last.play(&board, mv);
        }
        record.result = (last.count_moves(&board) == 0).then_some(!last.to_move());
        let text = record.to_string();
        prop_assert_eq!(record.positions().pop(), Some(last));
        prop_assert_eq!(text.parse::<Record>(), Ok(record), "{}", text);
        // Only headers may have long lines.
        let moves = text.split_once("\n\n").expect("an empty line").1;
        prop_assert!(moves.lines().all(|line| line.chars().count() < 80), "{}", text);
    }

    #[test]
    fn any_text_is_valid_or_an_error(
        text in prop_oneof![
            "Board: [34]x4\n(Position: [xoXO.1-4/]{4,20} [bwBW]\n)?(Flip-Ranks: (yes|no)\n)?\n\
             [1-4. b2c3a4A–\\-{}#?*0\n]{0,40}",
            "Board: 3x3\n\n[1-3. b2c3a\\-{}#?\n]{0,40}",
            "\\PC{0,40}",
            any::<String>(),
        ],
    ) {
        match text.parse::<Record>() {
            Ok(record) => prop_assert_eq!(record.to_string().parse(), Ok(record)),
            Err(error) => prop_assert!(error.line <= text.matches('\n').count() + 1),
        }
    }
}
