//! The plan of a build: what is built, how, and whether it fits.

use std::path::PathBuf;

use serde::Serialize;

use super::directory::BuildDirectory;
use super::error::{BuildError, Misfit, Resource};
use super::estimate::{self, Needs, SliceFigures, saturated};
use super::slices::{BuildTask, Slices};
use crate::json::as_path;
use crate::konane::{Board, Colour};
use crate::system::{disk_free, memory_available};
use crate::tablebase::files::{Coverage, Metric, Scope};
use crate::tablebase::values::statespace;

/// Request for a database.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// Positions covered.
    pub scope: Scope,
    /// Value stored for each position.
    pub metric: Metric,
    /// Maximum number of stones; `None` for all layers. Scope complete only.
    pub max_stones: Option<u32>,
    /// Memory that may be used; `None` for the memory that the system has available.
    pub memory_bytes: Option<u64>,
    /// The directory that holds databases, each in its own subdirectory.
    pub out: PathBuf,
    /// Method that computes the values. With `None`, an interrupted build continues with its method, and the
    /// method of a new build is selected by the size of the board and the memory. The files of the database
    /// do not depend on the method.
    pub method: Option<Method>,
    /// Minimum number of slices of the largest bands of rows, for [`Method::Sliced`]. This many tasks can then
    /// run at the same time.
    pub min_slices: u32,
}

impl BuildOptions {
    /// Outcomes of a complete board in the directory `out`, and defaults for everything else.
    pub fn complete(out: PathBuf) -> Self {
        BuildOptions {
            scope: Scope::Complete,
            metric: Metric::Outcome,
            max_stones: None,
            memory_bytes: None,
            out,
            method: None,
            min_slices: 1,
        }
    }
}

/// Method that computes the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Layer by layer on combinadic ranks (`tablebase/values/ranked`).
    Ranked,
    /// The bit-parallel sweep (`tablebase/values/sweep`): whole boards. In scope reachable also
    /// the breadth-first search from the start ([`crate::tablebase::statespace()`]).
    Swept,
    /// The sweep, a slice of rows at a time, by [`BuildTask`]s: whole boards in little memory, on one
    /// machine or several.
    Sliced,
}

/// A build that fits: its content, its needs and the size of its files.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "json-schema",
    schemars(rename = "PlanJson", description = "The JSON of `builddb --plan`.")
)]
pub struct Plan {
    /// Content of the database.
    #[serde(flatten)]
    pub coverage: Coverage,
    /// Method that computes the values.
    #[serde(skip)]
    pub method: Method,
    /// The directory of the database.
    #[serde(serialize_with = "as_path")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub directory: PathBuf,
    /// True if the database exists already. Nothing is computed then, and no limit was checked.
    pub finished: bool,
    /// Number of positions covered: sets of stones, with either side to move.
    pub positions: u128,
    /// Number of stored positions. Of equivalent positions, usually only one is stored.
    pub stored_positions: u128,
    /// Upper bound of the memory.
    pub memory_bytes: u64,
    /// Memory that may be used; null if the system does not report it.
    pub memory_limit: Option<u64>,
    /// Estimated size of the files: rather too large than too small.
    pub disk_bytes: u64,
    /// Maximum disk space while building: the files, and once more the layer that is assembled.
    pub disk_peak_bytes: u64,
    /// Figures of the slices, if the rows are built in slices.
    #[serde(flatten)]
    pub slices: Option<SliceFigures>,
    /// Free disk space plus the space that an interrupted build of this database already takes; null if
    /// the system does not report it.
    pub disk_limit: Option<u64>,
    /// Estimated time.
    pub seconds: f64,
    /// Threads that the estimate is for.
    pub threads: usize,
}

impl Plan {
    /// All tasks of the build, finished or not, in waves. The tasks of a wave are independent of each other
    /// and need the files of all earlier waves.
    pub fn tasks(&self) -> Vec<Vec<BuildTask>> {
        self.build_directory().waves(&|_| false)
    }

    pub(super) fn build_directory(&self) -> BuildDirectory {
        let slices = self.slices.map_or(Slices::WHOLE, |s| Slices { max_rows: s.slice_rows });
        BuildDirectory::new(self.directory.clone(), self.coverage, slices)
    }

    /// Checks that the disk has enough room.
    pub(super) fn check_disk(&self) -> Result<(), BuildError> {
        if self.finished || self.disk_limit.is_none_or(|have| self.disk_peak_bytes <= have) {
            return Ok(());
        }
        Err(self.misfit(Resource::Disk, None))
    }

    /// The error if a resource does not suffice.
    fn misfit(&self, resource: Resource, fits: Option<u32>) -> BuildError {
        let limit = match resource {
            Resource::Memory => self.memory_limit,
            Resource::Disk => self.disk_limit,
        };
        let Plan { coverage, memory_bytes, disk_peak_bytes, seconds, threads, .. } = *self;
        let have = limit.unwrap_or(u64::MAX);
        BuildError::DoesNotFit(Box::new(Misfit {
            coverage,
            resource,
            have,
            memory_bytes,
            disk_peak_bytes,
            seconds,
            threads,
            fits,
        }))
    }
}

/// Plans a build and checks that it fits. Reads the sizes of memory and disk, writes nothing. Takes
/// microseconds; milliseconds on the largest boards, and seconds where rows are cut into slices.
///
/// With [`Method::Sliced`] in the options, the tasks may run on other machines, so only the memory is checked
/// here. [`DistributedBuild::open`](super::DistributedBuild::open) checks the disk space.
///
/// # Errors
/// If the build does not fit (the error has a remedy), or if the directory has another database, or one that
/// cannot be read.
pub fn plan(board: &Board, options: &BuildOptions) -> Result<Plan, BuildError> {
    let dimensions = board.dimensions();
    let squares = dimensions.squares();
    let (scope, metric) = (options.scope, options.metric);
    let reachable = scope == Scope::Reachable;
    let tasks = options.method == Some(Method::Sliced);
    let unsupported =
        |options, remedy| Err(BuildError::Unsupported { board: dimensions, options, remedy });
    if reachable && options.max_stones.is_some() {
        return Err(BuildError::ReachableWithMaxStones);
    }
    if reachable && squares > statespace::MAX_SQUARES {
        return Err(BuildError::ReachableTooLarge { board: dimensions });
    }
    if reachable && metric != Metric::Outcome {
        let remedy = "choose scope complete, or metric outcome";
        return unsupported("with scope reachable and metric remoteness", remedy);
    }
    if metric != Metric::Outcome && tasks {
        let remedy = "build it whole, or with metric outcome";
        return unsupported("in slices or by tasks with metric remoteness", remedy);
    }
    let max_stones = options.max_stones.unwrap_or(u32::MAX).min(squares);
    let coverage = Coverage { dimensions, scope, metric, max_stones };
    let path = options.out.join(coverage.name());
    let mut directory = BuildDirectory::new(path, coverage, Slices::WHOLE);
    let finished = directory.has_database()?;
    let memory_limit = options.memory_bytes.or_else(memory_available);
    let disk_limit = disk_free(&directory.path).map(|free| free.saturating_add(directory.bytes()));
    let threads = rayon::current_num_threads();
    let fits_rows = directory.index.squares(Colour::White) <= estimate::MAX_WHITE;
    if tasks && !fits_rows {
        let remedy = "its rows are too long; build it with a limit of stones";
        return unsupported("completely by tasks", remedy);
    }

    let lacking = |needs: &Needs| {
        let exceeds = |need: u128, limit: Option<u64>| limit.is_some_and(|have| need > have.into());
        if exceeds(needs.memory, memory_limit) {
            return Some(Resource::Memory);
        }
        (!tasks && exceeds(needs.disk_peak, disk_limit)).then_some(Resource::Disk)
    };
    let whole = coverage.is_whole() && fits_rows;
    let index = &directory.index;
    let swept = if whole { estimate::swept_memory(index, metric, threads) } else { 0 };
    // An interrupted build continues with its method, with any amount of memory: another method could not
    // use its files, which may have taken days.
    let layout = directory.layout();
    let begun_slices = layout.filter(|&slices| slices != Slices::WHOLE);
    let in_memory = layout == Some(Slices::WHOLE) && directory.has_parts();
    let method = match options.method {
        _ if reachable => Method::Swept,
        _ if !whole => Method::Ranked,
        Some(method @ (Method::Swept | Method::Sliced)) => method,
        Some(Method::Ranked) => Method::Ranked,
        None if begun_slices.is_some() => Method::Sliced,
        None if squares < estimate::SWEPT_FROM => Method::Ranked,
        None if metric != Metric::Outcome || in_memory => Method::Swept,
        None if memory_limit.is_none_or(|limit| swept <= u128::from(limit)) => Method::Swept,
        None => Method::Sliced,
    };
    let mut needs = estimate::ranked(index, metric, max_stones, threads);
    let mut slices = None;
    match method {
        Method::Ranked => {}
        Method::Swept if reachable => {
            needs.memory = estimate::reached_memory(index, threads);
            needs.seconds = needs.stored as f64 / estimate::reached_rate(threads);
        }
        Method::Swept => {
            needs.memory = swept;
            needs.seconds = needs.stored as f64 / estimate::swept_rate(metric, threads);
        }
        Method::Sliced => {
            let memory = memory_limit.unwrap_or(u64::MAX);
            let fitting = || estimate::fitting_slices(index, memory, threads, options.min_slices);
            directory.slices = begun_slices.or_else(fitting).unwrap_or(Slices::MIN);
            let figures = SliceFigures::new(&directory, threads);
            needs.memory = figures.memory_bytes().into();
            needs.seconds = figures.thread_seconds / threads as f64;
            needs.disk_peak = match tasks {
                // Several machines may assemble layers at the same time.
                true => figures.disk_peak_bytes.into(),
                // Before the layers are assembled, the slices take as much space as all layers, plus the space
                // of White's rows for one number of black stones.
                false => needs.disk_peak.max(needs.disk + u128::from(figures.white_bytes)),
            };
            slices = Some(figures);
        }
    }
    let index = &directory.index;
    let plan = Plan {
        coverage,
        method,
        directory: directory.path.clone(),
        finished,
        positions: (0..=max_stones).map(|n| 2 * index.layer_positions(n)).sum(),
        stored_positions: needs.stored,
        memory_bytes: saturated(needs.memory),
        memory_limit,
        disk_bytes: saturated(needs.disk),
        disk_peak_bytes: saturated(needs.disk_peak),
        slices,
        disk_limit,
        seconds: needs.seconds,
        threads,
    };
    let Some(resource) = lacking(&needs).filter(|_| !finished) else { return Ok(plan) };
    let begun = match method {
        Method::Sliced if begun_slices.is_some() => Some((directory.tasks(), "slices of rows")),
        Method::Swept if in_memory && !reachable => Some((plan.directory.clone(), "bands of rows")),
        _ => None,
    };
    if let (Some((path, rows)), Resource::Memory, Some(have)) = (begun, resource, memory_limit)
        && metric == Metric::Outcome
        // This error advises the user to begin again, so it is returned only if a new build in small slices
        // would fit.
        && estimate::least_sliced_memory(index, threads) <= u128::from(have)
    {
        return Err(BuildError::Begun { path, rows, need: plan.memory_bytes, have });
    }
    let mut fewer = (0..if reachable { 0 } else { max_stones }).rev();
    let fits =
        fewer.find(|&stones| lacking(&estimate::ranked(index, metric, stones, threads)).is_none());
    Err(plan.misfit(resource, fits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn options(max_stones: Option<u32>, memory_bytes: Option<u64>) -> BuildOptions {
        let out = std::env::temp_dir().join("konane-plan-that-writes-nothing");
        BuildOptions { max_stones, memory_bytes, ..BuildOptions::complete(out) }
    }

    fn board(size: &str) -> Board {
        Board::new(size.parse().unwrap())
    }

    #[test]
    fn numbers_of_positions() {
        let planned = plan(&board("4x4"), &options(None, None)).unwrap();
        assert_eq!(planned.positions, 2 << 16);
        assert_eq!(planned.coverage.max_stones, 16);
        assert!(planned.directory.ends_with("4x4-complete"));
        assert!(planned.stored_positions >= planned.positions / 8);
        assert!(planned.stored_positions < planned.positions / 5);
        // A limit above the number of squares is the same as no limit.
        let more = plan(&board("4x4"), &options(Some(40), None)).unwrap();
        assert_eq!((more.coverage.max_stones, more.directory), (16, planned.directory));
        // The empty board, and one stone on any of the 49 squares, each with either side to move.
        let one = plan(&board("7x7"), &options(Some(1), None)).unwrap();
        assert_eq!(one.positions, 2 + 2 * 49);
        assert!(one.directory.ends_with("7x7-stones1"));
    }

    #[test]
    fn errors_state_the_number_of_stones_that_fits() {
        let limit = 1 << 30;
        let BuildError::DoesNotFit(misfit) =
            plan(&board("8x8"), &options(Some(14), Some(limit))).unwrap_err()
        else {
            panic!("another error");
        };
        assert_eq!((misfit.resource, misfit.have), (Resource::Memory, limit));
        assert!(misfit.memory_bytes > limit);
        let fits = misfit.fits.expect("some number of stones fits");
        // This number fits, and one more does not.
        assert!(plan(&board("8x8"), &options(Some(fits), Some(limit))).is_ok());
        assert!(plan(&board("8x8"), &options(Some(fits + 1), Some(limit))).is_err());
        // The whole board exceeds all memory; the text does not overflow.
        let error = plan(&board("8x8"), &options(None, Some(limit))).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("the complete 8x8 board needs "), "{text}");
        assert!(text.contains(", but only 1 GiB of memory may be used: "), "{text}");
        assert!(text.contains(&format!("with up to {fits} stones it would fit")), "{text}");
        let error = plan(&board("8x8"), &options(Some(3), Some(1 << 20))).unwrap_err();
        assert!(error.to_string().ends_with("no number of stones would fit"), "{error}");
    }

    /// The memory of batches and writers is limited by the number of rows of the board.
    #[test]
    fn small_boards_need_little_memory() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for (size, scope, metric, mebibytes) in [
            ("4x4", Scope::Reachable, Metric::Outcome, 70),
            ("1x28", Scope::Complete, Metric::Outcome, 110),
            ("5x6", Scope::Complete, Metric::Outcome, 130),
            ("5x6", Scope::Complete, Metric::Remoteness, 300),
        ] {
            let options = BuildOptions { scope, metric, ..options(None, Some(mebibytes << 20)) };
            let planned = pool.install(|| plan(&board(size), &options)).unwrap();
            assert!(planned.method != Method::Sliced && planned.memory_bytes > 64 << 20, "{size}");
        }
    }

    #[test]
    fn the_remedy_is_for_the_lacking_resource() {
        let mut reachable = options(None, Some(1 << 20));
        reachable.scope = Scope::Reachable;
        let BuildError::DoesNotFit(mut misfit) = plan(&board("4x4"), &reachable).unwrap_err()
        else {
            panic!("another error");
        };
        let text = |misfit: &Misfit| BuildError::DoesNotFit(Box::new(misfit.clone())).to_string();
        assert!(text(&misfit).ends_with("scope complete needs less memory"), "{}", text(&misfit));
        misfit.resource = Resource::Disk;
        assert_eq!(BuildError::DoesNotFit(misfit.clone()).kind(), ErrorKind::Limit);
        assert!(text(&misfit).ends_with("choose another disk"), "{}", text(&misfit));
    }

    #[test]
    fn reachable_positions_have_no_limit_of_stones() {
        let mut options = options(Some(4), None);
        options.scope = Scope::Reachable;
        let error = plan(&board("6x6"), &options).unwrap_err();
        assert!(matches!(error, BuildError::ReachableWithMaxStones), "{error}");
    }
}
