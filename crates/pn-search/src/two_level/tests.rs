use super::*;
use crate::LeafSolverOptions;
use crate::Value;
use crate::numbers::{Combination, Epsilon};
use crate::plain::game::{Child, Expansion};
use crate::plain::oracle::{Oracle, OracleAnswer, WithOracle};
use crate::run::{Outcome, Progress, Reason};
use crate::split_mix::mix;
use crate::table::Table;
use crate::testing::graph::{large_game, random_game};
use crate::testing::growth_panic::GrowthPanic;
use crate::testing::negamax::Negamax;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// Parameters of a search.
#[derive(Clone, Copy)]
struct Options {
    workers: usize,
    job_nodes: u64,
}

const DFPN: DfpnOptions = DfpnOptions {
    combination: Combination::mixed(8),
    epsilon: Epsilon::new(0.15),
    leaf_solver: LeafSolverOptions { budget: 20, effort: 3 },
    max_attempts: 1,
    ..DfpnOptions::PLAIN
};

fn options(workers: usize, job_nodes: u64) -> Options {
    Options { workers, job_nodes }
}

fn search<G: Game>(
    root: Root<'_, G>,
    bytes: usize,
    Options { workers, job_nodes }: Options,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let config = CoordinatorConfig { job_nodes, refresh_age: 0, ..CoordinatorConfig::LOCAL };
    let workers = NonZeroUsize::new(workers).unwrap();
    two_level(root, bytes, DFPN, workers, config, limits, observer).unwrap()
}

fn run(game: &impl Game, options: Options, limits: Limits<'_>) -> Report {
    let table = Table::new(1 << 16).unwrap();
    search(Root::new(game, 0, &table), 1 << 20, options, limits, &mut ())
}

#[test]
fn random_games_have_the_value_of_negamax() {
    let mut large = 0;
    for seed in 0..60 {
        let game = random_game(seed);
        let mut oracle = Negamax::new(&game);
        let value = oracle.value(0);
        for (workers, nodes) in [(1, 0), (2, 10), (5, 3), (33, 20)] {
            let report = run(&game, options(workers, nodes), Limits::default());
            assert_eq!(report.outcome, Outcome::Known(value), "seed {seed}, {workers} workers");
            if value == Value::Win {
                let best = report.best.expect("a won root has a lost child");
                assert_eq!(oracle.value(best), Value::Loss, "seed {seed}, {workers} workers");
            }
            let counters = report.counters;
            assert_eq!(counters.nodes, counters.first_level + counters.second_level);
            large += u32::from(counters.first_level > 10);
        }
    }
    assert!(large > 10, "{large}");
}

#[test]
fn the_options_of_the_evaluation_are_used() {
    let nodes = |number: u64, dfpn: DfpnOptions| {
        let game = random_game(number);
        let table = Table::new(1 << 16).unwrap();
        let config = CoordinatorConfig { job_nodes: 10, ..CoordinatorConfig::LOCAL };
        let (root, limits) = (Root::new(&game, 0, &table), Limits::default());
        let one = NonZeroUsize::MIN;
        two_level(root, 1 << 20, dfpn, one, config, limits, &mut ()).unwrap().counters.nodes
    };
    let dfpn = DfpnOptions { evaluate_all: false, ..DfpnOptions::PLAIN };
    for other in [DfpnOptions::PLAIN, DfpnOptions { seed: Some(1), ..dfpn }] {
        assert!((0..60).any(|number| nodes(number, dfpn) != nodes(number, other)), "{other:?}");
    }
}

#[test]
fn limits_stop_all_workers_and_are_reported() {
    let game = large_game();
    let stop = AtomicBool::new(true);
    for workers in [1, 2, 8] {
        let options = options(workers, 300);
        for nodes in [0, 1, 2, 50, 3000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let report = run(&game, options, limits);
            assert_eq!(report.outcome, Outcome::Unknown(Reason::NodeLimit));
            // Workers exchange their counts every 256 expansions. A node has at most 58 children.
            assert!(report.counters.nodes <= nodes.max(1) + 256 * 58 * workers as u64);
            assert!(report.phi > 0 && report.delta > 0);
        }
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        assert_eq!(run(&game, options, limits).outcome, Outcome::Unknown(Reason::Interrupted));
        let started = Instant::now();
        let deadline = Some(started + Duration::from_millis(30));
        // A job with an unlimited budget, which only the deadline can end.
        let long = Options { job_nodes: u64::MAX, ..options };
        let limits = Limits { deadline, ..Limits::default() };
        let report = run(&Endless, long, limits);
        assert_eq!(report.outcome, Outcome::Unknown(Reason::TimeLimit));
        // The bound is generous, because other processes may delay this one.
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}

/// A tree of three moves at each of 50 plies, without transpositions. The lower bits of a code are
/// the ply.
struct Endless;

impl Game for Endless {
    type Scratch = ();

    fn expand(
        &self,
        code: u64,
        (): &mut (),
        children: &mut Vec<Child>,
        mut prefetch: impl FnMut(u64),
    ) -> Expansion {
        let ply = code & 63;
        if ply == 50 {
            return Expansion::Lost;
        }
        for number in 1..=3 {
            let code = mix(code.wrapping_mul(4) + number) & !63 | (ply + 1);
            prefetch(code);
            children.push(Child { code, phi: 1, delta: 1, effort: 9 });
        }
        Expansion::Open
    }

    fn key(&self, code: u64) -> u64 {
        mix(code)
    }
}

#[test]
fn too_little_memory_ends_the_search() {
    let game = large_game();
    for bytes in [64, 1000] {
        let table = Table::new(1 << 16).unwrap();
        let options = options(2, 30);
        let root = Root::new(&game, 0, &table);
        let report = search(root, bytes, options, Limits::default(), &mut ());
        assert_eq!(report.outcome, Outcome::Unknown(Reason::Memory));
    }
}

#[test]
fn oracle_values_are_used_and_failures_end_the_search() {
    struct All(OracleAnswer);
    impl Oracle for All {
        fn value(&self, _: u64) -> OracleAnswer {
            self.0
        }
    }
    let nim = large_game();
    let lost = All(OracleAnswer::Known(Value::Loss));
    let report = run(&WithOracle::new(&nim, Some(&lost)), options(2, 30), Limits::default());
    assert_eq!(report.outcome, Outcome::Known(Value::Loss));
    let failed = All(OracleAnswer::Failed);
    let report = run(&WithOracle::new(&nim, Some(&failed)), options(2, 30), Limits::default());
    assert_eq!(report.outcome, Outcome::Unknown(Reason::FileError));
}

/// The panic reaches the caller, and no worker waits for ever at the resize barrier.
#[test]
fn a_panic_while_the_table_grows_ends_the_search() {
    for workers in [1, 3] {
        let (ended, end) = channel();
        // The thread is not joined: if the search does not end, the test fails instead of waiting.
        thread::spawn(move || {
            let game = GrowthPanic::default();
            let options = options(workers, 10_000);
            let table = Table::new(1 << 26).unwrap();
            let root = Root::new(&game, GrowthPanic::ROOT, &table);
            let search = || {
                search(root, 1 << 20, options, Limits::default(), &mut ());
            };
            let has_panicked = catch_unwind(AssertUnwindSafe(search)).is_err();
            ended.send((has_panicked, game.has_panicked())).unwrap();
        });
        let (has_panicked, in_growth) =
            end.recv_timeout(Duration::from_secs(60)).expect("the search ends");
        assert!(has_panicked && in_growth, "{workers} workers");
    }
}

#[test]
fn a_panic_of_a_worker_or_of_the_observer_ends_the_search() {
    struct Breaks;
    impl Oracle for Breaks {
        fn value(&self, code: u64) -> OracleAnswer {
            assert!(code != 77, "the oracle panics");
            OracleAnswer::Unknown
        }
    }
    struct Panics;
    impl Observer for Panics {
        fn progress(&mut self, _: &Progress) {
            panic!("the observer panics");
        }
    }
    let nim = large_game();
    let result = std::panic::catch_unwind(|| {
        let game = WithOracle::new(&nim, Some(&Breaks));
        run(&game, options(3, 30), Limits::default())
    });
    assert!(result.is_err());
    let result = std::panic::catch_unwind(|| {
        let table = Table::new(1 << 16).unwrap();
        let options = options(3, 30);
        search(Root::new(&nim, 0, &table), 1 << 20, options, Limits::default(), &mut Panics)
    });
    assert!(result.is_err());
}
