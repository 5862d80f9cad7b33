//! Building a database: from a plan to checked files.
//!
//! ```text
//! plan ─▶ workspace (locked, cleaned) ─▶ layers 0, 1, 2 .. ─▶ manifest
//!                                          │  ▲
//!                     values of a block ───┘  └── blocks of the layers before, read back
//! ```
//!
//! In comes a board and what is wanted of it, out go the files of a database. [`plan()`] says first
//! what that takes and whether it fits. There are four ways: `ranked` goes by layers of stones,
//! `swept` and `reached` by black stones, whose rows `parts` takes apart. What these have
//! finished is in the `workspace`: layers, and a file for each block of those that are not whole
//! yet. They check what they find there, and go on from it. `tasks` cuts
//! the work of `swept` into pieces for little memory or for many machines.

mod costs;
mod error;
mod estimate;
mod observer;
mod parts;
mod plan;
mod ranked;
mod reached;
mod swept;
mod tasks;
mod workspace;

pub use error::BuildError;
pub use estimate::plan;
pub(super) use observer::Outside;
pub use observer::{BuildObserver, Stage};
pub use plan::{BuildOptions, Method, Misfit, Plan, PlanError, Resource};
pub use tasks::{Task, TaskBuild, TaskError, TaskFigures, TaskOptions, TaskPlan, TaskReport, Work};

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ranked::Ranked;
use reached::Reached;
use swept::Swept;
use workspace::Workspace;

use crate::konane::{Board, Dimensions};
use crate::system::peak_memory;
use crate::tablebase::database::{Database, DatabaseOptions};
use crate::tablebase::files::{Histogram, LayerFile, Manifest, ManifestLayer, Metric, Scope};
use crate::tablebase::index::Index;

/// What a build leaves.
#[derive(Clone, Debug)]
pub struct BuildSummary {
    /// The board.
    pub dimensions: Dimensions,
    /// Which positions.
    pub scope: Scope,
    /// What is said of each of them.
    pub metric: Metric,
    /// The layers: up to this number of stones.
    pub max_stones: u32,
    /// Positions whose value is known: sets of stones, with either side to move.
    pub positions: u64,
    /// Those with Black to move that Black wins.
    pub black_to_move_wins: u64,
    /// Those with White to move that White wins.
    pub white_to_move_wins: u64,
    /// With the remoteness: how many of the positions have which.
    pub histogram: Option<Histogram>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Wall-clock time of this run.
    pub seconds: f64,
    /// The most memory that the process has had; `None` where the system
    /// does not say.
    pub peak_memory_bytes: Option<u64>,
    /// Layers that an earlier run had finished: all of them if the database was there already.
    pub layers_found: u32,
}

/// Builds what was planned, or what is missing of it. Runs on the rayon pool it is called in.
///
/// # Errors
/// See [`BuildError`]. Everything finished until then stays in the directory, and the next call
/// goes on from there.
pub fn build(
    board: &Board,
    plan: &Plan,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<BuildSummary, BuildError> {
    let started = Instant::now();
    observer.planned(plan);
    let index = Index::new(board.clone(), plan.scope.exchanges());
    let holds = (plan.scope, plan.metric);
    let (directory, max_stones) = (&plan.directory, plan.max_stones);
    let workspace = Workspace::open(&index, directory, holds, max_stones, observer, stop)?;
    let (manifest, layers_found) = if workspace.is_finished() {
        let database = Database::open(&plan.directory, DatabaseOptions { cache_bytes: 1 << 20 })?;
        let manifest = database.manifest().clone();
        let layers = manifest.layers.len() as u32;
        // Each is the one that the manifest means.
        for stones in 0..layers {
            database.layer(stones)?;
        }
        (manifest, layers)
    } else if plan.method == Method::Sliced {
        (tasks::build_here(board, plan, observer, stop)?, 0)
    } else {
        let (layers, found) = match plan.method {
            Method::Ranked => {
                Ranked::new(&index, &workspace, plan.max_stones, observer, stop).run()?
            }
            Method::Swept => Swept::new(&index, &workspace, plan.metric, observer, stop)?.run()?,
            Method::Reached => Reached::new(&index, &workspace, observer, stop)?.run()?,
            Method::Sliced => unreachable!("done above"),
        };
        let histogram = match plan.metric {
            Metric::Outcome => None,
            Metric::Remoteness => Some(histogram(&index, &workspace, &layers, observer, stop)?),
        };
        let (dimensions, scope) = (plan.dimensions, plan.scope);
        let version = plan.metric.format_version();
        let manifest = Manifest { version, dimensions, scope, layers, histogram };
        manifest.write(&plan.directory)?;
        (manifest, found)
    };
    drop(workspace);
    Ok(summary(&manifest, started, layers_found))
}

/// Counts the lengths of games in finished layers.
fn histogram(
    index: &Index,
    workspace: &Workspace<'_>,
    layers: &[ManifestLayer],
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<Histogram, BuildError> {
    let mut histogram = Histogram::default();
    for &ManifestLayer { stones, .. } in layers {
        observer.stage(Stage::Counting { stones });
        let file = LayerFile::open(&workspace.layer_path(stones))?;
        histogram.add(&Histogram::of_layer(index, &file, stop)?);
    }
    Ok(histogram)
}

/// What a build leaves, from its manifest.
fn summary(manifest: &Manifest, started: Instant, layers_found: u32) -> BuildSummary {
    let total = manifest.total().expect("numbers that the manifest could be written with");
    BuildSummary {
        dimensions: manifest.dimensions,
        scope: manifest.scope,
        metric: manifest.metric(),
        max_stones: manifest.max_stones(),
        positions: total.positions,
        black_to_move_wins: total.black_to_move_wins,
        white_to_move_wins: total.white_to_move_wins,
        histogram: manifest.histogram.clone(),
        bytes: manifest.layers.iter().map(|layer| layer.bytes).sum(),
        seconds: started.elapsed().as_secs_f64(),
        peak_memory_bytes: peak_memory(),
        layers_found,
    }
}
