//! The command line: syntax ([`args`]), then boards and positions (`input`), then one module for
//! each verb, which calls the library and prints (`output`, `progress`).
//!
//! Answers go to stdout, everything else to stderr. Nothing is written to stdout when the input is
//! bad.

use std::io::{self, Write};

pub mod args;
mod bench;
mod build_progress;
mod builddb;
mod checkpoint;
mod completions;
mod database;
pub mod exit;
mod input;
mod interrupt;
pub mod output;
mod perft;
mod play;
mod probe;
mod progress;
mod proof;
mod solve;
pub mod sprouts;
mod statespace;
mod ticker;
pub mod units;
mod verify_proof;
mod verifydb;

use crate::endgame::DatabaseError;
use crate::endgame::build_error::BuildError;
use crate::endgame::plan::PlanError;
use crate::endgame::resources::bytes_text;
use crate::endgame::statespace::StateSpaceError;
use crate::endgame::verify::VerifyError;
use crate::konane::notation::{MoveListError, PositionError};
use crate::konane::{Algorithm, Dimensions, SolveError, solve::LEAST_MEMORY};
use crate::proof::ProofError;
use crate::search::certificate::CertificateError;
use crate::search::checkpoint::CheckpointError;
use crate::search::impartial::game::Full;
use crate::search::table::TableError;
use crate::sprouts::TextError;
use crate::sprouts::nimber_db::NimberDbError;
use crate::sprouts::spr_file::SprError;
use args::{Cli, Command};
use exit::Exit;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// `--position` is not a position of the board.
    #[error("--position: {0}")]
    Position(PositionError),
    /// `--moves` is not the beginning of a game.
    #[error("--moves: {0}")]
    Moves(MoveListError),
    /// A line of standard input is not a position of the board.
    #[error(transparent)]
    Line(PositionError),
    /// Standard input cannot be read.
    #[error("cannot read standard input: {0}")]
    Input(#[source] io::Error),
    /// A database cannot be read, or does not have what was asked for.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A database cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A database cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A database is not sound.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The state space of a board cannot be searched.
    #[error(transparent)]
    StateSpace(#[from] StateSpaceError),
    /// The state space of a board does not fit.
    #[error(
        "the state space of {board} needs {} of memory, but {} may be used",
        bytes_text(*need), bytes_text(*have)
    )]
    StateSpaceMemory {
        /// The board.
        board: Dimensions,
        /// Bytes that it needs.
        need: u64,
        /// Bytes that there are.
        have: u64,
    },
    /// A proof cannot be read or written.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// A proof of another board than the one to be played on.
    #[error("{file} is a proof of the {got} board, not of {expected}")]
    OtherBoard {
        /// The proof.
        file: String,
        /// The board asked for.
        expected: Dimensions,
        /// The board of the proof.
        got: Dimensions,
    },
    /// A game cannot begin at a position of which the proof says nothing.
    #[error(
        "{file} says nothing about {position}: begin at its root, {root}, or at a position to which \
         the winner's answers in it lead"
    )]
    NotInProof {
        /// The proof.
        file: String,
        /// The position asked for.
        position: String,
        /// The position that the proof is about.
        root: String,
    },
    /// A file that is no proof has no answer to a move.
    #[error("{file} has no answer in {position}: it is no proof, see `konane verify-proof`")]
    NoAnswer {
        /// The file.
        file: String,
        /// The position without an answer.
        position: String,
    },
    /// A proof cannot be collected.
    #[error("no proof was written: {0}")]
    Certificate(CertificateError),
    /// A checkpoint cannot be read, written or gone on from.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// There is no room for the checkpoint.
    #[error(
        "a checkpoint of this search may take {}, but the disk of {file} has {} left: make room, \
         name a file on another disk, or give the search less memory",
        bytes_text(*need), bytes_text(*have)
    )]
    CheckpointDisk {
        /// The file.
        file: String,
        /// Bytes that the largest checkpoint takes.
        need: u64,
        /// Bytes that there are.
        have: u64,
    },
    /// `solve` with several threads by an algorithm that has one.
    #[error(
        "--threads: {algorithm} searches on one thread; choose --algo dfpn, pn2 or pns-pdfpn for more"
    )]
    SolveThreads {
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// An option of the two-level search with another algorithm.
    #[error("{option} is for --algo pns-pdfpn, not for {algorithm}")]
    JobOption {
        /// The option.
        option: &'static str,
        /// The algorithm's name.
        algorithm: &'static str,
    },
    /// A worker with more threads than there are.
    #[error(
        "--threads-per-worker: {each} are more than the {threads} threads of the search; \
         give --threads as well"
    )]
    WorkerThreads {
        /// Threads of each worker.
        each: u32,
        /// All threads.
        threads: u32,
    },
    /// The system gives no threads.
    #[error("--threads: cannot start the threads: {0}; ask for fewer")]
    Threads(rayon::ThreadPoolBuildError),
    /// A search of Sprouts has no table.
    #[error("--memory: {0}")]
    SproutsTable(TableError),
    /// Several threads for a search that has one.
    #[error("--threads: {0} uses one thread only; use --algo dfpn or pns-pdfpn, or --threads 1")]
    OneThread(&'static str),
    /// A database of Grundy numbers cannot be used.
    #[error(transparent)]
    NimberDb(#[from] NimberDbError),
    /// A record of such a database is no land with its number.
    #[error("{place}: {text:?} is no land: {problem}; restore the file from a copy")]
    NimberRecord {
        /// The file and the place in it.
        place: String,
        /// The record's text.
        text: String,
        /// What is wrong.
        problem: String,
    },
    /// Two different numbers for one land.
    #[error(
        "two Grundy numbers for {land}: {} ({}) and {} ({}); one of them is wrong, find out which \
         with `konane sprouts grundy`",
        first.0, first.1, second.0, second.1
    )]
    NimberConflict {
        /// The land.
        land: String,
        /// One number and where it stands.
        first: (u32, String),
        /// The other.
        second: (u32, String),
    },
    /// The search cannot begin.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// `bench --expect` with another signature.
    #[error("the signature is {found}, not {expected}: a search or a counter has changed")]
    Signature {
        /// This program's.
        found: u64,
        /// The one expected.
        expected: u64,
    },
    /// `man` of something that is no verb.
    #[error("{verb:?} is not a verb: choose one of {verbs}, or none for the whole program")]
    Verb {
        /// What was written.
        verb: String,
        /// Those that there are.
        verbs: String,
    },
    /// A text is not a Sprouts position.
    #[error("position: {0}")]
    SproutsText(#[from] TextError),
    /// A Sprouts position is too large for the memory.
    #[error(transparent)]
    SproutsFull(#[from] Full),
    /// A database of Grundy numbers cannot be read.
    #[error(transparent)]
    SprFile(#[from] SprError),
    /// A database of Grundy numbers cannot be checked.
    #[error(transparent)]
    SprVerify(crate::sprouts::verify::VerifyError),
    /// Stdout cannot be written.
    #[error("cannot write the answer to standard output: {0}")]
    Output(#[source] io::Error),
}

impl CliError {
    /// The exit code that tells this error.
    pub fn exit(&self) -> Exit {
        match self {
            CliError::Output(_) | CliError::Input(_) => Exit::File,
            CliError::Database(error) if error.is_bad_input() => Exit::BadInput,
            CliError::Database(_) | CliError::Proof(_) | CliError::Certificate(_) => Exit::File,
            CliError::Plan(PlanError::DoesNotFit(_)) => Exit::Limit,
            CliError::StateSpace(StateSpaceError::Memory(_)) => Exit::Limit,
            CliError::StateSpaceMemory { .. } => Exit::Limit,
            CliError::Build(BuildError::Interrupted) => Exit::Interrupted,
            CliError::Build(_) | CliError::Verify(_) => Exit::File,
            CliError::Checkpoint(error) | CliError::Solve(SolveError::Checkpoint(error)) => {
                checkpoint::exit(error)
            }
            CliError::CheckpointDisk { .. } => Exit::File,
            CliError::SproutsFull(_) | CliError::SprVerify(_) => Exit::Limit,
            CliError::SprFile(_) => Exit::File,
            CliError::NoAnswer { .. } => Exit::File,
            CliError::NimberDb(_) => Exit::File,
            CliError::NimberRecord { .. } | CliError::NimberConflict { .. } => Exit::File,
            CliError::Signature { .. } => Exit::Mismatch,
            _ => Exit::BadInput,
        }
    }
}

/// Runs a parsed command line and prints errors.
pub fn run(cli: &Cli) -> Exit {
    log(cli.verbose);
    let stop = interrupt::stop_flag();
    let result = match &cli.command {
        Command::Solve(args) => solve::run(args, &stop),
        Command::Perft(args) => perft::run(args, &stop),
        Command::Probe(args) => probe::run(args, &stop),
        Command::Play(args) => play::run(args, &stop),
        Command::VerifyProof(args) => verify_proof::run(args, &stop),
        Command::Builddb(args) => builddb::run(args, &stop),
        Command::Verifydb(args) => verifydb::run(args, &stop),
        Command::Statespace(args) => statespace::run(args, &stop),
        Command::Sprouts(args) => sprouts::run(args, &stop),
        Command::Bench(args) => bench::run(args, &stop),
        Command::Completions(args) => completions::completions(args),
        Command::Man(args) => completions::man(args),
    };
    result.unwrap_or_else(|error| {
        let mut message = format!("error: {error}\n");
        if let CliError::Solve(SolveError::TooLittleMemory { bytes }) = error
            && bytes < LEAST_MEMORY
        {
            message += "  tip: write --memory with a unit, such as --memory 1GiB\n";
        }
        // If stderr is gone too, the exit code has to say it.
        let _ = io::stderr().write_all(message.as_bytes());
        error.exit()
    })
}

/// Logging goes to stderr; `RUST_LOG` wins over `-v`.
fn log(verbose: bool) {
    use tracing_subscriber::EnvFilter;
    let level = if verbose { "konane=debug" } else { "off" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    // Fails only if somebody else has set a subscriber, who then gets the messages.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).try_init();
}
