//! Strong solutions: the value of every position of a board, or of every position that a game can
//! reach, on disk and checked.
//!
//! A position is a black pattern (which black squares are occupied), a white pattern and the side
//! to move. [`numbering`] numbers the squares of each colour, [`rank`] the patterns with a given
//! number of stones (combinadic ranks), [`orbits`] the black patterns up to symmetry; [`index`]
//! joins them into the address of a position.
//!
//! Values come from one of three methods: [`sweep`] treats all white patterns of a black one at
//! once and is the fastest for whole boards, [`ranked`] goes by layers of stones and serves boards
//! of any size up to a number of stones, and [`statespace`] finds what games reach. [`build()`]
//! writes them to files ([`layer_writer`], [`manifest`]; the format is specified in `db/FORMAT.md`),
//! [`Database`] and [`probe()`] read them, [`verify()`] checks them, and [`known`] gives them to the
//! search.

pub mod build;
pub mod build_error;
pub mod counts;
pub mod database;
pub mod error;
pub mod format;
pub mod index;
pub mod jumps;
pub mod known;
pub mod layer_file;
pub mod layer_writer;
pub mod manifest;
mod map;
pub mod numbering;
pub mod observer;
mod octets;
pub mod orbits;
mod parts;
pub mod plan;
pub mod probe;
pub mod rank;
pub mod ranked;
mod reached;
mod recompute;
pub mod resources;
pub mod sizes;
pub mod statespace;
pub mod sweep;
mod swept;
pub mod verify;
pub mod workspace;

pub use build::{BuildSummary, build};
pub use build_error::BuildError;
pub use database::{Coverage, Database, DatabaseOptions, Lookup};
pub use error::DatabaseError;
pub use manifest::{Counts, Manifest};
pub use observer::{BuildObserver, Stage};
pub use plan::{BuildOptions, Plan, PlanError, plan};
pub use probe::{Outcome, Probe, RatedMove, perfect_game, probe};
pub use verify::{VerifyError, VerifyReport, verify};
