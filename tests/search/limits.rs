//! Limits, the stop flag and the observer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use konane::Profile;
use konane::game::{Estimate, Konane};
use konane::search::run::{Limits, Observer, Outcome, Progress, Reason};
use konane::search::testing::graph::GraphGame;
use konane::{Board, Position};

use crate::algorithms::{Setting, algorithms};
use crate::plain_konane::board;

/// A game that no correct search solves within a few milliseconds.
fn unsolvable() -> (Board, Estimate) {
    (board("8x8"), Profile::Thesis.estimate())
}

/// Parameters with a tree that no search fills before its limit, even on a fast machine.
fn large_setting() -> Setting {
    let mut setting = Setting::of(Profile::Thesis, 1 << 22);
    setting.tree_bytes = 1 << 28;
    setting
}

fn run_limited(limits: Limits<'_>, observer: &mut dyn Observer, reason: Reason) {
    let (board, estimate) = unsolvable();
    let game = Konane::new(&board, estimate);
    let code = Position::start(&board).code(&board);
    let setting = large_setting();
    for (name, run) in algorithms() {
        let report = run(&game, code, setting, limits, observer);
        assert_eq!(report.outcome, Outcome::Unknown(reason), "{name}");
        assert!(report.phi != 0 && report.delta != 0, "{name} {report:?}");
    }
}

#[test]
fn the_node_limit_ends_the_search() {
    let (board, estimate) = unsolvable();
    let game = Konane::new(&board, estimate);
    let code = Position::start(&board).code(&board);
    for nodes in [0, 1, 2, 10, 1000, 30_000] {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        run_limited(limits, &mut (), Reason::NodeLimit);
        for (name, run) in algorithms() {
            let setting = large_setting();
            let counted = run(&game, code, setting, limits, &mut ()).counters.nodes;
            // One expansion adds at most as many nodes as a position has moves.
            assert!(counted <= nodes + 128, "{name}: {counted} of {nodes}");
        }
    }
}

#[test]
fn a_deadline_in_the_past_ends_the_search_at_once() {
    let started = Instant::now();
    let limits = Limits { deadline: Some(started), ..Limits::default() };
    run_limited(limits, &mut (), Reason::TimeLimit);
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_deadline_in_the_future_ends_the_search() {
    let (board, estimate) = unsolvable();
    let game = Konane::new(&board, estimate);
    let code = Position::start(&board).code(&board);
    for (name, run) in algorithms() {
        let setting = large_setting();
        let started = Instant::now();
        let limits =
            Limits { deadline: Some(started + Duration::from_millis(100)), ..Limits::default() };
        let report = run(&game, code, setting, limits, &mut ());
        assert_eq!(report.outcome, Outcome::Unknown(Reason::TimeLimit), "{name}");
        // A large bound, because a busy machine may suspend the process.
        assert!(started.elapsed() < Duration::from_secs(60), "{name}");
        assert!(started.elapsed() >= Duration::from_millis(100), "{name}");
    }
}

#[test]
fn a_stop_flag_set_before_ends_the_search_at_once() {
    let stop = AtomicBool::new(true);
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    run_limited(limits, &mut (), Reason::Interrupted);
    // The flag takes precedence over all limits, because the user has set it.
    let limits = Limits { deadline: Some(Instant::now()), ..limits };
    run_limited(limits, &mut (), Reason::Interrupted);
}

/// Sends a message to another thread for each call.
struct Reports(Sender<()>);

impl Observer for Reports {
    fn progress(&mut self, _: &Progress) {
        // The other thread may have ended.
        let _ = self.0.send(());
    }
}

#[test]
fn a_stop_flag_set_by_another_thread_ends_the_search() {
    let (board, estimate) = unsolvable();
    let game = Konane::new(&board, estimate);
    let code = Position::start(&board).code(&board);
    let stop = &AtomicBool::new(false);
    for (name, run) in algorithms() {
        stop.store(false, Ordering::Relaxed);
        let (sender, progress) = channel();
        let mut observer = Reports(sender);
        let report = std::thread::scope(|scope| {
            scope.spawn(move || {
                progress.recv().expect("the search reports progress");
                stop.store(true, Ordering::Relaxed);
            });
            let limits = Limits { stop: Some(stop), ..Limits::default() };
            let setting = large_setting();
            run(&game, code, setting, limits, &mut observer)
        });
        assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted), "{name}");
        assert!(report.best.is_some(), "{name}");
    }
}

/// Sets the stop flag on its third call, and checks the counters.
struct StopsAfterThree<'a> {
    stop: &'a AtomicBool,
    calls: u32,
    expansions: u64,
}

impl Observer for StopsAfterThree<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.calls += 1;
        assert!(progress.counters.expansions > self.expansions);
        self.expansions = progress.counters.expansions;
        if self.calls == 3 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn the_observer_is_called_and_may_stop_the_search() {
    let (board, estimate) = unsolvable();
    let game = Konane::new(&board, estimate);
    let code = Position::start(&board).code(&board);
    for (name, run) in algorithms() {
        let stop = AtomicBool::new(false);
        let mut observer = StopsAfterThree { stop: &stop, calls: 0, expansions: 0 };
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        let setting = large_setting();
        let report = run(&game, code, setting, limits, &mut observer);
        assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted), "{name}");
        assert!((3..=4).contains(&observer.calls), "{name}: {}", observer.calls);
    }
}

#[test]
fn limits_that_are_not_reached_do_not_change_a_search() {
    let stop = AtomicBool::new(false);
    let game = GraphGame::nim(&[3, 4, 5]);
    let limits = Limits {
        nodes: Some(1 << 40),
        deadline: Some(Instant::now() + Duration::from_secs(3600)),
        stop: Some(&stop),
        ..Limits::default()
    };
    for (name, run) in algorithms() {
        let setting = Setting::of(Profile::Tuned, 1 << 20);
        let plain = run(&game, 0, setting, Limits::default(), &mut ());
        let limited = run(&game, 0, setting, limits, &mut ());
        assert_eq!(plain.outcome, limited.outcome, "{name}");
        assert_eq!(plain.counters, limited.counters, "{name}");
    }
}
