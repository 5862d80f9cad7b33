//! `value`: positions and sums as combinatorial games.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use konane::cgt::{Dyadic, Thermograph};
use konane::value::{SumValue, ValueTerm, evaluate};
use konane::{Colour, Dimensions, Limits};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use serde::Serialize;

use crate::argument::{StrArg, name, read_text};
use crate::error::Failure;
use crate::interrupt;
use crate::many::{self, ManyArguments, read_items};
use crate::options::{
    LimitArgs, MemoryArg, NodesArg, SecondsArg, ThreadCountArg, memory_or_default,
};
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
    let sum = Sum::read(terms.iter())?;
    let limits = LimitArgs { nodes: max_nodes, time: time_limit };
    let memory = memory_or_default(memory);
    let work = |stop: &AtomicBool| sum.evaluate(limits.to_limits(stop), memory);
    value_object(py, &interrupt::run_without_progress(py, work)??)
}

/// Computes the value of each of many sums: returns a list of ``SumValue`` in the same order.
///
/// Each item of `positions` is a term, or a tuple or list of the terms of a sum, as for ``value``. Threads, memory,
/// limits, progress and errors are those of ``solve_many``.
#[pyfunction]
#[pyo3(
    signature = (positions, *, threads=None, memory=None, time_limit=None, max_nodes=None, progress=None, interval=None),
    text_signature = "(positions, *, threads=None, memory='1GiB', time_limit=None, max_nodes=None, progress=None, \
    interval=0.1)"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn value_many<'py>(
    py: Python<'py>,
    positions: Bound<'py, PyAny>,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    time_limit: Option<SecondsArg<name::TimeLimit>>,
    max_nodes: Option<NodesArg>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<SecondsArg<name::Interval>>,
) -> Result<Vec<Bound<'py, PyAny>>, Failure> {
    let arguments = ManyArguments::new(threads, memory, progress, interval)?;
    let limits = LimitArgs { nodes: max_nodes, time: time_limit };
    let sums = read_items(&positions, |item| {
        if item.is_instance_of::<PyTuple>() || item.is_instance_of::<PyList>() {
            return Sum::read(item.try_iter()?.collect::<PyResult<Vec<_>>>()?.into_iter());
        }
        Sum::read([item].into_iter())
    })?;
    let memory = arguments.memory_of_thread(sums.len());
    let work =
        |(): &mut (), sum: &Sum, stop: &AtomicBool| sum.evaluate(limits.to_limits(stop), memory);
    let found = many::run(py, arguments, &sums, |_| (), |_| Ok(()), work)?;
    found.iter().map(|found| value_object(py, found)).collect()
}

/// Maximum number of characters of a value in the title of a picture.
const MAX_TITLE: usize = 60;

#[derive(Serialize)]
struct ThermographFields {
    left: Vec<[Dyadic; 2]>,
    right: Vec<[Dyadic; 2]>,
    mean: Dyadic,
    temperature: Dyadic,
    svg: String,
}

/// Computes the thermograph of a game in the notation of CGSuite: returns a ``Thermograph``.
///
/// Raises ``InputError`` for a text that is not a game, or if a number in the thermograph does not fit into 64 bits.
#[pyfunction]
pub fn thermograph<'py>(
    py: Python<'py>,
    text: StrArg<name::Text>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let terms = [ValueTerm::Game(text.to_string())];
    let sum = Sum { terms: terms.into(), to_move: Colour::Black };
    let limits = LimitArgs { nodes: None, time: None };
    let work = |stop: &AtomicBool| sum.evaluate(limits.to_limits(stop), memory_or_default(None));
    let found = interrupt::run_without_progress(py, work)??;
    if let Some(reason) = found.reason {
        let text = format_args!("the thermograph is unknown: {}", reason.text());
        return Err(Failure::limit(text, reason));
    }
    let Some(drawn) = found.thermograph else {
        return Err(Failure::input(
            "this value has no thermograph: a number in it does not fit into 64 bits",
        ));
    };
    let title: String = found.value.chars().take(MAX_TITLE).collect();
    let svg = drawn.svg(&title);
    let Thermograph { left, right, mean, temperature } = drawn;
    let fields = ThermographFields { left, right, mean, temperature, svg };
    results::make(py, "Thermograph", results::dict(py, &fields)?)
}

/// Sum with the player to move.
struct Sum {
    terms: Vec<ValueTerm>,
    to_move: Colour,
}

impl Sum {
    /// Reads the terms of a sum. The player to move is that of the first position, or Black.
    fn read<'py>(terms: impl Iterator<Item = Bound<'py, PyAny>>) -> Result<Self, Failure> {
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
                    let text = read_text::<name::Terms>(&term, expected)?;
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
        Ok(Sum { terms: read, to_move: to_move.unwrap_or(Colour::Black) })
    }

    fn evaluate(&self, limits: Limits<'_>, memory_bytes: u64) -> Result<SumValue, Failure> {
        Ok(evaluate(&self.terms, self.to_move, limits, memory_bytes, &mut |_| ())?)
    }
}

fn value_object<'py>(py: Python<'py>, found: &SumValue) -> Result<Bound<'py, PyAny>, Failure> {
    let fields = results::dict(py, found)?;
    results::make(py, "SumValue", fields)
}
