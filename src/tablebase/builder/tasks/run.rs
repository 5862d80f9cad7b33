//! Running one task.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use super::place::Place;
use super::slices::{self, Slices};
use super::task::{Task, TaskError, Work};
use crate::konane::{Board, Colour};
use crate::tablebase::builder::costs::saturated;
use crate::tablebase::builder::error::BuildError;
use crate::tablebase::builder::swept::MAX_WHITE;
use crate::tablebase::files::{ROWS, Scope};
use crate::tablebase::index::{Index, Sizes};
use crate::tablebase::values::sweep::Columns;

/// What a task did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskReport {
    /// The most bytes that its rows took in memory.
    pub rows_bytes: u64,
    /// Bytes that were read from files of other tasks, before compression.
    pub read_bytes: u64,
    /// Bytes that were written to files, compressed.
    pub written_bytes: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

impl Task {
    /// Runs the task in the directory `out` that holds databases, on the rayon pool it is called
    /// in. What it makes is there whole or not at all; what is there already is not made again.
    ///
    /// # Errors
    /// [`BuildError::Lost`] if a file of an earlier task is damaged or gone: look what is
    /// pending, and go on with that. [`BuildError::NoTask`] if the board has no such task.
    /// [`BuildError::TaskMemory`] if `memory` bytes are too few. All others of [`BuildError`].
    pub fn run(
        &self,
        out: &Path,
        memory: Option<u64>,
        stop: &AtomicBool,
    ) -> Result<TaskReport, BuildError> {
        let index = Index::new(Board::new(self.dimensions), Scope::Complete.exchanges());
        let place = Place::of(out, self.dimensions);
        self.run_in(&index, &place, memory, stop)
    }

    pub(super) fn run_in(
        &self,
        index: &Index,
        place: &Place,
        memory: Option<u64>,
        stop: &AtomicBool,
    ) -> Result<TaskReport, BuildError> {
        let started = Instant::now();
        let refuse = |what| BuildError::NoTask(TaskError { text: self.to_string(), what });
        let white = index.numbering().count(Colour::White);
        if white > MAX_WHITE {
            return Err(refuse("the board is too large for rows"));
        }
        let slices = Slices { most: self.slice_rows };
        let sizes = Sizes::new(index);
        let threads = rayon::current_num_threads();
        let need = match self.work {
            Work::Rows { .. } => slices.rows_memory(index, &sizes, threads),
            Work::Layer { .. } => slices::layer_memory(index, &sizes, threads),
        };
        if let Some(have) = memory.filter(|&have| u128::from(have) < need) {
            let need = saturated(need);
            return Err(BuildError::TaskMemory { need, have });
        }
        let columns = Columns::new(white);
        let runner = Runner { index, place, slices, columns, stop, counts: Counted::default() };
        match self.work {
            Work::Rows { black, to_move, slice } => {
                if black > sizes.squares(Colour::Black) {
                    return Err(refuse("the board has not so many black squares"));
                }
                let rows = sizes.rows(black);
                if slice >= slices.count(rows) {
                    return Err(refuse("there is no such slice"));
                }
                runner.rows(black, to_move, slices.range(rows, slice))?;
            }
            Work::Layer { stones } => runner.layer(stones)?,
        }
        Ok(TaskReport {
            rows_bytes: runner.counts.rows.get(),
            read_bytes: runner.counts.read.get(),
            written_bytes: runner.counts.written.get(),
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

#[derive(Default)]
struct Counted {
    rows: Tally,
    read: Tally,
    written: Tally,
}

/// A count that threads add to.
#[derive(Debug, Default)]
struct Tally(AtomicU64);

impl Tally {
    fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn most(&self, value: u64) {
        self.0.fetch_max(value, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A task at work.
pub(super) struct Runner<'a> {
    pub index: &'a Index,
    pub place: &'a Place,
    pub slices: Slices,
    pub columns: Columns,
    pub stop: &'a AtomicBool,
    counts: Counted,
}

impl Runner<'_> {
    /// Gives up if the stop flag is set.
    pub fn look(&self) -> Result<(), BuildError> {
        if self.stop.load(Ordering::Relaxed) { Err(BuildError::Interrupted) } else { Ok(()) }
    }

    /// Reports the memory of a slice, which is no more than was planned.
    pub fn has_rows(&self, bytes: u64) {
        assert!(
            bytes <= slices::slice_bytes(self.index, self.slices.most),
            "{bytes} bytes of rows"
        );
        self.counts.rows.most(bytes);
    }

    /// Reports rows that were read.
    pub fn read_rows(&self, rows: u32) {
        let white = self.index.numbering().count(Colour::White);
        self.read_bytes((u64::from(rows).next_multiple_of(ROWS as u64) << white) / 8);
    }

    /// Reports bytes that were read, as they are before compression.
    pub fn read_bytes(&self, bytes: u64) {
        self.counts.read.add(bytes);
    }

    /// Reports bytes that were written.
    pub fn wrote(&self, bytes: u64) {
        self.counts.written.add(bytes);
    }
}
