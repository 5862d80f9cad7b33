//! The scripts through bash, with a `cargo` that builds nothing: what they record, and what a
//! second run leaves out.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::records::{Record, parse};

/// A directory with a program in place of konane, a cargo that does nothing, and results.
struct Place {
    directory: TempDir,
}

impl Place {
    /// `solve` is what the program does, as a shell script, but for `bench`.
    fn new(solve: &str) -> Self {
        let place = Place { directory: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.path("release")).unwrap();
        fs::create_dir(place.path("bin")).unwrap();
        let bench = "if [[ $1 == bench ]]; then echo '{\"signature\":42}'; exit; fi";
        script(&place.path("release/konane"), &format!("{bench}\n{solve}"));
        script(&place.path("bin/cargo"), "exit 0");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn run(&self, script: &str, options: &[&str], variables: &[(&str, &str)]) -> Output {
        let old = std::env::var("PATH").unwrap();
        let mut command = Command::new("bash");
        command
            .arg(format!("{}/scripts/{script}", env!("CARGO_MANIFEST_DIR")))
            .args(options)
            .arg("--no-report")
            .env("PATH", format!("{}:{old}", self.path("bin").display()))
            .env("CARGO_TARGET_DIR", self.directory.path())
            .env("RESULTS", self.path("results"))
            .env("SCALING", self.path("results"));
        for name in ["ALGO", "MAX_NODES", "MAX_SQUARES", "MEMORY", "THREADS", "TIME_LIMIT"] {
            command.env_remove(name);
        }
        let output = command.envs(variables.iter().copied()).output().expect("bash");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn results(&self) -> String {
        fs::read_to_string(self.path("results")).unwrap()
    }

    fn records(&self) -> Vec<Record> {
        parse(&self.results()).unwrap()
    }
}

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/usr/bin/env bash\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn winners_are_searched_once_and_unsolved_boards_with_greater_limits() {
    let place = Place::new(&format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_konane")));
    let run = |nodes: &str, time: &str| {
        let variables =
            [("MAX_SQUARES", "9"), ("MEMORY", "1MiB"), ("MAX_NODES", nodes), ("TIME_LIMIT", time)];
        place.run("winners.sh", &[], &variables);
        place.records()
    };
    let first = run("3", "20m");
    assert_eq!(first.len(), 13);
    let unsolved = |records: &[Record]| {
        let unsolved = records.iter().filter(|record| record.result.is_unfinished());
        unsolved.map(|record| record.result.board.clone()).collect::<Vec<_>>()
    };
    let hard = unsolved(&first);
    assert!(hard.contains(&"1x6".to_string()) && !hard.contains(&"1x1".to_string()), "{hard:?}");
    assert_eq!(first[0].max_nodes, Some(3));
    assert_eq!(first[0].time_limit.as_deref(), Some("20m"));
    assert_eq!(first[0].signature, 42);

    // Nothing new with the same limits, a lower one, or more of what did not run out.
    for (nodes, time) in [("3", "20m"), ("2", "20m"), ("3", "9h")] {
        assert_eq!(run(nodes, time).len(), 13, "{nodes} {time}");
    }
    // Runs that the time stopped are not repeated for more nodes, but for more time.
    let text = place.results().replace("\"reason\":\"node limit\"", "\"reason\":\"time limit\"");
    fs::write(place.path("results"), text).unwrap();
    assert_eq!(run("2000", "20m").len(), 13);
    let last = run("2000", "1h");
    let again: Vec<String> = last[13..].iter().map(|record| record.result.board.clone()).collect();
    assert_eq!(again, hard);
    assert!(unsolved(&last[13..]).is_empty());
    assert_eq!(run("3000", "2h").len(), last.len());
}

#[test]
fn scaling_leaves_out_what_searches_on_one_thread_only() {
    let solve = "\
        [[ $* == *'--algo pn2 --threads 2 '* || $* == *'--algo pn2 --threads 2' ]] && exit 2\n\
        echo '{\"board\":\"6x6\",\"nodes\":5,\"seconds\":0.5}'";
    let place = Place::new(solve);
    let output = place.run("benchmarks.sh", &["--scaling"], &[("SCALING_RUNS", "2")]);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("pn2 searches on one thread only: left out"), "{messages}");
    let records = place.records();
    assert_eq!(records.len(), 2 * 4 * 6);
    assert!(records.iter().all(|record| record.args.contains("--algo dfpn")));
    assert!(records[0].cpu_seconds.is_none_or(|seconds| seconds < 10.0));

    place.run("benchmarks.sh", &["--scaling"], &[("SCALING_RUNS", "2")]);
    assert_eq!(place.records().len(), records.len());
    place.run("benchmarks.sh", &["--scaling"], &[("SCALING_RUNS", "3")]);
    assert_eq!(place.records().len(), 3 * 4 * 6);
    place.run("benchmarks.sh", &["--scaling", "--again"], &[("SCALING_RUNS", "1")]);
    assert_eq!(place.records().len(), 4 * 6);
}

#[test]
fn an_algorithm_that_searches_on_threads_is_measured() {
    let place = Place::new("echo '{\"board\":\"6x6\",\"nodes\":5,\"seconds\":0.5}'");
    place.run("benchmarks.sh", &["--scaling"], &[("SCALING_RUNS", "1")]);
    let records = place.records();
    assert_eq!(records.len(), 2 * 4 * 6);
    assert_eq!(records.iter().filter(|record| record.args.contains("--algo pn2")).count(), 24);
}

#[test]
fn a_program_that_fails_leaves_no_record() {
    let place = Place::new("echo '{}'; echo 'out of luck' >&2; exit 4");
    let mut command = Command::new("bash");
    command
        .arg(format!("{}/scripts/winners.sh", env!("CARGO_MANIFEST_DIR")))
        .env("PATH", format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap()))
        .env("CARGO_TARGET_DIR", place.directory.path())
        .env("RESULTS", place.path("results"));
    let output = command.output().expect("bash");
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("out of luck"));
    assert_eq!(place.results(), "");
}
