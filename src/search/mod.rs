//! Search.
pub mod game;
pub mod numbers;
