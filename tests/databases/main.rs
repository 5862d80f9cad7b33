//! Databases through the public API: builds, and searches that use their values.

mod build;
mod search;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use konane::Board;

fn board(size: &str) -> Board {
    Board::new(size.parse().expect("a board"))
}

/// Returns the files of a directory by name, without subdirectories.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries =
        fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"));
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("text");
        (name, fs::read(entry.path()).expect("a file"))
    };
    entries.filter(|entry| entry.path().is_file()).map(read).collect()
}
