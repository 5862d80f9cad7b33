//! Builds in another process, which is killed or runs out of disk.

use std::env;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

use tempfile::tempdir;

use super::{assert_same, build, build_on, files, planned};

const SIZE: &str = "6x6";
const STONES: u32 = 9;

/// What the other process does: not a test, but the only part of this program that can be called.
#[test]
#[ignore = "a part of other tests"]
fn build_as_told() {
    // Among all ignored tests there is nobody who tells it anything.
    let Some(out) = env::var_os("KONANE_TEST_OUT") else { return };
    let plan = planned(SIZE, Some(STONES), Path::new(&out));
    if let Err(error) = build_on(2, &plan, &(), &AtomicBool::new(false)) {
        eprintln!("{error}");
        std::process::exit(4);
    }
}

fn child(out: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "build::child::build_as_told", "--ignored", "--nocapture"]);
    command.env("KONANE_TEST_OUT", out).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

#[test]
fn killed_again_and_again() {
    let out = tempdir().unwrap();
    let whole = planned(SIZE, Some(STONES), &out.path().join("whole"));
    build(&whole);
    let broken = planned(SIZE, Some(STONES), &out.path().join("broken"));
    let (mut kills, mut milliseconds) = (0u64, 5);
    let status: ExitStatus = loop {
        let mut child = child(&out.path().join("broken")).spawn().unwrap();
        // Later and later, but not by equal steps, so that it dies in all kinds of places.
        sleep(Duration::from_millis(milliseconds));
        milliseconds += 7 + kills * kills % 31;
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if status.success() {
            break status;
        }
        kills += 1;
        assert!(kills < 200, "it does not get on");
    };
    assert!(status.success());
    assert!(kills > 3, "killed {kills} times only");
    assert_same(&whole.directory, &broken.directory);
}

/// The limit of a file's size stands for a full disk: like one, it makes a write fail.
#[test]
#[cfg(unix)]
fn the_disk_is_full() {
    let out = tempdir().unwrap();
    let whole = planned(SIZE, Some(STONES), &out.path().join("whole"));
    build(&whole);
    let full = out.path().join("full");
    let limited = |kibibytes: u32| {
        let inner = child(&full);
        let mut command = Command::new("bash");
        // Without the signal that would kill the process.
        let script = format!("trap '' XFSZ; ulimit -f {kibibytes}; exec \"$@\"");
        command.args(["-c", &script, "bash"]).arg(inner.get_program()).args(inner.get_args());
        command.env("KONANE_TEST_OUT", &full).output().unwrap()
    };
    let broken = planned(SIZE, Some(STONES), &full);
    for kibibytes in [0, 1, 8, 100, 300, 1000] {
        let output = limited(kibibytes);
        assert_eq!(output.status.code(), Some(4), "{kibibytes} KiB");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("no space is left on the disk of"), "{kibibytes} KiB: {error}");
        let names: Vec<String> = files(&broken.directory).into_keys().collect();
        assert!(names.iter().all(|name| !name.ends_with(".tmp")), "{names:?}");
        assert!(!names.contains(&"database.json".to_owned()));
        for (name, bytes) in files(&broken.directory) {
            if name.starts_with("stones-") {
                assert!(bytes == std::fs::read(whole.directory.join(&name)).unwrap(), "{name}");
            }
        }
    }
    let parts = files(&broken.directory.join("tasks"));
    assert!(parts.keys().any(|name| name.starts_with("wins-") && name.ends_with(".kdb")));
    assert!(limited(1 << 20).status.success());
    assert_same(&whole.directory, &broken.directory);
}
