//! Kills, several writers of one file, special files, and limits of memory, disk and file size.
//!
//! Each test repeats random attempts for `ATTACK_SECONDS` (5 unless given); `ATTACK_SEED` selects other
//! attempts. An attempt fails on a panic, an abort, a signal that was not sent, a hang, a wrong answer, exit
//! code 0 with an incomplete output, and a temporary file that is left over. docs/robustness.md has counts.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use konane::search::testing::random::Random;
use serde_json::Value;

use super::common::{TestDir, code, ends_soon, signal, stderr, stdout, words};
use super::system_limits::{STEP, min_memory, with_memory};

/// A subcommand that writes a file.
#[derive(Clone, Copy)]
struct Writer {
    line: &'static str,
    /// The program is killed within this number of milliseconds.
    within: u64,
    output: &'static str,
    /// A command line that checks the output.
    check: &'static str,
    /// A command line that continues from the output, if it differs from `line`.
    resumes: Option<&'static str>,
    /// A key of the JSON and its value in a right answer.
    answer: (&'static str, &'static str),
}

const fn writer(
    line: &'static str,
    within: u64,
    output: &'static str,
    check: &'static str,
    answer: (&'static str, &'static str),
) -> Writer {
    Writer { line, within, output, check, resumes: None, answer }
}

const RESUME_TABLE: &str = "solve 6x6 --checkpoint o.ckpt --resume --json --quiet";
const RESUME_TREE: &str = "solve 6x6 --algo pns --checkpoint o.ckpt --resume --json --quiet";
const WHITE: (&str, &str) = ("winner", "white");

const WRITERS: [Writer; 9] = [
    writer(
        "solve 5x6 --proof o.proof --threads 2 --json --quiet",
        300,
        "o.proof",
        "verify-proof o.proof --quiet",
        WHITE,
    ),
    Writer {
        resumes: Some(RESUME_TABLE),
        ..writer(
            "solve 6x6 --threads 2 --checkpoint o.ckpt --checkpoint-interval 20ms --json --quiet",
            600,
            "o.ckpt",
            RESUME_TABLE,
            WHITE,
        )
    },
    Writer {
        resumes: Some(RESUME_TREE),
        ..writer(
            "solve 6x6 --algo pns --checkpoint o.ckpt --checkpoint-interval 20ms --json --quiet",
            600,
            "o.ckpt",
            RESUME_TREE,
            WHITE,
        )
    },
    writer(
        "builddb 4x5 --out o --json --quiet",
        500,
        "o/4x5-complete/database.json",
        "verifydb o/4x5-complete --deep --quiet",
        ("board", "4x5"),
    ),
    writer(
        "builddb 4x5 --out o --scope reachable --json --quiet",
        500,
        "o/4x5-reachable/database.json",
        "verifydb o/4x5-reachable --deep --quiet",
        ("board", "4x5"),
    ),
    writer(
        "sprouts solve 0*12 --db o.nimbers --threads 2 --json --quiet",
        500,
        "o.nimbers",
        "sprouts db stats o.nimbers",
        ("outcome", "loss"),
    ),
    writer(
        "sprouts db import o.nimbers some.spr --json",
        50,
        "o.nimbers",
        "sprouts db stats o.nimbers",
        ("file", "o.nimbers"),
    ),
    writer(
        "sprouts db merge o.nimbers some.nimbers --json",
        50,
        "o.nimbers",
        "sprouts db stats o.nimbers",
        ("file", "o.nimbers"),
    ),
    writer(
        "sprouts db export some.nimbers o.spr --json",
        50,
        "o.spr",
        "sprouts verify o.spr",
        ("file", "o.spr"),
    ),
];

impl Writer {
    /// Checks the output, if there is one.
    fn check_output(&self, dir: &TestDir, context: &str) {
        if dir.path(self.output).exists() {
            let checked = dir.run(&words(self.check));
            assert_eq!(code(&checked), 0, "{context}: the output: {}", stderr(&checked));
        }
    }

    /// Checks the answer of a run with exit code 0.
    fn check_answer(&self, output: &Output, context: &str) {
        let object: Value = serde_json::from_slice(&output.stdout).expect(context);
        let (key, value) = self.answer;
        assert_eq!(object[key], value, "{context}: {object}");
    }
}

/// Command lines that read a file, and the file.
const READERS: [(&str, &str); 13] = [
    ("verify-proof 4x4.proof --quiet", "4x4.proof"),
    ("play 4x4 --proof 4x4.proof", "4x4.proof"),
    ("solve 5x6 --checkpoint 5x6.ckpt --resume --quiet", "5x6.ckpt"),
    ("verifydb db/3x3-complete --quiet", "db/3x3-complete/database.json"),
    ("verifydb db/3x3-complete --quiet", "db/3x3-complete/stones-05.kdb"),
    ("probe 3x3 --moves a3,a2 --db db", "db/3x3-complete/stones-07.kdb"),
    ("solve 3x3 --db db --quiet", "db/3x3-complete/database.json"),
    ("solve 3x3 --db db --quiet", "db/3x3-complete"),
    ("sprouts verify some.spr", "some.spr"),
    ("sprouts db stats some.nimbers", "some.nimbers"),
    ("sprouts db merge o.nimbers some.nimbers", "some.nimbers"),
    ("sprouts db import o.nimbers some.spr", "some.spr"),
    ("sprouts db export some.nimbers o.spr", "some.nimbers"),
];

/// Command lines that are run with little memory.
const LINES: [&str; 31] = [
    "help solve",
    "solve 5x6 --memory 16MiB --threads 2 --quiet",
    "solve 5x6 --memory 16MiB --threads 2 --quiet --proof o.proof",
    "solve 5x6 --memory 16MiB --threads 2 --quiet --proof o.proof --json",
    "solve 6x6 --memory 16MiB --threads 2 --quiet --proof o.proof",
    "solve 6x6 --memory 16MiB --threads 2 --quiet --proof o.proof --json",
    "solve 5x6 --memory 16MiB --threads 2 --quiet --checkpoint o.ckpt",
    "solve 5x6 --memory 16MiB --threads 2 --quiet --checkpoint o.ckpt --proof o.proof --json",
    "solve 5x6 --memory 64MiB --quiet --checkpoint 5x6.ckpt --resume",
    "solve 5x6 --memory 16MiB --threads 2 --quiet --lines --json",
    "solve 5x6 --memory 16MiB --algo pns --quiet",
    "solve 5x6 --memory 16MiB --algo pn2 --threads 2 --quiet",
    "solve 5x6 --memory 16MiB --algo pns-pdfpn --threads 2 --quiet",
    "solve 5x6 --algo ab",
    "solve 3x3 --memory 16MiB --db db --quiet",
    "perft 6x6 8 --threads 2 --quiet",
    "perft 6x6 6 --threads 2 --quiet --divide --json",
    "perft 5x5 9 --threads 2 --quiet --unique",
    "statespace 4x4 --threads 2 --quiet",
    "value 4x4 --moves a4,a3 --quiet",
    "builddb 4x4 --out o --threads 2 --quiet",
    "verifydb db/3x3-complete --deep --threads 2 --quiet",
    "verify-proof 4x4.proof --threads 2 --quiet",
    "probe 3x3 --moves a3,a2 --db db",
    "sprouts solve 0*8 --memory 16MiB --threads 2 --quiet",
    "sprouts solve 0*7 --memory 16MiB --threads 2 --quiet --db o.nimbers",
    "sprouts grundy 0*6 --memory 16MiB --threads 2 --quiet",
    "sprouts children 0*6 --json",
    "sprouts verify some.spr --memory 16MiB --quiet",
    "sprouts db import o.nimbers some.spr",
    "sprouts db export some.nimbers o.spr",
];

/// Reads a number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

/// Repeats an attempt, each time in a new directory with files of every kind.
fn repeat(name: &str, mut attempt: impl FnMut(&mut Random, &TestDir)) {
    let files = TestDir::with_files();
    let mut random = Random(setting("ATTACK_SEED", 1));
    let (started, mut attempts) = (Instant::now(), 0);
    while started.elapsed().as_secs() < setting("ATTACK_SECONDS", 5) {
        attempt(&mut random, &files.copy());
        attempts += 1;
    }
    println!("{name}: {attempts} attempts in {:.1?}", started.elapsed());
}

/// Checks that a run ended by itself, without a panic.
fn check_end(output: &Output, context: &str) {
    let (status, message) = (output.status, stderr(output));
    let is_orderly = matches!(status.code(), Some(0..=4 | 130));
    assert!(is_orderly && !message.contains("panicked at"), "{context}: {status}: {message}");
}

/// Checks that there are no temporary files and no locks.
fn check_nothing_left(directory: &Path, context: &str) {
    for entry in fs::read_dir(directory).expect(context) {
        let path = entry.expect(context).path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_odd = [".tmp", ".part", ".lock", ".new"].iter().any(|end| name.contains(end));
        assert!(!is_odd, "{context}: {} is left over", path.display());
        if path.is_dir() && !path.is_symlink() {
            check_nothing_left(&path, context);
        }
    }
}

#[test]
#[ignore = "repeated for ATTACK_SECONDS"]
fn killed_writers_leave_complete_files_and_continue() {
    repeat("killed", |random, dir| {
        let writer = random.pick(&WRITERS);
        let (name, number) =
            random.pick(&[("-KILL", 9), ("-KILL", 9), ("-TERM", 15), ("-INT", 2), ("-HUP", 1)]);
        let after = Duration::from_millis(random.below(writer.within));
        let context = format!("{name} after {after:?}, konane {}", writer.line);
        let child = dir.spawn(&words(writer.line));
        sleep(after);
        signal(&child, name);
        let output = ends_soon(child, &context);
        if output.status.signal() != Some(number) {
            check_end(&output, &context);
            check_nothing_left(&dir.path(""), &context);
        }
        if output.status.success() {
            writer.check_answer(&output, &context);
        }
        writer.check_output(dir, &context);
        let resumes = writer.resumes.filter(|_| dir.path(writer.output).exists());
        let next = dir.run(&words(resumes.unwrap_or(writer.line)));
        assert_eq!(code(&next), 0, "{context}, again: {}", stderr(&next));
        writer.check_answer(&next, &context);
        check_nothing_left(&dir.path(""), &context);
        writer.check_output(dir, &context);
    });
}

#[test]
#[ignore = "repeated for ATTACK_SECONDS"]
fn several_writers_of_one_file_leave_a_complete_one() {
    repeat("writers", |random, dir| {
        let writer = random.pick(&WRITERS);
        let mut children = Vec::new();
        for _ in 0..2 + random.below(2) {
            children.push(dir.spawn(&words(writer.line)));
            sleep(Duration::from_millis(random.below(30)));
        }
        let context = format!("{} at once, konane {}", children.len(), writer.line);
        for child in children {
            let output = ends_soon(child, &context);
            check_end(&output, &context);
            if output.status.success() {
                writer.check_answer(&output, &context);
                assert!(dir.path(writer.output).exists(), "{context}: no output");
            }
        }
        check_nothing_left(&dir.path(""), &context);
        writer.check_output(dir, &context);
    });
}

/// Replaces a path by a special, empty or inaccessible file and returns its kind. Device nodes need
/// root.
fn put(random: &mut Random, path: &Path) -> Option<&'static str> {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        fs::remove_file(path).unwrap();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let node = |kind: &[&str]| {
        let made = Command::new("mknod").arg(path).args(kind).output().expect("mknod runs");
        made.status.success()
    };
    match random.below(8) {
        0 => node(&["p"]).then_some("FIFO"),
        1 => {
            fs::create_dir(path).unwrap();
            fs::write(path.join("full"), "x").unwrap();
            Some("directory")
        }
        // Binding fails if the path is too long for a socket.
        2 => UnixListener::bind(path).is_ok().then_some("socket"),
        3 => symlink("nowhere/else", path).is_ok().then_some("link to nothing"),
        4 => symlink(path.file_name().unwrap(), path).is_ok().then_some("link to itself"),
        5 => fs::write(path, "").is_ok().then_some("empty file"),
        6 => node(&["c", "1", "3"]).then_some("null device"),
        _ => node(&["c", "1", "7"]).then_some("full device"),
    }
}

#[test]
#[ignore = "repeated for ATTACK_SECONDS"]
fn special_files_are_rejected_and_not_replaced() {
    repeat("places", |random, dir| {
        let writes = random.below(2) == 0;
        let writer = random.pick(&WRITERS);
        let (mut line, mut name) = random.pick(&READERS);
        if writes {
            // For a database, the output file or its topmost directory.
            let parts = [Some(writer.output), writer.output.split('/').next()];
            (line, name) = (writer.line, random.pick(&parts).expect("a name"));
        }
        let path = dir.path(name);
        let Some(what) = put(random, &path) else { return };
        let kind = || fs::symlink_metadata(&path).map(|data| data.file_type()).ok();
        let before = kind();
        let context = format!("{what} at {name}, konane {line}");
        let output = ends_soon(dir.spawn(&words(line)), &context);
        check_end(&output, &context);
        check_nothing_left(&dir.path(""), &context);
        let may_be_replaced = before.is_some_and(|kind| kind.is_file() || kind.is_symlink());
        assert!(may_be_replaced || kind() == before, "{context}: replaced by {:?}", kind());
        if writes && output.status.success() {
            writer.check_output(dir, &context);
        } else if !writes {
            // An empty file is a valid file without Grundy numbers.
            let is_good = what == "empty file" && name.ends_with(".nimbers");
            assert!(!output.status.success() || is_good, "{context}: exit code 0");
        }
    });
}

#[test]
#[ignore = "repeated for ATTACK_SECONDS"]
fn writers_leave_complete_files_within_disk_limits() {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    repeat("limits", |random, dir| {
        let writer = random.pick(&WRITERS);
        let line = writer.line;
        let (script, as_nobody) = match random.below(3) {
            // Units of 512 bytes or a kilobyte.
            0 => (format!("ulimit -f {}; exec konane {line}", random.below(200)), false),
            1 => (format!("exec konane {line}"), is_root),
            // A tmpfs in a mount namespace. Its files are copied out afterwards.
            _ => {
                let disk =
                    format!("mount -t tmpfs -o size={}k none disk", 4 + 4 * random.below(40));
                let line = line.replace(" o.", " disk/o.").replace(" o ", " disk/o ");
                let run = format!("timeout 60 konane {line}; code=$?; cp -a disk/. .; exit $code");
                (format!("exec unshare -rm sh -c 'mkdir disk && {disk} || exit 125; {run}'"), false)
            }
        };
        let is_read_only = script.starts_with("exec konane");
        let context = format!("{script}, as nobody: {as_nobody}");
        let mut shell = dir.shell(&script);
        if is_read_only {
            let locked = dir.shell("chmod -R a-w,a+rX .").status();
            assert!(locked.expect("chmod runs").success());
        }
        if as_nobody {
            shell.uid(65534);
        }
        let output = ends_soon(shell.spawn().expect("a shell"), &context);
        assert!(dir.shell("chmod -R u+w .").status().expect("chmod runs").success());
        // Mount namespaces are unavailable, or the user `nobody` cannot run the program.
        if matches!(output.status.code(), Some(1) if stderr(&output).contains("unshare"))
            || matches!(output.status.code(), Some(125..=127))
        {
            println!("skipped: {context}: {}", stderr(&output));
            return;
        }
        check_end(&output, &context);
        check_nothing_left(&dir.path(""), &context);
        writer.check_output(dir, &context);
        // A finished search needs no checkpoint; a missing one is only a warning.
        if output.status.success() && writer.resumes.is_none() {
            assert!(dir.path(writer.output).exists(), "{context}: exit code 0 without the output");
        }
    });
}

#[test]
#[ignore = "repeated for ATTACK_SECONDS"]
fn little_address_space_ends_with_a_message() {
    // With less memory, the dynamic loader may fail before the program starts.
    let floor = min_memory(&TestDir::new(), "--version");
    let mut found = BTreeMap::new();
    repeat("memory", |random, dir| {
        let line = random.pick(&LINES);
        let least = *found.entry(line).or_insert_with(|| min_memory(dir, line));
        // Near the minimum, or at a random size above 16 MiB.
        let steps = match random.below(4) {
            0 => (16 << 10) / STEP + random.below((512 << 10) / STEP),
            _ => (least + 64).saturating_sub(random.below(448)).max(floor),
        };
        let output = with_memory(dir, line, steps);
        let context = format!("ulimit -v {}; konane {line}", steps * STEP);
        check_end(&output, &context);
        check_nothing_left(&dir.path(""), &context);
        let (message, answer) = (stderr(&output), stdout(&output));
        let is_refused = code(&output) == 2 && message.contains("--memory");
        assert!(matches!(code(&output), 0 | 3 | 4) || is_refused, "{context}: {message}");
        assert!(!message.is_empty() || !answer.is_empty(), "{context}: no message");
        if line.contains("--json") && !answer.is_empty() {
            super::common::one_object(&answer);
        }
    });
}
