//! Runs of a build: by one process, or by tasks on many machines that share a directory.
//!
//! ```text
//! Plan ──▶ waves of tasks, each a line of text ──▶ BuildTask::run, on any machine, in any process
//!   │                                                   │  ▲
//!   └─▶ DistributedBuild: pending, finish ◀── files ── DIRECTORY/6x7-complete/tasks
//! ```
//!
//! A task makes only those of its files that do not exist. So a task may run again, and two processes may
//! run it at the same time. If a *part* (a file that an earlier task has made) is damaged or missing, it is
//! removed, and the task ends with [`BuildError::Lost`]. After that, [`DistributedBuild::pending`] also returns
//! the task that makes the part.
//! The files of the database are the same for all methods.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::Serialize;

use super::directory::BuildDirectory;
use super::error::BuildError;
use super::estimate::{self, saturated};
use super::monitor::{BuildMonitor, BuildObserver, Stage};
use super::plan::{Method, Plan};
use super::ranked::RankedBuild;
use super::slices::{BuildTask, Slices, TaskProduct};
use super::sweep::SweepBuild;
use crate::file::Lock;
use crate::konane::{Board, Colour};
use crate::system::peak_memory;
use crate::tablebase::database::{Database, DatabaseOptions};
use crate::tablebase::files::{Coverage, DatabaseError, Histogram, Metric, PositionCounts, Scope};

/// Maximum number of parts found damaged or missing. If there are more, the disk is probably failing.
const MAX_LOST: u32 = 100;

/// Result of a build.
#[derive(Clone, Debug, Serialize)]
pub struct BuildSummary {
    /// Content of the database.
    #[serde(flatten)]
    pub coverage: Coverage,
    /// Number of positions covered, and of those that the side to move wins.
    #[serde(flatten)]
    pub counts: PositionCounts,
    /// Numbers of the positions that can be looked up, by remoteness, if the metric is remoteness.
    pub histogram: Option<Histogram>,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Wall-clock time of this run in seconds, earlier interrupted runs not included.
    pub seconds: f64,
    /// Peak memory of the process; `None` if the system does not report it.
    #[serde(skip)]
    pub peak_memory_bytes: Option<u64>,
    /// Number of layers that an earlier run had finished: all of them if the database existed.
    pub layers_found: u32,
}

impl BuildSummary {
    fn new(database: &Database, started: Instant, layers_found: u32) -> Result<Self, BuildError> {
        let manifest = database.manifest();
        Ok(BuildSummary {
            coverage: manifest.coverage(),
            counts: manifest.total().expect("fewer than 2^64 positions, as in the manifest"),
            bytes: manifest.layers.iter().map(|layer| layer.bytes).sum(),
            histogram: database.histogram()?,
            seconds: started.elapsed().as_secs_f64(),
            peak_memory_bytes: peak_memory(),
            layers_found,
        })
    }
}

/// Builds the planned database, or the missing part of it. Runs on the current rayon pool.
///
/// # Errors
/// See [`BuildError`]. Finished files stay in the directory, and the next call continues from them.
///
/// # Panics
/// If the plan is for another board.
pub fn build(
    board: &Board,
    plan: &Plan,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<BuildSummary, BuildError> {
    assert_eq!(board.dimensions(), plan.coverage.dimensions, "the plan is for another board");
    let started = Instant::now();
    let directory = plan.build_directory();
    let _lock = directory.lock(observer)?;
    if directory.is_finished() {
        let database = finished(&directory)?;
        let layers = database.manifest().layers.len() as u32;
        // Checks each layer against the manifest.
        for stones in 0..layers {
            database.layer(stones)?;
        }
        return BuildSummary::new(&database, started, layers);
    }
    observer.stage(Stage::Resuming);
    let monitor = BuildMonitor::new(observer, stop, 0);
    let mut found = 0;
    for stones in 0..=plan.coverage.max_stones {
        monitor.check()?;
        found += u32::from(directory.find_layer(stones, &monitor)?.is_some());
    }
    match plan.method {
        Method::Ranked => RankedBuild::new(&directory, observer, stop).run()?,
        Method::Swept | Method::Sliced => run_all(&directory, observer, stop)?,
    }
    directory.finish(&monitor)?;
    BuildSummary::new(&finished(&directory)?, started, found)
}

/// Opens the finished database.
fn finished(directory: &BuildDirectory) -> Result<Database, DatabaseError> {
    Database::open(&directory.path, DatabaseOptions { cache_bytes: 1 << 20 })
}

/// Runs all tasks that are left, one after the other, each on all threads.
fn run_all(
    directory: &BuildDirectory,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<(), BuildError> {
    let mut waves = directory.pending()?;
    let is_reachable = directory.coverage.scope == Scope::Reachable;
    let total = match is_reachable {
        false => waves.iter().flatten().map(|task| positions(directory, task.product)).sum(),
        // Every row counts twice: when its values are computed, and when it is written.
        true => {
            let black = 0..=directory.index.squares(Colour::Black);
            2 * black.map(|black| directory.index.row_positions(black)).sum::<u64>()
        }
    };
    let monitor = BuildMonitor::new(observer, stop, total);
    let build = SweepBuild::new(directory, &monitor);
    let (mut lost, mut last) = (0, None);
    while let Some(wave) = waves.first() {
        for task in wave {
            monitor.check()?;
            let stage = match task.product {
                // The state space reports its own stages.
                TaskProduct::Rows { .. } if is_reachable => None,
                TaskProduct::Rows { black, .. } => Some(Stage::Rows { black }),
                TaskProduct::Layer { stones } => Some(Stage::Assembling { stones }),
            };
            if let Some(stage) = stage.filter(|_| last != stage) {
                observer.stage(stage);
                last = Some(stage);
            }
            match build.run(task.product) {
                Ok(()) => monitor.advance(positions(directory, task.product)),
                Err(BuildError::Lost { path, reason }) if lost < MAX_LOST => {
                    observer.discarded(&path, &reason);
                    lost += 1;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        waves = directory.pending()?;
    }
    Ok(())
}

/// Number of positions that a finished task adds to the progress. The state space reports its own progress.
/// Layers add nothing if the rows are not cut into slices, because their blocks are then only copied.
fn positions(directory: &BuildDirectory, product: TaskProduct) -> u64 {
    let BuildDirectory { index, slices, coverage, .. } = directory;
    match product {
        TaskProduct::Rows { .. } if coverage.scope == Scope::Reachable => 0,
        TaskProduct::Rows { black, slice, .. } => {
            let rows = slices.range(index.rows(black), slice).len() as u64;
            rows << index.squares(Colour::White)
        }
        TaskProduct::Layer { .. } if *slices == Slices::WHOLE => 0,
        TaskProduct::Layer { stones } => index.layer_addresses(stones) as u64,
    }
}

/// Result of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskReport {
    /// Memory of the task's rows in bytes.
    pub rows_bytes: u64,
    /// Bytes read from files of other tasks, before compression.
    pub read_bytes: u64,
    /// Bytes written to files, compressed.
    pub written_bytes: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

impl BuildTask {
    /// Runs the task on the current rayon pool. `out` is the directory that holds databases. Each file of the
    /// task appears complete or not at all. Files that exist are not made again.
    ///
    /// # Errors
    /// [`BuildError::Lost`] if a file of an earlier task is damaged or missing: the caller should continue
    /// with the tasks that [`DistributedBuild::pending`] returns after that. [`BuildError::NoTask`] if the
    /// board has no such task. [`BuildError::TaskMemory`] if the task needs more than `memory` bytes. See
    /// [`BuildError`] for the others.
    pub fn run(
        &self,
        out: &Path,
        memory: Option<u64>,
        stop: &AtomicBool,
    ) -> Result<TaskReport, BuildError> {
        let started = Instant::now();
        let refuse = |what| BuildError::NoTask { text: self.to_string(), what };
        let (dimensions, max_stones) = (self.dimensions, self.dimensions.squares());
        if max_stones / 2 > estimate::MAX_WHITE {
            return Err(refuse("the rows of this board would be too long"));
        }
        let (scope, metric) = (Scope::Complete, Metric::Outcome);
        let coverage = Coverage { dimensions, scope, metric, max_stones };
        let slices = Slices { max_rows: self.slice_rows };
        let directory = BuildDirectory::new(out.join(coverage.name()), coverage, slices);
        let (index, threads) = (&directory.index, rayon::current_num_threads());
        let (need, rows_bytes) = match self.product {
            TaskProduct::Rows { black, slice, .. } => {
                let rows = index.rows(black);
                if slice >= slices.count(rows) {
                    return Err(refuse("there is no such slice"));
                }
                let rows = slices.range(rows, slice).len() as u64;
                let need = estimate::slice_memory(index, slices.max_rows, threads);
                (need, rows * estimate::slice_row_bytes(index))
            }
            TaskProduct::Layer { .. } => (estimate::layer_memory(index, threads), 0),
        };
        if let Some(have) = memory.filter(|&have| u128::from(have) < need) {
            return Err(BuildError::TaskMemory { need: saturated(need), have });
        }
        let tasks = directory.tasks();
        fs::create_dir_all(&tasks).map_err(BuildError::io("create", &tasks))?;
        let monitor = BuildMonitor::new(&(), stop, 0);
        SweepBuild::new(&directory, &monitor).run(self.product)?;
        Ok(TaskReport {
            rows_bytes,
            read_bytes: monitor.read_bytes.into_inner(),
            written_bytes: monitor.written_bytes.into_inner(),
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

/// A build in slices whose tasks run in several threads, in several processes or on several machines.
#[derive(Debug)]
pub struct DistributedBuild {
    plan: Plan,
    directory: BuildDirectory,
    started: Instant,
    _lock: Lock,
}

impl DistributedBuild {
    /// Locks the directory, and removes the incomplete files of tasks that were killed. The tasks themselves
    /// run without the lock.
    ///
    /// # Errors
    /// [`BuildError::Busy`] if another process builds there, [`BuildError::OtherWork`] if the directory has
    /// files of another database, [`BuildError::DoesNotFit`] if the disk has too little space, and errors of
    /// the operating system.
    pub fn open(plan: &Plan, observer: &dyn BuildObserver) -> Result<Self, BuildError> {
        plan.check_disk()?;
        let (plan, directory) = (plan.clone(), plan.build_directory());
        let lock = directory.lock(observer)?;
        Ok(DistributedBuild { plan, directory, started: Instant::now(), _lock: lock })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the tasks that are left, in waves. The caller runs the tasks of the first wave, and then calls
    /// this function again. The result is empty when no task is left.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn pending(&self) -> Result<Vec<Vec<BuildTask>>, BuildError> {
        if self.directory.is_finished() { Ok(Vec::new()) } else { self.directory.pending() }
    }

    /// Writes the manifest, and removes the files of the tasks.
    ///
    /// # Errors
    /// [`BuildError::Unfinished`] if tasks are left, and errors of the operating system.
    pub fn finish(self) -> Result<BuildSummary, BuildError> {
        if !self.directory.is_finished() {
            let stop = AtomicBool::new(false);
            self.directory.finish(&BuildMonitor::new(&(), &stop, 0))?;
        }
        BuildSummary::new(&finished(&self.directory)?, self.started, 0)
    }
}
