//! All values of a board.

use serde::Serialize;

use super::super::board::Board;
use super::super::geometry::Colour;
use super::super::position::Position;
use super::position_values::{Evaluation, PositionValues, ValueProgress};
use crate::cgt::{Dyadic, GameStore, OutcomeClass};
use crate::search::run::{Limits, Reason};

/// A value, and the positions that have it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct CensusRow {
    /// The canonical form in the notation of CGSuite. Black is Left.
    pub value: String,
    /// Outcome class: L (Black wins), R (White wins), N (the next player wins) or P (the previous player wins).
    pub class: OutcomeClass,
    /// Mean value.
    pub mean: Dyadic,
    /// Temperature.
    pub temperature: Dyadic,
    /// Number of positions with this value.
    pub positions: u64,
    /// A position with the fewest stones.
    pub example: Position,
}

/// Maximum number of squares of a board for [`census`].
pub const MAX_CENSUS_SQUARES: u32 = 30;

/// Bytes of an entry in the map of counts, with the unused part of its tree nodes.
const COUNT_BYTES: usize = 64;

/// Returns all values of positions of a board, the hottest first. Every set of stones is a position in the jumping
/// phase.
///
/// # Errors
/// The limit that was reached.
///
/// # Panics
/// If the board has more than [`MAX_CENSUS_SQUARES`] squares.
pub fn census(
    board: &Board,
    limits: Limits<'_>,
    memory_bytes: u64,
    observer: &mut dyn FnMut(&ValueProgress),
) -> Result<Vec<CensusRow>, Reason> {
    assert!(board.dimensions().squares() <= MAX_CENSUS_SQUARES, "the board has too many positions");
    let mut games = GameStore::new(Limits { nodes: None, ..limits }, memory_bytes);
    let mut run =
        Evaluation { games: &mut games, positions: 0, max_positions: limits.nodes, observer };
    let mut values = PositionValues::new(board);
    // By the index of the game: number of positions, and an example.
    let mut counts: std::collections::BTreeMap<_, (u64, u64)> = std::collections::BTreeMap::new();
    for occupied in 0..=board.all() {
        run.games.poll()?;
        let value = values.region_value(occupied, &mut run)?;
        if !counts.contains_key(&value) {
            run.games.reserve(COUNT_BYTES)?;
        }
        let (count, example) = counts.entry(value).or_insert((0, occupied));
        *count += 1;
        if occupied.count_ones() < example.count_ones() {
            *example = occupied;
        }
    }
    let mut rows = Vec::new();
    for (value, (positions, example)) in counts {
        let thermograph = games.thermograph(value)?.ok_or(Reason::Memory)?;
        let text = games.text(value);
        games.reserve(size_of::<CensusRow>() + text.len())?;
        rows.push(CensusRow {
            value: text,
            class: games.class(value),
            mean: thermograph.mean,
            temperature: thermograph.temperature,
            positions,
            example: Position::new_unchecked(board, example, Colour::Black),
        });
    }
    rows.sort_by(|a, b| {
        (b.temperature, b.positions, b.mean)
            .cmp(&(a.temperature, a.positions, a.mean))
            .then(a.value.cmp(&b.value))
    });
    Ok(rows)
}
