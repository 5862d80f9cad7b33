//! A complete board by tasks: on one machine with little memory, or on many that share a directory.
//!
//! ```text
//! TaskPlan ──▶ waves of tasks, each a line of text ──▶ Task::run, on any machine, in any process
//!    │                                                      │  ▲
//!    └─▶ TaskBuild: pending, finish ◀── what is there ── DIRECTORY/6x7-complete/tasks
//! ```
//!
//! The layers of rows of the sweep are cut into *slices*: ranges of canonical black patterns with b
//! stones. With W(b) and B(b) for the rows with White and with Black to move, the waves are
//!
//! ```text
//! W(0) B(0) W(1) B(1) .. W(NB) B(NB) layers
//! ```
//!
//! A slice of W(b) is made from rows of B(b-1), B(b-2), .., as many as the longest jump takes
//! stones, since a white jump takes black ones; a slice of B(b) from rows of W(b), since a black
//! jump moves a black stone. Which rows these are follows from the patterns alone. They are read
//! eight at a time, and each adds what it knows to the rows of the slice ([`Sweep::scatter`]);
//! patterns next to each other have their high squares in common, and so have those that their
//! jumps lead to, so that a slice reads a small part of what there is. A slice is written in the
//! database's own blocks, as one file for each number of white stones, and the last wave puts the
//! layers of the database together from these files.
//!
//! **Memory of a task.** With R bytes of a row (2^NW / 8, and up to 8 bytes for each of NW + 1
//! blocks), S rows of a slice, T threads and C bytes of eight rows of the largest block, at most
//!
//! ```text
//! S · (R + R/128 + 32)      rows, the index of a file that is read, locks
//! + T · (16 R + C + 1 MiB)  eight rows in the making, twice; a decompressor
//! + 16 MiB + 4 C            one block that is written
//! + tables + 64 MiB         of the canonical patterns; the program
//! ```
//!
//! and for a task that puts a layer together 16 bytes for each of the layer's chunks of 2 KiB, beside
//! the fixed parts. `slices` has the formulas, and a task that has less refuses to begin.
//!
//! **What may happen at any time.** The directory is the only state. A file gets its name when it
//! is whole; tasks that are killed leave a directory `making-…`, which the next [`TaskPlan::open`]
//! removes. A task makes only those of its files that are not there, so it may run again, and two
//! may run it at the same time. Whatever is read is checked; a file that is damaged or gone is
//! removed and ends the task with [`BuildError::Lost`], and
//! [`TaskBuild::pending`] has the task again that makes it. The files of the database are byte for
//! byte those of the other methods.
//!
//! [`Sweep::scatter`]: crate::tablebase::values::sweep::Sweep::scatter

mod graph;
mod layers;
mod local;
mod place;
mod plan;
mod rows;
mod run;
mod slices;
mod task;

use std::path::Path;
use std::sync::atomic::AtomicBool;

pub(super) use place::TASKS;
pub(super) use plan::least_memory;
pub use plan::{TaskBuild, TaskFigures, TaskOptions, TaskPlan};
pub use run::TaskReport;
pub use task::{Task, TaskError, Work};

use super::error::BuildError;
use place::Place;

use super::observer::BuildObserver;
use super::plan::Plan;
use crate::konane::Board;
use crate::tablebase::files::Manifest;

/// What the slices take that fit into the memory of this machine, or were begun with; the least that
/// would do if nothing fits.
pub(super) fn figures_here(board: &Board, directory: &Path, memory: Option<u64>) -> TaskFigures {
    TaskPlan::here(board, directory, memory).figures()
}

/// Whether a build by tasks was begun in the directory of a database.
pub(super) fn are_in(directory: &Path) -> bool {
    plan::read_layout(&Place { directory: directory.to_owned() }).is_some()
}

/// Bytes of the files of tasks in the directory of a database.
pub(super) fn present(directory: &Path) -> u64 {
    super::costs::present(&directory.join(TASKS))
}

/// Everything on this machine, in a directory that is locked.
pub(super) fn build_here(
    board: &Board,
    plan: &Plan,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<Manifest, BuildError> {
    let tasks = TaskPlan::here(board, &plan.directory, plan.memory_limit);
    tasks.begin(observer)?;
    local::run(&tasks.graph(), observer, stop)
}
