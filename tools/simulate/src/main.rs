//! Searches of many machines on a virtual clock: real searches, a real leader, and costs of messages.
//!
//! ```text
//! cargo run --release -p konane-simulate -- solve 7x7 --machines 16
//! cargo run --release -p konane-simulate -- sprouts '0*14' --machines 4
//! ```

mod costs;
mod flags;
mod pace;
mod record;
mod solve;
mod sprouts;
#[cfg(test)]
mod tests;
mod world;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Searches of many machines on a virtual clock")]
struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Konane: who wins a board.
    Solve(solve::Args),
    /// Sprouts: who wins a position. Time follows from expansions.
    Sprouts(sprouts::Args),
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match Args::parse().verb {
        Verb::Solve(args) => solve::run(&args)?.tell(&args.flags)?,
        Verb::Sprouts(args) => sprouts::run(&args)?.tell(&args.flags)?,
    }
    Ok(())
}
