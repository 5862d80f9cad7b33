//! Writing and checking proofs, exit codes, JSON, signals.

use std::fs;

use konane::Position;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::common::{TestDir, code, one_object, signal, stderr, stdout, wait_for, wait_for_work};
use super::proof_samples::{board, bytes_of, proof};

#[test]
fn proofs_of_boards_and_positions_are_written_and_valid() {
    let dir = TestDir::new();
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
        let solved = dir.json(&solve, 0);
        let written = &solved["proof"];
        assert_eq!(written["file"], "a.proof");
        assert!(written["seconds"].as_f64().unwrap() >= 0.0 && written.get("reason").is_none());
        assert_eq!(written["bytes"], fs::metadata(dir.path("a.proof")).unwrap().len());
        let checked = dir.json(&["verify-proof", "a.proof", "--json"], 0);
        assert_eq!(checked["valid"], true, "{case:?}");
        assert_eq!(checked["board"], solved["board"]);
        assert_eq!(checked["root"], solved["position"]);
        assert_eq!(checked["winner"], solved["winner"]);
        for key in ["positions", "bytes"] {
            assert_eq!(checked[key], written[key], "{case:?} {key}");
        }
        let bytes = fs::read(dir.path("a.proof")).unwrap();
        assert_eq!(checked["xxh128"], format!("{:032x}", xxh3_128(&bytes)));
        assert!(checked["answered"].is_u64());
        assert_eq!(dir.files(), ["a.proof"]);
    }
}

#[test]
fn the_text_describes_the_file_and_the_check() {
    let dir = TestDir::new();
    let output = dir.run(&["solve", "5x5", "--proof", "5x5.proof", "--quiet"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("\n  proof       5x5.proof, "), "{}", stdout(&output));
    for threads in ["1", "3"] {
        let output = dir.run(&["verify-proof", "5x5.proof", "--threads", threads]);
        assert_eq!(code(&output), 0);
        let text = stdout(&output);
        let start = "5x5, Black wins xoxox/oxoxo/xoxox/oxoxo/xoxox b\n  valid       yes\n";
        assert!(text.starts_with(start), "{text}");
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn values_of_a_database_can_be_proven() {
    let dir = TestDir::new();
    dir.json(&["builddb", "4x5", "--json", "--quiet"], 0);
    let args = ["solve", "4x5", "--db", "db", "--proof", "a.proof", "--json"];
    let solved = dir.json(&args, 0);
    assert!(solved["database_hits"].as_u64().unwrap() > 0);
    assert_eq!(dir.json(&["verify-proof", "a.proof", "--json"], 0)["valid"], true);
    let args = ["solve", "5x5", "--db", "db", "--proof", "b.proof"];
    assert_eq!(code(&dir.run(&args)), 4, "no database of this board");
    assert!(!dir.path("b.proof").exists());
}

#[test]
fn no_result_leaves_no_file() {
    let dir = TestDir::new();
    let args = ["solve", "8x8", "--max-nodes", "1000", "--proof", "a.proof", "--json"];
    let value = dir.json(&args, 3);
    assert_eq!(value["proof"], Value::Null);
    assert!(value.as_object().unwrap().contains_key("proof"));
    assert!(dir.files().is_empty());
    // An existing file is not changed.
    fs::write(dir.path("a.proof"), "mine").unwrap();
    dir.json(&args, 3);
    assert_eq!(fs::read_to_string(dir.path("a.proof")).unwrap(), "mine");
    assert_eq!(dir.files(), ["a.proof"]);
}

#[test]
fn an_unwritable_file_is_detected_before_the_search() {
    let dir = TestDir::new();
    for (path, expected) in [("no/such/directory/a.proof", 4), (".", 2)] {
        // A search of 8x8 would not end.
        let output = dir.run(&["solve", "8x8", "--proof", path, "--json"]);
        assert_eq!(code(&output), expected);
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).contains(path), "{}", stderr(&output));
    }
}

#[test]
fn an_invalid_proof_exits_with_1_and_a_reason() {
    let dir = TestDir::new();
    let board = board("5x5");
    let found = proof(&board, &Position::start(&board));
    let mut codes = found.certificate.codes;
    codes.remove(codes.len() / 2);
    fs::write(dir.path("a.proof"), bytes_of(&found.header, &codes)).unwrap();
    let value = dir.json(&["verify-proof", "a.proof", "--json"], 1);
    assert_eq!(value["valid"], false);
    assert_eq!(value["board"], "5x5");
    assert!(value["xxh128"].is_string() && value["answered"].is_null(), "{value}");
    let problem = value["problem"].as_str().unwrap();
    assert!(problem.contains("has no answer"), "{problem}");
    let output = dir.run(&["verify-proof", "a.proof"]);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    assert!(text.contains("  valid       no\n  problem     in "), "{text}");
    assert!(text.contains(problem), "{text}");
    for threads in ["1", "2", "7"] {
        let value = dir.json(&["verify-proof", "a.proof", "--json", "-t", threads], 1);
        assert_eq!(value["problem"], problem, "{threads} threads");
    }
}

/// Checks the error message, and that the JSON contains a verdict if `is_verdict`.
fn assert_error(dir: &TestDir, parts: &[&str], is_verdict: bool) {
    let output = dir.run(&["verify-proof", "a.proof"]);
    assert_eq!(code(&output), 4, "{}", stdout(&output));
    assert_eq!(stdout(&output), "");
    for part in parts {
        assert!(stderr(&output).contains(part), "no {part:?} in {}", stderr(&output));
    }
    let output = dir.run(&["verify-proof", "a.proof", "--json"]);
    assert_eq!(code(&output), 4);
    if is_verdict {
        let value = one_object(&stdout(&output));
        assert!(value["valid"] == false && value["problem"].is_string(), "{value}");
    } else {
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn missing_damaged_and_foreign_files_exit_with_4() {
    let dir = TestDir::new();
    // A missing file gets no verdict.
    for args in [&["verify-proof", "a.proof"][..], &["verify-proof", "a.proof", "--json"]] {
        let output = dir.run(args);
        assert_eq!((code(&output), stdout(&output).as_str()), (4, ""));
        let message = stderr(&output);
        assert!(message.contains("cannot open") && message.contains("a.proof"), "{message}");
    }
    let board = board("5x5");
    let found = proof(&board, &Position::start(&board));
    let bytes = bytes_of(&found.header, &found.certificate.codes);
    let write = |bytes: &[u8]| fs::write(dir.path("a.proof"), bytes).unwrap();
    write(b"");
    assert_error(&dir, &["not a Konane proof"], true);
    write(&bytes[..bytes.len() - 20]);
    assert_error(&dir, &["damaged", "truncated"], true);
    let mut other = bytes.clone();
    other[100] ^= 1;
    write(&other);
    assert_error(&dir, &["damaged", "chunk 0", "write the proof again"], true);
    let mut other = bytes.clone();
    other[8] = 9;
    write(&other);
    assert_error(&dir, &["version 9", "version 1"], false);
    write(&bytes);
    assert_eq!(code(&dir.run(&["verify-proof", "a.proof"])), 0);
}

#[test]
fn a_proof_that_does_not_fit_in_memory_gets_no_verdict() {
    let dir = TestDir::new();
    let solve = ["solve", "4x4", "--proof", "a.proof", "--quiet"];
    assert_eq!(code(&dir.run(&solve)), 0);
    let output = dir.run(&["verify-proof", "a.proof", "--memory", "8", "--json"]);
    assert_eq!(code(&output), 3);
    let value = one_object(&stdout(&output));
    assert!(value["valid"].is_null() && value["positions"].is_u64(), "{value}");
    assert!(stderr(&output).contains("tip: --memory"), "{}", stderr(&output));
}

#[test]
fn invalid_usage_exits_with_2() {
    let dir = TestDir::new();
    for args in [
        &["verify-proof"][..],
        &["verify-proof", "a", "b"],
        &["verify-proof", "a", "--threads", "0"],
        &["verify-proof", "a", "--frob"],
        &["solve", "3x3", "--proof"],
    ] {
        let output = dir.run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert_eq!(stdout(&output), "");
    }
    assert_eq!(code(&dir.run(&["verify-proof", "--help"])), 0);
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_no_file() {
    let dir = TestDir::new();
    let args = ["solve", "8x8", "--proof", "a.proof", "--json", "-m", "64MiB"];
    let child = dir.command(&args).spawn().unwrap();
    let temporary = dir.path("a.proof.tmp");
    wait_for(&temporary);
    wait_for_work(&child, std::time::Duration::from_millis(200));
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert!(stdout(&output).contains("\"proof\":null"));
    assert!(dir.files().is_empty());
}
