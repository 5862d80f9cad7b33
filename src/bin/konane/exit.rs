//! Exit codes of the program, and its errors. The exit code of an error follows from its
//! [`ErrorKind`]. [`CliError::tip`] is the remedy that is printed below an error.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use konane::ErrorKind;
use konane::analysis::AnalysisError;
use konane::checkpoint::CheckpointError;
use konane::file::FileError;
use konane::notation::PositionError;
use konane::proof::{self, ProofError};
use konane::record::RecordError;
use konane::search::certificate::CertificateError;
use konane::search::run::Reason;
use konane::search::sums::game::GameFull;
use konane::search::table::TableError;
use konane::sprouts::grundy_db::{self, GrundyDbError};
use konane::sprouts::grundy_file::GrundyFileError;
use konane::sprouts::spr_file::{LineProblem, SprError};
use konane::sprouts::verify::VerifyError as SprVerifyError;
use konane::sprouts::{MovesError, TextError};
use konane::system::{bytes_text, memory_available};
use konane::tablebase::statespace::StateSpaceError;
use konane::tablebase::{BuildError, Database, DatabaseError, Resource};
use konane::{Dimensions, SetupError, SolveError};

/// Exit code of a run. The numbers are part of the program's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The result is complete.
    Answered = 0,
    /// A requested check failed (`bench --expect`, `verify-proof`, `sprouts verify`).
    Mismatch = 1,
    /// Bad usage or bad input, or a request for a table that the system does not provide.
    /// Nothing was computed, except for other lines of the input.
    BadInput = 2,
    /// A limit was reached without an answer.
    Limit = 3,
    /// A file is missing, damaged or of another version, or cannot be written.
    File = 4,
    /// Stopped by a signal: 128 + SIGINT, as shells count.
    Interrupted = 130,
}

/// The paragraph about exit codes that ends the program's help.
pub const HELP: &str = "\
Exit codes: 0 answered, 1 a requested check failed, 2 bad usage or bad input, 3 a limit was \
reached without an answer, 4 a file is missing, damaged or cannot be written, 130 interrupted.";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// The only place that assigns exit codes to errors.
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

/// Exit code of a search, with the reason if it ended without an answer.
impl From<Option<Reason>> for Exit {
    fn from(reason: Option<Reason>) -> Exit {
        reason.map_or(Exit::Answered, |reason| reason.kind().into())
    }
}

/// Error of a command.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Arguments that exclude each other or that the command does not accept.
    #[error("{0}")]
    Usage(String),
    /// `--position` is not a position of the board.
    #[error("--position: {0}")]
    Position(PositionError),
    /// Standard input cannot be read.
    #[error("cannot read standard input: {0}")]
    Input(#[source] io::Error),
    /// A database cannot be read, or does not have the position.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The only database is of the transposed board.
    #[error("{error}; {} has the transposed board, {board}", path.display())]
    Transposed {
        error: Box<DatabaseError>,
        path: PathBuf,
        board: Dimensions,
        /// The position, on that board.
        position: Option<String>,
    },
    /// A database cannot be planned or built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A database is not sound.
    #[error(transparent)]
    Verify(DatabaseError),
    /// The state space of a board cannot be searched.
    #[error(transparent)]
    StateSpace(#[from] StateSpaceError),
    /// The work needs more memory than may be used.
    #[error("{what} needs {} of memory, but {} may be used", bytes_text(*need), bytes_text(*have))]
    Memory { what: String, need: u64, have: u64 },
    /// A proof cannot be read.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A proof or a database of another board.
    #[error("{file} is about the {got} board, not about {expected}")]
    OtherBoard { file: String, expected: Dimensions, got: Dimensions },
    /// A file is not the record of a game.
    #[error("{file}: {error}")]
    Record { file: String, error: Box<RecordError> },
    /// A file that is too long for the record of a game.
    #[error("{file} has more than {} and is no game record", bytes_text(*most))]
    LongRecord { file: String, most: u64 },
    /// A line in the file of a Sprouts game is not a legal move.
    #[error("{file}: line {line}: {problem}")]
    SproutsGame { file: String, line: usize, problem: String },
    /// A record of a game on another board.
    #[error("{file} is a game on the {got} board, not on {expected}")]
    OtherRecord { file: String, expected: Dimensions, got: Dimensions },
    /// A game cannot begin at a position that the proof does not have.
    #[error(
        "{file} says nothing about {position}: begin at its root, {root}, or at a position to which \
         the winner's answers in it lead"
    )]
    NotInProof { file: String, position: String, root: String },
    /// A file is no proof: it has no answer to a move.
    #[error("{file} has no answer in {position}: it is no proof, see `konane verify-proof`")]
    NoAnswer { file: String, position: String },
    /// A proof cannot be collected.
    #[error("no proof was written: {0}")]
    Certificate(CertificateError),
    /// A checkpoint cannot be read, written or resumed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The system does not start the threads.
    #[error("--threads: cannot start the threads: {0}; ask for fewer")]
    Threads(rayon::ThreadPoolBuildError),
    /// A search of Sprouts has no table.
    #[error("--memory: {0}")]
    SproutsTable(TableError),
    /// A database of Grundy numbers cannot be used.
    #[error(transparent)]
    GrundyDb(#[from] GrundyDbError),
    /// The numbers in such a database cannot be used.
    #[error(transparent)]
    GrundyFile(#[from] GrundyFileError),
    /// The search cannot begin.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// `bench --expect` with another signature.
    #[error("the signature is {found}, not {expected}: a search or a counter has changed")]
    Signature { found: u64, expected: u64 },
    /// A text is not a Sprouts position.
    #[error("position: {error}")]
    SproutsText { text: String, error: TextError },
    /// A Sprouts position has too many moves, or too many for a subcommand without `--memory`.
    #[error("the position has more moves, or lands, than are listed: ask about a smaller position")]
    SproutsTooLarge,
    /// A Sprouts position is too large for the memory.
    #[error(transparent)]
    SproutsFull(#[from] GameFull),
    /// A file of Grundy numbers of other programs cannot be read or written.
    #[error(transparent)]
    SprFile(#[from] SprError),
    /// Such a file cannot be checked.
    #[error(transparent)]
    SprVerify(SprVerifyError),
    /// A signal ended the run before any output.
    #[error("interrupted")]
    Interrupted,
    /// `explore` cannot listen at the port.
    #[cfg(feature = "explore")]
    #[error("cannot listen at 127.0.0.1:{port}: {error}")]
    Port { port: u16, error: io::Error },
    /// `explore` cannot serve.
    #[cfg(feature = "explore")]
    #[error("cannot serve: {0}")]
    Server(#[source] io::Error),
    /// Stdout cannot be written.
    #[error("cannot write the answer to standard output: {0}")]
    Output(#[source] io::Error),
}

impl From<AnalysisError> for CliError {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Database(error) => CliError::Database(error),
            AnalysisError::Proof(error) => CliError::Proof(error),
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
    /// The reason to report beside this error if a limit or a signal ended the run. The limits that end
    /// a run with an error are those of memory.
    pub fn reason(&self) -> Option<Reason> {
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
            CliError::Proof(error) => proof::error_kind(error),
            CliError::File(error) => error.kind(),
            CliError::Certificate(error) => error.kind(),
            CliError::Checkpoint(error) => error.kind(),
            CliError::Solve(error) => error.kind(),
            CliError::SproutsTable(error) => error.kind(),
            CliError::SproutsFull(error) => error.kind(),
            CliError::GrundyDb(error) => error.kind(),
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
    /// Returns a change of the command line that avoids this error, if there is one. The texts of the
    /// library do not mention options of the command line.
    pub fn tip(&self) -> Option<String> {
        let tip = match self {
            CliError::Solve(SolveError::TooLittleMemory { .. }) => {
                "write --memory with a unit, such as --memory 1GiB"
            }
            CliError::Solve(
                SolveError::TooMuchMemory { .. }
                | SolveError::Table(_)
                | SolveError::Tree(_)
                | SolveError::Checkpoint(CheckpointError::Tree(_)),
            ) => "choose a smaller --memory",
            CliError::OtherRecord { expected, got, .. } => {
                return Some(format!("write {got} in place of {expected}, or leave it out"));
            }
            CliError::Transposed { board, position, .. } => {
                let position = position.as_ref().map(|text| format!(" --position {text:?}"));
                let position = position.unwrap_or_default();
                return Some(format!("write {board}{position}: ranks and files change places"));
            }
            CliError::Position(PositionError::Setup(
                SetupError::OneEmptyBlackToMove { .. } | SetupError::ImpossibleOpening { .. },
            )) => "--phase jump reads it as a position in the jumping phase",
            CliError::Memory { need, .. } if is_available(*need) => "--memory allows more",
            CliError::SproutsFull(_) | CliError::GrundyFile(GrundyFileError::Full(_)) => {
                "--memory allows more"
            }
            #[cfg(feature = "explore")]
            CliError::Port { .. } => "choose another --port; --port 0 takes a free one",
            CliError::Build(BuildError::DoesNotFit(misfit)) => {
                let memory = (misfit.resource == Resource::Memory).then_some(misfit.memory_bytes);
                let stones = misfit.fits.map(|stones| format!("--max-stones {stones}"));
                let tips: Vec<String> =
                    memory.and_then(memory_option).into_iter().chain(stones).collect();
                return (!tips.is_empty()).then(|| tips.join(", or "));
            }
            CliError::Build(BuildError::Begun { need, .. }) => return memory_option(*need),
            CliError::Build(BuildError::ReachableWithMaxStones) => {
                "leave out --max-stones, or choose --scope complete"
            }
            CliError::Build(BuildError::ReachableTooLarge { .. }) => {
                "choose --scope complete and --max-stones N"
            }
            CliError::Verify(DatabaseError::NoDatabase { path, .. })
                if let Some(names) = databases_in(path) =>
            {
                return Some(format!("the databases in it: {names}"));
            }
            CliError::Database(DatabaseError::NoDatabase { .. })
            | CliError::Verify(DatabaseError::NoDatabase { .. }) => {
                "`konane builddb` makes databases, and continues builds"
            }
            CliError::Checkpoint(error) | CliError::Solve(SolveError::Checkpoint(error)) => {
                match error {
                    CheckpointError::Missing { .. } => "without --resume a new search begins",
                    CheckpointError::Exists { .. } => "--resume goes on from it",
                    _ => return None,
                }
            }
            CliError::SprFile(SprError::Line {
                path, problem: LineProblem::Header(line), ..
            }) if line.as_bytes() == grundy_db::MAGIC.trim_ascii_end() => {
                let path = path.display();
                return Some(format!(
                    "`konane sprouts db export {path} FILE.spr` writes such a file"
                ));
            }
            CliError::GrundyDb(GrundyDbError::NotADatabase { path })
            | CliError::GrundyFile(GrundyFileError::File(GrundyDbError::NotADatabase { path }))
                if path.extension().is_some_and(|extension| extension == "spr") =>
            {
                let path = path.display();
                return Some(format!(
                    "`konane sprouts db import DATABASE {path}` makes a database of a .spr file"
                ));
            }
            CliError::SproutsText { error: TextError::Heap { .. }, .. } => {
                "`konane sprouts solve` takes one heap beside a position"
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

/// Returns false if the system has less memory than `bytes`: a higher `--memory` is no remedy then.
fn is_available(bytes: u64) -> bool {
    memory_available().is_none_or(|have| bytes <= have)
}

/// Option that allows `need` bytes, if the system has them. It rounds up, while the texts of the library
/// round to the nearest.
fn memory_option(need: u64) -> Option<String> {
    is_available(need).then(|| format!("at least --memory {}MiB", need.div_ceil(1 << 20)))
}

/// Names of the databases in a directory, if there are any.
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
    fn no_tip_asks_for_memory_that_the_system_does_not_have() {
        let of = |need| CliError::Memory { what: "it".to_owned(), need, have: 1 };
        assert_eq!(of(2).tip().as_deref(), Some("--memory allows more"));
        assert_eq!(of(u64::MAX).tip().is_none(), memory_available().is_some());
    }
}
