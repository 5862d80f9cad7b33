//! The program in a directory of its own.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_konane");

pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Place(tempfile::tempdir().expect("a directory"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.env_remove("RUST_LOG").current_dir(self.0.path()).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().expect("the program runs")
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    /// `solve ... --json --quiet` with the exit code that is expected, on one thread.
    pub fn solve(&self, args: &[&str], expected: i32) -> Value {
        // On one thread the counts are the same in every run.
        let one: &[&str] = if args.contains(&"--threads") { &[] } else { &["--threads", "1"] };
        let output = self.run(&[&["solve", "--json", "--quiet"], one, args].concat());
        answer(&output, expected)
    }

    /// Names of the files, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Waits for a file.
    pub fn wait_for(&self, name: &str) {
        let begun = Instant::now();
        while !self.path(name).exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{name} does not appear");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The one JSON object that a program has printed.
pub fn answer(output: &Output, expected: i32) -> Value {
    let stderr = stderr(output);
    assert_eq!(output.status.code(), Some(expected), "{stderr}");
    if expected != 4 {
        assert_eq!(stderr, "");
    }
    serde_json::from_slice(&output.stdout).expect("JSON")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}
