//! Searches that are kept, and go on.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::Duration;

use super::*;
use crate::file::FileError;
use crate::search::Value;
use crate::search::plain::Root;
use crate::search::plain::game::Game;
use crate::search::pn2::{Pn2Options, pn2};
use crate::search::pns::{PnsOptions, pns};
use crate::search::run::{CheckpointProgress, Limits, Observer, Progress, Report};
use crate::search::snapshot::{SavedTree, TreePort, TreeRoom};
use crate::search::table::{Cursor, Entry, Table};
use crate::search::testing::RICH;
use crate::search::testing::graph::GraphGame;
use crate::search::testing::graph::{large_game, random_game};
use crate::search::testing::negamax::Negamax;

/// Fits on every disk.
const BOUND: u64 = 1;

fn identity() -> Identity {
    Identity {
        rules: "graph".to_owned(),
        board: "random".to_owned(),
        algorithm: "any".to_owned(),
        profile: "plain".to_owned(),
        position: "the first node".to_owned(),
        root: 0,
    }
}

/// Solves a game in many short runs, each of which goes on from the checkpoint of the one before,
/// while checkpoints are written all the time.
fn solve_in_runs(
    game: &GraphGame,
    room: TreeRoom,
    search: impl Fn(&Table, SavedTree, Limits, &mut dyn Observer, &TreePort) -> Report,
) -> (Value, u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.checkpoint");
    let mut counted = 0;
    for run in 1.. {
        let interval = Duration::from_millis(run % 2);
        let keeper = if run == 1 {
            Keeper::begin(&path, identity(), BOUND, interval).unwrap()
        } else {
            Keeper::resume(&path, identity(), BOUND, interval).unwrap()
        };
        assert_eq!((keeper.before().runs, keeper.before().nodes), (run - 1, counted));
        let table = Table::new(1 << 16).unwrap();
        let key_of = |code| game.key(code);
        let tree = keeper.restore(&table, key_of, Some(room), None, &mut ()).unwrap();
        let tree = tree.unwrap_or_else(|| SavedTree::empty(room).unwrap());
        // A run that finds nothing new would be repeated for ever.
        let limits = Limits { nodes: Some(20 * run), ..Limits::default() };
        let report = keeper.run(&table, &mut (), true, |observer, port| {
            search(&table, tree, limits, observer, port)
        });
        counted += report.counters.nodes;
        assert_eq!(keeper.totals(&report.counters).nodes, counted);
        let saves = keeper.take_saves();
        assert!(saves.iter().all(|save| save.result.is_ok()), "{saves:?}");
        if let Some(value) = report.outcome.value() {
            return (value, run);
        }
        assert!(!saves.is_empty());
        drop(keeper);
        let names: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "nothing but the checkpoint is left: {names:?}");
    }
    unreachable!("a search comes to an end")
}

#[test]
fn searches_with_trees_go_on_where_they_were() {
    let mut most = 0;
    for (seed, game) in (0..8).map(random_game).enumerate() {
        let value = Negamax::new(&game).value(0);
        for options in [PnsOptions::PLAIN, RICH] {
            let bytes = 1 << 20;
            let room = options.tree_room(bytes);
            let (found, runs) =
                solve_in_runs(&game, room, |table, tree, limits, observer, port| {
                    pns(Root::new(&game, 0, table), tree, options, limits, observer, port)
                });
            assert_eq!(found, value, "pns, seed {seed}");
            let options = Pn2Options {
                pns: options,
                budget_inflection: 40.0,
                budget_slope: 10.0,
                budget_minimum: 3,
                congestion_64: 0,
            };
            let room = options.tree_room(bytes, NonZeroUsize::MIN);
            let (found, more) =
                solve_in_runs(&game, room, |table, tree, limits, observer, port| {
                    pn2(Root::new(&game, 0, table), tree, options, limits, observer, port)
                });
            assert_eq!(found, value, "pn2, seed {seed}");
            most = most.max(runs).max(more);
        }
    }
    assert!(most > 2, "{most}");
}

/// Some hash.
fn key_of(code: u64) -> u64 {
    code.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Writes a table and reads it again, with so many threads; into one that is too small for it too.
fn through_a_file(table: &Table, small_bytes: usize, threads: usize) -> (Vec<u8>, [Table; 2]) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.checkpoint");
    let header = format::Header { identity: identity(), totals: Totals::default() };
    pool.install(|| {
        let mut writer = CheckpointWriter::create(&path, &header).unwrap();
        assert!(writer.table(table, threads, &mut |done, of| done <= of).unwrap());
        writer.finish().unwrap();
        let tables = [table.bytes(), small_bytes].map(|bytes| {
            let table = Table::new(bytes).unwrap();
            let (reader, mut last) = (CheckpointReader::open(&path).unwrap(), 0);
            let mut grows = |done, of| std::mem::replace(&mut last, done) < done && done <= of;
            reader.load(&table, key_of, None, &mut grows).unwrap();
            table
        });
        (std::fs::read(&path).unwrap(), tables)
    })
}

fn cells_of(table: &Table) -> Vec<u128> {
    let (mut cursor, mut cells) = (Cursor::default(), Vec::new());
    while table.copy_cells(&mut cursor, 1, &mut cells) {}
    cells
}

#[test]
fn neither_bytes_nor_tables_depend_on_the_number_of_threads() {
    let table = Table::new(8 << 20).unwrap();
    let entry = |code| Entry { phi: 1 + code as u32 % 1000, delta: 7, work: code % 4096 };
    let codes = || (0..200_000).map(|at: u64| at.wrapping_mul(0xD134_2543_DE82_EF95));
    table.reserve(200_000, 1, key_of);
    for code in codes() {
        table.store(key_of(code), code, entry(code));
    }
    let (bytes, [whole, small]) = through_a_file(&table, 1 << 20, 1);
    for code in codes() {
        assert_eq!(whole.lookup(key_of(code), code), table.lookup(key_of(code), code));
    }
    assert!(small.count().0 * 10 > small.capacity() * 9, "it is full");
    for threads in [2, 5] {
        let (again, [other, other_small]) = through_a_file(&table, 1 << 20, threads);
        assert!(again == bytes, "{threads}");
        assert!(cells_of(&other) == cells_of(&whole), "{threads}");
        assert!(cells_of(&other_small) == cells_of(&small), "{threads}");
    }
}

/// Remembers what was told of checkpoints.
#[derive(Default)]
struct Told(Vec<CheckpointProgress>);

impl Observer for Told {
    fn checkpoint(&mut self, progress: &CheckpointProgress) {
        self.0.push(*progress);
    }
}

#[test]
fn reading_and_writing_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.checkpoint");
    let (game, interval) = (large_game(), Duration::from_secs(3600));
    let room = RICH.tree_room(1 << 24);
    let run = |keeper: Keeper, nodes| {
        let (table, mut told) = (Table::new(1 << 16).unwrap(), Told::default());
        let key_of = |code| game.key(code);
        let tree = keeper.restore(&table, key_of, Some(room), None, &mut told).unwrap();
        let tree = tree.unwrap_or_else(|| SavedTree::empty(room).unwrap());
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        keeper.run(&table, &mut told, true, |observer, port| {
            pns(Root::new(&game, 0, &table), tree, RICH, limits, observer, port)
        });
        assert!(told.0.iter().all(|progress| progress.done <= progress.of), "{:?}", told.0);
        let mut writing: Vec<bool> = told.0.iter().map(|progress| progress.writing).collect();
        writing.dedup();
        writing
    };
    let begun = Keeper::begin(&path, identity(), BOUND, interval).unwrap();
    assert_eq!(run(begun, 20), [true]);
    let resumed = Keeper::resume(&path, identity(), BOUND, interval).unwrap();
    assert_eq!(run(resumed, 40), [false, true]);
}

/// Counts calls, and panics at some.
struct Panics(Mutex<u32>);

impl Observer for Panics {
    fn progress(&mut self, _: &Progress) {
        *self.0.get_mut().unwrap() += 1;
        panic!("an observer's fault");
    }
}

#[test]
fn a_search_that_panics_does_not_hang() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.checkpoint");
    let keeper = Keeper::begin(&path, identity(), BOUND, Duration::from_secs(3600)).unwrap();
    let game = large_game();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let table = Table::new(1 << 16).unwrap();
        let mut observer = Panics(Mutex::default());
        let tree = SavedTree::empty(RICH.tree_room(1 << 24)).unwrap();
        keeper.run(&table, &mut observer, true, |observer, port| {
            pns(Root::new(&game, 0, &table), tree, RICH, Limits::default(), observer, port)
        })
    }));
    assert!(result.is_err());
    assert!(!path.exists());
}

#[test]
fn one_keeper_at_a_time_and_never_over_an_older_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.checkpoint");
    let interval = Duration::from_secs(60);
    let resume = || Keeper::resume(&path, identity(), BOUND, interval).unwrap_err();
    assert!(matches!(resume(), CheckpointError::Missing { .. }));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let first = Keeper::begin(&path, identity(), BOUND, interval).unwrap();
    let second = Keeper::begin(&path, identity(), BOUND, interval);
    assert!(matches!(second.unwrap_err(), CheckpointError::Busy { .. }));
    drop(first);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    std::fs::write(&path, "something").unwrap();
    let third = Keeper::begin(&path, identity(), BOUND, interval);
    assert!(matches!(third.unwrap_err(), CheckpointError::Exists { .. }));
    assert!(matches!(resume(), CheckpointError::File(FileError::OtherKind { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"something");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}
