//! Links of the documents have targets, and each index lists all documents of its folder.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose documents are checked.
const FOLDERS: [&str; 6] =
    ["", "docs", "docs/benchmarks", "docs/design", "docs/research", "python"];

/// Text of a document without its blocks of code.
fn prose(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a document");
    let outside = text.split("\n```").step_by(2);
    outside.collect::<Vec<_>>().join("\n")
}

/// Headings of all levels.
fn headings(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let title = line.trim_start_matches('#');
        if title.len() < line.len() { title.strip_prefix(' ') } else { None }
    })
}

/// Anchor of a heading in links.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Targets of the links of a text, without those to other sites.
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
                    .or_insert_with_key(|target| headings(&prose(target)).map(anchor).collect());
                assert!(known.contains(place), "{}: {link}: no such heading", document.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked} links");
}

#[test]
fn indexes_are_complete() {
    for folder in ["docs", "docs/design", "docs/research"] {
        let index = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("README.md");
        let text = prose(&index);
        let listed: BTreeSet<&str> = links(&text).collect();
        let directory = index.parent().expect("a folder");
        for document in documents().iter().filter(|path| path.parent() == Some(directory)) {
            let name = document.file_name().and_then(|name| name.to_str()).expect("a name");
            let is_listed = name == "README.md" || listed.contains(name);
            assert!(is_listed, "{}: no link to {name}", index.display());
        }
    }
}

/// Appends the sources below `folder`, with continued string literals joined.
fn append_sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            append_sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).expect("a source file");
            let mut parts = source.split("\\\n");
            text.push_str(parts.next().expect("a first part"));
            parts.for_each(|part| text.push_str(part.trim_start()));
        }
    }
}

#[test]
fn messages_of_troubleshooting_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = String::new();
    for folder in ["src", "crates"].map(|folder| root.join(folder)).iter().filter(|f| f.is_dir()) {
        append_sources(folder, &mut sources);
    }
    let text = prose(&root.join("docs/troubleshooting.md"));
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    let messages =
        cells.filter(|(cell, _)| cell.ends_with('`')).flat_map(|(cell, _)| cell.split('`'));
    let mut checked = 0;
    for fragment in messages.flat_map(|message| message.split('…')) {
        let fragment = fragment.trim();
        assert!(
            sources.contains(fragment),
            "docs/troubleshooting.md: no message with {fragment:?}"
        );
        checked += usize::from(fragment.len() > 5);
    }
    assert!(checked > 40, "{checked} fragments");
}
