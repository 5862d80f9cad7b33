//! Interrupted searches and counts print their results so far.

use std::process::Output;
use std::time::Duration;

use super::common::{code, command, ends_soon, one_object, stderr, stdout, wait_for_work};
use super::solve_perft::check_solve;

/// Starts the program, sends a signal while it works, and returns its output.
fn interrupted(args: &[&str], signal: &str) -> Output {
    let child = command(args).spawn().unwrap();
    wait_for_work(&child, Duration::from_millis(700));
    super::common::signal(&child, signal);
    ends_soon(child, &args.join(" "))
}

#[test]
fn signals_end_a_search_with_partial_results() {
    for algorithm in ["dfpn", "pns", "pn2", "ab"] {
        for signal in ["-INT", "-TERM"] {
            let args = ["solve", "8x8", "--json", "-m", "256MiB", "--algo", algorithm];
            let output = interrupted(&args, signal);
            assert_eq!(code(&output), 130, "{algorithm}: {}", stderr(&output));
            let value = one_object(&stdout(&output));
            check_solve(&value);
            assert_eq!(value["outcome"], "unknown");
            assert_eq!(value["reason"], "interrupted");
        }
    }
}

#[test]
fn signals_end_a_perft() {
    for kind in [&[][..], &["--plain"], &["--unique"]] {
        let args = [&["perft", "8x8", "20", "--json", "--threads", "2"], kind].concat();
        let output = interrupted(&args, "-INT");
        assert_eq!(code(&output), 130);
        let value = one_object(&stdout(&output));
        assert_eq!(value["reason"], "interrupted");
        let list = if kind == ["--unique"] { "unique" } else { "nodes" };
        let counts = value[list].as_array().unwrap();
        assert!(counts.len() < 20, "{counts:?}");
    }
}
