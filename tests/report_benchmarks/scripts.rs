//! The command lines of the scripts, and which of them a second run of a script leaves out.

use std::process::Command;

use clap::Parser;
use konane::cli::args::{Cli, Command as Verb};

/// What a script prints with `--list`, other options and variables.
fn list(script: &str, options: &[&str], variables: &[(&str, &str)]) -> String {
    let script = format!("{}/scripts/{script}", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("bash");
    command.arg(script).arg("--list").args(options);
    for name in ["ALGO", "MAX_NODES", "MAX_SQUARES", "MEMORY", "THREADS", "TIME_LIMIT"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().expect("bash");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn parse(line: &str) -> Cli {
    Cli::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn benchmarks() {
    let full = list("benchmarks.sh", &[], &[]);
    full.lines().map(parse).for_each(drop);
    let quick = list("benchmarks.sh", &["--quick"], &[]);
    assert!(!quick.is_empty() && full.starts_with(&quick));
    assert!(!quick.contains("7x7"));
}

/// Everything that the report of scaling shows is measured, and nothing else.
#[test]
fn scaling() {
    use crate::scaling::{PARALLEL, SEARCHED, THREADS};
    let lines = list("benchmarks.sh", &["--scaling"], &[]);
    let mut searches = Vec::new();
    for line in lines.lines() {
        let Verb::Solve(args) = parse(line).command else {
            panic!("{line}");
        };
        let profile = if line.contains("--profile thesis") { "thesis" } else { "tuned" };
        let algorithm = line.split(' ').skip_while(|word| *word != "--algo").nth(1).unwrap();
        let board = args.start.board.to_string();
        searches.push((algorithm.to_string(), board, profile, args.threads.unwrap()));
    }
    let mut expected = Vec::new();
    for (algorithm, _) in PARALLEL {
        for (board, profile) in SEARCHED {
            for threads in THREADS {
                expected.push((algorithm.to_string(), board.to_string(), profile, threads));
            }
        }
    }
    searches.sort();
    expected.sort();
    assert_eq!(searches, expected);
    assert!(list("benchmarks.sh", &[], &[]).contains(lines.lines().next().unwrap()));
}

/// Each board of up to 64 squares once, with no more ranks than files, smaller ones first, as the
/// report has them.
#[test]
fn winners() {
    let lines = list("winners.sh", &[], &[("MAX_NODES", "5000"), ("TIME_LIMIT", "90s")]);
    let mut boards = Vec::new();
    for line in lines.lines() {
        let Verb::Solve(args) = parse(line).command else {
            panic!("{line}");
        };
        assert_eq!((args.threads, args.max_nodes), (Some(1), Some(5000)), "{line}");
        assert_eq!(args.time_limit.unwrap().as_secs(), 90, "{line}");
        boards.push(args.start.board.to_string());
    }
    let rows = crate::winners::rows(&[]).unwrap();
    assert_eq!(boards, rows.iter().map(crate::winners::Row::board).collect::<Vec<_>>());
    let small = list("winners.sh", &[], &[("MAX_SQUARES", "4"), ("ALGO", "pn2")]);
    assert_eq!(small.lines().count(), 5);
    assert!(small.starts_with("konane solve 1x1 --algo pn2 --threads 1 --memory 2GiB"), "{small}");
}

/// Values of variables that are no limits are refused before anything is built.
#[test]
fn bad_limits() {
    let script = format!("{}/scripts/winners.sh", env!("CARGO_MANIFEST_DIR"));
    for (name, value) in [
        ("TIME_LIMIT", "20"),
        ("TIME_LIMIT", "0m"),
        ("MAX_NODES", "many"),
        ("MAX_NODES", "0"),
        ("MAX_SQUARES", "65"),
        ("MAX_SQUARES", "0"),
    ] {
        let output = Command::new("bash")
            .arg(&script)
            .arg("--list")
            .env(name, value)
            .output()
            .expect("bash");
        assert_eq!(output.status.code(), Some(2), "{name}={value}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(&format!("{name}={value}")), "{message}");
    }
}
