//! `konane.sprouts`: outcomes, Grundy numbers, moves, canonical forms and pictures of positions of Sprouts.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use konane::search::run::{Limits, Report};
use konane::search::sums::{
    self, Atom, DEFAULT_JOB_EXPANSIONS, GrundyReport, SearchOptions, SolverState, Sum,
};
use konane::sprouts::analysis::{Goal, winning_move};
use konane::sprouts::misere::MisereSolver;
use konane::sprouts::{
    Algorithm, MAX_NIMBER, Position, Scratch, SearchFigures, Sprouts, SproutsSolution, draw,
};
use konane::{MIN_MEMORY, Outcome, Profile, Progress, Reason, SolveError, Value};
use pyo3::prelude::*;

use crate::argument::{IntegerArg, StrArg, name};
use crate::error::Failure;
use crate::interrupt;
use crate::options::{
    LimitArgs, MemoryArg, NodesArg, ProgressCallback, SecondsArg, ThreadCountArg, search_threads,
};
use crate::progress::{self, Latest, ProgressReporter, SproutsObserver};
use crate::results;

/// Maximum bytes of the tables of functions without a search. Usual positions need a small part of it.
const TABLE_MEMORY: u64 = 2 << 30;

/// Default bytes of a search.
const DEFAULT_MEMORY: u64 = 1 << 30;

/// Reads a position.
///
/// # Errors
/// If the text is not a position.
pub fn read(text: &str) -> Result<Position, Failure> {
    text.parse().map_err(Failure::input)
}

/// Search of a Sprouts position with checked arguments.
struct SproutsSearch {
    position: Position,
    memory: u64,
    threads: u32,
    limit_args: LimitArgs,
}

/// Result of a search, with the figures that all searches report.
struct SproutsAnswer<T> {
    answer: T,
    canonical: String,
    lands: u32,
    /// Capacity of the table in entries.
    table_capacity: u64,
}

impl SproutsSearch {
    fn new(
        text: &str,
        memory: Option<MemoryArg>,
        threads: NonZeroUsize,
        limit_args: LimitArgs,
    ) -> Result<Self, Failure> {
        let memory = memory.map_or(DEFAULT_MEMORY, |memory| memory.0);
        if memory < MIN_MEMORY {
            return Err(SolveError::TooLittleMemory { bytes: memory }.into());
        }
        Ok(SproutsSearch {
            position: read(text)?,
            memory,
            threads: threads.get() as u32,
            limit_args,
        })
    }

    /// Runs a search with a new solver state.
    fn run<T>(
        &self,
        search: impl FnOnce(&SolverState<Sprouts>, &[Atom]) -> T,
    ) -> Result<SproutsAnswer<T>, Failure> {
        let state = SolverState::new(Arc::new(Sprouts::new(self.memory)), self.memory)?;
        let game = state.game();
        let atoms = game.atoms(&self.position, &mut Scratch::default())?;
        let canonical = game.text(&atoms);
        let answer = search(&state, &atoms);
        let table_capacity = state.table().capacity();
        Ok(SproutsAnswer { answer, canonical, lands: game.lands(), table_capacity })
    }
}

impl SproutsSearch {
    /// Solves the misère game. Returns the report and the position after a winning move.
    fn run_misere(
        &self,
        latest: &Latest<Progress<'static>>,
        stop: &AtomicBool,
    ) -> Result<SproutsAnswer<(Report, Option<String>)>, Failure> {
        let (position, limits) = (&self.position, self.limit_args.to_limits(stop));
        let solver = MisereSolver::new(self.memory)?;
        let threads = NonZeroUsize::new(self.threads as usize).unwrap_or(NonZeroUsize::MIN);
        let observer = &mut SproutsObserver { latest, table_capacity: solver.table_capacity() };
        let report = solver.solve(position, threads, limits, observer)?;
        let moves = solver
            .analyse_moves(position, &report, Goal::Winner, threads, limits, &mut |_| {})
            .ok();
        let best =
            moves.and_then(|moves| Some(moves.with(Some(Value::Win)).next()?.position.clone()));
        Ok(SproutsAnswer {
            answer: (report, best),
            canonical: solver.canonical(position)?,
            lands: solver.game().lands().lands(),
            table_capacity: solver.table_capacity(),
        })
    }
}

/// Makes a `konane.Progress` of a search of Sprouts.
fn object<'py>(
    py: Python<'py>,
    progress: &Progress,
    seconds: f64,
) -> Result<Bound<'py, PyAny>, Failure> {
    progress::object(py, progress, seconds, None, false)
}

/// Returns `win`, `loss`, or `unknown` with the reason.
pub fn outcome(report: &Report) -> (&'static str, Option<Reason>) {
    match report.outcome {
        Outcome::Known(Value::Win) => ("win", None),
        Outcome::Known(Value::Loss) => ("loss", None),
        Outcome::Unknown(reason) => ("unknown", Some(reason)),
    }
}

/// Solves a position of Sprouts, such as ``"0*12"`` for twelve spots, or its sum with the nim heap
/// `nimber` (at most 1000): returns a ``SproutsSolution`` for the player to move.
///
/// `algo` is ``"dfpn"``, ``"pns"`` (one thread) or ``"pns-pdfpn"``. `threads` defaults to all cores.
/// `memory` is a number of bytes or a text such as ``"4GiB"``, `time_limit` a number of seconds or a
/// text such as ``"1m30s"``. `progress` is called with a ``Progress`` at most every `interval` seconds, and once at the
/// end; an exception that it raises ends the search.
///
/// With `misere`, the player who makes the last move loses. Then `algo` is ``"dfpn"`` and `nimber` is 0.
///
/// Twenty-nine spots take some seconds, 47 a minute. When a limit is reached, ``outcome`` is
/// ``"unknown"`` and ``reason`` names the limit. Raises ``InputError`` with the place of the error for a text that
/// is not a position.
#[pyfunction]
#[pyo3(
    name = "sprouts_solve", signature = (text, *, algo=StrArg::from("dfpn"), nimber=IntegerArg::from(0), misere=false,
    threads=None, memory=None, time_limit=None, max_nodes=None, progress=None, interval=None),
    text_signature = "(text, *, algo='dfpn', nimber=0, misere=False, threads=None, memory='1GiB', \
    time_limit=None, max_nodes=None, progress=None, interval=0.1)"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn solve<'py>(
    py: Python<'py>,
    text: StrArg<name::Text>,
    algo: StrArg<name::Algo>,
    nimber: IntegerArg<name::Nimber>,
    misere: bool,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    time_limit: Option<SecondsArg<name::TimeLimit>>,
    max_nodes: Option<NodesArg>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<SecondsArg<name::Interval>>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let algorithm: Algorithm = algo.parse().map_err(Failure::input)?;
    let nimber = nimber.within(0..=MAX_NIMBER.into())? as u32;
    if misere && (algorithm != Algorithm::Dfpn || nimber > 0) {
        let problem = "misere=True takes no nimber, and algo 'dfpn' only: Grundy numbers do not decide the \
                       misère game";
        return Err(Failure::input(problem));
    }
    let parallel: Vec<&str> = Algorithm::parallel().map(Algorithm::name).collect();
    let threads = search_threads(threads, algorithm.name(), &parallel)?;
    let limit_args = LimitArgs { nodes: max_nodes, time: time_limit };
    let search = SproutsSearch::new(&text, memory, threads, limit_args)?;
    let latest = Latest::default();
    let mut reporter = ProgressReporter::new(ProgressCallback::new(progress, interval)?, &latest);
    let work = |stop: &AtomicBool| {
        if misere {
            return search.run_misere(&latest, stop);
        }
        search.run(|state, atoms| {
            let root = Sum::new(state.game(), atoms, nimber);
            let (options, limits) = (SearchOptions::TUNED, search.limit_args.to_limits(stop));
            let (threads, jobs) = (search.threads, DEFAULT_JOB_EXPANSIONS);
            let table_capacity = state.table().capacity();
            let observer = &mut SproutsObserver { latest: &latest, table_capacity };
            let report = algorithm.search(state, &root, options, jobs, threads, limits, observer);
            let position = &search.position;
            let best = match report.outcome {
                Outcome::Known(Value::Win) => {
                    let remaining = |nodes: u64| nodes.saturating_sub(report.counters.nodes);
                    let limits = Limits { nodes: limits.nodes.map(remaining), ..limits };
                    winning_move(state, position, nimber, options, limits)
                }
                _ => None,
            };
            (report, best)
        })
    };
    let found = interrupt::run(py, reporter.period(), || reporter.tick(object), work)??;
    let (seconds, (report, best_move)) = (reporter.seconds(), found.answer);
    let last = Progress { table_capacity: found.table_capacity, ..Progress::from(&report) };
    let table = last.table();
    reporter.end(last, object)?;
    let search = SearchFigures {
        profile: Profile::Tuned.name(),
        heuristic: !misere && SearchOptions::TUNED.heuristic,
        threads: report.threads,
        lands: found.lands,
        memory_bytes: report.memory_bytes,
        table,
        ..SearchFigures::new(&report.counters, found.table_capacity, seconds)
    };
    let solution = SproutsSolution {
        position: text.to_string(),
        canonical: Some(found.canonical),
        nimber,
        misere,
        best_move,
        ..SproutsSolution::new(algorithm, &report, search)
    };
    results::make(py, "SproutsSolution", results::dict(py, &solution)?)
}

/// Returns the Grundy number of a position: the size of the nim heap that is equal to it.
///
/// Arguments and errors are those of ``solve``, except that reaching a limit raises ``LimitError`` with a
/// ``reason``. Takes longer than the outcome: seconds for twelve spots.
#[pyfunction]
#[pyo3(
    name = "sprouts_grundy", signature = (text, *, threads=None, memory=None, time_limit=None,
    max_nodes=None, progress=None, interval=None),
    text_signature = "(text, *, threads=None, memory='1GiB', time_limit=None, max_nodes=None, \
    progress=None, interval=0.1)"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn grundy(
    py: Python<'_>,
    text: StrArg<name::Text>,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    time_limit: Option<SecondsArg<name::TimeLimit>>,
    max_nodes: Option<NodesArg>,
    progress: Option<Bound<'_, PyAny>>,
    interval: Option<SecondsArg<name::Interval>>,
) -> Result<u32, Failure> {
    let threads = search_threads(threads, "dfpn", &["dfpn"])?;
    let limit_args = LimitArgs { nodes: max_nodes, time: time_limit };
    let search = SproutsSearch::new(&text, memory, threads, limit_args)?;
    let latest = Latest::default();
    let mut reporter = ProgressReporter::new(ProgressCallback::new(progress, interval)?, &latest);
    let work = |stop: &AtomicBool| {
        search.run(|state, atoms| -> GrundyReport {
            let (options, limits) = (SearchOptions::TUNED, search.limit_args.to_limits(stop));
            let table_capacity = state.table().capacity();
            let observer = &mut SproutsObserver { latest: &latest, table_capacity };
            sums::grundy(state, atoms, options, search.threads, limits, observer)
        })
    };
    let found = interrupt::run(py, reporter.period(), || reporter.tick(object), work)??;
    found.answer.grundy.map_err(|reason| {
        let (text, reason_text) = (found.canonical, reason.text());
        Failure::limit(
            format_args!("the Grundy number of {text} is not known: {reason_text}"),
            reason,
        )
    })
}

/// Returns the positions after each move as a sorted list of texts in canonical form, without duplicates.
///
/// Takes microseconds to milliseconds for usual positions. Raises ``ResourceError`` if there are more
/// than four million moves, and ``InputError`` for a text that is not a position.
#[pyfunction]
#[pyo3(name = "sprouts_children")]
pub fn children(py: Python<'_>, text: StrArg<name::Text>) -> Result<Vec<String>, Failure> {
    let position = read(&text)?;
    interrupt::run_without_progress(py, |stop| {
        let (game, mut scratch) = (Sprouts::new(TABLE_MEMORY), Scratch::default());
        let sum = game.atoms(&position, &mut scratch)?;
        let is_stopped = || stop.load(Ordering::Relaxed);
        let children = game.children(&sum, &mut scratch, &is_stopped)?;
        let mut texts: Vec<String> = children.iter().map(|child| game.text(child)).collect();
        texts.sort_unstable();
        Ok(texts)
    })?
}

/// Returns the canonical form of a position, which is the same for all notations of the position.
///
/// Raises ``InputError`` with the place of the error for a text that is not a position.
#[pyfunction]
#[pyo3(name = "sprouts_canonical")]
pub fn canonical(py: Python<'_>, text: StrArg<name::Text>) -> Result<String, Failure> {
    let position = read(&text)?;
    interrupt::detached(py, || {
        let game = Sprouts::new(TABLE_MEMORY);
        let sum = game.atoms(&position, &mut Scratch::default())?;
        Ok(game.text(&sum))
    })?
}

/// Returns a picture of a position as SVG: a panel for each region, a circle for each boundary.
///
/// Raises ``InputError`` with the place of the error for a text that is not a position.
#[pyfunction]
#[pyo3(name = "sprouts_draw")]
pub fn svg(text: StrArg<name::Text>) -> Result<String, Failure> {
    Ok(draw::svg(&read(&text)?))
}
