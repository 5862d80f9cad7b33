//! Tablebases: files that store the value of every position of a board, of every position up to a number of
//! stones, or of every position that a game can reach. Texts for users call a tablebase a *database*.
//!
//! A position is a black pattern (the occupied black squares), a white pattern and the side to move.
//!
//! ```text
//!  index ◀── values ◀── builder ─▶ files ─▶ DIRECTORY ─▶ database ◀── probe, known
//!                                                          ▲
//!                                                        verify
//! ```
//!
//! # Overview of functions and types
//!
//! - [`plan()`] estimates the memory, disk space and time of a build, [`build()`] runs it. [`BuildTask`]
//!   and [`DistributedBuild`] split a build for several machines.
//! - [`Database`] opens a database and looks positions up. [`probe()`] looks up a position and the positions
//!   after its moves. [`DatabaseValues`] makes the values available to a search.
//! - [`verify()`] checks the files of a database and, on request, every value.
//! - [`statespace()`] counts the positions that games reach, ply by ply.
//! - [`classes::count_classes`] counts all positions of a board by outcome class.
//! - [`PositionCounts`] and [`Histogram`] are statistics of a database. Its [`Manifest`] contains them.
//!
//! The module `index` computes addresses of positions, `values` computes values in memory, and `files` reads
//! and writes layers and manifests. `db/FORMAT.md` specifies the files.

mod builder;
mod database;
pub(crate) mod files;
pub(crate) mod index;
mod known;
mod probe;
#[cfg(test)]
mod tests;
pub(crate) mod values;
mod verify;

pub use builder::{
    BuildError, BuildObserver, BuildOptions, BuildSummary, BuildTask, DistributedBuild, Method,
    Misfit, Plan, Resource, SliceFigures, Stage, TaskProduct, TaskReport, build, plan,
};
pub use database::{Database, DatabaseOptions, ListedDatabase};
pub use files::{
    Coverage, DatabaseError, Histogram, Manifest, ManifestLayer, Metric, PositionCounts, Scope,
};
pub use known::DatabaseValues;
pub use probe::{PerfectGame, Probe, RatedMove, perfect_game, probe};
pub use values::{classes, statespace};
pub use verify::{VerifiedDatabase, deep_memory, verify};
