//! `konane man` and `konane completions`: manual pages and completion scripts, which installers can include.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_complete_nushell::Nushell;
use clap_mangen::Man;

use crate::exit::{CliError, Exit};
use crate::output;
use konane::file::FileError;
use konane::system::quote;

/// `konane man`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane man solve | man -l -\n",
    "  konane man sprouts db import\n",
    "  konane man --out share/man/man1\n"
))]
pub struct ManArgs {
    /// The subcommand to describe, such as `solve` or `sprouts db`; the whole program by default.
    #[arg(value_name = "SUBCOMMAND")]
    pub path: Vec<String>,
    /// Write all pages, of the program and of every subcommand, as files into this directory.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Prints a manual page of the program or of a subcommand, or writes all pages.
pub fn man(args: &ManArgs, program: Command) -> Result<Exit, CliError> {
    // There is no page for the subcommand `help`.
    let mut command = without_help(program);
    command.build();
    if let Some(directory) = &args.out {
        if !args.path.is_empty() {
            let path = quote(&args.path.join(" "));
            return Err(CliError::Usage(format!("--out always writes all pages: omit {path}")));
        }
        if directory.exists() && !directory.is_dir() {
            let directory = directory.display();
            let text = format!("{directory} is a file, not a directory: choose a directory");
            return Err(CliError::Usage(text));
        }
        fs::create_dir_all(directory).map_err(FileError::io("create", directory))?;
        write_pages(&command, directory).map_err(FileError::io("write", directory))?;
        return Ok(Exit::Answered);
    }
    for name in &args.path {
        let Some(found) = command.find_subcommand(name).cloned() else {
            let names: Vec<&str> = command
                .get_subcommands()
                .filter(|command| !command.is_hide_set())
                .map(Command::get_name)
                .collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let name = quote(name);
            let text = format!("{name:?} is not a subcommand: choose one of {names}");
            return Err(CliError::Usage(text));
        };
        command = found;
    }
    let mut page = Vec::new();
    page_of(command).render(&mut page).map_err(CliError::Output)?;
    output::write_text(String::from_utf8_lossy(&page))?;
    Ok(Exit::Answered)
}

/// Date of the release in CITATION.cff. A test compares them.
const RELEASED: &str = "2026-11-27";

/// Returns the page of the program or of a subcommand. Only the program has a version.
fn page_of(command: Command) -> Man {
    Man::new(command).source(concat!("konane ", env!("CARGO_PKG_VERSION"))).date(RELEASED)
}

fn write_pages(command: &Command, directory: &Path) -> io::Result<()> {
    page_of(command.clone()).generate_to(directory)?;
    let mut subcommands = command.get_subcommands().filter(|command| !command.is_hide_set());
    subcommands.try_for_each(|command| write_pages(command, directory))
}

fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}

/// `konane completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL",
          value_parser = ["bash", "elvish", "fish", "nushell", "powershell", "zsh"])]
    pub shell: String,
}

/// Prints a completion script for the program.
pub fn completions(args: &CompletionsArgs, program: &Command) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    // clap_complete would suggest hidden subcommands.
    let subcommands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let mut shown = Command::new("konane")
        .version(env!("CARGO_PKG_VERSION"))
        .long_about(program.get_long_about().cloned().unwrap_or_default())
        .args(program.get_arguments())
        .subcommands(subcommands);
    match args.shell.parse::<Shell>() {
        Ok(shell) => clap_complete::generate(shell, &mut shown, "konane", &mut script),
        Err(_) => clap_complete::generate(Nushell, &mut shown, "konane", &mut script),
    }
    output::write_text(String::from_utf8_lossy(&script))?;
    Ok(Exit::Answered)
}
