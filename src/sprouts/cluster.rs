//! One search of Sprouts in several processes: a coordinator, and workers with tables of their own.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::grundy_db::GrundyDbError;
use super::grundy_file::{GrundyFile, GrundyFileError, GrundyFileObserver, GrundyFileUse};
use super::{MAX_NIMBER, Position, Scratch, Sprouts};
use crate::error::ErrorKind;
use crate::search::cluster::{CoordinatorConfig, RemoteCoordinator, RemoteWorker};
use crate::search::run::{Limits, Observer, Report};
use crate::search::sums::game::GameFull;
use crate::search::sums::{
    Contradiction, SearchOptions, SolverState, Sum, SumWorker, coordinate_sum,
};
use crate::search::table::TableError;

/// A search, the same in all processes except for memory and threads.
#[derive(Clone, Copy, Debug)]
pub struct ClusterSearch<'p> {
    /// The position.
    pub position: &'p Position,
    /// The heap beside it.
    pub nimber: u32,
    /// The parameters of df-pn.
    pub options: SearchOptions,
    /// Bytes for positions, moves and numbers together; each thread takes some 2 MiB beside it.
    pub memory_bytes: u64,
    /// Threads of a worker; the coordinator has one.
    pub threads: NonZeroUsize,
}

/// A search's checkpoint: a file of Grundy numbers ([`super::grundy_db`]).
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'p> {
    /// The file.
    pub path: &'p Path,
    /// Whether to go on from it. Then it has to be there; else it must not be there.
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
    /// The position has no room.
    #[error(transparent)]
    Full(#[from] GameFull),
    /// There is no memory for a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The file of Grundy numbers cannot be used.
    #[error(transparent)]
    Numbers(#[from] GrundyFileError),
    /// A new search would add to the numbers of an older one.
    #[error("{} exists: go on from it with resume, or choose another file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// There is no file to go on from.
    #[error("{} is not there: begin a search without resume", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A heap that is too large.
    #[error("a heap of {0} is too large: at most {MAX_NIMBER}")]
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
    /// The outcome for the player to move, the root's numbers, and what all workers have counted.
    pub report: Report,
    /// The position's canonical text.
    pub canonical: String,
    /// Which numbers contradict each other, if that has ended the search.
    pub contradiction: Option<Contradiction>,
    /// Lands in the coordinator's memory at the end.
    pub lands: u32,
    /// What became of the checkpoint, if there is one.
    pub numbers: Option<Result<GrundyFileUse, GrundyDbError>>,
}

/// Coordinates a search with workers in other processes, which have to run [`work`] for the same position with the
/// same options.
///
/// `run` carries the messages and returns when the search is over ([`RemoteCoordinator::status`]), or to
/// interrupt it. Limits are `run`'s to watch, but that of nodes, which is among the rules; so are nodes the
/// budget of a job. What the checkpoint has is taken as known, and every Grundy number that comes in is
/// added to it and goes to all workers.
///
/// Numbers that come from workers are believed. Two that contradict each other end the search without an
/// answer, for [`crate::Reason::Contradiction`]; a file that cannot be written ends it for
/// [`crate::Reason::FileError`].
///
/// # Errors
/// [`ClusterError`] before the search begins. What goes wrong with the file later is in the solution.
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
    let workspace = SolverState::new(&game, search.memory_bytes)?;
    let open = |Checkpoint { path, .. }| GrundyFile::open(path, &game, workspace.knowledge());
    let mut file = checkpoint.map(open).transpose()?;
    let mut writing = GrundyFileObserver { game: &game, file: file.as_mut(), observer };
    let (report, contradiction) =
        coordinate_sum(&workspace, &root, search.options, config, number, &mut writing, run);
    let numbers = file.map(GrundyFile::close);
    Ok(ClusterSolution { report, canonical, contradiction, lands: game.lands(), numbers })
}

/// Works for a coordinator in another process while `run` runs, which brings the jobs and carries the results.
/// `limits` are those of every job, beside its budget.
///
/// # Errors
/// [`ClusterError`] if the memory is too little.
pub fn work<T>(
    search: ClusterSearch<'_>,
    limits: Limits<'_>,
    run: impl FnOnce(&dyn RemoteWorker) -> T,
) -> Result<T, ClusterError> {
    let game = Sprouts::new(search.memory_bytes);
    let (_, _, number) = search.root(&game)?;
    let workspace = SolverState::new(&game, search.memory_bytes)?;
    Ok(run(&SumWorker::new(workspace, search.options, search.threads, number, limits)))
}

impl ClusterSearch<'_> {
    /// Returns the root, its canonical text, and the number that distinguishes the messages of this search from those
    /// of other searches.
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
