use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::path::Path;

use pn_search::run::{Limits, Reason, Report};
use pn_search::sums::GrundyStore;
use pn_search::table::Table;

use super::*;
use crate::analysis::Analyst;
use crate::grundy_file::{GrundyFile, GrundyFileError};
use crate::verify::{GrundyProblem, VerifyError, VerifyLimits, VerifyReport};
use konane_base::record_file::{self, Record, RecordFile, RecordFileError};

/// The published outcomes of starts.
const PUBLISHED: &str = include_str!("../../tests/data/misere_outcomes.csv");

/// Reference implementation: outcomes of sums of lands by the rules alone.
struct Plain {
    game: Sprouts,
    scratch: Scratch,
    lost: HashMap<Vec<Atom>, bool>,
}

impl Plain {
    fn new() -> Self {
        Plain { game: Sprouts::new(u64::MAX), scratch: Scratch::default(), lost: HashMap::new() }
    }

    fn is_lost(&mut self, sum: &[Atom]) -> bool {
        if let Some(&lost) = self.lost.get(sum) {
            return lost;
        }
        let children = self.game.children(sum, &mut self.scratch, &|| false).unwrap();
        let lost = !children.is_empty() && children.iter().all(|child| !self.is_lost(child));
        self.lost.insert(sum.to_vec(), lost);
        lost
    }

    fn sum(&mut self, text: &str) -> Vec<Atom> {
        self.game.atoms(&text.parse().unwrap(), &mut self.scratch).unwrap()
    }
}

/// Solves positions with one scratch memory.
struct Tested {
    solver: MisereSolver,
    scratch: MisereScratch,
}

impl Tested {
    fn new() -> Self {
        Tested { solver: MisereSolver::new(1 << 28).unwrap(), scratch: MisereScratch::default() }
    }

    fn assert_same(&mut self, plain: &mut Plain, text: &str) {
        let sum = plain.sum(text);
        let value = if plain.is_lost(&sum) { Value::Loss } else { Value::Win };
        let code = self.solver.game.code(&text.parse().unwrap(), &mut self.scratch).unwrap();
        let found = self.solver.value(code).map(|(value, _)| value).or_else(|| {
            let one = NonZeroUsize::MIN;
            self.solver.solve_code(code, one, Limits::default(), &mut ()).outcome.value()
        });
        assert_eq!(found, Some(value), "{text}");
    }
}

/// All positions that occur in games of `spots` spots, in the order of their texts.
fn reachable(plain: &mut Plain, spots: u32) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![plain.sum(&format!("0*{spots}"))];
    while let Some(sum) = open.pop() {
        if seen.insert(plain.game.text(&sum)) {
            open.extend(plain.game.children(&sum, &mut plain.scratch, &|| false).unwrap());
        }
    }
    seen
}

#[test]
fn outcomes_are_those_of_the_rules() {
    let (mut plain, mut tested) = (Plain::new(), Tested::new());
    for spots in 1..=5 {
        let all = reachable(&mut plain, spots);
        all.iter().for_each(|text| tested.assert_same(&mut plain, text));
    }
}

#[test]
fn outcomes_of_sums_are_those_of_the_rules() {
    let (mut plain, mut tested) = (Plain::new(), Tested::new());
    let lists = [(3, 6), (5, 8)].map(|(spots, lives)| {
        let all = reachable(&mut plain, spots).into_iter();
        let fits = |text: &String| text.parse::<Position>().unwrap().lives() <= lives;
        all.filter(|text| text != "!" && fits(text)).collect::<Vec<String>>()
    });
    let [small, large] = lists;
    let mut state = 1u64;
    let mut random = |count: usize| {
        state = split_mix::mix(state);
        state as usize % count
    };
    for _ in 0..1000 {
        let (one, other) = (&large[random(large.len())], &small[random(small.len())]);
        let third = ["1", "2", "0.2", "0*2", "1a1a", "22"][random(6)];
        tested.assert_same(&mut plain, &[one.as_str(), other].join("+"));
        tested.assert_same(&mut plain, &[one.as_str(), other, third].join("+"));
    }
}

#[test]
fn published_outcomes_of_starts() {
    let lines = PUBLISHED.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    for line in lines.take(11) {
        let (spots, outcome) = line.split_once(',').unwrap();
        let value = if outcome == "W" { Value::Win } else { Value::Loss };
        // Two threads share the tables of lands, trees and groups.
        let solver = MisereSolver::new(1 << 30).unwrap();
        let position = format!("0*{spots}").parse().unwrap();
        let two = NonZeroUsize::new(2).unwrap();
        let report = solver.solve(&position, two, Limits::default(), &mut ()).unwrap();
        assert_eq!(report.outcome.value(), Some(value), "{line}");
    }
}

#[test]
fn outcomes_of_moves_follow_the_rules() {
    let (mut plain, mut analyst) = (Plain::new(), Analyst::misere(1 << 26, None).unwrap());
    for text in ["!", "1", "0*2", "0*3", "0*4", "0*3+0*2", "0*5"] {
        let position = text.parse().unwrap();
        let mut changes = 0;
        let found = analyst.analyse(&position, Limits::default(), &mut |_| changes += 1).unwrap();
        let sum = plain.sum(text);
        assert_eq!(found.outcome == Some(Value::Loss), plain.is_lost(&sum), "{text}");
        let count = plain.game.children(&sum, &mut plain.scratch, &|| false).unwrap().len();
        assert!(found.children.len() == count && changes >= count, "{text}");
        for child in &found.children {
            let sum = plain.sum(&child.position);
            assert_eq!(child.outcome == Some(Value::Win), plain.is_lost(&sum), "{text}: {child:?}");
        }
    }
}

#[test]
fn limits_end_the_search() {
    let one = NonZeroUsize::MIN;
    let position = "0*12".parse().unwrap();
    let solver = MisereSolver::new(1 << 20).unwrap();
    let report = solver.solve(&position, one, Limits::default(), &mut ()).unwrap();
    assert_eq!(report.outcome.reason(), Some(Reason::Memory));
    let solver = MisereSolver::new(1 << 28).unwrap();
    let limits = Limits { nodes: Some(100), ..Limits::default() };
    let report = solver.solve(&position, one, limits, &mut ()).unwrap();
    assert_eq!(report.outcome.reason(), Some(Reason::NodeLimit));
}

/// Trees of nim heaps: the heap of n has the heaps below n as options.
fn heaps(trees: &Trees, count: usize) -> Vec<Tree> {
    let mut heaps = vec![ZERO];
    while heaps.len() < count {
        heaps.push(trees.canonical(&mut heaps.clone()).unwrap());
    }
    heaps
}

#[test]
fn heaps_of_one_cancel_and_heaps_of_two_do_not() {
    let trees = Trees::new();
    let heaps = heaps(&trees, 4);
    let sum = |a, b| trees.sum(a, b).unwrap();
    assert_eq!(sum(heaps[1], heaps[1]), ZERO);
    let two = sum(heaps[2], heaps[2]);
    assert!(two != ZERO && sum(heaps[1], two) != heaps[1]);
    // Under misère play 2+2 is lost, 2+2+2+2 too, and 2+1 is the heap of three.
    assert!(trees.node(two).is_lost() && trees.node(sum(two, two)).is_lost());
    assert_eq!(sum(heaps[2], heaps[1]), heaps[3]);
    // The options 2 are reversible through 0 only if the game is won.
    let only_one = trees.canonical(&mut vec![heaps[1]]).unwrap();
    assert_eq!(only_one, ZERO);
    assert_ne!(trees.canonical(&mut vec![heaps[2]]).unwrap(), ZERO);
}

/// A game without any theory: sorted options.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct RawGame(Vec<RawGame>);

fn raw_is_lost(sum: &mut Vec<RawGame>, known: &mut HashMap<Vec<RawGame>, bool>) -> bool {
    sum.sort_unstable();
    if let Some(&lost) = known.get(sum) {
        return lost;
    }
    let mut is_over = true;
    let mut lost = true;
    for place in 0..sum.len() {
        for option in &sum[place].0 {
            is_over = false;
            let mut child = sum.clone();
            child[place] = option.clone();
            lost &= !raw_is_lost(&mut child, known);
        }
    }
    lost &= !is_over;
    known.insert(sum.clone(), lost);
    lost
}

/// All games of birthday at most 3: G and H with the same tree have the same outcome in every sum.
#[test]
fn games_with_equal_trees_are_exchangeable() {
    let mut games = vec![RawGame(Vec::new())];
    for _ in 0..3 {
        let born: Vec<RawGame> = (0..1u32 << games.len())
            .map(|set| {
                let chosen = games.iter().enumerate().filter(|&(at, _)| set >> at & 1 == 1);
                RawGame(chosen.map(|(_, game)| game.clone()).collect())
            })
            .collect();
        games = born;
        games.sort_unstable();
    }
    assert_eq!(games.len(), 16);
    // Some games of birthday 4.
    let mut larger = games.clone();
    let mut state = 1;
    for _ in 0..200 {
        state = split_mix::mix(state);
        let chosen = games.iter().enumerate().filter(|&(at, _)| state >> (2 * at) & 3 == 0);
        larger.push(RawGame(chosen.map(|(_, game)| game.clone()).collect()));
    }
    let trees = Trees::new();
    fn tree(trees: &Trees, game: &RawGame) -> Tree {
        let mut options = game.0.iter().map(|option| tree(trees, option)).collect();
        trees.canonical(&mut options).unwrap()
    }
    let known = &mut HashMap::new();
    let mut rows: HashMap<Tree, Vec<bool>> = HashMap::new();
    for game in &larger {
        let outcomes: Vec<bool> = games
            .iter()
            .map(|other| raw_is_lost(&mut vec![game.clone(), other.clone()], known))
            .collect();
        let tree = tree(&trees, game);
        assert_eq!(trees.node(tree).is_lost(), outcomes[0], "{game:?}");
        assert_eq!(rows.entry(tree).or_insert_with(|| outcomes.clone()), &outcomes, "{game:?}");
    }
    let distinct: BTreeSet<&Vec<bool>> = rows.values().collect();
    println!("{} trees, in {} classes by sums with birthday 3", rows.len(), distinct.len());
    assert!(rows.len() > 15 && distinct.len() > 5);
}

/// Conway, On Numbers and Games, chapter 12: 1, 2, 3, 5 and 22 games are born by the days 0 to 4.
#[test]
fn as_many_trees_are_born_as_published() {
    let trees = Trees::new();
    let mut born = BTreeSet::from([ZERO]);
    for published in [2, 3, 5, 22] {
        let earlier: Vec<Tree> = born.iter().copied().collect();
        for set in 0..1u32 << earlier.len() {
            let options = (0..earlier.len()).filter(|at| set >> at & 1 == 1);
            let mut options = options.map(|at| earlier[at]).collect();
            born.insert(trees.canonical(&mut options).unwrap());
        }
        assert_eq!(born.len(), published);
    }
}

/// The tree of a sum is that of the game with the options of the sum.
#[test]
fn trees_of_sums_are_those_of_their_options() {
    let mut scratch = MisereScratch::default();
    let game = MisereSprouts::new(u64::MAX);
    let mut plain = Plain::new();
    for text in reachable(&mut plain, 3) {
        let code = game.code(&text.parse().unwrap(), &mut scratch).unwrap();
        let sum = game.lands.atoms(&text.parse().unwrap(), &mut scratch.moves).unwrap();
        let children = game.lands.children(&sum, &mut scratch.moves, &|| false).unwrap();
        let trees = children.iter().map(|child| game.code_of_sum(child, &mut scratch).unwrap());
        let mut trees: Vec<Tree> = trees.map(|code| parts(code).0).collect();
        assert_eq!(parts(code), (game.trees.canonical(&mut trees).unwrap(), NO_ITEMS), "{text}");
    }
}

type Records = Vec<(String, u32)>;

fn records_of(path: &Path) -> Records {
    let mut records = Vec::new();
    record_file::read(path, OUTCOMES, |record: Record<'_>| {
        records.push((record.text.to_owned(), record.number));
        Ok::<(), RecordFileError>(())
    })
    .unwrap();
    records
}

fn write_records(path: &Path, records: &Records) {
    let ignore = |_: Record<'_>| Ok::<(), RecordFileError>(());
    let (mut db, _) = RecordFile::open(path, OUTCOMES, ignore).unwrap();
    records.iter().for_each(|(text, number)| db.append(text, *number).unwrap());
    db.close().unwrap();
}

/// Solves a position with a file. Returns the report, and the numbers of records that were read and added.
fn solve_with(path: &Path, text: &str) -> (Report, u64, u64) {
    let solver = MisereSolver::new(1 << 28).unwrap();
    let file = OutcomeFile::open(path, &solver).unwrap();
    let position = text.parse().unwrap();
    let report = solver.solve(&position, NonZeroUsize::MIN, Limits::default(), &mut ()).unwrap();
    let used = file.save(&solver, Some(&position)).unwrap();
    (report, used.loaded, used.added)
}

fn verified(path: &Path, root: Option<&str>, work: u64) -> Result<VerifyReport, VerifyError> {
    let root: Option<Position> = root.map(|root| root.parse().unwrap());
    let limits = VerifyLimits { work, memory: u64::MAX, deadline: None };
    verify(path, root.as_ref(), limits, &AtomicBool::new(false), &mut |_| {})
}

#[test]
fn outcomes_are_written_to_a_file_and_read_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outcomes");
    let (first, loaded, added) = solve_with(&path, "0*9");
    assert_eq!((first.outcome.value(), loaded), (Some(Value::Loss), 0));
    assert!(added > 10 && records_of(&path).len() as u64 == added);
    // The lost root is in the file, so there is no search.
    let (again, loaded, more) = solve_with(&path, "0*9");
    assert_eq!(
        (again.outcome, again.counters.expansions, loaded, more),
        (first.outcome, 0, added, 0)
    );
    // The file is a proof, also of what follows from it.
    let (_, _, more) = solve_with(&path, "0*10");
    let report = verified(&path, Some("0*10"), 0).unwrap();
    let expected = (Some(true), Some(added + more), added + more, 0);
    assert_eq!((report.valid, report.entries, report.established, report.searched), expected);
    assert_eq!(report.root.unwrap().outcome, Some(Value::Win));
    assert!(matches!(verified(&path, Some("0*12"), 0), Err(VerifyError::Root { .. })));
    // It is no file of Grundy numbers.
    let (game, numbers) = (Sprouts::new(u64::MAX), GrundyStore::new());
    let error = GrundyFile::open(&path, &game, &numbers).unwrap_err();
    assert!(error.to_string().contains("not a database of Grundy numbers"), "{error}");
}

#[test]
fn analysts_read_outcomes_and_add_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outcomes");
    let position: Position = "0*9".parse().unwrap();
    let analyse = || {
        let mut analyst = Analyst::misere(1 << 28, Some(&path)).unwrap();
        let loaded = analyst.contents().unwrap().records;
        let analysis = analyst.analyse(&position, Limits::default(), &mut |_| {}).unwrap();
        (analysis, loaded, analyst.close().unwrap().unwrap())
    };
    let (first, loaded, used) = analyse();
    assert_eq!((first.outcome, loaded, used.loaded), (Some(Value::Loss), 0, 0));
    assert!(first.nodes > 1000 && used.added > 10, "{} {}", first.nodes, used.added);
    // All moves lose and are in the file.
    let (second, loaded, again) = analyse();
    assert_eq!((loaded, again.loaded, again.added), (used.added, used.added, 0));
    assert_eq!((second.children, second.nodes), (first.children, 1));
}

#[test]
fn searches_that_fill_their_memory_write_proofs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outcomes");
    let position: Position = "0*10".parse().unwrap();
    let mut runs = 0;
    loop {
        // The small table replaces outcomes.
        let game = MisereSprouts::new(3_600_000);
        let solver = MisereSolver { game, table: Table::new(1 << 14).unwrap() };
        let file = OutcomeFile::open(&path, &solver).unwrap();
        let threads = NonZeroUsize::MIN;
        let report = solver.solve(&position, threads, Limits::default(), &mut ()).unwrap();
        file.save(&solver, Some(&position)).unwrap();
        runs += 1;
        if report.outcome.value().is_some() {
            assert_eq!(report.outcome.value(), Some(Value::Win));
            break;
        }
        assert_eq!((report.outcome.reason(), solver.game.is_full()), (Some(Reason::Memory), true));
    }
    assert!(runs > 1);
    let report = verified(&path, Some("0*10"), 0).unwrap();
    assert_eq!((report.valid, report.searched), (Some(true), 0));
}

#[test]
fn wrong_and_missing_outcomes_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outcomes");
    solve_with(&path, "0*8");
    let records = records_of(&path);
    assert!(records.len() > 30);
    for changed in (0..records.len()).step_by(records.len() / 3) {
        let path = folder.path().join(format!("{changed}"));
        let mut wrong = records.clone();
        wrong[changed].1 ^= 1;
        write_records(&path, &wrong);
        let report = verified(&path, None, u64::MAX).unwrap();
        assert_eq!((report.valid, report.wrong), (Some(false), 1));
        let found = if records[changed].1 == 0 { Value::Loss } else { Value::Win };
        let finding = &report.problems[0];
        assert_eq!((finding.line, &finding.land), (changed as u64 + 1, &records[changed].0));
        assert_eq!(finding.problem, GrundyProblem::Outcome { found });
        let path = folder.path().join(format!("without {changed}"));
        let mut fewer = records.clone();
        fewer.remove(changed);
        write_records(&path, &fewer);
        let report = verified(&path, None, u64::MAX).unwrap();
        assert_eq!((report.valid, report.undecided), (Some(true), 0));
        let limited = verified(&path, None, 0).unwrap();
        assert_eq!(limited.valid.is_none(), report.searched > 0, "{}", records[changed].0);
        assert_eq!(limited.undecided > 0, report.searched > 0);
    }
}

#[test]
fn invalid_files_of_outcomes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outcomes");
    let solver = MisereSolver::new(1 << 24).unwrap();
    for (number, (text, value)) in
        [("0*9", 2), ("0*9.", 0), ("0*2", 1), ("0*9", 1)].into_iter().enumerate()
    {
        let path = folder.path().join(format!("{number}"));
        // The last record contradicts the first one.
        write_records(&path, &vec![("0*9".to_owned(), 0), (text.to_owned(), value)]);
        let error = OutcomeFile::open(&path, &solver).unwrap_err();
        assert!(matches!(&error, GrundyFileError::Record { .. }), "{text}: {error}");
        assert!(error.to_string().contains(&format!("{}, byte 55", path.display())), "{error}");
    }
    solve_with(&path, "0*8");
    let mut bytes = std::fs::read(&path).unwrap();
    let place = bytes.len() / 2;
    assert!(place > 100);
    bytes[place] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = OutcomeFile::open(&path, &solver).unwrap_err().to_string();
    assert!(error.contains("damaged at byte 16"), "{error}");
    let error = verified(&path, None, 1).unwrap_err().to_string();
    assert!(error.contains("damaged at byte 16"), "{error}");
}
