//! Collection, writing, reading and verification of proofs, compared with reference implementations.

mod boards;
mod certificates;
mod changes;
mod format;
mod plain;
mod rules;
mod samples;
mod shipped;
