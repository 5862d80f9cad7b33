//! `konane completions`.

use clap::{Args, Command};

use crate::exit::{CliError, Exit};
use crate::output;

/// `konane completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Prints a completion script for the program.
pub fn run(args: &CompletionsArgs, program: &Command) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    // clap_complete would suggest hidden subcommands.
    let subcommands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let mut shown = Command::new("konane")
        .version(env!("CARGO_PKG_VERSION"))
        .long_about(program.get_long_about().cloned().unwrap_or_default())
        .args(program.get_arguments())
        .subcommands(subcommands);
    clap_complete::generate(args.shell, &mut shown, "konane", &mut script);
    output::write_text(String::from_utf8_lossy(&script))?;
    Ok(Exit::Answered)
}
