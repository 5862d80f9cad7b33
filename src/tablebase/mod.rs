//! Tablebases: the values of all positions of a board, of all with few stones, or of all that games reach, in
//! files with checksums. User-visible texts call a tablebase a database.
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
//! - [`plan()`] computes the memory, disk space and time of a build, and [`build()`] runs it. [`BuildTask`] and
//!   [`DistributedBuild`] split a build for several machines.
//! - [`Database`] opens a database and looks positions up. [`probe()`] adds the moves, and
//!   [`DatabaseValues`] makes the values available to a search.
//! - [`verify()`] checks a database, on request value by value.
//! - [`statespace()`] counts the positions that games reach, ply by ply.
//! - [`PositionCounts`] and [`Histogram`] are statistics of a database, in its [`Manifest`].
//!
//! `index` computes the addresses of positions. `values` computes values in memory, by three methods. `files`
//! reads and writes the layers and the manifest. `db/FORMAT.md` specifies the files.

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
pub use values::statespace;
pub use verify::{VerifiedDatabase, deep_memory, verify};
