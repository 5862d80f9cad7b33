//! Whole databases: the values of all positions, the samples of every version of the format, and
//! the search for a database in a directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::tablebase::files::CHUNK_BYTES;
use crate::tablebase::files::count_layer;
use crate::tablebase::{
    self, BuildOptions, Coverage, Database, DatabaseError, DatabaseOptions, Histogram, Method,
    Metric, PositionCounts, Scope, verify,
};
use crate::{Colour, Dimensions, ErrorKind, Position, Setup, Value};

use super::naive::{Recursion, Sample, build, build_version, reachable};
use super::{board, files};

const fn sample(size: &'static str, scope: Scope, metric: Metric, chunk_bytes: u32) -> Sample {
    Sample { size, scope, metric, max_stones: 64, chunk_bytes }
}

/// Samples of all versions of the format. Their chunk sizes are fixed, so that they do not change with the
/// program's chunk size. Small chunks give blocks of several chunks.
const SAMPLES: [(u32, Sample); 6] = [
    (1, sample("3x3", Scope::Complete, Metric::Outcome, 4096)),
    (1, sample("3x3", Scope::Reachable, Metric::Outcome, 8)),
    (1, sample("3x4", Scope::Complete, Metric::Outcome, 32)),
    (2, sample("3x3", Scope::Reachable, Metric::Outcome, 8)),
    (2, sample("3x4", Scope::Complete, Metric::Outcome, 32)),
    (2, sample("3x4", Scope::Complete, Metric::Remoteness, 32)),
];

/// The directory of a sample, or with an empty name the directory of all samples of a version.
pub fn samples(version: u32, name: &str) -> PathBuf {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/databases");
    all.join(format!("v{version}")).join(name)
}

pub fn open(directory: &Path) -> Database {
    Database::open(directory, DatabaseOptions::default()).unwrap()
}

/// Boards for which both methods of building are compared with plain recursion.
const BUILT: [&str; 6] = ["1x9", "2x5", "3x3", "3x4", "2x7", "4x4"];

/// The files that a build writes have the same bytes as those written with the values of plain recursion.
#[test]
fn builds_have_the_remoteness_of_plain_recursion() {
    for size in BUILT {
        let out = tempfile::tempdir().unwrap();
        let metric = Metric::Remoteness;
        let chunk_bytes = CHUNK_BYTES;
        let scope = Scope::Complete;
        let naive = Sample { size, scope, metric, max_stones: 64, chunk_bytes };
        let expected = files(&build(&out.path().join("naive"), &naive, |_| false));
        let board = board(size);
        for method in [Method::Ranked, Method::Swept] {
            let to = out.path().join(format!("{method:?}"));
            let options =
                BuildOptions { metric, method: Some(method), ..BuildOptions::complete(to) };
            let plan = tablebase::plan(&board, &options).unwrap();
            tablebase::build(&board, &plan, &(), &AtomicBool::new(false)).unwrap();
            assert!(files(&plan.directory) == expected, "{size} {method:?}");
        }
    }
}

/// The samples are written again with the same bytes. `INSTA_UPDATE=always` replaces the samples that
/// differ; the test passes in the next run. A new version of the format has a new directory, and the
/// samples of earlier versions stay.
#[test]
fn samples_are_written_again_with_the_same_bytes() {
    let out = tempfile::tempdir().unwrap();
    let mut different = Vec::new();
    for (version, plan) in &SAMPLES {
        let out = out.path().join(version.to_string());
        let built = build_version(*version, &out, plan, |_| false);
        let sample = samples(*version, built.file_name().unwrap().to_str().unwrap());
        if sample.exists() && files(&built) == files(&sample) {
            continue;
        }
        if std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
            if sample.exists() {
                fs::remove_dir_all(&sample).unwrap();
            }
            build_version(*version, &samples(*version, ""), plan, |_| false);
        }
        different.push(sample);
    }
    assert!(
        different.is_empty(),
        "these samples are written with different bytes; INSTA_UPDATE=always replaces them: {different:?}"
    );
}

/// Compares every value with plain recursion, and the counts with the files.
fn check(database: &Database, plan: &Sample) {
    let mut oracle = Recursion::new(plan.size);
    let board = oracle.board.clone();
    let reached = reachable(&board);
    let mut histogram = Histogram::default();
    for occupied in 0..=board.all() {
        for to_move in [Colour::Black, Colour::White] {
            if occupied.count_ones() > plan.max_stones {
                let error = database.jumping_value(occupied, to_move).unwrap_err();
                assert!(matches!(error, DatabaseError::NotCovered { .. }), "{error}");
                continue;
            }
            let expected = match oracle.jumping(occupied, to_move) {
                _ if plan.scope == Scope::Reachable && !reached.contains(&(occupied, to_move)) => {
                    None
                }
                true => Some(Value::Win),
                false => Some(Value::Loss),
            };
            let found = database.jumping_value(occupied, to_move).unwrap();
            assert_eq!(found, expected, "{} {occupied:#x} {to_move}", plan.size);
            // Sets of stones that are valid positions are also looked up as positions. In the removal phase, the
            // value is computed from later positions.
            let (black, white) = (
                occupied & board.squares_of(Colour::Black),
                occupied & board.squares_of(Colour::White),
            );
            let setup = Setup { black, white, to_move };
            if let Ok(position) = Position::from_setup(&board, setup) {
                let plies = match plan.metric {
                    Metric::Outcome => None,
                    Metric::Remoteness => Some(oracle.plies(&position)),
                };
                assert_eq!(database.remoteness(&position).unwrap(), plies, "{position:?}");
                if let Some(plies) = plies {
                    histogram.insert(to_move, plies);
                }
                match database.value(&position) {
                    Ok(None) => assert_eq!(expected, None),
                    Ok(found) => assert_eq!(found == Some(Value::Win), oracle.value(&position)),
                    Err(error) => panic!("{position:?}: {error}"),
                }
            }
        }
    }
    // The histogram counts exactly the positions that were looked up.
    let expected = (plan.metric == Metric::Remoteness).then_some(histogram);
    assert_eq!(database.histogram().unwrap(), expected);
    let manifest = database.manifest();
    for layer in &manifest.layers {
        let file = database.layer(layer.stones).unwrap();
        let (counts, _) = count_layer(database.index(), file, &AtomicBool::new(false)).unwrap();
        assert_eq!(counts, layer.counts, "{layer:?}");
    }
}

#[test]
fn samples_stay_readable() {
    for (version, plan) in &SAMPLES {
        let size: Dimensions = plan.size.parse().unwrap();
        let (scope, metric, max_stones) = (plan.scope, plan.metric, plan.max_stones);
        let coverage = Coverage { dimensions: size, scope, metric, max_stones };
        let database = open(&samples(*version, &coverage.name()));
        assert_eq!(database.manifest().version, *version);
        assert_eq!(database.metric(), plan.metric);
        verify(database.directory(), true, &(), &AtomicBool::new(false)).unwrap();
        assert_eq!(database.coverage().max_stones, size.squares());
        check(&database, plan);
    }
}

#[test]
fn values_are_those_of_plain_recursion() {
    let out = tempfile::tempdir().unwrap();
    for (size, scope, max_stones, chunk_bytes) in [
        ("4x4", Scope::Complete, 16, 64),
        ("4x4", Scope::Complete, 5, 4096),
        ("3x5", Scope::Complete, 15, 128),
        ("3x5", Scope::Complete, 7, 8),
        ("2x5", Scope::Reachable, 10, 8),
        ("3x4", Scope::Reachable, 12, 32),
        ("4x3", Scope::Reachable, 12, 4096),
        ("3x5", Scope::Reachable, 15, 16),
        ("1x9", Scope::Complete, 9, 8),
        ("1x9", Scope::Reachable, 9, 8),
        ("1x1", Scope::Complete, 1, 4096),
        ("1x1", Scope::Reachable, 1, 4096),
        ("1x2", Scope::Complete, 2, 4096),
        ("2x2", Scope::Complete, 0, 4096),
    ] {
        let metric = Metric::Outcome;
        let plan = Sample { size, scope, metric, max_stones, chunk_bytes };
        let squares = size.parse::<Dimensions>().unwrap().squares();
        if max_stones + 2 < squares {
            // The database covers neither the start nor the positions after the removals, which determine its value.
            let database = open(&build(out.path(), &plan, |_| false));
            let start = Position::start(database.board());
            let error = database.value(&start).unwrap_err();
            assert!(
                error.kind() == ErrorKind::Usage && error.to_string().contains("at most"),
                "{error}"
            );
        }
        let directory = build(out.path(), &plan, |_| false);
        check(&open(&directory), &plan);
    }
}

/// The counts of the complete 4x4 board, which an independent program has found as well.
#[test]
fn known_counts() {
    let out = tempfile::tempdir().unwrap();
    let plan = sample("4x4", Scope::Complete, Metric::Outcome, 4096);
    let database = open(&build(out.path(), &plan, |_| false));
    let expected = PositionCounts {
        positions: 131_072,
        black_to_move_wins: 33_547,
        white_to_move_wins: 33_547,
    };
    assert_eq!(database.manifest().total(), Some(expected));
}

#[test]
fn values_from_many_threads_agree() {
    let directory = samples(1, "3x4-complete");
    let expected = open(&directory);
    // A cache that holds some of the chunks makes the threads insert and evict all the time.
    for cache_bytes in [0, 3000, 1 << 20] {
        let shared = Database::open(&directory, DatabaseOptions { cache_bytes }).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..6u64 {
                let (shared, expected) = (&shared, &expected);
                scope.spawn(move || {
                    for i in 0..4096 {
                        let occupied = (i * 2_654_435_761 + thread * 977) % 4096;
                        let side = if i % 2 == 0 { Colour::Black } else { Colour::White };
                        assert_eq!(
                            shared.jumping_value(occupied, side).unwrap(),
                            expected.jumping_value(occupied, side).unwrap()
                        );
                    }
                });
            }
        });
    }
}

#[test]
fn the_best_database_is_found() {
    let out = tempfile::tempdir().unwrap();
    let options = DatabaseOptions::default();
    let size = "3x3".parse().unwrap();
    let best = || Database::find(&[out.path()], size, options);
    let find = || best().map(|db| db.coverage().to_string());
    assert!(find().unwrap_err().to_string().contains("no database of 3x3"));
    let missing = Database::find(&[out.path().join("nowhere")], size, options).unwrap_err();
    assert!(missing.to_string().contains("no such directory"), "{missing}");
    assert_eq!(missing.kind(), ErrorKind::File);
    let add_metric = |size, scope, metric, max_stones| {
        build(out.path(), &Sample { size, scope, metric, max_stones, chunk_bytes: 4096 }, |_| false)
    };
    let add = |size, scope, max_stones| add_metric(size, scope, Metric::Outcome, max_stones);
    add("3x4", Scope::Complete, 12);
    assert!(find().is_err());
    add("3x3", Scope::Complete, 2);
    add("3x3", Scope::Complete, 5);
    assert_eq!(find().unwrap(), "every position of the 3x3 board with at most 5 stones");
    assert_eq!(best().unwrap().metric(), Metric::Outcome);
    add_metric("3x3", Scope::Complete, Metric::Remoteness, 5);
    assert_eq!(best().unwrap().metric(), Metric::Remoteness);
    add_metric("3x3", Scope::Complete, Metric::Remoteness, 4);
    assert_eq!(find().unwrap(), "every position of the 3x3 board with at most 5 stones");
    add("3x3", Scope::Reachable, 9);
    assert_eq!(find().unwrap(), "the positions of the 3x3 board that a game can reach");
    // The directory of an interrupted build is not a database.
    std::fs::create_dir(out.path().join("3x3-complete")).unwrap();
    assert_eq!(find().unwrap(), "the positions of the 3x3 board that a game can reach");
    let complete = add("3x3", Scope::Complete, 9);
    assert_eq!(find().unwrap(), "every position of the 3x3 board");
    assert_eq!(best().unwrap().metric(), Metric::Outcome);
    let remoteness = add_metric("3x3", Scope::Complete, Metric::Remoteness, 9);
    assert_eq!(best().unwrap().directory(), remoteness);
    // `find` also accepts the directory of a database itself.
    assert_eq!(Database::find(&[&complete], size, options).unwrap().directory(), complete);
    let other = Database::find(&[&complete], "4x3".parse().unwrap(), options).unwrap_err();
    assert!(
        matches!(other, DatabaseError::OtherBoard { .. }) && other.kind() == ErrorKind::Usage,
        "{other}"
    );
    // The first directory with a database of the board is used.
    let second = tempfile::tempdir().unwrap();
    let elsewhere = |size| {
        let (scope, metric, max_stones) = (Scope::Complete, Metric::Outcome, 64);
        build(second.path(), &Sample { size, scope, metric, max_stones, chunk_bytes: 4096 }, |_| {
            false
        })
    };
    let (same, new) = (elsewhere("3x3"), elsewhere("2x3"));
    let both = [out.path(), second.path()];
    let found = |size: &str| Database::find(&both, size.parse().unwrap(), options);
    assert_eq!(found("3x3").unwrap().directory(), remoteness);
    assert_eq!(found("2x3").unwrap().directory(), new);
    let found = |first: &Path| Database::find(&[first, &same], size, options);
    assert_eq!(found(&new).unwrap().directory(), same);
    let error = Database::find(&both, "5x5".parse().unwrap(), options).unwrap_err();
    let expected = format!("nor {} has a database of 5x5", second.path().display());
    assert!(error.to_string().contains(&expected), "{error}");
    let error = found(Path::new("missing")).unwrap_err();
    assert!(error.to_string().contains("no such directory"), "{error}");
    // A directory that was renamed to the name of another board.
    std::fs::rename(&complete, out.path().join("4x3-complete")).unwrap();
    let other = Database::find(&[out.path()], "4x3".parse().unwrap(), options).unwrap_err();
    assert!(
        matches!(other, DatabaseError::OtherBoard { .. }) && other.kind() == ErrorKind::Usage,
        "{other}"
    );
}
