//! Builds by tasks: the same files as all at once, whatever happens to the tasks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use konane::Board;
use konane::endgame::{
    BuildError, BuildOptions, Method, PlanError, Task, TaskBuild, TaskOptions, TaskPlan, Work, plan,
};
use tempfile::{TempDir, tempdir};

use super::{assert_same, build, build_on, files, planned};

fn board(size: &str) -> Board {
    Board::new(size.parse().unwrap())
}

/// A plan with at least so many slices of the largest layers.
fn tasks(size: &str, parts: u32, out: &Path) -> TaskPlan {
    let out = out.to_owned();
    let options = TaskOptions { out, memory_bytes: 1 << 30, threads: 2, parts };
    TaskPlan::new(&board(size), options).unwrap()
}

/// The files of a normal build.
fn whole(size: &str) -> (TempDir, PathBuf) {
    let out = tempdir().unwrap();
    let plan = planned(size, None, out.path());
    build(&plan);
    (out, plan.directory)
}

/// Runs a task as another process would: by its text.
fn run(task: &Task, out: &Path) -> Result<konane::endgame::TaskReport, BuildError> {
    let task: Task = task.to_string().parse().unwrap();
    task.run(out, Some(1 << 30), &AtomicBool::new(false))
}

/// Runs what is pending until nothing is, and finishes.
fn complete(build: TaskBuild<'_>, out: &Path) {
    let mut rounds = 0;
    while let Some(wave) = build.pending().unwrap().first() {
        for task in wave {
            match run(task, out) {
                Err(BuildError::Lost { .. }) => break,
                other => other.map(drop).unwrap(),
            }
        }
        rounds += 1;
        assert!(rounds < 500, "it does not get on");
    }
    build.finish().unwrap();
}

#[test]
fn tasks_write_the_same_files() {
    for (size, parts) in [
        ("1x1", 1),
        ("2x1", 3),
        ("1x9", 2),
        ("3x4", 1),
        ("3x4", 9),
        ("4x4", 4),
        ("4x5", 1),
        ("4x5", 100),
        ("5x5", 5),
    ] {
        let (_whole, expected) = whole(size);
        let out = tempdir().unwrap();
        let plan = tasks(size, parts, out.path());
        let build = plan.open(&()).unwrap();
        // All tasks, in the order of the plan, and nothing is left.
        for task in plan.waves().iter().flatten() {
            run(task, out.path()).unwrap();
        }
        assert!(build.pending().unwrap().is_empty());
        let summary = build.finish().unwrap();
        assert_same(&expected, plan.directory());
        assert_eq!(summary.positions, 2 << summary.dimensions.squares());
        // It is recognised.
        let again = tasks(size, parts + 1, out.path());
        assert!(again.is_finished());
        let build = again.open(&()).unwrap();
        assert!(build.pending().unwrap().is_empty());
        build.finish().unwrap();
        assert_same(&expected, plan.directory());
    }
}

/// Waves in which the order of the tasks is turned around, and every task runs twice, by four at a time.
#[test]
fn any_order_and_twice_at_the_same_time() {
    for (size, parts) in [("4x5", 4), ("3x5", 3)] {
        let (_whole, expected) = whole(size);
        let out = tempdir().unwrap();
        let plan = tasks(size, parts, out.path());
        let build = plan.open(&()).unwrap();
        let waves = build.pending().unwrap();
        assert_eq!(waves, plan.waves());
        for wave in waves {
            let twice: Vec<Task> = wave.iter().rev().chain(&wave).copied().collect();
            let next = AtomicU32::new(0);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let take = || next.fetch_add(1, Ordering::Relaxed) as usize;
                        while let Some(task) = twice.get(take()) {
                            run(task, out.path()).unwrap();
                        }
                    });
                }
            });
        }
        assert!(build.pending().unwrap().is_empty());
        build.finish().unwrap();
        assert_same(&expected, plan.directory());
    }
}
