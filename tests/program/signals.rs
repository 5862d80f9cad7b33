//! Searches and counts that are interrupted print what they know.

use std::process::Output;
use std::time::{Duration, Instant};

use super::common::{code, command, one_object, stderr, stdout};
use super::verbs::check_solve;

/// Starts the program, sends a signal after a while, and returns its output and how long it took
/// to end.
fn interrupted(args: &[&str], signal: &str) -> (Output, Duration) {
    let child = command(args).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    super::common::signal(&child, signal);
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    (output, begun.elapsed())
}

#[test]
fn signals_end_a_search_with_what_is_known() {
    for algorithm in ["dfpn", "pns", "pn2", "ab"] {
        for signal in ["-INT", "-TERM"] {
            let args = ["solve", "8x8", "--json", "-m", "256MiB", "--algo", algorithm];
            let (output, time) = interrupted(&args, signal);
            assert_eq!(code(&output), 130, "{algorithm}: {}", stderr(&output));
            let value = one_object(&stdout(&output));
            check_solve(&value);
            assert_eq!(value["outcome"], "unknown");
            assert_eq!(value["reason"], "interrupted");
            assert!(time < Duration::from_secs(20), "{algorithm} took {time:?}");
        }
    }
}

#[test]
fn signals_end_a_perft() {
    for kind in [&[][..], &["--plain"], &["--unique"]] {
        let args = [&["perft", "8x8", "20", "--json", "--threads", "2"], kind].concat();
        let (output, time) = interrupted(&args, "-INT");
        assert_eq!(code(&output), 130);
        let value = one_object(&stdout(&output));
        assert_eq!(value["reason"], "interrupted");
        let list = if kind == ["--unique"] { "unique" } else { "nodes" };
        let counts = value[list].as_array().unwrap();
        assert!(counts.len() < 20, "{counts:?}");
        assert!(time < Duration::from_secs(20), "{kind:?} took {time:?}");
    }
}
