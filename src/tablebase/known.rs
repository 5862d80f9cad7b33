//! The values of a database, as an oracle for a search.

use std::sync::OnceLock;

use super::database::Database;
use super::files::{DatabaseError, Scope};
use super::index::SetMap;
use crate::konane::{Board, Phase, Position};
use crate::search::Value;
use crate::search::plain::oracle::{Oracle, OracleAnswer};

/// The values of a database, for [`crate::Solver::oracle`].
///
/// For a position with more stones than the database covers, the answer is "unknown" after a nanosecond,
/// because only the stones are counted. The first error of a look-up ends the search.
/// [`DatabaseValues::into_error`] returns this error.
///
/// ```no_run
/// use konane::tablebase::{Database, DatabaseOptions, DatabaseValues};
/// use konane::{Position, Solver};
///
/// let database = Database::find(&["db"], "7x7".parse()?, DatabaseOptions::default())?;
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
/// On boards where the colours can be exchanged, a position and the equivalent position with exchanged
/// colours have the same code and the same value. A database of reachable positions may contain only one of
/// these two positions. So if the first is not found, the second is looked up.
#[derive(Debug)]
pub struct DatabaseValues<'a> {
    database: &'a Database,
    board: &'a Board,
    max_stones: u32,
    /// The symmetry that exchanges the colours. `None` in scope complete, and on boards without such a
    /// symmetry.
    exchange: Option<SetMap>,
    error: OnceLock<DatabaseError>,
}

impl<'a> DatabaseValues<'a> {
    /// Creates the oracle of a database.
    pub fn new(database: &'a Database) -> Self {
        let coverage = database.coverage();
        let squares = coverage.dimensions.squares() as usize;
        let exchanging = database.board().symmetries().exchanging().first();
        let exchange = exchanging
            .filter(|_| coverage.scope == Scope::Reachable)
            .map(|symmetry| SetMap::new(squares, |square| 1 << symmetry[square]));
        let max_stones = coverage.max_stones;
        DatabaseValues {
            database,
            board: database.board(),
            max_stones,
            exchange,
            error: OnceLock::new(),
        }
    }

    /// Sets the board of the searches, which has the dimensions of the database's board. It is needed for searches
    /// with other symmetries ([`Board::with_symmetry`]).
    pub fn with_board(self, board: &'a Board) -> Self {
        DatabaseValues { board, ..self }
    }

    /// Returns the value of a position or, if the database does not contain it, of the equivalent position
    /// with exchanged colours. `None` if the database contains neither.
    ///
    /// # Errors
    /// As [`Database::value`].
    #[inline]
    pub fn look_up(&self, position: &Position) -> Result<Option<Value>, DatabaseError> {
        let found = self.database.value(position)?;
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

    /// Returns the first error of a look-up. If there is none, every value was read from an undamaged file.
    pub fn into_error(self) -> Option<DatabaseError> {
        self.error.into_inner()
    }
}

impl Oracle for DatabaseValues<'_> {
    #[inline]
    fn value(&self, code: u64) -> OracleAnswer {
        let position = Position::from_code(self.board, code);
        if position.occupied().count_ones() > self.max_stones {
            return OracleAnswer::Unknown;
        }
        match self.look_up(&position) {
            Ok(Some(value)) => OracleAnswer::Known(value),
            // Happens only in searches that begin with a position that no game reaches.
            Ok(None) => OracleAnswer::Unknown,
            Err(error) => {
                // Another thread may have stored its error before. One error is enough.
                let _ = self.error.set(error);
                OracleAnswer::Failed
            }
        }
    }
}
