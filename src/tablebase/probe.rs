//! Outcomes of a position and of its moves, and perfect games.

use serde::Serialize;

use super::database::Database;
use super::files::DatabaseError;
use crate::cgt::OutcomeClass;
use crate::konane::{Colour, Dimensions, Move, Phase, Position};
use crate::search::Value;

/// A move and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct RatedMove {
    /// The move.
    #[serde(rename = "move")]
    pub mv: Move,
    /// The outcome for the player who makes it.
    pub outcome: Value,
    /// Plies to the end with best play, this move included, if the database stores remotenesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remoteness: Option<u32>,
}

/// Values of a position and its moves from a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Probe {
    /// Ranks x files.
    pub board: Dimensions,
    /// The position.
    pub position: Position,
    /// The player to move.
    pub to_move: Colour,
    /// Kind of the next move.
    pub phase: Phase,
    /// The outcome for the player to move.
    pub outcome: Value,
    /// The player who wins.
    pub winner: Colour,
    /// Plies to the end with best play, if the database stores remotenesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remoteness: Option<u32>,
    /// Outcome class: L (Black wins), R (White wins), N (the next player wins) or P (the previous player wins). Absent
    /// in the removal phase, and if the database does not contain the position with both sides to move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<OutcomeClass>,
    /// The moves, best move first: winning moves, then losing moves. If the database stores
    /// remotenesses, quick wins are before long wins, and long losses before quick losses. Equally
    /// good moves are ordered by direction, then by length, then by square. Empty if the side to
    /// move has no move.
    pub moves: Vec<RatedMove>,
}

impl Probe {
    /// Returns a best move: a winning move, if there is one. If the database stores remotenesses, it is
    /// the quickest win or the longest loss. `None` if there is no move.
    pub fn best_move(&self) -> Option<Move> {
        self.moves.first().map(|rated| rated.mv)
    }
}

/// Looks up a position of the database's board, and the position after every move.
///
/// Each of these positions costs one look-up, and the class another one. In the removal phase, some 20 more are needed. If the database
/// stores remotenesses, each position also costs one look-up for every bit of its remoteness.
///
/// # Errors
/// If the database does not cover the position (the error states what the database covers), if a file is
/// damaged, or if the values of the position and its moves contradict each other.
///
/// # Examples
/// ```no_run
/// use konane::tablebase::{Database, DatabaseOptions, probe};
/// use konane::{Position, notation};
///
/// let database = Database::find(&["db"], "6x6".parse()?, DatabaseOptions::default())?;
/// let board = database.board();
/// let answer = probe(&database, &Position::start(board))?;
/// for rated in answer.moves {
///     println!("{}: {}", rated.mv, rated.outcome.name());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn probe(database: &Database, position: &Position) -> Result<Probe, DatabaseError> {
    let board = database.board();
    let outcome = database.value(position)?.ok_or_else(|| database.not_covered(position))?;
    let remoteness = database.remoteness(position)?;
    let mut moves = Vec::new();
    for mv in position.moves(board) {
        let after = position.play(board, mv);
        let value = database.value(&after)?;
        let value = value.ok_or_else(|| database.contradiction(&after, "reached", "unreached"))?;
        let remoteness = database.remoteness(&after)?.map(|plies| plies + 1);
        moves.push(RatedMove { mv, outcome: !value, remoteness });
    }
    moves.sort_by_key(|rated| {
        let plies = i64::from(rated.remoteness.unwrap_or(0));
        match rated.outcome {
            Value::Win => (0, plies),
            Value::Loss => (1, -plies),
        }
    });
    let best = moves.first();
    let found = best.map_or(Value::Loss, |best| best.outcome);
    if found != outcome {
        let expected = format!("a {} by its moves", found.name());
        return Err(database.contradiction(position, &expected, outcome.name()));
    }
    let plies = best.map_or(Some(0), |best| best.remoteness);
    if let (Some(found), Some(remoteness)) = (plies, remoteness)
        && found != remoteness
    {
        let expected = format!("{found} plies to the end by its moves");
        return Err(database.contradiction(position, &expected, &remoteness.to_string()));
    }
    let to_move = position.to_move();
    Ok(Probe {
        board: board.dimensions(),
        position: *position,
        to_move,
        phase: position.phase(board),
        outcome,
        winner: to_move.winner(outcome),
        remoteness,
        class: database.class(position)?,
        moves,
    })
}

/// A game in which both sides play moves that keep the outcome, up to the position without moves.
///
/// Each item is a position and the move that is made in it. If the database stores remotenesses, the winner
/// ends the game as early as possible, and the loser as late as possible. Of equally good moves, the first
/// in the order of [`Position::moves`] is made. The iterator ends after an error.
pub fn perfect_game(database: &Database, from: Position) -> PerfectGame<'_> {
    PerfectGame { database, position: Some(from) }
}

/// The iterator of [`perfect_game`].
#[derive(Debug)]
pub struct PerfectGame<'a> {
    database: &'a Database,
    position: Option<Position>,
}

impl PerfectGame<'_> {
    /// Returns the position in which the next move will be made. At the end of the game, it has no moves.
    /// `None` after an error.
    pub fn position(&self) -> Option<Position> {
        self.position
    }
}

impl Iterator for PerfectGame<'_> {
    type Item = Result<(Position, Move), DatabaseError>;

    fn next(&mut self) -> Option<Self::Item> {
        let position = self.position?;
        match probe(self.database, &position) {
            Ok(answer) => {
                let mv = answer.best_move()?;
                self.position = Some(position.play(self.database.board(), mv));
                Some(Ok((position, mv)))
            }
            Err(error) => {
                self.position = None;
                Some(Err(error))
            }
        }
    }
}
