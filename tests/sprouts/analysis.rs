//! Analyses of positions, compared with Grundy numbers by the definition.

use super::common::{Random, TestGame};
use konane::Value;
use konane::record_file::{Record, RecordFile, RecordFileError};
use konane::search::run::{Limits, Reason};
use konane::search::sums::game::{Atom, Impartial};
use konane::sprouts::Position;
use konane::sprouts::analysis::{Analysis, Analyst, ChildValue, Goal, ValueSource};
use konane::sprouts::grundy_file::GRUNDY_NUMBERS;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const MEMORY: u64 = 64 << 20;

fn position(text: &str) -> Position {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn analysed(analyst: &mut Analyst, text: &str) -> Analysis {
    analyst.analyse(&position(text), Limits::default(), &mut |_| {}).expect("memory")
}

/// Returns the outcome for the player to move at a Grundy number.
fn value(grundy: u32) -> Value {
    if grundy == 0 { Value::Loss } else { Value::Win }
}

/// Returns the lands of a sum that remain when equal lands have cancelled.
fn cancelled(sum: &[Atom]) -> Vec<Atom> {
    let odd = |&&atom: &&Atom| sum.iter().filter(|&&other| other == atom).count() % 2 == 1;
    sum.iter().filter(odd).copied().collect()
}

/// Checks that all known values agree with the definition and, if `whole`, that all values are known.
fn check(sprouts: &mut TestGame, sum: &[Atom], analysis: &Analysis, whole: bool) {
    let text = sprouts.game.text(sum);
    assert_eq!(analysis.canonical, text);
    let agrees = |found: Option<u32>, right: u32, what: &str| {
        assert!(found.is_none_or(|found| found == right), "{text}: {what}");
        assert!(found.is_some() || !whole, "{text}: {what} is unknown");
    };
    let right = sprouts.grundy(sum);
    agrees(analysis.grundy, right, "the position's number");
    assert!(analysis.outcome.is_none_or(|outcome| outcome == value(right)), "{text}");
    assert!(analysis.outcome.is_some() || !whole);
    let texts: Vec<&str> = analysis.lands.iter().map(|land| land.position.as_str()).collect();
    assert_eq!(if texts.is_empty() { "!".into() } else { texts.join("+") }, text);
    for land in &analysis.lands {
        let atoms = sprouts.atoms(&land.position);
        agrees(land.grundy, sprouts.grundy(&atoms), &land.position);
        assert_eq!(land.grundy.is_some(), land.source.is_some());
    }
    let children: Vec<Vec<Atom>> = sprouts.children(sum).into_iter().collect();
    let expected: BTreeSet<String> = children.iter().map(|sum| sprouts.game.text(sum)).collect();
    let listed: BTreeSet<String> =
        analysis.children.iter().map(|child| child.position.clone()).collect();
    assert_eq!((&listed, listed.len()), (&expected, analysis.children.len()), "{text}");
    for child in &analysis.children {
        let ChildValue { position, grundy, outcome, source } = child;
        let atoms = sprouts.atoms(position);
        let right = sprouts.grundy(&atoms);
        agrees(*grundy, right, position);
        assert!(outcome.is_none_or(|outcome| outcome == !value(right)), "{text} to {position}");
        assert_eq!(outcome.is_some(), source.is_some());
        assert!(outcome.is_some() || grundy.is_none());
        let over = cancelled(&atoms).is_empty();
        assert_eq!(*source == Some(ValueSource::Rules), over, "{text} to {position}");
    }
    let places = analysis.children.iter().map(|child| match child.outcome {
        Some(Value::Win) => 0,
        Some(Value::Loss) => 1,
        None => 2,
    });
    assert!(places.is_sorted(), "{text}: winning ones first, unknown ones last");
}

#[test]
fn every_position_of_up_to_three_spots() {
    let mut sprouts = TestGame::new();
    let mut analyst = Analyst::new(MEMORY, None).unwrap();
    let mut positions = 0;
    for start in ["0*1", "0*2", "0*3"] {
        for sum in sprouts.reachable(start) {
            let analysis = analysed(&mut analyst, &sprouts.game.text(&sum));
            check(&mut sprouts, &sum, &analysis, true);
            assert_eq!(analysis.reason, None);
            positions += 1;
        }
    }
    assert_eq!(positions, 3 + 18 + 148);
}

#[test]
fn sums_of_equal_lands_are_decided_by_the_rules() {
    let mut sprouts = TestGame::new();
    let mut analyst = Analyst::new(MEMORY, None).unwrap();
    let analysis = analysed(&mut analyst, "0*3+0*2+0*3");
    let sum = sprouts.atoms("0*3+0*2+0*3");
    check(&mut sprouts, &sum, &analysis, true);
    assert_eq!(analysis.lands.len(), 3);
    let analysis = analysed(&mut analyst, "!");
    assert_eq!((analysis.outcome, analysis.grundy), (Some(Value::Loss), Some(0)));
    assert!(analysis.children.is_empty() && analysis.lands.is_empty() && analysis.nodes == 0);
}

#[test]
fn values_beyond_the_limits_are_unknown() {
    let mut sprouts = TestGame::new();
    let sum = sprouts.atoms("0*5");
    let mut was_open = 0;
    for nodes in [1, 10, 100, 300, 1000, 100_000] {
        let mut analyst = Analyst::new(MEMORY, None).unwrap();
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let analysis = analyst.analyse(&position("0*5"), limits, &mut |_| {}).unwrap();
        let unknown = analysis.children.iter().any(|child| child.grundy.is_none());
        check(&mut sprouts, &sum, &analysis, !unknown);
        assert_eq!(analysis.reason, unknown.then_some(Reason::NodeLimit), "{nodes}");
        was_open += u32::from(analysis.outcome.is_none());
    }
    assert!(was_open > 0, "one node is too few");
    let mut analyst = Analyst::new(MEMORY, None).unwrap();
    let stop = AtomicBool::new(true);
    let stopped = Limits { stop: Some(&stop), ..Limits::default() };
    let late = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    for (limits, reason) in [(stopped, Reason::Interrupted), (late, Reason::TimeLimit)] {
        let analysis = analyst.analyse(&position("0*9"), limits, &mut |_| {}).unwrap();
        assert_eq!((analysis.outcome, analysis.reason), (None, Some(reason)));
        assert!(analysis.children.iter().all(|child| child.outcome.is_none()));
    }
}

#[test]
fn goals_end_early() {
    for (text, winning) in [("0*5", true), ("0*6", false)] {
        let mut nodes = Vec::new();
        for goal in [Goal::Winner, Goal::Outcomes, Goal::Numbers] {
            let mut analyst = Analyst::new(MEMORY, None).unwrap();
            let limits = Limits::default();
            let analysis =
                analyst.analyse_until(goal, &position(text), limits, &mut |_| {}).unwrap();
            assert_eq!(analysis.outcome == Some(Value::Win), winning);
            assert_eq!(analysis.with(Some(Value::Win)).count() > 0, winning);
            let unknown = analysis.with(None).count();
            assert!(unknown == 0 || goal == Goal::Winner, "{text} {goal:?}");
            nodes.push(analysis.nodes);
        }
        assert!(nodes.is_sorted() && nodes[0] < nodes[2], "{text}: {nodes:?}");
    }
}

#[test]
fn changes_are_reported_and_known_values_are_kept() {
    let mut analyst = Analyst::new(MEMORY, None).unwrap();
    let mut reported: Vec<Analysis> = Vec::new();
    let on_change = &mut |analysis: &Analysis| reported.push(analysis.clone());
    let analysis = analyst.analyse(&position("0*6"), Limits::default(), on_change).unwrap();
    assert!(reported.len() > 5);
    assert_eq!(reported[0].nodes, 0, "the children are listed first");
    assert_eq!(reported.last().unwrap().children, analysis.children);
    for (earlier, later) in reported.iter().zip(&reported[1..]) {
        assert_ne!(earlier, later);
        for child in &earlier.children {
            let same = later.children.iter().find(|same| same.position == child.position);
            let same = same.expect("children stay");
            assert!(child.grundy.is_none() || child.grundy == same.grundy);
            assert!(child.outcome.is_none() || child.outcome == same.outcome);
        }
    }
    // The second analysis needs no search.
    assert_eq!(analysed(&mut analyst, "0*6").nodes, 0);
}

#[test]
fn numbers_of_a_file_are_used_and_those_found_are_added() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("numbers");
    let mut analyst = Analyst::new(MEMORY, Some(&path)).unwrap();
    let first = analysed(&mut analyst, "0*5");
    let used = analyst.close().unwrap().expect("a file");
    assert!(used.loaded == 0 && used.added > 20, "{used:?}");
    let mut analyst = Analyst::new(MEMORY, Some(&path)).unwrap();
    assert_eq!(analyst.contents().unwrap().records, used.added);
    assert!(Analyst::new(MEMORY, Some(&path)).is_err(), "the file is locked");
    let second = analysed(&mut analyst, "0*5");
    assert_eq!((second.nodes, second.grundy), (0, first.grundy));
    assert!(second.children.iter().all(|child| child.source == Some(ValueSource::File)));
    assert!(first.children.iter().all(|child| child.source == Some(ValueSource::Search)));
    // Numbers that the file does not contain are found, with another source.
    let other = analysed(&mut analyst, "0*6");
    let sources: BTreeSet<_> =
        other.children.iter().map(|child| child.source.unwrap() as u8).collect();
    assert!(sources.contains(&(ValueSource::Search as u8)), "{sources:?}");
}

/// Numbers of a file are trusted. Wrong ones lead to wrong results, but every search ends.
#[test]
fn searches_with_wrong_numbers_end() {
    let directory = tempfile::tempdir().unwrap();
    let (mut sprouts, mut random) = (TestGame::new(), Random(11));
    let lands: BTreeSet<Atom> = sprouts.reachable("0*4").into_iter().flatten().collect();
    for round in 0..30 {
        let path = directory.path().join(round.to_string());
        let ignore = |_: Record<'_>| Ok::<(), RecordFileError>(());
        let (mut file, _) = RecordFile::open(&path, GRUNDY_NUMBERS, ignore).unwrap();
        for &land in &lands {
            if random.index(30) >= round {
                continue;
            }
            let most = sprouts.game.features(land).lives as usize;
            file.append(&sprouts.game.land_text(land), random.index(most + 1) as u32).unwrap();
        }
        file.close().unwrap();
        let mut analyst = Analyst::new(MEMORY, Some(&path)).unwrap();
        let deadline = Some(Instant::now() + Duration::from_secs(60));
        let limits = Limits { deadline, ..Limits::default() };
        for text in ["0*4", "0*5"] {
            let analysis = analyst.analyse(&position(text), limits, &mut |_| {}).unwrap();
            assert_eq!(analysis.reason, None, "{round}: {text}");
        }
    }
}

/// Repeated garbage collection changes no value: not with many children, nor when a collection is the last
/// because it removed too little.
#[test]
fn little_memory_changes_no_value() {
    let mut rich = Analyst::new(MEMORY, None).unwrap();
    for (memory, nodes, texts) in [
        (1 << 20, 100_000, &["0*7", "0*5+0*4", "0*2.1a1a.AB|0*2.AB", "0*8"][..]),
        (400_000, 100_000, &["1.2.12.22.122"]),
        (400_000, 300_000, &["1.2.12.22.122", "0.2.22.12.122"]),
    ] {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let mut poor = Analyst::new(memory, None).unwrap();
        for text in texts {
            let analysed = |analyst: &mut Analyst| {
                analyst.analyse(&position(text), limits, &mut |_| {}).expect("memory")
            };
            let (expected, found) = (analysed(&mut rich), analysed(&mut poor));
            for child in &found.children {
                let right = expected.children.iter().find(|right| right.position == child.position);
                let right = right.expect("the same children");
                if let (Some(found), Some(right)) = (child.grundy, right.grundy) {
                    assert_eq!(found, right, "{text} to {}", child.position);
                }
                if let (Some(found), Some(right)) = (child.outcome, right.outcome) {
                    assert_eq!(found, right, "{text} to {}", child.position);
                }
            }
            assert!(found.children.iter().any(|child| child.grundy.is_some()), "{text}");
            assert_eq!(found.outcome, expected.outcome, "{text}");
        }
    }
}

/// The positions after its moves have more spots than a text from a user may have.
#[test]
fn the_largest_start_survives_collections() {
    let mut analyst = Analyst::new(1 << 20, None).unwrap();
    let limits = Limits { nodes: Some(20_000), ..Limits::default() };
    let analysis = analyst.analyse(&position("0*2000"), limits, &mut |_| {}).expect("memory");
    assert_eq!((analysis.outcome, analysis.children.len()), (None, 1001));
}

#[test]
fn an_analyst_moves_between_threads_and_its_results_are_json() {
    let mut analyst = Analyst::new(MEMORY, None).unwrap();
    let analysis = std::thread::spawn(move || analysed(&mut analyst, "0*2+22")).join().unwrap();
    let json = serde_json::to_value(&analysis).unwrap();
    assert_eq!(json["canonical"], "0*2+22");
    assert_eq!(
        json["lands"][1],
        serde_json::json!({"position": "22", "grundy": 1, "source": "search"})
    );
    assert_eq!((&json["outcome"], &json["grundy"]), (&"win".into(), &1.into()));
    let win =
        serde_json::json!({"position": "0*2", "grundy": 0, "outcome": "win", "source": "search"});
    assert_eq!(json["children"][0], win);
    let limits = Limits { nodes: Some(1), ..Limits::default() };
    let mut analyst = Analyst::new(MEMORY, None).unwrap();
    let open = analyst.analyse(&position("0*9"), limits, &mut |_| {}).unwrap();
    let json = serde_json::to_value(&open).unwrap();
    assert_eq!((&json["outcome"], &json["reason"]), (&"unknown".into(), &"node limit".into()));
}
