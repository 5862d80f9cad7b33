//! Little memory, small stacks and closed standard streams.
#![cfg(target_os = "linux")]

use std::process::Output;

use super::common::{TestDir, code, ends_soon, stderr, stdout};

/// A short run of every subcommand except `explore`, which runs until a signal arrives.
const EVERY_SUBCOMMAND: [&str; 32] = [
    "--version",
    "help",
    "help solve",
    "solve 3x3",
    "solve 4x4 --algo pn2 --threads 2",
    "solve 4x4 --algo pns-pdfpn --threads 2",
    "solve 4x4 --lines --json",
    "solve 4x4 --proof new.proof --checkpoint new.ckpt",
    "perft 4x4 4",
    "perft 4x4 4 --unique",
    "verify-proof 4x4.proof",
    "analyse 4x4",
    "play 3x3",
    "annotate 3x3.txt",
    "probe 3x3 --db db --moves a3,a2",
    "draw 3x3",
    "builddb 2x3 --out .",
    "verifydb db/3x3-complete --deep",
    "statespace 3x3",
    "value 3x3 --moves b2,b3",
    "sprouts solve 0*4 --threads 2",
    "sprouts grundy 0*4",
    "sprouts canonical 0*4",
    "sprouts children 0*3 --values",
    "sprouts play 0*3",
    "sprouts draw 0*2",
    "sprouts verify some.spr",
    "sprouts db stats some.nimbers",
    "sprouts db import all.nimbers some.spr",
    "sprouts db export some.nimbers all.spr",
    "completions bash",
    "man",
];

/// Runs every subcommand in a directory with input files. In `script`, `{}` stands for the command
/// line.
fn every_subcommand(script: &str) -> Vec<(&'static str, Output)> {
    let dir = TestDir::with_files();
    std::fs::write(dir.path("3x3.txt"), "Board: 3x3\n\na3 a2\n").unwrap();
    let run = |line| (line, shell(&dir, &script.replace("{}", &format!("konane {line}"))));
    EVERY_SUBCOMMAND.map(run).into()
}

/// Runs a script.
fn shell(dir: &TestDir, script: &str) -> Output {
    ends_soon(dir.shell(script).spawn().expect("a shell"), script)
}

#[test]
fn every_subcommand_runs_with_a_small_stack() {
    for limit in ["ulimit -s 64", "export RUST_MIN_STACK=0"] {
        for (line, output) in every_subcommand(&format!("{limit}; {{}}")) {
            assert_eq!(code(&output), 0, "{limit} {line}: {}", stderr(&output));
        }
    }
}

#[test]
fn a_closed_or_full_standard_output_is_an_error() {
    for (redirection, message) in [
        (">&-", "cannot write the answer to standard output: it is closed"),
        (">/dev/full", "standard output"),
    ] {
        for (line, output) in every_subcommand(&format!("{{}} {redirection}")) {
            assert!(stderr(&output).contains(message), "{line}: {}", stderr(&output));
            assert_eq!(code(&output), 4, "{line} {redirection}");
        }
    }
    let dir = TestDir::new();
    let output = shell(&dir, "konane solve 3x3 --quiet >&- 2>&-");
    assert_eq!(code(&output), 4);
    let output = shell(&dir, "konane draw 3x3 --out 3x3.svg >&-");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn the_null_device_and_a_closed_pipe_are_no_errors() {
    for redirection in [">/dev/null", "1<>/dev/null", "| true"] {
        for line in ["solve 3x3 --quiet", "--version", "perft 4x4 4", "help", "perft 8x8 10"] {
            let script = format!("{{ konane {line}; echo $? >&2; }} {redirection}");
            assert_eq!(stderr(&shell(&TestDir::new(), &script)), "0\n", "{script}");
        }
    }
}

#[test]
fn a_closed_standard_error_changes_nothing() {
    let runs = every_subcommand("{}").into_iter().zip(every_subcommand("{} 2>&-"));
    for ((line, with), (_, without)) in runs {
        assert_eq!(code(&without), code(&with), "{line}");
        let lines = |output: &Output| stdout(output).lines().count();
        assert_eq!(lines(&without), lines(&with), "{line}");
    }
}

/// Step between two tested limits, in KiB.
pub const STEP: u64 = 64;

/// Runs a command with an address space of `steps` times `STEP`.
pub fn with_memory(dir: &TestDir, line: &str, steps: u64) -> Output {
    shell(dir, &format!("ulimit -v {}; konane {line}", steps * STEP))
}

/// Returns the least address space, in steps, with which a command succeeds in a copy of this
/// directory.
pub fn min_memory(dir: &TestDir, line: &str) -> u64 {
    let (mut fails, mut works) = (0, (2 << 20) / STEP);
    while works - fails > 1 {
        let middle = fails.midpoint(works);
        match with_memory(&dir.copy(), line, middle).status.code() {
            Some(0) => works = middle,
            _ => fails = middle,
        }
    }
    works
}

/// The winner is printed even if there is too little memory for the proof.
#[test]
fn failed_allocations_keep_the_result_and_leave_no_file() {
    for more in ["", " --json", " --json --checkpoint c"] {
        let dir = TestDir::new();
        let line = format!("solve 6x6 --proof p --memory 16MiB --threads 2 --quiet{more}");
        let least = min_memory(&dir, &line);
        let mut kept = 0;
        for steps in (least - 32..least).rev() {
            for left in ["p", "c"] {
                let _ = std::fs::remove_file(dir.path(left));
            }
            let output = with_memory(&dir, &line, steps);
            let (message, answer) = (stderr(&output), stdout(&output));
            let context = format!("ulimit -v {}; {line}: {message}{answer}", steps * STEP);
            assert!(!dir.files().iter().any(|name| name.contains(".tmp")), "{context}");
            match code(&output) {
                0 => continue,
                2 => assert!(message.contains("--memory"), "{context}"),
                expected => assert_eq!(expected, 3, "{context}"),
            }
            assert!(!message.is_empty() || answer.contains("memory"), "{context}");
            if message.contains("out of memory: ") {
                assert_eq!(message.lines().count(), 1, "{context}");
                assert!(
                    message.ends_with("raise the memory limit or use a smaller --memory\n"),
                    "{context}"
                );
            }
            if answer.is_empty() {
                continue;
            }
            if more.is_empty() {
                kept += u32::from(answer.contains("winner      White"));
            } else {
                let object = super::common::one_object(&answer);
                let reason = object["proof"]["reason"].as_str().unwrap_or_default();
                kept += u32::from(reason.starts_with("memory"));
                assert_eq!(answer.contains("\"white\""), object["proof"].is_object(), "{context}");
                assert_eq!(object.get("checkpoint").is_some(), more.contains("checkpoint"));
            }
        }
        // With checkpoints the search may need more memory than the proof.
        let may_fail_before = more.contains("checkpoint");
        assert!(
            kept > 0 || may_fail_before,
            "{line}: the winner was not printed with any memory limit below {} KiB",
            least * STEP
        );
    }
}

/// Under memory limits that once aborted perft and Sprouts, the program now gives an answer or an
/// error message.
#[test]
fn failed_allocations_are_limits_with_a_message() {
    for line in [
        "solve 6x6 --proof p --memory 16MiB --threads 2 --quiet",
        "perft 5x5 9 --unique --threads 2 --quiet",
        "perft 6x6 8 --threads 2 --quiet",
        "sprouts solve 0*8 --memory 16MiB --threads 2 --quiet",
        "sprouts children 0*6 --json",
    ] {
        let dir = TestDir::new();
        let least = min_memory(&dir, line);
        let around = (1..12).map(|below| least - 3 * below);
        for steps in around.chain([122_880 / STEP, least + 1]) {
            let output = with_memory(&dir, line, steps);
            let message = stderr(&output) + &stdout(&output);
            assert!(matches!(code(&output), 0 | 2 | 3), "{line}, {steps} steps: {message}");
            assert!(!message.is_empty(), "{line}, {steps} steps");
        }
    }
}
