//! Building a database.
//!
//! ```text
//! plan ──▶ workspace (locked, cleaned) ──▶ rows or layers 0, 1, 2, … ──▶ layers ──▶ manifest
//!                                            │  ▲
//!                         values of blocks ──┘  └── blocks of earlier rows or layers
//! ```
//!
//! # Overview of types
//!
//! - [`BuildOptions`] states the database: scope, metric, number of stones, memory.
//! - [`Plan`] is an estimate of memory, disk and time. [`plan()`] refuses a build that does not fit
//!   before anything is written.
//! - [`BuildObserver`] receives progress.
//! - [`BuildSummary`] describes the finished database.
//! - [`Task`] is a piece of a build in slices, for little memory or for several machines, and
//!   [`TaskBuild`] states which tasks are left.
//!
//! The directory is the only state of a build (`workspace`). An interrupted build continues from the
//! layers and parts in it, after checking them.

mod error;
mod estimate;
mod monitor;
mod plan;
mod ranked;
mod sweep;
mod tasks;
mod workspace;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::Serialize;

pub use error::{BuildError, Misfit, PlanError};
pub use estimate::SliceFigures;
pub(super) use monitor::BuildMonitor;
pub use monitor::{BuildObserver, Stage};
pub use plan::{BuildOptions, Method, Plan, Resource, plan};
pub use tasks::{Task, TaskBuild, TaskReport, Work};

use crate::konane::{Board, Dimensions};
use crate::system::peak_memory;
use crate::tablebase::database::{Database, DatabaseOptions};
use crate::tablebase::files::{Histogram, Manifest, Metric, Scope};

/// Result of a build.
#[derive(Clone, Debug, Serialize)]
pub struct BuildSummary {
    /// The board.
    #[serde(rename = "board")]
    pub dimensions: Dimensions,
    /// Positions covered: all, or those reachable from the start.
    pub scope: Scope,
    /// Value stored for each position.
    pub metric: Metric,
    /// Maximum number of stones covered.
    pub max_stones: u32,
    /// Number of positions covered: sets of stones, with either side to move.
    pub positions: u64,
    /// Number of positions with Black to move that Black wins.
    pub black_to_move_wins: u64,
    /// Number of positions with White to move that White wins.
    pub white_to_move_wins: u64,
    /// Number of positions by remoteness, if the metric is remoteness.
    pub histogram: Option<Histogram>,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Wall-clock time of this run in seconds, earlier interrupted runs not included.
    pub seconds: f64,
    /// Peak memory of the process; `None` if the system does not report it.
    #[serde(skip)]
    pub peak_memory_bytes: Option<u64>,
    /// Number of layers that an earlier run had finished: all of them if the database existed.
    pub layers_found: u32,
}

/// Builds the planned database, or the missing part of it. Runs on the rayon pool it is called in.
///
/// # Errors
/// See [`BuildError`]. Finished files stay in the directory, and the next call continues from them.
pub fn build(
    board: &Board,
    plan: &Plan,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<BuildSummary, BuildError> {
    assert_eq!(board.dimensions(), plan.dimensions, "the board of the plan");
    let started = Instant::now();
    observer.planned(plan);
    let workspace = plan.workspace();
    let lock = workspace.lock(observer)?;
    let (manifest, layers_found) = if workspace.is_finished() {
        let database = Database::open(&plan.directory, DatabaseOptions { cache_bytes: 1 << 20 })?;
        let manifest = database.manifest().clone();
        let layers = manifest.layers.len() as u32;
        // Each is the one that the manifest means.
        for stones in 0..layers {
            database.layer(stones)?;
        }
        (manifest, layers)
    } else {
        observer.stage(Stage::Resuming);
        let monitor = BuildMonitor::new(observer, stop, 0);
        let mut found = 0;
        for stones in 0..=plan.max_stones {
            monitor.check()?;
            found += u32::from(workspace.find_layer(stones, &monitor)?.is_some());
        }
        match plan.method {
            Method::Ranked => ranked::RankedBuild::new(&workspace, observer, stop).run()?,
            Method::Swept | Method::Sliced | Method::Reached => {
                tasks::run_all(&workspace, observer, stop)?;
            }
        }
        (workspace.finish(&monitor)?, found)
    };
    drop(lock);
    Ok(summary(&manifest, started, layers_found))
}

/// Summary of a build from its manifest.
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
