//! The certificates in `db`, and the example in docs/PROOF_FORMAT.md.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use konane::Position;
use konane::sprouts::spr_file::SprReader;
use konane::sprouts::verify::{VerifyLimits, verify};

use crate::boards::winners;
use crate::plain::check;
use crate::samples::{board, bytes_of, proof};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

#[test]
fn the_shipped_proofs_prove_the_published_winners() {
    let winners = winners();
    for size in ["3x3", "4x4", "5x5", "5x7", "6x6"] {
        let report = check(fs::read(path(&format!("db/{size}.proof"))).expect(size)).expect(size);
        assert_eq!(report.flaw, None, "{size}");
        assert_eq!(report.root, Position::start(&board(size)).to_string());
        assert_eq!(report.header.winner.name(), winners[size], "{size}");
    }
}

#[test]
fn the_shipped_grundy_numbers_prove_the_published_outcomes() {
    let file = path("db/sprouts-20.spr");
    let text = fs::read_to_string(&file).expect("a file");
    let numbers: HashMap<&str, &str> =
        text.lines().filter_map(|line| line.split_once(' ')).collect();
    let outcomes = include_str!("../data/sprouts_outcomes.csv").lines().skip(2);
    for (spots, outcome) in (1..=20).zip(outcomes) {
        let text = if spots == 1 { "0".to_owned() } else { format!("0*{spots}") };
        let expected = if numbers[text.as_str()] == "0" { "loss" } else { "win" };
        assert!(outcome.starts_with(&format!("{spots},{expected},")), "{outcome}");
    }
    let limits = VerifyLimits { work: 1_000_000, memory: 1 << 30, deadline: None };
    let entries = SprReader::open(&file).expect("a file");
    let report = verify(entries, None, limits, &AtomicBool::new(false), &mut |_| {});
    assert_eq!(report.expect("no damage").valid, Some(true));
}

/// The example has every byte of the file, and the program still writes these bytes.
#[test]
fn the_example_of_the_format_is_the_proof_of_3x3() {
    let text = fs::read_to_string(path("docs/PROOF_FORMAT.md")).expect("a document");
    let blocks = text.split("```text\n").map(|rest| rest.split("\n```").next().unwrap_or(rest));
    let dump = blocks.skip(1).find(|block| block.contains("KONPROOF")).expect("an example");
    let mut bytes = Vec::new();
    for line in dump.lines() {
        assert_eq!(line[..3].trim(), bytes.len().to_string(), "{line}");
        let row = line[5..28].split_whitespace();
        bytes.extend(row.map(|byte| u8::from_str_radix(byte, 16).expect(line)));
    }
    assert_eq!(bytes, fs::read(path("db/3x3.proof")).expect("a file"));
    let board = board("3x3");
    let found = proof(&board, &Position::start(&board));
    assert_eq!(bytes, bytes_of(&found.header, &found.certificate.codes));
}
