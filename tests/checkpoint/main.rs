//! Checkpoints: the file, and the real program that is stopped, killed and taken up again.

mod cli;
mod damage;
#[cfg(unix)]
mod killed;
mod place;
