//! Searches on several threads: the same outcomes for any number of threads, and the same nodes on one.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use konane::Profile;
use konane::game::Konane;
use konane::search::dfpn::VirtualLoss;
use konane::search::run::{Limits, Observer, Outcome, Progress, Reason};
use konane::search::testing::graph::{GraphGame, Hooked};
use konane::search::testing::growth_panic::GrowthPanic;
use konane::search::testing::negamax::Negamax;
use konane::{Board, Colour, Dimensions, Position, SolveOptions, Solver};

use crate::algorithms::{
    ENOUGH_NODES, LARGE_TABLE, Random, Setting, algorithms, check_these, parallel_algorithms,
    random_graph, small_table_limits, thousands,
};
use crate::plain_konane::board;

fn threads(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

#[test]
fn one_thread_searches_the_same_nodes_as_the_sequential_code() {
    for number in 0..thousands(1) / 10 {
        let game = random_graph(number);
        let setting = Setting::random(&mut Random(number), LARGE_TABLE);
        let limits = Limits { nodes: Some(ENOUGH_NODES), ..Limits::default() };
        for (name, run) in parallel_algorithms::<GraphGame>() {
            let sequential = algorithms().into_iter().find(|(other, _)| name.starts_with(other));
            let (_, sequential) = sequential.expect("every search has a sequential form");
            let expected = sequential(&game, 0, setting, limits, &mut ());
            let report = run(&game, 0, setting, limits, &mut ());
            assert_eq!(report.outcome, expected.outcome, "{name} {number}");
            assert_eq!(report.memory_bytes, expected.memory_bytes, "{name} {number}");
            assert_eq!(report.counters, expected.counters, "{name} {number}");
        }
    }
}

fn virtual_loss(random: &mut Random) -> VirtualLoss {
    match random.below(3) {
        0 => VirtualLoss::Stored,
        _ => VirtualLoss::Selection { share_1024: random.pick(&[0, 4, 256, 5000]) },
    }
}

#[test]
fn random_graphs_agree_with_negamax_on_any_number_of_threads() {
    let limits = Limits { nodes: Some(ENOUGH_NODES), ..Limits::default() };
    let (mut known, mut asked) = (0, 0);
    for number in 0..thousands(1) / 5 {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let mut random = Random(number ^ 0x7777);
        for bytes in [LARGE_TABLE, 1 << 20] {
            let mut setting = Setting::random(&mut random, bytes);
            setting.threads = threads(random.pick(&[2, 3, 8]));
            setting.virtual_loss = virtual_loss(&mut random);
            let context = || format!("graph {number}");
            let runs = parallel_algorithms();
            asked += runs.len();
            known += check_these(runs, &game, 0, &mut oracle, setting, limits, &context);
        }
    }
    assert!(known * 1000 >= asked * 995, "{known} of {asked}");
}

/// Many more threads than cores, which all access the same few entries.
#[test]
fn tables_of_one_cluster_and_many_threads_never_change_an_outcome() {
    let mut known = 0;
    for number in 0..thousands(1) / 25 {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let mut random = Random(number ^ 0x1234);
        for bytes in [64, 192, 1 << 10] {
            let mut setting = Setting::random(&mut random, bytes);
            setting.threads = threads(random.pick(&[5, 33, 64]));
            setting.virtual_loss = virtual_loss(&mut random);
            let context = || format!("graph {number}");
            let runs = parallel_algorithms();
            known +=
                check_these(runs, &game, 0, &mut oracle, setting, small_table_limits(), &context);
        }
    }
    assert!(known > 0);
}

/// Boards whose search grows the table several times while other threads use it.
#[test]
fn boards_have_one_winner_on_any_number_of_threads_and_with_any_memory() {
    for (text, winner) in [("4x6", Colour::White), ("5x6", Colour::White), ("5x7", Colour::Black)] {
        let board = Board::new(text.parse::<Dimensions>().unwrap());
        let start = Position::start(&board);
        for (number, memory_bytes) in
            [(2, 1 << 30), (3, 1 << 20), (8, 64 << 20), (64, 1 << 20), (1024, 1 << 26)]
        {
            let options =
                SolveOptions { threads: threads(number), memory_bytes, ..SolveOptions::default() };
            let solution = Solver::new(&board, &start).options(options).run().unwrap();
            assert_eq!(solution.winner, Some(winner), "{text} {number}");
            let best = solution.best_move;
            assert_eq!(best.is_some(), winner == Colour::Black, "{text} {number}");
            if let Some(best) = best {
                let reply = start.play(&board, best);
                let after = Solver::new(&board, &reply).options(options).run().unwrap();
                assert_eq!(after.winner, Some(winner), "{text} {number}");
            }
        }
    }
}

/// Runs the algorithm with this index on a game that no search solves.
fn large_by(
    at: usize,
    limits: Limits<'_>,
    number: usize,
    observer: &mut dyn Observer,
) -> (Outcome, u64) {
    let board = board("8x8");
    let game = Konane::new(&board, Profile::Thesis.estimate());
    let code = Position::start(&board).code(&board);
    let mut setting = Setting::of(Profile::Thesis, 1 << 22);
    setting.tree_bytes = 1 << 28;
    setting.threads = threads(number);
    let (_, run) = parallel_algorithms()[at];
    let report = run(&game, code, setting, limits, observer);
    assert!(report.phi != 0 && report.delta != 0, "{report:?}");
    (report.outcome, report.counters.nodes)
}

fn number_of_algorithms() -> usize {
    parallel_algorithms::<GraphGame>().len()
}

/// [`large_by`] for all algorithms.
fn large(limits: Limits<'_>, number: usize) -> Vec<(Outcome, u64)> {
    (0..number_of_algorithms()).map(|at| large_by(at, limits, number, &mut ())).collect()
}

#[test]
fn limits_stop_all_threads() {
    for number in [2, 7] {
        for nodes in [1, 1000, 100_000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            for (outcome, counted) in large(limits, number) {
                assert_eq!(outcome, Outcome::Unknown(Reason::NodeLimit));
                // Every thread may do some hundred expansions more, of up to 128 nodes each.
                let most = nodes + number as u64 * 512 * 128;
                assert!(counted >= nodes && counted <= most, "{counted} of {nodes}");
            }
        }
        let deadline = Instant::now() + Duration::from_millis(100);
        let limits = Limits { deadline: Some(deadline), ..Limits::default() };
        for (outcome, _) in large(limits, number) {
            assert_eq!(outcome, Outcome::Unknown(Reason::TimeLimit));
            assert!(deadline.elapsed() < Duration::from_secs(60));
        }
        let stop = true.into();
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        for (outcome, _) in large(limits, number) {
            assert_eq!(outcome, Outcome::Unknown(Reason::Interrupted));
        }
    }
}

#[test]
fn the_observer_receives_the_counters_of_all_threads() {
    const ENOUGH: u64 = 200_000;
    /// Ends the search when the number of nodes is large enough.
    struct StopsAtNodes<'s> {
        nodes: u64,
        stop: &'s AtomicBool,
    }
    impl Observer for StopsAtNodes<'_> {
        fn progress(&mut self, progress: &Progress) {
            assert!(progress.counters.nodes >= self.nodes);
            self.nodes = progress.counters.nodes;
            self.stop.store(self.nodes >= ENOUGH, Ordering::Relaxed);
        }
    }
    for at in 0..number_of_algorithms() {
        let stop = AtomicBool::new(false);
        let mut observer = StopsAtNodes { nodes: 0, stop: &stop };
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        let (outcome, nodes) = large_by(at, limits, 3, &mut observer);
        assert_eq!(outcome, Outcome::Unknown(Reason::Interrupted));
        assert!(observer.nodes >= ENOUGH && observer.nodes <= nodes);
    }
}

/// The panic reaches the caller, and no other thread waits for the thread that panicked.
#[test]
fn a_panic_in_one_thread_ends_the_search() {
    let game = GraphGame::nim(&[12, 21, 25]);
    let expansions = AtomicU32::new(0);
    let fails = |_| assert!(expansions.fetch_add(1, Ordering::Relaxed) < 500, "the rules fail");
    let game = Hooked::new(&game, fails);
    for (name, run) in parallel_algorithms() {
        for number in [2, 9] {
            expansions.store(0, Ordering::Relaxed);
            let mut setting = Setting::of(Profile::Thesis, 1 << 26);
            setting.threads = threads(number);
            let search = || run(&game, 0, setting, Limits::default(), &mut ());
            assert!(catch_unwind(AssertUnwindSafe(search)).is_err(), "{name} {number}");
        }
    }
}

/// The panic reaches the caller, and no other thread waits for the one that was growing the table.
#[test]
fn a_panic_while_the_table_grows_ends_the_search() {
    for (name, run) in parallel_algorithms::<GrowthPanic>() {
        for number in [1, 2, 5] {
            let (ended, end) = channel();
            // Not joined, so that the test fails if the search does not end.
            thread::spawn(move || {
                let game = GrowthPanic::default();
                // PN² with the parameters of the thesis stores no open positions.
                let mut setting = Setting::of(Profile::Tuned, 1 << 26);
                setting.threads = threads(number);
                let search = || {
                    run(&game, GrowthPanic::ROOT, setting, Limits::default(), &mut ());
                };
                let has_panicked = catch_unwind(AssertUnwindSafe(search)).is_err();
                ended.send((has_panicked, game.has_panicked())).unwrap();
            });
            let ended = end.recv_timeout(Duration::from_secs(60));
            assert_eq!(ended, Ok((true, true)), "{name} on {number} threads");
        }
    }
}
