//! Sprouts: text, canonical forms and moves, against slow twins and published tables.

mod canonical;
mod common;
mod counts;
mod moves;
mod notation;
mod numbers;
mod program;
mod twin;
