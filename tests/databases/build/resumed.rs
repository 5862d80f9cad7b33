//! Complete builds, interrupted builds, concurrent builds, and files of other builds.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use konane::tablebase::{
    self, BuildError, BuildObserver, BuildOptions, DatabaseError, Metric, Stage,
};
use tempfile::tempdir;

use super::{assert_same, build, build_on, planned};
use crate::{board, files};

#[test]
fn known_numbers_of_wins() {
    for (size, black, white) in [("4x4", 33547, 33547), ("5x5", 26673313, 9159240)] {
        let out = tempdir().unwrap();
        let summary = build(&planned(size, None, out.path()));
        let squares = summary.coverage.dimensions.squares();
        assert_eq!(summary.counts.positions, 2 << squares);
        assert_eq!(summary.counts.black_to_move_wins, black, "{size}");
        assert_eq!(summary.counts.white_to_move_wins, white, "{size}");
        assert_eq!(summary.layers_found, 0);
    }
}

#[test]
fn a_database_has_a_layer_for_each_number_of_stones_and_a_manifest() {
    let out = tempdir().unwrap();
    let plan = planned("3x4", None, out.path());
    assert!(!plan.finished);
    let summary = build(&plan);
    assert_eq!(plan.directory, out.path().join("3x4-complete"));
    let mut names: Vec<String> = (0..=12).map(|n| format!("stones-{n:02}.kdb")).collect();
    names.insert(0, "database.json".to_owned());
    assert_eq!(files(&plan.directory).into_keys().collect::<Vec<_>>(), names);
    let lengths = files(&plan.directory).into_iter().filter(|(name, _)| name.ends_with("kdb"));
    assert_eq!(summary.bytes, lengths.map(|(_, bytes)| bytes.len() as u64).sum::<u64>());
    assert!(summary.bytes <= plan.disk_bytes);

    // A finished database is recognised and not changed.
    let before = files(&plan.directory);
    let again = planned("3x4", None, out.path());
    assert!(again.finished);
    let found = build(&again);
    assert_eq!(found.layers_found, 13);
    assert_eq!(
        (
            found.counts.positions,
            found.counts.black_to_move_wins,
            found.counts.white_to_move_wins,
            found.bytes
        ),
        (
            summary.counts.positions,
            summary.counts.black_to_move_wins,
            summary.counts.white_to_move_wins,
            summary.bytes
        )
    );
    assert!(before == files(&plan.directory));

    // A damaged database is not rebuilt automatically.
    fs::remove_file(plan.directory.join("stones-05.kdb")).unwrap();
    let error = build_on(1, &plan, &(), &AtomicBool::new(false)).unwrap_err();
    let missing =
        matches!(error, BuildError::Database(DatabaseError::MissingLayer { stones: 5, .. }));
    assert!(missing, "{error}");
}

#[test]
fn files_do_not_depend_on_the_number_of_threads() {
    let out = tempdir().unwrap();
    // A board whose layers are large enough to be split into parts.
    let reference = planned("6x6", Some(9), &out.path().join("1"));
    build_on(1, &reference, &(), &AtomicBool::new(false)).unwrap();
    for threads in [2, 5] {
        let plan = planned("6x6", Some(9), &out.path().join(threads.to_string()));
        build_on(threads, &plan, &(), &AtomicBool::new(false)).unwrap();
        assert_same(&reference.directory, &plan.directory);
    }
}

/// Sets the stop flag at the event with number `at`, counted from 0. An event is the start of a stage or the
/// end of a layer.
struct StopAt<'a> {
    calls: AtomicU32,
    at: u32,
    stop: &'a AtomicBool,
}

impl BuildObserver for StopAt<'_> {
    fn stage(&self, _: Stage) {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.at {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn layer_finished(&self, _: u32, _: u64) {
        self.stage(Stage::Resuming);
    }
}

#[test]
fn stopped_at_every_layer_and_continued() {
    for (size, max_stones) in [("5x5", None), ("4x5", None), ("7x7", Some(5)), ("6x6", Some(9))] {
        let out = tempdir().unwrap();
        let whole = planned(size, max_stones, &out.path().join("whole"));
        let expected = build(&whole);
        let (mut stops, mut at) = (0, 0);
        let broken = planned(size, max_stones, &out.path().join("broken"));
        let summary = loop {
            let stop = AtomicBool::new(false);
            // `at` is at most 4, and a layer takes at least two events, so each run adds at most two layers.
            let observer = StopAt { calls: AtomicU32::new(0), at, stop: &stop };
            match build_on(2, &broken, &observer, &stop) {
                Ok(summary) => break summary,
                Err(BuildError::Interrupted) => {
                    assert!(!broken.directory.join("database.json").exists());
                    assert!(files(&broken.directory).keys().all(|name| !name.ends_with(".tmp")));
                }
                Err(error) => panic!("{size}: {error}"),
            }
            stops += 1;
            at = stops % 5;
            assert!(stops < 500, "{size}: no progress");
        };
        assert!(stops > 3, "{size} was stopped {stops} times");
        assert_eq!(summary.counts.black_to_move_wins, expected.counts.black_to_move_wins);
        assert_eq!(summary.counts.white_to_move_wins, expected.counts.white_to_move_wins);
        assert!(summary.layers_found > 0);
        assert_same(&whole.directory, &broken.directory);
    }
}

#[test]
fn every_unfinished_directory_is_completed() {
    // Any subset of the layers may exist, and any of them may be damaged.
    struct Discarded(Mutex<Vec<String>>);
    impl BuildObserver for Discarded {
        fn discarded(&self, path: &std::path::Path, _: &DatabaseError) {
            let name = path.file_name().unwrap().to_str().unwrap();
            self.0.lock().unwrap().push(name.to_owned());
        }
    }
    let out = tempdir().unwrap();
    let whole = planned("4x5", None, &out.path().join("whole"));
    build(&whole);
    for seed in 0u32..40 {
        let plan = planned("4x5", None, &out.path().join(seed.to_string()));
        fs::create_dir_all(&plan.directory).unwrap();
        let mut damaged = Vec::new();
        for (name, mut bytes) in files(&whole.directory) {
            if name == "database.json" {
                continue;
            }
            let stones: u32 = name[7..9].parse().unwrap();
            match (seed + 1).wrapping_mul(0x9E37_79B9).rotate_left(stones) % 7 {
                0..3 => continue,
                3 => {
                    let at = (seed as usize * 131) % bytes.len();
                    bytes[at] ^= 1 << (seed % 8);
                    // A changed version field is an unsupported version, not damage.
                    if !(8..12).contains(&at) && at >= 8 {
                        damaged.push(name.clone());
                    } else {
                        bytes[at] ^= 1 << (seed % 8);
                    }
                }
                4 => {
                    bytes.truncate(bytes.len() - 1 - seed as usize % 40);
                    damaged.push(name.clone());
                }
                5 => {
                    // No bytes, or only zeros, as after a power failure.
                    bytes = vec![0; [0, 1, 100, bytes.len()][seed as usize % 4]];
                    damaged.push(name.clone());
                }
                _ => {}
            }
            fs::write(plan.directory.join(&name), bytes).unwrap();
            fs::write(plan.directory.join(format!("{name}.tmp")), "half").unwrap();
        }
        let observer = Discarded(Mutex::default());
        build_on(2, &plan, &observer, &AtomicBool::new(false)).unwrap();
        assert_eq!(observer.0.into_inner().unwrap(), damaged);
        assert_same(&whole.directory, &plan.directory);
    }
}

#[test]
fn only_one_build_at_a_time() {
    /// Tries to build the same database while it is being built.
    struct Second<'a>(&'a konane::tablebase::Plan, AtomicU32);
    impl BuildObserver for Second<'_> {
        fn stage(&self, _: Stage) {
            let error = build_on(1, self.0, &(), &AtomicBool::new(false)).unwrap_err();
            assert!(matches!(error, BuildError::Busy { .. }), "{error}");
            assert!(error.to_string().contains("another program is building in"), "{error}");
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }
    let out = tempdir().unwrap();
    let whole = planned("3x5", None, &out.path().join("whole"));
    build(&whole);
    let plan = planned("3x5", None, &out.path().join("twice"));
    let second = Second(&plan, AtomicU32::new(0));
    build_on(2, &plan, &second, &AtomicBool::new(false)).unwrap();
    assert!(second.1.into_inner() > 15);
    assert_same(&whole.directory, &plan.directory);
}

#[test]
fn foreign_files_are_rejected() {
    let out = tempdir().unwrap();
    let other = planned("4x3", None, out.path());
    build(&other);
    let plan = planned("3x4", None, out.path());
    fs::create_dir_all(&plan.directory).unwrap();
    let rejected = |from: &str, to: &str| {
        let to = plan.directory.join(to);
        fs::copy(other.directory.join(from), &to).unwrap();
        let error = build_on(1, &plan, &(), &AtomicBool::new(false)).unwrap_err();
        assert!(to.exists(), "the foreign file is kept");
        fs::remove_file(to).unwrap();
        error.to_string()
    };
    let error = rejected("stones-03.kdb", "stones-03.kdb");
    assert!(error.contains("stones-03.kdb belongs to another build"), "{error}");
    assert!(
        error.contains("its database is 4x3-complete, but this build writes 3x4-complete"),
        "{error}"
    );

    // A layer with more stones than the database has, or with another name.
    let whole = planned("3x4", None, out.path());
    build(&whole);
    let few = planned("3x4", Some(4), out.path());
    fs::create_dir_all(&few.directory).unwrap();
    for (name, reason) in [("stones-05.kdb", "database is 3x4-stones5"), ("stones-03.kdb", "name")]
    {
        let to = few.directory.join("stones-05.kdb");
        fs::copy(whole.directory.join(name), &to).unwrap();
        let error = build_on(1, &few, &(), &AtomicBool::new(false)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        fs::remove_file(to).unwrap();
    }

    // A database with another name: for another board, another metric, or fewer stones.
    build(&few);
    for (from, to, size, metric, reason) in [
        ("4x3-complete", "2x6-complete", "2x6", Metric::Outcome, "its database is 4x3-complete"),
        (
            "3x4-complete",
            "3x4-complete-remoteness",
            "3x4",
            Metric::Remoteness,
            "is 3x4-complete, but",
        ),
        ("3x4-stones4", "3x4-complete", "3x4", Metric::Outcome, "is 3x4-stones4"),
    ] {
        let named = out.path().join(to);
        fs::rename(out.path().join(from), &named).unwrap();
        let options = BuildOptions { metric, ..BuildOptions::complete(out.path().to_owned()) };
        let rejected = || tablebase::plan(&board(size), &options).unwrap_err();
        let error = rejected();
        assert!(matches!(error, BuildError::OtherWork { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        fs::write(named.join("database.json"), "{").unwrap();
        assert!(matches!(rejected(), BuildError::Database(_)), "{}", rejected());
    }

    // A directory that cannot be created.
    let file = out.path().join("file");
    fs::write(&file, "").unwrap();
    let error = build_on(1, &planned("3x4", None, &file), &(), &AtomicBool::new(false));
    assert!(matches!(error, Err(BuildError::Database(DatabaseError::File(_)))));
}
