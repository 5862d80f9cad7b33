//! Databases: their files, how they are built, the values in them, and searches that use them.

mod build;
mod files;
#[allow(dead_code, reason = "not every room uses everything")]
#[path = "../oracles/random.rs"]
mod random;
mod search;
mod sweep;
