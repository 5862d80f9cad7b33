//! `perft` and `divide`: counts of move sequences and of positions.

use konane::system::memory_available;
use konane::{Perft, Uncounted};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Failure;
use crate::interrupt;
use crate::options::{Memory, Start, Threads, on_pool, threads_or_cores};
use crate::whole::Whole;

/// Counts the move sequences of 1, 2, ... `depth` plies from a board (``"8x8"``) or a ``Position``: a
/// list of `depth` integers.
///
/// `unique` counts the positions that are first met at each ply instead, symmetric ones once, or each
/// with `symmetry=False`. They are kept in memory, some 30 bytes each; `memory` (bytes, or a text such
/// as ``"4GiB"``) is what may be used, by default what the system has, and ``ResourceError`` is raised
/// where it would not suffice. `threads` are all cores if not given.
///
/// Sequences are counted with equal positions of a ply as one, some thousand million a second on each
/// thread; where `memory` does not suffice for a list of them, it takes longer. ``ResourceError`` is
/// raised where 64 bits do not hold a count. Ctrl-C ends it.
#[pyfunction]
#[pyo3(signature = (board, depth, *, threads=None, unique=false, symmetry=true, memory=None))]
pub fn perft(
    py: Python<'_>,
    board: Start,
    depth: Whole,
    threads: Option<Threads>,
    unique: bool,
    symmetry: bool,
    memory: Option<Memory>,
) -> Result<Vec<u64>, Failure> {
    let (Start(start), depth) = (board, depth.within("depth", 0, Perft::MOST_PLIES.into())?);
    let threads = threads_or_cores(threads);
    let memory = memory.map(|memory| memory.0).or_else(memory_available).unwrap_or(u64::MAX);
    interrupt::run_silent(py, |stop| {
        on_pool(threads, || {
            let perft = Perft::new(&start.board);
            let position = &start.position;
            if unique {
                let plies = perft.unique_plies(position, symmetry, memory, stop);
                return plies.take(depth as usize).collect::<Result<_, _>>().map_err(uncounted);
            }
            let count = |ply| perft.merged(position, ply, memory, stop);
            (1..=depth as u32).map(count).collect::<Result<_, _>>().map_err(uncounted)
        })
    })??
}

fn uncounted(why: Uncounted) -> Failure {
    match why {
        Uncounted::Interrupted | Uncounted::TooMany => why.into(),
        Uncounted::Memory => Failure::resource(
            "the positions of the next ply might not fit into the memory that may be used; \
             memory= allows more",
        ),
    }
}

/// Counts the move sequences of `depth` plies (at least 1) by their first move: a dictionary from
/// moves to counts, in the order of ``Position.moves``.
#[pyfunction]
#[pyo3(signature = (board, depth, *, threads=None))]
pub fn divide<'py>(
    py: Python<'py>,
    board: Start,
    depth: Whole,
    threads: Option<Threads>,
) -> Result<Bound<'py, PyDict>, Failure> {
    let (Start(start), depth) = (board, depth.within("depth", 1, Perft::MOST_PLIES.into())? as u32);
    let threads = threads_or_cores(threads);
    let counts = interrupt::run_silent(py, |stop| {
        let memory = memory_available().unwrap_or(u64::MAX);
        on_pool(threads, || {
            Perft::new(&start.board).merged_divide(&start.position, depth, memory, stop)
        })
    })??
    .map_err(uncounted)?;
    let dict = PyDict::new(py);
    for (mv, count) in counts {
        dict.set_item(start.move_text(mv), count)?;
    }
    Ok(dict)
}
