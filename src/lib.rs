//! Konane.
pub mod konane;
pub mod search;
