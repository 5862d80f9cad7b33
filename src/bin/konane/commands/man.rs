//! `konane man`.

use clap::{Args, Command};

use crate::exit::{CliError, Exit};
use crate::output;
use konane::system::quote;

/// `konane man`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane man solve | man -l -\n",
    "  konane man sprouts db import\n"
))]
pub struct ManArgs {
    /// The verb to describe, or a verb below it; without any, the program as a whole.
    #[arg(value_name = "VERB")]
    pub verbs: Vec<String>,
}

/// Prints a manual page of the program or of a subcommand.
pub fn run(args: &ManArgs, program: Command) -> Result<Exit, CliError> {
    // The subcommand `help` has no page.
    let mut command = without_help(program);
    command.build();
    for verb in &args.verbs {
        let Some(found) = command.find_subcommand(verb).cloned() else {
            let verbs: Vec<&str> = command
                .get_subcommands()
                .filter(|command| !command.is_hide_set())
                .map(Command::get_name)
                .collect();
            let verb = quote(verb);
            let verbs = if verbs.is_empty() { "none".to_owned() } else { verbs.join(", ") };
            return Err(CliError::Verb { verb, verbs });
        };
        command = found;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(CliError::Output)?;
    output::write_text(String::from_utf8_lossy(&page))?;
    Ok(Exit::Answered)
}

fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}
