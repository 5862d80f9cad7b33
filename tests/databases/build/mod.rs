//! Building databases: resumed after an end of any kind, and checked.

mod child;
mod resumed;
mod tasks;
mod verify;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use konane::Board;
use konane::tablebase::{BuildError, BuildObserver, BuildOptions, BuildSummary, Plan, plan};

/// The plan of a complete database.
fn planned(size: &str, max_stones: Option<u32>, out: &Path) -> Plan {
    let board = Board::new(size.parse().unwrap());
    let out = out.to_owned();
    let options = BuildOptions { max_stones, ..BuildOptions::complete(out) };
    plan(&board, &options).unwrap()
}

/// Builds on a number of threads.
fn build_on(
    threads: usize,
    plan: &Plan,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<BuildSummary, BuildError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let board = Board::new(plan.dimensions);
    pool.install(|| konane::tablebase::build(&board, plan, observer, stop))
}

/// Builds to the end.
fn build(plan: &Plan) -> BuildSummary {
    build_on(2, plan, &(), &AtomicBool::new(false)).unwrap()
}

/// All files of a directory, but not of those within.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        })
        .collect()
}

/// Whether two directories have the same files, without printing them.
fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert!(one.keys().eq(other.keys()), "{:?} {:?}", one.keys(), other.keys());
    for (name, bytes) in &one {
        assert!(bytes == &other[name], "{name}");
    }
}
