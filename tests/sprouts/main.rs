//! Sprouts: text, canonical forms and moves, compared with reference implementations and published tables.

mod analysis;
mod canonical;
mod cluster;
mod common;
mod counts;
mod moves;
mod notation;
mod numbers;
mod reference;
