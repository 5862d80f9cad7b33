//! Searches of impartial games against plain recursion, on games with known Grundy numbers and on
//! random ones.

mod agreement;
mod known_games;
mod limits;
mod sprouts;
mod twin;
