//! Builds that end early because of a signal or another running build, and are resumed later.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::common::{TestDir, code, one_object, signal, stderr, stdout, words};
use super::{build, files};

/// A build that takes long enough to be interrupted, on one thread.
const LONG: [&str; 7] = ["builddb", "7x7", "--max-stones", "7", "--threads", "1", "--quiet"];

/// Waits until a file exists or the program has ended.
fn wait_for(child: &mut Child, path: &Path) {
    let started = Instant::now();
    while !path.exists() && child.try_wait().expect("a child").is_none() {
        assert!(started.elapsed() < Duration::from_secs(120), "no {}", path.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A build is interrupted by Ctrl-C, killed, and rejected while another one runs. The final files
/// equal those of an uninterrupted build, and until then the directory is not a database.
#[test]
fn interrupted_builds_resume_and_write_the_same_files() {
    let uninterrupted = TestDir::new();
    assert_eq!(code(&uninterrupted.run(&LONG)), 0);
    let expected = files(&uninterrupted.path("db/7x7-stones7"));

    let dir = TestDir::new();
    let directory = dir.path("db/7x7-stones7");
    let (mut interrupted, mut killed, mut rejected) = (0, 0, 0);
    for (layer, how) in
        [("stones-03.kdb", "-KILL"), ("stones-05.kdb", "-INT"), ("stones-06.kdb", "-KILL")]
    {
        let mut child = dir.command(&[&LONG[..], &["--json"]].concat()).spawn().expect("runs");
        wait_for(&mut child, &directory.join(layer));
        let second = dir.run(&LONG);
        if code(&second) == 4 {
            assert!(stderr(&second).contains("another program is building"));
            rejected += 1;
        }
        if child.try_wait().expect("a child").is_none() {
            signal(&child, how);
        }
        let output = child.wait_with_output().expect("the program ends");
        match output.status.code() {
            None => killed += 1,
            Some(130) => {
                let value = one_object(&stdout(&output));
                assert_eq!(value["reason"], "interrupted");
                assert_eq!(value["positions"], Value::Null);
                interrupted += 1;
            }
            // The layer existed before this build, so the second build could start at once, and took the lock
            // first.
            Some(4) => {
                assert!(stderr(&output).contains("another program is building"));
                rejected += 1;
            }
            // The build finished before the signal arrived.
            Some(other) => assert_eq!(other, 0, "{}", stderr(&output)),
        }
        if !directory.join("database.json").exists() {
            let output = dir.run(&["probe", "7x7", "--position", "7/7/7/7/7/7/xo5 b"]);
            assert_eq!(code(&output), 4, "no database yet");
        }
    }
    assert!(interrupted + killed > 0 && rejected > 0, "{interrupted} {killed} {rejected}");
    let output = dir.run(&LONG);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found = files(&directory);
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(found == expected, "other bytes");
}

/// A file size limit simulates a full disk: both make a write fail.
#[test]
fn a_build_on_a_full_disk_continues_when_there_is_space() {
    let [whole, full] = [TestDir::new(), TestDir::new()];
    let line = "builddb 6x6 --max-stones 9 --quiet";
    let directory = |dir: &TestDir| files(&dir.path("db/6x6-stones9"));
    assert_eq!(code(&whole.run(&words(line))), 0);
    let expected = directory(&whole);
    // Units of 512 bytes or, in some shells, of a kilobyte.
    for blocks in [0, 1, 16, 200, 600, 2000] {
        let script = format!("ulimit -f {blocks}; exec konane {line}");
        let output = full.shell(&script).output().expect("a shell");
        assert_eq!(code(&output), 4, "{script}");
        let message = stderr(&output);
        assert!(message.contains("no space is left on the disk of"), "{script}: {message}");
        let left = directory(&full);
        assert!(!left.keys().any(|name| name.ends_with(".tmp") || name == "database.json"));
        for (name, bytes) in left.iter().filter(|(name, _)| name.starts_with("stones-")) {
            assert!(*bytes == expected[name], "{script}: {name}");
        }
    }
    let mut parts = full.path("db/6x6-stones9/tasks").read_dir().expect("a directory");
    assert!(parts.next().is_some(), "no parts of a layer are left");
    assert_eq!(code(&full.run(&words(line))), 0);
    assert!(directory(&full) == expected, "other bytes");
}

#[test]
fn an_interrupted_build_prints_how_to_resume() {
    let dir = TestDir::new();
    let mut child = dir.command(&LONG).spawn().expect("runs");
    wait_for(&mut child, &dir.path("db/7x7-stones7/stones-06.kdb"));
    if child.try_wait().expect("a child").is_none() {
        signal(&child, "-INT");
    }
    let output = child.wait_with_output().expect("the program ends");
    if code(&output) == 130 {
        let text = stdout(&output);
        assert!(text.ends_with("interrupted: the same command continues the build\n"), "{text}");
    } else {
        assert_eq!(code(&output), 0);
    }
}

/// The files of an interrupted build are checked. Damaged ones are rebuilt with a warning, not an
/// error.
#[test]
fn a_damaged_layer_is_rebuilt_with_a_warning() {
    let dir = TestDir::new();
    build(&dir, &["4x4", "--max-stones", "9"]);
    let directory = dir.path("db/4x4-stones9");
    let whole = files(&directory);
    fs::remove_file(directory.join("database.json")).unwrap();
    let mut layer = whole["stones-08.kdb"].clone();
    layer[100] ^= 1;
    fs::write(directory.join("stones-08.kdb"), layer).unwrap();
    let output = dir.run(&["builddb", "4x4", "--max-stones", "9", "--quiet"]);
    let message = stderr(&output);
    assert_eq!(code(&output), 0, "{message}");
    assert!(message.starts_with("warning: db/4x4-stones9/stones-08.kdb is rebuilt: "), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(files(&directory) == whole, "other bytes");
}
