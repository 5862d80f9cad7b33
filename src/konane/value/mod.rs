//! Values of positions in the jumping phase as combinatorial games, and of sums of positions and other games. Left is
//! Black, Right is White.
//!
//! * [`evaluate`]: the value of a sum ([`SumValue`]), with its components and the moves of a player.
//! * [`solve_sum`]: the winner of a sum ([`SumSolution`]), by search where values take too long.
//! * [`regions`]: the independent regions of a position.
//! * [`plan()`]: the number of positions and the memory that an evaluation takes ([`ValuePlan`]).
//! * [`census`]: all values of a board.

mod census;
mod plan;
mod position_values;
mod regions;
mod sum_search;
#[cfg(test)]
mod tests;

pub use census::{CensusRow, MAX_CENSUS_SQUARES, census};
pub use plan::{ValuePlan, plan};
pub use position_values::ValueProgress;
pub use regions::{BoardRegion, regions};
pub use sum_search::{SumMove, SumSolution, solve_sum};

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::board::Board;
use super::geometry::{Colour, Dimensions, squares};
use super::position::{Phase, Position};
use super::square::Square;
use crate::cgt::{Dyadic, GameId, GameStore, GameTextError, OutcomeClass, Thermograph};
use crate::error::ErrorKind;
use crate::json::or_unknown;
use crate::search::Value;
use crate::search::run::{Limits, Reason};
use position_values::{Evaluation, PositionValues};

/// A term of a sum.
#[derive(Clone, Debug)]
pub enum ValueTerm {
    /// A position, which must be in the jumping phase. The side to move is ignored.
    Position(Arc<Board>, Position),
    /// A game in the notation of [`GameStore::parse`].
    Game(String),
}

/// Error that prevents an evaluation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// A position before the jumping phase.
    #[error(
        "{0} is before the second removal: only positions in the jumping phase have values, because the removals follow \
         other rules for each player"
    )]
    Removal(Position),
    /// A text that is not a game.
    #[error(transparent)]
    Game(#[from] GameTextError),
    /// A sum that the search cannot represent.
    #[error(
        "this sum is too large for the search: it needs {bits} bits, at most 63 are possible (one for each square that a \
         stone of a component without a value may reach, the others for the player to move and the values); a higher \
         --memory or --max-nodes may give more components a value"
    )]
    TooLarge {
        /// Bits that a code would need.
        bits: u32,
    },
}

impl ValueError {
    /// Returns the kind of this error.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            ValueError::Removal(_) => ErrorKind::Usage,
            ValueError::TooLarge { .. } => ErrorKind::Limit,
            ValueError::Game(error) => error.kind(),
        }
    }
}

/// Value of a position, or of a sum of positions and other games.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct SumValue {
    /// Ranks x files; absent for a sum of several terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<Dimensions>,
    /// The position; absent for a sum of several terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// The terms of a sum: positions with their boards, and games; absent for a single position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<String>,
    /// The player to move.
    pub to_move: Colour,
    /// Kind of the next move; absent for a sum of several terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The canonical form in the notation of CGSuite, or `unknown`. Black is Left.
    pub value: String,
    /// Outcome class: L (Black wins), R (White wins), N (the next player wins) or P (the previous player wins); null if
    /// it is unknown.
    pub class: Option<OutcomeClass>,
    /// The result for the player to move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
    /// The player who wins.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Colour>"))]
    pub winner: Option<Colour>,
    /// Reason for an unknown value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Mean value, a fraction; null if it is unknown.
    pub mean: Option<Dyadic>,
    /// Temperature, a fraction; null if it is unknown.
    pub temperature: Option<Dyadic>,
    /// Number at which play ends if Black begins; null if it is unknown.
    pub left_stop: Option<Dyadic>,
    /// Number at which play ends if White begins; null if it is unknown.
    pub right_stop: Option<Dyadic>,
    /// The components: independent regions of the positions, and games.
    pub components: Vec<ValueComponent>,
    /// The moves of the player to move, the winning ones first; empty if the value is unknown.
    pub moves: Vec<MoveValue>,
    /// Positions evaluated.
    pub nodes: u64,
    /// Different canonical forms among their values and the positions of these.
    pub games: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Wall-clock time.
    pub seconds: f64,
    /// The thermograph, if the value is known.
    #[serde(skip)]
    pub thermograph: Option<Thermograph>,
}

/// A component of a sum.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct ValueComponent {
    /// Number of the term, from 1; absent for a single position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term: Option<u32>,
    /// The squares of the stones of the component; empty for a game that is not a position.
    pub squares: Vec<Square>,
    /// The canonical form, or `unknown`.
    pub value: String,
    /// Mean value; null if it is unknown.
    pub mean: Option<Dyadic>,
    /// Temperature; null if it is unknown.
    pub temperature: Option<Dyadic>,
}

/// A move, and the value after it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct MoveValue {
    /// Number of the term, from 1; absent for a single position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term: Option<u32>,
    /// The jump, or the option to which the player moves in a game.
    #[serde(rename = "move")]
    pub mv: String,
    /// The result for the player who makes the move.
    pub outcome: Value,
    /// The canonical form of the component after the move.
    pub value: String,
}

/// A component and its game.
struct Part {
    term: usize,
    /// Index of the values of its board, and the region; `None` for a game.
    region: Option<(usize, BoardRegion)>,
    value: Option<GameId>,
}

/// A sum, divided into components.
struct Components<'t, 'a> {
    games: GameStore<'a>,
    /// Values of the positions of each board. Terms on equal boards share them.
    boards: Vec<PositionValues<'t>>,
    parts: Vec<Part>,
    /// The limit that kept a game from being read.
    unread: Option<Reason>,
}

impl<'t, 'a> Components<'t, 'a> {
    fn new(
        terms: &'t [ValueTerm],
        limits: Limits<'a>,
        memory_bytes: u64,
    ) -> Result<Self, ValueError> {
        let mut games = GameStore::new(Limits { nodes: None, ..limits }, memory_bytes);
        let mut boards: Vec<PositionValues<'t>> = Vec::new();
        let mut parts = Vec::new();
        let mut unread = None;
        for (term, content) in terms.iter().enumerate() {
            match content {
                ValueTerm::Position(board, position) => {
                    if position.phase(board) != Phase::Jumping {
                        return Err(ValueError::Removal(*position));
                    }
                    let same = |values: &PositionValues<'_>| {
                        let key = |board: &Board| (board.dimensions(), board.rules());
                        key(values.board) == key(board)
                    };
                    let place = boards.iter().position(same).unwrap_or_else(|| {
                        boards.push(PositionValues::new(board));
                        boards.len() - 1
                    });
                    let regions = regions(board, position.occupied());
                    parts.extend(regions.into_iter().map(|region| Part {
                        term,
                        region: Some((place, region)),
                        value: None,
                    }));
                }
                ValueTerm::Game(text) => {
                    let value = match games.parse(text) {
                        Err(GameTextError::Limit(reason)) => {
                            unread = Some(reason);
                            None
                        }
                        game => Some(game?),
                    };
                    parts.push(Part { term, region: None, value });
                }
            }
        }
        Ok(Components { games, boards, parts, unread })
    }
}

/// Returns the result for the player to move in a game of this class.
fn outcome(class: OutcomeClass, to_move: Colour) -> Value {
    match (class, to_move) {
        (OutcomeClass::Left, Colour::Black)
        | (OutcomeClass::Right, Colour::White)
        | (OutcomeClass::Next, _) => Value::Win,
        _ => Value::Loss,
    }
}

/// Returns the sum of the values that are known, without that of the component `except`.
fn known_sum(
    games: &mut GameStore<'_>,
    parts: &[Part],
    except: Option<usize>,
) -> Result<GameId, Reason> {
    let others = parts.iter().enumerate().filter(|&(at, _)| Some(at) != except);
    let mut values: Vec<GameId> = others.filter_map(|(_, part)| part.value).collect();
    // Equal and opposite games next to each other, and simple games first.
    values.sort_unstable();
    values.into_iter().try_fold(games.zero(), |sum, value| games.sum(sum, value))
}

/// A move in a component whose value is known.
struct KnownMove {
    /// Index of the term.
    term: usize,
    /// The jump, or the option to which the player moves in a game.
    mv: String,
    /// Value of the component after the move.
    value: GameId,
    /// Sum of the other components whose values are known.
    rest: GameId,
}

/// Returns the moves of a player in the components whose values are known.
fn known_moves(
    boards: &mut [PositionValues<'_>],
    parts: &[Part],
    to_move: Colour,
    run: &mut Evaluation<'_, '_>,
) -> Result<Vec<KnownMove>, Reason> {
    let mut moves = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let Some(value) = part.value else { continue };
        let term = part.term;
        let rest = known_sum(run.games, parts, Some(at))?;
        let Some((place, region)) = part.region else {
            let options: Vec<GameId> = match to_move {
                Colour::Black => run.games.left_options(value).collect(),
                Colour::White => run.games.right_options(value).collect(),
            };
            moves.extend(options.into_iter().map(|option| {
                let mv = run.games.text(option);
                KnownMove { term, mv, value: option, rest }
            }));
            continue;
        };
        let board = boards[place].board;
        let position = Position::new_unchecked(board, region.occupied, to_move);
        for mv in position.moves(board) {
            let after = position.play(board, mv).occupied();
            let value = boards[place].region_value(after, run)?;
            moves.push(KnownMove { term, mv: mv.to_string(), value, rest });
        }
    }
    Ok(moves)
}

/// Returns true if the player who moved to `value` wins the sum with `rest`. Compares, because the sum itself may be large.
fn wins_after(
    games: &mut GameStore<'_>,
    value: GameId,
    rest: GameId,
    mover: Colour,
) -> Result<bool, Reason> {
    // The mover wins if the sum is at least 0 (Black) or at most 0 (White).
    let minus = games.negative(rest);
    match mover {
        Colour::Black => games.is_at_most(minus, value),
        Colour::White => games.is_at_most(value, minus),
    }
}

/// Returns the position that is the only term.
fn single_position(terms: &[ValueTerm]) -> Option<(&Board, Position)> {
    match terms {
        [ValueTerm::Position(board, position)] => Some((board, *position)),
        _ => None,
    }
}

/// The terms of a sum as text: positions with their boards, and games.
fn term_texts(terms: &[ValueTerm]) -> Vec<String> {
    let text = |term: &ValueTerm| match term {
        ValueTerm::Position(board, position) => format!("{} {position}", board.dimensions()),
        ValueTerm::Game(text) => text.clone(),
    };
    terms.iter().map(text).collect()
}

/// Evaluates the sum of `terms`. `to_move` selects the player whose moves are evaluated.
///
/// Reaching a limit leaves the value unknown, with a reason; [`Limits::nodes`] limits the number of positions.
/// `observer` is called every few thousand positions.
///
/// # Errors
/// If a position is not in the jumping phase, or a text is not a game.
pub fn evaluate(
    terms: &[ValueTerm],
    to_move: Colour,
    limits: Limits<'_>,
    memory_bytes: u64,
    observer: &mut dyn FnMut(&ValueProgress),
) -> Result<SumValue, ValueError> {
    let begun = Instant::now();
    let Components { mut games, mut boards, mut parts, unread } =
        Components::new(terms, limits, memory_bytes)?;
    let mut run =
        Evaluation { games: &mut games, positions: 0, max_positions: limits.nodes, observer };
    let number_of = |term: usize| (terms.len() > 1).then_some(term as u32 + 1);
    let mut find = || -> Result<(GameId, Vec<MoveValue>), Reason> {
        for part in &mut parts {
            if let Some((place, region)) = part.region {
                part.value = Some(boards[place].region_value(region.occupied, &mut run)?);
            }
        }
        let total = known_sum(run.games, &parts, None)?;
        let mut moves = Vec::new();
        for KnownMove { term, mv, value, rest } in
            known_moves(&mut boards, &parts, to_move, &mut run)?
        {
            let wins = wins_after(run.games, value, rest, to_move)?;
            let outcome = if wins { Value::Win } else { Value::Loss };
            moves.push(MoveValue {
                term: number_of(term),
                mv,
                outcome,
                value: run.games.text(value),
            });
        }
        moves.sort_by_key(|mv| mv.outcome == Value::Loss);
        // Thermographs are stored, so that no limit ends the calls below.
        for value in parts.iter().filter_map(|part| part.value).chain([total]) {
            run.games.thermograph(value)?;
        }
        Ok((total, moves))
    };
    let found = unread.map_or_else(&mut find, Err);
    let nodes = run.positions;
    let mut components = Vec::new();
    for part in &parts {
        let squares = part.region.map_or(Vec::new(), |(place, region)| {
            let dimensions = boards[place].board.dimensions();
            squares(region.stones).map(|square| Square::new(dimensions, square)).collect()
        });
        let thermograph = part.value.and_then(|value| games.thermograph(value).ok().flatten());
        components.push(ValueComponent {
            term: number_of(part.term),
            squares,
            value: part.value.map_or("unknown".to_owned(), |value| games.text(value)),
            mean: thermograph.as_ref().map(|thermograph| thermograph.mean),
            temperature: thermograph.as_ref().map(|thermograph| thermograph.temperature),
        });
    }
    let (total, moves, reason) = match found {
        Ok((total, moves)) => (Some(total), moves, None),
        Err(reason) => (None, Vec::new(), Some(reason)),
    };
    let thermograph = total.and_then(|total| games.thermograph(total).ok().flatten());
    let class = total.map(|total| games.class(total));
    let outcome = class.map(|class| outcome(class, to_move));
    let stops = total.map(|total| games.stops(total));
    let single = single_position(terms);
    Ok(SumValue {
        board: single.map(|(board, _)| board.dimensions()),
        position: single.map(|(_, position)| position),
        phase: single.map(|(board, position)| position.phase(board)),
        terms: if single.is_some() { Vec::new() } else { term_texts(terms) },
        to_move,
        value: total.map_or("unknown".to_owned(), |total| games.text(total)),
        class,
        outcome,
        winner: outcome.map(|outcome| to_move.winner(outcome)),
        reason,
        mean: thermograph.as_ref().map(|thermograph| thermograph.mean),
        temperature: thermograph.as_ref().map(|thermograph| thermograph.temperature),
        left_stop: stops.map(|[left, _]| left),
        right_stop: stops.map(|[_, right]| right),
        components,
        moves,
        nodes,
        games: games.len() as u64,
        memory_bytes: games.memory_bytes() as u64,
        seconds: begun.elapsed().as_secs_f64(),
        thermograph,
    })
}
