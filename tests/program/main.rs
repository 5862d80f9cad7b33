//! End-to-end tests of the program: every subcommand and flag, JSON, exit codes, invalid input,
//! damaged files, limits, signals and kills.

mod analyse;
mod annotate;
mod bench;
mod checkpoints;
mod common;
mod databases;
mod documents;
mod engine;
#[cfg(feature = "explore")]
mod explore;
mod files;
mod golden;
mod hostile_text;
mod limits;
mod outcomes;
mod phase;
mod play;
#[path = "../proofs/samples.rs"]
mod proof_samples;
mod proofs;
#[cfg(unix)]
mod results;
mod robustness;
#[cfg(unix)]
mod signals;
mod solve_perft;
mod sprouts_play;
mod sprouts_search;
mod sprouts_texts;
mod system_limits;
#[cfg(target_os = "linux")]
mod terminal;
mod traces;
