//! Runs with `--json` that end at a limit or by a signal.

use std::collections::BTreeSet;
use std::fs;

use konane::search::run::Reason;
use serde_json::Value;

use super::common::{TestDir, code, one_object, stderr, stdout, words};
use super::outcomes::collect;
use super::sprouts_search::MILLIONS_OF_MOVES;

/// Event that ends the run of a subcommand.
enum End {
    /// A limit on the command line, and the exit code.
    Limit(&'static str, i32),
    /// SIGINT, as soon as the program handles it.
    Signal(&'static str),
    /// The subcommand has no limit and takes little time.
    None,
}

/// The subcommands with `--json`, with a command line and the event that ends it.
const ENDS: &[(&str, End)] = &[
    ("solve", End::Limit("8x8 --max-nodes 1000", 3)),
    // A sum that does not fit into 63 bits.
    (
        "solve",
        End::Limit(
            "8x8 --moves d5,d4 --add \"8x8 xoxoxoxo/oxoxoxox/xoxoxoxo/oxo2xox/xoxoxoxo/oxoxoxox/xoxoxoxo/oxoxoxox\" --max-nodes 1000",
            3,
        ),
    ),
    ("perft", End::Limit("8x8 12 --unique --memory 1", 3)),
    ("verify-proof", End::Limit("4x4.proof --memory 1", 3)),
    // An interactive session: unknown values do not change its exit code.
    ("analyse", End::Limit("8x8 --time 1ms", 0)),
    ("annotate", End::Limit("8x8.txt --time 1ms", 3)),
    ("puzzle", End::Limit("--board 1x3 --time-limit 50ms", 3)),
    ("results list", End::None),
    ("results merge", End::None),
    ("results verify", End::Limit("some.results --max-nodes 1", 3)),
    ("probe", End::None),
    ("builddb", End::Limit("6x6 --out db --memory 1MiB", 3)),
    ("builddb", End::Limit("6x6 --classes --memory 1MiB", 3)),
    ("verifydb", End::Limit("db/3x3-complete --deep --memory 1", 3)),
    ("statespace", End::Limit("5x5 --memory 1", 3)),
    ("value", End::Limit("6x6 --moves d3,d4 --max-nodes 1000", 3)),
    ("complexity", End::Signal("8x8 --samples 1000000")),
    ("bench", End::Signal("")),
    ("sprouts solve", End::Limit("0*40 --max-nodes 100", 3)),
    ("sprouts grundy", End::Limit("0*40 --max-nodes 100", 3)),
    ("sprouts canonical", End::None),
    ("sprouts children", End::Signal(MILLIONS_OF_MOVES)),
    ("sprouts complexity", End::Signal("0*60 --samples 1000000")),
    ("sprouts verify", End::Limit("some.spr --max-work 1", 3)),
    ("sprouts db merge", End::Limit("some.nimbers copy.nimbers -m 2", 3)),
    ("sprouts db import", End::Limit("some.nimbers some.spr -m 2", 3)),
    ("sprouts db export", End::Limit("some.nimbers new.spr -m 2", 3)),
    ("sprouts db stats", End::Limit("some.nimbers -m 2", 3)),
];

/// Returns the subcommands with `--json` in their help.
fn with_json() -> BTreeSet<String> {
    let mut text = String::new();
    collect(&[], &mut text);
    let helps = text.split("===== konane").skip(1).filter_map(|help| help.split_once(" --help\n"));
    let has_json = |help: &str| help.lines().any(|line| line.trim_start().starts_with("--json"));
    helps.filter(|(_, help)| has_json(help)).map(|(name, _)| name.trim().to_owned()).collect()
}

fn prepared_dir() -> TestDir {
    let dir = TestDir::with_files();
    fs::copy(dir.path("some.nimbers"), dir.path("copy.nimbers")).expect("a copy");
    let saved = dir.with_input(&["analyse", "8x8", "--time", "1ms"], "d5\nd4\nsave 8x8.txt\n");
    assert_eq!(code(&saved), 0, "{}", stderr(&saved));
    dir
}

/// Returns the JSON object of a run. Checks the exit code and the reason.
fn check(output: &std::process::Output, line: &str, expected: i32) -> Value {
    assert_eq!(code(output), expected, "{line}: {}", stderr(output));
    let object = one_object(&stdout(output));
    let reason = object["reason"].as_str().unwrap_or_else(|| panic!("{line}: no reason: {object}"));
    match expected {
        130 => assert_eq!(reason, Reason::Interrupted.text(), "{line}"),
        _ => assert!(
            [Reason::NodeLimit, Reason::TimeLimit, Reason::Memory]
                .iter()
                .any(|limit| limit.text() == reason),
            "{line}: {reason}"
        ),
    }
    object
}

#[test]
fn every_subcommand_with_json_reports_the_limit_that_ends_it() {
    let listed: BTreeSet<String> = ENDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(listed, with_json(), "a subcommand with --json needs a line in ENDS");
    let dir = prepared_dir();
    for (name, end) in ENDS {
        if let End::Limit(rest, expected) = end {
            let line = format!("{name} {rest} --json");
            check(&dir.run(&words(&line)), &line, *expected);
        }
    }
}

/// Waits until the program handles SIGINT.
#[cfg(target_os = "linux")]
fn handles_interrupts(child: &std::process::Child) {
    let status = format!("/proc/{}/status", child.id());
    let started = std::time::Instant::now();
    loop {
        let text = fs::read_to_string(&status).expect("a running process");
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask");
        let caught = u64::from_str_radix(caught.trim(), 16).expect("a hexadecimal mask");
        // SIGINT is signal 2.
        if caught & 0b10 != 0 {
            return;
        }
        assert!(started.elapsed().as_secs() < 60, "no handler: {text}");
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_subcommand_with_json_reports_the_signal_that_ends_it() {
    let dir = prepared_dir();
    let interrupted = |line: &str| {
        let child = dir.spawn(&words(line));
        handles_interrupts(&child);
        super::common::signal(&child, "-INT");
        check(&super::common::ends_soon(child, line), line, 130)
    };
    for (name, end) in ENDS {
        if let End::Signal(rest) = end {
            interrupted(&format!("{name} {rest} --json"));
        }
    }
    // Long runs of subcommands that also have limits.
    for line in [
        "perft 8x8 20 --json",
        "statespace 6x6 --json --quiet",
        "builddb 6x6 --max-stones 12 --out db --json --quiet",
        "sprouts solve 0*60 --json --quiet",
        "sprouts grundy 0*60 --json --quiet",
    ] {
        interrupted(line);
    }
}

#[test]
fn values_unknown_at_a_limit_are_null() {
    let dir = prepared_dir();
    let run = |line: &str| check(&dir.run(&words(line)), line, 3);
    let before = fs::read(dir.path("some.nimbers")).expect("a database");
    let merged = run("sprouts db merge some.nimbers copy.nimbers -m 2 --json");
    assert_eq!((&merged["had"], &merged["added"]), (&Value::Null, &0.into()));
    assert_eq!(fs::read(dir.path("some.nimbers")).expect("a database"), before);
    let imported = run("sprouts db import new.nimbers some.spr -m 2 --json");
    assert_eq!((&imported["had"], &imported["skipped"]), (&Value::Null, &Value::Null));
    assert!(!dir.path("new.nimbers").exists());
    let exported = run("sprouts db export some.nimbers new.spr -m 2 --json");
    assert_eq!((&exported["lands"], &exported["entries"]), (&Value::Null, &Value::Null));
    assert!(!dir.path("new.spr").exists());
    let stats = run("sprouts db stats some.nimbers -m 2 --json");
    for key in ["bytes", "records", "lands", "by_nimber", "by_lives", "torn_bytes"] {
        assert_eq!(stats[key], Value::Null, "{key}");
    }
}
