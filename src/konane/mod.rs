//! The game of Konane: boards of up to 64 squares, positions, moves, symmetries and text.

pub mod board;
pub mod checkpoint;
pub mod game;
pub mod kernels;
pub mod moves;
pub mod notation;
pub mod perft;
pub mod position;
pub mod profile;
pub mod solve;
pub mod symmetry;
pub mod zobrist;

pub use board::{Board, Colour, Dimensions, DimensionsError, Direction};
pub use moves::Move;
pub use perft::Perft;
pub use position::{Phase, Position, Setup, SetupError};
pub use profile::Profile;
pub use solve::{
    Algorithm, JobOptions, Solution, SolveError, SolveOptions, Verdict, solve, solve_saving,
    solve_with,
};
