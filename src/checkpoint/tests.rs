//! Tests of searches that write checkpoints and resume from them.

use std::sync::Mutex;
use std::time::Duration;

use super::file_writer::FileWriter;
use super::writer::automatic_interval;
use super::*;
use crate::file::FileError;
use crate::search::plain::Root;
use crate::search::plain::game::Game;
use crate::search::pn2::{Pn2Budget, Pn2Options, pn2};
use crate::search::pns::{PnsOptions, pns};
use crate::search::run::{CheckpointProgress, Limits, Observer, Progress, Report};
use crate::search::table::{Cursor, Entry, Table};
use crate::search::testing::RICH;
use crate::search::testing::graph::GraphGame;
use crate::search::testing::graph::{large_game, random_game};
use crate::search::testing::negamax::Negamax;
use crate::search::{TreeError, Value};

/// Size that fits on every disk.
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

/// Solves a game in many short runs. Each resumes from the checkpoint of the previous run and writes
/// checkpoints continuously.
fn solve_in_runs(
    game: &GraphGame,
    search: impl Fn(&Table, Limits, &mut dyn Observer) -> Result<Report, TreeError>,
) -> (Value, u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.checkpoint");
    let mut counted = 0;
    for run in 1.. {
        let interval = Some(Duration::from_millis(run % 2));
        let writer = CheckpointWriter::new(&path, run > 1, identity(), BOUND, interval).unwrap();
        assert_eq!((writer.before().runs, writer.before().nodes), (run - 1, counted));
        let table = Table::new(1 << 16).unwrap();
        let key_of = |code| game.key(code);
        writer.restore(&table, key_of, None, &mut ()).unwrap();
        // The limit grows with each run. With the same limit, a run without progress would be repeated endlessly.
        let limits = Limits { nodes: Some(20 * run), ..Limits::default() };
        let report = writer.run(&table, &mut (), |observer| search(&table, limits, observer));
        let report = report.unwrap();
        counted += report.counters.nodes;
        assert_eq!(writer.totals(&report.counters).nodes, counted);
        let written = writer.take_written();
        assert!(written.iter().all(Result::is_ok), "{written:?}");
        if let Some(value) = report.outcome.value() {
            return (value, run);
        }
        assert!(!written.is_empty());
        drop(writer);
        let names: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "nothing but the checkpoint is left: {names:?}");
    }
    unreachable!("a search comes to an end")
}

#[test]
fn searches_continue_from_their_tables() {
    let mut most = 0;
    for (seed, game) in (0..8).map(random_game).enumerate() {
        let value = Negamax::new(&game).value(0);
        for options in [PnsOptions::PLAIN, RICH] {
            let bytes = 1 << 20;
            let (found, runs) = solve_in_runs(&game, |table, limits, observer| {
                pns(Root::new(&game, 0, table), bytes, options, limits, observer)
            });
            assert_eq!(found, value, "pns, seed {seed}");
            let options = Pn2Options {
                pns: options,
                budget: Pn2Budget::Logistic { inflection: 40.0, slope: 10.0, minimum: 3 },
                virtual_loss_64: 0,
                cancel_jobs: true,
            };
            let (found, more) = solve_in_runs(&game, |table, limits, observer| {
                pn2(Root::new(&game, 0, table), bytes, options, limits, observer)
            });
            assert_eq!(found, value, "pn2, seed {seed}");
            most = most.max(runs).max(more);
        }
    }
    assert!(most > 2, "{most}");
}

/// A hash function.
fn key_of(code: u64) -> u64 {
    code.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Writes a table and reads it back with `threads` threads, also into a table of `small_bytes`.
fn through_a_file(table: &Table, small_bytes: usize, threads: usize) -> (Vec<u8>, [Table; 2]) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.checkpoint");
    let header = format::CheckpointHeader { identity: identity(), totals: Totals::default() };
    pool.install(|| {
        let mut writer = FileWriter::create(&path, &header).unwrap();
        assert!(writer.table(table, threads, &mut |done, of| done <= of).unwrap());
        writer.finish().unwrap();
        let tables = [table.bytes(), small_bytes].map(|bytes| {
            let table = Table::new(bytes).unwrap();
            let (reader, mut last) = (CheckpointReader::open(&path).unwrap(), 0);
            let mut grows = |done, of| std::mem::replace(&mut last, done) < done && done <= of;
            reader.load(&table, key_of, &mut grows).unwrap();
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
    assert!(small.count().0 * 10 > small.capacity() * 9, "the small table is full");
    for threads in [2, 5] {
        let (again, [other, other_small]) = through_a_file(&table, 1 << 20, threads);
        assert!(again == bytes, "{threads}");
        assert!(cells_of(&other) == cells_of(&whole), "{threads}");
        assert!(cells_of(&other_small) == cells_of(&small), "{threads}");
    }
}

/// Stores the progress of reading and writing.
#[derive(Default)]
struct ProgressLog(Vec<CheckpointProgress>);

impl Observer for ProgressLog {
    fn checkpoint(&mut self, progress: &CheckpointProgress) {
        self.0.push(*progress);
    }
}

#[test]
fn reading_and_writing_report_progress() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.checkpoint");
    let (game, interval) = (large_game(), Some(Duration::from_secs(3600)));
    let run = |writer: CheckpointWriter, nodes| {
        let (table, mut log) = (Table::new(1 << 16).unwrap(), ProgressLog::default());
        let key_of = |code| game.key(code);
        writer.restore(&table, key_of, None, &mut log).unwrap();
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let root = Root::new(&game, 0, &table);
        let search = |observer: &mut dyn Observer| pns(root, 1 << 24, RICH, limits, observer);
        writer.run(&table, &mut log, search).unwrap();
        assert!(log.0.iter().all(|progress| progress.done <= progress.of), "{:?}", log.0);
        let mut writing: Vec<bool> = log.0.iter().map(|progress| progress.writing).collect();
        writing.dedup();
        writing
    };
    let begun = CheckpointWriter::new(&path, false, identity(), BOUND, interval).unwrap();
    assert_eq!(run(begun, 1000), [true]);
    let resumed = CheckpointWriter::new(&path, true, identity(), BOUND, interval).unwrap();
    assert_eq!(run(resumed, 2000), [false, true]);
}

#[test]
fn the_automatic_interval_leaves_the_search_98_percent_of_the_time() {
    for (took, expected) in [(0, 5_000), (100, 5_000), (2_000, 100_000)] {
        let interval = automatic_interval(Duration::from_millis(took));
        assert_eq!(interval, Duration::from_millis(expected));
    }
}

/// Counts calls of `progress` and panics in them.
struct PanickingObserver(Mutex<u32>);

impl Observer for PanickingObserver {
    fn progress(&mut self, _: &Progress) {
        *self.0.get_mut().unwrap() += 1;
        panic!("an observer's fault");
    }
}

#[test]
fn a_search_that_panics_does_not_hang() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.checkpoint");
    let writer = CheckpointWriter::new(&path, false, identity(), BOUND, None).unwrap();
    let game = large_game();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let table = Table::new(1 << 16).unwrap();
        let mut observer = PanickingObserver(Mutex::default());
        let root = Root::new(&game, 0, &table);
        writer.run(&table, &mut observer, |observer| {
            pns(root, 1 << 24, RICH, Limits::default(), observer)
        })
    }));
    assert!(result.is_err());
    assert!(!path.exists());
}

#[test]
fn one_writer_at_a_time_and_never_over_an_older_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.checkpoint");
    let begin = || CheckpointWriter::new(&path, false, identity(), BOUND, None);
    let resume = || CheckpointWriter::new(&path, true, identity(), BOUND, None).unwrap_err();
    assert!(matches!(resume(), CheckpointError::Missing { .. }));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let first = begin().unwrap();
    assert!(matches!(begin().unwrap_err(), CheckpointError::Busy { .. }));
    drop(first);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    std::fs::write(&path, "something").unwrap();
    assert!(matches!(begin().unwrap_err(), CheckpointError::Exists { .. }));
    assert!(matches!(resume(), CheckpointError::File(FileError::OtherKind { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"something");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}
