//! A search of Sprouts in several processes: a coordinator, and workers with their own tables.
//!
//! [`ClusterSearch`] describes the search and [`Checkpoint`] its file. [`coordinate`] runs the coordinator
//! and returns a [`ClusterSolution`], [`work`] runs a worker, and [`ClusterError`] is the error of both.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pn_search::ErrorKind;
use pn_search::cluster::{CoordinatorConfig, RemoteCoordinator, RemoteWorker, WireWorker};
use pn_search::run::{Limits, Observer, Report};
use pn_search::sums::game::GameFull;
use pn_search::sums::{Contradiction, SearchOptions, SolverState, Sum, SumWorker, coordinate_sum};
use pn_search::table::TableError;
use xxhash_rust::xxh3::xxh3_64;

use super::grundy_file::{GrundyFile, GrundyFileError, GrundyFileObserver, GrundyFileUse};
use super::{MAX_NIMBER, Position, Scratch, Sprouts};

/// Description of a search. All fields except `memory_bytes`, `threads` and `shared_work` must be the same in
/// all processes.
#[derive(Clone, Copy, Debug)]
pub struct ClusterSearch<'p> {
    /// The position.
    pub position: &'p Position,
    /// Size of the nim heap added to the position.
    pub nimber: u32,
    /// Parameters of df-pn.
    pub options: SearchOptions,
    /// Memory for the table, positions, moves and Grundy numbers together, in bytes. Each thread needs about
    /// 2 MiB more.
    pub memory_bytes: u64,
    /// Number of threads of a worker. The coordinator has one thread.
    pub threads: NonZeroUsize,
    /// Minimum number of expansions for a Grundy number that a worker sends to the others.
    pub shared_work: u64,
}

/// Default of [`ClusterSearch::shared_work`]. Of the Grundy numbers of 0*24, 45 % take fewer expansions, and 5 % of all
/// expansions together.
pub const SHARED_WORK: u64 = 8;

/// Checkpoint of a search: a file of Grundy numbers ([`konane_base::record_file`]).
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'p> {
    /// The file.
    pub path: &'p Path,
    /// True to continue the search that wrote the file, which must exist; false to start a new search that
    /// creates the file, which must not exist.
    pub resume: bool,
}

impl Checkpoint<'_> {
    fn check(self) -> Result<(), ClusterError> {
        let path = self.path.to_owned();
        match (path.exists(), self.resume) {
            (true, false) => Err(ClusterError::Exists { path }),
            (false, true) => Err(ClusterError::Missing { path }),
            _ => Ok(()),
        }
    }
}

/// Error that prevents the start of a coordinator or a worker.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// There is not enough memory for the position.
    #[error(transparent)]
    Full(#[from] GameFull),
    /// There is not enough memory for a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The file of Grundy numbers cannot be used.
    #[error(transparent)]
    Numbers(#[from] GrundyFileError),
    /// The file exists, and a new search would add its Grundy numbers to those of an earlier search.
    #[error("{} exists: continue its search with resume, or choose another file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file of the search to be continued does not exist.
    #[error("{} does not exist: start a new search without resume", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The nim heap is too large.
    #[error("a nim heap of {0} is too large: the maximum is {MAX_NIMBER}")]
    Heap(u32),
}

impl ClusterError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            ClusterError::Full(error) => error.kind(),
            ClusterError::Table(error) => error.kind(),
            ClusterError::Numbers(error) => error.kind(),
            ClusterError::Exists { .. } | ClusterError::Heap(_) => ErrorKind::Usage,
            ClusterError::Missing { .. } => ErrorKind::File,
        }
    }
}

/// Result of a coordinated search.
#[derive(Debug)]
pub struct ClusterSolution {
    /// The outcome for the player to move, the root's φ and δ, and the counters of all workers.
    pub report: Report,
    /// Canonical text of the position.
    pub canonical: String,
    /// The contradictory Grundy numbers, if a contradiction ended the search.
    pub contradiction: Option<Contradiction>,
    /// Number of lands in the coordinator's memory at the end.
    pub lands: u32,
    /// Result of writing the checkpoint; `None` without a checkpoint.
    pub numbers: Option<Result<GrundyFileUse, GrundyFileError>>,
}

/// Coordinates a search with workers in other processes. The workers must run [`work`] for the same position
/// with the same options.
///
/// `run` transports the messages. It returns when [`RemoteCoordinator::status`] shows that the search is
/// over. If it returns earlier, the search is interrupted. `run` is responsible for all limits except the
/// number of nodes, which is part of `config`. The budgets of jobs are numbers of nodes too. Grundy numbers
/// from workers are added to the checkpoint. Workers share those that took at least
/// [`ClusterSearch::shared_work`] expansions and those of their jobs' lands; the coordinator forwards these.
///
/// Grundy numbers in the checkpoint and from workers are trusted. If two Grundy numbers contradict each
/// other, the search ends without a result, and the reason is [`Reason::Contradiction`](pn_search::run::Reason::Contradiction). If the
/// checkpoint cannot be written, the reason is [`Reason::FileError`](pn_search::run::Reason::FileError).
///
/// # Errors
/// [`ClusterError`] before the search begins. Later errors of the checkpoint are part of the solution.
pub fn coordinate(
    search: ClusterSearch<'_>,
    config: CoordinatorConfig,
    checkpoint: Option<Checkpoint<'_>>,
    observer: &mut dyn Observer,
    run: impl FnOnce(&mut dyn RemoteCoordinator),
) -> Result<ClusterSolution, ClusterError> {
    checkpoint.map_or(Ok(()), Checkpoint::check)?;
    let game = Sprouts::new(search.memory_bytes);
    let (root, canonical, number) = search.root(&game)?;
    let state = SolverState::new(Arc::new(game), search.memory_bytes)?;
    let game = state.game();
    let open = |Checkpoint { path, .. }| GrundyFile::open(path, game, state.knowledge());
    let mut file = checkpoint.map(open).transpose()?;
    let mut writing = GrundyFileObserver { game, file: file.as_mut(), observer };
    let (report, contradiction) =
        coordinate_sum(&state, &root, search.options, config, number, &mut writing, run);
    let numbers = file.map(GrundyFile::close);
    Ok(ClusterSolution { report, canonical, contradiction, lands: game.lands(), numbers })
}

/// Runs a worker for a coordinator in another process until `run` returns. `run` passes jobs to the worker,
/// and the worker's results to the coordinator. `limits` apply to every job, in addition to its budget.
///
/// # Errors
/// [`ClusterError`] if there is not enough memory.
pub fn work<T>(
    search: ClusterSearch<'_>,
    limits: Limits<'_>,
    run: impl FnOnce(&dyn RemoteWorker) -> T,
) -> Result<T, ClusterError> {
    let game = Sprouts::new(search.memory_bytes);
    let (_, _, number) = search.root(&game)?;
    let state = SolverState::new(Arc::new(game), search.memory_bytes)?;
    let ClusterSearch { options, threads, shared_work, .. } = search;
    let worker = SumWorker::new(state, options, threads, shared_work);
    Ok(run(&WireWorker::new(worker, number, limits)))
}

impl ClusterSearch<'_> {
    /// Returns the root, its canonical text, and the number that distinguishes the messages of this search
    /// from those of other searches.
    fn root(&self, game: &Sprouts) -> Result<(Sum, String, u64), ClusterError> {
        let &ClusterSearch { position, nimber, options, .. } = self;
        if nimber > MAX_NIMBER {
            return Err(ClusterError::Heap(nimber));
        }
        let atoms = game.atoms(position, &mut Scratch::default())?;
        let canonical = game.text(&atoms);
        let number = xxh3_64(format!("sprouts/{canonical}/{nimber}/{options:?}").as_bytes());
        Ok((Sum::new(game, &atoms, nimber), canonical, number))
    }
}
