//! Proofs: collected, written, read, and checked, each against something plain.

mod alone;
mod boards;
mod certificates;
mod changes;
mod damage;
mod plain;
mod rules;
mod samples;
