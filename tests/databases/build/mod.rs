//! Database builds: every method, resumed builds, and builds by tasks.

mod methods;
mod resumed;
mod tasks;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use konane::Board;
use konane::tablebase::{BuildError, BuildObserver, BuildOptions, BuildSummary, Plan, plan};

use crate::{board, files};

/// Plans a complete database.
fn planned(size: &str, max_stones: Option<u32>, out: &Path) -> Plan {
    let board = board(size);
    let out = out.to_owned();
    let options = BuildOptions { max_stones, ..BuildOptions::complete(out) };
    plan(&board, &options).unwrap()
}

/// Builds on `threads` threads.
fn build_on(
    threads: usize,
    plan: &Plan,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<BuildSummary, BuildError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let board = Board::new(plan.coverage.dimensions);
    pool.install(|| konane::tablebase::build(&board, plan, observer, stop))
}

/// Builds a database without interruption.
fn build(plan: &Plan) -> BuildSummary {
    build_on(2, plan, &(), &AtomicBool::new(false)).unwrap()
}

/// Asserts that two directories have the same files, without printing them.
fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert!(one.keys().eq(other.keys()), "{:?} {:?}", one.keys(), other.keys());
    for (name, bytes) in &one {
        assert!(bytes == &other[name], "{name}");
    }
}
