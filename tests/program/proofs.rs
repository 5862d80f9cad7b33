//! Writing and checking proofs, exit codes, JSON, signals.

use std::fs;

use konane::Position;
use serde_json::Value;

use super::common::{Place, code, one_object, signal, stderr, stdout, wait_for, wait_for_work};
use super::proof_samples::{board, bytes_of, proof};

#[test]
fn proofs_of_boards_and_positions_are_written_and_valid() {
    let place = Place::new();
    let cases: &[&[&str]] = &[
        &["1x1"],
        &["3x3"],
        &["5x5"],
        &["5x6"],
        &["4x6", "--algo", "pn2"],
        &["4x6", "--algo", "pns", "--profile", "thesis"],
        &["4x5", "--algo", "ab"],
        &["5x5", "--moves", "c3"],
        &["5x5", "--moves", "c3 c2"],
        &["6x6", "--moves", "c4 c5 c2-c4 a5-c5", "--memory", "2MiB"],
        &["4x4", "--position", "xoxo/ox1x/x1xo/oxox b"],
        &["3x5", "--position", "xox1x/oxoxo/xoxo1 w"],
    ];
    for case in cases {
        let solve = [&["solve"], *case, &["--proof", "a.proof", "--json", "-q"]].concat();
        let solved = place.json(&solve, 0);
        let written = &solved["proof"];
        assert_eq!(written["file"], "a.proof");
        assert!(written["seconds"].as_f64().unwrap() >= 0.0 && written.get("reason").is_none());
        assert_eq!(written["bytes"], fs::metadata(place.path("a.proof")).unwrap().len());
        let checked = place.json(&["verify-proof", "a.proof", "--json"], 0);
        assert_eq!(checked["valid"], true, "{case:?}");
        assert_eq!(checked["board"], solved["board"]);
        assert_eq!(checked["root"], solved["position"]);
        assert_eq!(checked["winner"], solved["winner"]);
        for key in ["positions", "bytes"] {
            assert_eq!(checked[key], written[key], "{case:?} {key}");
        }
        assert_eq!(place.files(), ["a.proof"]);
    }
}

#[test]
fn the_text_says_what_was_written_and_checked() {
    let place = Place::new();
    let output = place.run(&["solve", "5x5", "--proof", "5x5.proof", "--quiet"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("\n  proof       5x5.proof, "), "{}", stdout(&output));
    for threads in ["1", "3"] {
        let output = place.run(&["verify-proof", "5x5.proof", "--threads", threads]);
        assert_eq!(code(&output), 0);
        let text = stdout(&output);
        let start = "5x5, Black wins xoxox/oxoxo/xoxox/oxoxo/xoxox b\n  valid       yes\n";
        assert!(text.starts_with(start), "{text}");
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn values_of_a_database_can_be_proven() {
    let place = Place::new();
    place.json(&["builddb", "4x5", "--json", "--quiet"], 0);
    let args = ["solve", "4x5", "--db", "db", "--proof", "a.proof", "--json"];
    let solved = place.json(&args, 0);
    assert!(solved["database_hits"].as_u64().unwrap() > 0);
    assert_eq!(place.json(&["verify-proof", "a.proof", "--json"], 0)["valid"], true);
    let args = ["solve", "5x5", "--db", "db", "--proof", "b.proof"];
    assert_eq!(code(&place.run(&args)), 4, "no database of this board");
    assert!(!place.path("b.proof").exists());
}

#[test]
fn no_result_leaves_no_file() {
    let place = Place::new();
    let args = ["solve", "8x8", "--max-nodes", "1000", "--proof", "a.proof", "--json"];
    let value = place.json(&args, 3);
    assert_eq!(value["proof"], Value::Null);
    assert!(value.as_object().unwrap().contains_key("proof"));
    assert!(place.files().is_empty());
    // What was there before stays.
    fs::write(place.path("a.proof"), "mine").unwrap();
    place.json(&args, 3);
    assert_eq!(fs::read_to_string(place.path("a.proof")).unwrap(), "mine");
    assert_eq!(place.files(), ["a.proof"]);
}

#[test]
fn a_file_that_cannot_be_written_is_found_out_before_the_search() {
    let place = Place::new();
    for (path, expected) in [("no/such/directory/a.proof", 4), (".", 2)] {
        // A search of 8x8 would not come to an end.
        let output = place.run(&["solve", "8x8", "--proof", path, "--json"]);
        assert_eq!(code(&output), expected);
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).contains(path), "{}", stderr(&output));
    }
}

#[test]
fn an_invalid_proof_exits_with_1_and_says_why() {
    let place = Place::new();
    let board = board("5x5");
    let found = proof(&board, &Position::start(&board));
    let mut codes = found.certificate.codes;
    codes.remove(codes.len() / 2);
    fs::write(place.path("a.proof"), bytes_of(&found.header, &codes)).unwrap();
    let value = place.json(&["verify-proof", "a.proof", "--json"], 1);
    assert_eq!(value["valid"], false);
    assert_eq!(value["board"], "5x5");
    let problem = value["problem"].as_str().unwrap();
    assert!(problem.contains("has no answer"), "{problem}");
    let output = place.run(&["verify-proof", "a.proof"]);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    assert!(text.contains("  valid       no\n  problem     in "), "{text}");
    assert!(text.contains(problem), "{text}");
    for threads in ["1", "2", "7"] {
        let value = place.json(&["verify-proof", "a.proof", "--json", "-t", threads], 1);
        assert_eq!(value["problem"], problem, "{threads} threads");
    }
}

/// An error, and as an object a verdict, if there is one.
fn refused(place: &Place, parts: &[&str], is_verdict: bool) {
    let output = place.run(&["verify-proof", "a.proof"]);
    assert_eq!(code(&output), 4, "{}", stdout(&output));
    assert_eq!(stdout(&output), "");
    for part in parts {
        assert!(stderr(&output).contains(part), "no {part:?} in {}", stderr(&output));
    }
    let output = place.run(&["verify-proof", "a.proof", "--json"]);
    assert_eq!(code(&output), 4);
    if is_verdict {
        let value = one_object(&stdout(&output));
        assert!(value["valid"] == false && value["problem"].is_string(), "{value}");
    } else {
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn files_that_are_missing_damaged_or_of_another_kind_exit_with_4() {
    let place = Place::new();
    // Of a file that is not there nothing is known, not even that it proves nothing.
    for args in [&["verify-proof", "a.proof"][..], &["verify-proof", "a.proof", "--json"]] {
        let output = place.run(args);
        assert_eq!((code(&output), stdout(&output).as_str()), (4, ""));
        let message = stderr(&output);
        assert!(message.contains("cannot open") && message.contains("a.proof"), "{message}");
    }
    let board = board("5x5");
    let found = proof(&board, &Position::start(&board));
    let bytes = bytes_of(&found.header, &found.certificate.codes);
    let write = |bytes: &[u8]| fs::write(place.path("a.proof"), bytes).unwrap();
    write(b"");
    refused(&place, &["not a Konane proof"], true);
    write(&bytes[..bytes.len() - 20]);
    refused(&place, &["damaged", "cut off"], true);
    let mut other = bytes.clone();
    other[100] ^= 1;
    write(&other);
    refused(&place, &["damaged", "chunk 0", "write the proof again"], true);
    let mut other = bytes.clone();
    other[8] = 9;
    write(&other);
    refused(&place, &["version 9", "version 1"], false);
    write(&bytes);
    assert_eq!(code(&place.run(&["verify-proof", "a.proof"])), 0);
}

#[test]
fn a_proof_that_does_not_fit_into_the_memory_is_not_judged() {
    let place = Place::new();
    let solve = ["solve", "4x4", "--proof", "a.proof", "--quiet"];
    assert_eq!(code(&place.run(&solve)), 0);
    let output = place.run(&["verify-proof", "a.proof", "--memory", "8", "--json"]);
    assert_eq!(code(&output), 3);
    let value = one_object(&stdout(&output));
    assert!(value["valid"].is_null() && value["positions"].is_u64(), "{value}");
    assert!(stderr(&output).contains("tip: --memory"), "{}", stderr(&output));
}

#[test]
fn bad_usage_exits_with_2() {
    let place = Place::new();
    for args in [
        &["verify-proof"][..],
        &["verify-proof", "a", "b"],
        &["verify-proof", "a", "--threads", "0"],
        &["verify-proof", "a", "--frob"],
        &["solve", "3x3", "--proof"],
    ] {
        let output = place.run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert_eq!(stdout(&output), "");
    }
    assert_eq!(code(&place.run(&["verify-proof", "--help"])), 0);
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_no_file() {
    let place = Place::new();
    let args = ["solve", "8x8", "--proof", "a.proof", "--json", "-m", "64MiB"];
    let child = place.command(&args).spawn().unwrap();
    let temporary = place.path("a.proof.tmp");
    wait_for(&temporary);
    wait_for_work(&child, std::time::Duration::from_millis(200));
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert!(stdout(&output).contains("\"proof\":null"));
    assert!(place.files().is_empty());
}
