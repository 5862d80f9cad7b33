//! Signals, and kill -9 while checkpoints are written.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::thread::sleep;
use std::time::Duration;

use konane::checkpoint::CheckpointReader;
use konane::game::Konane;
use konane::search::plain::game::Game;
use konane::search::table::Table;
use konane::{Board, Profile};
use serde_json::Value;

use super::super::common::{Place, signal, wait_for, wait_for_work};
use super::{answer, solve};

/// A search of some 3 million nodes for df-pn, about a second.
const BOARD: &str = "6x7";
const SOLVE: [&str; 3] = ["solve", "--json", "--quiet"];
const WINNER: &str = "white";

#[test]
fn a_signal_saves_the_search() {
    for (name, algorithm) in [("-INT", "dfpn"), ("-TERM", "pns"), ("-TERM", "pn2")] {
        let place = Place::new();
        let search = [BOARD, "--memory", "64MiB", "--algo", algorithm];
        let file = ["--checkpoint", "a.ckpt"];
        let child = place.spawn(&[&SOLVE[..], &search, &file].concat());
        wait_for(&place.path("a.ckpt.lock"));
        wait_for_work(&child, Duration::from_millis(150));
        // As `timeout` does: once to the program and once to its group.
        signal(&child, name);
        sleep(Duration::from_millis(5));
        signal(&child, name);
        let stopped = answer(&child.wait_with_output().unwrap(), 130);
        assert_eq!(stopped["reason"], "interrupted");
        assert_eq!(stopped["checkpoint"]["written"], 1);
        assert_eq!(place.files(), ["a.ckpt"]);
        let resumed = solve(&place, &[&search[..], &file, &["--resume"]].concat(), 0);
        assert_eq!(resumed["winner"], WINNER, "{algorithm}");
        let nodes = |key: &str| [&stopped, &resumed].map(|value| value[key].as_u64().unwrap());
        let total = resumed["total"]["nodes"].as_u64().unwrap();
        assert_eq!(total, nodes("nodes").iter().sum::<u64>());
        assert_eq!(resumed["total"]["runs"], 2);
    }
}

/// The checkpoint is large enough for the signal to come while it is read, most times; if it comes later,
/// the answer is the same.
#[test]
fn a_signal_while_a_checkpoint_is_read_is_answered() {
    let place = Place::new();
    let file = ["8x8", "--memory", "256MiB", "--checkpoint", "a.ckpt"];
    solve(&place, &[&file[..], &["--max-nodes", "6M"]].concat(), 3);
    let before = fs::metadata(place.path("a.ckpt")).unwrap().len();
    let resumed = [&SOLVE[..], &["--threads", "1", "--resume"], &file].concat();
    let child = place.spawn(&resumed);
    wait_for(&place.path("a.ckpt.lock"));
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
        assert_eq!(fs::metadata(place.path("a.ckpt")).unwrap().len(), before);
    }
    assert_eq!(place.files(), ["a.ckpt"]);
}

/// Checkpoints are written one after the other, and the program is killed at whatever moment: the
/// file is always a whole one, and the search goes on from it.
#[test]
fn kill_9_while_a_checkpoint_is_written_leaves_a_whole_one() {
    for algorithm in ["dfpn", "pns"] {
        let place = Place::new();
        let search = [BOARD, "--memory", "64MiB", "--algo", algorithm];
        let file = ["--checkpoint", "a.ckpt", "--checkpoint-interval", "1ms"];
        let (mut kills, mut unfinished, mut nodes) = (0, 0, 0);
        for run in 0..12 {
            let resume: &[&str] = if run == 0 { &[] } else { &["--resume"] };
            let mut child = place.spawn(&[&SOLVE[..], &search, &file, resume].concat());
            wait_for(&place.path("a.ckpt"));
            sleep(Duration::from_millis(7 * run + 20));
            signal(&child, "-KILL");
            kills += u64::from(!child.wait().unwrap().success());
            unfinished += u64::from(place.path("a.ckpt.tmp").exists());
            let totals = check(&place);
            assert!(totals.nodes >= nodes, "{} after {nodes}", totals.nodes);
            nodes = totals.nodes;
        }
        assert!(kills > 6 && unfinished > 0, "{kills} kills, {unfinished} while writing");
        let resumed = solve(&place, &[&search[..], &file, &["--resume"]].concat(), 0);
        assert_eq!(resumed["winner"], WINNER);
        assert!(resumed["total"]["nodes"].as_u64().unwrap() > nodes);
        assert_eq!(place.files(), ["a.ckpt"], "what the dead runs have left is cleared away");
    }
}

/// Reads the whole file.
fn check(place: &Place) -> konane::checkpoint::Totals {
    let path = place.path("a.ckpt");
    let reader = CheckpointReader::open(&path).expect("whole");
    let (totals, footer) = (reader.header().totals, *reader.footer());
    assert_eq!(footer.offset + 64, fs::metadata(&path).unwrap().len());
    if footer.tree_nodes > 0 {
        // The tree is made again by the next run; here the bytes are enough.
        return totals;
    }
    let board = Board::new(BOARD.parse().unwrap());
    let game = Konane::new(&board, Profile::Tuned.estimate());
    let table = Table::new(64 << 20).unwrap();
    let tree = reader.load(&table, |code| game.key(code), None, &mut |_, _| true);
    assert!(tree.unwrap().is_none());
    let found = table.count().0;
    assert!(found <= footer.entries && found * 100 >= footer.entries * 98, "{found} {footer:?}");
    totals
}

/// What goes wrong with a checkpoint does not end the search, but is said; the last one counts.
#[test]
fn a_checkpoint_that_cannot_be_written_any_more_is_an_error_at_the_end() {
    let place = Place::new();
    fs::create_dir(place.path("disk")).unwrap();
    let file = ["--checkpoint", "disk/a.ckpt", "--checkpoint-interval", "50ms"];
    let mut child = place.spawn(&[&SOLVE[..], &["8x8", "--memory", "16MiB"], &file].concat());
    wait_for(&place.path("disk/a.ckpt"));
    // Files may still appear in it.
    while place.path("disk").exists() {
        let _ = fs::remove_dir_all(place.path("disk"));
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
    assert!(error.contains("cannot create disk/a.ckpt.tmp"), "{error}");
    let warned = format!("warning: no checkpoint was written: {error}\n");
    assert!(message.matches(&warned).count() > 1, "{message}");
    assert!(message.ends_with(&format!("error: {error}\n")), "{message}");
}

/// A second search does not write to the file of the first.
#[test]
fn two_searches_cannot_share_a_file() {
    let place = Place::new();
    let solve = ["solve", "8x8", "--json", "--quiet", "--memory", "16MiB"];
    let child = place.spawn(&[&solve[..], &["--checkpoint", "a.ckpt"]].concat());
    wait_for(&place.path("a.ckpt.lock"));
    // The file exists a moment before the lock on it is taken.
    wait_for_work(&child, Duration::from_millis(100));
    let output = place.run(&[&solve[..], &["--checkpoint", "a.ckpt"]].concat());
    signal(&child, "-INT");
    assert_eq!(output.status.code(), Some(4));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("another search writes its checkpoints to a.ckpt"), "{message}");
    answer(&child.wait_with_output().unwrap(), 130);
    assert_eq!(place.files(), ["a.ckpt"]);
}
