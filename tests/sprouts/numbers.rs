//! Files of Grundy numbers, and checking them.

use super::common::Player;
use konane::search::Value;
use konane::search::run::Reason;
use konane::sprouts::Position;
use konane::sprouts::spr_file::{SprReader, SprWriter};
use konane::sprouts::verify::{Problem, VerifyError, VerifyLimits, VerifyReport, verify};
use proptest::prelude::*;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const LIMITS: VerifyLimits = VerifyLimits { work: 1 << 20, memory: 1 << 30, deadline: None };

/// All lands of games from a start, with their numbers.
fn table(start: &str) -> Vec<(String, u32)> {
    let mut player = Player::new();
    let mut lands: Vec<u32> = player.reachable(start).into_iter().flatten().collect();
    lands.sort_unstable();
    lands.dedup();
    lands.into_iter().map(|land| (player.game.land_text(land), player.grundy(&[land]))).collect()
}

fn written(table: &[(String, u32)]) -> Vec<u8> {
    let mut writer = SprWriter::new(Vec::new(), Path::new("a file")).unwrap();
    for (land, grundy) in table {
        writer.write(land, *grundy).unwrap();
    }
    writer.finish().unwrap()
}

fn checked(table: &[(String, u32)], root: Option<&str>, limits: VerifyLimits) -> VerifyReport {
    let root: Option<Position> = root.map(|text| text.parse().unwrap());
    let file = written(table);
    let entries = SprReader::new(file.as_slice(), Path::new("a file"));
    verify(entries, root.as_ref(), limits, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

fn outcome(report: &VerifyReport) -> Option<Value> {
    report.root.as_ref().and_then(|root| root.outcome)
}

#[test]
fn what_is_written_is_read() {
    let table = table("0*3");
    let file = written(&table);
    assert!(file.starts_with(b"[Positions+Nimber]\n") && file.ends_with(b"\n"));
    let entries: Vec<_> =
        SprReader::new(file.as_slice(), Path::new("a file")).collect::<Result<_, _>>().unwrap();
    assert_eq!(entries.len(), table.len());
    for ((entry, (land, grundy)), line) in entries.iter().zip(&table).zip(2..) {
        assert_eq!((entry.position.to_string(), entry.grundy), (land.clone(), *grundy));
        assert_eq!(entry.line, line);
    }
}

/// A file may say the same a million times; that takes memory, too.
#[test]
fn entries_count_as_memory() {
    let check = |entries: usize| {
        let file = written(&vec![("22".to_owned(), 1); entries]);
        let entries = SprReader::new(file.as_slice(), Path::new("a file"));
        let limits = VerifyLimits { memory: 16 << 20, ..LIMITS };
        verify(entries, None, limits, &AtomicBool::new(false), &mut |_| {}).unwrap()
    };
    assert_eq!(check(1000).valid, Some(true));
    let full = check(100_000);
    assert_eq!((full.valid, full.reason), (None, Some(Reason::Memory)));
}

#[test]
fn broken_files_are_refused_with_the_line() {
    let header = "[Positions+Nimber]\n";
    let cases = [
        ("", "line 1: the file has to begin with"),
        ("0*2 0\n", "line 1: the file has to begin with"),
        ("HEADER0*2 0", "line 2: the file ends without a newline"),
        ("HEADER0*2\n", "line 2: a position, a space and a Grundy number"),
        ("HEADER0*2 0\n\n0*3 -1\n", "line 4: the Grundy number \"-1\""),
        ("HEADER0*2 99999999999\n", "line 2: the Grundy number \"99999999999\""),
        ("HEADER0*2 0 1\n", "line 2: position: character 4"),
        ("HEADER0+0 0\n", "line 2: the position has 2 lands"),
        ("HEADER! 0\n", "line 2: the position has 0 lands"),
        ("HEADER0.A|B 0\n", "line 2: position: character 3: A occurs once"),
    ];
    for (text, message) in cases {
        let text = text.replace("HEADER", header);
        let mut reader = SprReader::new(text.as_bytes(), Path::new("a file"));
        let error = reader.find_map(Result::err).expect(&text).to_string();
        assert!(error.starts_with("a file, line") && error.contains(message), "{error}");
        assert!(reader.next().is_none());
    }
    let long = format!("{header}{}", "1".repeat(1 << 20));
    let error = SprReader::new(long.as_bytes(), Path::new("a file")).next().unwrap().unwrap_err();
    assert!(error.to_string().contains("longer than"));
    let windows = "\u{feff}[Positions+Nimber]\r\n0*2 0\r\n\r\n0.0.}]! 0\r\n";
    assert_eq!(SprReader::new(windows.as_bytes(), Path::new("a file")).flatten().count(), 2);
}

#[test]
fn full_tables_are_valid() {
    for (start, lost) in [("0*2", true), ("0*3", false), ("0*4", false)] {
        let table = table(start);
        let report = checked(&table, Some(start), LIMITS);
        assert_eq!(report.valid, Some(true), "{report:?}");
        assert_eq!(outcome(&report), Some(if lost { Value::Loss } else { Value::Win }));
    }
}

#[test]
fn what_is_missing_is_searched_within_the_limit() {
    let full = table("0*4");
    let start = vec![("0*4".to_string(), 1)];
    let report = checked(&start, Some("0*4"), LIMITS);
    assert!(report.valid == Some(true) && report.searched > 10);
    let limits = VerifyLimits { work: 5, ..LIMITS };
    let report = checked(&start, Some("0*4"), limits);
    assert_eq!((report.established, report.undecided, outcome(&report)), (0, 1, None));
    assert_eq!((report.valid, report.reason), (None, Some(Reason::NodeLimit)));
    assert!(matches!(report.problems[0].problem, Problem::Undecided { grundy: 1, .. }));
    // With everything there, nothing but the couples of the entry itself is looked at.
    let report = checked(&full, Some("0*4"), VerifyLimits { work: 10, ..LIMITS });
    assert!(report.valid == Some(true) && report.searched == 0);
}

/// The progress comes from the check itself, and a root without entries is found before it searches.
#[test]
fn progress_is_reported_and_a_foreign_root_refused() {
    let file = written(&table("0*3"));
    let check = |root: &str| {
        let root: Position = root.parse().unwrap();
        let entries = SprReader::new(file.as_slice(), Path::new("a file"));
        let (mut seen, stop) = (Vec::new(), AtomicBool::new(false));
        let result = verify(entries, Some(&root), LIMITS, &stop, &mut |now| seen.push(now));
        (result, seen)
    };
    let (report, seen) = check("0*3");
    let entries = report.unwrap().entries.unwrap();
    assert_eq!(seen.first().unwrap().checked, None);
    assert_eq!(seen.last().unwrap().entries, entries);
    assert!((0..entries).all(|done| seen.iter().any(|now| now.checked == Some(done))));
    let (error, seen) = check("0*8");
    assert!(matches!(error, Err(VerifyError::Root { root }) if root == "0*8"));
    assert!(seen.iter().all(|now| now.checked.is_none() && now.searched == 0));
}

#[test]
fn lines_that_contradict_each_other_are_found() {
    let mut table = table("0*2");
    let (land, grundy) = table[0].clone();
    table.push((land, grundy + 1));
    let report = checked(&table, None, LIMITS);
    assert_eq!((report.valid, report.wrong, report.undecided), (Some(false), 1, 0));
    let line = report.problems[0].line;
    assert_eq!(line, table.len() as u64 + 1);
    assert!(matches!(report.problems[0].problem, Problem::Contradiction { line: 2, .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Whatever else is missing, every wrong number is found, and no right one is called wrong.
    #[test]
    fn wrong_numbers_are_found(
        kept in proptest::collection::vec(0..3u8, 148),
        wrong in proptest::collection::vec((0..1000usize, 1..5u32), 1..4),
    ) {
        thread_local! {
            static FULL: Vec<(String, u32)> = table("0*3");
        }
        let full = FULL.with(Clone::clone);
        let mut part: Vec<(String, u32)> = full
            .iter()
            .zip(kept.iter().cycle())
            .filter(|(_, kept)| **kept > 0)
            .map(|(entry, _)| entry.clone())
            .collect();
        prop_assume!(!part.is_empty());
        let mut expected: Vec<u64> = Vec::new();
        for (place, change) in wrong {
            let place = place % part.len();
            let line = place as u64 + 2;
            if !expected.contains(&line) {
                part[place].1 ^= change;
                expected.push(line);
            }
        }
        expected.sort_unstable();
        let report = checked(&part, None, LIMITS);
        let mut found: Vec<u64> = report.problems.iter().map(|finding| finding.line).collect();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
        for finding in &report.problems {
            match &finding.problem {
                Problem::Other { found, .. } => {
                    let right = full.iter().find(|(land, _)| *land == finding.land).unwrap().1;
                    prop_assert_eq!(*found, right);
                }
                Problem::SameAsChild { .. } => {}
                problem => prop_assert!(false, "{problem}"),
            }
        }
    }
}
