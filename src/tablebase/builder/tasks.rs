//! Tasks: pieces of a build that run one after the other on this machine, or on many machines that
//! share a directory.
//!
//! ```text
//! Plan ──▶ waves of tasks, each a line of text ──▶ Task::run, on any machine, in any process
//!   │                                                   │  ▲
//!   └─▶ TaskBuild: pending, finish ◀── files ── DIRECTORY/6x7-complete/tasks
//! ```
//!
//! The layers of rows of the sweep are cut into *slices*: ranges of canonical black patterns with b
//! stones. With W(b) and B(b) for the rows with White and with Black to move, the waves are
//!
//! ```text
//! W(0) B(0) W(1) B(1) … W(NB) B(NB) layers
//! ```
//!
//! A slice of W(b) is made from rows of B(b-1), B(b-2), …, as many as the longest jump takes stones,
//! since a white jump takes black ones; a slice of B(b) from rows of W(b), since a black jump moves a
//! black stone. The patterns alone determine these rows. Neighbouring patterns have their high squares
//! in common, and so have those that their jumps lead to, so a slice reads a small part of the rows.
//!
//! A build in memory has one slice for each layer of rows ([`Slices::WHOLE`]). One task makes both
//! sides of it, and White's rows stay in memory where they are not stored.
//!
//! A task makes only those of its files that do not exist, so it may run again, and two processes may
//! run it at the same time. A part that is damaged or missing is removed and ends the task with
//! [`BuildError::Lost`]; [`TaskBuild::pending`] then has the task again that makes it. The files of the
//! database are the same for all methods.

use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::error::BuildError;
use super::estimate::{self, saturated};
use super::monitor::{BuildMonitor, BuildObserver, Stage};
use super::plan::Plan;
use super::sweep::SweepBuild;
use super::workspace::Workspace;
use super::{BuildSummary, summary};
use crate::file::Lock;
use crate::konane::{Colour, Dimensions};
use crate::system::quote;
use crate::tablebase::files::{Manifest, Metric, ROWS, Scope, database_name};
use crate::tablebase::index::{Index, Sizes};

/// Maximum number of lost parts before the disk is taken for the cause.
const MAX_LOST: u32 = 100;

/// Cut of the rows with each number of black stones into slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slices {
    /// Maximum number of rows of a slice: a multiple of eight, or that of [`Slices::WHOLE`].
    pub most: u32,
}

impl Slices {
    /// The smallest: eight rows, which stand in the bytes of a block together.
    pub const LEAST: Slices = Slices { most: ROWS as u32 };

    /// All rows in one slice.
    pub const WHOLE: Slices = Slices { most: u32::MAX };

    /// The largest slices for which `memory` bytes suffice, but at least `parts` of them where there are
    /// most rows; `None` if not even eight rows fit.
    pub fn fitting(
        index: &Index,
        sizes: &Sizes,
        memory: u64,
        threads: usize,
        parts: u32,
    ) -> Option<Self> {
        let layer = estimate::layer_memory(index, sizes, threads);
        let fixed = estimate::slice_memory(sizes, 0, threads);
        let for_rows = u128::from(memory).checked_sub(fixed)?;
        let fit = for_rows / estimate::slice_row_memory(sizes);
        let wanted = sizes.most_rows().div_ceil(u128::from(parts.max(1)));
        let octet = ROWS as u128;
        let most = (fit / octet * octet).min(wanted.next_multiple_of(octet));
        (most > 0 && layer <= memory.into()).then_some(Slices { most: most as u32 })
    }

    /// Number of slices of `rows` rows.
    pub fn count(self, rows: u64) -> u32 {
        rows.div_ceil(u64::from(self.most)) as u32
    }

    /// Rows of a slice. All slices have as many, except for the last one, and begin with an octet.
    pub fn range(self, rows: u64, slice: u32) -> Range<u32> {
        let each = rows.div_ceil(u64::from(self.count(rows))).next_multiple_of(ROWS as u64);
        let at = |slice: u32| (u64::from(slice) * each).min(rows) as u32;
        at(slice)..at(slice + 1)
    }

    /// Rows of all slices, none of which is empty.
    pub fn ranges(self, rows: u64) -> impl Iterator<Item = Range<u32>> {
        (0..self.count(rows)).map(move |slice| self.range(rows, slice))
    }

    /// Upper bound of the memory of a task that makes a slice.
    pub fn memory(self, sizes: &Sizes, threads: usize) -> u128 {
        let rows = u128::from(self.most).min(sizes.most_rows().next_multiple_of(ROWS as u128));
        estimate::slice_memory(sizes, rows, threads)
    }
}

/// Product of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Work {
    /// The values of a slice of rows.
    Rows {
        /// Black stones.
        black: u32,
        /// The side to move. White's rows come first.
        to_move: Colour,
        /// Number of the slice.
        slice: u32,
    },
    /// The file of a layer, from the slices.
    Layer {
        /// Stones of both colours.
        stones: u32,
    },
}

/// Task of a build in slices. As text it is one line, such as `konane-task 1 6x6 4096 white 9 3`:
/// version, board, rows of a slice, side to move, black stones and slice; or
/// `konane-task 1 6x6 4096 layer 17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// The board.
    pub dimensions: Dimensions,
    /// Maximum number of rows of a slice.
    pub(super) slice_rows: u32,
    /// Product of the task.
    pub work: Work,
}

const MAGIC: &str = "konane-task";
const VERSION: &str = "1";

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MAGIC} {VERSION} {} {} ", self.dimensions, self.slice_rows)?;
        match self.work {
            Work::Rows { black, to_move, slice } => write!(f, "{} {black} {slice}", to_move.name()),
            Work::Layer { stones } => write!(f, "layer {stones}"),
        }
    }
}

impl FromStr for Task {
    type Err = BuildError;

    fn from_str(text: &str) -> Result<Self, BuildError> {
        parse(text).map_err(|what| BuildError::NoTask { text: quote(text), what })
    }
}

fn parse(text: &str) -> Result<Task, &'static str> {
    let words: Vec<&str> = text.split(' ').collect();
    let [MAGIC, version, board, rows, kind, rest @ ..] = &words[..] else {
        return Err("it does not begin like one");
    };
    if *version != VERSION {
        return Err("its version is another");
    }
    let number = |word: &str| word.parse::<u32>().map_err(|_| "a number is wrong");
    let dimensions: Dimensions = board.parse().map_err(|_| "the board is wrong")?;
    let slice_rows = number(rows)?;
    if slice_rows == 0 || !slice_rows.is_multiple_of(8) {
        return Err("the rows of a slice are no multiple of eight");
    }
    let black_squares = dimensions.squares().div_ceil(2);
    let work = match (*kind, rest) {
        ("layer", [stones]) => {
            let stones = number(stones)?;
            if stones > dimensions.squares() {
                return Err("there are no layers with so many stones");
            }
            Work::Layer { stones }
        }
        ("black" | "white", [black, slice]) => {
            let to_move = if *kind == "black" { Colour::Black } else { Colour::White };
            let (black, slice) = (number(black)?, number(slice)?);
            if black > black_squares {
                return Err("the board has not so many black squares");
            }
            Work::Rows { black, to_move, slice }
        }
        _ => return Err("what it makes is not known"),
    };
    let task = Task { dimensions, slice_rows, work };
    // No second spelling.
    if task.to_string() == text { Ok(task) } else { Err("a number is written in another way") }
}

/// Result of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskReport {
    /// Memory of its rows in bytes.
    pub rows_bytes: u64,
    /// Bytes read from files of other tasks, before compression.
    pub read_bytes: u64,
    /// Bytes written to files, compressed.
    pub written_bytes: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

impl Task {
    /// Runs the task in the directory `out` that holds databases, on the rayon pool it is called in.
    /// Each of its files appears complete or not at all; files that exist are not made again.
    ///
    /// # Errors
    /// [`BuildError::Lost`] if a file of an earlier task is damaged or missing: continue with the
    /// tasks that are pending then. [`BuildError::NoTask`] if the board has no such task.
    /// [`BuildError::TaskMemory`] if `memory` bytes are too few. All others of [`BuildError`].
    pub fn run(
        &self,
        out: &Path,
        memory: Option<u64>,
        stop: &AtomicBool,
    ) -> Result<TaskReport, BuildError> {
        let started = Instant::now();
        let refuse = |what| BuildError::NoTask { text: self.to_string(), what };
        let (dimensions, squares) = (self.dimensions, self.dimensions.squares());
        if squares / 2 > estimate::MAX_WHITE {
            return Err(refuse("the board is too large for rows"));
        }
        let (scope, metric) = (Scope::Complete, Metric::Outcome);
        let directory = out.join(database_name(dimensions, scope, squares, metric));
        let slices = Slices { most: self.slice_rows };
        let workspace = Workspace::new(dimensions, scope, metric, squares, directory, slices);
        let (index, sizes) = (&workspace.index, &workspace.sizes);
        let threads = rayon::current_num_threads();
        let (need, rows_bytes) = match self.work {
            Work::Rows { black, slice, .. } => {
                if black > sizes.squares(Colour::Black) {
                    return Err(refuse("the board has not so many black squares"));
                }
                let rows = sizes.rows(black);
                if slice >= slices.count(rows) {
                    return Err(refuse("there is no such slice"));
                }
                let rows = slices.range(rows, slice).len() as u32;
                (slices.memory(sizes, threads), estimate::slice_bytes(sizes, rows))
            }
            Work::Layer { .. } => (estimate::layer_memory(index, sizes, threads), 0),
        };
        if let Some(have) = memory.filter(|&have| u128::from(have) < need) {
            return Err(BuildError::TaskMemory { need: saturated(need), have });
        }
        let tasks = workspace.tasks_directory();
        fs::create_dir_all(&tasks).map_err(BuildError::io("create", &tasks))?;
        let monitor = BuildMonitor::new(&(), stop, 0);
        SweepBuild::new(&workspace, &monitor).run(self.work)?;
        Ok(TaskReport {
            rows_bytes,
            read_bytes: monitor.read_bytes.into_inner(),
            written_bytes: monitor.written_bytes.into_inner(),
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

/// Runs all tasks that are left, one after the other, each on all threads.
pub(super) fn run_all(
    workspace: &Workspace,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<(), BuildError> {
    let mut waves = workspace.pending()?;
    let total = match workspace.scope {
        Scope::Complete => waves.iter().flatten().map(|task| positions(workspace, task.work)).sum(),
        // Once when the values of the rows are known, once when they are written.
        Scope::Reachable => 2 * workspace.row_positions().sum::<u64>(),
    };
    let monitor = BuildMonitor::new(observer, stop, total);
    let build = SweepBuild::new(workspace, &monitor);
    let (mut lost, mut last) = (0, None);
    while let Some(wave) = waves.first() {
        for task in wave {
            monitor.check()?;
            let stage = match task.work {
                // The state space reports its own stages.
                Work::Rows { .. } if workspace.scope == Scope::Reachable => None,
                Work::Rows { black, .. } => Some(Stage::Rows { black }),
                Work::Layer { stones } => Some(Stage::Assembling { stones }),
            };
            if let Some(stage) = stage.filter(|_| last != stage) {
                observer.stage(stage);
                last = Some(stage);
            }
            match build.run(task.work) {
                Ok(()) => monitor.advance(positions(workspace, task.work)),
                Err(BuildError::Lost { path, reason }) if lost < MAX_LOST => {
                    observer.discarded(&path, &reason);
                    lost += 1;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        waves = workspace.pending()?;
    }
    Ok(())
}

/// Number of positions that a task computes or writes. Where rows are whole, layers are copied.
fn positions(workspace: &Workspace, work: Work) -> u64 {
    let Workspace { sizes, slices, .. } = workspace;
    match work {
        Work::Rows { .. } if workspace.scope == Scope::Reachable => 0,
        Work::Rows { black, slice, .. } => {
            let rows = slices.range(sizes.rows(black), slice).len() as u64;
            rows << sizes.squares(Colour::White)
        }
        Work::Layer { .. } if *slices == Slices::WHOLE => 0,
        Work::Layer { stones } => sizes.layer_addresses(stones) as u64,
    }
}

/// A build in slices whose tasks are handed out: to threads, processes or machines.
#[derive(Debug)]
pub struct TaskBuild {
    plan: Plan,
    workspace: Workspace,
    lock: Lock,
    started: Instant,
}

impl TaskBuild {
    /// Locks the directory, and removes incomplete files of dead tasks. Tasks need no lock.
    ///
    /// # Errors
    /// [`BuildError::Busy`] if another process builds there, [`BuildError::Plan`] if the directory has
    /// files of another database or the disk has not enough room, and errors of the operating system.
    pub fn open(plan: &Plan, observer: &dyn BuildObserver) -> Result<Self, BuildError> {
        plan.check_disk()?;
        let (plan, workspace) = (plan.clone(), plan.workspace());
        let lock = workspace.lock(observer)?;
        Ok(TaskBuild { plan, workspace, lock, started: Instant::now() })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Tasks that are left, by the files in the directory: run those of the first wave, and call
    /// again. Empty when all is done.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn pending(&self) -> Result<Vec<Vec<Task>>, BuildError> {
        if self.workspace.is_finished() { Ok(Vec::new()) } else { self.workspace.pending() }
    }

    /// Writes the manifest, and removes the files of the tasks.
    ///
    /// # Errors
    /// [`BuildError::Unfinished`] if tasks are left, and errors of the operating system.
    pub fn finish(self) -> Result<BuildSummary, BuildError> {
        let TaskBuild { workspace, lock, started, .. } = self;
        let stop = AtomicBool::new(false);
        let manifest = match workspace.is_finished() {
            true => Manifest::read(&workspace.directory)?,
            false => workspace.finish(&BuildMonitor::new(&(), &stop, 0))?,
        };
        drop(lock);
        Ok(summary(&manifest, started, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_read_and_others_refused() {
        for text in ["konane-task 1 6x6 4096 white 9 3", "konane-task 1 1x9 8 layer 9"] {
            assert_eq!(text.parse::<Task>().unwrap().to_string(), text);
        }
        for (text, what) in [
            ("", "does not begin"),
            ("konane-task 2 6x6 8 layer 3", "version"),
            ("konane-task 1 9x9 8 layer 3", "board"),
            ("konane-task 1 6x6 12 layer 3", "multiple of eight"),
            ("konane-task 1 6x6 0 layer 3", "multiple of eight"),
            ("konane-task 1 6x6 8 layer 37", "so many stones"),
            ("konane-task 1 6x6 8 layer +3", "another way"),
            ("konane-task 1 6x6 8 layer 3 ", "not known"),
            ("konane-task 1 6x6 8 white 19 0", "black squares"),
            ("konane-task 1 6x6 8 white 9", "not known"),
            ("konane-task 1 6x6 8 black 9 x", "number"),
        ] {
            let error = text.parse::<Task>().unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn slices_are_all_rows_in_order(
            octets in prop_oneof![1u32..40, any::<u32>().prop_map(|n| n % (1 << 20) + 1)],
            rows in prop_oneof![1u64..1000, 1u64..1 << 31],
        ) {
            let slices = Slices { most: 8 * octets };
            // Few enough to iterate over.
            let rows = rows.min(10_000 * u64::from(slices.most));
            let mut next = 0;
            for range in slices.ranges(rows) {
                prop_assert_eq!(range.start, next);
                prop_assert!(!range.is_empty() && range.len() <= slices.most as usize);
                prop_assert_eq!(range.start % ROWS as u32, 0);
                next = range.end;
            }
            prop_assert_eq!(u64::from(next), rows);
            prop_assert_eq!(Slices::WHOLE.ranges(rows).collect::<Vec<_>>(), vec![0..rows as u32]);
        }
    }
}
