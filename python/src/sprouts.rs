//! `konane.sprouts`: who wins positions of Sprouts, their Grundy numbers, moves and canonical forms.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

use konane::search::run::{Limits, Report};
use konane::search::sums::{
    self, Atom, DEFAULT_JOB_EXPANSIONS, GrundyReport, SearchOptions, SolverState, Sum,
};
use konane::sprouts::analysis::winning_move;
use konane::sprouts::{
    Algorithm, MAX_NIMBER, Position, Scratch, SearchFigures, Sprouts, SproutsSolution, draw,
};
use konane::{MIN_MEMORY, Outcome, Profile, Progress, Reason, SolveError, Value};
use pyo3::prelude::*;

use crate::argument::{Text, Whole, name};
use crate::error::Failure;
use crate::interrupt;
use crate::options::{Bounds, Listener, Memory, Nodes, Seconds, Threads, search_threads};
use crate::progress::{self, Latest, Teller, Watch};
use crate::results;

/// Bytes that the tables of functions without a search may take. A position that a person writes
/// needs a small part of it.
const MEMORY: u64 = 2 << 30;

/// Bytes that a search may take if nothing else is said.
const SEARCH_MEMORY: u64 = 1 << 30;

/// A position by its text.
pub fn read(text: &str) -> Result<Position, Failure> {
    text.parse().map_err(Failure::input)
}

/// A search with checked arguments.
struct Search {
    position: Position,
    memory: u64,
    threads: u32,
    bounds: Bounds,
}

/// The answer of a search, and the parts of its result that all searches have.
struct Found<T> {
    answer: T,
    canonical: String,
    lands: u32,
    /// Entries that fit into the table.
    table_capacity: u64,
}

impl Search {
    fn new(
        text: &str,
        memory: Option<Memory>,
        threads: NonZeroUsize,
        bounds: Bounds,
    ) -> Result<Self, Failure> {
        let memory = memory.map_or(SEARCH_MEMORY, |memory| memory.0);
        if memory < MIN_MEMORY {
            return Err(SolveError::TooLittleMemory { bytes: memory }.into());
        }
        Ok(Search { position: read(text)?, memory, threads: threads.get() as u32, bounds })
    }

    /// Runs a search in a workspace of its own.
    fn run<T>(
        &self,
        search: impl FnOnce(&SolverState<'_, Sprouts>, &Sprouts, &[Atom]) -> T,
    ) -> Result<Found<T>, Failure> {
        let game = Sprouts::new(self.memory);
        let atoms = game.atoms(&self.position, &mut Scratch::default())?;
        let canonical = game.text(&atoms);
        let workspace = SolverState::new(&game, self.memory)?;
        let answer = search(&workspace, &game, &atoms);
        let table_capacity = workspace.table().capacity();
        Ok(Found { answer, canonical, lands: game.lands(), table_capacity })
    }
}

fn object<'py>(
    py: Python<'py>,
    progress: &Progress,
    seconds: f64,
) -> Result<Bound<'py, PyAny>, Failure> {
    progress::object(py, progress, seconds, None, false)
}

/// `win`, `loss`, or `unknown` with the reason.
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
/// `memory` is a number of bytes or a text such as ``"4GiB"``, `time_limit` a number of seconds from 0 to
/// 1e15. `progress` is called with a ``Progress`` at most every `interval` seconds, and once at the
/// end; an exception that it raises ends the search.
///
/// Twenty-nine spots take some seconds, 47 a minute. When a limit is reached, ``outcome`` is
/// ``"unknown"`` and ``reason`` names the limit. Raises ``InputError`` for a text that is not a
/// position, and names the place.
#[pyfunction]
#[pyo3(
    name = "sprouts_solve", signature = (text, *, algo=Text::from("dfpn"), nimber=Whole::from(0), threads=None,
    memory=None, time_limit=None, max_nodes=None, progress=None, interval=None),
    text_signature = "(text, *, algo='dfpn', nimber=0, threads=None, memory='1GiB', \
    time_limit=None, max_nodes=None, progress=None, interval=0.1)"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn solve<'py>(
    py: Python<'py>,
    text: Text<name::Text>,
    algo: Text<name::Algo>,
    nimber: Whole<name::Nimber>,
    threads: Option<Threads>,
    memory: Option<Memory>,
    time_limit: Option<Seconds<name::TimeLimit>>,
    max_nodes: Option<Nodes>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<Seconds<name::Interval>>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let algorithm: Algorithm = algo.parse().map_err(Failure::input)?;
    let nimber = nimber.within(0..=MAX_NIMBER.into())? as u32;
    let parallel: Vec<&str> = Algorithm::parallel().map(Algorithm::name).collect();
    let threads = search_threads(threads, algorithm.name(), &parallel)?;
    let bounds = Bounds { nodes: max_nodes, time: time_limit };
    let search = Search::new(&text, memory, threads, bounds)?;
    let latest = Latest::default();
    let mut teller = Teller::new(Listener::new(progress, interval)?, &latest);
    let work = |stop: &AtomicBool| {
        search.run(|workspace, game, atoms| {
            let root = Sum::new(game, atoms, nimber);
            let (options, limits) = (SearchOptions::TUNED, search.bounds.limits(stop));
            let (threads, jobs) = (search.threads, DEFAULT_JOB_EXPANSIONS);
            let table_capacity = workspace.table().capacity();
            let watch = &mut Watch { latest: &latest, table_capacity };
            let report = algorithm.search(workspace, &root, options, jobs, threads, limits, watch);
            let position = &search.position;
            let best = match report.outcome {
                Outcome::Known(Value::Win) => {
                    let spent = |most: u64| most.saturating_sub(report.counters.nodes);
                    let limits = Limits { nodes: limits.nodes.map(spent), ..limits };
                    winning_move(workspace, game, position, nimber, options, limits)
                }
                _ => None,
            };
            (report, best)
        })
    };
    let found = interrupt::run(py, teller.period(), || teller.tick(object), work)??;
    let (seconds, (report, best_move)) = (teller.seconds(), found.answer);
    let last = Progress { table_capacity: found.table_capacity, ..Progress::from(&report) };
    let table = last.table();
    teller.end(last, object)?;
    let search = SearchFigures {
        profile: Profile::Tuned.name(),
        heuristic: SearchOptions::TUNED.heuristic,
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
        best_move,
        ..SproutsSolution::new(algorithm, &report, search)
    };
    results::make(py, "SproutsSolution", results::dict(py, &solution)?)
}

/// Returns the Grundy number of a position: the size of the nim heap that is equal to it.
///
/// Arguments and errors are those of ``solve``, except that a limit that is reached raises
/// ``LimitError`` with a ``reason``. Takes longer than the outcome: seconds for twelve spots.
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
    text: Text<name::Text>,
    threads: Option<Threads>,
    memory: Option<Memory>,
    time_limit: Option<Seconds<name::TimeLimit>>,
    max_nodes: Option<Nodes>,
    progress: Option<Bound<'_, PyAny>>,
    interval: Option<Seconds<name::Interval>>,
) -> Result<u32, Failure> {
    let threads = search_threads(threads, "dfpn", &["dfpn"])?;
    let bounds = Bounds { nodes: max_nodes, time: time_limit };
    let search = Search::new(&text, memory, threads, bounds)?;
    let latest = Latest::default();
    let mut teller = Teller::new(Listener::new(progress, interval)?, &latest);
    let work = |stop: &AtomicBool| {
        search.run(|workspace, _, atoms| -> GrundyReport {
            let (options, limits) = (SearchOptions::TUNED, search.bounds.limits(stop));
            let table_capacity = workspace.table().capacity();
            let watch = &mut Watch { latest: &latest, table_capacity };
            sums::grundy(workspace, atoms, options, search.threads, limits, watch)
        })
    };
    let found = interrupt::run(py, teller.period(), || teller.tick(object), work)??;
    found.answer.grundy.map_err(|reason| {
        let (text, reason_text) = (found.canonical, reason.text());
        Failure::limit(
            format_args!("the Grundy number of {text} is not known: {reason_text}"),
            reason,
        )
    })
}

/// Returns the positions after every move in canonical form, without repetitions, as a sorted list of
/// texts.
///
/// Takes microseconds to milliseconds for usual positions. Raises ``ResourceError`` if there are more
/// than four million moves, and ``InputError`` for a text that is not a position.
#[pyfunction]
#[pyo3(name = "sprouts_children")]
pub fn children(py: Python<'_>, text: Text<name::Text>) -> Result<Vec<String>, Failure> {
    let position = read(&text)?;
    interrupt::run_silent(py, |stop| {
        let (game, mut scratch) = (Sprouts::new(MEMORY), Scratch::default());
        let sum = game.atoms(&position, &mut scratch)?;
        let is_stopped = || stop.load(Ordering::Relaxed);
        let children = game.children(&sum, &mut scratch, &is_stopped)?;
        let mut texts: Vec<String> = children.iter().map(|child| game.text(child)).collect();
        texts.sort_unstable();
        Ok(texts)
    })?
}

/// Returns the canonical form of a position: one text for all ways to write it. Raises ``InputError`` for
/// a text that is not a position, and names the place.
#[pyfunction]
#[pyo3(name = "sprouts_canonical")]
pub fn canonical(py: Python<'_>, text: Text<name::Text>) -> Result<String, Failure> {
    let position = read(&text)?;
    interrupt::detached(py, || {
        let game = Sprouts::new(MEMORY);
        let sum = game.atoms(&position, &mut Scratch::default())?;
        Ok(game.text(&sum))
    })?
}

/// Returns a picture of a position as SVG: a panel for each region, a circle for each boundary. Raises
/// ``InputError`` for a text that is not a position, and names the place.
#[pyfunction]
#[pyo3(name = "sprouts_draw")]
pub fn svg(text: Text<name::Text>) -> Result<String, Failure> {
    Ok(draw::svg(&read(&text)?))
}
