//! Unusual input and output files: pipes, devices, and files of other programs.
#![cfg(unix)]

use std::os::unix::fs::FileTypeExt;
use std::process::Command;
use std::time::Duration;

use super::common::{
    TestDir, code, ends_soon, signal, stderr, stdout, wait_for, wait_for_work, words,
};

/// Creates a directory with a pipe that has no reader and no writer.
fn with_pipe() -> TestDir {
    let dir = TestDir::new();
    assert!(Command::new("mkfifo").arg(dir.path("pipe")).status().unwrap().success());
    dir
}

#[test]
fn pipes_are_rejected_immediately() {
    let dir = with_pipe();
    for line in
        ["verify-proof pipe", "play 4x4 --proof pipe", "solve 5x6 --checkpoint pipe --resume"]
    {
        let output = ends_soon(dir.spawn(&words(line)), line);
        assert_eq!(code(&output), 4, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("a named pipe"), "{line}: {}", stderr(&output));
    }
}

#[test]
fn special_files_are_never_replaced() {
    let dir = with_pipe();
    for line in [
        "solve 3x3 --proof pipe",
        "solve 8x8 --proof pipe",
        "solve 8x8 --proof .",
        "solve 8x8 --checkpoint pipe",
        "solve 8x8 --checkpoint .",
    ] {
        let output = ends_soon(dir.spawn(&words(line)), line);
        assert_eq!(code(&output), 2, "{line}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{line}");
        assert!(
            stderr(&output).contains("cannot be replaced by a file"),
            "{line}: {}",
            stderr(&output)
        );
    }
    assert!(dir.path("pipe").metadata().unwrap().file_type().is_fifo());
    assert_eq!(dir.files(), ["pipe"]);
}

#[test]
fn a_proof_file_has_one_writer() {
    let dir = TestDir::new();
    let first = dir.spawn(&words("solve 8x8 --memory 64MiB --proof a.proof"));
    wait_for(&dir.path("a.proof.tmp"));
    // The file is created shortly before it is locked.
    wait_for_work(&first, Duration::from_millis(100));
    let second = dir.run(&words("solve 3x3 --proof a.proof"));
    assert_eq!(code(&second), 4, "{}", stderr(&second));
    assert!(stderr(&second).contains("another program is writing a.proof"), "{}", stderr(&second));
    signal(&first, "-INT");
    assert_eq!(code(&first.wait_with_output().unwrap()), 130);
    assert!(dir.files().is_empty());
    // A killed process leaves its temporary file. The next run replaces it.
    let mut killed = dir.spawn(&words("solve 8x8 --memory 64MiB --proof a.proof"));
    wait_for(&dir.path("a.proof.tmp"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(code(&dir.run(&words("solve 3x3 --proof a.proof"))), 0);
    assert_eq!(dir.files(), ["a.proof"]);
}

#[test]
fn files_of_a_run_must_differ() {
    let dir = TestDir::new();
    let saved = dir.run(&words("solve 5x6 --max-nodes 300 --checkpoint a.ckpt --quiet"));
    assert_eq!(code(&saved), 3, "{}", stderr(&saved));
    let saved = dir.run(&words("sprouts solve 0*6 --db a.nimbers --quiet"));
    assert_eq!(code(&saved), 0, "{}", stderr(&saved));
    std::os::unix::fs::symlink("a.ckpt", dir.path("link")).unwrap();
    std::fs::create_dir_all(dir.path("real/deep")).unwrap();
    std::os::unix::fs::symlink("real", dir.path("other")).unwrap();
    std::os::unix::fs::symlink("real/deep", dir.path("deep")).unwrap();
    let read = |name: &str| std::fs::read(dir.path(name)).unwrap();
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
        let output = dir.run(&words(line));
        assert_eq!(code(&output), 2, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("are the same file"), "{line}: {}", stderr(&output));
    }
    // The names of temporary and lock files must differ from those of the other files, too.
    for line in [
        "solve 5x6 --proof new --trace new.tmp",
        "solve 5x6 --proof real/new --trace other/new.tmp",
        "solve 5x6 --proof new.tmp --checkpoint new",
        "solve 5x6 --proof a.ckpt.tmp --checkpoint a.ckpt --resume",
        "solve 5x6 --checkpoint a.ckpt --resume --trace a.ckpt.lock",
        "sprouts db export a.nimbers.tmp a.nimbers",
    ] {
        let output = dir.run(&words(line));
        assert_eq!(code(&output), 2, "{line}: {}", stderr(&output));
        let message = stderr(&output);
        assert!(message.contains("the name of a temporary file of"), "{line}: {message}");
    }
    assert_eq!(["a.ckpt", "a.nimbers"].map(read), before);
    let left = ["a.ckpt", "a.nimbers", "deep", "link", "other", "real"];
    assert_eq!(dir.files(), left);
    assert_eq!(std::fs::read_dir(dir.path("real")).unwrap().count(), 1);
    // Similar names of different files are accepted.
    let lines = ["solve 3x3 --proof new --trace real/new", "solve 3x3 --proof b --trace b.tmp2"];
    for line in lines {
        assert_eq!(code(&dir.run(&words(line))), 0, "{line}");
    }
}

/// Standard input without line feeds must not fill the memory.
#[test]
fn overlong_lines_are_errors() {
    let dir = TestDir::new();
    dir.json(&words("builddb 3x3 --json --quiet"), 0);
    let long = "x".repeat(1 << 17);
    for line in ["analyse 3x3", "play 3x3"] {
        let output = dir.with_input(&words(line), &long);
        assert_eq!(code(&output), 4, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("the line has more than"), "{line}: {}", stderr(&output));
    }
    // The other lines are answered.
    for line in ["probe 3x3", "solve 3x3 -"] {
        let output = dir.with_input(&words(line), &format!("3/3/3 b\n{long}\n3/3/3 w\n"));
        assert_eq!(code(&output), 2, "{line}: {}", stderr(&output));
        let expected = "error: line 2: the line has more than 65536 bytes\n";
        assert_eq!(stderr(&output), expected, "{line}");
        assert_eq!(stdout(&output).lines().count(), 2, "{line}");
    }
}

/// Errors and tips name the paths and options of the command line.
#[test]
fn errors_repeat_the_command_line() {
    let dir = TestDir::new();
    std::fs::write(dir.path("file"), "").unwrap();
    let missing = "error: nope is no database: there is no such directory; build one, or continue \
                   the build that was interrupted\n  tip: --db names another directory; ";
    let rows = [
        ("probe --db nope", 4, missing),
        ("engine --db nope", 4, missing),
        ("probe 5x5 --db nope --moves c3", 4, "`konane builddb 5x5` builds a database"),
        ("probe --db file", 4, "it is a file, not a directory"),
        ("solve -", 2, "as in `konane solve 4x4 -`"),
        ("solve --position \u{3000}", 2, "--position: a position is missing: "),
        ("man --out file", 2, "error: file is a file, not a directory: choose a directory"),
        ("man solve --out pages", 2, "error: --out always writes all pages: omit solve"),
        (
            "value 3x3 --thermograph nope/a.svg",
            4,
            "error: cannot create nope/a.svg: the directory nope does not exist\n",
        ),
        #[cfg(target_os = "linux")]
        ("builddb 3x3 --out /proc/x", 4, "error: cannot create /proc/x: "),
    ];
    for (line, expected, text) in rows {
        let args: Vec<&str> = line.split(' ').collect();
        let output = dir.run(&args);
        assert_eq!(code(&output), expected, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(text), "{line}: {}", stderr(&output));
    }
    let text = stdout(&dir.run(&["builddb", "--max-stones", "3", "--memory", "1GiB"]));
    let hint = "`konane builddb 5x5 --max-stones 3 --memory 1024MiB` builds a database,";
    assert!(text.contains(hint) && !text.contains("--max-stones N"), "{text}");
    assert_eq!(dir.files(), ["file"]);
}

/// Thread stacks need address space, which the shell limits here.
#[test]
#[cfg(target_os = "linux")]
fn threads_that_cannot_be_started_are_omitted_or_reported() {
    let dir = TestDir::new();
    dir.json(&words("builddb 3x3 --json --quiet"), 0);
    dir.json(&words("solve 3x3 --proof 3x3.proof --json"), 0);
    for (line, expected) in [
        ("solve 5x6 --threads 1000 --memory 16MiB", 0),
        ("solve 5x6 --threads 1000 --memory 16MiB --algo pns-pdfpn", 0),
        ("sprouts solve 0*6 --threads 1000 --memory 16MiB", 0),
        ("solve 5x6 --threads 1000 --memory 16MiB --proof a.proof", 3),
        ("perft 5x6 4 --threads 1000", 3),
        ("verify-proof 3x3.proof --threads 1000 --json", 3),
        ("verifydb db/3x3-complete --threads 1000 --json", 3),
    ] {
        let output = dir.shell(&format!("ulimit -v 1000000; exec konane {line}")).output().unwrap();
        assert_eq!(code(&output), expected, "{line}: {}", stderr(&output));
        let is_reported = stderr(&output).contains("cannot start the threads");
        assert_eq!(is_reported, expected != 0, "{line}: {}", stderr(&output));
        assert_eq!(
            stdout(&output).is_empty(),
            is_reported,
            "{line}: an answer is printed exactly if there is no error"
        );
        assert_eq!(dir.files(), ["3x3.proof", "db"], "{line}");
    }
}

/// A failed allocation is not the memory limit: a larger limit would not help.
#[test]
#[cfg(target_os = "linux")]
fn failed_allocations_are_errors_that_suggest_less_memory() {
    let dir = TestDir::new();
    for (algorithm, threads) in [("dfpn", 2), ("pns", 1), ("pn2", 1), ("pn2", 2), ("pns-pdfpn", 2)]
    {
        let search = format!("solve 6x6 --algo {algorithm} --threads {threads} --json --quiet");
        let file = format!("--checkpoint {algorithm}{threads}.ckpt");
        dir.json(&words(&format!("{search} --memory 16MiB --max-nodes 2000 {file}")), 3);
        for more in [String::new(), format!("{file} --resume")] {
            let line = format!("ulimit -v 1000000; exec konane {search} --memory 1GiB {more}");
            let output = dir.shell(&line).output().unwrap();
            assert_eq!(code(&output), 2, "{search} {more}: {}", stderr(&output));
            for text in ["the system does not give", "ask for less memory", "a smaller --memory"] {
                assert!(stderr(&output).contains(text), "{search} {more}: {}", stderr(&output));
            }
            assert_eq!(stdout(&output), "", "{search} {more}");
        }
    }
}

/// The shell limits the file size to at most a kilobyte.
#[test]
fn exceeding_the_file_size_limit_is_an_error_and_leaves_no_file() {
    let dir = TestDir::new();
    for (line, left) in [
        ("solve 5x6 --proof a.proof", &[][..]),
        ("solve 6x7 --max-nodes 50000 --threads 1 --checkpoint a.ckpt", &[]),
        ("builddb 4x5 --out . --quiet", &["4x5-complete"]),
    ] {
        let output = dir.shell(&format!("ulimit -f 1; exec konane {line}")).output().unwrap();
        assert_eq!(code(&output), 4, "{line}: {}", stderr(&output));
        let full =
            ["File too large", "no space is left"].map(|part| stderr(&output).contains(part));
        assert_ne!(full, [false; 2], "{line}: {}", stderr(&output));
        assert_eq!(dir.files(), left, "{line}");
    }
    // Parts of layers are in a separate directory.
    for entry in dir.path("4x5-complete").read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.ends_with(".kdb") || name == "tasks", "{name}");
    }
}
