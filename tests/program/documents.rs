//! The documents beside the program: their links lead somewhere, and the decisions are all in their
//! index.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

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

/// What a link calls a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Where the links of a text lead, but for those to other places of the world.
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

#[test]
fn links_lead_somewhere() {
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
