//! What the program printed when somebody last looked at it, kept as text files.
//!
//! A difference is a decision: it goes into the changelog, and the files are made anew by
//!
//! ```text
//! RENEW_SNAPSHOTS=1 cargo test --test program
//! ```

use std::fs;
use std::path::PathBuf;

/// Whether files are to be made anew.
pub fn renewed() -> bool {
    std::env::var_os("RENEW_SNAPSHOTS").is_some()
}

/// Compares a text with the file of that name in `tests/data/snapshots`, or makes the file.
pub fn check(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/snapshots").join(name);
    if renewed() {
        fs::write(&path, text).expect("the snapshot can be written");
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let mut differences = String::new();
    let (kept_lines, lines): (Vec<&str>, Vec<&str>) =
        (kept.lines().collect(), text.lines().collect());
    for line in kept_lines.iter().filter(|line| !lines.contains(line)) {
        differences += &format!("- {line}\n");
    }
    for line in lines.iter().filter(|line| !kept_lines.contains(line)) {
        differences += &format!("+ {line}\n");
    }
    assert!(
        kept == text,
        "{name} is not what tests/data/snapshots has:\n{differences}\
         If that is wanted, it is a line of the changelog, and the snapshots are renewed by\n\
         RENEW_SNAPSHOTS=1 cargo test --test program"
    );
}
