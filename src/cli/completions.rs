//! `konane completions`.

use clap::{Args, Command};

use super::exit::{CliError, Exit};
use super::output;

/// `konane completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Prints a completion script for the program.
pub fn run(args: &CompletionsArgs, mut program: Command) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "konane", &mut script);
    output::write_text(String::from_utf8_lossy(&script))?;
    Ok(Exit::Answered)
}
