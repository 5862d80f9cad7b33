//! `build_database`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use konane::Board;
use konane::endgame::{
    BuildObserver, BuildOptions, DatabaseError, Histogram, LayerSummary, Metric, Scope, Stage,
    build, plan,
};
use pyo3::prelude::*;

use crate::error::Failure;
use crate::interrupt;
use crate::options::{Listener, Memory, Seconds, Threads, on_pool, path_text, threads_or_cores};
use crate::position::dimensions;
use crate::progress::{Latest, Teller};
use crate::results;
use crate::whole::Whole;

/// How far a build has come.
#[derive(Clone, Debug)]
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

    fn layer_finished(&self, stones: u32, _layer: &LayerSummary) {
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

#[derive(IntoPyObject)]
struct BuildProgressFields {
    seconds: f64,
    stage: String,
    done: u64,
    total: u64,
}

#[derive(IntoPyObject)]
struct HistogramFields {
    black: Vec<u64>,
    white: Vec<u64>,
}

#[derive(IntoPyObject)]
struct BuiltFields {
    board: String,
    scope: &'static str,
    metric: &'static str,
    max_stones: u32,
    directory: OsString,
    positions: u64,
    black_to_move_wins: u64,
    white_to_move_wins: u64,
    histogram: Option<HistogramFields>,
    bytes: u64,
    seconds: f64,
    layers_found: u32,
}

fn scope_of(name: &str) -> Result<Scope, Failure> {
    let found = [Scope::Complete, Scope::Reachable].into_iter().find(|scope| scope.name() == name);
    let wrong =
        || Failure::input(format_args!("scope: choose 'complete' or 'reachable', not {name:?}"));
    found.ok_or_else(wrong)
}

fn metric_of(name: &str) -> Result<Metric, Failure> {
    let metrics = [Metric::Outcome, Metric::Remoteness];
    let wrong =
        || Failure::input(format_args!("metric: choose 'outcome' or 'remoteness', not {name:?}"));
    metrics.into_iter().find(|metric| metric.name() == name).ok_or_else(wrong)
}

/// Computes the values of all positions of a board (``"5x5"``), or of what is missing of them, and
/// writes them into a directory within `directory`: a ``Built``, which says where.
///
/// `scope="reachable"` has the positions that games reach only; `max_stones` limits a complete one to
/// positions with so few stones. `metric="remoteness"` stores, beside who wins, after how many plies if
/// the winner hurries and the loser delays. `memory` is what may be used: bytes, or a text such as
/// ``"4GiB"``, by default what the system has. `threads` are all cores if not given. `progress` is
/// called with a ``BuildProgress`` every `interval` seconds at the most; what it raises ends the
/// build.
///
/// 5x5 takes a second, 6x6 half a minute and 10.5 GiB. Ctrl-C ends it; the same call goes on from
/// what is finished. Raises ``ResourceError`` before anything is written if memory or disk space do
/// not suffice, ``InputError`` for what cannot be built.
#[pyfunction]
#[pyo3(
    signature = (board, directory=PathBuf::from("db"), *, scope="complete", metric="outcome",
    max_stones=None, memory=None, threads=None, progress=None, interval=None),
    text_signature = "(board, directory='db', *, scope='complete', metric='outcome', max_stones=None, \
    memory=None, threads=None, progress=None, interval=0.1)"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn build_database<'py>(
    py: Python<'py>,
    board: &str,
    directory: PathBuf,
    scope: &str,
    metric: &str,
    max_stones: Option<Whole>,
    memory: Option<Memory>,
    threads: Option<Threads>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<Seconds>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let board = Board::new(dimensions(board)?);
    // More than the board has squares are all of them.
    let stones = |most: Whole| most.within("max_stones", 0, u64::MAX);
    let max_stones = max_stones.map(stones).transpose()?;
    let options = BuildOptions {
        scope: scope_of(scope)?,
        metric: metric_of(metric)?,
        max_stones: max_stones.map(|stones| stones.min(u32::MAX.into()) as u32),
        memory_bytes: memory.map(|memory| memory.0),
        ..BuildOptions::complete(directory)
    };
    let threads = threads_or_cores(threads);
    let latest = Latest::default();
    let mut teller = Teller::new(Listener::new(progress, interval)?, &latest);
    let object = |py, State { stage, done, total }: &State, seconds| {
        let (stage, done, total) = (stage.clone(), *done, *total);
        results::make(py, "BuildProgress", BuildProgressFields { seconds, stage, done, total })
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
    let fields = BuiltFields {
        board: built.dimensions.to_string(),
        scope: built.scope.name(),
        metric: built.metric.name(),
        max_stones: built.max_stones,
        directory: path_text(&directory),
        positions: built.positions,
        black_to_move_wins: built.black_to_move_wins,
        white_to_move_wins: built.white_to_move_wins,
        histogram: built
            .histogram
            .map(|Histogram { black, white }| HistogramFields { black, white }),
        bytes: built.bytes,
        seconds: built.seconds,
        layers_found: built.layers_found,
    };
    results::make(py, "Built", fields)
}
