//! `build_database`: complete databases and databases of reachable positions, built in this process.

use std::path::Path;

use konane::Board;
use konane::tablebase::{
    BuildObserver, BuildOptions, DatabaseError, Metric, Scope, Stage, build, plan,
};
use pyo3::prelude::*;

use crate::argument::{IntegerArg, PathArg, StrArg, name, wrong_choice};
use crate::error::Failure;
use crate::interrupt;
use crate::options::{
    MemoryArg, ProgressCallback, SecondsArg, ThreadCountArg, on_pool, path_text, threads_or_cores,
};
use crate::position::dimensions;
use crate::progress::{Latest, ProgressReporter};
use crate::results;

/// Progress of a build, with the fields of a `konane.BuildProgress`.
#[derive(Clone, Debug, Default, IntoPyObject)]
struct BuildProgress {
    /// Set when the progress is reported.
    seconds: f64,
    stage: String,
    done: u64,
    total: u64,
}

/// Observer of a build. The build calls it from many threads.
struct StoreProgress<'a>(&'a Latest<BuildProgress>);

impl StoreProgress<'_> {
    fn stage(&self, stage: String) {
        self.0.change(|latest| {
            *latest = Some(BuildProgress { stage, ..latest.take().unwrap_or_default() });
        });
    }
}

impl BuildObserver for StoreProgress<'_> {
    fn stage(&self, stage: Stage) {
        self.stage(stage.to_string());
    }

    fn layer_finished(&self, stones: u32, _bytes: u64) {
        self.stage(format!("layer of {stones} stones written"));
    }

    fn discarded(&self, path: &Path, reason: &DatabaseError) {
        self.stage(format!("building {} again: {reason}", path.display()));
    }

    fn removed(&self, files: usize) {
        self.stage(format!("removed {files} files of an earlier build with other options"));
    }

    fn progress(&self, done: u64, total: u64) {
        self.0.change(|latest| {
            let first =
                || BuildProgress { stage: "working".to_owned(), ..BuildProgress::default() };
            *latest = Some(BuildProgress { done, total, ..latest.take().unwrap_or_else(first) });
        });
    }
}

fn scope_of(name: &StrArg<name::Scope>) -> Result<Scope, Failure> {
    let scopes = [Scope::Complete, Scope::Reachable];
    let found = scopes.into_iter().find(|scope| scope.name() == &**name);
    found.ok_or_else(|| wrong_choice(name, "'complete' or 'reachable'"))
}

/// Returns the metric with this name.
///
/// # Errors
/// If the name is unknown.
pub fn metric_of(name: &StrArg<name::Metric>) -> Result<Metric, Failure> {
    let metrics = [Metric::Outcome, Metric::Remoteness];
    let found = metrics.into_iter().find(|metric| metric.name() == &**name);
    found.ok_or_else(|| wrong_choice(name, "'outcome' or 'remoteness'"))
}

/// Computes the values of all positions of a board (``"5x5"``) and writes them into a directory within
/// `directory`: returns a ``Built``, which names it. Finished files of an earlier build are reused.
///
/// `scope="reachable"` limits the database to positions that games reach; `max_stones` limits a complete
/// one to positions with at most this number of stones. `metric="remoteness"` also stores the number of plies to
/// the end with best play: the winner wins as fast as possible, the loser delays. `memory` limits the memory:
/// bytes, or a text such as ``"4GiB"``; it defaults to what the system has available. `threads` defaults to all
/// cores. `progress` is called with a ``BuildProgress`` at most every `interval` seconds; an exception in it ends
/// the build.
///
/// 5x5 takes a second, 6x6 half a minute and 10.5 GiB. Ctrl-C ends the build; the same call continues
/// it. Raises ``ResourceError`` before anything is written if memory or disk space do not suffice, and
/// ``InputError`` for arguments with which no database can be built.
#[pyfunction]
#[pyo3(
    signature = (board, directory=PathArg::from("db"), *, scope=StrArg::from("complete"),
    metric=StrArg::from("outcome"),
    max_stones=None, memory=None, threads=None, progress=None, interval=None),
    text_signature = "(board, directory='db', *, scope='complete', metric='outcome', max_stones=None, \
    memory=None, threads=None, progress=None, interval=0.1)"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn build_database<'py>(
    py: Python<'py>,
    board: StrArg<name::Board>,
    directory: PathArg<name::Directory>,
    scope: StrArg<name::Scope>,
    metric: StrArg<name::Metric>,
    max_stones: Option<IntegerArg<name::MaxStones>>,
    memory: Option<MemoryArg>,
    threads: Option<ThreadCountArg>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<SecondsArg<name::Interval>>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let board = Board::new(dimensions(&board)?);
    // A number above that of the squares includes all positions.
    let max_stones = max_stones.map(|stones| stones.get()).transpose()?;
    let options = BuildOptions {
        scope: scope_of(&scope)?,
        metric: metric_of(&metric)?,
        max_stones: max_stones.map(|stones| stones.min(u32::MAX.into()) as u32),
        memory_bytes: memory.map(|memory| memory.0),
        ..BuildOptions::complete(directory.0)
    };
    let threads = threads_or_cores(threads);
    let latest = Latest::default();
    let mut reporter = ProgressReporter::new(ProgressCallback::new(progress, interval)?, &latest);
    let object = |py, progress: &BuildProgress, seconds| {
        results::make(py, "BuildProgress", BuildProgress { seconds, ..progress.clone() })
    };
    let (directory, built) = interrupt::run(
        py,
        reporter.period(),
        || reporter.tick(object),
        |stop| {
            on_pool(threads, || {
                let plan = plan(&board, &options)?;
                let built = build(&board, &plan, &StoreProgress(&latest), stop)?;
                Ok::<_, Failure>((plan.directory, built))
            })
        },
    )???;
    let fields = results::dict(py, &built)?;
    fields.set_item("directory", path_text(&directory)).map_err(Failure::from)?;
    results::make(py, "Built", fields)
}
