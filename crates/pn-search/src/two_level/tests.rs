use super::*;
use crate::SettleOptions;
use crate::Value;
use crate::jobs::messages::JobOutcome;
use crate::numbers::Combination;
use crate::plain::game::{Child, Expansion};
use crate::plain::known::{Answer, Informed, Known};
use crate::run::{Outcome, Reason};
use crate::split_mix::mix;
use crate::testing::graph::{large_game, random_game};
use crate::testing::growth_panic::GrowthPanic;
use crate::testing::negamax::Negamax;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

fn options(workers: usize, threads: usize, job_nodes: u64) -> TwoLevelOptions {
    let dfpn = DfpnOptions {
        combination: Combination { weight_64: 8 },
        epsilon_1024: 154,
        settle: SettleOptions { budget: 20, effort: 3 },
        tries: 1,
        virtual_1024: 4,
    };
    let [workers, threads] = [workers, threads].map(|n| NonZeroUsize::new(n).unwrap());
    TwoLevelOptions { job_nodes, refresh_age: 0, ..TwoLevelOptions::new(dfpn, workers, threads) }
}

fn tree(bytes: usize, options: TwoLevelOptions) -> SavedTree {
    SavedTree::empty(options.tree_room(bytes)).unwrap()
}

fn run(game: &impl Game, options: TwoLevelOptions, limits: Limits<'_>) -> Report {
    let table = Table::new(1 << 16).unwrap();
    let root = Root::new(game, 0, &table);
    two_level(root, tree(1 << 20, options), options, limits, &mut (), &TreeSnapshots::new())
}

#[test]
fn random_games_have_the_value_of_negamax() {
    let mut large = 0;
    for seed in 0..60 {
        let game = random_game(seed);
        let mut oracle = Negamax::new(&game);
        let value = oracle.value(0);
        for (workers, threads, nodes) in [(1, 1, 0), (2, 1, 10), (5, 1, 3), (33, 1, 20), (2, 2, 8)]
        {
            let report = run(&game, options(workers, threads, nodes), Limits::default());
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
fn limits_stop_all_workers_and_are_named() {
    let game = large_game();
    let stop = AtomicBool::new(true);
    for workers in [1, 2, 8] {
        let options = options(workers, 1, 300);
        for nodes in [0, 1, 2, 50, 3000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let report = run(&game, options, limits);
            assert_eq!(report.outcome, Outcome::Unknown(Reason::NodeLimit));
            assert!(report.counters.nodes <= nodes.max(1) + 2 * 58 * workers as u64);
            assert!(report.phi > 0 && report.delta > 0);
        }
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        assert_eq!(run(&game, options, limits).outcome, Outcome::Unknown(Reason::Interrupted));
        let started = Instant::now();
        let deadline = Some(started + Duration::from_millis(30));
        // A job that only an order ends.
        let long = TwoLevelOptions { job_nodes: u64::MAX, ..options };
        let limits = Limits { deadline, ..Limits::default() };
        let report = run(&Endless, long, limits);
        assert_eq!(report.outcome, Outcome::Unknown(Reason::TimeLimit));
        // Generous: a loaded machine may not run us for a while.
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}

/// A tree of three moves at each of 50 plies, without transpositions. The lower bits of a code
/// count the plies.
struct Endless;

impl Game for Endless {
    type Scratch = ();

    fn expand(
        &self,
        code: u64,
        (): &mut (),
        children: &mut Vec<Child>,
        mut announce: impl FnMut(u64),
    ) -> Expansion {
        let ply = code & 63;
        if ply == 50 {
            return Expansion::Lost;
        }
        for number in 1..=3 {
            let code = mix(code.wrapping_mul(4) + number) & !63 | (ply + 1);
            announce(code);
            children.push(Child { code, phi: 1, delta: 1, effort: 9 });
        }
        Expansion::Open
    }

    fn key(&self, code: u64) -> u64 {
        mix(code)
    }
}

#[test]
fn too_little_memory_is_no_answer() {
    let game = large_game();
    for bytes in [64, 1000] {
        let table = Table::new(1 << 16).unwrap();
        let options = options(2, 1, 30);
        let (root, tree) = (Root::new(&game, 0, &table), tree(bytes, options));
        let report =
            two_level(root, tree, options, Limits::default(), &mut (), &TreeSnapshots::new());
        assert_eq!(report.outcome, Outcome::Unknown(Reason::Memory));
    }
}

#[test]
fn known_values_are_used_and_failures_end_the_search() {
    struct All(Answer);
    impl Known for All {
        fn value(&self, _: u64) -> Answer {
            self.0
        }
    }
    let nim = large_game();
    let lost = All(Answer::Known(Value::Loss));
    let report = run(&Informed::new(&nim, &lost), options(2, 1, 30), Limits::default());
    assert_eq!(report.outcome, Outcome::Known(Value::Loss));
    let failed = All(Answer::Failed);
    let report = run(&Informed::new(&nim, &failed), options(2, 1, 30), Limits::default());
    assert_eq!(report.outcome, Outcome::Unknown(Reason::FileError));
}

/// The panic reaches the caller, and no worker waits for ever for the one that let the table grow.
#[test]
fn a_panic_while_the_table_grows_ends_the_search() {
    for (workers, threads) in [(1, 1), (3, 1), (2, 2)] {
        let (ended, end) = channel();
        // Not joined, so that the test fails if the search does not end.
        thread::spawn(move || {
            let game = GrowthPanic::default();
            let options = options(workers, threads, 10_000);
            let table = Table::new(1 << 26).unwrap();
            let (root, tree) =
                (Root::new(&game, GrowthPanic::ROOT, &table), tree(1 << 20, options));
            let search = || {
                two_level(root, tree, options, Limits::default(), &mut (), &TreeSnapshots::new());
            };
            let has_panicked = catch_unwind(AssertUnwindSafe(search)).is_err();
            ended.send((has_panicked, game.has_panicked())).unwrap();
        });
        let (has_panicked, in_growth) =
            end.recv_timeout(Duration::from_secs(60)).expect("the search ends");
        assert!(has_panicked && in_growth, "{workers} workers with {threads} threads");
    }
}

/// A job that evaluates more nodes than there is room for: the table, which other workers use, keeps
/// its shape. A growth would panic, too.
#[test]
fn a_job_does_not_grow_a_table_that_others_use() {
    let game = GrowthPanic::default();
    for threads in [1, 2] {
        let TwoLevelOptions { dfpn, threads, .. } = options(1, threads, 0);
        let table = Table::new(1 << 26).unwrap();
        let before = table.used_bytes();
        let limits = Limits { nodes: Some(100_000), ..Limits::default() };
        let mut nobody = ();
        let mut searcher =
            Searcher::new(&game, &table, Growth::Forbidden, dfpn, threads, &mut nobody);
        let (outcome, spent) = searcher.search(&(), GrowthPanic::ROOT, limits, 0, &mut ());
        assert!(matches!(outcome, JobOutcome::Open(_)) && spent.table_replaced > 0);
        assert_eq!(table.used_bytes(), before, "{threads} threads");
    }
}

#[test]
fn a_panic_of_a_worker_or_of_the_observer_ends_the_search() {
    struct Breaks;
    impl Known for Breaks {
        fn value(&self, code: u64) -> Answer {
            assert!(code != 77, "the values broke");
            Answer::Unknown
        }
    }
    struct Panics;
    impl Observer for Panics {
        fn progress(&mut self, _: &Progress) {
            panic!("the observer broke");
        }
    }
    let nim = large_game();
    let informed = Informed::new(&nim, &Breaks);
    let broken = std::panic::catch_unwind(|| run(&informed, options(3, 1, 30), Limits::default()));
    assert!(broken.is_err());
    let broken = std::panic::catch_unwind(|| {
        let table = Table::new(1 << 16).unwrap();
        let options = options(3, 1, 30);
        let (root, tree) = (Root::new(&nim, 0, &table), tree(1 << 20, options));
        two_level(root, tree, options, Limits::default(), &mut Panics, &TreeSnapshots::new())
    });
    assert!(broken.is_err());
}
