//! The game of Konane: boards of up to 64 squares, positions, moves, symmetries and text, and the
//! [`Solver`], which searches for the winner of a position.
//!
//! ```text
//! geometry ◀─ symmetry ◀─ board ◀─ position ◀─ moves ◀─ code ◀─ notation ◀─ record
//!                                                         ▲
//!        perft ─▶ kernels ◀─ game (for the search) ◀─ profile ◀─ solve ◀─ checkpoint
//!                                                  root_moves ◀───┘
//! ```
//!
//! * [`Dimensions`], [`Board`]: the size of a board; its precomputed masks and symmetries.
//! * [`Square`], [`Colour`], [`Move`], [`Phase`]: parts of positions and games.
//! * [`Position`]: occupied squares and side to move; [`Setup`]: stones and a side to move that have not been checked.
//! * [`record::Record`]: a game with headers and comments.
//! * [`Perft`]: counts of move sequences; [`konane_complexity`]: an estimate of the number of games.
//! * [`Solver`], [`SolveOptions`], [`Profile`], [`Algorithm`]: a search and its parameters.
//! * [`Solution`], [`SearchTable`]: the result of a search, and the table after it.
//! * [`value`]: values of positions as combinatorial games.
//! * [`RootMove`]: proof and disproof number of a move of the root while a search runs.

pub mod board;
pub mod checkpoint;
mod cluster;
pub mod code;
mod complexity;
pub mod draw;
pub mod game;
pub mod geometry;
pub mod kernels;
pub mod moves;
pub mod notation;
pub mod patterns;
pub mod perft;
pub mod position;
pub mod profile;
pub mod record;
pub mod root_moves;
pub mod solve;
mod square;
pub mod symmetry;
pub mod value;
pub mod zobrist;

pub use board::{Board, Rules};
pub use complexity::konane_complexity;
pub(crate) use geometry::Direction;
pub use geometry::{Colour, Dimensions, DimensionsError};
pub use moves::Move;
pub use perft::{Perft, PerftError};
pub use position::{Phase, PhaseChoice, PhaseError, Position, Setup, SetupError};
pub use profile::{Overrides, Profile};
pub use root_moves::RootMove;
pub use solve::{
    Algorithm, AlgorithmError, MIN_MEMORY, SearchTable, Solution, SolveError, SolveOptions, Solver,
};
pub use square::Square;
pub use symmetry::{Symmetry, SymmetryError};
