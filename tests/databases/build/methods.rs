//! Complete databases built from rows have the same files as those built layer by layer, also after
//! interruptions.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use konane::tablebase::Method;
use konane::tablebase::Scope;
use konane::tablebase::{
    BuildError, BuildObserver, BuildOptions, Database, DatabaseOptions, Metric, Stage, build, plan,
    verify,
};
use konane::{Board, Colour, Phase, Position};

use crate::{board, files};

fn options(out: &Path, scope: Scope, method: Method) -> BuildOptions {
    BuildOptions { scope, method: Some(method), ..BuildOptions::complete(out.to_owned()) }
}

fn remoteness(out: &Path, method: Method) -> BuildOptions {
    BuildOptions { metric: Metric::Remoteness, ..options(out, Scope::Complete, method) }
}

fn built(size: &str, scope: Scope, method: Method) -> BTreeMap<String, Vec<u8>> {
    built_with(size, |out| options(out, scope, method))
}

fn built_with(size: &str, options: impl Fn(&Path) -> BuildOptions) -> BTreeMap<String, Vec<u8>> {
    let out = tempfile::tempdir().unwrap();
    let options = options(out.path());
    let plan = plan(&board(size), &options).unwrap();
    assert_eq!(Some(plan.method), options.method);
    build(&board(size), &plan, &(), &AtomicBool::new(false)).unwrap();
    files(&plan.directory)
}

#[test]
fn two_methods_write_the_same_files() {
    for size in ["1x1", "2x1", "1x11", "3x4", "4x4", "5x3"] {
        let swept = built(size, Scope::Complete, Method::Swept);
        let ranked = built(size, Scope::Complete, Method::Ranked);
        assert!(swept.len() > 2 && swept == ranked, "{size}");
    }
}

#[test]
fn two_methods_write_the_same_remoteness_values() {
    for size in ["1x1", "2x1", "1x11", "3x4", "4x4", "5x3", "4x5", "1x16", "2x9"] {
        let swept = built_with(size, |out| remoteness(out, Method::Swept));
        let ranked = built_with(size, |out| remoteness(out, Method::Ranked));
        assert!(swept.len() > 2 && swept == ranked, "{size}");
    }
}

#[test]
fn remoteness_does_not_depend_on_the_number_of_threads() {
    for method in [Method::Swept, Method::Ranked] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| built_with("3x5", |out| remoteness(out, method)))
        };
        assert!(run(5) == run(1), "{method:?}");
    }
}

/// The lowest bit of a remoteness is the outcome, so the counts of odd remotenesses add up to the
/// number of wins.
#[test]
fn remoteness_contains_the_outcome() {
    for method in [Method::Swept, Method::Ranked] {
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let outcomes = plan(&board("4x5"), &options(one.path(), Scope::Complete, method)).unwrap();
        let more = plan(&board("4x5"), &remoteness(other.path(), method)).unwrap();
        let run = |plan| build(&board("4x5"), plan, &(), &AtomicBool::new(false)).unwrap();
        let (outcomes, more) = (run(&outcomes), run(&more));
        assert_eq!(outcomes.histogram, None);
        let histogram = more.histogram.unwrap();
        assert_eq!(more.counts, outcomes.counts);
        // With fewer than two empty squares, only the positions of games count: one with Black to move and three with
        // White to move.
        let full = 1 << 20;
        assert_eq!(histogram.black.iter().sum::<u64>(), full - 21 + 1);
        assert_eq!(histogram.white.iter().sum::<u64>(), full - 21 + 3);
        let mut expected = [
            61_509, 127_131, 134_660, 186_164, 150_566, 146_395, 97_122, 71_882, 37_815, 21_677,
            8_542, 3_702, 1_012, 306, 59, 14,
        ];
        assert_eq!(histogram.black, expected);
        (expected[5], expected[6]) = (146_398, 97_121);
        assert_eq!(histogram.white, expected);
    }
}

#[test]
fn files_do_not_depend_on_the_number_of_threads() {
    for scope in [Scope::Complete, Scope::Reachable] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| built("3x5", scope, Method::Swept))
        };
        let one = run(1);
        assert!(run(2) == one && run(5) == one);
    }
}

/// Stops a build at its nth stage.
struct StopAt<'a> {
    left: AtomicU32,
    stop: &'a AtomicBool,
}

impl BuildObserver for StopAt<'_> {
    fn stage(&self, _: Stage) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_build_resumes_from_any_stage() {
    let kinds: [&dyn Fn(&Path) -> BuildOptions; 4] = [
        &|out| options(out, Scope::Complete, Method::Swept),
        &|out| options(out, Scope::Reachable, Method::Swept),
        &|out| remoteness(out, Method::Swept),
        &|out| remoteness(out, Method::Ranked),
    ];
    for options in kinds {
        let whole = built_with("3x4", options);
        let out = tempfile::tempdir().unwrap();
        let plan = plan(&board("3x4"), &options(out.path())).unwrap();
        let mut interruptions = 0;
        for stage in 1.. {
            let stop = AtomicBool::new(false);
            let observer = StopAt { left: AtomicU32::new(stage), stop: &stop };
            match build(&board("3x4"), &plan, &observer, &stop) {
                Err(BuildError::Interrupted) => interruptions += 1,
                Err(error) => panic!("{error}"),
                Ok(_) => break,
            }
            assert!(!plan.directory.join("database.json").exists(), "no manifest at stage {stage}");
        }
        assert!(interruptions > 3, "{interruptions}");
        assert!(files(&plan.directory) == whole, "{}", plan.directory.display());
    }
}

/// Sets the stop flag during some stages.
struct StopDuring<'a>(fn(Stage) -> bool, &'a AtomicBool);

impl BuildObserver for StopDuring<'_> {
    fn stage(&self, stage: Stage) {
        self.1.store(self.0(stage), Ordering::Relaxed);
    }
}

#[test]
fn the_last_pass_over_files_can_be_stopped() {
    let out = tempfile::tempdir().unwrap();
    let plan = plan(&board("3x4"), &remoteness(out.path(), Method::Swept)).unwrap();
    let stages: [fn(Stage) -> bool; 2] = [
        |stage| stage == Stage::Assembling { stones: 12 },
        |stage| stage == Stage::Counting { stones: 12 },
    ];
    for stage in stages {
        let stop = AtomicBool::new(false);
        let stopped = build(&board("3x4"), &plan, &StopDuring(stage, &stop), &stop);
        assert!(matches!(stopped, Err(BuildError::Interrupted)), "{stopped:?}");
    }
    let summary = build(&board("3x4"), &plan, &(), &AtomicBool::new(false)).unwrap();
    assert_eq!(summary.layers_found, 13);
}

#[test]
fn a_damaged_part_is_rebuilt() {
    let whole = built("4x4", Scope::Complete, Method::Swept);
    let out = tempfile::tempdir().unwrap();
    let plan = plan(&board("4x4"), &options(out.path(), Scope::Complete, Method::Swept)).unwrap();
    let stop = AtomicBool::new(false);
    // Stopped in the middle of the sweep, with parts for up to five black stones.
    let observer = StopAt { left: AtomicU32::new(7), stop: &stop };
    assert!(matches!(build(&board("4x4"), &plan, &observer, &stop), Err(BuildError::Interrupted)));
    let tasks = plan.directory.join("tasks");
    let mut parts: Vec<_> = files(&tasks).into_iter().collect();
    parts.retain(|(name, _)| name.ends_with(".kdb"));
    assert!(parts.len() > 20, "{} parts", parts.len());
    for (n, (name, mut bytes)) in parts.into_iter().enumerate().step_by(5) {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1 << (n % 8);
        fs::write(tasks.join(name), bytes).unwrap();
    }
    build(&board("4x4"), &plan, &(), &AtomicBool::new(false)).unwrap();
    assert!(files(&plan.directory) == whole);
}

/// Returns all reachable positions of the jumping phase.
fn reachable(board: &Board) -> HashSet<Position> {
    let mut seen = HashSet::new();
    let mut open = vec![Position::start(board)];
    while let Some(position) = open.pop() {
        if seen.insert(position) {
            open.extend(position.moves(board).into_iter().map(|m| position.play(board, m)));
        }
    }
    seen.retain(|position| position.phase(board) == Phase::Jumping);
    seen
}

#[test]
fn databases_of_reachable_positions() {
    for size in ["1x1", "1x2", "2x3", "3x4", "4x4", "3x5"] {
        let out = tempfile::tempdir().unwrap();
        let board = board(size);
        let planned = plan(&board, &options(out.path(), Scope::Reachable, Method::Swept)).unwrap();
        build(&board, &planned, &(), &AtomicBool::new(false)).unwrap();
        let report = verify(&planned.directory, true, &(), &AtomicBool::new(false)).unwrap();
        assert!(report.recomputed > 0);
        let database = Database::open(&planned.directory, DatabaseOptions::default()).unwrap();

        let complete = tempfile::tempdir().unwrap();
        let all = plan(&board, &options(complete.path(), Scope::Complete, Method::Ranked)).unwrap();
        build(&board, &all, &(), &AtomicBool::new(false)).unwrap();
        let complete = Database::open(&all.directory, DatabaseOptions::default()).unwrap();

        let reachable = reachable(&board);
        for occupied in 0..=board.all() {
            if (board.all() & !occupied).count_ones() < 2 {
                continue;
            }
            for to_move in [Colour::Black, Colour::White] {
                let position = Position::new_unchecked(&board, occupied, to_move);
                let expected = if reachable.contains(&position) {
                    complete.value(&position).unwrap()
                } else {
                    None
                };
                assert_eq!(database.value(&position).unwrap(), expected, "{size} {position:?}");
            }
        }
    }
}
