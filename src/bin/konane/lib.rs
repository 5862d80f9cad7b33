//! The code of the program `konane`.
//!
//! * [`commands`]: the subcommands; [`args`]: the arguments that several of them have.
//! * [`repl`]: `analyse`, `play` and `sprouts play` on the terminal; `web`: the server and the page of
//!   `explore`.
//! * [`exit`]: errors, their exit codes and remedies. [`output`], [`progress`], [`trace`] and
//!   [`terminal_text`]: output. [`version`]: the version in it. [`stdin`]: input.
//! * [`startup`], [`interrupt`] and [`out_of_memory`]: process setup, signals, and exit after a failed
//!   allocation.
//!
//! Results go to stdout, everything else to stderr. Invalid input produces no output on stdout, except that
//! subcommands that read lines answer the valid lines.

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
mod version;
#[cfg(feature = "explore")]
mod web;

use konane::system::thread;

use commands::Command;
use exit::{CliError, Exit};
use terminal_text::escape_line;

#[global_allocator]
static ALLOCATOR: out_of_memory::EndOnFailure = out_of_memory::EndOnFailure;

/// Solve Konane (Hawaiian checkers): find the winner from the start or from any position.
///
/// Boards are written ranks x files, such as 6x6 or 5x7, with up to 64 squares.
#[derive(Debug, Parser)]
#[command(name = "konane", version, long_version = version::long_version(), arg_required_else_help = true, after_help = exit::HELP)]
struct Cli {
    /// Subcommand.
    #[command(subcommand)]
    command: Command,
    /// Write a log to stderr; set RUST_LOG for finer control.
    #[arg(short, long, global = true, display_order = 100)]
    verbose: bool,
}

/// Stack size of the thread that runs the subcommand. The main thread can have a very small stack (`ulimit -s`).
const STACK: usize = 8 << 20;

/// Runs the program with the arguments of the process, and returns its exit code.
pub fn main() -> ExitCode {
    startup::use_default_stack_size();
    startup::limit_heap_arenas();
    startup::make_file_size_limit_an_error();
    out_of_memory::end_on_allocation_panics();
    match thread("main", STACK).spawn(read_and_run).map(JoinHandle::join) {
        Ok(Ok(exit)) => exit,
        // The panic has been reported. The exit code is that of Rust programs that panic.
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            output::report_error(
                &format!("out of memory: cannot start a thread: {error}; raise the memory limit"),
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
        output::report_error(&error.to_string(), error.tip().as_deref());
        error.exit()
    });
    exit.into()
}

/// Prints a message from clap: help and version to stdout, errors to stderr.
fn usage(error: clap::Error) -> Result<Exit, CliError> {
    if error.use_stderr() {
        let is_escaped = |argument: OsString| {
            let argument = argument.to_string_lossy();
            escape_line(&argument) != argument
        };
        // A shell pattern can expand to arbitrary file names.
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
        // A closed pipe is not an error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Output(error)),
        _ => Ok(Exit::Answered),
    }
}

/// Returns the error with its arguments escaped, and without suggestions, which repeat arguments in styled
/// text. Rendering the error without colours instead would remove control sequences from arguments.
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
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::util::SubscriberInitExt as _;

    let level = if verbose { LevelFilter::DEBUG } else { LevelFilter::OFF };
    let filter = std::env::var("RUST_LOG")
        .ok()
        .and_then(|directives| directives.parse().ok())
        .unwrap_or_else(|| Targets::new().with_target("konane", level));
    // Fails only if a subscriber is already set. That subscriber then receives the messages.
    let _ = tracing_subscriber::registry()
        .with(tracing_subscriber::fmt::layer().with_target(false).with_writer(|| output::LogWriter))
        .with(filter)
        .try_init();
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_definition_is_valid() {
        Cli::command().debug_assert();
    }
}
