//! The `konane` program. Each subcommand is a file, or a folder, with its arguments, its run and its
//! JSON.
//!
//! Answers go to stdout, everything else to stderr. If the input is bad, nothing is written to stdout;
//! subcommands that read lines answer the good ones.

#![deny(missing_docs)]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};

mod allocator;
mod analyse;
mod analyst;
mod annotate;
mod bench;
mod board;
mod builddb;
mod completions;
mod database;
mod draw;
mod exit;
#[cfg(feature = "explore")]
mod explore;
mod flags;
mod game;
mod input;
mod interrupt;
mod json_schema;
mod judged;
mod man;
mod out_of_memory;
mod output;
mod perft;
mod play;
mod probe;
mod progress;
mod solve;
mod sprouts;
mod startup;
mod statespace;
mod talk;
mod terminal_text;
mod tip;
mod trace;
mod verify_proof;
mod verifydb;
mod words;

use konane::system::{file_size_limit_is_an_error, thread};

use exit::{CliError, Exit};
use terminal_text::escape_line;

#[global_allocator]
static ALLOCATOR: allocator::EndOnFailure = allocator::EndOnFailure;

/// Solve Konane (Hawaiian checkers): find out who wins, from the start or from any position.
///
/// Boards are written ranks x files, such as 6x6 or 5x7, with up to 64 squares.
#[derive(Debug, Parser)]
#[command(name = "konane", version, arg_required_else_help = true, after_help = exit::HELP)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Log what the program does to stderr; the variable RUST_LOG chooses finely.
    #[arg(short, long, global = true, display_order = 100)]
    pub verbose: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find the winner of a board or position, and a winning move.
    Solve(solve::SolveArgs),
    /// Count move sequences, or distinct positions, ply by ply.
    Perft(perft::PerftArgs),
    /// Check a proof that `solve --proof` has written, by the rules of the game alone.
    VerifyProof(verify_proof::VerifyProofArgs),
    /// Look at a position: every move with its value, a line of best play, and what you ask.
    Analyse(analyse::AnalyseArgs),
    /// Play against the program, which plays perfectly where it can.
    Play(play::PlayArgs),
    /// Judge every move of a game record: mistakes, only moves, and what is not known.
    Annotate(annotate::AnnotateArgs),
    /// Look at positions in the browser: every move with its value, searches as they run.
    #[cfg(feature = "explore")]
    Explore(explore::ExploreArgs),
    /// Look up who wins a position, and what becomes of every move, in a database.
    Probe(probe::ProbeArgs),
    /// Draw a position as an SVG document.
    Draw(draw::DrawArgs),
    /// Build a database of the values of all positions of a board, or of those with few stones.
    Builddb(builddb::BuilddbArgs),
    /// Check the files of a database.
    Verifydb(verifydb::VerifydbArgs),
    /// Count the positions that games reach, ply by ply, with winners and terminals.
    Statespace(statespace::StatespaceArgs),
    /// Sprouts: solve positions, canonical forms, moves, databases of Grundy numbers.
    Sprouts(sprouts::SproutsArgs),
    /// Do a fixed amount of work on one thread; print speeds and a signature of node counts.
    Bench(bench::BenchArgs),
    /// Print a shell completion script.
    Completions(completions::CompletionsArgs),
    /// Print a manual page in roff.
    Man(man::ManArgs),
    /// Print the JSON Schema of all objects that the program prints.
    #[command(hide = true)]
    JsonSchema,
}

/// Stack of the thread that does the work. The system chooses that of the main thread, and may choose
/// very little (`ulimit -s`).
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    startup::use_default_stack_size();
    startup::spare_address_space();
    file_size_limit_is_an_error();
    out_of_memory::turn_panics_into_ends();
    if startup::is_stdout_closed() {
        output::stdout_is_closed();
    }
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
            run(&cli.command, &interrupt::stop_flag())
        }
        Err(error) => usage(error),
    };
    let exit = result.unwrap_or_else(|error| {
        output::complain(&error.to_string(), error.tip().as_deref());
        error.exit()
    });
    exit.into()
}

fn run(command: &Command, stop: &AtomicBool) -> Result<Exit, CliError> {
    match command {
        Command::Solve(args) => solve::run(args, stop),
        Command::Perft(args) => perft::run(args, stop),
        Command::Probe(args) => probe::run(args, stop),
        Command::Analyse(args) => analyse::run(args, stop),
        Command::Play(args) => play::run(args, stop),
        Command::Annotate(args) => annotate::run(args, stop),
        #[cfg(feature = "explore")]
        Command::Explore(args) => explore::run(args, stop),
        Command::Draw(args) => draw::run(args),
        Command::VerifyProof(args) => verify_proof::run(args, stop),
        Command::Builddb(args) => builddb::run(args, stop),
        Command::Verifydb(args) => verifydb::run(args, stop),
        Command::Statespace(args) => statespace::run(args, stop),
        Command::Sprouts(args) => sprouts::run(args, stop),
        Command::Bench(args) => bench::run(args, stop),
        Command::Completions(args) => completions::run(args, &Cli::command()),
        Command::Man(args) => man::run(args, Cli::command()),
        Command::JsonSchema => json_schema::run(),
    }
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

/// Logging goes to stderr; `RUST_LOG` wins over `-v`.
fn log(verbose: bool) {
    use tracing_subscriber::EnvFilter;
    let level = if verbose { "konane=debug" } else { "off" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    // Fails only if somebody else has set a subscriber, who then gets the messages.
    let _ =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| output::Log).try_init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
