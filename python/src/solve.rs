//! `solve`, and the parts that it shares with `prove`.
//!
//! * [`SearchArguments`], [`KonaneSearch`]: arguments of a search, before and after they are checked.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use konane::tablebase::{Database, DatabaseValues};
use konane::{Algorithm, Profile, Progress, Solution, SolveError, SolveOptions, Solver};
use pyo3::prelude::*;

use crate::argument::{StrArg, name, wrong_choice};
use crate::database;
use crate::database::{DatabaseArg, Databases};
use crate::error::Failure;
use crate::interrupt;
use crate::many::{self, ManyArguments, read_items};
use crate::options::{
    LimitArgs, MemoryArg, NodesArg, ProgressCallback, SecondsArg, StartArg, ThreadCountArg,
    memory_or_default, search_threads,
};
use crate::position::PyPosition;
use crate::progress::{self, Latest, ProgressReporter};
use crate::results;

/// Search of a Konane position with checked arguments.
pub struct KonaneSearch {
    pub start: PyPosition,
    pub options: SolveOptions,
    pub limits: LimitArgs,
    pub database: Option<Arc<Database>>,
}

/// Arguments of a search, by their names in Python.
pub struct SearchArguments<'py> {
    pub algo: StrArg<name::Algo>,
    pub threads: Option<ThreadCountArg>,
    pub memory: Option<MemoryArg>,
    pub limits: LimitArgs,
    pub db: Option<DatabaseArg<'py>>,
    pub profile: StrArg<name::Profile>,
}

/// Returns the options of a search on one thread.
///
/// # Errors
/// If a name is unknown.
fn search_options(
    algo: &StrArg<name::Algo>,
    profile_name: &StrArg<name::Profile>,
    memory_bytes: u64,
) -> Result<SolveOptions, Failure> {
    let algorithm: Algorithm = algo.parse().map_err(Failure::input)?;
    let profile = profile(profile_name)?;
    Ok(SolveOptions { algorithm, profile, memory_bytes, ..SolveOptions::default() })
}

impl KonaneSearch {
    /// Checks the arguments, and opens the database.
    ///
    /// # Errors
    /// If an argument is invalid, or the database cannot be opened.
    pub fn new(
        py: Python<'_>,
        start: StartArg,
        args: SearchArguments<'_>,
    ) -> Result<Self, Failure> {
        let start = start.0;
        let options = search_options(&args.algo, &args.profile, memory_or_default(args.memory))?;
        let parallel: Vec<&str> = Algorithm::parallel().map(Algorithm::name).collect();
        let threads = search_threads(args.threads, options.algorithm.name(), &parallel)?;
        let options = SolveOptions { threads, ..options };
        let database = args.db.map(|db| database::of_board(py, &db, start.dimensions()));
        Ok(KonaneSearch { start, options, limits: args.limits, database: database.transpose()? })
    }

    /// Runs `search` with a solver, and with the values of the database if there is one.
    ///
    /// # Errors
    /// If the search or the database fails.
    pub fn run<T>(
        &self,
        stop: &AtomicBool,
        search: impl FnOnce(&Solver<'_>) -> Result<T, SolveError>,
    ) -> Result<T, Failure> {
        let values = self.database.as_ref().map(|database| DatabaseValues::new(database));
        let solver = Solver::new(&self.start.board, &self.start.position);
        let mut solver = solver.options(self.options).limits(self.limits.to_limits(stop));
        if let Some(values) = &values {
            solver = solver.oracle(values);
        }
        let found = search(&solver);
        match values.and_then(DatabaseValues::into_error) {
            Some(error) => Err(error.into()),
            None => Ok(found?),
        }
    }

    /// Makes a `konane.Progress` of this search.
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

/// Returns the progress at the end of a search.
pub fn last_progress(solution: &Solution) -> Progress<'static> {
    Progress { table_capacity: solution.table.capacity, ..Progress::from(&solution.report) }
}

/// Returns the profile with this name.
///
/// # Errors
/// If the name is unknown.
pub fn profile(name: &StrArg<name::Profile>) -> Result<Profile, Failure> {
    let all = [Profile::Tuned, Profile::Thesis];
    let found = all.into_iter().find(|profile| profile.name() == &**name);
    found.ok_or_else(|| wrong_choice(name, "'tuned' or 'thesis'"))
}

/// Solves a board (``"6x6"``) or a ``Position``: returns a ``Solution`` with the outcome, the winner
/// and a winning move.
///
/// `algo` is ``"dfpn"``, ``"pns"``, ``"pn2"``, ``"pns-pdfpn"`` or ``"ab"``. `threads` defaults to all
/// cores; ``"pns"`` and ``"ab"`` use one. `memory` is a number of bytes or a text such as
/// ``"512MiB"``, at least 1 MiB. `time_limit` is a number of seconds or a text such as ``"1m30s"``, `max_nodes` a
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
    signature = (board, *, algo=StrArg::from("dfpn"), threads=None, memory=None, time_limit=None, max_nodes=None,
    db=None, progress=None, interval=None, profile=StrArg::from("tuned")),
    text_signature = "(board, *, algo='dfpn', threads=None, memory='1GiB', time_limit=None, \
    max_nodes=None, db=None, progress=None, interval=0.1, profile='tuned')"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn solve<'py>(
    py: Python<'py>,
    board: StartArg,
    algo: StrArg<name::Algo>,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    time_limit: Option<SecondsArg<name::TimeLimit>>,
    max_nodes: Option<NodesArg>,
    db: Option<DatabaseArg<'_>>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<SecondsArg<name::Interval>>,
    profile: StrArg<name::Profile>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let limits = LimitArgs { nodes: max_nodes, time: time_limit };
    let search = KonaneSearch::new(
        py,
        board,
        SearchArguments { algo, threads, memory, limits, db, profile },
    )?;
    let latest = Latest::default();
    let mut reporter = ProgressReporter::new(ProgressCallback::new(progress, interval)?, &latest);
    let object = |py, progress: &Progress, seconds| search.progress(py, progress, seconds);
    let work = |stop: &AtomicBool| search.run(stop, |solver| solver.run_observed(&mut &latest));
    let found = interrupt::run(py, reporter.period(), || reporter.tick(object), work)??;
    reporter.end(last_progress(&found), object)?;
    results::make(py, "Solution", results::dict(py, &found)?)
}

/// Solves each of many boards and positions: returns a list of ``Solution`` in the same order.
///
/// `positions` is an iterable of ``Position`` objects and boards, such as a list or a column of a table. Each is
/// searched on one thread, and `threads` of them at a time. `memory` is that of all threads together. A thread keeps
/// its table for the next position of the same board, so the counters of a ``Solution`` depend on the positions before
/// it. `time_limit` and `max_nodes` are limits for each position. `db` is a directory with databases of the boards, or
/// a ``Database``.
///
/// `progress` is called with a ``BatchProgress`` at most every `interval` seconds, and once at the end. The other
/// arguments are those of ``solve``, and so are the errors, which begin with the index of the position, such as
/// ``positions[3]``. Ctrl-C ends all searches.
#[pyfunction]
#[pyo3(
    signature = (positions, *, algo=StrArg::from("dfpn"), threads=None, memory=None, time_limit=None, max_nodes=None,
    db=None, progress=None, interval=None, profile=StrArg::from("tuned")),
    text_signature = "(positions, *, algo='dfpn', threads=None, memory='1GiB', time_limit=None, \
    max_nodes=None, db=None, progress=None, interval=0.1, profile='tuned')"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn solve_many<'py>(
    py: Python<'py>,
    positions: Bound<'py, PyAny>,
    algo: StrArg<name::Algo>,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    time_limit: Option<SecondsArg<name::TimeLimit>>,
    max_nodes: Option<NodesArg>,
    db: Option<DatabaseArg<'py>>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<SecondsArg<name::Interval>>,
    profile: StrArg<name::Profile>,
) -> Result<Vec<Bound<'py, PyAny>>, Failure> {
    let arguments = ManyArguments::new(threads, memory, progress, interval)?;
    let options = search_options(&algo, &profile, 0)?;
    let limits = LimitArgs { nodes: max_nodes, time: time_limit };
    let mut databases = Databases::new(db);
    let mut searches = read_items(&positions, |item| {
        let start = item.extract::<StartArg<name::Position>>()?.into_position();
        let database = databases.of_board(py, start.dimensions())?;
        Ok(KonaneSearch { start, options, limits, database })
    })?;
    let memory_bytes = arguments.memory_of_thread(searches.len());
    for search in &mut searches {
        search.options.memory_bytes = memory_bytes;
    }
    let set_up = |search: &KonaneSearch| {
        let solver =
            Solver::new(&search.start.board, &search.start.position).options(search.options);
        let has_table = options.algorithm != Algorithm::AlphaBeta;
        Ok(has_table.then(|| solver.new_table()).transpose()?)
    };
    let work = |table: &mut Option<_>, search: &KonaneSearch, stop: &AtomicBool| {
        search.run(stop, |solver| match table {
            Some(table) => solver.search_in(table, &mut ()),
            None => solver.run(),
        })
    };
    let key = |search: &KonaneSearch| search.start.board_key();
    let found = many::run(py, arguments, &searches, key, set_up, work)?;
    found.iter().map(|found| results::make(py, "Solution", results::dict(py, found)?)).collect()
}
