//! Attacks the program: damaged and forged files, kills and signals, several writers, things that are
//! no files, little memory and disk, random positions and malformed texts.
//!
//! ```text
//! cargo run --release -p konane-attack -- --program target/release/konane
//! ```
//!
//! Everything happens below one temporary folder, which is removed at the end; only processes that were
//! started here are killed, each by its id; device nodes are made in that folder, and only by root.
//! A failure is a panic, an abort, a death by a signal that was not sent, a hang, a wrong answer, exit
//! code 0 with an output that is not whole, or a file that is left over. The tries follow from the
//! seed; where time matters (kills, writers) they need not end alike.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

mod endings;
mod files;
mod formats;
mod memory;
mod places;
mod positions;
mod run;
mod samples;
mod sprouts;

use run::Attack;
use samples::Samples;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Bytes changed, cut off and added, in every kind of file
    Damage,
    /// The same, and absurd numbers, with the right checksums
    Forged,
    /// Killed and interrupted while it writes, then taken up again
    Killed,
    /// Two and three processes with the same output
    Writers,
    /// FIFOs, folders, devices, sockets and links in place of files
    Places,
    /// Files and memory that are limited, folders that are read-only, disks that are full
    Limits,
    /// Address space about the least with which a command works
    MemoryLimits,
    /// Positions of Konane against plain recursion
    Positions,
    /// Texts of both games: respelled, malformed, huge
    Texts,
}

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    /// All if none is given
    kinds: Vec<Kind>,
    /// The program
    #[arg(long, value_name = "FILE", default_value = "target/release/konane")]
    program: PathBuf,
    /// Most tries of each kind
    #[arg(long, value_name = "N", default_value_t = 2000)]
    tries: u32,
    /// Most seconds of each kind
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let program = cli.program.canonicalize().unwrap_or(cli.program);
    let begun = Attack::new(program, cli.seed, cli.tries, cli.seconds)
        .and_then(|attack| Samples::make(&attack).map(|samples| (attack, samples)));
    let (mut attack, samples) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let kinds = if cli.kinds.is_empty() { Kind::value_variants() } else { &cli.kinds };
    for &kind in kinds {
        attack.begin(kind.to_possible_value().expect("no kind is hidden").get_name(), cli.seed);
        match kind {
            Kind::Damage => files::damage(&mut attack, &samples),
            Kind::Forged => files::forged(&mut attack, &samples),
            Kind::Killed => endings::killed(&mut attack),
            Kind::Writers => endings::writers(&mut attack),
            Kind::Places => places::places(&mut attack, &samples),
            Kind::Limits => places::limits(&mut attack, &samples),
            Kind::MemoryLimits => memory::memory_limits(&mut attack, &samples),
            Kind::Positions => positions::positions(&mut attack),
            Kind::Texts => sprouts::texts(&mut attack),
        }
    }
    if attack.print() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
