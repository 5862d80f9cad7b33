use super::*;
use crate::Value;
use crate::plain::oracle::{Oracle, WithOracle};
use crate::pn2::pn2;
use crate::pn2::tests::{THESIS, variants};
use crate::run::{Outcome, Progress, Reason};
use crate::table::Table;
use crate::testing::graph::Hooked;
use crate::testing::graph::{large_game, random_game};
use crate::testing::negamax::Negamax;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

fn search<G: Game>(
    game: &G,
    table: &Table,
    tree_bytes: usize,
    options: Pn2Options,
    workers: usize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let root = Root::new(game, 0, table);
    search_with(root, tree_bytes, options, workers, limits, observer).unwrap()
}

#[test]
fn random_games_have_the_value_of_negamax_with_any_number_of_workers() {
    let mut several = 0;
    for seed in 0..40 {
        let game = random_game(seed);
        let mut oracle = Negamax::new(&game);
        let value = oracle.value(0);
        for options in variants() {
            let workers = [1, 2, 3, 8, 33][seed as usize % 5];
            let table = Table::new(1 << 14).unwrap();
            let limits = Limits::default();
            let report = search(&game, &table, 1 << 22, options, workers, limits, &mut ());
            assert_eq!(report.outcome, Outcome::Known(value), "seed {seed}, {options:?}");
            if value == Value::Win {
                let best = report.best.expect("a won root has a lost child");
                assert_eq!(oracle.value(best), Value::Loss, "seed {seed}, {options:?}");
            }
            let counters = report.counters;
            assert_eq!(counters.nodes, counters.first_level + counters.second_level);
            several += u32::from(counters.first_level > 10);
        }
    }
    assert!(several > 10, "{several}");
}

/// With any amount of memory, a search returns the right value or none.
#[test]
fn the_smallest_tables_and_trees_do_not_lead_to_wrong_values() {
    let (mut known, mut unknown) = (0, 0);
    for seed in 0..40 {
        let game = random_game(seed);
        let value = Negamax::new(&game).value(0);
        let table = Table::new(64 << (seed % 4)).unwrap();
        let limits = Limits { nodes: Some(20_000), ..Limits::default() };
        for (options, bytes) in variants().into_iter().zip([1000, 5000, 1 << 14, 1 << 16, 1 << 18])
        {
            let report = search(&game, &table, bytes, options, 6, limits, &mut ());
            assert!(report.memory_bytes <= (table.bytes() + bytes) as u64);
            match report.outcome {
                Outcome::Known(found) => {
                    assert_eq!(found, value, "seed {seed}, {options:?}");
                    known += 1;
                }
                Outcome::Unknown(Reason::Memory | Reason::NodeLimit) => unknown += 1,
                Outcome::Unknown(reason) => panic!("{reason:?}"),
            }
        }
    }
    assert!(known > 40 && unknown > 10, "{known} {unknown}");
}

#[test]
fn one_thread_is_the_sequential_search() {
    for seed in 0..20 {
        let game = random_game(seed);
        for options in variants() {
            let [a, b] = [true, false].map(|parallel| {
                let table = Table::new(1 << 14).unwrap();
                let (root, limits) = (Root::new(&game, 0, &table), Limits::default());
                let report = match parallel {
                    true => {
                        let one = NonZeroUsize::MIN;
                        pn2_parallel(root, 1 << 20, options, one, limits, &mut ())
                    }
                    false => pn2(root, 1 << 20, options, limits, &mut ()),
                };
                report.unwrap()
            });
            assert_eq!((a.counters, a.best), (b.counters, b.best));
        }
    }
}

#[test]
fn any_number_of_threads_may_be_requested() {
    let game = random_game(4);
    let value = Negamax::new(&game).value(0);
    for threads in [2, 3, 64, 1024, usize::MAX] {
        for bytes in [1 << 16, 1 << 20, 1 << 26] {
            let table = Table::new(1 << 14).unwrap();
            let threads = NonZeroUsize::new(threads).unwrap();
            let limits = Limits::default();
            let root = Root::new(&game, 0, &table);
            let report = pn2_parallel(root, bytes, THESIS, threads, limits, &mut ()).unwrap();
            assert_eq!(report.outcome, Outcome::Known(value));
            assert!(report.memory_bytes <= (table.bytes() + bytes) as u64);
        }
    }
}

#[test]
fn limits_stop_all_workers_and_are_reported() {
    let game = large_game();
    let stop = AtomicBool::new(true);
    let run = |workers, limits| {
        let table = Table::new(1 << 14).unwrap();
        search(&game, &table, 1 << 24, THESIS, workers, limits, &mut ())
    };
    for workers in [1, 2, 16] {
        for nodes in [0, 1, 2, 50, 3000, 20_000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let report = run(workers, limits);
            assert_eq!(report.outcome, Outcome::Unknown(Reason::NodeLimit));
            // Each worker adds its counters to the totals only every 256 expansions.
            assert!(report.counters.nodes <= nodes.max(1) + 256 * 58 * workers as u64);
            assert!(report.phi > 0 && report.delta > 0);
        }
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        assert_eq!(run(workers, limits).outcome, Outcome::Unknown(Reason::Interrupted));
        let started = Instant::now();
        let deadline = Some(started + Duration::from_millis(30));
        let limits = Limits { deadline, ..Limits::default() };
        assert_eq!(run(workers, limits).outcome, Outcome::Unknown(Reason::TimeLimit));
        // The bound is generous, because other processes may delay this one.
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

struct StopsAfterThree<'a> {
    stop: &'a AtomicBool,
    calls: u32,
    expansions: u64,
}

impl Observer for StopsAfterThree<'_> {
    fn progress(&mut self, progress: &Progress) {
        assert!(progress.counters.expansions >= self.expansions);
        self.expansions = progress.counters.expansions;
        self.calls += 1;
        self.stop.store(self.calls >= 3, Ordering::Relaxed);
    }
}

#[test]
fn the_observer_is_called_and_may_stop_the_search() {
    let game = large_game();
    for workers in [1, 2, 8] {
        let table = Table::new(1 << 14).unwrap();
        let stop = AtomicBool::new(false);
        let mut observer = StopsAfterThree { stop: &stop, calls: 0, expansions: 0 };
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        let report = search(&game, &table, 1 << 26, THESIS, workers, limits, &mut observer);
        assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted));
        assert!((3..=4).contains(&observer.calls), "{}", observer.calls);
    }
}

#[test]
fn a_panic_of_one_worker_or_of_the_observer_ends_the_search() {
    struct Panics;
    impl Observer for Panics {
        fn progress(&mut self, _: &Progress) {
            panic!("the observer panics");
        }
    }
    let game = large_game();
    let message =
        |panic: Box<dyn std::any::Any + Send>| *panic.downcast::<&str>().expect("a plain message");
    for left in [0, 1, 30, 3000] {
        let left = AtomicU64::new(left);
        let panics = |_| assert!(left.fetch_sub(1, Ordering::Relaxed) > 0, "the game panics");
        let panicking = Hooked::new(&game, panics);
        let table = Table::new(1 << 14).unwrap();
        let limits = Limits::default();
        let panic = catch_unwind(AssertUnwindSafe(|| {
            search(&panicking, &table, 1 << 26, THESIS, 5, limits, &mut ())
        }));
        assert_eq!(message(panic.unwrap_err()), "the game panics");
    }
    let table = Table::new(1 << 14).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        search(&game, &table, 1 << 26, THESIS, 5, Limits::default(), &mut Panics)
    }));
    assert_eq!(message(panic.unwrap_err()), "the observer panics");
}

#[test]
fn a_known_root_takes_one_expansion_and_oracle_failures_end_the_search() {
    struct All(OracleAnswer);
    impl Oracle for All {
        fn value(&self, _: u64) -> OracleAnswer {
            self.0
        }
    }
    struct NoneAtTheRoot;
    impl Oracle for NoneAtTheRoot {
        fn value(&self, code: u64) -> OracleAnswer {
            if code == 0 { OracleAnswer::Unknown } else { OracleAnswer::Failed }
        }
    }
    let nim = large_game();
    let table = Table::new(1 << 14).unwrap();
    let two = NonZeroUsize::new(2).unwrap();
    let lost = All(OracleAnswer::Known(Value::Loss));
    let game = WithOracle::new(&nim, Some(&lost));
    let limits = Limits::default();
    let root = Root::new(&game, 0, &table);
    let report = pn2_parallel(root, 1 << 20, THESIS, two, limits, &mut ()).unwrap();
    assert_eq!(report.outcome, Outcome::Known(Value::Loss));
    let game = WithOracle::new(&nim, Some(&NoneAtTheRoot));
    let report = search(&game, &table, 1 << 20, THESIS, 3, limits, &mut ());
    assert_eq!(report.outcome, Outcome::Unknown(Reason::FileError));
}

#[test]
fn the_table_grows_under_many_workers() {
    let game = large_game();
    let table = Table::new(1 << 22).unwrap();
    let limits = Limits { nodes: Some(400_000), ..Limits::default() };
    let options = variants()[1];
    let report = search(&game, &table, 1 << 26, options, 24, limits, &mut ());
    let (count, _) = table.count();
    assert_eq!(report.counters.table_used, count);
    // A worker reads the number of entries of the other workers every 256 expansions, so the growth may come late.
    assert!(!table.wants_growth(count - 24 * 128), "{count}");
    assert!(count > 5000, "{count}");
}
