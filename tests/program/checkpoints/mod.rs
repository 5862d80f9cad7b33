//! Checkpoints: the file, and searches that are stopped, killed and taken up again.

mod damage;
#[cfg(unix)]
mod killed;
mod resumed;

use std::process::Output;

use serde_json::Value;

use super::common::{Place, code, stderr};

/// `solve ... --json --quiet` with the exit code that is expected, on one thread.
fn solve(place: &Place, args: &[&str], expected: i32) -> Value {
    // On one thread the counts are the same in every run.
    let one: &[&str] = if args.contains(&"--threads") { &[] } else { &["--threads", "1"] };
    let output = place.run(&[&["solve", "--json", "--quiet"], one, args].concat());
    answer(&output, expected)
}

/// The one JSON object that a program has printed.
fn answer(output: &Output, expected: i32) -> Value {
    let stderr = stderr(output);
    assert_eq!(code(output), expected, "{stderr}");
    if expected != 4 {
        assert_eq!(stderr, "");
    }
    serde_json::from_slice(&output.stdout).expect("JSON")
}
