//! What the program reads and writes may be anything: pipes, devices, files of others.
#![cfg(unix)]

use std::os::unix::fs::FileTypeExt;
use std::process::Command;
use std::time::Duration;

use super::common::{
    Place, code, ends_soon, signal, stderr, stdout, wait_for, wait_for_work, words,
};

/// A place with a pipe that nobody reads or writes.
fn with_pipe() -> Place {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    place
}

#[test]
fn whoever_reads_a_pipe_is_told_at_once() {
    let place = with_pipe();
    for line in
        ["verify-proof pipe", "play 4x4 --proof pipe", "solve 5x6 --checkpoint pipe --resume"]
    {
        let output = ends_soon(place.spawn(&words(line)), line);
        assert_eq!(code(&output), 4, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("a named pipe"), "{line}: {}", stderr(&output));
    }
}

#[test]
fn what_is_no_file_is_never_replaced_by_one() {
    let place = with_pipe();
    for line in [
        "solve 3x3 --proof pipe",
        "solve 8x8 --proof pipe",
        "solve 8x8 --proof .",
        "solve 8x8 --checkpoint pipe",
        "solve 8x8 --checkpoint .",
    ] {
        let output = ends_soon(place.spawn(&words(line)), line);
        assert_eq!(code(&output), 2, "{line}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{line}");
        assert!(stderr(&output).contains("cannot take its place"), "{line}: {}", stderr(&output));
    }
    assert!(place.path("pipe").metadata().unwrap().file_type().is_fifo());
    assert_eq!(place.files(), ["pipe"]);
}

#[test]
fn a_proof_has_one_writer() {
    let place = Place::new();
    let first = place.spawn(&words("solve 8x8 --memory 64MiB --proof a.proof"));
    wait_for(&place.path("a.proof.tmp"));
    // The file exists a moment before the lock on it is taken.
    wait_for_work(&first, Duration::from_millis(100));
    let second = place.run(&words("solve 3x3 --proof a.proof"));
    assert_eq!(code(&second), 4, "{}", stderr(&second));
    assert!(stderr(&second).contains("another program is writing a.proof"), "{}", stderr(&second));
    signal(&first, "-INT");
    assert_eq!(code(&first.wait_with_output().unwrap()), 130);
    assert!(place.files().is_empty());
    // Killed, it leaves its temporary file, which is no hindrance.
    let mut killed = place.spawn(&words("solve 8x8 --memory 64MiB --proof a.proof"));
    wait_for(&place.path("a.proof.tmp"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(code(&place.run(&words("solve 3x3 --proof a.proof"))), 0);
    assert_eq!(place.files(), ["a.proof"]);
}

#[test]
fn two_files_of_a_run_are_never_one() {
    let place = Place::new();
    let saved = place.run(&words("solve 5x6 --max-nodes 300 --checkpoint a.ckpt --quiet"));
    assert_eq!(code(&saved), 3, "{}", stderr(&saved));
    let saved = place.run(&words("sprouts solve 0*6 --db a.nimbers --quiet"));
    assert_eq!(code(&saved), 0, "{}", stderr(&saved));
    std::os::unix::fs::symlink("a.ckpt", place.path("link")).unwrap();
    std::fs::create_dir_all(place.path("real/deep")).unwrap();
    std::os::unix::fs::symlink("real", place.path("other")).unwrap();
    std::os::unix::fs::symlink("real/deep", place.path("deep")).unwrap();
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    let before = ["a.ckpt", "a.nimbers"].map(read);
    for line in [
        "solve 5x6 --checkpoint a.ckpt --resume --trace a.ckpt",
        "solve 5x6 --checkpoint a.ckpt --resume --trace ./link",
        "solve 5x6 --checkpoint a.ckpt --resume --proof link",
        "solve 5x6 --proof new --trace ./new",
        "solve 5x6 --proof real/new --trace other/new",
        "solve 5x6 --proof real/new --trace deep/../new",
        "sprouts solve 0*6 --db a.nimbers --trace a.nimbers",
        "sprouts db export a.nimbers ./a.nimbers",
    ] {
        let output = place.run(&words(line));
        assert_eq!(code(&output), 2, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("are the same file"), "{line}: {}", stderr(&output));
    }
    // What is written first, and locked, has a name as well.
    for line in [
        "solve 5x6 --proof new --trace new.tmp",
        "solve 5x6 --proof real/new --trace other/new.tmp",
        "solve 5x6 --proof new.tmp --checkpoint new",
        "solve 5x6 --proof a.ckpt.tmp --checkpoint a.ckpt --resume",
        "solve 5x6 --checkpoint a.ckpt --resume --trace a.ckpt.lock",
        "sprouts db export a.nimbers.tmp a.nimbers",
    ] {
        let output = place.run(&words(line));
        assert_eq!(code(&output), 2, "{line}: {}", stderr(&output));
        let message = stderr(&output);
        assert!(message.contains("the name of a temporary file of"), "{line}: {message}");
    }
    assert_eq!(["a.ckpt", "a.nimbers"].map(read), before);
    let left = ["a.ckpt", "a.nimbers", "deep", "link", "other", "real"];
    assert_eq!(place.files(), left);
    assert_eq!(std::fs::read_dir(place.path("real")).unwrap().count(), 1);
    // Names that only look alike.
    let lines = ["solve 3x3 --proof new --trace real/new", "solve 3x3 --proof b --trace b.tmp2"];
    for line in lines {
        assert_eq!(code(&place.run(&words(line))), 0, "{line}");
    }
}

/// Standard input without line feeds is no line that grows until the memory is full.
#[test]
fn a_line_of_any_length_is_an_error() {
    let place = Place::new();
    place.json(&words("builddb 3x3 --json --quiet"), 0);
    for line in ["analyse 3x3", "play 3x3", "probe 3x3"] {
        let output = place.with_input(&words(line), &"x".repeat(1 << 17));
        assert_eq!(code(&output), 4, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("a line has more than"), "{line}: {}", stderr(&output));
    }
}

/// Threads need address space for their stacks, which the shell limits here.
#[test]
#[cfg(target_os = "linux")]
fn threads_that_the_system_does_not_give_are_done_without_or_asked_for_in_vain() {
    let place = Place::new();
    place.json(&words("builddb 3x3 --json --quiet"), 0);
    place.json(&words("solve 3x3 --proof 3x3.proof --json"), 0);
    for (line, expected) in [
        ("solve 5x6 --threads 1000 --memory 16MiB", 0),
        ("solve 5x6 --threads 1000 --memory 16MiB --algo pns-pdfpn", 0),
        ("sprouts solve 0*6 --threads 1000 --memory 16MiB", 0),
        ("solve 5x6 --threads 1000 --memory 16MiB --proof a.proof", 3),
        ("perft 5x6 4 --threads 1000", 3),
        ("verify-proof 3x3.proof --threads 1000 --json", 3),
        ("verifydb db/3x3-complete --threads 1000 --json", 3),
    ] {
        let output =
            place.shell(&format!("ulimit -v 1000000; exec konane {line}")).output().unwrap();
        assert_eq!(code(&output), expected, "{line}: {}", stderr(&output));
        let told = stderr(&output).contains("cannot start the threads");
        assert_eq!(told, expected != 0, "{line}: {}", stderr(&output));
        assert_eq!(stdout(&output).is_empty(), told, "{line}: nothing is said about the files");
        assert_eq!(place.files(), ["3x3.proof", "db"], "{line}");
    }
}

/// What the system does not give is no full memory, for which more would be the remedy.
#[test]
#[cfg(target_os = "linux")]
fn memory_that_the_system_does_not_give_is_an_error_that_asks_for_less() {
    let place = Place::new();
    for (algorithm, threads) in [("dfpn", 2), ("pns", 1), ("pn2", 1), ("pn2", 2), ("pns-pdfpn", 2)]
    {
        let search = format!("solve 6x6 --algo {algorithm} --threads {threads} --json --quiet");
        let file = format!("--checkpoint {algorithm}{threads}.ckpt");
        place.json(&words(&format!("{search} --memory 16MiB --max-nodes 2000 {file}")), 3);
        for more in [String::new(), format!("{file} --resume")] {
            let line = format!("ulimit -v 1000000; exec konane {search} --memory 1GiB {more}");
            let output = place.shell(&line).output().unwrap();
            assert_eq!(code(&output), 2, "{search} {more}: {}", stderr(&output));
            for text in ["the system does not give", "ask for less memory", "a smaller --memory"] {
                assert!(stderr(&output).contains(text), "{search} {more}: {}", stderr(&output));
            }
            assert_eq!(stdout(&output), "", "{search} {more}");
        }
    }
}

/// The limit of a file's size, which the shell sets to a kilobyte at most.
#[test]
fn a_limit_of_size_is_an_error_and_leaves_nothing() {
    let place = Place::new();
    for (line, left) in [
        ("solve 5x6 --proof a.proof", &[][..]),
        ("solve 6x7 --max-nodes 50000 --threads 1 --checkpoint a.ckpt", &[]),
        ("builddb 4x5 --out . --quiet", &["4x5-complete"]),
    ] {
        let output = place.shell(&format!("ulimit -f 1; exec konane {line}")).output().unwrap();
        assert_eq!(code(&output), 4, "{line}: {}", stderr(&output));
        let full =
            ["File too large", "no space is left"].map(|part| stderr(&output).contains(part));
        assert_ne!(full, [false; 2], "{line}: {}", stderr(&output));
        assert_eq!(place.files(), left, "{line}");
    }
    // Parts of layers are in a directory of their own.
    for entry in place.path("4x5-complete").read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.ends_with(".kdb") || name == "tasks", "{name}");
    }
}
