//! Proofs: collected, written, read, and checked, each against something plain.

mod alone;
mod boards;
mod certificates;
mod changes;
mod damage;
#[allow(dead_code, reason = "not every room uses everything")]
#[path = "../oracles/mod.rs"]
mod oracles;
mod plain;
mod rules;
mod samples;
