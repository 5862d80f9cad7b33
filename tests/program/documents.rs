//! The documents: their commands print what they show, their links have targets, and the index of the
//! decisions is complete.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::common::{PROGRAM, Place};

/// The documents in these folders.
const FOLDERS: [&str; 4] = ["", "docs", "docs/benchmarks", "python"];

/// A document without its blocks of code.
fn prose(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a document");
    let outside = text.split("\n```").step_by(2);
    outside.collect::<Vec<_>>().join("\n")
}

/// The headings of a level or all (0), as they are written.
fn headings(text: &str, level: usize) -> impl Iterator<Item = &str> {
    text.lines().filter_map(move |line| {
        let title = line.trim_start_matches('#');
        let depth = line.len() - title.len();
        let wanted = depth > 0 && (level == 0 || depth == level);
        wanted.then_some(title.strip_prefix(' ')).flatten()
    })
}

/// The name of a heading in links.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The targets of the links in a text, without those that begin with a protocol.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target).filter(|target| !target.contains("://"))
}

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = FOLDERS.iter().flat_map(|folder| fs::read_dir(root.join(folder)).expect(folder));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Runs the blocks marked `console`, those of a document one after the other in a directory of its own.
/// A line `? 3` is an exit code, `...` are lines left out. Times and speeds are not compared.
#[test]
fn commands_print_what_the_documents_show() {
    let time = r"( *[0-9][0-9.,]* (ms|s|min|h|([kMGT] )?nodes/s)\b)+";
    let time = Regex::new(time).expect("a pattern");
    let place = Place::new();
    for path in ["README.md", "docs/manual.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = fs::read_to_string(&path).expect("a document");
        let text = text.replace("\n$ cargo run --release -- ", "\n$ konane ");
        // A command of another program would not be run.
        for line in text.lines().filter(|line| line.starts_with("$ ")) {
            assert!(line.starts_with("$ konane "), "{}: {line}", path.display());
        }
        let copy = place.path(path.file_name().expect("a name").to_str().expect("text"));
        fs::create_dir(copy.with_extension("in")).expect("a directory");
        // The last line of an output ends with a line feed, which a block shows as an empty line.
        let text = time.replace_all(&text, "[..]").replace("\n```\n", "\n\n```\n");
        fs::write(copy, text).expect("a copy");
    }
    let record =
        "Board: 5x5\nBlack: Kaiulani\nWhite: konane\nResult: black\n\nc3 c4 c1-c3 a4-c4 d4-b4\n";
    fs::write(place.path("manual.in/game.txt"), record).expect("a record");
    let blocks = trycmd::TestCases::new();
    blocks.register_bin("konane", Path::new(PROGRAM)).env("RUST_LOG", "off");
    blocks.case(place.path("*.md")).run();
}

#[test]
fn links_have_targets() {
    let mut anchors: HashMap<PathBuf, BTreeSet<String>> = HashMap::new();
    let mut checked = 0;
    for document in documents() {
        for link in links(&prose(&document)) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let beside = document.parent().expect("a folder").join(file);
            let target = if file.is_empty() { document.clone() } else { beside };
            assert!(target.exists(), "{}: {link}: no such file", document.display());
            if !place.is_empty() {
                let known = anchors
                    .entry(target)
                    .or_insert_with_key(|target| headings(&prose(target), 0).map(anchor).collect());
                assert!(known.contains(place), "{}: {link}: no such heading", document.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked} links");
}

#[test]
fn every_decision_is_in_the_index() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/decisions.md");
    let text = prose(&path);
    let listed: BTreeSet<&str> = links(&text).filter_map(|link| link.strip_prefix('#')).collect();
    for heading in headings(&text, 3) {
        assert!(listed.contains(&*anchor(heading)), "{heading:?} is not in the index");
    }
}
