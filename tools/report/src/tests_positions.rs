//! The openings and the narrow boards: what is asked, what follows from the answers, and the committed
//! tables beside the winners that searches from the start found.

use std::collections::BTreeMap;
use std::fs;

use konane::{Perft, Position, Setup as Stones, notation};
use serde_json::json;

use crate::narrow::{self, period};
use crate::openings::{self, openings};
use crate::questions::{Answers, Question, board, is_same_question};
use crate::records::{Record, parse};
use crate::suites::words;
use crate::{docs, published, winners};

/// The record of a search; no winner is one that reached its limit.
fn found(board: &str, position: &str, winner: Option<&str>) -> Record {
    let reason = winner.is_none().then_some("time limit");
    let line = json!({
        "args": format!("solve {board} --position \"{position}\" --algo dfpn"), "signature": 1,
        "cpu": "some processor", "run": 1, "command": format!("konane solve {board} {winner:?}"),
        "exit_code": 0, "wall_seconds": 0.25, "date": "2025-01-01T12:00:00Z",
        "version": "0.1.0", "cores": 2,
        "result": {
            "board": board, "position": position, "outcome": winner.unwrap_or("unknown"),
            "nodes": 12, "leaf_positions": 3, "seconds": 0.5, "reason": reason,
        },
    });
    parse(&line.to_string()).expect("a record").remove(0)
}

/// Symmetric removals stand once: as many are left as there are positions, counted by perft.
#[test]
fn every_position_of_two_removals_is_asked_once() {
    for (ranks, files) in winners::boards(64) {
        let board = board(ranks, files);
        let start = Position::start(&board);
        let all = openings(&board);
        let answers: Vec<_> = all.iter().flat_map(|opening| &opening.answers).collect();
        let unique = Perft::new(&board).unique(&start, 2, true);
        assert_eq!([all.len() as u64, answers.len() as u64], unique[..], "{ranks}x{files}");
        let names = all.iter().flat_map(|opening| &opening.names).count();
        assert_eq!(names, start.moves(&board).len(), "{ranks}x{files}");
        // The names lead to the position, or to one that is the same but for a symmetry.
        for opening in &all {
            for answer in &opening.answers {
                for name in &answer.names {
                    let moves = format!("{} {name}", opening.names[0]);
                    let there = notation::parse_moves(&board, &moves).expect("legal removals");
                    let here = notation::parse_position(&board, &answer.question.position);
                    assert_eq!(there.code(&board), here.expect("a position").code(&board));
                }
            }
        }
    }
    let center = openings(&board(8, 8)).into_iter().find(|opening| opening.names[0] == "d5");
    let center = center.expect("the centre");
    assert_eq!(center.names, ["d5", "e4"]);
    let answers: Vec<_> = center.answers.iter().map(|answer| answer.names.join(" ")).collect();
    assert_eq!(answers, ["d6 c5", "e5 d4"]);
}

#[test]
fn winners_of_openings_and_boards_follow_from_those_of_answers() {
    let positions = ["x1xo/o1ox/xoxo/oxox b", "2xo/oxox/xoxo/oxox b", "xoxo/o2x/xoxo/oxox b"];
    let asked: Vec<String> = openings::questions(16)
        .filter(|question| question.board == "4x4")
        .map(|question| question.position)
        .collect();
    assert_eq!(asked, [positions[1], positions[0], positions[2]]);
    // The corner has one answer, the centre two.
    let csv = |winners: [Option<&str>; 3]| {
        let searches = asked.iter().zip(winners);
        let records = searches.map(|(position, winner)| found("4x4", position, winner)).collect();
        let answers = Answers::new(records).expect("answers");
        let table = openings::csv_table(&answers);
        let lines: Vec<String> = table.lines().map(str::to_string).collect();
        (lines, openings::not_as_published(&answers), openings::markdown(&answers))
    };
    let (white, black) = (Some("white"), Some("black"));
    let (lines, wrong, page) = csv([white, black, white]);
    assert_eq!(lines.len(), 1 + 1 + 3, "{lines:?}");
    assert_eq!(lines[1], "1x1,black,a1,,black,,,,,,,,");
    let line = "4x4,white,a4,d1,white,b4,a3,white,2xo/oxox/xoxo/oxox b,12,3,0.5,";
    assert_eq!(lines[2], line);
    let rest: Vec<&str> =
        lines[3..].iter().map(|line| line.trim_end_matches(",12,3,0.5,")).collect();
    let centre = "4x4,white,b3,c2,white";
    let expected = [
        format!("{centre},b4,a3,black,x1xo/o1ox/xoxo/oxox b"),
        format!("{centre},c3,b2,white,xoxo/o2x/xoxo/oxox b"),
    ];
    assert_eq!(rest, expected);
    assert!(wrong.is_empty(), "the thesis has white");
    assert!(page.contains("| 4x4 | b3 c2 | White |"), "{page}");

    // An answer that is not solved leaves the opening open unless another wins, and the board too.
    let first_winners = |winners| -> Vec<String> {
        let (lines, ..) = csv(winners);
        let cells = lines[2..].iter().map(|line| line.split(',').collect::<Vec<_>>());
        cells.map(|cells| format!("{} {}", cells[1], cells[4])).collect()
    };
    assert_eq!(first_winners([white, black, None])[1..], ["unknown unknown"; 2]);
    assert_eq!(first_winners([white, white, None])[1..], ["white white"; 2]);
    assert_eq!(first_winners([black, None, None])[1..], ["black unknown"; 2]);
    let (.., page) = csv([white, black, None]);
    assert!(page.contains("\n- time limit: 4x4 (1)\n"), "{page}");
    let (_, wrong, page) = csv([black, black, black]);
    assert_eq!(wrong, ["4x4"]);
    assert!(page.contains("| 4x4 | a4 d1, b3 c2 | – |"), "{page}");
}

#[test]
fn answers_are_kept_and_contradictions_are_named() {
    let question = Question { board: "1x5".into(), position: "2xox b".into() };
    let search = |winner| found("1x5", "2xox b", winner);
    for order in [[None, Some("white")], [Some("white"), None]] {
        let answers = Answers::new(order.map(search).into()).expect("one winner");
        assert_eq!(answers.winner(&question), Some("white"));
        assert_eq!(answers.cells(&question), ["12", "3", "0.5", ""]);
    }
    let open = Answers::new(vec![search(None)]).expect("no winner");
    assert_eq!((open.winner(&question), open.cells(&question)[3].as_str()), (None, "time limit"));
    let none = Answers::new(Vec::new()).expect("nothing");
    assert_eq!(none.cells(&question), ["", "", "", "not searched"]);
    let error = Answers::new(vec![search(Some("white")), search(Some("black"))]).err();
    assert!(error.is_some_and(|error| error.contains("1x5") && error.contains("black")));

    let args = question.args();
    assert_eq!(words(&args), ["solve", "1x5", "--position", "2xox b"]);
    assert!(is_same_question(&format!("{args} --algo dfpn"), &format!("{args} --algo pns")));
    assert!(!is_same_question(&format!("{args} --algo dfpn"), "solve 1x5 --algo dfpn"));
    assert!(!is_same_question("perft", "perft"));
}

/// The winner of a board is that of the search from the start, and that of the thesis.
#[test]
fn committed_openings_lead_to_the_committed_winners() {
    let table = |name: &str| fs::read_to_string(docs().join(name)).expect("a committed table");
    let cells = |table: &str| -> Vec<Vec<String>> {
        let lines = table.lines().skip(1);
        lines.map(|line| line.split(',').map(str::to_string).collect()).collect()
    };
    let searched: BTreeMap<String, String> = cells(&table("benchmarks/winners.csv"))
        .into_iter()
        .map(|row| (row[0].clone(), row[2].clone()))
        .collect();
    let mut compared = 0;
    for row in cells(&table("openings.csv")) {
        let (board, winner) = (&row[0], &row[1]);
        for known in [searched[board].as_str(), published::winner(board).unwrap_or("unknown")] {
            if winner != "unknown" && known != "unknown" {
                assert_eq!(winner, known, "{board}");
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{compared} rows have something to compare with");
    // So is that of a narrow board, which a search of its own found.
    let mut compared = 0;
    for row in cells(&table("narrow.csv")).iter().filter(|row| row[1] == "start") {
        if row[4] != "unknown" && searched[&row[0]] != "unknown" {
            assert_eq!(row[4], searched[&row[0]], "{}", row[0]);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} boards have something to compare with");
}

/// What the page says in words of narrow boards.
#[test]
fn committed_narrow_boards_are_as_the_page_says() {
    let table = fs::read_to_string(docs().join("narrow.csv")).expect("a committed table");
    let winner = |board: &str, setup: &str, to_move: &str| -> &str {
        let start = format!("{board},{setup},{to_move},");
        let line = table.lines().find(|line| line.starts_with(&start)).expect("a row");
        line.split(',').nth(4).expect("a winner")
    };
    for n in 2..=64 {
        let board = format!("1x{n}");
        let gap = ["black", "white"].map(|side| winner(&board, "middle-horizontal", side));
        if n <= 32 {
            let two =
                ["black", "white"].map(|side| winner(&format!("2x{n}"), "middle-horizontal", side));
            assert_eq!(two, gap, "{n}");
        }
        let start = winner(&board, "start", "black");
        assert_eq!(start == "black", gap == ["black"; 2], "{n}");
    }
}

/// Every gap is a position that the program reads, of two neighbours.
#[test]
fn gaps_of_narrow_boards_are_positions() {
    let all: Vec<Question> = narrow::questions(64).collect();
    for question in &all {
        let board = konane::Board::new(question.board.parse().expect("a board"));
        let position = notation::parse_position(&board, &question.position).expect("a position");
        let gap = board.all() & !position.occupied();
        if gap != 0 {
            assert_eq!(gap.count_ones(), 2, "{question:?}");
            assert_eq!(board.neighbours(gap) & gap, gap, "{question:?}");
            let black = position.stones(&board, konane::Colour::Black);
            let white = position.stones(&board, konane::Colour::White);
            let stones = Stones { black, white, to_move: position.to_move() };
            assert!(Position::from_setup(&board, stones).is_ok());
        }
    }
    let of = |board: &str| -> Vec<&str> {
        let asked = all.iter().filter(|question| question.board == board);
        asked.map(|question| question.position.as_str()).collect()
    };
    assert_eq!(of("1x5"), ["xoxox b", "2xox b", "2xox w", "xo2x b", "xo2x w"]);
    let gaps = ["1ox/oxo/xox", "2x/oxo/xox", "xox/o2/xox", "xox/o1o/x1x"];
    assert!(gaps[1..].iter().all(|gap| of("3x3").contains(&&*format!("{gap} w"))));
    assert!(!of("3x3").contains(&&*format!("{} w", gaps[0])));
}

#[test]
fn periods_are_seen_only_where_they_are_long_enough() {
    let of = |text: &str| -> Vec<Option<char>> {
        text.chars().map(|class| Some(class).filter(|&class| class != '-')).collect()
    };
    let seen = |text| period(&of(text));
    assert_eq!(seen("BWWWBWWWBWWWB"), Some((0, 4)));
    assert_eq!(seen("-NNBWWWBWWWBWWW"), Some((3, 4)));
    assert_eq!(seen("NNNNNN"), Some((0, 1)));
    assert_eq!(seen("NPNPNPNPPN"), None);
    assert_eq!(seen("BWWWBWWW"), None, "two periods are too few");
    assert_eq!(seen("WWWWB-NNNNNN"), None, "what comes after a gap is not looked at");
    assert_eq!(seen("WWWW-NNNNNNB"), Some((0, 1)));
    assert_eq!(seen("---"), None);
    assert_eq!(seen(""), None);
}
