//! Files written by older versions can be read, and the same commands still write the same bytes.
//! Database files are in `tests/data/databases`.
//!
//! `INSTA_UPDATE=always` replaces the files that differ, like snapshots. When a format gets a new
//! version, the older files stay, with a test that they are read or rejected.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use super::common::{ROOT, TestDir, code, stderr, words};

const ALGORITHMS: [&str; 5] = ["dfpn", "ab", "pns", "pn2", "pns-pdfpn"];

fn golden(name: &str) -> PathBuf {
    PathBuf::from(ROOT).join("tests/data/golden").join(name)
}

/// Creates a directory with copies of the files, because some commands append to them.
fn copies(names: &[&str]) -> TestDir {
    let dir = TestDir::new();
    for name in names {
        fs::copy(golden(name), dir.path(name)).expect("a copy");
    }
    dir
}

/// Runs a command line in a directory and compares the file `name` that it writes with the golden
/// file. Returns the difference, if any. `mask` clears the bytes that differ between runs. In
/// update mode the golden file is replaced after the comparison.
fn written(dir: &TestDir, line: &str, name: &str, mask: fn(&mut [u8])) -> Option<String> {
    let output = dir.run(&words(line));
    assert!([0, 3].contains(&code(&output)), "{line}: {}", stderr(&output));
    let bytes = fs::read(dir.path(name)).expect("it was written");
    // A new golden file does not exist yet.
    let mut kept = fs::read(golden(name)).unwrap_or_default();
    let mut masked = bytes.clone();
    mask(&mut masked);
    mask(&mut kept);
    if masked == kept {
        return None;
    }
    if std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
        fs::write(golden(name), &bytes).expect("the file can be written");
    }
    let first = masked.iter().zip(&kept).position(|(one, other)| one != other);
    Some(format!(
        "{name}: {} bytes instead of {}; the first that differs is {first:?}\n",
        masked.len(),
        kept.len()
    ))
}

/// Clears the duration of the search and the checksums that include it; see
/// docs/CHECKPOINT_FORMAT.md.
fn without_times(checkpoint: &mut [u8]) {
    let footer = checkpoint.len().saturating_sub(64);
    for range in [72..80, 376..384, footer + 40..footer + 56] {
        if let Some(bytes) = checkpoint.get_mut(range) {
            bytes.fill(0);
        }
    }
}

#[test]
fn the_same_bytes_are_written() {
    let dir = TestDir::new();
    let mut differences = String::new();
    let mut compare = |line: &str, name: &str, mask: fn(&mut [u8])| {
        differences.extend(written(&dir, line, name, mask));
    };
    let line = "solve 5x6 --threads 1 --memory 8MiB --proof 5x6.proof --quiet";
    compare(line, "5x6.proof", |_| {});
    for algorithm in ALGORITHMS {
        let name = format!("5x6-{algorithm}.ckpt");
        let line = format!(
            "solve 5x6 --threads 1 --memory 1MiB --max-nodes 500 --algo {algorithm} \
             --checkpoint {name} --quiet"
        );
        compare(&line, &name, without_times);
    }
    compare("sprouts solve 0*6 --threads 1 --db 6.nimbers --quiet", "6.nimbers", |_| {});
    compare("sprouts db export 6.nimbers 6.spr", "6.spr", |_| {});
    assert!(differences.is_empty(), "{differences}INSTA_UPDATE=always replaces the files");
}

#[test]
fn proofs_and_sprouts_numbers_are_read() {
    let dir = copies(&["5x6.proof", "6.nimbers", "6.spr"]);
    let proof = dir.json(&["verify-proof", "5x6.proof", "--json"], 0);
    assert_eq!((&proof["valid"], &proof["board"]), (&true.into(), &"5x6".into()));
    let verified = dir.json(&["sprouts", "verify", "6.spr", "--json"], 0);
    let stats = dir.json(&["sprouts", "db", "stats", "6.nimbers", "--json"], 0);
    dir.json(&["sprouts", "db", "import", "all.nimbers", "6.spr", "--json"], 0);
    let imported = dir.json(&["sprouts", "db", "stats", "all.nimbers", "--json"], 0);
    let solve = ["sprouts", "solve", "0*7", "--threads", "1", "--db", "6.nimbers", "--json"];
    let solved = dir.json(&solve, 0);
    assert_eq!(solved["outcome"], "loss");
    let mut text = String::new();
    for (what, value, keys) in [
        ("verify-proof 5x6.proof", &proof, &["winner", "root", "positions", "bytes"][..]),
        ("sprouts verify 6.spr", &verified, &["valid", "entries", "established"]),
        ("sprouts db stats 6.nimbers", &stats, &["records", "bytes", "by_nimber", "by_lives"]),
        (
            "sprouts db stats all.nimbers, imported",
            &imported,
            &["records", "by_nimber", "by_lives"],
        ),
        ("sprouts solve 0*7 --db 6.nimbers", &solved, &["expansions", "nodes", "grundy_numbers"]),
    ] {
        writeln!(text, "{what}").expect("text grows");
        for key in keys {
            writeln!(text, "    {key}: {}", value[key]).expect("text grows");
        }
    }
    insta::assert_snapshot!("golden_files", text);
}

#[test]
fn checkpoints_are_resumed() {
    let mut text = String::new();
    for algorithm in ALGORITHMS {
        let name = format!("5x6-{algorithm}.ckpt");
        let dir = copies(&[&name]);
        let search = ["solve", "5x6", "--threads", "1", "--memory", "8MiB", "--algo", algorithm];
        let file = ["--checkpoint", &name, "--resume", "--json", "--quiet"];
        let solved = dir.json(&[&search[..], &file].concat(), 0);
        assert_eq!(solved["winner"], "white", "{algorithm}");
        assert_eq!(solved["total"]["runs"], 2, "{algorithm}");
        writeln!(
            text,
            "{algorithm}: {} nodes, {} expansions; in both runs {} nodes",
            solved["nodes"], solved["expansions"], solved["total"]["nodes"],
        )
        .expect("text grows");
    }
    insta::assert_snapshot!("golden_checkpoints", text);
}

#[test]
fn checkpoints_of_older_versions_are_rejected() {
    for (version, algorithm) in [1, 2].into_iter().flat_map(|v| ALGORITHMS.map(|name| (v, name))) {
        let dir = TestDir::new();
        let old = golden(&format!("v{version}")).join(format!("5x6-{algorithm}.ckpt"));
        fs::copy(old, dir.path("old.ckpt")).expect("a copy");
        let search = ["solve", "5x6", "--memory", "8MiB", "--algo", algorithm];
        let output = dir.run(&[&search[..], &["--checkpoint", "old.ckpt", "--resume"]].concat());
        assert_eq!(code(&output), 4, "{algorithm}");
        let expected = format!(
            "error: old.ckpt has version {version} of the checkpoint format, and this program reads version 3: \
             start a new search, or use the release of the program that wrote it\n"
        );
        assert_eq!(stderr(&output), expected);
        assert_eq!(dir.files(), ["old.ckpt"], "{algorithm}");
    }
}
