//! What a build by tasks takes, and who directs it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::graph::Graph;
use super::place::Place;
use super::rows;
use super::slices::{self, Slices};
use super::task::{Task, Work};
use crate::file::{Lock, NewFile, open_regular};
use crate::konane::{Board, Colour};
use crate::system::disk_free;
use crate::tablebase::builder::costs::{compressed_share, present, saturated};
use crate::tablebase::builder::error::BuildError;
use crate::tablebase::builder::observer::BuildObserver;
use crate::tablebase::builder::plan::{Misfit, PlanError, Resource};
use crate::tablebase::builder::swept::MAX_WHITE;
use crate::tablebase::builder::workspace::{Workspace, is_built, parts_in, remove};
use crate::tablebase::builder::{BuildSummary, summary};
use crate::tablebase::files::{MANIFEST_NAME, Manifest, Metric, Scope};
use crate::tablebase::index::{Index, Sizes};
use crate::tablebase::values::sweep::Sweep;

/// Bytes of rows, before compression, that a thread reads in a second: decompressed, joined and
/// scattered. A low figure, from 6x7 with four black stones on two busy cores.
pub const READ_BYTES_PER_SECOND: f64 = 1.2e8;

/// Bytes of rows that a thread writes in a second: split and compressed. From there as well.
pub const WRITTEN_BYTES_PER_SECOND: f64 = 7.5e7;

/// What is wanted of a build by tasks.
#[derive(Clone, Debug)]
pub struct TaskOptions {
    /// The directory that holds databases, seen by all machines; each has a directory of its own in it.
    pub out: PathBuf,
    /// Bytes of memory that a task may take.
    pub memory_bytes: u64,
    /// Threads of a task.
    pub threads: usize,
    /// Slices into which the largest layers of rows are cut at least, so that as many tasks can
    /// run at a time.
    pub parts: u32,
}

/// A build by tasks.
#[derive(Debug)]
pub struct TaskPlan {
    index: Index,
    sizes: Sizes,
    slices: Slices,
    place: Place,
    options: TaskOptions,
}

/// What a build by tasks takes. Bytes of rows are counted before compression, those of files and
/// traffic after it, by an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskFigures {
    /// Tasks in all.
    pub tasks: u64,
    /// The most tasks that can run at a time.
    pub widest_wave: u64,
    /// Rows of a slice at the most.
    pub slice_rows: u32,
    /// Memory of a task that makes rows; an upper bound.
    pub rows_memory_bytes: u64,
    /// Memory of a task that puts a layer together; an upper bound.
    pub layer_memory_bytes: u64,
    /// The files in the end.
    pub disk_bytes: u64,
    /// The most on the disk, however many layers are put together at the same time.
    pub disk_peak_bytes: u64,
    /// What all tasks together read from the directory.
    pub read_bytes: u64,
    /// What they write to it.
    pub written_bytes: u64,
    /// Among what is on the disk, the most that White's rows take where they are not stored.
    pub white_bytes: u64,
    /// Seconds of one thread for all tasks.
    pub thread_seconds: f64,
}

impl TaskFigures {
    /// Memory of any task; an upper bound.
    pub fn memory_bytes(&self) -> u64 {
        self.rows_memory_bytes.max(self.layer_memory_bytes)
    }
}

impl TaskPlan {
    /// Cuts the rows of a board. A directory that an earlier run began keeps its slices.
    ///
    /// # Errors
    /// [`BuildError::Plan`] if the memory does not suffice for eight rows, or for the index of a layer,
    /// or for the slices that an earlier run began with, if the board is too large for rows, and if the
    /// directory has another database.
    pub fn new(board: &Board, options: TaskOptions) -> Result<Self, BuildError> {
        let index = Index::new(board.clone(), Scope::Complete.exchanges());
        let dimensions = board.dimensions();
        let sizes = Sizes::new(&index);
        let place = Place::of(&options.out, dimensions);
        let white = index.numbering().count(Colour::White);
        if white > MAX_WHITE {
            return Err(PlanError::TooLargeForRows { board: dimensions }.into());
        }
        let holds = (dimensions, Scope::Complete, Metric::Outcome);
        is_built(&place.directory, holds, dimensions.squares())?;
        let TaskOptions { memory_bytes, threads, parts, .. } = options;
        let need = least_memory(&index, &sizes, threads);
        let fitting = Slices::fitting(&index, memory_bytes, threads, parts);
        let Some(fitting) = fitting.filter(|_| need <= u128::from(memory_bytes)) else {
            let plan = TaskPlan { index, sizes, slices: Slices::LEAST, place, options };
            let figures = plan.figures();
            let seconds = figures.thread_seconds / threads as f64;
            let needs = (need, figures.disk_peak_bytes);
            let TaskPlan { index, .. } = &plan;
            return Err(misfit(index, needs, seconds, threads, Resource::Memory, memory_bytes));
        };
        let slices = match read_layout(&place) {
            None => fitting,
            Some(slices) => {
                let need = slices.rows_memory(&index, &sizes, threads);
                if need > memory_bytes.into() {
                    let (path, need, have) = (place.tasks(), saturated(need), memory_bytes);
                    let rows = "slices of rows";
                    return Err(PlanError::Begun { path, rows, need, have }.into());
                }
                slices
            }
        };
        Ok(TaskPlan { index, sizes, slices, place, options })
    }

    /// For this machine alone: slices as large as fit, or of eight rows if nothing does. Whether they
    /// fit is for the caller to see.
    pub(super) fn here(board: &Board, directory: &Path, memory: Option<u64>) -> Self {
        let index = Index::new(board.clone(), Scope::Complete.exchanges());
        let sizes = Sizes::new(&index);
        let place = Place { directory: directory.to_owned() };
        let out = directory.parent().unwrap_or(Path::new("")).to_owned();
        let (memory_bytes, threads) = (memory.unwrap_or(u64::MAX), rayon::current_num_threads());
        let fitting = || Slices::fitting(&index, memory_bytes, threads, 1);
        let slices = read_layout(&place).or_else(fitting).unwrap_or(Slices::LEAST);
        let options = TaskOptions { out, memory_bytes, threads, parts: 1 };
        TaskPlan { index, sizes, slices, place, options }
    }

    /// The directory of the database.
    pub fn directory(&self) -> &Path {
        &self.place.directory
    }

    /// Whether the database is there already.
    pub fn is_finished(&self) -> bool {
        self.place.directory.join(MANIFEST_NAME).exists()
    }

    pub(super) fn graph(&self) -> Graph<'_> {
        let TaskPlan { index, sizes, slices, place, .. } = self;
        Graph { index, sizes, slices: *slices, place }
    }

    /// All tasks of the build, whatever is finished. Those of a wave are independent of each other, and
    /// need what the waves before have made.
    pub fn waves(&self) -> Vec<Vec<Task>> {
        self.graph().waves()
    }

    /// What the build takes from beginning to end. Counts the rows that some of the slices read,
    /// which may take seconds on the largest boards.
    pub fn figures(&self) -> TaskFigures {
        let TaskPlan { index, sizes, slices, options, .. } = self;
        let sides = index.sides().len() as f64;
        let row = (1u64 << index.numbering().count(Colour::White)) as f64 / 8.0;
        let black = sizes.squares(Colour::Black);
        let all = (0..=black).map(|b| sizes.rows(b) as f64 * row).sum::<f64>();
        let stored = sides * all;
        let share = compressed_share(stored as u128, Metric::Outcome);
        let (mut tasks, mut widest, mut read) = (0, 0, 0.0);
        let sweep = Sweep::new(index);
        for wave in self.waves() {
            (tasks, widest) = (tasks + wave.len() as u64, widest.max(wave.len() as u64));
            let Work::Rows { black, to_move, .. } = wave[0].work else { continue };
            // The same share of what some of the slices read is taken for all of them.
            let step = wave.len().div_ceil(SAMPLES);
            let ranges: Vec<_> =
                slices.ranges(sizes.rows(black)).skip(step / 2).step_by(step).collect();
            let octets: usize = ranges
                .iter()
                .map(|range| rows::wanted(&sweep, index, black, to_move, range.clone()))
                .map(|wanted| wanted.iter().flatten().filter(|&&octet| octet != 0).count())
                .sum();
            read += octets as f64 * 8.0 * row * wave.len() as f64 / ranges.len() as f64;
        }
        // Layers are read to be put together, and once more to be counted.
        let read = read + 2.0 * stored;
        // Slices for both sides to move, and layers.
        let written = 2.0 * all + stored;
        let seconds = read / READ_BYTES_PER_SECOND + written / WRITTEN_BYTES_PER_SECOND;
        let white_rows = if sides == 1.0 { sizes.most_rows() as f64 * row } else { 0.0 };
        let layer_memory = slices::layer_memory(index, sizes, options.threads);
        let rows_memory = slices.rows_memory(index, sizes, options.threads);
        TaskFigures {
            tasks,
            widest_wave: widest,
            slice_rows: slices.most,
            rows_memory_bytes: saturated(rows_memory),
            layer_memory_bytes: saturated(layer_memory),
            disk_bytes: (stored * share) as u64,
            disk_peak_bytes: ((2.0 * stored).max(stored + white_rows) * share) as u64,
            read_bytes: (read * share) as u64,
            written_bytes: (written * share) as u64,
            white_bytes: (white_rows * share) as u64,
            thread_seconds: seconds,
        }
    }

    /// Takes the directory for this build alone, and removes what dead tasks left half made. Tasks need
    /// nothing of this; whoever hands them out does.
    ///
    /// # Errors
    /// [`BuildError::Busy`] if another process builds there, [`BuildError::Plan`] if it has files of
    /// something else or the disk has not enough room, and what the operating system refuses.
    pub fn open(self, observer: &dyn BuildObserver) -> Result<TaskBuild, BuildError> {
        self.check_disk()?;
        let lock = Workspace::lock(&self.index, &self.place.directory, observer)?;
        self.begin(observer)?;
        Ok(TaskBuild { plan: self, lock, started: Instant::now() })
    }

    /// Whether the disk has enough room, as far as the system says.
    fn check_disk(&self) -> Result<(), BuildError> {
        if self.is_finished() {
            return Ok(());
        }
        let TaskPlan { index, options, .. } = self;
        let directory = &self.place.directory;
        let there = present(directory).saturating_add(present(&self.place.tasks()));
        let Some(free) = disk_free(directory) else { return Ok(()) };
        let (figures, have) = (self.figures(), free.saturating_add(there));
        if figures.disk_peak_bytes <= have {
            return Ok(());
        }
        let seconds = figures.thread_seconds / options.threads as f64;
        let needs = (figures.memory_bytes().into(), figures.disk_peak_bytes);
        Err(misfit(index, needs, seconds, options.threads, Resource::Disk, have))
    }

    /// Prepares the directory of the tasks, and removes what an earlier run in memory left, which they
    /// do not use.
    pub(super) fn begin(&self, observer: &dyn BuildObserver) -> Result<(), BuildError> {
        if self.is_finished() {
            return Ok(());
        }
        let parts = parts_in(&self.place.directory);
        parts.iter().try_for_each(|part| remove(part))?;
        if !parts.is_empty() {
            observer.removed(parts.len());
        }
        let tasks = self.place.tasks();
        match read_layout(&self.place) {
            Some(slices) => debug_assert_eq!(slices, self.slices),
            None => {
                // Without a layout nobody knows what the files would mean.
                if tasks.exists() {
                    fs::remove_dir_all(&tasks).map_err(BuildError::io("remove", &tasks))?;
                }
                fs::create_dir_all(&tasks).map_err(BuildError::io("create", &tasks))?;
                let mut file = NewFile::create(&self.place.layout(), 1 << 10)?;
                file.put(layout_text(self.slices).as_bytes())?;
                file.finish()?;
            }
        }
        self.place.clean()
    }
}

/// Slices of a wave of which the rows that they read are counted.
const SAMPLES: usize = 3;

/// The least memory with which a task of each kind gets on.
pub(in crate::tablebase::builder) fn least_memory(
    index: &Index,
    sizes: &Sizes,
    threads: usize,
) -> u128 {
    let rows = Slices::LEAST.rows_memory(index, sizes, threads);
    rows.max(slices::layer_memory(index, sizes, threads))
}

fn misfit(
    index: &Index,
    (memory, disk): (u128, u64),
    seconds: f64,
    threads: usize,
    resource: Resource,
    have: u64,
) -> BuildError {
    let what = format!("the complete {} board in slices", index.board().dimensions());
    let (scope, memory) = (Scope::Complete, saturated(memory));
    let misfit = Misfit { what, scope, memory, disk, seconds, threads, resource, have, fits: None };
    PlanError::DoesNotFit(Box::new(misfit)).into()
}

fn layout_text(slices: Slices) -> String {
    format!("konane tasks 1, {} rows\n", slices.most)
}

/// How the rows of a directory are cut, if a build by tasks was begun there.
pub(super) fn read_layout(place: &Place) -> Option<Slices> {
    let mut text = String::new();
    open_regular(&place.layout()).ok()?.take(100).read_to_string(&mut text).ok()?;
    let most = text.strip_prefix("konane tasks 1, ")?.strip_suffix(" rows\n")?.parse().ok()?;
    let slices = Slices { most };
    (most > 0 && most % 8 == 0 && layout_text(slices) == text).then_some(slices)
}

/// A build by tasks, for whoever hands them out.
#[derive(Debug)]
pub struct TaskBuild {
    plan: TaskPlan,
    lock: Lock,
    started: Instant,
}

impl TaskBuild {
    /// The plan.
    pub fn plan(&self) -> &TaskPlan {
        &self.plan
    }

    /// The tasks that are left, by what is in the directory: run those of the first wave, and ask
    /// again. Nothing when all is done.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn pending(&self) -> Result<Vec<Vec<Task>>, BuildError> {
        if self.plan.is_finished() {
            return Ok(Vec::new());
        }
        let graph = self.plan.graph();
        graph.tidy()?;
        graph.pending()
    }

    /// Writes the manifest, and removes the files of the tasks.
    ///
    /// # Errors
    /// [`BuildError::Unfinished`] if tasks are left, and what the operating system refuses.
    pub fn finish(self) -> Result<BuildSummary, BuildError> {
        let TaskBuild { plan, lock, started } = self;
        let manifest = match plan.is_finished() {
            true => Manifest::read(&plan.place.directory)?,
            false => plan.graph().finish()?,
        };
        drop(lock);
        Ok(summary(&manifest, started, 0))
    }
}
