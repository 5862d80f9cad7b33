//! Checkpoints: the file format, and searches that are stopped, killed and resumed.

mod damage;
#[cfg(unix)]
mod killed;
mod resumed;

use std::process::Output;

use serde_json::Value;

use super::common::{TestDir, code, stderr};

/// Runs `solve ... --json --quiet` on one thread and checks the exit code.
fn solve(dir: &TestDir, args: &[&str], expected: i32) -> Value {
    // One thread makes node counts deterministic.
    let one: &[&str] = if args.contains(&"--threads") { &[] } else { &["--threads", "1"] };
    let output = dir.run(&[&["solve", "--json", "--quiet"], one, args].concat());
    answer(&output, expected)
}

/// Returns the JSON object that a run printed, and checks the exit code.
fn answer(output: &Output, expected: i32) -> Value {
    let stderr = stderr(output);
    assert_eq!(code(output), expected, "{stderr}");
    if expected != 4 {
        assert_eq!(stderr, "");
    }
    serde_json::from_slice(&output.stdout).expect("JSON")
}
