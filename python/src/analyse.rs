//! `analyse` and `line`: values of all moves of a position, and a line of best play.

use std::sync::atomic::AtomicBool;

use konane::analysis::{Analysis, Analyst};
use konane::{Limits, Move, SolveOptions};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::argument::name;
use crate::database::{self, DatabaseArg};
use crate::error::Failure;
use crate::interrupt;
use crate::options::{
    LimitArgs, MemoryArg, NodesArg, SecondsArg, StartArg, ThreadCountArg, threads_or_cores,
};
use crate::position::PyPosition;
use crate::results;

/// Creates an analyst and runs `work` with it, without the GIL.
fn with_analyst<T: Send>(
    py: Python<'_>,
    start: &PyPosition,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    db: Option<DatabaseArg<'_>>,
    work: impl FnOnce(&mut Analyst, &AtomicBool) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let database = db.map(|db| database::of_board(py, db, start.dimensions())).transpose()?;
    let memory_bytes = memory.map_or(SolveOptions::default().memory_bytes, |memory| memory.0);
    let threads = threads_or_cores(threads);
    interrupt::run_without_progress(py, |stop| {
        let board = (*start.board).clone();
        let mut analyst = Analyst::on_board(board, memory_bytes)?.threads(threads);
        if let Some(database) = database {
            analyst = analyst.with_database(database)?;
        }
        work(&mut analyst, stop)
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
/// than ``solve``.
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
        let limits = limits.to_limits(stop);
        let analysis = analyst.analyse(position, limits, &mut |_| {})?;
        let line = match analysis.outcome() {
            Some(_) => {
                let spent = analyst.nodes();
                let nodes = limits.nodes.map(|nodes| nodes.saturating_sub(spent));
                analyst.line(position, Limits { nodes, ..limits })?
            }
            None => Vec::new(),
        };
        Ok((analysis, line))
    })?;
    analysis_object(py, &analysis, &line)
}

/// Returns a line of best play from a board (``"6x6"``) or a ``Position`` as a list of moves: the winner wins as
/// fast as known, the loser resists as long as known.
///
/// The line ends where no move is left, or at the first position that is not decided within the limits.
/// `max_nodes` and `time_limit` apply to the whole line. The other arguments and the errors are those of ``solve``.
/// The length of the line is exact only with a database of the remoteness (`db`).
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
        Ok(line_texts(&analyst.line(&board.0.position, limits.to_limits(stop))?))
    })
}
