//! `value`: positions and sums as combinatorial games.

use std::sync::Arc;

use konane::value::{ValueTerm, evaluate};
use konane::{Colour, Dimensions, SolveOptions};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::argument::{name, read_text};
use crate::error::Failure;
use crate::interrupt;
use crate::options::{LimitArgs, MemoryArg, NodesArg, SecondsArg};
use crate::position::PyPosition;
use crate::results;

/// Computes the value of a sum of games: canonical form, outcome class, mean, temperature, stops, components, and the
/// moves of the player to move. Black is Left. Returns a ``SumValue``.
///
/// Each term is a ``Position`` in the jumping phase, or a text in the notation of CGSuite, such as ``"{2|-1}"`` or
/// ``"*2"``. The player to move is that of the first position, or Black.
///
/// If `memory` (default 1 GiB), `time_limit` (seconds, or a text such as ``"1m30s"``) or `max_nodes` (positions) is
/// reached, the value is ``"unknown"``, with a reason. Ctrl-C ends the call.
#[pyfunction]
#[pyo3(signature = (*terms, memory=None, time_limit=None, max_nodes=None))]
pub fn value<'py>(
    py: Python<'py>,
    terms: &Bound<'py, PyTuple>,
    memory: Option<MemoryArg>,
    time_limit: Option<SecondsArg<name::TimeLimit>>,
    max_nodes: Option<NodesArg>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let mut to_move = None;
    let mut read = Vec::new();
    for term in terms {
        read.push(match term.cast::<PyPosition>() {
            Ok(position) => {
                let term = position.get();
                to_move.get_or_insert(term.position.to_move());
                ValueTerm::Position(Arc::clone(&term.board), term.position)
            }
            Err(_) => {
                let expected = "a konane.Position, or a game such as '{2|-1}'";
                let text = read_text::<name::Terms>(&term.as_borrowed(), expected)?;
                if let Ok(board) = text.parse::<Dimensions>() {
                    return Err(Failure::input(format_args!(
                        "terms: {board} is a board, whose start has no value: pass a position in the jumping \
                         phase, such as konane.Position('{board}', moves=...)"
                    )));
                }
                ValueTerm::Game(text)
            }
        });
    }
    let limits = LimitArgs { nodes: max_nodes, time: time_limit };
    let memory = memory.map_or(SolveOptions::default().memory_bytes, |memory| memory.0);
    let to_move = to_move.unwrap_or(Colour::Black);
    let found = interrupt::run_without_progress(py, |stop| {
        evaluate(&read, to_move, limits.to_limits(stop), memory, &mut |_| ())
    })??;
    let fields = results::dict(py, &found)?;
    // `class` is a keyword of Python.
    fields.set_item("class_", fields.get_item("class")?)?;
    fields.del_item("class")?;
    results::make(py, "SumValue", fields)
}
