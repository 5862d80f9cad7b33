//! The verbs on databases: every flag, the JSON, exit codes, bad input, damaged files, signals and
//! builds that are killed.

mod asked;
mod built;
#[cfg(unix)]
mod interrupted;
mod refused;
mod statespace;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::common::{Place, code, stderr, stdout, words};

fn build(place: &Place, args: &[&str]) -> Value {
    place.json(&[&["builddb"], args, &["--json", "--quiet"]].concat(), 0)
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries =
        fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"));
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read(entry.path()).expect("a file"))
    };
    entries.filter(|entry| entry.path().is_file()).map(file).collect()
}

#[test]
fn the_examples_of_the_help_work() {
    let place = Place::new();
    let mut run = 0;
    for verb in ["builddb", "probe", "verifydb", "statespace"] {
        let help = stdout(&place.run(&[verb, "--help"]));
        for line in help.lines().filter_map(|line| line.strip_prefix("  konane ")) {
            let (line, input) = match line.split_once(" < ") {
                Some((line, _)) => (line, "xoxox/oxoxo/xoxox/oxoxo b\n"),
                None => (line, ""),
            };
            let args = words(line);
            let output = place.with_input(&args, input);
            assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
            run += 1;
        }
    }
    assert!(run >= 9, "{run} examples");
}
