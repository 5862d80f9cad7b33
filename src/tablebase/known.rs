//! A database as known values of a search.

use std::sync::OnceLock;

use super::database::Database;
use super::files::{DatabaseError, Scope};
use super::index::SetMap;
use crate::konane::{Phase, Position};
use crate::search::Value;
use crate::search::plain::oracle::{Oracle, OracleAnswer};

/// The values of a database, for [`crate::Solver::known`].
///
/// Positions with more stones than the database covers are recognised by counting stones, in a
/// nanosecond. An error of the database ends the search that meets it;
/// [`DatabaseValues::into_error`] returns it.
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
/// A position and the one with the colours exchanged have the same code and the same value. Of
/// the two, a database of reachable positions may hold one only, so both are looked up.
#[derive(Debug)]
pub struct DatabaseValues<'a> {
    database: &'a Database,
    max_stones: u32,
    /// In scope reachable: exchanges the colours, on boards where that is possible.
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

    /// Value of a position or, if it is not reached, of the equivalent one with
    /// the colours exchanged.
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
            // Reached only by a search that begins with a position of no game.
            Ok(None) => OracleAnswer::Unknown,
            Err(error) => {
                // Another thread may have been first; one error is enough.
                let _ = self.error.set(error);
                OracleAnswer::Failed
            }
        }
    }
}
