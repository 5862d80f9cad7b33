//! Files of results: outcomes of positions that took searches much effort ([`ResultsFile`]).
//!
//! A search with such a file begins with the file's outcomes in its table, and adds those that it finds, regularly and
//! at its end. Several processes can add to one file; each locks it only while it adds. The format is that of
//! [`record_file`]. The text of a record is a position of any board, which a reader converts to its canonical code. The
//! number is 0 if the side to move loses, and 1 if it wins.
//!
//! * [`read`] and [`add`]: records.
//! * [`ResultsFile`]: a file that a search uses and extends.
//! * [`verify`]: solves the positions of a file again.

mod search;
#[cfg(test)]
mod tests;
mod verify;

pub use search::{MIN_WORK, ResultsFile, ResultsUse};
pub use verify::{VerifiedResults, verify};

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::ErrorKind;
use crate::konane::notation::{dimensions_of, parse_position_as};
use crate::konane::{Board, Dimensions, PhaseChoice, Position, Rules, SolveError};
use crate::record_file::{self, Record, RecordFile, RecordFileError, RecordKind};
use crate::search::Value;
use crate::search::table::{Entry, Table};

/// The records of a file of results.
pub const RESULTS: RecordKind =
    RecordKind { magic: *b"konane-results1\n", name: "file of results" };

/// Maximum time for which another process may have the file locked.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Reason for which a file of results cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The file cannot be read or written, or is damaged.
    #[error(transparent)]
    File(#[from] RecordFileError),
    /// A record is invalid.
    #[error("{}, byte {place}: the record of {text:?} is invalid: {problem}; restore the file from a copy", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Offset of the record.
        place: u64,
        /// Its text.
        text: String,
        /// Description of the error.
        problem: String,
    },
    /// The file has another outcome than the one to be added.
    #[error(
        "{}: another outcome of {position} is to be added, and one of them is wrong; `konane solve --position` \
         without this file finds out which",
        path.display()
    )]
    Contradiction {
        /// The file.
        path: PathBuf,
        /// The position.
        position: Position,
    },
    /// A search that verifies a result cannot begin.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

impl ResultsError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            ResultsError::File(error) => error.kind(),
            ResultsError::Solve(error) => error.kind(),
            ResultsError::Record { .. } | ResultsError::Contradiction { .. } => ErrorKind::File,
        }
    }
}

/// Position of a file of results and its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solved {
    /// The position, of a standard board.
    pub position: Position,
    /// Outcome for the side to move.
    pub value: Value,
}

/// Parses records. Keeps the boards, because they take long to create.
#[derive(Debug, Default)]
struct Boards(HashMap<Dimensions, Board>);

impl Boards {
    /// Returns the board of a record, its position and its outcome.
    fn parse(
        &mut self,
        path: &Path,
        record: &Record<'_>,
    ) -> Result<(&Board, Solved), ResultsError> {
        let invalid = |problem: String| ResultsError::Record {
            path: path.to_owned(),
            place: record.place,
            text: record.text.to_owned(),
            problem,
        };
        let value = match record.number {
            0 => Value::Loss,
            1 => Value::Win,
            _ => return Err(invalid("the outcome is neither 0 nor 1".to_owned())),
        };
        let dimensions = dimensions_of(record.text);
        let dimensions = dimensions.ok_or_else(|| invalid("no board has its size".to_owned()))?;
        let board = self.0.entry(dimensions).or_insert_with(|| Board::new(dimensions));
        let (_, position) = parse_position_as(dimensions, record.text, PhaseChoice::Auto)
            .map_err(|error| invalid(error.to_string()))?;
        if !position.is_standard() {
            return Err(invalid("it is not a position of the standard rules".to_owned()));
        }
        Ok((board, Solved { position, value }))
    }
}

/// Reads a file of results and calls `each` for every record.
///
/// # Errors
/// If the file cannot be read or is damaged, or a record is invalid.
pub fn read(path: &Path, mut each: impl FnMut(Solved)) -> Result<(), ResultsError> {
    let mut boards = Boards::default();
    record_file::read(path, RESULTS, |record| {
        each(boards.parse(path, &record)?.1);
        Ok::<(), ResultsError>(())
    })?;
    Ok(())
}

/// Stores the outcomes of a file for this board in a table, for searches that do not add to the file.
///
/// # Errors
/// As [`read`].
pub(crate) fn fill(
    path: &Path,
    board: &Board,
    table: &Table,
    key_of: impl Fn(u64) -> u64 + Sync,
) -> Result<(), ResultsError> {
    let mut known = HashMap::new();
    read(path, |Solved { position, value }| {
        if position.dimensions() == board.dimensions() && board.rules() == Rules::Standard {
            known.insert(position.code(board), value);
        }
    })?;
    store(&known, table, key_of);
    Ok(())
}

fn store(known: &HashMap<u64, Value>, table: &Table, key_of: impl Fn(u64) -> u64 + Sync) {
    table.reserve(known.len() as u64, 1, &key_of);
    for (&code, &value) in known {
        table.store(key_of(code), code, Entry::solved(value, MIN_WORK));
    }
}

/// Adds outcomes to a file, unless it has them. Creates the file if it does not exist, and waits up to a minute for
/// another process that adds to it. Calls `each` for every record of the file before that. Returns the number of outcomes
/// that were added.
///
/// # Errors
/// If the file cannot be read or written or is damaged, or contains another outcome of one of the positions. Then nothing
/// is added.
pub fn add(
    path: &Path,
    solved: &[Solved],
    mut each: impl FnMut(Solved),
) -> Result<u64, ResultsError> {
    let begun = Instant::now();
    loop {
        let (mut boards, mut known) = (Boards::default(), HashMap::new());
        let load = |record: Record<'_>| {
            let (board, solved) = boards.parse(path, &record)?;
            let key = (board.dimensions(), solved.position.code(board));
            if known.insert(key, solved.value).is_some_and(|value| value != solved.value) {
                return Err(contradiction(path, solved.position));
            }
            each(solved);
            Ok(())
        };
        let mut file = match RecordFile::open(path, RESULTS, load) {
            Err(ResultsError::File(RecordFileError::InUse { .. }))
                if begun.elapsed() < MAX_WAIT =>
            {
                sleep(Duration::from_millis(10));
                continue;
            }
            file => file?.0,
        };
        let mut added = Vec::new();
        for solved in solved {
            let dimensions = solved.position.dimensions();
            let board = boards.0.entry(dimensions).or_insert_with(|| Board::new(dimensions));
            match known.entry((dimensions, solved.position.code(board))) {
                Slot::Occupied(slot) if *slot.get() != solved.value => {
                    return Err(contradiction(path, solved.position));
                }
                Slot::Occupied(_) => {}
                Slot::Vacant(slot) => {
                    slot.insert(solved.value);
                    added.push(solved);
                }
            }
        }
        for Solved { position, value } in &added {
            file.append(&position.to_string(), u32::from(*value == Value::Win))?;
        }
        file.close()?;
        return Ok(added.len() as u64);
    }
}

fn contradiction(path: &Path, position: Position) -> ResultsError {
    ResultsError::Contradiction { path: path.to_owned(), position }
}
