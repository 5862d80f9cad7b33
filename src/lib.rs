//! Konane.
#![deny(unsafe_code)]
pub mod cli;
pub mod konane;
pub mod search;
