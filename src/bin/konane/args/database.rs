//! Opening of the databases that arguments name, and values of `--scope` and `--metric`.

use std::path::{Path, PathBuf};

use crate::args::environment;
use crate::exit::CliError;
use konane::tablebase::{Database, DatabaseError, DatabaseOptions, Metric, Scope};
use konane::{Dimensions, Position};

/// Directory of databases if neither an argument nor the environment names one.
pub const DEFAULT: &str = "db";

/// Directory of databases without `--db`.
pub fn default_directory() -> &'static str {
    environment::or(environment::DB, DEFAULT)
}

/// Returns the directories of databases: the named ones, each of which must contain a database, or the default if that
/// exists.
pub fn directories(named: &[PathBuf]) -> Result<Vec<PathBuf>, DatabaseError> {
    for path in named {
        if Database::list(path)?.is_empty() {
            return Err(none_in(path));
        }
    }
    let default = named.is_empty().then(|| PathBuf::from(default_directory()));
    let default = default.filter(|path| path.is_dir());
    Ok(named.iter().cloned().chain(default).collect())
}

/// Returns the error for a directory without databases.
pub fn none_in(directory: &Path) -> DatabaseError {
    let what = "it contains no database".to_owned();
    DatabaseError::NoDatabase { path: directory.to_owned(), what, board: None }
}

/// Opens the database of a board in the first of these directories that has one. Returns `None` if there is none.
pub fn find(directories: &[PathBuf], board: Dimensions) -> Result<Option<Database>, DatabaseError> {
    if directories.is_empty() {
        return Ok(None);
    }
    match Database::find(directories, board, DatabaseOptions::default()) {
        Ok(database) => Ok(Some(database)),
        Err(DatabaseError::NoDatabase { .. } | DatabaseError::OtherBoard { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// As [`open`] if a directory is named. Otherwise opens the database of the board in the directory that the environment
/// names, if it has one.
pub fn open_named(
    directories: &[PathBuf],
    board: Dimensions,
    position: Option<&Position>,
) -> Result<Option<Database>, CliError> {
    if !directories.is_empty() {
        return open(directories, board, position).map(Some);
    }
    match environment::or(environment::DB, "") {
        "" => Ok(None),
        directory => Ok(find(&[directory.into()], board)?),
    }
}

/// Opens the database of a board in the first of these directories that has one. If only the transposed board
/// has a database, the error names that board and the transposed position, if a position is given.
pub fn open(
    directories: &[PathBuf],
    board: Dimensions,
    position: Option<&Position>,
) -> Result<Database, CliError> {
    let find = |board| Database::find(directories, board, DatabaseOptions::default());
    let database = find(board).map_err(|error| match transposed(board).map(find) {
        Some(Ok(other)) => CliError::Transposed {
            error: Box::new(error),
            path: other.directory().to_owned(),
            board: other.board().dimensions(),
            position: position.map(|position| transposed_text(board, &other, position)),
        },
        _ => error.into(),
    })?;
    tracing::debug!("the database {} is open", database.directory().display());
    Ok(database)
}

/// Returns the board with ranks and files exchanged, or `None` for a square board. The top-left square of both
/// is black, so the games are equal.
fn transposed(board: Dimensions) -> Option<Dimensions> {
    let (ranks, files) = (board.ranks(), board.files());
    Dimensions::new(files, ranks).ok().filter(|_| ranks != files)
}

fn transposed_text(board: Dimensions, other: &Database, position: &Position) -> String {
    let (ranks, files) = (board.ranks(), board.files());
    let square = |square: u8| u32::from(square) % files * ranks + u32::from(square) / files;
    let stones = (0..u64::BITS as u8).filter(|square| position.occupied() >> square & 1 == 1);
    let occupied = stones.fold(0, |set, old| set | 1 << square(old));
    Position::new_unchecked(other.board(), occupied, position.to_move()).to_string()
}

/// Returns the heading of a database: its board, scope and metric.
pub fn heading(board: Dimensions, scope: Scope, max_stones: u32, metric: Metric) -> String {
    let mut head = format!("{board}, {} positions", scope.name());
    if max_stones < board.squares() {
        head += &format!(" with up to {max_stones} stones");
    }
    match metric {
        Metric::Outcome => head,
        Metric::Remoteness => head + ", with remoteness",
    }
}

/// Values of `--scope`, with their help texts.
pub const SCOPES: &[(Scope, &str)] = &[
    (Scope::Complete, "Every set of stones with either side to move"),
    (Scope::Reachable, "The positions reachable from the start"),
];

/// Values of `--metric`, with their help texts.
pub const METRICS: &[(Metric, &str)] = &[
    (Metric::Outcome, "The winner"),
    (Metric::Remoteness, "The winner, and the number of plies to the end with best play"),
];
