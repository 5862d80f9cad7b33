//! Sprouts: text, canonical forms and moves, against slow twins and published tables.

mod analysis;
mod canonical;
mod cluster;
mod common;
mod counts;
mod moves;
mod notation;
mod numbers;
mod reference;
