//! The documentation: commands print the output shown, links have targets, and each index lists all
//! documents of its folder.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::common::{PROGRAM, ROOT, TestDir};

/// Returns the text of a document without code blocks.
fn prose(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a document");
    let outside = text.split("\n```").step_by(2);
    outside.collect::<Vec<_>>().join("\n")
}

/// Returns the headings of all levels.
fn headings(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let title = line.trim_start_matches('#');
        if title.len() < line.len() { title.strip_prefix(' ') } else { None }
    })
}

/// Returns the anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns the targets of the links in a text, except links to other sites.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target).filter(|target| !target.contains("://"))
}

/// Returns the documents in the root, `db` and `python`, and all below `docs`.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let mut folders = ["", "db", "python", "docs"].map(|folder| root.join(folder)).to_vec();
    let mut documents = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && folder.starts_with(root.join("docs")) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    documents
}

/// Runs the blocks marked `console` of all documents. Those of one document run in order in the same temporary
/// directory, which has the files that the document shows. A line `? 3` is an exit code, and `...` stands for omitted
/// lines. Times and speeds are not compared.
#[test]
fn commands_print_the_documented_output() {
    let time = r"( *[0-9][0-9.,]* (ms|s|min|h|([kMGT] )?nodes/s)\b)+";
    let time = Regex::new(time).expect("a pattern");
    let file = Regex::new(r"`([\w.]+)` is\n\n```text\n([^`]*)```").expect("a pattern");
    let dir = TestDir::new();
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a document");
        // The searches of docs/records.md take hours.
        if !text.contains("\n```console\n") || path.ends_with("docs/records.md") {
            continue;
        }
        let text = text.replace("\n$ cargo run --release -- ", "\n$ konane ");
        // Commands of other programs are not run.
        for line in text.lines().filter(|line| line.starts_with("$ ")) {
            assert!(line.starts_with("$ konane "), "{}: {line}", path.display());
        }
        let name = path.strip_prefix(ROOT).expect("a document");
        let copy = dir.path(&name.to_str().expect("text").replace('/', "-"));
        let folder = copy.with_extension("in");
        fs::create_dir(&folder).expect("a directory");
        for shown in file.captures_iter(&text) {
            fs::write(folder.join(&shown[1]), &shown[2]).expect("a file");
        }
        // The final line feed of an output appears as an empty line in a block.
        let text = time.replace_all(&text, "[..]").replace("\n```\n", "\n\n```\n");
        fs::write(copy, text).expect("a copy");
    }
    let blocks = trycmd::TestCases::new();
    blocks.register_bin("konane", Path::new(PROGRAM)).env("RUST_LOG", "off");
    blocks.case(dir.path("*.md")).run();
}

#[test]
fn links_have_targets() {
    let mut anchors: HashMap<PathBuf, BTreeSet<String>> = HashMap::new();
    let mut checked = 0;
    for document in documents() {
        for link in links(&prose(&document)) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let beside = document.parent().expect("a folder").join(file);
            let target = if file.is_empty() { document.clone() } else { beside };
            assert!(target.exists(), "{}: {link}: no such file", document.display());
            if !heading.is_empty() {
                let known = anchors
                    .entry(target)
                    .or_insert_with_key(|target| headings(&prose(target)).map(anchor).collect());
                assert!(known.contains(heading), "{}: {link}: no such heading", document.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked} links");
}

#[test]
fn indexes_are_complete() {
    for folder in ["docs", "docs/design", "docs/research"] {
        let index = Path::new(ROOT).join(folder).join("README.md");
        let text = prose(&index);
        let listed: BTreeSet<&str> = links(&text).collect();
        let directory = index.parent().expect("a folder");
        for document in documents().iter().filter(|path| path.parent() == Some(directory)) {
            let name = document.file_name().and_then(|name| name.to_str()).expect("a name");
            let is_listed = name == "README.md" || name == "SUMMARY.md" || listed.contains(name);
            assert!(is_listed, "{}: no link to {name}", index.display());
        }
    }
    let summary = Path::new(ROOT).join("docs/SUMMARY.md");
    let chapters = prose(&summary);
    let chapters: BTreeSet<PathBuf> = links(&chapters)
        .map(|link| summary.with_file_name(link).canonicalize().expect(link))
        .collect();
    for document in documents() {
        let name = document.file_name().expect("a name");
        let is_index = document.ends_with("docs/README.md") || name == "SUMMARY.md";
        let document = document.canonicalize().expect("a document");
        let is_chapter = is_index || chapters.contains(&document);
        assert!(is_chapter, "{}: not in docs/SUMMARY.md", document.display());
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
    let root = Path::new(ROOT);
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
