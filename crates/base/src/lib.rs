//! Common parts of the crates `konane`, `konane-sprouts` and `konane-cgt`. The crate contains no game.
//!
//! | module | contents |
//! |---|---|
//! | [`mod@file`] | files: replaced atomically, locked, opened without blocking |
//! | [`record_file`] | append-only files of records, which survive interrupted writes |
//! | [`system`] | memory, disk and instruction sets of the machine; sizes, durations and counts as text |
//! | [`json`] | serialisation of results |
//! | [`complexity`] | estimates of the sizes of game trees from random games |
//!
//! The crate `konane` re-exports everything that its users need.

#![deny(missing_docs)]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod complexity;
pub mod file;
pub mod json;
pub mod record_file;
pub mod system;
