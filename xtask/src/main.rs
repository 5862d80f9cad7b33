//! Developer commands: `cargo xtask measure|pages|reproduce|release|simulate|fit|fit-patterns`.

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};

mod fit;
mod fit_patterns;
mod measure;
mod simulate;

type DeveloperError = Box<dyn Error>;

/// Root directory of the sources.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer commands of konane")]
struct Xtask {
    #[command(subcommand)]
    command: DeveloperCommand,
}

#[derive(Subcommand)]
enum DeveloperCommand {
    /// Run the program and append records to docs/benchmarks, then write the pages
    Measure(measure::MeasureArgs),
    /// Write the pages and figures of docs (xtask/pages.py)
    Pages {
        /// Arguments of the script; --help lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Reproduce the tables and figures of the papers (papers/reproduce.py)
    #[command(disable_help_flag = true)]
    Reproduce {
        /// Arguments of the script; --help lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Make the files of a release, or test them (xtask/release.py)
    #[command(disable_help_flag = true)]
    Release {
        /// Arguments of the script; --help lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Simulate a search on many machines on a virtual clock
    #[command(subcommand)]
    Simulate(simulate::Simulate),
    /// Fit the Grundy number model of Sprouts, and print its weights
    Fit {
        /// Files of Grundy numbers
        #[arg(required = true, value_name = "FILE.spr")]
        files: Vec<PathBuf>,
    },
    /// Fit the local patterns of Konane to solved positions, and write their weights
    FitPatterns(fit_patterns::FitPatternsArgs),
}

fn main() -> ExitCode {
    let done = match Xtask::parse().command {
        DeveloperCommand::Measure(args) => measure::run(&args),
        DeveloperCommand::Pages { args } => pages(&args),
        DeveloperCommand::Reproduce { args } => script("papers/reproduce.py", &args),
        DeveloperCommand::Release { args } => script("xtask/release.py", &args),
        DeveloperCommand::Simulate(game) => game.run(),
        DeveloperCommand::Fit { files } => fit::run(&files),
        DeveloperCommand::FitPatterns(args) => fit_patterns::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the script that writes the pages.
fn pages(args: &[String]) -> Result<(), DeveloperError> {
    script("xtask/pages.py", args)
}

/// Runs a script of the repository. It finds this program in the environment variable `XTASK`.
fn script(path: &str, args: &[String]) -> Result<(), DeveloperError> {
    let mut command = Command::new("python3");
    command.arg(PathBuf::from(ROOT).join(path)).args(args);
    let status = command.env("XTASK", std::env::current_exe()?).status();
    match status.map_err(|error| format!("python3: {error}; install Python 3.10"))?.success() {
        true => Ok(()),
        false => Err(format!("{path} failed").into()),
    }
}
