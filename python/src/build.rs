//! `build_database`.

use std::path::Path;

use konane::Board;
use konane::tablebase::{
    BuildObserver, BuildOptions, DatabaseError, Metric, Scope, Stage, build, plan,
};
use pyo3::prelude::*;
use serde::Serialize;

use crate::argument::{File, Text, Whole, name, wrong_choice};
use crate::error::Failure;
use crate::interrupt;
use crate::options::{Listener, Memory, Seconds, Threads, on_pool, path_text, threads_or_cores};
use crate::position::dimensions;
use crate::progress::{Latest, Teller};
use crate::results;

/// Progress of a build.
#[derive(Clone, Debug, Serialize)]
struct State {
    stage: String,
    done: u64,
    total: u64,
}

/// Notes what the build says. It is told from many threads.
struct Watch<'a>(&'a Latest<State>);

impl Watch<'_> {
    fn stage(&self, stage: String) {
        self.0.change(|state| {
            let (done, total) = state.as_ref().map_or((0, 0), |state| (state.done, state.total));
            *state = Some(State { stage, done, total });
        });
    }
}

impl BuildObserver for Watch<'_> {
    fn stage(&self, stage: Stage) {
        self.stage(stage.to_string());
    }

    fn layer_finished(&self, stones: u32, _bytes: u64) {
        self.stage(format!("the layer of {stones} stones is on the disk"));
    }

    fn discarded(&self, path: &Path, reason: &DatabaseError) {
        self.stage(format!("{} is made again: {reason}", path.display()));
    }

    fn removed(&self, files: usize) {
        self.stage(format!("{files} files of a build that was begun in another way are removed"));
    }

    fn progress(&self, done: u64, total: u64) {
        self.0.change(|state| {
            let stage = state.take().map_or_else(|| "working".to_owned(), |state| state.stage);
            *state = Some(State { stage, done, total });
        });
    }
}

fn scope_of(name: &Text<name::Scope>) -> Result<Scope, Failure> {
    let scopes = [Scope::Complete, Scope::Reachable];
    let found = scopes.into_iter().find(|scope| scope.name() == &**name);
    found.ok_or_else(|| wrong_choice(name, "'complete' or 'reachable'"))
}

fn metric_of(name: &Text<name::Metric>) -> Result<Metric, Failure> {
    let metrics = [Metric::Outcome, Metric::Remoteness];
    let found = metrics.into_iter().find(|metric| metric.name() == &**name);
    found.ok_or_else(|| wrong_choice(name, "'outcome' or 'remoteness'"))
}

/// Computes the values of all positions of a board (``"5x5"``) and writes them into a directory within
/// `directory`: returns a ``Built``, which names it. Finished parts of an earlier build are kept.
///
/// `scope="reachable"` limits the database to positions that games reach; `max_stones` limits a complete
/// one to positions with at most so many stones. `metric="remoteness"` also stores the number of plies
/// to the end if the winner hurries and the loser delays. `memory` limits the memory: bytes, or a text
/// such as ``"4GiB"``; it defaults to what the system has available. `threads` defaults to all cores.
/// `progress` is called with a ``BuildProgress`` at most every `interval` seconds; an exception that it
/// raises ends the build.
///
/// 5x5 takes a second, 6x6 half a minute and 10.5 GiB. Ctrl-C ends the build; the same call continues
/// it. Raises ``ResourceError`` before anything is written if memory or disk space do not suffice, and
/// ``InputError`` for arguments with which no database can be built.
#[pyfunction]
#[pyo3(
    signature = (board, directory=File::from("db"), *, scope=Text::from("complete"),
    metric=Text::from("outcome"),
    max_stones=None, memory=None, threads=None, progress=None, interval=None),
    text_signature = "(board, directory='db', *, scope='complete', metric='outcome', max_stones=None, \
    memory=None, threads=None, progress=None, interval=0.1)"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn build_database<'py>(
    py: Python<'py>,
    board: Text<name::Board>,
    directory: File<name::Directory>,
    scope: Text<name::Scope>,
    metric: Text<name::Metric>,
    max_stones: Option<Whole<name::MaxStones>>,
    memory: Option<Memory>,
    threads: Option<Threads>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<Seconds<name::Interval>>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let board = Board::new(dimensions(&board)?);
    // More than the board has squares are all of them.
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
    let mut teller = Teller::new(Listener::new(progress, interval)?, &latest);
    let object = |py, state: &State, seconds: f64| {
        let fields = results::dict(py, state)?;
        fields.set_item("seconds", seconds)?;
        results::make(py, "BuildProgress", fields)
    };
    let (directory, built) = interrupt::run(
        py,
        teller.period(),
        || teller.tick(object),
        |stop| {
            on_pool(threads, || {
                let plan = plan(&board, &options)?;
                let built = build(&board, &plan, &Watch(&latest), stop)?;
                Ok::<_, Failure>((plan.directory, built))
            })
        },
    )???;
    let fields = results::dict(py, &built)?;
    fields.set_item("directory", path_text(&directory)).map_err(Failure::from)?;
    results::make(py, "Built", fields)
}
