//! What holds for the record of any game.

use konane::record::{Mark, Record, RecordedMove};
use konane::{Board, Position};
use proptest::prelude::*;

use crate::positions::{cases, dimensions, recipe};

/// Words as they stand in headers and comments.
fn words() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9é#{:.,?!~-]{1,12}( [a-zA-Z0-9é#{:.,-]{1,12}){0,12}"
}

fn comments() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(words(), 0..3)
}

fn mark() -> impl Strategy<Value = Option<Mark>> {
    prop::option::of(prop::sample::select(Mark::ALL.to_vec()))
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
        // Only headers may be long.
        let moves = text.split_once("\n\n").expect("an empty line").1;
        prop_assert!(moves.lines().all(|line| line.chars().count() < 80), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(
        text in prop_oneof!["Board: 3x3\n\n[1-3. b2c3a\\-{}#?\n]{0,40}", "\\PC{0,40}", any::<String>()],
    ) {
        match text.parse::<Record>() {
            Ok(record) => prop_assert_eq!(record.to_string().parse(), Ok(record)),
            Err(error) => prop_assert!(error.line <= text.matches('\n').count() + 1),
        }
    }
}
