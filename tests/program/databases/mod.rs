//! The subcommands for databases: every flag, JSON, exit codes, invalid input, damaged files,
//! signals and killed builds.

mod builddb;
mod errors;
#[cfg(unix)]
mod interrupted;
mod probe;
mod statespace;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::common::{TestDir, code, stderr, stdout, words};

fn build(dir: &TestDir, args: &[&str]) -> Value {
    dir.json(&[&["builddb"], args, &["--json", "--quiet"]].concat(), 0)
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
    let dir = TestDir::new();
    let mut run = 0;
    for subcommand in ["builddb", "probe", "verifydb", "statespace"] {
        let help = stdout(&dir.run(&[subcommand, "--help"]));
        for line in help.lines().filter_map(|line| line.strip_prefix("  konane ")) {
            let (line, input) = match line.split_once(" < ") {
                Some((line, _)) => (line, "xoxox/oxoxo/xoxox/oxoxo b\n"),
                None => (line, ""),
            };
            let args = words(line);
            let output = dir.with_input(&args, input);
            assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
            run += 1;
        }
    }
    assert!(run >= 9, "{run} examples");
}
