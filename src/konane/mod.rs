//! The game of Konane: boards of up to 64 squares, positions, moves, symmetries and text; and the
//! [`Solver`], which takes a position to the search and brings the winner back.
//!
//! ```text
//! geometry ◀─ symmetry ◀─ board ◀─ position ◀─ moves ◀─ code ◀─ notation ◀─ record
//!                                                         ▲
//!      perft ─▶ kernels ◀─ game (what a search sees) ◀─ profile ◀─ solve ◀─ checkpoint
//!                                     watch (the root's moves) ◀───┘
//! ```

pub mod board;
pub mod checkpoint;
mod cluster;
pub mod code;
pub mod draw;
pub mod game;
pub mod geometry;
pub mod kernels;
pub mod moves;
pub mod notation;
pub mod perft;
pub mod position;
pub mod profile;
pub mod record;
pub mod solve;
mod square;
pub mod symmetry;
pub mod watch;
pub mod zobrist;

pub use board::Board;
pub(crate) use geometry::Direction;
pub use geometry::{Colour, Dimensions, DimensionsError};
pub use moves::Move;
pub use perft::{Perft, Uncounted};
pub use position::{Phase, PhaseChoice, PhaseError, Position, Setup, SetupError};
pub use profile::Profile;
pub use solve::{
    Algorithm, AlgorithmError, LEAST_MEMORY, SearchTable, Solution, SolveError, SolveOptions,
    Solver,
};
pub use square::Square;
pub use watch::RootMove;
