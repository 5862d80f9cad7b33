//! Positions of the jumping phase that the standard rules do not have: with at most one empty square (`--phase jump`), and
//! with all stones on squares of the other colour.

use super::common::{TestDir, code, konane, stderr, stdout};

/// Black jumps into the gap and wins immediately, with every algorithm.
#[test]
fn one_empty_square_can_be_a_position_of_the_jumping_phase() {
    let dir = TestDir::new();
    let line = ["solve", "1x3", "--position", "1ox b"];
    let output = konane(&line);
    assert_eq!(code(&output), 2);
    let text = stderr(&output);
    assert!(text.contains("only a1 is empty") && text.contains("--phase jump"), "{text}");
    for algorithm in ["dfpn", "pns", "pn2", "ab", "pns-pdfpn"] {
        let flags = ["--phase", "jump", "--algo", algorithm, "--lines", "--json"];
        let found = dir.json(&[&line[..], &flags].concat(), 0);
        assert_eq!((&found["to_move"], &found["best_move"]), (&"black".into(), &"c1-a1".into()));
        assert_eq!(found["line"], serde_json::json!(["c1-a1"]), "{algorithm}");
        assert_eq!(found["position"], "1ox b jump");
    }
    // In the removal phase White removes b1, and Black has lost. In the jumping phase White cannot
    // move.
    let white = ["1x3", "--position", "1ox w"];
    let best = |flags: &[&str]| {
        dir.json(&[&["solve"][..], &white, flags, &["--json"]].concat(), 0)["best_move"].clone()
    };
    assert_eq!(best(&[]), "b1");
    assert_eq!(best(&["--phase", "auto"]), "b1");
    assert!(best(&["--phase", "jump"]).is_null());
    // The text of a position names the phase.
    let word = ["solve", "--position", "1ox b jump", "--json"];
    assert_eq!(dir.json(&word, 0)["best_move"], "c1-a1");
}

/// The board, the position as drawn, an accepted position with the same moves, and the value of both.
const STRIPS: &str = include_str!("../data/strips.csv");

#[test]
fn stones_may_stand_on_squares_of_the_other_colour() {
    let dir = TestDir::new();
    let rows = STRIPS.lines().filter(|line| !line.starts_with('#'));
    for row in rows {
        let columns: Vec<&str> = row.split(',').collect();
        let [board, drawn, accepted, value] = columns[..] else { panic!("{row}") };
        let (same_board, accepted) = accepted
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(") "))
            .unwrap_or((board, accepted));
        for (board, text) in [(board, drawn), (same_board, accepted)] {
            for phase in ["auto", "jump"] {
                let position = [board, "--position", text, "--phase", phase, "--json"];
                let found = dir.json(&[&["value"][..], &position].concat(), 0);
                assert_eq!((&found["value"], &found["position"]), (&value.into(), &text.into()));
                let solved = dir.json(&[&["solve"][..], &position].concat(), 0);
                assert_eq!(
                    (&solved["winner"], &solved["position"]),
                    (&"white".into(), &text.into())
                );
                let analysis = dir.run(&[&["analyse"][..], &position].concat());
                assert!(
                    stdout(&analysis).contains("\"winner\":\"white\""),
                    "{}",
                    stdout(&analysis)
                );
            }
        }
    }
    let shown = dir.with_input(&["analyse", "1x6", "--position", "1xoxo1 b"], "save game.txt\n");
    assert!(stdout(&shown).contains("   1  . x o x o .\n"), "{}", stdout(&shown));
    assert!(stdout(&shown).contains("d1-f1"), "{}", stdout(&shown));
    let again = dir.with_input(&["analyse", "--game", "game.txt"], "position\n");
    assert!(stdout(&again).contains("1xoxo1 b\n"), "{}", stdout(&again));
    // A session of other rules does not load the game.
    let loaded = dir.with_input(&["analyse", "1x6", "--position", "1oxox1 b"], "load game.txt\n");
    let loaded = stdout(&loaded) + &stderr(&loaded);
    assert!(loaded.contains("has other rules"), "{loaded}");
    for (args, reason) in [
        (&["solve", "1x6", "--position", "1x1o2 b"][..], "and other stones do not"),
        (&["solve", "3x3", "--position", "oxo/xo1/oxo w"], "in the jumping phase only"),
        (&["solve", "3x3", "--position", "oxo/xo1/oxo w"], "--phase jump"),
        (&["probe", "1x6", "--position", "1xoxo1 b"], "databases do not contain \"1xoxo1 b\""),
        (&["solve", "1x6", "--position", "1xoxo1 b", "--proof", "a.proof"], "without a proof"),
    ] {
        let output = dir.run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(reason), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn diagrams_are_read_from_arguments_and_standard_input() {
    let dir = TestDir::new();
    let diagram = include_str!("../data/diagram.txt");
    let expected = "xoxo/oxox/xo1o/1xo1 b";
    let found = dir.json(&["solve", "--position", diagram, "--json"], 0);
    assert_eq!(found["position"], expected);
    let lines = format!("{diagram}{expected}\nxoxo\noxox\n\nxoxo b\n{diagram}");
    let output = dir.with_input(&["solve", "4x4", "-"], &lines);
    assert_eq!(code(&output), 2);
    let text = stdout(&output);
    let read = text.lines().map(|line| line.split(':').next().unwrap_or_default());
    assert_eq!(read.collect::<Vec<_>>(), [expected; 3]);
    let errors = stderr(&output);
    assert!(errors.contains("line 8: this position has 2 ranks"), "{errors}");
    assert!(errors.contains("line 9: this position has 1 rank"), "{errors}");
    assert_eq!(code(&dir.run(&["builddb", "3x3", "--quiet"])), 0);
    let probed = dir.with_input(&["probe", "3x3", "-"], "x o x\n. x o # a remark\nx . . w\n");
    assert!(stdout(&probed).starts_with("xox/1xo/x2 w: "), "{}", stdout(&probed));
}

#[test]
fn every_subcommand_with_a_position_takes_a_phase() {
    let dir = TestDir::new();
    let position = ["--position", "1oxox b", "--phase", "jump"];
    let perft = dir.json(&[&["perft", "1x5", "3"][..], &position, &["--json"]].concat(), 0);
    // After c1-a1 no white stone has a neighbour to jump over, so Black has won.
    assert_eq!(perft["nodes"], serde_json::json!([1, 0, 0]));
    let analysis = dir.run(&[&["analyse", "1x5"][..], &position, &["--json"]].concat());
    let text = stdout(&analysis);
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["phase"], "jump");
    assert_eq!(first["moves"][0]["move"], "c1-a1");
    let play = [&["play", "1x5"][..], &position, &["--side", "none"]].concat();
    let played = dir.run(&play);
    assert_eq!(code(&played), 0, "{}", stderr(&played));
    assert!(stdout(&played).contains("c1-a1"), "{}", stdout(&played));
    let draw = [&["draw", "1x5"][..], &position, &["--moves", "c1-a1"]].concat();
    assert!(stdout(&dir.run(&draw)).starts_with("<svg"));
    // Terms of a sum have the phase as well, and their errors name the term.
    let add = ["value", "--add", "1x5 1oxox", "--phase", "jump", "--json"];
    assert_eq!(dir.json(&add, 0)["position"], "1oxox b jump");
    for (term, reason) in [
        ("1x5", "missing"),
        ("9x9 9 b", "81 squares"),
        ("3x3 xox/o1o/xox", ": only b2 is empty"),
        ("3x3 xox/oxo/xox", "--phase jump"),
        ("{2|", "is not a game"),
    ] {
        let error = stderr(&dir.run(&["value", "--add", "*", "--add", term]));
        assert!(error.contains(&format!("--add {term:?}")) && error.contains(reason), "{error}");
    }
    // `--phase` requires `--position`.
    for subcommand in ["solve", "analyse", "play", "draw", "probe"] {
        let output = dir.run(&[subcommand, "1x5", "--phase", "jump"]);
        assert_eq!(code(&output), 2, "{subcommand}");
        assert!(stderr(&output).contains("--position"), "{subcommand}: {}", stderr(&output));
    }
}

#[test]
fn databases_proofs_and_checkpoints_distinguish_the_phase() {
    let dir = TestDir::new();
    assert_eq!(code(&dir.run(&["builddb", "3x3", "--quiet"])), 0);
    let early = ["3x3", "--position", "1ox/oxo/xox w", "--phase", "jump"];
    let with =
        |subcommand: &str, flags: &[&str]| dir.run(&[&[subcommand][..], &early, flags].concat());

    let probed = with("probe", &[]);
    assert_eq!(code(&probed), 2);
    assert!(stderr(&probed).contains("1ox/oxo/xox w"), "{}", stderr(&probed));
    // Input lines are read in the same phase. Those in the database are answered.
    let lines = "1ox/oxo/xox b\n1ox/o1o/xox b\n";
    let flags = ["probe", "3x3", "--position", "-", "--phase", "jump"];
    let probed = dir.with_input(&flags, lines);
    assert_eq!(code(&probed), 2);
    assert!(stdout(&probed).starts_with("1ox/o1o/xox b: "), "{}", stdout(&probed));
    assert!(stderr(&probed).contains("line 1: "), "{}", stderr(&probed));

    // White has no jump and has lost, regardless of the value of these squares in the removal
    // phase.
    let solved = dir.json(&[&["solve"][..], &early, &["--db", "db", "--json"]].concat(), 0);
    assert!(solved["best_move"].is_null());

    let black = ["3x3", "--position", "1ox/oxo/xox b", "--phase", "jump"];
    let proved = dir.run(&[&["solve"][..], &black, &["--proof", "a.proof"]].concat());
    assert_eq!(code(&proved), 2);
    assert!(stderr(&proved).contains("without a proof"), "{}", stderr(&proved));
    assert!(!dir.path("a.proof").exists());

    // Two positions with the same code but different rules.
    let squares = "1oxoxo/oxoxox/xoxoxo/oxoxox/xoxoxo/oxoxox";
    let saved = |side: &str, flags: &[&str]| {
        let position = format!("{squares} {side}");
        let search = ["solve", "6x6", "--position", &position, "--max-nodes", "2000"];
        let file = ["--threads", "1", "--checkpoint", "a.ckpt", "--quiet"];
        dir.run(&[&search[..], &file, flags].concat())
    };
    assert_eq!(code(&saved("w", &[])), 3);
    let resumed = saved("b", &["--resume", "--phase", "jump"]);
    assert_eq!(code(&resumed), 2, "{}", stderr(&resumed));
    assert!(stderr(&resumed).contains("rules"), "{}", stderr(&resumed));
}

#[test]
fn records_have_the_phase() {
    let dir = TestDir::new();
    let begin = ["analyse", "1x5", "--position", "1oxox b", "--phase", "jump", "--json"];
    let output = dir.with_input(&begin, "c1-a1\nsave game.txt\n");
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let text = std::fs::read_to_string(dir.path("game.txt")).unwrap();
    assert!(text.contains("Position: 1oxox b jump\n"), "{text}");
    // Older files have a header for the phase.
    let older = text.replace(" jump\n", "\nPhase: jump\n");
    std::fs::write(dir.path("older.txt"), older).unwrap();
    let [new, old] = ["game.txt", "older.txt"].map(|file| stdout(&dir.run(&["annotate", file])));
    assert_eq!(new, old);
    let judged = dir.json(&["annotate", "game.txt", "--json"], 0);
    assert_eq!(judged["moves"][0]["move"], "c1-a1");
    let again = dir.run(&["analyse", "--game", "game.txt", "--json"]);
    assert!(stdout(&again).contains("\"position\":\"x2ox w"), "{}", stdout(&again));

    std::fs::write(dir.path("alone.txt"), "Board: 1x5\nPhase: jump\n\n").unwrap();
    let rejected = dir.run(&["annotate", "alone.txt"]);
    assert!(stderr(&rejected).contains("line 2"), "{}", stderr(&rejected));
    std::fs::write(dir.path("other.txt"), "Board: 1x5\nPosition: 1oxox b\nPhase: end\n\n").unwrap();
    let rejected = dir.run(&["annotate", "other.txt"]);
    assert!(stderr(&rejected).contains("auto or jump"), "{}", stderr(&rejected));
}

/// `threads` is the number of threads used. PN² uses at most one worker per core.
#[test]
fn threads_is_the_number_used() {
    let dir = TestDir::new();
    let cores = std::thread::available_parallelism().unwrap().get();
    let (most, requested) = (cores.to_string(), (cores + 1).to_string());
    let line = ["solve", "5x6", "--algo", "pn2", "--memory", "64MiB", "--threads"];
    let found = dir.json(&[&line[..], &[&requested, "--json"]].concat(), 0);
    assert_eq!(found["threads"].to_string(), most);
    let text = stdout(&dir.run(&[&line[..], &[&requested]].concat()));
    let noun = if cores == 1 { "thread" } else { "threads" };
    assert!(text.contains(&format!("tuned, {most} {noun} ({requested} requested)\n")), "{text}");
    let text = stdout(&dir.run(&["solve", "5x6", "--memory", "64MiB", "--threads", "2"]));
    assert!(text.contains("tuned, 2 threads\n"), "{text}");
}

#[test]
fn the_error_lists_all_multithreaded_algorithms() {
    for algorithm in ["pns", "ab"] {
        let output = konane(&["solve", "4x4", "--algo", algorithm, "--threads", "4"]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("pn2, dfpn or pns-pdfpn"), "{}", stderr(&output));
    }
}
