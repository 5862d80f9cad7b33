//! Building a database.
//!
//! ```text
//! build ─▶ plan ─▶ estimate ─▶ tasks ─▶ directory (locked, cleaned) ─▶ DIRECTORY
//!   │                                        ▲
//!   └──▶ ranked, sweep ────▶ layers ─────────┘
//! ```
//!
//! # Overview of types
//!
//! - [`BuildOptions`] states the database: scope, metric, number of stones, memory.
//! - [`Plan`] is an estimate of memory, disk and time. [`plan()`] refuses a build that does not fit
//!   before anything is written.
//! - [`build()`] runs a plan. [`BuildObserver`] receives its progress, and [`BuildSummary`] describes the
//!   finished database.
//! - [`BuildTask`] is a piece of a build in slices, for little memory or for several machines.
//!   [`DistributedBuild`] lists the tasks that are left.
//!
//! The directory is the only state of a build. An interrupted build checks the layers and parts in the
//! directory, and continues from them.

mod build;
mod directory;
mod error;
mod estimate;
mod layers;
mod monitor;
mod plan;
mod ranked;
mod slices;
mod sweep;
mod tasks;

pub use build::{BuildSummary, DistributedBuild, TaskReport, build};
pub use error::{BuildError, Misfit, Resource};
pub use estimate::SliceFigures;
pub(super) use monitor::BuildMonitor;
pub use monitor::{BuildObserver, Stage};
pub use plan::{BuildOptions, Method, Plan, plan};
pub use slices::{BuildTask, TaskProduct};
