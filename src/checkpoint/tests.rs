//! Searches that are kept, and go on.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::Duration;

use super::*;
use crate::file::FileError;
use crate::oracles::graph::GraphGame;
use crate::oracles::negamax::Negamax;
use crate::search::Value;
use crate::search::plain::Root;
use crate::search::plain::game::Game;
use crate::search::pn2::{Pn2Options, pn2};
use crate::search::pns::tests::{RICH, large_game, random_game};
use crate::search::pns::{PnsOptions, pns};
use crate::search::run::{Limits, Observer, Progress, Report};
use crate::search::snapshot::{TreePort, TreeRoom};
use crate::search::table::Table;

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
    room: Option<TreeRoom>,
    nodes: u64,
    search: impl Fn(&Table, Limits, &mut dyn Observer, &TreePort) -> Report,
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
        let tree = keeper.restore(&table, |code| game.key(code), room, None).unwrap();
        // A run that finds nothing new would be repeated for ever.
        let limits = Limits { nodes: Some(nodes * run), ..Limits::default() };
        let report = keeper.run(&table, tree, &mut (), room.is_some(), |observer, port| {
            search(&table, limits, observer, port)
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
            let room = Some(options.tree_room(bytes));
            let (found, runs) = solve_in_runs(&game, room, 20, |table, limits, observer, port| {
                pns(Root::new(&game, 0, table), bytes, options, limits, observer, port)
            });
            assert_eq!(found, value, "pns, seed {seed}");
            let options = Pn2Options {
                pns: options,
                budget_inflection: 40.0,
                budget_slope: 10.0,
                budget_minimum: 3,
                congestion_64: 0,
            };
            let room = Some(options.tree_room(bytes, NonZeroUsize::MIN));
            let (found, more) = solve_in_runs(&game, room, 20, |table, limits, observer, port| {
                pn2(Root::new(&game, 0, table), bytes, options, limits, observer, port)
            });
            assert_eq!(found, value, "pn2, seed {seed}");
            most = most.max(runs).max(more);
        }
    }
    assert!(most > 2, "{most}");
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
        keeper.run(&table, None, &mut observer, true, |observer, port| {
            pns(Root::new(&game, 0, &table), 1 << 24, RICH, Limits::default(), observer, port)
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
