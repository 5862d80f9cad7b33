//! Little memory, small stacks and closed standard streams.
#![cfg(target_os = "linux")]

use std::process::Output;

use super::common::{PROGRAM, Place, code, stderr, stdout, words};

/// A short form of every subcommand but `explore`, which serves until a signal comes.
const EVERY_SUBCOMMAND: [&str; 31] = [
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
    "verify-proof 3x3.proof",
    "analyse 4x4",
    "play 3x3",
    "annotate 3x3.txt",
    "probe 3x3 --db db --moves a3,a2",
    "draw 3x3",
    "builddb 2x3 --out .",
    "verifydb db/3x3-complete --deep",
    "statespace 3x3",
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

/// The files that the subcommands read.
fn place_with_files() -> Place {
    let place = Place::new();
    std::fs::write(place.path("3x3.txt"), "Board: 3x3\n\na3 a2\n").unwrap();
    for line in [
        "solve 3x3 --proof 3x3.proof --quiet",
        "builddb 3x3 --out db --quiet",
        "sprouts solve 0*4 --db some.nimbers --quiet",
        "sprouts db export some.nimbers some.spr",
    ] {
        let output = place.run(&words(line));
        assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
    }
    place
}

/// Runs the program by a line of the shell in which `konane` is the program.
fn shell(place: &Place, script: &str) -> Output {
    let mut command = std::process::Command::new("sh");
    command.current_dir(place.path("")).stdin(std::process::Stdio::null());
    command.env_remove("RUST_LOG").env_remove("COLUMNS");
    command.args(["-c", &format!("konane() {{ {PROGRAM} \"$@\"; }}; {script}")]);
    command.output().expect("a shell")
}

#[test]
fn every_subcommand_runs_with_a_small_stack() {
    for limit in ["ulimit -s 64;", "export RUST_MIN_STACK=0;"] {
        let place = place_with_files();
        for line in EVERY_SUBCOMMAND {
            let output = shell(&place, &format!("{limit} konane {line}"));
            assert_eq!(code(&output), 0, "{limit} {line}: {}", stderr(&output));
        }
    }
}

#[test]
fn a_closed_standard_output_is_an_error_and_the_null_device_is_none() {
    let place = place_with_files();
    for line in EVERY_SUBCOMMAND {
        let output = shell(&place, &format!("konane {line} >&-"));
        let message = "cannot write the answer to standard output: it is closed";
        assert!(stderr(&output).contains(message), "{line}: {}", stderr(&output));
        assert_eq!(code(&output), 4, "{line}");
    }
    let place = place_with_files();
    for redirection in [">/dev/null", "1<>/dev/null"] {
        for line in ["solve 3x3 --quiet", "--version", "perft 4x4 4"] {
            let output = shell(&place, &format!("konane {line} {redirection}"));
            assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{line} {redirection}");
        }
    }
    let output = shell(&place, "konane solve 3x3 --quiet >&- 2>&-");
    assert_eq!(code(&output), 4);
    let output = shell(&place, "konane draw 3x3 --out 3x3.svg >&-");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn a_closed_standard_error_changes_nothing() {
    let (place, other) = (place_with_files(), place_with_files());
    for line in EVERY_SUBCOMMAND {
        let with = shell(&place, &format!("konane {line}"));
        let without = shell(&other, &format!("konane {line} 2>&-"));
        assert_eq!(code(&without), code(&with), "{line}");
        let lines = |output: &Output| stdout(output).lines().count();
        assert_eq!(lines(&without), lines(&with), "{line}");
    }
}

/// KiB between two limits.
const STEP: u64 = 64;

/// Runs a command with so many steps of address space.
fn with_memory(place: &Place, line: &str, steps: u64) -> Output {
    shell(place, &format!("ulimit -v {}; konane {line}", steps * STEP))
}

/// The least address space in steps with which a command works.
fn least_memory(place: &Place, line: &str) -> u64 {
    let (mut fails, mut works) = (0, (2 << 20) / STEP);
    while works - fails > 1 {
        let middle = fails.midpoint(works);
        match with_memory(place, line, middle).status.code() {
            Some(0) => works = middle,
            _ => fails = middle,
        }
    }
    works
}

/// A winner that has been found is printed, also if there is too little memory for the proof.
#[test]
fn memory_that_is_refused_takes_no_result_and_leaves_no_file() {
    for more in ["", " --json", " --json --checkpoint c"] {
        let place = Place::new();
        let line = format!("solve 6x6 --proof p --memory 16MiB --threads 2 --quiet{more}");
        let least = least_memory(&place, &line);
        let mut kept = 0;
        for steps in (least - 32..least).rev() {
            for left in ["p", "c"] {
                let _ = std::fs::remove_file(place.path(left));
            }
            let output = with_memory(&place, &line, steps);
            let (said, answer) = (stderr(&output), stdout(&output));
            let story = format!("ulimit -v {}; {line}: {said}{answer}", steps * STEP);
            assert!(!place.files().iter().any(|name| name.contains(".tmp")), "{story}");
            match code(&output) {
                0 => continue,
                2 => assert!(said.contains("--memory"), "{story}"),
                expected => assert_eq!(expected, 3, "{story}"),
            }
            assert!(!said.is_empty() || answer.contains("memory"), "{story}");
            if said.contains("out of memory: ") {
                assert_eq!(said.lines().count(), 1, "{story}");
                assert!(said.ends_with("give more memory or use a smaller --memory\n"), "{story}");
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
                assert_eq!(answer.contains("\"white\""), object["proof"].is_object(), "{story}");
                assert_eq!(object.get("checkpoint").is_some(), more.contains("checkpoint"));
            }
        }
        // With checkpoints the search itself may need more memory than the proof.
        let may_fail_before = more.contains("checkpoint");
        assert!(
            kept > 0 || may_fail_before,
            "{line}: no limit below {} KiB left a winner",
            least * STEP
        );
    }
}

/// The reported limit, and limits where perft and Sprouts were aborted: an answer or a message.
#[test]
fn memory_that_is_refused_is_a_limit_with_a_message() {
    for line in [
        "solve 6x6 --proof p --memory 16MiB --threads 2 --quiet",
        "perft 5x5 9 --unique --threads 2 --quiet",
        "perft 6x6 8 --threads 2 --quiet",
        "sprouts solve 0*8 --memory 16MiB --threads 2 --quiet",
        "sprouts children 0*6 --json",
    ] {
        let place = Place::new();
        let least = least_memory(&place, line);
        let around = (1..12).map(|below| least - 3 * below);
        for steps in around.chain([122_880 / STEP, least + 1]) {
            let output = with_memory(&place, line, steps);
            let said = stderr(&output) + &stdout(&output);
            assert!(matches!(code(&output), 0 | 2 | 3), "{line}, {steps} steps: {said}");
            assert!(!said.is_empty(), "{line}, {steps} steps");
        }
    }
}
