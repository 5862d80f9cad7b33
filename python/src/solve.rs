//! `solve`, and the parts that `prove` shares with it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use konane::search::plain::oracle::Oracle;
use konane::tablebase::{Database, DatabaseValues};
use konane::{Algorithm, Profile, Progress, Solution, SolveOptions, Solver};
use pyo3::prelude::*;

use crate::argument::{Text, name, wrong_choice};
use crate::database;
use crate::database::Source;
use crate::error::Failure;
use crate::interrupt;
use crate::options::{Bounds, Listener, Memory, Nodes, Seconds, Start, Threads, search_threads};
use crate::position::PyPosition;
use crate::progress::{self, Latest, Teller};
use crate::results;

/// A search with checked arguments.
pub struct Search {
    pub start: PyPosition,
    pub options: SolveOptions,
    pub bounds: Bounds,
    pub database: Option<Arc<Database>>,
}

/// Arguments of the search, by their names in Python.
pub struct Means<'py> {
    pub algo: Text<name::Algo>,
    pub threads: Option<Threads>,
    pub memory: Option<Memory>,
    pub bounds: Bounds,
    pub db: Option<Source<'py>>,
    pub profile: Text<name::Profile>,
}

impl Search {
    /// Checks the arguments, and opens the database.
    ///
    /// # Errors
    /// If one of them makes no sense, or there is no such database.
    pub fn new(py: Python<'_>, start: Start, means: Means<'_>) -> Result<Self, Failure> {
        let start = start.0;
        let algorithm: Algorithm = means.algo.parse().map_err(Failure::input)?;
        let profile = profile(&means.profile)?;
        let parallel: Vec<&str> = Algorithm::parallel().map(Algorithm::name).collect();
        let threads = search_threads(means.threads, algorithm.name(), &parallel)?;
        let default = SolveOptions::default();
        let memory_bytes = means.memory.map_or(default.memory_bytes, |memory| memory.0);
        let options = SolveOptions { algorithm, profile, memory_bytes, threads, ..default };
        let database = means.db.map(|db| database::of_board(py, db, start.dimensions()));
        Ok(Search { start, options, bounds: means.bounds, database: database.transpose()? })
    }

    /// Runs `search` with a solver, and with the values of the database if there is one.
    ///
    /// # Errors
    /// What the database met.
    pub fn run<T>(&self, stop: &AtomicBool, search: impl RunWith<T>) -> Result<T, Failure> {
        let solver = Solver::new(&self.start.board, &self.start.position);
        let solver = solver.options(self.options).limits(self.bounds.limits(stop));
        let Some(database) = &self.database else { return search.run_with(&solver) };
        let values = DatabaseValues::new(database);
        let found = search.run_with(&solver.oracle(&values));
        match values.into_error() {
            Some(error) => Err(error.into()),
            None => found,
        }
    }

    /// A `konane.Progress` of this search.
    ///
    /// # Errors
    /// If the class cannot be imported.
    pub fn progress<'py>(
        &self,
        py: Python<'py>,
        progress: &Progress,
        seconds: f64,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let PyPosition { board, position, .. } = &self.start;
        let best = progress.best.and_then(|code| position.move_to(board, code));
        let is_alpha_beta = self.options.algorithm == Algorithm::AlphaBeta;
        progress::object(py, progress, seconds, best, is_alpha_beta)
    }
}

/// Work with a solver, with or without values of a database.
pub trait RunWith<T> {
    /// Runs the work.
    ///
    /// # Errors
    /// If the search or a file fails.
    fn run_with<K: Oracle>(self, solver: &Solver<'_, K>) -> Result<T, Failure>;
}

struct Solve<'a>(&'a Latest<Progress<'static>>);

impl RunWith<Solution> for Solve<'_> {
    fn run_with<K: Oracle>(mut self, solver: &Solver<'_, K>) -> Result<Solution, Failure> {
        Ok(solver.run_observed(&mut self.0)?)
    }
}

/// The progress at the end of a search.
pub fn last_progress(solution: &Solution) -> Progress<'static> {
    Progress { table_capacity: solution.table.capacity, ..Progress::from(&solution.report) }
}

/// The parameters of a name.
///
/// # Errors
/// If there are none of this name.
pub fn profile(name: &Text<name::Profile>) -> Result<Profile, Failure> {
    let all = [Profile::Tuned, Profile::Thesis];
    let found = all.into_iter().find(|profile| profile.name() == &**name);
    found.ok_or_else(|| wrong_choice(name, "'tuned' or 'thesis'"))
}

/// Solves a board (``"6x6"``) or a ``Position``: returns a ``Solution`` with the outcome, the winner
/// and a winning move.
///
/// `algo` is ``"dfpn"``, ``"pns"``, ``"pn2"``, ``"pns-pdfpn"`` or ``"ab"``. `threads` defaults to all
/// cores; ``"pns"`` and ``"ab"`` use one. `memory` is a number of bytes or a text such as
/// ``"512MiB"``, at least 1 MiB. `time_limit` is a number of seconds from 0 to 1e15, `max_nodes` a
/// number of positions. `db` is a ``Database`` of the board, or a directory that contains one; positions
/// in it are not searched. `profile="thesis"` selects the published parameters.
///
/// `progress` is called with a ``Progress`` on the calling thread, at most every `interval` seconds
/// (at least 0.01), and once at the end. An exception that it raises ends the search.
///
/// Time grows by orders of magnitude with the board: 6x6 takes less than a tenth of a second on one
/// core, 7x7 about a second, and 8x7 about 9 minutes on two cores with 6 GiB. When a limit is reached,
/// ``outcome`` is ``"unknown"`` and ``reason`` names the limit. Ctrl-C ends the search within
/// milliseconds with ``KeyboardInterrupt``.
///
/// Raises ``TypeError`` and ``InputError`` for wrong arguments, ``FileError`` if the database is
/// missing or damaged, and ``ResourceError`` if the memory is not available.
#[pyfunction]
#[pyo3(
    signature = (board, *, algo=Text::from("dfpn"), threads=None, memory=None, time_limit=None, max_nodes=None,
    db=None, progress=None, interval=None, profile=Text::from("tuned")),
    text_signature = "(board, *, algo='dfpn', threads=None, memory='1GiB', time_limit=None, \
    max_nodes=None, db=None, progress=None, interval=0.1, profile='tuned')"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn solve<'py>(
    py: Python<'py>,
    board: Start,
    algo: Text<name::Algo>,
    threads: Option<Threads>,
    memory: Option<Memory>,
    time_limit: Option<Seconds<name::TimeLimit>>,
    max_nodes: Option<Nodes>,
    db: Option<Source<'_>>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<Seconds<name::Interval>>,
    profile: Text<name::Profile>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let bounds = Bounds { nodes: max_nodes, time: time_limit };
    let means = Means { algo, threads, memory, bounds, db, profile };
    let search = Search::new(py, board, means)?;
    let listener = Listener::new(progress, interval)?;
    let latest = Latest::default();
    let mut teller = Teller::new(listener, &latest);
    let object = |py, progress: &Progress, seconds| search.progress(py, progress, seconds);
    let work = |stop: &AtomicBool| search.run(stop, Solve(&latest));
    let found = interrupt::run(py, teller.period(), || teller.tick(object), work)??;
    teller.end(last_progress(&found), object)?;
    results::make(py, "Solution", results::dict(py, &found)?)
}
