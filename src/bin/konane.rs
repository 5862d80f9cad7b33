//! The `konane` program.

use std::process::ExitCode;

use clap::Parser;
use konane::cli::{args::Cli, run};

fn main() -> ExitCode {
    run(&Cli::parse()).into()
}
