//! `--phase jump`: positions with at most one empty square in the jumping phase.

use super::common::{Place, code, konane, stderr, stdout};

/// Black jumps into the gap and wins, at once and by any algorithm.
#[test]
fn one_gap_can_be_meant_as_a_position_of_the_jumping_phase() {
    let place = Place::new();
    let line = ["solve", "1x3", "--position", "1ox b"];
    let output = konane(&line);
    assert_eq!(code(&output), 2);
    let text = stderr(&output);
    assert!(text.contains("only a1 is empty") && text.contains("--phase jump"), "{text}");
    for algorithm in ["dfpn", "pns", "pn2", "ab", "pns-pdfpn"] {
        let flags = ["--phase", "jump", "--algo", algorithm, "--lines", "--json"];
        let found = place.json(&[&line[..], &flags].concat(), 0);
        assert_eq!((&found["to_move"], &found["best_move"]), (&"black".into(), &"c1-a1".into()));
        assert_eq!(found["line"], serde_json::json!(["c1-a1"]), "{algorithm}");
        assert_eq!(found["position"], "1ox b");
    }
    // By the ordinary rules White removes b1, and Black has lost; in the jumping phase White cannot move.
    let white = ["1x3", "--position", "1ox w"];
    let best = |flags: &[&str]| {
        place.json(&[&["solve"][..], &white, flags, &["--json"]].concat(), 0)["best_move"].clone()
    };
    assert_eq!(best(&[]), "b1");
    assert_eq!(best(&["--phase", "auto"]), "b1");
    assert!(best(&["--phase", "jump"]).is_null());
}

#[test]
fn every_subcommand_with_a_position_takes_a_phase() {
    let place = Place::new();
    let position = ["--position", "1oxox b", "--phase", "jump"];
    let perft = place.json(&[&["perft", "1x5", "3"][..], &position, &["--json"]].concat(), 0);
    // c1-a1; no white stone has a neighbour to jump over then, and Black has won.
    assert_eq!(perft["nodes"], serde_json::json!([1, 0, 0]));
    let analysis = place.run(&[&["analyse", "1x5"][..], &position, &["--json"]].concat());
    let text = stdout(&analysis);
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["phase"], "jump");
    assert_eq!(first["moves"][0]["move"], "c1-a1");
    let play = [&["play", "1x5"][..], &position, &["--side", "none"]].concat();
    let played = place.run(&play);
    assert_eq!(code(&played), 0, "{}", stderr(&played));
    assert!(stdout(&played).contains("c1-a1"), "{}", stdout(&played));
    let draw = [&["draw", "1x5"][..], &position, &["--moves", "c1-a1"]].concat();
    assert!(stdout(&place.run(&draw)).starts_with("<svg"));
    // A phase is that of a position.
    for verb in ["solve", "analyse", "play", "draw", "probe"] {
        let output = place.run(&[verb, "1x5", "--phase", "jump"]);
        assert_eq!(code(&output), 2, "{verb}");
        assert!(stderr(&output).contains("--position"), "{verb}: {}", stderr(&output));
    }
}

#[test]
fn databases_proofs_and_checkpoints_are_kept_apart() {
    let place = Place::new();
    assert_eq!(code(&place.run(&["builddb", "3x3", "--quiet"])), 0);
    let early = ["3x3", "--position", "1ox/oxo/xox w", "--phase", "jump"];
    let with = |verb: &str, flags: &[&str]| place.run(&[&[verb][..], &early, flags].concat());

    let probed = with("probe", &[]);
    assert_eq!(code(&probed), 2);
    assert!(stderr(&probed).contains("1ox/oxo/xox w"), "{}", stderr(&probed));
    // Lines of input are read in the same phase, and those that the database has are answered.
    let lines = "1ox/oxo/xox b\n1ox/o1o/xox b\n";
    let flags = ["probe", "3x3", "--position", "-", "--phase", "jump"];
    let probed = place.with_input(&flags, lines);
    assert_eq!(code(&probed), 2);
    assert!(stdout(&probed).starts_with("1ox/o1o/xox b: "), "{}", stdout(&probed));
    assert!(stderr(&probed).contains("line 1: "), "{}", stderr(&probed));

    // White has no jump and has lost, whatever the ordinary position with these squares is worth.
    let solved = place.json(&[&["solve"][..], &early, &["--db", "db", "--json"]].concat(), 0);
    assert!(solved["best_move"].is_null());

    let black = ["3x3", "--position", "1ox/oxo/xox b", "--phase", "jump"];
    let proved = place.run(&[&["solve"][..], &black, &["--proof", "a.proof"]].concat());
    assert_eq!(code(&proved), 2);
    assert!(stderr(&proved).contains("without a proof"), "{}", stderr(&proved));
    assert!(!place.path("a.proof").exists());

    // Two positions with one code, each on its own kind of board.
    let squares = "1oxoxo/oxoxox/xoxoxo/oxoxox/xoxoxo/oxoxox";
    let saved = |side: &str, flags: &[&str]| {
        let position = format!("{squares} {side}");
        let search = ["solve", "6x6", "--position", &position, "--max-nodes", "2000"];
        let file = ["--threads", "1", "--checkpoint", "a.ckpt", "--quiet"];
        place.run(&[&search[..], &file, flags].concat())
    };
    assert_eq!(code(&saved("w", &[])), 3);
    let resumed = saved("b", &["--resume", "--phase", "jump"]);
    assert_eq!(code(&resumed), 2, "{}", stderr(&resumed));
    assert!(stderr(&resumed).contains("rules"), "{}", stderr(&resumed));
}

#[test]
fn records_have_the_phase() {
    let place = Place::new();
    let begin = ["analyse", "1x5", "--position", "1oxox b", "--phase", "jump", "--json"];
    let output = place.with_input(&begin, "c1-a1\nsave game.txt\n");
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let text = std::fs::read_to_string(place.path("game.txt")).unwrap();
    assert!(text.contains("Position: 1oxox b\nPhase: jump\n"), "{text}");
    let judged = place.json(&["annotate", "game.txt", "--json"], 0);
    assert_eq!(judged["moves"][0]["move"], "c1-a1");
    let again = place.run(&["analyse", "--game", "game.txt", "--json"]);
    assert!(stdout(&again).contains("\"position\":\"x2ox w"), "{}", stdout(&again));

    std::fs::write(place.path("alone.txt"), "Board: 1x5\nPhase: jump\n\n").unwrap();
    let refused = place.run(&["annotate", "alone.txt"]);
    assert!(stderr(&refused).contains("line 2"), "{}", stderr(&refused));
    std::fs::write(place.path("other.txt"), "Board: 1x5\nPosition: 1oxox b\nPhase: end\n\n")
        .unwrap();
    let refused = place.run(&["annotate", "other.txt"]);
    assert!(stderr(&refused).contains("auto or jump"), "{}", stderr(&refused));
}

/// `threads` are those that searched: PN² has no more workers than there are cores.
#[test]
fn threads_are_those_that_searched() {
    let place = Place::new();
    let cores = std::thread::available_parallelism().unwrap().get();
    let (most, requested) = (cores.to_string(), (cores + 1).to_string());
    let line = ["solve", "5x6", "--algo", "pn2", "--memory", "64MiB", "--threads"];
    let found = place.json(&[&line[..], &[&requested, "--json"]].concat(), 0);
    assert_eq!(found["threads"].to_string(), most);
    let text = stdout(&place.run(&[&line[..], &[&requested]].concat()));
    let noun = if cores == 1 { "thread" } else { "threads" };
    assert!(text.contains(&format!("tuned, {most} {noun} ({requested} requested)\n")), "{text}");
    let text = stdout(&place.run(&["solve", "5x6", "--memory", "64MiB", "--threads", "2"]));
    assert!(text.contains("tuned, 2 threads\n"), "{text}");
}

#[test]
fn algorithms_for_several_threads_are_all_named() {
    for algorithm in ["pns", "ab"] {
        let output = konane(&["solve", "4x4", "--algo", algorithm, "--threads", "4"]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("pn2, dfpn or pns-pdfpn"), "{}", stderr(&output));
    }
}
