//! `perft` and `divide`: numbers of move sequences and of positions.

use konane::system::memory_available;
use konane::{Perft, PerftError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::{FlagArg, IntegerArg, name};
use crate::error::Failure;
use crate::interrupt;
use crate::options::{MemoryArg, StartArg, ThreadCountArg, on_pool, threads_or_cores};

/// Counts the move sequences of 1, 2, ... `depth` plies (at most 64) from a board (``"8x8"``) or a
/// ``Position``: returns a list of `depth` integers.
///
/// With `unique`, counts the positions that are first reached at each ply instead. Symmetric positions count as
/// one, unless `symmetry=False`. They are stored in memory, some 30 bytes each. `memory` (bytes, or a
/// text such as ``"4GiB"``) limits it and defaults to what the system has available; ``ResourceError``
/// is raised if it does not suffice. `threads` defaults to all cores.
///
/// Equal positions of a ply are expanded once and counted with their multiplicity, so about a thousand million
/// sequences are counted per second and thread. Without memory for a list of the positions, it takes longer.
/// Raises ``ResourceError`` if a count exceeds 64 bits. Ctrl-C ends the call.
#[pyfunction]
#[pyo3(
    signature = (board, depth, *, threads=None, unique=FlagArg::from(false),
    symmetry=FlagArg::from(true), memory=None),
    text_signature = "(board, depth, *, threads=None, unique=False, symmetry=True, memory=None)"
)]
pub fn perft(
    py: Python<'_>,
    board: StartArg,
    depth: IntegerArg<name::Depth>,
    threads: Option<ThreadCountArg>,
    unique: FlagArg<name::Unique>,
    symmetry: FlagArg<name::Symmetry>,
    memory: Option<MemoryArg>,
) -> Result<Vec<u64>, Failure> {
    let (start, depth) = (board.0, depth.within(0..=Perft::MAX_PLIES.into())?);
    let threads = threads_or_cores(threads);
    let memory = memory.map(|memory| memory.0).or_else(memory_available).unwrap_or(u64::MAX);
    interrupt::run_without_progress(py, |stop| {
        on_pool(threads, || {
            let perft = Perft::new(&start.board);
            let position = &start.position;
            if unique.0 {
                let plies = perft.unique_plies(position, symmetry.0, memory, stop);
                return plies.take(depth as usize).collect::<Result<_, _>>().map_err(uncounted);
            }
            let count = |ply| perft.merged(position, ply, memory, &|_, _| (), stop);
            (1..=depth as u32).map(count).collect::<Result<_, _>>().map_err(uncounted)
        })
    })??
}

fn uncounted(why: PerftError) -> Failure {
    match why {
        PerftError::Interrupted | PerftError::TooMany => why.into(),
        PerftError::Memory => Failure::resource(
            "the positions of the next ply might not fit into the memory that may be used; \
             memory= allows more",
        ),
    }
}

/// Counts the move sequences of `depth` plies (from 1 to 64) by their first move: returns a dictionary
/// from moves to counts, in the order of ``Position.moves``.
#[pyfunction]
#[pyo3(signature = (board, depth, *, threads=None))]
pub fn divide<'py>(
    py: Python<'py>,
    board: StartArg,
    depth: IntegerArg<name::Depth>,
    threads: Option<ThreadCountArg>,
) -> Result<Bound<'py, PyDict>, Failure> {
    let (start, depth) = (board.0, depth.within(1..=Perft::MAX_PLIES.into())? as u32);
    let threads = threads_or_cores(threads);
    let counts = interrupt::run_without_progress(py, |stop| {
        let memory = memory_available().unwrap_or(u64::MAX);
        on_pool(threads, || {
            Perft::new(&start.board).merged_divide(&start.position, depth, memory, &|_, _| (), stop)
        })
    })??
    .map_err(uncounted)?;
    let dict = PyDict::new(py);
    for (mv, count) in counts {
        dict.set_item(start.move_text(mv), count)?;
    }
    Ok(dict)
}
