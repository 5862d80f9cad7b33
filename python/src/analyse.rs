//! `analyse` and `line`: values of all moves of a position, and a line of best play.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use konane::analysis::{Analysis, Analyst};
use konane::tablebase::Database;
use konane::{Board, Limits, Move, Position};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::argument::name;
use crate::database::{self, DatabaseArg, Databases};
use crate::error::Failure;
use crate::interrupt;
use crate::many::{self, ManyArguments, read_items};
use crate::options::{
    LimitArgs, MemoryArg, NodesArg, SecondsArg, StartArg, ThreadCountArg, memory_or_default,
    threads_or_cores,
};
use crate::position::PyPosition;
use crate::results;

/// Creates an analyst of a board.
///
/// # Errors
/// If the memory cannot be allocated.
pub fn new_analyst(
    board: Board,
    memory_bytes: u64,
    threads: NonZeroUsize,
    database: Option<Arc<Database>>,
) -> Result<Analyst, Failure> {
    let analyst = Analyst::on_board(board, memory_bytes)?.threads(threads);
    match database {
        Some(database) => Ok(analyst.with_database(database)?),
        None => Ok(analyst),
    }
}

/// The limits that are left after all searches of the analyst. `before` is its number of nodes before them.
fn left<'a>(analyst: &Analyst, before: u64, limits: Limits<'a>) -> Limits<'a> {
    let spent = analyst.nodes() - before;
    Limits { nodes: limits.nodes.map(|nodes| nodes.saturating_sub(spent)), ..limits }
}

/// Analyses a position, with the remoteness if `plies` is set, and finds a line of best play.
fn analyse_position(
    analyst: &mut Analyst,
    position: &Position,
    limits: Limits<'_>,
    plies: bool,
) -> Result<(Analysis, Vec<Move>), Failure> {
    let before = analyst.nodes();
    let mut analysis = analyst.analyse(position, limits, &mut |_| {})?;
    if plies {
        analysis = analyst.find_remoteness(analysis, left(analyst, before, limits))?;
    }
    let line = match analysis.outcome() {
        Some(_) => analyst.line(position, left(analyst, before, limits))?,
        None => Vec::new(),
    };
    Ok((analysis, line))
}

/// Creates an analyst and runs `work` with it, without the GIL.
fn with_analyst<T: Send>(
    py: Python<'_>,
    start: &PyPosition,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    db: Option<DatabaseArg<'_>>,
    work: impl FnOnce(&mut Analyst, &AtomicBool) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let database = db.map(|db| database::of_board(py, &db, start.dimensions())).transpose()?;
    let (memory, threads) = (memory_or_default(memory), threads_or_cores(threads));
    interrupt::run_without_progress(py, |stop| {
        let board = (*start.board).clone();
        work(&mut new_analyst(board, memory, threads, database)?, stop)
    })?
}

fn analysis_object<'py>(
    py: Python<'py>,
    analysis: &Analysis,
    line: &[Move],
) -> Result<Bound<'py, PyAny>, Failure> {
    let fields = results::dict(py, analysis)?;
    let moves = PyList::empty(py);
    for judged in &analysis.moves {
        moves.append(results::make(py, "JudgedMove", results::dict(py, judged)?)?)?;
    }
    fields.set_item("moves", moves)?;
    fields.set_item("code", analysis.code)?;
    fields.set_item("line", line_texts(line))?;
    results::make(py, "Analysis", fields)
}

fn line_texts(line: &[Move]) -> Vec<String> {
    line.iter().map(Move::to_string).collect()
}

/// Evaluates a board (``"6x6"``) or a ``Position`` and each of its moves: returns an ``Analysis``, with a line
/// of best play.
///
/// Values come from the rules, from `db` (a ``Database`` of the board, or a directory that contains one), and
/// from a search. When a limit is reached, the remaining values are ``"unknown"``, ``reason`` names the limit, and
/// the line ends where play is no longer decided. `time_limit` is a number of seconds or a text such as
/// ``"1m30s"``. `max_nodes` applies to all searches together. Without limits, every value is found, which takes longer
/// than ``solve``. The remoteness comes from `db`, or from a search of less than a second, which finds it in positions
/// with few stones.
///
/// The other arguments and the errors are those of ``solve``.
#[pyfunction]
#[pyo3(
    signature = (board, *, threads=None, memory=None, time_limit=None, max_nodes=None, db=None),
    text_signature = "(board, *, threads=None, memory='1GiB', time_limit=None, max_nodes=None, db=None)"
)]
pub fn analyse<'py>(
    py: Python<'py>,
    board: StartArg,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    time_limit: Option<SecondsArg<name::TimeLimit>>,
    max_nodes: Option<NodesArg>,
    db: Option<DatabaseArg<'_>>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let (start, position) = (&board.0, &board.0.position);
    let limits = LimitArgs { nodes: max_nodes, time: time_limit };
    let (analysis, line) = with_analyst(py, start, threads, memory, db, |analyst, stop| {
        analyse_position(analyst, position, limits.to_limits(stop), true)
    })?;
    analysis_object(py, &analysis, &line)
}

/// Evaluates each of many boards and positions, and their moves: returns a list of ``Analysis`` in the same order.
///
/// Positions, threads, memory, limits, progress and errors are those of ``solve_many``, results and `db` those of
/// ``analyse``. `max_nodes` and `time_limit` apply to each position with its moves and its line. The remoteness is not
/// searched, because that may take longer than the rest.
#[pyfunction]
#[pyo3(
    signature = (positions, *, threads=None, memory=None, time_limit=None, max_nodes=None, db=None, progress=None,
    interval=None),
    text_signature = "(positions, *, threads=None, memory='1GiB', time_limit=None, max_nodes=None, db=None, \
    progress=None, interval=0.1)"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn analyse_many<'py>(
    py: Python<'py>,
    positions: Bound<'py, PyAny>,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    time_limit: Option<SecondsArg<name::TimeLimit>>,
    max_nodes: Option<NodesArg>,
    db: Option<DatabaseArg<'py>>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<SecondsArg<name::Interval>>,
) -> Result<Vec<Bound<'py, PyAny>>, Failure> {
    let arguments = ManyArguments::new(threads, memory, progress, interval)?;
    let limits = LimitArgs { nodes: max_nodes, time: time_limit };
    let mut databases = Databases::new(db);
    let items = read_items(&positions, |item| {
        let start = item.extract::<StartArg<name::Position>>()?.into_position();
        let database = databases.of_board(py, start.dimensions())?;
        Ok((start, database))
    })?;
    let memory = arguments.memory_of_thread(items.len());
    type Item = (PyPosition, Option<Arc<Database>>);
    let set_up = |(start, database): &Item| {
        new_analyst((*start.board).clone(), memory, NonZeroUsize::MIN, database.clone())
    };
    let work = |analyst: &mut Analyst, (start, _): &Item, stop: &AtomicBool| {
        analyse_position(analyst, &start.position, limits.to_limits(stop), false)
    };
    let key = |(start, _): &Item| start.board_key();
    let found = many::run(py, arguments, &items, key, set_up, work)?;
    found.iter().map(|(analysis, line)| analysis_object(py, analysis, line)).collect()
}

/// Returns a line of best play from a board (``"6x6"``) or a ``Position`` as a list of moves: the winner wins as
/// fast as known, the loser resists as long as known.
///
/// The line ends where no move is left, or at the first position that is not decided within the limits.
/// `max_nodes` and `time_limit` apply to the whole line. The other arguments and the errors are those of ``solve``.
/// The length of the line is exact if the remoteness is known, from `db` or by the search of ``analyse``.
#[pyfunction]
#[pyo3(
    signature = (board, *, threads=None, memory=None, time_limit=None, max_nodes=None, db=None),
    text_signature = "(board, *, threads=None, memory='1GiB', time_limit=None, max_nodes=None, db=None)"
)]
pub fn line(
    py: Python<'_>,
    board: StartArg,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    time_limit: Option<SecondsArg<name::TimeLimit>>,
    max_nodes: Option<NodesArg>,
    db: Option<DatabaseArg<'_>>,
) -> Result<Vec<String>, Failure> {
    let limits = LimitArgs { nodes: max_nodes, time: time_limit };
    with_analyst(py, &board.0, threads, memory, db, |analyst, stop| {
        let (position, limits) = (&board.0.position, limits.to_limits(stop));
        let (analysis, _) = analyst.solve(position, limits)?;
        analyst.find_remoteness(analysis, left(analyst, 0, limits))?;
        Ok(line_texts(&analyst.line(position, left(analyst, 0, limits))?))
    })
}
