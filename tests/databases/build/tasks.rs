//! Builds by tasks write the same files as a build in one process, also if tasks fail or files are
//! damaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use konane::tablebase::{
    BuildError, BuildObserver, BuildOptions, BuildTask, DistributedBuild, Method, Plan, Stage,
    TaskProduct, plan,
};
use tempfile::{TempDir, tempdir};

use super::{assert_same, build, build_on, planned};
use crate::{board, files};

/// Plans tasks with a number of threads and a memory limit per task.
fn plan_on(
    threads: usize,
    size: &str,
    memory: u64,
    min_slices: u32,
    out: &Path,
) -> Result<Plan, BuildError> {
    let options = BuildOptions {
        memory_bytes: Some(memory),
        method: Some(Method::Sliced),
        min_slices,
        ..BuildOptions::complete(out.to_owned())
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| plan(&board(size), &options))
}

/// Plans a build with at least `min_slices` slices for the largest layers.
fn tasks(size: &str, min_slices: u32, out: &Path) -> Plan {
    plan_on(2, size, 1 << 30, min_slices, out).unwrap()
}

fn open(plan: &Plan) -> DistributedBuild {
    DistributedBuild::open(plan, &()).unwrap()
}

/// Builds a database in one process. Returns its directory.
fn whole(size: &str) -> (TempDir, PathBuf) {
    let out = tempdir().unwrap();
    let plan = planned(size, None, out.path());
    build(&plan);
    (out, plan.directory)
}

/// Runs a task from its text form, like another process would.
fn run(task: &BuildTask, out: &Path) -> Result<konane::tablebase::TaskReport, BuildError> {
    let task: BuildTask = task.to_string().parse().unwrap();
    task.run(out, Some(1 << 30), &AtomicBool::new(false))
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
        let directory = plan.directory.clone();
        let build = open(&plan);
        // All tasks run in the order of the plan, and no temporary files remain.
        for task in build.plan().tasks().iter().flatten() {
            run(task, out.path()).unwrap();
        }
        assert!(build.pending().unwrap().is_empty());
        let summary = build.finish().unwrap();
        assert_same(&expected, &directory);
        assert_eq!(summary.counts.positions, 2 << summary.coverage.dimensions.squares());
        // The finished database is recognised.
        let again = tasks(size, parts + 1, out.path());
        assert!(again.finished);
        let build = open(&again);
        assert!(build.pending().unwrap().is_empty());
        build.finish().unwrap();
        assert_same(&expected, &directory);
    }
}

/// Each wave runs in reverse order, every task runs twice, and four threads run tasks at the same
/// time.
#[test]
fn tasks_run_in_any_order_and_twice_concurrently() {
    for (size, parts) in [("4x5", 4), ("3x5", 3)] {
        let (_whole, expected) = whole(size);
        let out = tempdir().unwrap();
        let plan = tasks(size, parts, out.path());
        let directory = plan.directory.clone();
        let build = open(&plan);
        let waves = build.pending().unwrap();
        assert_eq!(waves, build.plan().tasks());
        for wave in waves {
            let twice: Vec<BuildTask> = wave.iter().rev().chain(&wave).copied().collect();
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
        assert_same(&expected, &directory);
    }
}

/// Returns the next number of a linear congruential generator.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(0xD129_42A6_4C4D_9F2D).wrapping_add(0x5851_F42D);
    *state >> 33
}

#[test]
fn tasks_are_stopped_at_random_times_and_rerun() {
    let (_whole, expected) = whole("5x5");
    let out = tempdir().unwrap();
    let (mut state, mut stops) = (1, 0);
    let finished = loop {
        // Each round has a new driver, which keeps the slices of the first.
        let build = open(&tasks("5x5", 4 + stops, out.path()));
        let stop = AtomicBool::new(false);
        // The time grows so that tasks can finish on a busy machine.
        let until = next(&mut state) % (60_000 + 500 * stops as u64);
        let until = std::time::Duration::from_micros(until);
        let done = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(until);
                stop.store(true, Ordering::Relaxed);
            });
            while let Some(wave) = build.pending().unwrap().first() {
                for task in wave {
                    match task.run(out.path(), None, &stop) {
                        Err(BuildError::Interrupted) => return false,
                        other => other.map(drop).unwrap(),
                    }
                }
            }
            true
        });
        let left = files(&build.plan().directory.join("tasks"));
        assert!(left.keys().all(|name| !name.starts_with("making-")), "{:?}", left.keys());
        if done {
            break build;
        }
        stops += 1;
        assert!(stops < 2000, "no progress");
    };
    assert!(stops > 3, "stopped {stops} times");
    let directory = finished.plan().directory.clone();
    finished.finish().unwrap();
    assert_same(&expected, &directory);
}

/// Damaged, truncated and missing files are rebuilt at any stage of the build.
#[test]
fn damaged_files_are_rebuilt() {
    for (size, seed) in [("4x5", 1), ("4x5", 2), ("3x5", 3), ("3x5", 4)] {
        let (_whole, expected) = whole(size);
        let out = tempdir().unwrap();
        let plan = tasks(size, 3, out.path());
        let directory = plan.directory.clone();
        let build = open(&plan);
        let (mut state, mut damaged) = (seed, 0);
        let mut ran = 0;
        while let Some(wave) = build.pending().unwrap().first() {
            for task in wave {
                // Layer tasks read all parts, so files are damaged more often before them.
                let often = if matches!(task.product, TaskProduct::Layer { .. }) { 4 } else { 12 };
                if ran > 20 && damaged < 25 && next(&mut state).is_multiple_of(often) {
                    damaged += damage_one(&directory.join("tasks"), &mut state);
                }
                ran += 1;
                match run(task, out.path()) {
                    Err(BuildError::Lost { path, .. }) => {
                        assert!(!path.exists());
                        break;
                    }
                    other => other.map(drop).unwrap(),
                }
            }
            assert!(ran < 5000, "no progress");
        }
        assert!(damaged >= 5, "{damaged}");
        build.finish().unwrap();
        assert_same(&expected, &directory);
    }
}

/// Damages a random file that tasks have written. Returns the number of damaged files.
fn damage_one(tasks: &Path, state: &mut u64) -> u32 {
    let there: Vec<(String, Vec<u8>)> =
        files(tasks).into_iter().filter(|(name, _)| name != "layout.txt").collect();
    let Some((name, mut bytes)) = there.get(next(state) as usize % there.len().max(1)).cloned()
    else {
        return 0;
    };
    let path = tasks.join(name);
    let at = next(state) as usize % bytes.len();
    match next(state) % 4 {
        0 => return fs::remove_file(path).map(|()| 1).unwrap(),
        1 => bytes.truncate(at),
        // The version field is not changed, since other versions are rejected instead of rebuilt.
        _ if (8..12).contains(&at) => bytes.truncate(at),
        _ => bytes[at] ^= 1 << (next(state) % 8),
    }
    fs::write(path, bytes).unwrap();
    1
}

#[test]
fn memory_is_bounded_and_counted() {
    let nowhere = std::env::temp_dir().join("konane-tasks-that-write-nothing");
    let planned = |size: &str, memory| plan_on(1, size, memory, 1, &nowhere);
    let figures = |memory| planned("6x7", memory).unwrap().slices.unwrap();
    // Bisects the least memory for which a plan exists.
    let (mut no, mut yes) = (1 << 20, 1 << 30);
    while yes - no > 8 << 20 {
        let middle = (no + yes) / 2;
        *if planned("6x7", middle).is_ok() { &mut yes } else { &mut no } = middle;
    }
    let mut last = figures(yes);
    assert!(last.memory_bytes() <= yes && yes < 400 << 20, "{yes}");
    let error = planned("6x7", no).unwrap_err();
    assert!(matches!(error, BuildError::DoesNotFit(_)), "{error}");
    // More memory gives larger slices and fewer tasks that read less. The limit is never exceeded.
    for memory in [1 << 30, 3 << 30, 9 << 30] {
        let figures = figures(memory);
        assert!(figures.memory_bytes() <= memory);
        assert!(figures.slice_rows > last.slice_rows && figures.tasks < last.tasks);
        assert!(figures.read_bytes < last.read_bytes);
        last = figures;
    }
    // Plans for large boards do not overflow and need far less memory than a layer of rows (43 GiB
    // and 1.2 TiB).
    for (size, memory) in [("6x7", 1 << 30), ("7x7", 20 << 30)] {
        assert!(planned(size, memory).unwrap().memory_bytes <= memory, "{size}");
    }
    let error = planned("8x8", 1 << 40).unwrap_err();
    assert!(matches!(error, BuildError::Unsupported { .. }), "{error}");
}

#[test]
fn the_minimum_memory_is_enough() {
    let (_whole, expected) = whole("4x5");
    let out = tempdir().unwrap();
    let planned = |memory| plan_on(1, "4x5", memory, 1, out.path());
    let small = (80 << 20..).step_by(1 << 12);
    let (memory, plan) = small
        .map(|memory| (memory, planned(memory)))
        .find_map(|(memory, plan)| Some((memory, plan.ok()?)))
        .unwrap();
    let figures = plan.slices.unwrap();
    assert!(figures.memory_bytes() <= memory);
    let slice_rows = figures.slice_rows;
    let directory = plan.directory.clone();
    let build = open(&plan);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (mut most, stop) = (0, AtomicBool::new(false));
    while let Some(wave) = build.pending().unwrap().first() {
        for task in wave {
            let report = pool.install(|| task.run(out.path(), Some(memory), &stop)).unwrap();
            most = report.rows_bytes.max(most);
        }
    }
    // 2^10 white patterns. Each row has at most 19 words in its own parts.
    assert!(most > 0 && most <= u64::from(slice_rows) * 8 * (16 + 11), "{most}");
    // The same directory with less memory, and a task with too little memory.
    assert!(planned(memory - (1 << 16)).is_err());
    let task = build.plan().tasks()[5][0];
    let error = pool.install(|| task.run(out.path(), Some(1 << 20), &stop)).unwrap_err();
    assert!(matches!(error, BuildError::TaskMemory { .. }), "{error}");
    build.finish().unwrap();
    assert_same(&expected, &directory);
}

#[test]
fn slices_of_another_run_are_kept() {
    let out = tempdir().unwrap();
    let planned = |memory, min_slices| plan_on(1, "5x6", memory, min_slices, out.path());
    let begun = planned(1 << 30, 1).unwrap();
    let figures = begun.slices.unwrap();
    assert!(figures.rows_memory_bytes > figures.layer_memory_bytes);
    let rows = figures.slice_rows;
    let directory = begun.directory.clone();
    drop(open(&begun));
    let more = planned(1 << 31, 7).unwrap();
    assert_eq!(more.slices.unwrap().slice_rows, rows);
    let less = figures.rows_memory_bytes - 1;
    let error = planned(less, 1).unwrap_err();
    assert!(matches!(error, BuildError::Begun { .. }), "{error}");
    // `konane builddb` also continues with these slices.
    let continued = |memory_bytes| {
        let options = BuildOptions::complete(out.path().to_owned());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| plan(&board("5x6"), &BuildOptions { memory_bytes, ..options }))
    };
    let plan = continued(None).unwrap();
    assert_eq!((plan.method, &plan.directory), (Method::Sliced, &directory));
    let error = continued(Some(less)).unwrap_err();
    let BuildError::Begun { path, need, have, .. } = &error else { panic!("{error}") };
    assert_eq!((path, *have), (&directory.join("tasks"), less));
    assert!(*need > less && error.to_string().contains("has slices of rows"), "{error}");
    // Only one driver may run at a time.
    let build = open(&more);
    let second = DistributedBuild::open(&planned(1 << 30, 1).unwrap(), &());
    assert!(matches!(second, Err(BuildError::Busy { .. })));
    assert!(matches!(build.finish(), Err(BuildError::Unfinished { .. })));
}

#[test]
fn little_memory_selects_slices_on_one_machine() {
    let planned = |memory_bytes| {
        let out = std::env::temp_dir().join("konane-tasks-that-write-nothing");
        let options =
            BuildOptions { memory_bytes: Some(memory_bytes), ..BuildOptions::complete(out) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| plan(&board("5x6"), &options))
    };
    assert_eq!(planned(1 << 30).unwrap().method, Method::Swept);
    let sliced = planned(100 << 20).unwrap();
    assert_eq!(sliced.method, Method::Sliced);
    assert!(sliced.memory_bytes <= 100 << 20);
    assert!(sliced.slices.unwrap().read_bytes > 0);
    let error = planned(60 << 20).unwrap_err();
    let BuildError::DoesNotFit(misfit) = error else { panic!("{error}") };
    assert!(
        misfit.memory_bytes > 60 << 20 && misfit.memory_bytes < 100 << 20,
        "{}",
        misfit.memory_bytes
    );

    for size in ["1x1", "3x5", "4x4"] {
        let (_whole, expected) = whole(size);
        let out = tempdir().unwrap();
        let options = BuildOptions {
            method: Some(Method::Sliced),
            ..BuildOptions::complete(out.path().to_owned())
        };
        let plan = plan(&board(size), &options).unwrap();
        assert_eq!(plan.method, Method::Sliced);
        // Layers written by another method: one is damaged and one is missing.
        fs::create_dir_all(&plan.directory).unwrap();
        for (name, mut bytes) in files(&expected) {
            if name.starts_with("stones-0") && name != "stones-01.kdb" {
                let last = bytes.len() - 60;
                bytes[last] ^= u8::from(name == "stones-00.kdb");
                fs::write(plan.directory.join(name), bytes).unwrap();
            }
        }
        build_on(2, &plan, &(), &AtomicBool::new(false)).unwrap();
        assert_same(&expected, &plan.directory);
    }
}

/// Returns the names of the part files of a build.
fn parts_in(plan: &Plan) -> Vec<String> {
    let names = files(&plan.directory.join("tasks")).into_keys();
    names.filter(|name| name.ends_with(".kdb")).collect()
}

/// Starts a build in memory and stops it after it has written parts.
fn begun_in_memory(size: &str, out: &Path) -> Plan {
    struct AtRows<'a>(&'a AtomicBool);
    impl BuildObserver for AtRows<'_> {
        fn stage(&self, stage: Stage) {
            self.0.store(stage == Stage::Rows { black: 4 }, Ordering::Relaxed);
        }
    }
    let options = BuildOptions::complete(out.to_owned());
    let options = BuildOptions { method: Some(Method::Swept), ..options };
    let (plan, stop) = (plan(&board(size), &options).unwrap(), AtomicBool::new(false));
    let error = build_on(2, &plan, &AtRows(&stop), &stop).unwrap_err();
    assert!(matches!(error, BuildError::Interrupted), "{error}");
    assert!(!parts_in(&plan).is_empty());
    plan
}

#[test]
fn a_build_started_in_memory_continues_in_memory() {
    let out = tempdir().unwrap();
    let begun = begun_in_memory("5x6", out.path());
    let planned = |memory_bytes| {
        let options = BuildOptions::complete(out.path().to_owned());
        plan(&board("5x6"), &BuildOptions { memory_bytes, ..options })
    };
    assert_eq!(planned(Some(begun.memory_bytes)).unwrap().method, Method::Swept);
    // In a new directory the build would use slices.
    let error = planned(Some(begun.memory_bytes - 1)).unwrap_err();
    let BuildError::Begun { path, need, .. } = &error else { panic!("{error}") };
    assert_eq!((path, *need), (&begun.directory, begun.memory_bytes));
    assert!(error.to_string().contains("has bands of rows"), "{error}");
    // With this little memory, slices would not fit in a new directory either.
    let error = planned(Some(60 << 20)).unwrap_err();
    assert!(matches!(error, BuildError::DoesNotFit(_)), "{error}");
}

#[test]
fn tasks_remove_unused_files() {
    #[derive(Default)]
    struct Removed(AtomicUsize);
    impl BuildObserver for Removed {
        fn removed(&self, files: usize) {
            self.0.fetch_add(files, Ordering::Relaxed);
        }
    }
    let (_whole, expected) = whole("4x4");
    let out = tempdir().unwrap();
    let begun = begun_in_memory("4x4", out.path());
    let (parts, removed) = (parts_in(&begun).len(), Removed::default());
    let plan = tasks("4x4", 3, out.path());
    build_on(2, &plan, &removed, &AtomicBool::new(false)).unwrap();
    assert_eq!(removed.0.into_inner(), parts);
    assert_same(&expected, &plan.directory);
}

#[test]
fn invalid_tasks_are_rejected() {
    let out = tempdir().unwrap();
    for text in [
        "konane-task 1 4x4 8 white 3 1000000",
        "konane-task 1 8x8 8 white 3 0",
        "konane-task 1 1x64 8 layer 3",
    ] {
        let task: BuildTask = text.parse().unwrap();
        let error = run(&task, out.path()).unwrap_err();
        assert!(matches!(error, BuildError::NoTask { .. }), "{text}: {error}");
    }
    // The input files of the task are missing.
    let task: BuildTask = "konane-task 1 4x4 8 black 3 0".parse().unwrap();
    assert!(matches!(run(&task, out.path()), Err(BuildError::Lost { .. })));
}
