//! Proofs: collected, written, read, checked and played, each against something plain.

mod boards;
mod certificates;
mod changes;
mod cli;
mod damage;
mod plain;
mod play;
mod rules;
