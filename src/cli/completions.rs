//! `konane completions` and `konane man`.

use clap::CommandFactory;

use super::CliError;
use super::args::{Cli, CompletionsArgs, ManArgs};
use super::exit::Exit;
use super::output;

/// Prints a completion script.
pub fn completions(args: &CompletionsArgs) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "konane", &mut script);
    output::write_text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Answered)
}

/// Prints a manual page.
pub fn man(args: &ManArgs) -> Result<Exit, CliError> {
    let mut command = Cli::command();
    command.build();
    let command = match &args.verb {
        None => command,
        Some(verb) => {
            let known = |c: &clap::Command| c.get_name() != "help";
            let found = command.find_subcommand(verb).filter(|c| known(c)).cloned();
            let Some(found) = found else {
                let verbs = command.get_subcommands().filter(|c| known(c));
                let verbs: Vec<_> = verbs.map(|c| c.get_name().to_string()).collect();
                return Err(CliError::Verb {
                    verb: verb.chars().take(40).collect(),
                    verbs: verbs.join(", "),
                });
            };
            found
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(CliError::Output)?;
    output::write_text(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Answered)
}
