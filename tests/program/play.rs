//! `konane play` with commands from a pipe: games against proofs, databases and the search.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use konane::proof::{ProofError, ProofHeader, ProofStrategy, ProofWriter};
use konane::record::Record;
use konane::{Position, notation};
use proptest::prelude::*;

use super::common::{TestDir, code, stderr, stdout};
use super::proof_samples::{board, bytes_of, proof, random_position};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 20 } else { 200 }))]

    /// The winner has an answer to every move of the loser until the game ends.
    #[test]
    fn the_winner_of_a_proof_wins_every_game(
        size in prop::sample::select(vec!["5x5", "4x6", "5x6", "2x14", "1x20"]),
        bits: u64,
        thinning: u64,
        white: bool,
        choices in prop::collection::vec(any::<u64>(), 40),
    ) {
        let board = board(size);
        let found = proof(&board, &random_position(&board, bits, thinning, white));
        let dir = TestDir::new();
        let strategy = written_strategy(&dir, &found.header, &found.certificate.codes);
        let mut position = strategy.root();
        for choice in choices {
            let moves = position.moves(&board);
            let mv = if position.to_move() == strategy.winner() {
                strategy.answer(&position).unwrap().expect("an answer")
            } else if moves.is_empty() {
                break;
            } else {
                prop_assert!(strategy.is_lost(&position).unwrap());
                moves[(choice % moves.len() as u64) as usize]
            };
            position = position.play(&board, mv);
        }
        prop_assert!(position.moves(&board).is_empty());
        prop_assert_eq!(position.to_move(), !strategy.winner());
    }
}

#[test]
fn a_strategy_is_read_from_a_file() {
    let dir = TestDir::new();
    let board = board("5x5");
    let start = Position::start(&board);
    let found = proof(&board, &start);
    let strategy = written_strategy(&dir, &found.header, &found.certificate.codes);
    assert_eq!(strategy.root(), start);
    assert_eq!(strategy.winner().name(), "black");
    assert_eq!(strategy.positions(), found.header.positions);
    assert!(!strategy.is_lost(&start).unwrap());
    let after = start.play(&board, strategy.answer(&start).unwrap().unwrap());
    assert!(strategy.is_lost(&after).unwrap());
}

/// Writes a proof to a file and opens it.
fn written_strategy(dir: &TestDir, header: &ProofHeader, codes: &[u64]) -> ProofStrategy {
    let path = dir.path("a.proof");
    ProofWriter::create(&path).unwrap().finish(header, codes).unwrap();
    ProofStrategy::open(&path).unwrap()
}

/// Look-ups of positions in every chunk, and of others, agree with the list of all codes, also on
/// several threads.
#[test]
fn look_ups_agree_with_the_list_of_codes() {
    let dir = TestDir::new();
    let board = board("5x6");
    let start = Position::start(&board);
    let found = proof(&board, &start);
    let header = ProofHeader { chunk_codes: 7, ..found.header };
    let codes = &found.certificate.codes;
    fs::write(dir.path("a.proof"), bytes_of(&header, codes)).unwrap();
    let strategy = ProofStrategy::open(&dir.path("a.proof")).unwrap();
    let ask = || {
        for &code in codes {
            let position = Position::from_code(&board, code);
            assert!(strategy.is_lost(&position).unwrap());
            for mv in position.moves(&board) {
                let after = position.play(&board, mv);
                let expected = after.moves(&board).is_empty()
                    || codes.binary_search(&after.code(&board)).is_ok();
                assert_eq!(strategy.is_lost(&after).unwrap(), expected);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(ask);
        }
    });
}

/// A damaged chunk is an error only if it is needed.
#[test]
fn a_damaged_chunk_is_an_error() {
    let dir = TestDir::new();
    let board = board("5x6");
    let found = proof(&board, &Position::start(&board));
    let codes = &found.certificate.codes;
    let header = ProofHeader { chunk_codes: codes.len() as u32 / 2, ..found.header };
    let whole = bytes_of(&header, codes);
    let path = dir.path("a.proof");
    let positions = |codes: &[u64]| -> Vec<Position> {
        codes.iter().map(|&code| Position::from_code(&board, code)).collect()
    };
    let (first, rest) = codes.split_at(codes.len() / 2);
    // Directly after the header, in the first chunk.
    let mut bytes = whole.clone();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    let strategy = ProofStrategy::open(&path).unwrap();
    for position in positions(first) {
        assert!(matches!(strategy.is_lost(&position), Err(ProofError::Damaged { .. })));
    }
    for position in positions(rest) {
        assert!(strategy.is_lost(&position).unwrap());
    }
    // A file that is truncated while it is open.
    fs::write(&path, &whole).unwrap();
    let strategy = ProofStrategy::open(&path).unwrap();
    fs::write(&path, &whole[..200]).unwrap();
    for position in positions(rest) {
        assert!(matches!(strategy.is_lost(&position), Err(ProofError::Io { .. })));
    }
}

/// Runs the program with lines on standard input.
fn play(dir: &TestDir, args: &[&str], lines: &str) -> Output {
    let args = [&["play"], args].concat();
    let mut child = dir.command(&args).stdin(Stdio::piped()).spawn().expect("the program runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // The program may end before it has read all lines.
    let _ = stdin.write_all(lines.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}

fn written(dir: &TestDir, args: &[&str]) {
    dir.json(&[&["solve"], args, &["--proof", "a.proof", "--json", "-q"]].concat(), 0);
}

/// Plays a game in which the person plays the first listed move at each turn.
fn first_moves(dir: &TestDir, args: &[&str], pick: &str) -> String {
    let mut lines = String::new();
    for _ in 0..40 {
        let output = play(dir, args, &(lines.clone() + "moves\n"));
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = stdout(&output);
        if text.contains(" won.\n") {
            return text;
        }
        let listed: Vec<&str> =
            text.lines().rev().take_while(|line| line.starts_with("  ")).collect();
        let mine = listed.iter().rev().find(|line| line.contains(pick)).or(listed.last());
        let mv = mine.expect("a move").split_whitespace().next().unwrap();
        lines += &format!("{mv}\n");
    }
    panic!("no end: {lines}");
}

#[test]
fn the_program_wins_by_a_proof_and_explains_its_moves() {
    let dir = TestDir::new();
    for size in ["5x5", "4x5", "5x6"] {
        written(&dir, &[size]);
        let text = first_moves(&dir, &[size, "--proof", "a.proof"], "");
        let winner = if size == "5x5" { "Black" } else { "White" };
        let loser = if winner == "Black" { "White" } else { "Black" };
        assert!(
            text.starts_with(&format!("{size}, you play {loser}. I win, by the proof a.proof, "))
        );
        assert!(text.ends_with(&format!("\n{loser} cannot move. I have won.\n")), "{text}");
        assert!(text.contains(" all have a reply in the proof.\n"), "{text}");
        assert!(text.contains(&format!("\n{winner} plays ")));
        assert!(text.contains(": the position after it is in the proof.\n"));
        assert!(text.contains(": it leaves no move.\n"), "{text}");
        assert!(!text.contains("nothing"), "every move listed has an answer");
    }
}

#[test]
fn with_a_database_the_program_plays_perfectly_and_names_the_winner() {
    let dir = TestDir::new();
    dir.json(&["builddb", "4x5", "--json", "--quiet"], 0);
    // White wins 4x5, so the person loses as Black and wins as White.
    let text = first_moves(&dir, &["4x5", "--db", "db", "--side", "black"], "");
    assert!(text.starts_with("4x5, you play Black. I win, by the database db"), "{text}");
    assert!(text.contains(" moves all lose.\n") && text.ends_with("I have won.\n"), "{text}");
    // By default, the person has the side that can win.
    let args = ["4x5", "--db", "db"];
    let text = first_moves(&dir, &args, " wins");
    assert!(text.starts_with("4x5, you play White. You can win, by the database"), "{text}");
    assert!(text.contains("You are winning: ") && text.contains("all moves lose, but"), "{text}");
    assert!(text.ends_with("Black cannot move. You have won.\n"), "{text}");
    // A person who makes a mistake loses.
    let text = first_moves(&dir, &args, " loses");
    assert!(text.ends_with("White cannot move. I have won.\n"), "{text}");
    assert!(text.contains(": it wins."), "{text}");
}

#[test]
fn commands_moves_and_invalid_lines() {
    let dir = TestDir::new();
    written(&dir, &["4x5"]);
    let args = ["4x5", "--proof", "a.proof"];
    let output = play(&dir, &args, "help\n\n  moves  \nboard\nquit\na4\n");
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    for part in ["take back your last move", "answered by", "  xoxox/oxoxo/xoxox/oxoxo b\n"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(!text.contains("plays"), "quit ends the game: {text}");
    // After `undo` the position is the previous one.
    let output = play(&dir, &args, "a4\nundo\nboard\n");
    let text = stdout(&output);
    assert!(text.contains("White plays a3") || text.contains("White plays b4"), "{text}");
    assert!(text.ends_with("  xoxox/oxoxo/xoxox/oxoxo b\n"), "{text}");
    // Invalid lines in piped input change the exit code, and the game continues.
    let output = play(&dir, &args, "a1\nx9\n♟\na4\n");
    assert_eq!(code(&output), 2);
    let text = stdout(&output);
    assert!(text.contains("corner or the centre") && text.contains("no square x9"), "{text}");
    assert!(text.contains("White plays"), "{text}");
    for (line, part) in [("undo\n", "nothing to take back"), ("redo\n", "nothing to redo")] {
        let output = play(&dir, &args, line);
        assert_eq!(code(&output), 2, "{line}");
        assert!(stdout(&output).contains(part), "{line}: {}", stdout(&output));
    }
    // End of input ends the game.
    let output = play(&dir, &args, "");
    let note =
        "note: a.proof is trusted without verification: konane verify-proof a.proof verifies it\n";
    assert_eq!((code(&output), stderr(&output).as_str()), (0, note));
}

#[test]
fn a_game_can_start_at_any_position_of_a_proof() {
    let dir = TestDir::new();
    written(&dir, &["5x5"]);
    let board = board("5x5");
    let start = Position::start(&board);
    let strategy = ProofStrategy::open(&dir.path("a.proof")).unwrap();
    let mv = strategy.answer(&start).unwrap().unwrap();
    let first = mv.to_string();
    let output = play(&dir, &["5x5", "--proof", "a.proof", "--moves", &first], "");
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("White (o) to move. Your "), "{}", stdout(&output));
    // A position with the program to move, and a finished one.
    let second = start.play(&board, mv).moves(&board)[0];
    let moves = format!("{first} {second}");
    let output = play(&dir, &["5x5", "--proof", "a.proof", "--moves", &moves], "");
    assert!(stdout(&output).contains("Black plays"), "{}", stdout(&output));
    let output = play(&dir, &["5x5", "--proof", "a.proof", "--position", "5/5/5/5/5 w"], "");
    assert!(stdout(&output).ends_with("White cannot move. I have won.\n"));
    // The proof covers only one first move of the winner.
    let mut others = start.moves(&board).into_iter();
    let other = others.find(|&other| {
        let after = start.play(&board, other);
        !strategy.is_lost(&after).unwrap() && strategy.answer(&after).unwrap().is_none()
    });
    let other = other.expect("another first move").to_string();
    let output = play(&dir, &["5x5", "--proof", "a.proof", "--moves", &other], "");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("does not contain"), "{}", stderr(&output));
}

/// Outside the proof, the program plays by search and does not report an error in the proof.
#[test]
fn a_game_can_leave_a_proof_and_return() {
    let dir = TestDir::new();
    let begin = "c3 c4 c1-c3 a4-c4";
    written(&dir, &["5x5", "--moves", begin]);
    fs::write(dir.path("g.txt"), format!("Board: 5x5\n\n{begin}\n")).unwrap();
    let args = ["5x5", "--proof", "a.proof", "--moves", begin, "--time", "1m"];
    let (answered, searched) = ("the position after it is in the proof", ": it wins.");
    for (lines, expected) in [
        ("new\n", &[answered, searched][..]),
        ("load g.txt\nnew\n", &[answered, answered, searched]),
        // A move that does not lead to the root of the proof, then the one that does.
        ("undo\nmoves\na2-c2\n", &[answered, searched]),
        ("undo\na2-c2\nundo\na4-c4\n", &[answered, searched, answered]),
    ] {
        let output = play(&dir, &args, lines);
        assert_eq!(code(&output), 0, "{lines}: {}", stderr(&output));
        let text = stdout(&output);
        let moves: Vec<&str> =
            text.lines().filter(|line| line.starts_with("Black plays ")).collect();
        assert_eq!(moves.len(), expected.len(), "{lines}: {text}");
        for (line, why) in moves.iter().zip(expected) {
            assert!(line.contains(why), "{lines}: {text}");
        }
        assert!(text.contains(" moves all lose.\n") && !text.contains("no proof"), "{text}");
        assert_eq!(text.contains("  a2-c2   loses\n"), lines.contains("moves"), "{text}");
    }
    // A record that ends outside the proof is rejected, and the game continues.
    fs::write(dir.path("g.txt"), "Board: 5x5\n\na1 a2\n").unwrap();
    let output = play(&dir, &args, "load g.txt\nmoves\n");
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("does not contain ") && text.contains("answered by"), "{text}");
}

#[test]
fn invalid_usage_and_invalid_files() {
    let dir = TestDir::new();
    written(&dir, &["4x5"]);
    for (args, expected, part) in [
        (&["4x5", "--proof", "a.proof", "--db", "none"][..], 4, "none"),
        (&["4x5", "--db", "db", "--side", "red"], 2, "red"),
        (&["4x5", "--level", "0"], 2, "from 1 to 10"),
        (&["4x5", "--time", "soon"], 2, "--time"),
        (&["4x5", "--memory", "1KiB"], 2, "--memory"),
        (&["5x5", "--proof", "a.proof"], 2, "a.proof is for the 4x5 board, not for 5x5"),
        (&["4x5", "--proof", "a.proof", "--moves", "a1"], 2, "--moves"),
        (&["4x5", "--proof", "none.proof"], 4, "none.proof"),
        (&["4x5", "--db", "none"], 4, "none"),
    ] {
        let output = play(&dir, args, "");
        assert_eq!(code(&output), expected, "{args:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
        assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
    }
    let mut bytes = fs::read(dir.path("a.proof")).unwrap();
    bytes[90] ^= 1;
    fs::write(dir.path("a.proof"), bytes).unwrap();
    let output = play(&dir, &["4x5", "--proof", "a.proof"], "");
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).contains("damaged"));
}

#[test]
fn an_invalid_proof_is_detected() {
    let dir = TestDir::new();
    let board = board("4x5");
    let found = proof(&board, &Position::start(&board));
    let start = Position::start(&board).code(&board);
    let header = konane::proof::ProofHeader { positions: 1, ..found.header };
    let writer = ProofWriter::create(&dir.path("a.proof")).unwrap();
    writer.finish(&header, &[start]).unwrap();
    let output = play(&dir, &["4x5", "--proof", "a.proof"], "a4\n");
    assert!(
        stdout(&output).contains("have no reply: the proof is not valid"),
        "{}",
        stdout(&output)
    );
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).contains("verify-proof"), "{}", stderr(&output));
}

#[test]
fn without_files_the_search_plays_perfectly() {
    let dir = TestDir::new();
    let args = ["5x6", "--threads", "1", "--time", "1m", "--side", "black"];
    let text = first_moves(&dir, &args, "");
    assert!(text.starts_with("5x6, you play Black. I win, by search.\n"), "{text}");
    assert!(text.contains(" moves all lose.\n"), "{text}");
    assert!(text.ends_with("\nBlack cannot move. I have won.\n"), "{text}");
    assert!(!text.contains("not know"), "{text}");
    let args = ["5x6", "--threads", "1", "--time", "1m"];
    // A person on the winning side wins with the moves that the program calls winning.
    let text = first_moves(&dir, &args, " wins");
    assert!(text.starts_with("5x6, you play White. You can win, by search.\n"), "{text}");
    assert!(text.contains("all moves lose"), "{text}");
    assert!(text.ends_with("\nBlack cannot move. You have won.\n"), "{text}");
}

/// Solves a position by plain recursion.
fn wins(board: &konane::Board, position: &Position, memo: &mut HashMap<Position, bool>) -> bool {
    if let Some(&known) = memo.get(position) {
        return known;
    }
    let mut moves = position.moves(board).into_iter();
    let won = moves.any(|mv| !wins(board, &position.play(board, mv), memo));
    memo.insert(*position, won);
    won
}

#[test]
fn listed_moves_agree_with_plain_recursion() {
    let dir = TestDir::new();
    let board = board("4x4");
    let mut memo = HashMap::new();
    for moves in ["", "a4", "b3 b4", "c2 c3", "a4 a3 c4-a4"] {
        let position = notation::parse_moves(&board, moves).unwrap();
        let side = position.to_move().name();
        let args = ["4x4", "--moves", moves, "--side", side];
        let text = stdout(&play(&dir, &args, "moves\n"));
        let listed = text.lines().rev().take_while(|line| line.starts_with("  ")).count();
        assert_eq!(listed, position.count_moves(&board) as usize, "{text}");
        for mv in position.moves(&board) {
            let mv_text = mv.to_string();
            let won = !wins(&board, &position.play(&board, mv), &mut memo);
            let expected = format!("  {mv_text:<8}{}\n", if won { "wins" } else { "loses" });
            assert!(text.contains(&expected), "{moves}: {expected:?} in {text}");
        }
    }
}

/// The numbers of winning and undecided moves in the sentence about the position are those of the list.
#[test]
fn the_sentence_about_a_position_agrees_with_its_list_of_moves() {
    let dir = TestDir::new();
    for board in ["5x5", "5x6", "6x6", "6x7", "8x8"] {
        let args = [board, "--threads", "1", "--time", "100ms", "--memory", "16MiB"];
        let text = stdout(&play(&dir, &args, "moves\n"));
        let (shown, listed) = text.split_once(") to move. ").expect("a sentence");
        assert!(!shown.contains("I win"), "{text}");
        let (sentence, list) = listed.split_once('\n').expect("a list");
        let count = |end: &str| list.lines().filter(|line| line.contains(end)).count();
        let (won, lost, open) = (count(" wins"), count(" loses"), count(" unknown"));
        let wins = if won == 1 { "1 of your" } else { &format!("{won} of your") };
        let all = won + lost + open;
        let is_right = match sentence {
            _ if sentence.starts_with("The winner is not known yet.") => (won, lost) == (0, 0),
            _ if sentence.starts_with("The winner is not known yet: ") => {
                won == 0 && sentence.contains(&format!("{lost} of your {all} moves lose"))
            }
            _ if sentence.contains("winning move is not known") => won == 0,
            _ if sentence.contains(" all lose") => lost == all,
            _ if sentence.contains(" your only move") => all == 1,
            _ => sentence.contains(wins),
        };
        assert!(is_right, "{text}");
        assert_eq!(open > 0, listed.contains("not decided yet; search [TIME]"), "{text}");
    }
}

#[test]
fn unproven_results_are_not_claimed() {
    let dir = TestDir::new();
    let args = ["8x8", "--time", "50ms", "--memory", "16MiB"];
    let output = play(&dir, &args, "moves\nhint\nsearch 50ms\n");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("8x8, you play Black. The winner is not known yet.\n"), "{text}");
    assert!(text.contains("Black (x) to move. The winner is not known yet.\n"), "{text}");
    assert_eq!(text.matches("  unknown\n").count(), 4, "{text}");
    assert!(text.contains(" is the best so far; the winner is not known yet.\n"), "{text}");
    assert!(text.contains("Not decided yet: "), "{text}");
    let text = text.replace("winner is not known", "");
    for claim in ["win", "lose"] {
        assert!(!text.contains(claim), "{claim}: {text}");
    }
    // The program still makes a move.
    let output = play(&dir, &[&args[..], &["--side", "black"]].concat(), "a8\n");
    let text = stdout(&output);
    assert!(text.contains("White plays ") && text.contains(": the winner is not known"), "{text}");
}

#[test]
fn levels_are_weaker_and_are_described() {
    let dir = TestDir::new();
    let text = stdout(&play(&dir, &["8x8", "--level", "3", "--time", "10ms"], "a8\n"));
    assert!(text.contains(" On level 3 I search 64 nodes for a move.\n"), "{text}");
    assert!(text.contains("White plays "), "{text}");
    // If the program can win but may fail at this level, it does not claim to win.
    let text = stdout(&play(&dir, &["5x5", "--level", "1", "--side", "white"], ""));
    assert!(text.starts_with("5x5, you play White. I can win, by search. On level 1 I"), "{text}");
    // A game of the program against itself has legal moves and is not a perfect game.
    let text = stdout(&play(&dir, &["5x5", "--level", "1", "--side", "none"], "save g\n"));
    assert!(text.contains(" has won.\n"), "{text}");
    let record: Record = fs::read_to_string(dir.path("g")).unwrap().parse().unwrap();
    assert_eq!(record.black.as_deref(), Some("konane, level 1"));
    assert!(record.result.is_some() && record.moves.len() > 4);
}

#[test]
fn games_with_two_people_and_with_none() {
    let dir = TestDir::new();
    let output = play(&dir, &["3x3", "--side", "both"], "b2\nundo\nredo\nc2\nundo\n");
    let text = stdout(&output);
    assert!(text.starts_with("3x3, two people play. "), "{text}");
    assert!(!text.contains(" plays ") && !text.contains("Your") && !text.contains("I "), "{text}");
    assert_eq!(text.matches("Move taken back.").count(), 2, "{text}");
    assert!(text.ends_with("White (o) to move. White wins in 1 ply: all 4 moves win.\n"), "{text}");
    let output = play(&dir, &["4x5", "--side", "none"], "");
    let text = stdout(&output);
    assert!(text.starts_with("4x5, the program plays both sides. White can win, by se"), "{text}");
    assert!(text.ends_with("\nBlack cannot move. White has won.\n"), "{text}");
    assert_eq!(code(&output), 0);
}

/// Sends the commands that the help lists, in the listed order, with their arguments.
#[test]
fn every_command_works_in_every_interactive_subcommand() {
    for (conversation, mv) in [
        (&["analyse", "5x5"][..], "c3"),
        (&["play", "5x5", "--side", "both"], "c3"),
        (&["sprouts", "play", "0*3", "--side", "first"], "0.1a1a"),
    ] {
        let dir = TestDir::new();
        let output = dir.with_input(conversation, "help\n");
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = stdout(&output);
        let (_, help) = text.split_once("  move X").expect("the help");
        let mut lines = String::new();
        for line in format!("  move X{help}").lines() {
            let (form, _) = line.trim_start().split_once("  ").expect("a form and its meaning");
            for name in form.split(' ').map(|word| word.trim_end_matches(',')) {
                lines += &match name {
                    "[TIME]" => "search 10ms\n".to_owned(),
                    "[TEXT]" => "new 0*3\nmove 0.1a1a\n".to_owned(),
                    "X" | "FILE" => String::new(),
                    "move" => format!("move {mv}\n"),
                    "save" | "load" => format!("{name} a game\n"),
                    "draw" => "draw a.svg\n".to_owned(),
                    "quit" | "exit" | "q" => String::new(),
                    name => format!("{name}\n"),
                };
            }
        }
        let output = dir.with_input(conversation, &(lines.clone() + "quit\nnonsense\n"));
        assert_eq!(code(&output), 0, "{lines}{}", stdout(&output));
        assert!(stdout(&output).ends_with("quit\n") && lines.contains("?\n"), "{lines}");
        assert!(fs::read_to_string(dir.path("a.svg")).unwrap().starts_with("<svg"));
        assert!(dir.path("a game").exists(), "{lines}");
    }
}

#[test]
fn games_are_saved_and_resumed() {
    let dir = TestDir::new();
    let args = ["5x5", "--side", "white", "--moves", "c3"];
    let output = play(&dir, &args, "c4\nsave game.txt\ndraw game.svg\nposition\n");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = fs::read_to_string(dir.path("game.txt")).unwrap();
    let record: Record = text.parse().unwrap();
    assert_eq!((record.black.as_deref(), record.white.as_deref()), (Some("konane"), None));
    assert_eq!(record.moves.len(), 3, "{text}");
    assert!(fs::read_to_string(dir.path("game.svg")).unwrap().starts_with("<svg"));
    let last = stdout(&output).lines().last().map(str::to_owned);
    let loaded = play(&dir, &args, "load game.txt\nposition\nnew\nposition\n");
    let shown = stdout(&loaded);
    assert!(shown.contains(&last.expect("the position")), "{shown}");
    assert!(shown.contains("A new game.\n"), "{shown}");
    // A player has resigned. The result is kept until the game continues with other moves.
    fs::write(dir.path("won.txt"), "Board: 5x5\nResult: white\n\n1. c3 c4\n").unwrap();
    let lines = "load won.txt\nsave same.txt\nundo\nsave other.txt\nredo\nsave again.txt\n";
    let output = play(&dir, &["5x5", "--side", "both"], lines);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    for (name, is_won, moves) in [("same", true, 2), ("other", false, 1), ("again", true, 2)] {
        let text = fs::read_to_string(dir.path(&format!("{name}.txt"))).unwrap();
        let record: Record = text.parse().unwrap();
        assert_eq!((record.result.is_some(), record.moves.len()), (is_won, moves), "{text}");
    }
    // Invalid files and games on other boards do not change the current game.
    fs::write(dir.path("bad.txt"), "Board: 5x5\n\n1. c3 c3\n").unwrap();
    for (lines, expected, part) in [
        ("load none.txt\n", 4, "none.txt"),
        ("load bad.txt\n", 2, "bad.txt: line 3, character 7: \"c3\""),
        ("save no/where\n", 4, "no/where"),
        ("save\n", 2, "\"save\" needs an argument: save FILE"),
    ] {
        let output = play(&dir, &args, lines);
        assert_eq!(code(&output), expected, "{lines}");
        assert!(stdout(&output).contains(part), "{lines}: {}", stdout(&output));
    }
    let output = play(&dir, &["4x5"], "load game.txt\n");
    assert!(stdout(&output).contains("a game on the 5x5 board, not on 4x5"));
}
