//! Signals during searches, and kill -9 while checkpoints are written.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::thread::sleep;
use std::time::Duration;

use konane::checkpoint::CheckpointReader;
use konane::checkpoint::format::FOOTER_BYTES;
use konane::game::Konane;
use konane::search::plain::game::Game;
use konane::search::table::Table;
use konane::{Board, Profile};
use serde_json::Value;

use super::super::common::{TestDir, signal, wait_for, wait_for_work};
use super::{answer, solve};

/// A board that takes df-pn about 3 million nodes, or one second.
const BOARD: &str = "6x7";
const SOLVE: [&str; 3] = ["solve", "--json", "--quiet"];
const WINNER: &str = "white";

#[test]
fn a_signal_saves_the_search() {
    for (name, algorithm) in [("-INT", "dfpn"), ("-TERM", "pns"), ("-TERM", "pn2")] {
        let dir = TestDir::new();
        let search = [BOARD, "--memory", "64MiB", "--algo", algorithm];
        let file = ["--checkpoint", "a.ckpt"];
        let child = dir.spawn(&[&SOLVE[..], &search, &file].concat());
        wait_for(&dir.path("a.ckpt.lock"));
        wait_for_work(&child, Duration::from_millis(150));
        // Two signals, as sent by `timeout`: one to the program and one to its process group.
        signal(&child, name);
        sleep(Duration::from_millis(5));
        signal(&child, name);
        let stopped = answer(&child.wait_with_output().unwrap(), 130);
        assert_eq!(stopped["reason"], "interrupted");
        assert_eq!(stopped["checkpoint"]["written"], 1);
        assert_eq!(dir.files(), ["a.ckpt"]);
        let resumed = solve(&dir, &[&search[..], &file, &["--resume"]].concat(), 0);
        assert_eq!(resumed["winner"], WINNER, "{algorithm}");
        let nodes = |key: &str| [&stopped, &resumed].map(|value| value[key].as_u64().unwrap());
        let total = resumed["total"]["nodes"].as_u64().unwrap();
        assert_eq!(total, nodes("nodes").iter().sum::<u64>());
        assert_eq!(resumed["total"]["runs"], 2);
    }
}

/// The checkpoint is large, so the signal usually arrives while it is read. If it arrives later,
/// the answer is the same.
#[test]
fn a_signal_while_a_checkpoint_is_read_ends_the_run() {
    let dir = TestDir::new();
    let file = ["8x8", "--memory", "256MiB", "--checkpoint", "a.ckpt"];
    solve(&dir, &[&file[..], &["--max-nodes", "6M"]].concat(), 3);
    let before = fs::metadata(dir.path("a.ckpt")).unwrap().len();
    let resumed = [&SOLVE[..], &["--threads", "1", "--resume"], &file].concat();
    let child = dir.spawn(&resumed);
    wait_for(&dir.path("a.ckpt.lock"));
    signal(&child, "-INT");
    let stopped = answer(&child.wait_with_output().unwrap(), 130);
    assert_eq!(
        (&stopped["outcome"], &stopped["reason"]),
        (&"unknown".into(), &"interrupted".into())
    );
    assert_eq!((&stopped["best_move"], &stopped["total"]["runs"]), (&Value::Null, &2.into()));
    assert!(stopped["total"]["nodes"].as_u64() >= Some(6_000_000), "{stopped}");
    assert_eq!(stopped["checkpoint"]["resumed"], true);
    if stopped["nodes"] == 0 {
        assert_eq!(stopped["checkpoint"]["written"], 0);
        assert_eq!(fs::metadata(dir.path("a.ckpt")).unwrap().len(), before);
    }
    assert_eq!(dir.files(), ["a.ckpt"]);
}

/// Checkpoints are written without a pause, and the program is killed at random times. The file is
/// always complete, and the search can resume from it.
#[test]
fn kill_9_while_a_checkpoint_is_written_leaves_a_complete_one() {
    for algorithm in ["dfpn", "pns"] {
        let dir = TestDir::new();
        let search = [BOARD, "--memory", "64MiB", "--algo", algorithm];
        let file = ["--checkpoint", "a.ckpt", "--checkpoint-interval", "1ms"];
        let (mut kills, mut unfinished, mut nodes) = (0, 0, 0);
        for run in 0..12 {
            let resume: &[&str] = if run == 0 { &[] } else { &["--resume"] };
            let mut child = dir.spawn(&[&SOLVE[..], &search, &file, resume].concat());
            wait_for(&dir.path("a.ckpt"));
            sleep(Duration::from_millis(7 * run + 20));
            signal(&child, "-KILL");
            kills += u64::from(!child.wait().unwrap().success());
            unfinished += u64::from(dir.path("a.ckpt.tmp").exists());
            let totals = check(&dir);
            assert!(totals.nodes >= nodes, "{} after {nodes}", totals.nodes);
            nodes = totals.nodes;
        }
        assert!(kills > 6 && unfinished > 0, "{kills} kills, {unfinished} while writing");
        let resumed = solve(&dir, &[&search[..], &file, &["--resume"]].concat(), 0);
        assert_eq!(resumed["winner"], WINNER);
        assert!(resumed["total"]["nodes"].as_u64().unwrap() > nodes);
        assert_eq!(dir.files(), ["a.ckpt"], "temporary files of killed runs are removed");
    }
}

/// Loads the checkpoint.
fn check(dir: &TestDir) -> konane::checkpoint::Totals {
    let path = dir.path("a.ckpt");
    let reader = CheckpointReader::open(&path).expect("whole");
    let (totals, footer) = (reader.header().totals, *reader.footer());
    assert_eq!(footer.offset + FOOTER_BYTES as u64, fs::metadata(&path).unwrap().len());
    let board = Board::new(BOARD.parse().unwrap());
    let game = Konane::new(&board, Profile::Tuned.estimate());
    let table = Table::new(64 << 20).unwrap();
    reader.load(&table, |code| game.key(code), &mut |_, _| true).unwrap();
    let found = table.count().0;
    assert!(found <= footer.entries && found * 100 >= footer.entries * 98, "{found} {footer:?}");
    totals
}

/// A failed checkpoint is reported and does not end the search. The exit code depends on the last
/// one.
#[test]
fn an_unwritable_last_checkpoint_is_an_error() {
    let dir = TestDir::new();
    fs::create_dir(dir.path("disk")).unwrap();
    let file = ["--checkpoint", "disk/a.ckpt", "--checkpoint-interval", "50ms"];
    let mut child = dir.spawn(&[&SOLVE[..], &["8x8", "--memory", "16MiB"], &file].concat());
    wait_for(&dir.path("disk/a.ckpt"));
    // The program may still create files in the directory.
    while dir.path("disk").exists() {
        let _ = fs::remove_dir_all(dir.path("disk"));
    }
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut message = String::new();
    while message.matches("warning: no checkpoint was written").count() < 2 {
        assert!(stderr.read_line(&mut message).unwrap() > 0, "{message}");
    }
    signal(&child, "-INT");
    stderr.read_to_string(&mut message).unwrap();
    let stopped = answer(&child.wait_with_output().unwrap(), 4);
    assert_eq!(stopped["reason"], "interrupted");
    assert!(stopped["checkpoint"]["written"].as_u64().unwrap() > 0);
    let error = stopped["checkpoint"]["error"].as_str().unwrap();
    assert!(error.contains("cannot create disk/a.ckpt: "), "{error}");
    let warned = format!("warning: no checkpoint was written: {error}\n");
    assert!(message.matches(&warned).count() > 1, "{message}");
    assert!(message.ends_with(&format!("error: {error}\n")), "{message}");
}

/// A second search must not write to the checkpoint of the first.
#[test]
fn two_searches_cannot_share_a_file() {
    let dir = TestDir::new();
    let solve = ["solve", "8x8", "--json", "--quiet", "--memory", "16MiB"];
    let child = dir.spawn(&[&solve[..], &["--checkpoint", "a.ckpt"]].concat());
    wait_for(&dir.path("a.ckpt.lock"));
    // The file is created shortly before it is locked.
    wait_for_work(&child, Duration::from_millis(100));
    let output = dir.run(&[&solve[..], &["--checkpoint", "a.ckpt"]].concat());
    signal(&child, "-INT");
    assert_eq!(output.status.code(), Some(4));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("another search writes its checkpoints to a.ckpt"), "{message}");
    answer(&child.wait_with_output().unwrap(), 130);
    assert_eq!(dir.files(), ["a.ckpt"]);
}
