//! Strong solutions: the value of every position of a board, or of every position that a game can
//! reach, on disk and checked.
//!
//! A position is a black pattern (which black squares are occupied), a white pattern and the side
//! to move.
//!
//! ```text
//!  index ◀── values ◀── builder ─▶ files ─▶ DIRECTORY ─▶ database ◀── probe, known
//!                                                        ▲
//!                                                      verify
//! ```
//!
//! * `index`: the address of a position, and back;
//! * `values`: who wins, computed in memory by one of three methods;
//! * `files`: the layers and the manifest (the format is specified in `db/FORMAT.md`);
//! * `builder`: [`plan()`] says what a database takes, [`build()`] makes it;
//! * [`Database`] opens one and looks up; [`probe()`] adds the moves, [`DatabaseValues`] gives them
//!   to a search;
//! * [`verify()`] checks one, on request value by value.

mod builder;
mod database;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod index;
mod known;
mod probe;
#[doc(hidden)]
pub mod values;
mod verify;

pub use builder::{
    BuildError, BuildObserver, BuildOptions, BuildSummary, Method, Misfit, Plan, PlanError,
    Resource, Stage, Task, TaskBuild, TaskError, TaskFigures, TaskOptions, TaskPlan, TaskReport,
    Work, build, plan,
};
pub use database::{Coverage, Database, DatabaseOptions, Listed};
pub use files::{
    Counts, DatabaseError, Histogram, LayerSummary, Manifest, ManifestLayer, Metric, Scope,
};
pub use index::Address;
pub use known::DatabaseValues;
pub use probe::{PerfectGame, Probe, RatedMove, perfect_game, probe};
pub use values::statespace;
pub use verify::{VerifyError, VerifyReport, deep_memory, verify};
