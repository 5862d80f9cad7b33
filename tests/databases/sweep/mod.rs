//! The bit-parallel sweep and the state space against plain recursion and published tables.

mod builds;
mod row_ops;
mod statespace;
mod values;
