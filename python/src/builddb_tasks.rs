//! Complete databases built by tasks: the plan, the tasks that remain, and a task.

use std::mem;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use konane::Board;
use konane::tablebase::{
    BuildError, BuildOptions, BuildTask, DistributedBuild, Method, Plan, plan,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::{IntegerArg, PathArg, StrArg, name};
use crate::error::Failure;
use crate::interrupt;
use crate::interrupt::Owner;
use crate::options::{MemoryArg, ThreadCountArg, on_pool, path_text};
use crate::position::dimensions;

fn texts(waves: Vec<Vec<BuildTask>>) -> Vec<Vec<String>> {
    waves.into_iter().map(|wave| wave.iter().map(BuildTask::to_string).collect()).collect()
}

/// Plan of a build of a complete database by tasks.
///
/// `memory` is the memory of each task in bytes, `parts` the minimum number of tasks into which the largest layers
/// are divided.
#[pyclass(frozen, module = "konane")]
pub struct BuildPlan {
    board: Board,
    options: BuildOptions,
    threads: ThreadCountArg,
    plan: Plan,
}

fn planned(
    board: &Board,
    options: &BuildOptions,
    threads: ThreadCountArg,
) -> Result<Plan, Failure> {
    Ok(on_pool(threads.0, || plan(board, options))??)
}

#[pymethods]
impl BuildPlan {
    #[new]
    #[pyo3(
        signature = (board, out, memory, threads=ThreadCountArg::ONE, parts=IntegerArg::from(1)),
        text_signature = "(board, out, memory, threads=1, parts=1)"
    )]
    fn new(
        py: Python<'_>,
        board: StrArg<name::Board>,
        out: PathArg<name::Out>,
        memory: IntegerArg<name::Memory>,
        threads: ThreadCountArg,
        parts: IntegerArg<name::Parts>,
    ) -> Result<Self, Failure> {
        let board = Board::new(dimensions(&board)?);
        let options = BuildOptions {
            memory_bytes: Some(memory.get()?),
            method: Some(Method::Sliced),
            min_slices: parts.within(1..=u32::MAX.into())? as u32,
            ..BuildOptions::complete(out.0)
        };
        let plan = interrupt::detached(py, || planned(&board, &options, threads))??;
        Ok(BuildPlan { board, options, threads, plan })
    }

    /// Directory of the database.
    #[getter]
    fn directory(&self) -> PathBuf {
        self.plan.directory.clone()
    }

    /// True if the database is complete.
    #[getter]
    fn finished(&self) -> bool {
        self.plan.finished
    }

    /// Returns all tasks in waves. Tasks of a wave are independent of each other, and need the waves before.
    fn tasks(&self, py: Python<'_>) -> Vec<Vec<String>> {
        texts(py.detach(|| self.plan.tasks()))
    }

    /// Returns the cost of the build: tasks, bytes of memory, disk and traffic, seconds of one thread.
    ///
    /// Disk, traffic and time are estimates.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let figures = self.plan.slices.expect("a plan of tasks has slices");
        let dict = PyDict::new(py);
        dict.set_item("tasks", figures.tasks)?;
        dict.set_item("widest_wave", figures.widest_wave)?;
        dict.set_item("slice_rows", figures.slice_rows)?;
        dict.set_item("task_memory_bytes", figures.memory_bytes())?;
        dict.set_item("rows_memory_bytes", figures.rows_memory_bytes)?;
        dict.set_item("layer_memory_bytes", figures.layer_memory_bytes)?;
        dict.set_item("disk_bytes", figures.disk_bytes)?;
        dict.set_item("disk_peak_bytes", figures.disk_peak_bytes)?;
        dict.set_item("read_bytes", figures.read_bytes)?;
        dict.set_item("written_bytes", figures.written_bytes)?;
        dict.set_item("thread_seconds", figures.thread_seconds)?;
        Ok(dict)
    }

    /// Locks the directory for this build.
    fn open(&self, py: Python<'_>) -> Result<BuildDirector, Failure> {
        // Planned again: another driver may have begun the build since.
        let opened = py.detach(|| {
            let plan = planned(&self.board, &self.options, self.threads)?;
            Ok::<_, Failure>(DistributedBuild::open(&plan, &())?)
        });
        Ok(BuildDirector { build: Mutex::new(Some(opened?)), owner: Owner::current() })
    }
}

/// Build that has locked its directory. It lists the remaining tasks, and completes the database.
#[pyclass(frozen, module = "konane")]
pub struct BuildDirector {
    /// `None` after the build has been finished or closed.
    build: Mutex<Option<DistributedBuild>>,
    owner: Owner,
}

impl Drop for BuildDirector {
    fn drop(&mut self) {
        // A forked process must not unlock the directory: the lock belongs to the parent process.
        if !self.owner.is_current() {
            mem::forget(self.build.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

impl BuildDirector {
    /// Runs work on the build without the GIL, because another thread may hold the lock for a long time.
    fn locked<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Option<DistributedBuild>) -> T + Send,
    ) -> Result<T, Failure> {
        self.owner.check("BuildDirector")?;
        interrupt::detached(py, || {
            work(&mut self.build.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }
}

#[pymethods]
impl BuildDirector {
    /// Returns the remaining tasks in waves, according to the files in the directory.
    ///
    /// The list is empty when all tasks are done.
    fn pending(&self, py: Python<'_>) -> Result<Vec<Vec<String>>, Failure> {
        let waves = self.locked(py, |build| build.as_ref().map(DistributedBuild::pending))?;
        Ok(texts(waves.ok_or_else(over)??))
    }

    /// Writes the manifest, unlocks the directory, and returns a summary.
    fn finish<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let build = self.locked(py, Option::take)?.ok_or_else(over)?;
        let directory = build.plan().directory.clone();
        let summary = py.detach(|| build.finish())?;
        let dict = PyDict::new(py);
        dict.set_item("board", summary.coverage.dimensions.to_string())?;
        dict.set_item("scope", summary.coverage.scope.name())?;
        dict.set_item("metric", summary.coverage.metric.name())?;
        dict.set_item("max_stones", summary.coverage.max_stones)?;
        dict.set_item("directory", path_text(&directory))?;
        dict.set_item("positions", summary.counts.positions)?;
        dict.set_item("black_to_move_wins", summary.counts.black_to_move_wins)?;
        dict.set_item("white_to_move_wins", summary.counts.white_to_move_wins)?;
        dict.set_item("bytes", summary.bytes)?;
        dict.set_item("seconds", summary.seconds)?;
        Ok(dict)
    }

    /// Unlocks the directory.
    fn close(&self, py: Python<'_>) -> Result<(), Failure> {
        self.locked(py, |build| *build = None)
    }
}

fn over() -> Failure {
    Failure::input("this build is over: open the plan again")
}

/// Runs a task without the GIL and returns its counters.
///
/// Returns ``{"lost": path}`` if a file of an earlier task is damaged or missing; then that task has to run again.
#[pyfunction]
#[pyo3(
    signature = (task, out, memory=None, threads=ThreadCountArg::ONE),
    text_signature = "(task, out, memory=None, threads=1)"
)]
pub fn run_task<'py>(
    py: Python<'py>,
    task: StrArg<name::Task>,
    out: PathArg<name::Out>,
    memory: Option<MemoryArg>,
    threads: ThreadCountArg,
) -> Result<Bound<'py, PyDict>, Failure> {
    let task: BuildTask = task.parse()?;
    let result = interrupt::run_without_progress(py, |stop| {
        on_pool(threads.0, || task.run(&out.0, memory.map(|memory| memory.0), stop))
    })??;
    let dict = PyDict::new(py);
    match result {
        Ok(report) => {
            dict.set_item("rows_bytes", report.rows_bytes)?;
            dict.set_item("read_bytes", report.read_bytes)?;
            dict.set_item("written_bytes", report.written_bytes)?;
            dict.set_item("seconds", report.seconds)?;
        }
        Err(BuildError::Lost { path, .. }) => dict.set_item("lost", path)?,
        Err(other) => return Err(other.into()),
    }
    Ok(dict)
}
