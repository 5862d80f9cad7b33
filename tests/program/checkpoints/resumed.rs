//! Searches stopped by limits and resumed, invalid usage, and checkpoints of other searches.

use std::fs;

use serde_json::Value;

use super::super::common::{TestDir, stderr, stdout};
use super::solve;

const FILE: [&str; 2] = ["--checkpoint", "a.ckpt"];
const RESUME: [&str; 3] = ["--checkpoint", "a.ckpt", "--resume"];

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// Solves in several runs, each resumed from the checkpoint of the previous one. Run n has a limit
/// of n × `nodes`.
fn in_runs(dir: &TestDir, search: &[&str], nodes: u64) -> (Value, u64) {
    let (mut sums, mut seconds) = ([0; 3], 0.0);
    let keys = ["nodes", "expansions", "leaf_positions"];
    for run in 1..40 {
        let limit = (nodes * run).to_string();
        let file = if run == 1 { &FILE[..] } else { &RESUME[..] };
        let args = [search, &["--max-nodes", &limit], file].concat();
        let output = dir.run(&[&["solve", "--json", "--quiet"], &args[..]].concat());
        let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let total = &value["total"];
        for (sum, key) in sums.iter_mut().zip(keys) {
            *sum += number(&value, key);
            assert_eq!(number(total, key), *sum, "{search:?}, run {run}: {key}");
        }
        seconds += value["seconds"].as_f64().unwrap();
        assert!((total["seconds"].as_f64().unwrap() - seconds).abs() < 1e-3);
        assert_eq!(number(total, "runs"), run);
        let checkpoint = &value["checkpoint"];
        assert_eq!(checkpoint["file"], "a.ckpt");
        assert_eq!(checkpoint["resumed"], run > 1);
        assert_eq!(dir.files(), ["a.ckpt"], "nothing else is left");
        if value["outcome"] != "unknown" {
            assert_eq!(output.status.code(), Some(0));
            return (value, run);
        }
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert_eq!(number(checkpoint, "written"), 1);
        let length = fs::metadata(dir.path("a.ckpt")).unwrap().len();
        assert_eq!(number(checkpoint, "bytes"), length);
        assert!(number(checkpoint, "entries") > 0);
    }
    panic!("{search:?} does not come to an end");
}

#[test]
fn resumed_searches_find_the_same_winner() {
    for (board, profile, winner) in [("5x6", "tuned", "white"), ("5x5", "thesis", "black")] {
        for algorithm in ["dfpn", "pns", "pn2", "ab"] {
            let dir = TestDir::new();
            let search = [board, "--algo", algorithm, "--profile", profile];
            let search = [&search[..], &["--memory", "16MiB", "--threads", "1"]].concat();
            let whole = solve(&dir, &search, 0);
            assert_eq!(whole["winner"], winner, "{search:?}");
            assert!(whole.get("total").is_none() && whole.get("checkpoint").is_none());
            let nodes = number(&whole, "nodes") / 8 + 1;
            let (resumed, runs) = in_runs(&dir, &search, nodes);
            assert_eq!(resumed["winner"], winner, "{search:?}");
            assert!(runs >= 3, "{search:?}: {runs} runs");
        }
    }
}

/// On several threads the counts vary between runs, and small limits are exceeded.
#[test]
fn searches_on_several_threads_can_be_resumed() {
    for algorithm in ["dfpn", "pn2"] {
        let dir = TestDir::new();
        let search = ["6x6", "--algo", algorithm, "--memory", "64MiB", "--threads", "3"];
        let whole = number(&solve(&dir, &search, 0), "nodes");
        let (resumed, runs) = in_runs(&dir, &search, whole / 8);
        assert_eq!(resumed["winner"], "white", "{algorithm}");
        let all = number(&resumed["total"], "nodes");
        assert!(runs >= 2 && all < whole * 3, "{algorithm}: {all} in {runs}, {whole} in one");
    }
}

/// The tree is not saved. The table has the numbers of its nodes, so the runs together take little more work than one
/// uninterrupted run.
#[test]
fn a_resumed_tree_is_rebuilt_from_the_table() {
    for algorithm in ["pns", "pn2", "pns-pdfpn"] {
        let dir = TestDir::new();
        let search = ["6x6", "--algo", algorithm, "--memory", "64MiB", "--threads", "1"];
        let whole = number(&solve(&dir, &search, 0), "nodes");
        let (resumed, runs) = in_runs(&dir, &search, whole / 10);
        let all = number(&resumed["total"], "nodes");
        assert!(runs >= 3 && all < whole * 5 / 4, "{algorithm}: {all} in {runs}, {whole} in one");
    }
}

#[test]
fn a_search_with_checkpoints_counts_the_same_nodes() {
    for search in [
        &["6x6", "--memory", "64MiB", "--threads", "1"][..],
        &["6x6", "--memory", "1MiB", "--threads", "1"],
        &["6x6", "--algo", "pns", "--memory", "32MiB"],
        &["6x6", "--algo", "pn2", "--memory", "32MiB", "--threads", "1"],
        &["5x6", "--algo", "ab", "--memory", "16MiB"],
    ] {
        let dir = TestDir::new();
        let alone = solve(&dir, search, 0);
        // Checkpoints are written without a pause.
        let args = [search, &FILE, &["--checkpoint-interval", "1ms"]].concat();
        let kept = solve(&dir, &args, 0);
        for key in ["outcome", "nodes", "expansions", "leaf_positions", "best_move", "table"] {
            assert_eq!(kept[key], alone[key], "{search:?}: {key}");
        }
        assert_eq!(kept["total"]["nodes"], alone["nodes"]);
        if number(&kept["checkpoint"], "written") > 0 {
            let resumed = solve(&dir, &[search, &RESUME].concat(), 0);
            assert_eq!(resumed["outcome"], alone["outcome"]);
        }
    }
}

#[test]
fn a_table_of_another_size_receives_the_entries_that_fit() {
    for (before, after) in [("64MiB", "1MiB"), ("1MiB", "64MiB"), ("7MiB", "3MiB")] {
        let dir = TestDir::new();
        let first = ["6x6", "--memory", before, "--max-nodes", "50000"];
        let stopped = solve(&dir, &[&first[..], &FILE].concat(), 3);
        let resumed = solve(&dir, &[&["6x6", "--memory", after][..], &RESUME].concat(), 0);
        assert_eq!(resumed["winner"], "white", "{before} {after}");
        let all = number(&stopped, "nodes") + number(&resumed, "nodes");
        assert_eq!(number(&resumed["total"], "nodes"), all);
    }
}

/// A search that filled its memory can be resumed. With the same memory, the memory is soon full again; with
/// more memory, the search ends.
#[test]
fn a_search_with_full_memory_can_be_resumed_with_more() {
    let dir = TestDir::new();
    let search = ["5x6", "--algo", "pns", "--profile", "thesis"];
    let small = [&search[..], &["--memory", "4MiB"]].concat();
    let full = solve(&dir, &[&small[..], &FILE].concat(), 3);
    assert_eq!(full["reason"], "memory");
    let again = solve(&dir, &[&small[..], &RESUME].concat(), 3);
    assert_eq!(again["reason"], "memory");
    let more = [&search[..], &["--memory", "64MiB"], &RESUME].concat();
    let solved = solve(&dir, &more, 0);
    assert_eq!(solved["winner"], "white");
    assert_eq!(number(&solved["total"], "runs"), 3);
}

#[test]
fn a_proof_after_a_resumed_search_is_valid() {
    let dir = TestDir::new();
    let search = ["6x6", "--memory", "16MiB"];
    let stopped = [&search[..], &["--max-nodes", "50000", "--proof", "a.proof"], &FILE].concat();
    let value = solve(&dir, &stopped, 3);
    assert_eq!(value["proof"], Value::Null);
    let resumed = [&search[..], &["--proof", "a.proof"], &RESUME].concat();
    let value = solve(&dir, &resumed, 0);
    assert_eq!(value["winner"], "white");
    assert!(number(&value["proof"], "positions") > 0);
    let output = dir.run(&["verify-proof", "a.proof"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("valid       yes"));
}

/// Checks the exit code and the message, and that nothing is printed to stdout or changed on disk.
fn assert_rejected(dir: &TestDir, args: &[&str], expected: i32, parts: &[&str]) {
    let before = (dir.files(), fs::read(dir.path("a.ckpt")).ok());
    let output = dir.run(&[&["solve"], args].concat());
    assert_eq!(output.status.code(), Some(expected), "{args:?}: {}", stderr(&output));
    assert_eq!(stdout(&output), "", "{args:?}");
    for part in parts {
        assert!(stderr(&output).contains(part), "{args:?}: no {part:?} in {}", stderr(&output));
    }
    assert_eq!((dir.files(), fs::read(dir.path("a.ckpt")).ok()), before, "{args:?}");
}

#[test]
fn a_checkpoint_of_another_search_is_rejected() {
    let dir = TestDir::new();
    solve(&dir, &[&["5x6", "--max-nodes", "1000"][..], &FILE].concat(), 3);
    let resume = |args: &[&'static str]| [args, &RESUME].concat();
    for (args, parts) in [
        (resume(&["6x6"]), &["a.ckpt", "its board is 5x6, not 6x6", "name another file"][..]),
        (resume(&["6x5"]), &["its board is 5x6, not 6x5"]),
        (resume(&["5x6", "--algo", "pns"]), &["its algorithm is dfpn, not pns"]),
        (resume(&["5x6", "--profile", "thesis"]), &["its profile is tuned, not thesis"]),
        (
            resume(&["5x6", "--moves", "c3"]),
            &["its position is xoxoxo/", " b, not xoxoxo/", "/xo1oxo/"],
        ),
    ] {
        assert_rejected(&dir, &args, 2, parts);
    }
    // The same position given in another form, and options that may differ.
    let args = ["5x6", "--position", "xoxoxo/oxoxox/xoxoxo/oxoxox/xoxoxo b", "-m", "5MiB"];
    let value = solve(&dir, &[&args[..], &RESUME].concat(), 0);
    assert_eq!(value["winner"], "white");
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let dir = TestDir::new();
    let new = [&["5x5"][..], &FILE].concat();
    fs::write(dir.path("a.ckpt"), "mine").unwrap();
    assert_rejected(&dir, &new, 2, &["a.ckpt already exists", "resume from it"]);
    let resume = [&["5x5"][..], &RESUME].concat();
    assert_rejected(&dir, &resume, 4, &["a.ckpt", "is not a checkpoint"]);
    fs::remove_file(dir.path("a.ckpt")).unwrap();
    assert_rejected(&dir, &resume, 4, &["there is no checkpoint a.ckpt"]);
    fs::create_dir(dir.path("a.ckpt")).unwrap();
    assert_rejected(&dir, &new, 2, &["a.ckpt is a directory"]);
    assert_rejected(&dir, &resume, 4, &["a.ckpt"]);
}

#[test]
fn damaged_files_and_other_versions_exit_with_4() {
    let dir = TestDir::new();
    solve(&dir, &[&["5x6", "--max-nodes", "1000"][..], &FILE].concat(), 3);
    let bytes = fs::read(dir.path("a.ckpt")).unwrap();
    let resume = [&["5x6"][..], &RESUME].concat();
    let refuse = |bytes: &[u8], parts: &[&str]| {
        fs::write(dir.path("a.ckpt"), bytes).unwrap();
        assert_rejected(&dir, &resume, 4, parts);
    };
    refuse(b"", &["a.ckpt is not a checkpoint", "too short"]);
    refuse(&bytes[..bytes.len() - 1], &["a.ckpt is damaged", "cut off", "restore the file"]);
    let mut other = bytes.clone();
    other[8] = 9;
    refuse(&other, &["version 9", "version 3", "start a new search"]);
    let mut other = bytes.clone();
    other[500] ^= 1;
    refuse(&other, &["a.ckpt is damaged", "block 0", "should be", "but is"]);
    fs::write(dir.path("a.ckpt"), &bytes).unwrap();
    assert_eq!(solve(&dir, &resume, 0)["winner"], "white");
}

#[test]
fn invalid_usage_exits_with_2() {
    let dir = TestDir::new();
    for args in [
        &["5x5", "--resume"][..],
        &["5x5", "--checkpoint-interval", "5m"],
        &["5x5", "--checkpoint"],
        &["5x5", "--checkpoint", "a.ckpt", "--checkpoint-interval", "soon"],
    ] {
        assert_rejected(&dir, args, 2, &["error"]);
    }
    for path in ["no/such/directory/a.ckpt", ""] {
        // A search of 8x8 would not end.
        let output = dir.run(&["solve", "8x8", "--checkpoint", path]);
        assert_ne!(output.status.code(), Some(0));
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).contains(path), "{}", stderr(&output));
    }
    assert!(dir.files().is_empty());
}

#[test]
fn a_checkpoint_that_cannot_fit_on_the_disk_is_rejected() {
    let dir = TestDir::new();
    let args = ["8x8", "--memory", "900TiB", "--checkpoint", "a.ckpt"];
    assert_rejected(&dir, &args, 4, &["a.ckpt", "may take 1.77 PiB", "free some space"]);
}

#[test]
fn the_text_describes_the_checkpoint() {
    let dir = TestDir::new();
    let args = [&["solve", "5x6", "--memory", "1MiB", "--threads", "1"][..], &FILE].concat();
    let output = dir.run(&[&args[..], &["--max-nodes", "2000"]].concat());
    let message = stderr(&output);
    assert!(
        message.contains("checkpoints: a.ckpt, every 10 min 0 s, at most 2.02 MiB\n"),
        "{message}"
    );
    assert!(message.contains("\ncheckpoint: "), "{message}");
    let text = stdout(&output);
    assert!(text.contains("\n  all runs    2,0") && text.contains(", 1 run\n"), "{text}");
    assert!(text.contains("\n  checkpoint  a.ckpt, "), "{text}");
    let output = dir.run(&[&args[..], &["--resume"]].concat());
    assert!(stderr(&output).contains("checkpoints: continuing after 2,0"), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains(", 2 runs\n  checkpoint  a.ckpt, "), "{text}");
}

/// The table of a finished search is saved, so the answer and a proof are available without another
/// search.
#[test]
fn the_table_of_a_finished_search_is_saved() {
    for algorithm in ["dfpn", "pns", "pn2", "ab", "pns-pdfpn"] {
        let dir = TestDir::new();
        let args = [&["5x6", "--memory", "64MiB", "--algo", algorithm][..], &FILE].concat();
        let first = solve(&dir, &args, 0);
        assert_eq!(first["checkpoint"]["written"], 1, "{algorithm}");
        let again = solve(&dir, &[&args[..], &["--resume", "--proof", "5x6.proof"]].concat(), 0);
        assert_eq!(again["winner"], first["winner"]);
        let (nodes, before) = (again["nodes"].as_u64(), first["nodes"].as_u64());
        assert!(nodes.unwrap() < before.unwrap() / 20, "{algorithm}: {nodes:?}, {before:?}");
        if algorithm == "dfpn" {
            assert_eq!(again["checkpoint"]["written"], 0, "nothing has changed");
        }
        assert!(dir.run(&["verify-proof", "5x6.proof"]).status.success());
    }
}

#[test]
fn a_finished_game_needs_no_checkpoint() {
    let dir = TestDir::new();
    let over = ["1x4", "--position", "4 b"];
    let value = solve(&dir, &[&over[..], &FILE].concat(), 0);
    assert_eq!(value["checkpoint"]["written"], 0);
    assert_eq!(value["total"]["runs"], 1);
    assert!(dir.files().is_empty());
}
