//! The `konane` program.
//!
//! * [`commands`]: the subcommands; [`args`]: the arguments that several of them have.
//! * [`repl`]: `analyse`, `play` and `sprouts play` on the terminal; `web`: the server and the page of
//!   `explore`.
//! * [`exit`]: errors, their exit codes and remedies. [`output`], [`progress`], [`trace`] and
//!   [`terminal_text`]: output. [`stdin`]: input.
//! * [`startup`], [`interrupt`] and [`out_of_memory`]: state of the process, signals, and the end when the
//!   system refuses memory.
//!
//! Answers go to stdout, everything else to stderr. If the input is bad, nothing is written to stdout;
//! subcommands that read lines answer the valid ones.

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::thread::JoinHandle;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};

mod args;
mod commands;
mod exit;
mod interrupt;
mod out_of_memory;
mod output;
mod progress;
mod repl;
mod startup;
mod stdin;
mod terminal_text;
mod trace;
#[cfg(feature = "explore")]
mod web;

use konane::system::thread;

use commands::Command;
use exit::{CliError, Exit};
use terminal_text::escape_line;

#[global_allocator]
static ALLOCATOR: out_of_memory::EndOnFailure = out_of_memory::EndOnFailure;

/// Solve Konane (Hawaiian checkers): find out who wins, from the start or from any position.
///
/// Boards are written ranks x files, such as 6x6 or 5x7, with up to 64 squares.
#[derive(Debug, Parser)]
#[command(name = "konane", version, arg_required_else_help = true, after_help = exit::HELP)]
pub struct Cli {
    /// Subcommand.
    #[command(subcommand)]
    pub command: Command,
    /// Log what the program does to stderr; the variable RUST_LOG chooses finely.
    #[arg(short, long, global = true, display_order = 100)]
    pub verbose: bool,
}

/// Stack size of the thread that runs the subcommand. The stack of the main thread can be very small
/// (`ulimit -s`).
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    startup::use_default_stack_size();
    startup::spare_address_space();
    startup::make_file_size_limit_an_error();
    out_of_memory::turn_panics_into_ends();
    match thread("main", STACK).spawn(read_and_run).map(JoinHandle::join) {
        Ok(Ok(exit)) => exit,
        // The panic has been reported; its exit code is Rust's.
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            output::complain(
                &format!("out of memory: cannot start a thread: {error}; give more memory"),
                None,
            );
            Exit::Limit.into()
        }
    }
}

fn read_and_run() -> ExitCode {
    let result = match Cli::try_parse() {
        Ok(cli) => {
            log(cli.verbose);
            commands::run(&cli.command, &interrupt::stop_flag())
        }
        Err(error) => usage(error),
    };
    let exit = result.unwrap_or_else(|error| {
        output::complain(&error.to_string(), error.tip().as_deref());
        error.exit()
    });
    exit.into()
}

/// Prints a message of clap: help and version to stdout, errors to stderr.
fn usage(error: clap::Error) -> Result<Exit, CliError> {
    if error.use_stderr() {
        let is_escaped = |argument: OsString| {
            let argument = argument.to_string_lossy();
            escape_line(&argument) != argument
        };
        // A pattern of the shell can turn any file name into an argument.
        if std::env::args_os().any(is_escaped) {
            output::write_stderr(&escaped(error).render().to_string());
        } else {
            // If stderr is closed, the exit code still reports the error.
            let _ = error.print();
        }
        return Ok(Exit::BadInput);
    }
    output::must_be_open()?;
    match error.print().and_then(|()| io::stdout().flush()) {
        // A closed pipe is no error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Output(error)),
        _ => Ok(Exit::Answered),
    }
}

/// The error with the arguments in it escaped, and without suggestions, which repeat arguments in
/// styled text. Rendering the error without colours would remove control sequences in arguments, so
/// that they would be shown incompletely.
fn escaped(mut error: clap::Error) -> clap::Error {
    error.remove(ContextKind::Suggested);
    let values: Vec<_> = error.context().map(|(kind, value)| (kind, value.clone())).collect();
    for (kind, value) in values {
        let escape = |text: &String| escape_line(text).into_owned();
        let value = match &value {
            ContextValue::String(text) => ContextValue::String(escape(text)),
            ContextValue::Strings(texts) => {
                ContextValue::Strings(texts.iter().map(escape).collect())
            }
            _ => value,
        };
        error.insert(kind, value);
    }
    error
}

/// Starts logging to stderr. `RUST_LOG` takes precedence over `-v`.
fn log(verbose: bool) {
    use tracing_subscriber::EnvFilter;
    let level = if verbose { "konane=debug" } else { "off" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    // Fails only if a subscriber is set already, which then gets the messages.
    let _ =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| output::Log).try_init();
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
