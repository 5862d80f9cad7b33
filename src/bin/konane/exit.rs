//! Exit codes and errors of the program. The exit code of an error follows from its [`ErrorKind`].
//! [`CliError::tip`] returns the remedy that is printed below an error.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use konane::ErrorKind;
use konane::analysis::AnalysisError;
use konane::checkpoint::CheckpointError;
use konane::file::FileError;
use konane::notation::PositionError;
use konane::proof::{self, ProofError};
use konane::record::{RecordError, RecordProblem};
use konane::record_file::RecordFileError;
use konane::results::ResultsError;
use konane::search::certificate::CertificateError;
use konane::search::run::Reason;
use konane::search::sums::game::GameFull;
use konane::search::table::TableError;
use konane::sprouts::grundy_file::{GRUNDY_NUMBERS, GrundyFileError};
use konane::sprouts::spr_file::{LineProblem, SprError};
use konane::sprouts::verify::VerifyError as SprVerifyError;
use konane::sprouts::{MovesError, TextError};
use konane::system::{bytes_text, memory_available};
use konane::tablebase::statespace::StateSpaceError;
use konane::tablebase::{BuildError, Database, DatabaseError, Resource};
use konane::value::ValueError;
use konane::{Dimensions, SetupError, SolveError};

/// Exit code of a run. The numbers are part of the public interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Complete result.
    Answered = 0,
    /// Failed check (`bench --expect`, `verify-proof`, `results verify`, `sprouts verify`).
    Mismatch = 1,
    /// Bad usage or bad input, or a table that the system cannot allocate. Nothing was computed, except for
    /// other lines of the input.
    BadInput = 2,
    /// Limit that was reached without an answer.
    Limit = 3,
    /// File that is missing, damaged, of another version, or not writable.
    File = 4,
    /// Stopped by a signal: 128 + SIGINT, as in shells.
    Interrupted = 130,
}

/// Last paragraph of the program's help, about exit codes.
pub const HELP: &str = "\
Exit codes: 0 answered, 1 a requested check failed, 2 bad usage or bad input, 3 a limit was \
reached without an answer, 4 a file is missing, damaged or cannot be written, 130 interrupted.

Environment: KONANE_DB (directory of databases), KONANE_MEMORY (memory of a search) and \
KONANE_THREADS replace the defaults of --db, --memory and --threads.";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// The only mapping from errors to exit codes.
impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Exit {
        match kind {
            ErrorKind::Usage | ErrorKind::Resource => Exit::BadInput,
            ErrorKind::Limit => Exit::Limit,
            ErrorKind::File => Exit::File,
            ErrorKind::Check => Exit::Mismatch,
            ErrorKind::Interrupted => Exit::Interrupted,
        }
    }
}

/// Converts the reason why a search has no answer, if any, to an exit code.
impl From<Option<Reason>> for Exit {
    fn from(reason: Option<Reason>) -> Exit {
        reason.map_or(Exit::Answered, |reason| reason.kind().into())
    }
}

/// Error of a command.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Arguments that conflict or that the command does not accept.
    #[error("{0}")]
    Usage(String),
    /// `--position` that is not a position of the board.
    #[error("--position: {0}")]
    Position(PositionError),
    /// Standard input that cannot be read.
    #[error("cannot read standard input: {0}")]
    Input(#[source] io::Error),
    /// Database that cannot be read or does not contain the position.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// Board of which only the transposed board has a database.
    #[error("{error}; {} has the transposed board, {board}", path.display())]
    Transposed {
        error: Box<DatabaseError>,
        path: PathBuf,
        board: Dimensions,
        /// The position on the transposed board.
        position: Option<String>,
    },
    /// Database that cannot be planned or built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Database that failed its check.
    #[error(transparent)]
    Verify(DatabaseError),
    /// State space that cannot be enumerated.
    #[error(transparent)]
    StateSpace(#[from] StateSpaceError),
    /// Position or game without a value.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// Term of a sum that cannot be read.
    #[error("--add {text:?}: {}", error.to_string().trim_start_matches("--position: "))]
    Term { text: String, error: Box<CliError> },
    /// Table of values that a limit or a signal has ended.
    #[error("the values are unknown ({}): no table was written", .0.text())]
    ValueLimit(Reason),
    /// Work that needs more memory than its limit.
    #[error("{what} needs {} of memory, but {} may be used", bytes_text(*need), bytes_text(*have))]
    Memory { what: String, need: u64, have: u64 },
    /// Proof that cannot be read.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// File that cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Proof or database of another board.
    #[error("{file} is for the {got} board, not for {expected}")]
    OtherBoard { file: String, expected: Dimensions, got: Dimensions },
    /// File that is not a game record.
    #[error("{file}: {error}")]
    Record { file: String, error: Box<RecordError> },
    /// File that is too long for a game record.
    #[error("{file} has more than {} and is not a game record", bytes_text(*most))]
    LongRecord { file: String, most: u64 },
    /// Line in the file of a Sprouts game that is not a legal move.
    #[error("{file}: line {line}: {problem}")]
    SproutsGame { file: String, line: usize, problem: String },
    /// Game record of another board.
    #[error("{file} is a game on the {got} board, not on {expected}")]
    OtherRecord { file: String, expected: Dimensions, got: Dimensions },
    /// Start of a game that the proof does not contain.
    #[error(
        "{file} does not contain {position}: begin at its root, {root}, or at a position that the \
         winner's replies in it reach"
    )]
    NotInProof { file: String, position: String, root: String },
    /// Invalid proof without a reply to a move.
    #[error(
        "{file} has no reply in {position}: it is not a valid proof; run `konane verify-proof`"
    )]
    NoAnswer { file: String, position: String },
    /// Proof that could not be collected.
    #[error("no proof was written: {0}")]
    Certificate(CertificateError),
    /// Checkpoint that cannot be read, written or resumed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Threads that cannot be started.
    #[error("--threads: cannot start the threads: {0}; use fewer threads")]
    Threads(rayon::ThreadPoolBuildError),
    /// Table of a Sprouts search that cannot be allocated.
    #[error("--memory: {0}")]
    SproutsTable(TableError),
    /// Database of Grundy numbers that cannot be read or written.
    #[error(transparent)]
    RecordFile(#[from] RecordFileError),
    /// Invalid numbers in a database of Grundy numbers.
    #[error(transparent)]
    GrundyFile(#[from] GrundyFileError),
    /// File of results that cannot be read or written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// Search that cannot begin.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// Signature that differs from `bench --expect`.
    #[error("the signature is {found}, not {expected}: a search or a counter has changed")]
    Signature { found: u64, expected: u64 },
    /// Text that is not a Sprouts position.
    #[error("position: {error}")]
    SproutsText { text: String, error: TextError },
    /// Sprouts position with too many moves, or too many for a subcommand without `--memory`.
    #[error("the position has too many moves or lands to list: use a smaller position")]
    SproutsTooLarge,
    /// Sprouts position that is too large for the memory.
    #[error(transparent)]
    SproutsFull(#[from] GameFull),
    /// File of Grundy numbers of another program that cannot be read or written.
    #[error(transparent)]
    SprFile(#[from] SprError),
    /// File of Grundy numbers of another program that cannot be verified.
    #[error(transparent)]
    SprVerify(SprVerifyError),
    /// Signal that ended the run before any output.
    #[error("interrupted")]
    Interrupted,
    /// Port at which `explore` cannot listen.
    #[cfg(feature = "explore")]
    #[error("cannot listen at 127.0.0.1:{port}: {error}")]
    Port { port: u16, error: io::Error },
    /// Failure of the server of `explore`.
    #[cfg(feature = "explore")]
    #[error("cannot serve: {0}")]
    Server(#[source] io::Error),
    /// Standard output that cannot be written.
    #[error("cannot write the answer to standard output: {0}")]
    Output(#[source] io::Error),
}

impl From<AnalysisError> for CliError {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Database(error) => CliError::Database(error),
            AnalysisError::Proof(error) => CliError::Proof(error),
            AnalysisError::Results(error) => CliError::Results(error),
            AnalysisError::Solve(error) => CliError::Solve(error),
            AnalysisError::OtherBoard { what: file, expected, got } => {
                CliError::OtherBoard { file, expected, got }
            }
        }
    }
}

impl From<MovesError> for CliError {
    fn from(error: MovesError) -> Self {
        match error {
            MovesError::Full(full) => CliError::SproutsFull(full),
            MovesError::TooMany => CliError::SproutsTooLarge,
        }
    }
}

impl CliError {
    /// Returns the reason to report with this error if a limit or a signal ended the run. Only memory limits
    /// end a run with an error, except for tables of values.
    pub fn reason(&self) -> Option<Reason> {
        if let CliError::ValueLimit(reason) = self {
            return Some(*reason);
        }
        match self.kind() {
            ErrorKind::Limit => Some(Reason::Memory),
            ErrorKind::Interrupted => Some(Reason::Interrupted),
            ErrorKind::Usage | ErrorKind::Resource | ErrorKind::File | ErrorKind::Check => None,
        }
    }

    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            CliError::Position(error) => error.kind(),
            CliError::Record { error, .. } => error.kind(),
            CliError::SproutsText { error, .. } => error.kind(),
            CliError::Database(error) => error.kind(),
            CliError::Transposed { error, .. } => error.kind(),
            CliError::Build(error) => error.kind(),
            CliError::Verify(error) => error.kind(),
            CliError::StateSpace(error) => error.kind(),
            CliError::Value(error) => error.kind(),
            CliError::Term { error, .. } => error.kind(),
            CliError::ValueLimit(reason) => reason.kind(),
            CliError::Proof(error) => proof::error_kind(error),
            CliError::File(error) => error.kind(),
            CliError::Certificate(error) => error.kind(),
            CliError::Checkpoint(error) => error.kind(),
            CliError::Results(error) => error.kind(),
            CliError::Solve(error) => error.kind(),
            CliError::SproutsTable(error) => error.kind(),
            CliError::SproutsFull(error) => error.kind(),
            CliError::RecordFile(error) => error.kind(),
            CliError::GrundyFile(error) => error.kind(),
            CliError::SprFile(error) => error.kind(),
            CliError::SprVerify(error) => error.kind(),
            CliError::Usage(_)
            | CliError::OtherBoard { .. }
            | CliError::LongRecord { .. }
            | CliError::SproutsGame { .. }
            | CliError::OtherRecord { .. }
            | CliError::NotInProof { .. } => ErrorKind::Usage,
            #[cfg(feature = "explore")]
            CliError::Port { .. } => ErrorKind::Usage,
            CliError::Memory { .. } | CliError::SproutsTooLarge | CliError::Threads(_) => {
                ErrorKind::Limit
            }
            CliError::Input(_) | CliError::Output(_) | CliError::NoAnswer { .. } => ErrorKind::File,
            #[cfg(feature = "explore")]
            CliError::Server(_) => ErrorKind::File,
            CliError::Signature { .. } => ErrorKind::Check,
            CliError::Interrupted => ErrorKind::Interrupted,
        }
    }

    /// Returns the exit code of this error.
    pub fn exit(&self) -> Exit {
        self.kind().into()
    }
}

impl CliError {
    /// Returns a change of the command line that avoids this error, if there is one. The library's messages do
    /// not mention command-line options.
    pub fn tip(&self) -> Option<String> {
        let tip = match self {
            CliError::Solve(SolveError::TooLittleMemory { .. }) => {
                "write --memory with a unit, such as --memory 1GiB"
            }
            CliError::Solve(
                SolveError::TooMuchMemory { .. } | SolveError::Table(_) | SolveError::Tree(_),
            ) => "choose a smaller --memory",
            CliError::OtherRecord { expected, got, .. } => {
                return Some(format!("write {got} instead of {expected}, or omit the board"));
            }
            CliError::Record { error, .. } if error.problem == RecordProblem::NoBoard => {
                "name the board in the command: annotate --board 6x6, or analyse 6x6 --game"
            }
            CliError::Transposed { board, position, .. } => {
                let position = position.as_ref().map(|text| format!(" --position {text:?}"));
                let position = position.unwrap_or_default();
                return Some(format!("write {board}{position}, with ranks and files exchanged"));
            }
            CliError::Position(PositionError::Setup(
                SetupError::OneEmptyBlackToMove { .. }
                | SetupError::ImpossibleOpening { .. }
                | SetupError::OtherColouring { .. },
            )) => "--phase jump reads it as a position in the jumping phase",
            CliError::Value(ValueError::Removal(_)) => {
                "--position begins in the jumping phase, or --moves plays the removals; \
                 --phase jump reads a position with fewer than two gaps"
            }
            CliError::Term { error, .. } => return error.tip(),
            CliError::ValueLimit(Reason::Memory) => "--memory allows more",
            CliError::ValueLimit(Reason::TimeLimit) => "--time-limit allows more",
            CliError::ValueLimit(Reason::NodeLimit) => "--max-nodes allows more",
            CliError::Memory { need, .. } if is_available(*need) => "--memory allows more",
            CliError::SproutsFull(_) | CliError::GrundyFile(GrundyFileError::Full(_)) => {
                "--memory allows more"
            }
            #[cfg(feature = "explore")]
            CliError::Port { .. } => "choose another --port; --port 0 selects a free one",
            CliError::Build(BuildError::DoesNotFit(misfit)) => {
                let memory = (misfit.resource == Resource::Memory).then_some(misfit.memory_bytes);
                let stones = misfit.fits.map(|stones| format!("--max-stones {stones}"));
                let tips: Vec<String> =
                    memory.and_then(memory_option).into_iter().chain(stones).collect();
                return (!tips.is_empty()).then(|| tips.join(", or "));
            }
            CliError::Build(BuildError::Begun { need, .. }) => return memory_option(*need),
            CliError::Build(BuildError::ReachableWithMaxStones) => {
                "omit --max-stones, or choose --scope complete"
            }
            CliError::Build(BuildError::ReachableTooLarge { .. }) => {
                "choose --scope complete and --max-stones N"
            }
            CliError::Verify(DatabaseError::NoDatabase { path, .. })
                if let Some(names) = databases_in(path) =>
            {
                return Some(format!("the directory contains these databases: {names}"));
            }
            CliError::Database(DatabaseError::NoDatabase { board, .. }) => {
                let board = board.map_or("RxF".to_owned(), |board| board.to_string());
                return Some(format!(
                    "--db names another directory; `konane builddb {board}` builds a database or \
                     continues a build"
                ));
            }
            CliError::Verify(DatabaseError::NoDatabase { .. }) => {
                "`konane builddb RxF` builds a database or continues a build"
            }
            CliError::Checkpoint(error) | CliError::Solve(SolveError::Checkpoint(error)) => {
                match error {
                    CheckpointError::Missing { .. } => "without --resume, a new search begins",
                    CheckpointError::Exists { .. } => "--resume continues it",
                    _ => return None,
                }
            }
            CliError::SprFile(SprError::Line {
                path, problem: LineProblem::Header(line), ..
            }) if line.as_bytes() == GRUNDY_NUMBERS.magic.trim_ascii_end() => {
                let path = path.display();
                return Some(format!("`konane sprouts db export {path} FILE.spr` converts it"));
            }
            CliError::RecordFile(RecordFileError::OtherKind { path, .. })
            | CliError::GrundyFile(GrundyFileError::File(RecordFileError::OtherKind {
                path,
                ..
            })) if path.extension().is_some_and(|extension| extension == "spr") => {
                let path = path.display();
                return Some(format!(
                    "`konane sprouts db import DATABASE {path}` converts a .spr file to a database"
                ));
            }
            CliError::SproutsText { error: TextError::Heap { .. }, .. } => {
                "`konane sprouts solve` accepts one heap in addition to a position"
            }
            CliError::SproutsText { text, .. } => {
                let spots = text.trim();
                let digits = !spots.is_empty() && spots.bytes().all(|byte| byte.is_ascii_digit());
                return digits.then(|| format!("write 0*{spots} for {spots} spots"));
            }
            _ => return None,
        };
        Some(tip.to_owned())
    }
}

/// Returns false if the system has less memory than `bytes`. A higher `--memory` is then not a remedy.
fn is_available(bytes: u64) -> bool {
    memory_available().is_none_or(|have| bytes <= have)
}

/// Returns the option that allows `need` bytes, if the system has them. Rounds up, whereas the library's
/// messages round to the nearest value.
fn memory_option(need: u64) -> Option<String> {
    is_available(need).then(|| format!("at least --memory {}MiB", need.div_ceil(1 << 20)))
}

/// Returns the names of the databases in a directory, if there are any.
fn databases_in(path: &Path) -> Option<String> {
    let found = Database::list(path).ok()?;
    let names = found.iter().map(|(directory, _)| directory.display().to_string());
    (!found.is_empty()).then(|| names.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_exit_code() {
        let codes = ErrorKind::ALL.map(|kind| (kind, Exit::from(kind) as u8));
        let expected = [
            (ErrorKind::Usage, 2),
            (ErrorKind::Resource, 2),
            (ErrorKind::Limit, 3),
            (ErrorKind::File, 4),
            (ErrorKind::Check, 1),
            (ErrorKind::Interrupted, 130),
        ];
        assert_eq!(codes, expected);
    }

    #[test]
    fn no_tip_suggests_memory_that_the_system_does_not_have() {
        let of = |need| CliError::Memory { what: "it".to_owned(), need, have: 1 };
        assert_eq!(of(2).tip().as_deref(), Some("--memory allows more"));
        assert_eq!(of(u64::MAX).tip().is_none(), memory_available().is_some());
    }
}
