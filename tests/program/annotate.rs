//! `konane annotate`.

use std::collections::HashMap;
use std::fs;

use konane::record::{Mark, Record, RecordedMove};
use konane::{Board, Position, Value as Outcome};

use super::common::{TestDir, code, stderr, stdout};

fn value(board: &Board, position: &Position, memo: &mut HashMap<Position, Outcome>) -> Outcome {
    if let Some(&known) = memo.get(position) {
        return known;
    }
    let mut moves = position.moves(board).into_iter();
    let won = moves.any(|mv| value(board, &position.play(board, mv), memo) == Outcome::Loss);
    let value = if won { Outcome::Win } else { Outcome::Loss };
    memo.insert(*position, value);
    value
}

/// Returns a game whose moves are chosen by the bits of `choices`.
fn game(board: &Board, mut choices: u64) -> Record {
    let mut record = Record::new(board.dimensions(), Position::start(board));
    let mut position = record.start;
    loop {
        let moves = position.moves(board);
        if moves.is_empty() {
            record.result = Some(!position.to_move());
            return record;
        }
        let mv = moves[(choices % moves.len() as u64) as usize];
        choices = choices.rotate_right(3).wrapping_mul(5);
        record.moves.push(RecordedMove::new(mv));
        position = position.play(board, mv);
    }
}

#[test]
fn a_note_names_the_unverified_proof() {
    let dir = TestDir::new();
    dir.json(&["solve", "4x4", "--proof", "a.proof", "--json", "-q"], 0);
    let record = game(&Board::new("4x4".parse().unwrap()), 0);
    fs::write(dir.path("g.txt"), record.to_string()).unwrap();
    let args = ["annotate", "g.txt", "--proof", "a.proof"];
    let note =
        "note: a.proof is trusted without verification: konane verify-proof a.proof verifies it\n";
    assert_eq!(stderr(&dir.run(&args)), note);
    assert_eq!(stderr(&dir.run(&[&args[..], &["--quiet"]].concat())), "");
}

#[test]
fn a_dash_is_standard_input() {
    let dir = TestDir::new();
    let text = game(&Board::new("4x4".parse().unwrap()), 0).to_string();
    fs::write(dir.path("g.txt"), &text).unwrap();
    let from_file = dir.run(&["annotate", "g.txt"]);
    for text in [text.clone(), format!("\u{feff}{}", text.replace('\n', "\r\n"))] {
        let output = dir.with_input(&["annotate", "-"], &text);
        assert_eq!((code(&output), stdout(&output)), (0, stdout(&from_file)), "{output:?}");
    }
    // A line of standard input may have any length, like a line of a file.
    let long = format!("Board: 4x4\n\n{{{}}} 1. a4\n", "x".repeat(100_000));
    fs::write(dir.path("long.txt"), &long).unwrap();
    let from_file = dir.run(&["annotate", "long.txt"]);
    let output = dir.with_input(&["annotate", "-"], &long);
    assert_eq!((code(&output), stdout(&output)), (0, stdout(&from_file)), "{}", stderr(&output));
    for (input, problem) in [("nonsense", "standard input: "), (&"#\n".repeat(1 << 20), "1 MiB")] {
        let output = dir.with_input(&["annotate", "-"], input);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
        assert!(stderr(&output).contains(problem), "{}", stderr(&output));
    }
}

#[test]
fn marks_agree_with_plain_recursion() {
    let dir = TestDir::new();
    let board = Board::new("4x4".parse().unwrap());
    let mut memo = HashMap::new();
    let mut seen = [0; 3];
    for seed in 0..6u64 {
        let record = game(&board, 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(seed + 1));
        fs::write(dir.path("g.txt"), record.to_string()).unwrap();
        let output = dir.run(&["annotate", "g.txt"]);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
        let text = stdout(&output);
        let annotated: Record = text.parse().unwrap();
        assert_eq!(annotated.result, record.result);
        let json = dir.json(&["annotate", "g.txt", "--json"], 0);
        let moves = json["moves"].as_array().unwrap();
        assert_eq!(moves.len(), record.moves.len());
        for (index, position) in record.positions().iter().enumerate().take(record.moves.len()) {
            let mv = record.moves[index].mv;
            let before = value(&board, position, &mut memo);
            let mut outcomes = HashMap::new();
            for mv in position.moves(&board) {
                outcomes.insert(mv, !value(&board, &position.play(&board, mv), &mut memo));
            }
            let wins = outcomes.values().filter(|&&outcome| outcome == Outcome::Win).count();
            let expected = match (before, outcomes[&mv]) {
                (Outcome::Win, Outcome::Loss) => Some(Mark::Mistake),
                (Outcome::Win, _) if wins == 1 => Some(Mark::Only),
                _ if outcomes.len() == 1 => Some(Mark::Only),
                _ => None,
            };
            assert_eq!(annotated.moves[index].mark, expected, "ply {}: {text}", index + 1);
            let object = &moves[index];
            let mark = expected.map(|mark| mark.symbol().to_string());
            assert_eq!(object["mark"].as_str(), mark.as_deref());
            let to_move = position.to_move();
            let name = |outcome| if outcome == Outcome::Win { to_move } else { !to_move }.name();
            assert_eq!(object["before"], name(before));
            assert_eq!(object["after"], name(outcomes[&mv]));
            let better = object["better"].as_array().map_or(0, Vec::len);
            assert_eq!(better, if expected == Some(Mark::Mistake) { wins } else { 0 });
            match expected {
                Some(Mark::Mistake) => seen[0] += 1,
                Some(_) => seen[1] += 1,
                None => seen[2] += 1,
            }
        }
        let count = |side: &str, key: &str| json["summary"][side][key].as_u64().unwrap() as usize;
        assert_eq!(count("black", "moves") + count("white", "moves"), record.moves.len());
        let mistakes = moves.iter().filter(|object| object["mark"] == "?").count();
        assert_eq!(count("black", "mistakes") + count("white", "mistakes"), mistakes);
        let remark = format!(
            "# Black: moves {}, gave a won game away (?) {}, ",
            count("black", "moves"),
            count("black", "mistakes")
        );
        assert!(text.contains(&remark), "{text}");
        // Existing annotations are replaced.
        fs::write(dir.path("again.txt"), &text).unwrap();
        assert_eq!(stdout(&dir.run(&["annotate", "again.txt"])), text);
    }
    assert!(seen.iter().all(|&count| count > 0), "every kind of move: {seen:?}");
}

#[test]
fn human_comments_stay_and_marks_are_replaced() {
    let dir = TestDir::new();
    let game = "Board: 3x3\nEvent: a test\n\n1. b2~ {centre} {before: dawn} c2\n";
    fs::write(dir.path("g.txt"), game).unwrap();
    let output = dir.run(&["annotate", "g.txt", "--all"]);
    let record: Record = stdout(&output).parse().unwrap();
    assert_eq!(record.others, [("Event".to_owned(), "a test".to_owned())]);
    let comments = &record.moves[0].comments;
    assert_eq!(comments[..2], ["centre", "before: dawn"]);
    assert!(comments[2].starts_with("before: White wins, after: White wins"), "{comments:?}");
    assert_eq!(comments.len(), 3);
    assert_ne!(record.moves[0].mark, Some(Mark::Unknown));
    // Without --all, a move that is neither a mistake nor an only move gets no comment.
    let record: Record = stdout(&dir.run(&["annotate", "g.txt"])).parse().unwrap();
    assert_eq!(record.moves[0].comments, comments[..2]);
}

#[test]
fn records_of_other_programs_are_annotated() {
    let dir = TestDir::new();
    let moves = "A1 B1 A3–A1 D1–B1 A1–C1 C2–A2 B4–B2 A2–C2 D4–B4 D3–B3 C1–C3 A4–C4 C3–A3";
    let numbered = (1..).zip(moves.split(' ')).map(|(ply, mv)| format!("{ply}. {mv}"));
    let moves = numbered.collect::<Vec<_>>().join(" ");
    fs::write(dir.path("g.txt"), format!("Board: 4x4\nResult: 0-1\n\n{moves}\n")).unwrap();
    let output = dir.run(&["annotate", "g.txt"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("Board: 4x4\nResult: black\n\n1. a4 b4 2. a2-a4! {"), "{text}");
    assert_eq!(stdout(&dir.run(&["annotate", "g.txt", "--flip-ranks"])), text);
    let shown = dir.run(&["analyse", "--game", "g.txt", "--flip-ranks"]);
    assert!(stdout(&shown).contains("White cannot move. Black has won."), "{}", stdout(&shown));
    // The orientation of a 3x3 record cannot be detected, so only the flag flips it.
    fs::write(dir.path("g.txt"), "Board: 3x3\n\n1. a1\n").unwrap();
    assert!(stdout(&dir.run(&["annotate", "g.txt"])).contains("1. a1"));
    assert!(stdout(&dir.run(&["annotate", "g.txt", "--flip-ranks"])).contains("1. a3"));
    let output = dir.run(&["analyse", "3x3", "--flip-ranks"]);
    assert_eq!(code(&output), 2, "the flag requires --game");
}

#[test]
fn variations_are_skipped_and_a_board_may_be_given() {
    let dir = TestDir::new();
    let varied = include_str!("../data/record_variation.txt");
    fs::write(dir.path("g.txt"), varied).unwrap();
    let args = ["--json", "--time", "1ms", "--memory", "16MiB"];
    let moves = |command: &[&str]| {
        let json = dir.json(&[command, &args].concat(), 3);
        let moves = json["moves"].as_array().expect("a list").clone();
        moves.iter().map(|mv| mv["move"].as_str().expect("a text").to_owned()).collect::<Vec<_>>()
    };
    let expected = ["d5", "e5", "b5-d5", "g5-c5"];
    assert_eq!(moves(&["annotate", "g.txt"]), expected);
    let (_, bare) = varied.split_once("\n\n").expect("headers");
    fs::write(dir.path("bare.txt"), bare).unwrap();
    assert_eq!(moves(&["annotate", "bare.txt", "--board", "8x8"]), expected);
    let shown = dir.run(&["analyse", "8x8", "--game", "bare.txt", "--time", "1ms"]);
    assert_eq!(code(&shown), 0, "{}", stderr(&shown));
    for (command, reason) in [
        (&["annotate", "bare.txt"][..], "name the board in the command: annotate --board 6x6"),
        (&["annotate", "g.txt", "--board", "6x6"], "8x8"),
        (&["analyse", "--game", "bare.txt"], "the board is missing"),
    ] {
        let output = dir.run(command);
        assert_eq!(code(&output), 2, "{command:?}");
        assert!(stderr(&output).contains(reason), "{command:?}: {}", stderr(&output));
    }
}

#[test]
fn undecided_moves_are_marked_and_set_the_exit_code() {
    let dir = TestDir::new();
    fs::write(dir.path("g.txt"), "Board: 8x8\n\n1. d5 d4\n").unwrap();
    let args = ["annotate", "g.txt", "--time", "50ms", "--memory", "16MiB"];
    let all = stdout(&dir.run(&[&args[..], &["--all"]].concat()));
    assert!(all.contains("1. d5~ {before: unknown, after: unknown} 1... d4~ {"), "{all}");
    let output = dir.run(&args);
    assert_eq!(code(&output), 3);
    let text = stdout(&output);
    assert!(text.contains("1. d5~ d4~\n"), "{text}");
    assert!(text.contains("# Black: moves 1, ") && text.contains("not decided (~) 1\n"), "{text}");
    let json = dir.json(&[&args[..], &["--json"]].concat(), 3);
    assert_eq!(json["moves"][0]["after"], "unknown");
    assert_eq!(json["summary"]["white"]["unknown"], 1);
}

#[test]
fn malformed_records_are_rejected() {
    let dir = TestDir::new();
    for (game, part) in [
        (&b"Board: 5x5\n\n1. c3 c3\n"[..], "g.txt: line 3, character 7: \"c3\": c3 is not legal"),
        (b"", "g.txt: line 1, character 1: the board is missing"),
        (b"Board: 5x5\nBlack: \xff\n", "g.txt: line 2, character 8: the text is not UTF-8"),
        (&[b'#'; (1 << 20) + 1], "g.txt has more than 1 MiB and is not a game record"),
    ] {
        fs::write(dir.path("g.txt"), game).unwrap();
        let output = dir.run(&["annotate", "g.txt"]);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    let output = dir.run(&["annotate", "none.txt"]);
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).contains("none.txt"), "{}", stderr(&output));
}

#[test]
fn human_notes_stay_and_old_annotations_are_replaced() {
    let dir = TestDir::new();
    let notes = ["{before: White wins by my reckoning}", "{before: dinner, after: White wins}"];
    let text = format!(
        "Board: 4x4\n\n1. a4 {} b4 {} {{before: Black wins, after: unknown; better: a4 b3}}\n\
         2. a2-a4 {{before: unknown, after: Black wins; the only move}}\n",
        notes[0], notes[1]
    );
    fs::write(dir.path("g.txt"), text).unwrap();
    let annotated = stdout(&dir.run(&["annotate", "g.txt"])).replace('\n', " ");
    for note in notes {
        assert!(annotated.contains(note), "{annotated}");
    }
    for gone in ["better", "unknown", "Black wins"] {
        assert!(!annotated.contains(gone), "{annotated}");
    }
    fs::write(dir.path("h.txt"), stdout(&dir.run(&["annotate", "g.txt"]))).unwrap();
    assert_eq!(stdout(&dir.run(&["annotate", "h.txt"])).replace('\n', " "), annotated);
}
