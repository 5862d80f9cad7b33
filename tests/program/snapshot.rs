//! Output of the program, compared with the text files in `tests/data/snapshots`.
//!
//! An intended difference is a line of the changelog. The files are replaced by
//!
//! ```text
//! RENEW_SNAPSHOTS=1 cargo test --test program
//! ```
//!
//! A test whose file is replaced still fails, because the output differs from the file as it was. It
//! passes in the next run.

use std::fs;
use std::path::PathBuf;

use similar::TextDiff;

/// Returns true if files that differ are to be replaced.
pub fn renewed() -> bool {
    std::env::var_os("RENEW_SNAPSHOTS").is_some()
}

/// The remedy for a difference, as the last line of a message.
pub fn remedy() -> &'static str {
    if renewed() {
        "The file has been replaced: look at its diff and run the tests again."
    } else {
        "If that is intended, add a line to the changelog and replace the file:\n\
         RENEW_SNAPSHOTS=1 cargo test --test program"
    }
}

/// The differences from `kept` to `found` with the lines around them; empty if the texts are equal.
fn differences(kept: &str, found: &str) -> String {
    TextDiff::from_lines(kept, found).unified_diff().context_radius(2).to_string()
}

/// Compares a text with the file `name`. Line breaks and the order of lines count.
pub fn check(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/snapshots").join(name);
    let kept = fs::read_to_string(&path).unwrap_or_default();
    if kept == text {
        return;
    }
    if renewed() {
        fs::write(&path, text).expect("the snapshot can be written");
    }
    panic!(
        "the output differs from tests/data/snapshots/{name}:\n{}{}",
        differences(&kept, text),
        remedy()
    );
}

#[test]
fn differences_show_order_repetition_and_line_breaks() {
    assert_eq!(differences("a\nb\n", "a\nb\n"), "");
    assert_eq!(differences("a\nb\n", "b\na\n"), "@@ -1,2 +1,2 @@\n+b\n a\n-b\n");
    assert_eq!(differences("a\n", "a\na\n"), "@@ -1 +1,2 @@\n a\n+a\n");
    assert!(differences("a\n", "a").contains("No newline at end of file"));
}
