//! Proofs: collected, written, read, and checked, each against something plain.

mod boards;
mod certificates;
mod changes;
mod format;
mod plain;
mod rules;
mod samples;
