//! A database as the oracle of a search.

use std::sync::OnceLock;

use super::database::Database;
use super::files::{DatabaseError, Scope};
use super::index::SetMap;
use crate::konane::{Phase, Position};
use crate::search::Value;
use crate::search::plain::oracle::{Oracle, OracleAnswer};

/// The values of a database, for [`crate::Solver::oracle`].
///
/// Positions with more stones than the database covers are recognised by counting stones, in a
/// nanosecond. If a look-up fails, the search ends, and [`DatabaseValues::into_error`] returns the error.
///
/// ```no_run
/// use konane::tablebase::{Database, DatabaseOptions, DatabaseValues};
/// use konane::{Position, Solver};
///
/// let database = Database::find("db".as_ref(), "7x7".parse()?, DatabaseOptions::default())?;
/// let board = database.board();
/// let values = DatabaseValues::new(&database);
/// let solution = Solver::new(board, &Position::start(board)).oracle(&values).run()?;
/// if let Some(error) = values.into_error() {
///     return Err(error.into());
/// }
/// println!("{:?}, {} values", solution.winner, solution.report.counters.known_hits);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// On boards with a symmetry that exchanges the colours, a position and its image have the same code and the
/// same value. A database of reachable positions may hold only one of the two, so the other one is looked up
/// if the first is not found.
#[derive(Debug)]
pub struct DatabaseValues<'a> {
    database: &'a Database,
    max_stones: u32,
    /// In scope reachable: a symmetry that exchanges the colours, if the board has one.
    exchange: Option<SetMap>,
    error: OnceLock<DatabaseError>,
}

impl<'a> DatabaseValues<'a> {
    /// The values of a database.
    pub fn new(database: &'a Database) -> Self {
        let coverage = database.coverage();
        let squares = coverage.dimensions.squares() as usize;
        let exchanging = database.board().symmetries().exchanging().first();
        let exchange = exchanging
            .filter(|_| coverage.scope == Scope::Reachable)
            .map(|symmetry| SetMap::new(squares, |square| 1 << symmetry[square]));
        let max_stones = coverage.max_stones;
        DatabaseValues { database, max_stones, exchange, error: OnceLock::new() }
    }

    /// Value of a position or, if no game reaches it, of its image with the colours exchanged.
    #[inline]
    fn look_up(&self, position: Position) -> Result<Option<Value>, DatabaseError> {
        let found = self.database.value(&position)?;
        match &self.exchange {
            Some(exchange)
                if found.is_none() && position.phase(self.database.board()) == Phase::Jumping =>
            {
                let occupied = exchange.map(position.occupied());
                self.database.value(&Position::new_unchecked(
                    self.database.board(),
                    occupied,
                    !position.to_move(),
                ))
            }
            _ => Ok(found),
        }
    }

    /// The first error of a look-up. If there is none, every answer was a value from a sound file.
    pub fn into_error(self) -> Option<DatabaseError> {
        self.error.into_inner()
    }
}

impl Oracle for DatabaseValues<'_> {
    #[inline]
    fn value(&self, code: u64) -> OracleAnswer {
        let position = Position::from_code(self.database.board(), code);
        if position.occupied().count_ones() > self.max_stones {
            return OracleAnswer::Unknown;
        }
        match self.look_up(position) {
            Ok(Some(value)) => OracleAnswer::Known(value),
            // This happens only in a search that begins with a position that no game reaches.
            Ok(None) => OracleAnswer::Unknown,
            Err(error) => {
                // If another thread has already stored an error, this one is dropped: one is enough.
                let _ = self.error.set(error);
                OracleAnswer::Failed
            }
        }
    }
}
