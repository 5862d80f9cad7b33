//! Impartial games: sums of parts under normal play.

pub mod game;
