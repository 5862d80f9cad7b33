//! Tests of several modules together: values against plain recursion, files against a naive writer,
//! damaged files, look-ups, and the check of databases.

mod classes;
mod damage;
mod databases;
mod format;
mod naive;
mod probe;
mod row_ops;
mod statespace;
mod values;
mod verify;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::{BuildOptions, BuildSummary, Plan};
use crate::Board;

fn board(size: &str) -> Board {
    Board::new(size.parse().expect("a board"))
}

/// The files of a directory by name, without those of subdirectories.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries =
        fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"));
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("text");
        (name, fs::read(entry.path()).expect("a file"))
    };
    entries.filter(|entry| entry.path().is_file()).map(read).collect()
}

/// The plan of a complete database.
fn planned(size: &str, max_stones: Option<u32>, out: &Path) -> Plan {
    let options = BuildOptions { max_stones, ..BuildOptions::complete(out.to_owned()) };
    super::plan(&board(size), &options).unwrap()
}

/// Runs a plan to the end on two threads.
fn build(plan: &Plan) -> BuildSummary {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let board = Board::new(plan.coverage.dimensions);
    pool.install(|| super::build(&board, plan, &(), &AtomicBool::new(false))).unwrap()
}
