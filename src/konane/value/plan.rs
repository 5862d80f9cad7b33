//! Number of positions and memory that an evaluation takes, without the evaluation.
//!
//! Positions are counted in layers, those with the most stones first, until a limit is reached. The rest is extrapolated:
//! from layer to layer the size grows by a factor that falls steadily, and whose logarithm falls a little faster with each
//! layer.

use std::collections::BTreeMap;
use std::time::Instant;

use ahash::RandomState;
use hashbrown::HashSet;
use serde::Serialize;

use super::super::geometry::{Colour, Dimensions};
use super::super::position::Position;
use super::position_values::{PositionValues, ValueProgress, for_each_successor};
use super::{Components, ValueError, ValueTerm, single_position, term_texts};
use crate::search::run::{Limits, Reason};

/// Number of positions to count, if there is no limit.
const MAX_COUNTED: u64 = 2_000_000;

/// Number of layers below which nothing is extrapolated. They are counted in spite of a limit of positions.
const MIN_LAYERS: usize = 4;

/// Factor by which the slope of the logarithm of the growth increases from layer to layer. Chosen with 69 positions of random
/// games on nine boards.
const SLOPE_GROWTH: f64 = 1.07;

/// Least steep slope. Layers that are still small may have none.
const LEAST_SLOPE: f64 = -0.05;

/// Bytes of all values, in relation to those of the memo of positions: at most 0.5 in 21 evaluations.
const VALUE_SHARE: f64 = 0.5;

/// Time of an evaluation, in relation to that of a count of as many positions: 2.3 to 3.7 in 12 evaluations. The second
/// factor is for boards on which every position is divided into regions: the division takes most of the time.
const TIME_FACTORS: [f64; 2] = [3.0, 1.2];

/// Positions between two polls of the limits and calls of the observer.
const POLL_INTERVAL: usize = 1 << 12;

/// Positions, memory and time of an evaluation. The time is for the machine that made the plan.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct ValuePlan {
    /// Ranks x files; absent for a sum of several terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<Dimensions>,
    /// The position; absent for a sum of several terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// The terms of a sum: positions with their boards, and games; absent for a single position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<String>,
    /// Positions that the evaluation visits, an estimate if `reason` is present; null if it is unknown.
    pub positions: Option<u64>,
    /// Positions that were counted.
    pub counted: u64,
    /// The limit that ended the counting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Memory that the evaluation needs, an estimate; null if it is unknown.
    pub memory_bytes: Option<u64>,
    /// Time that the evaluation needs, an estimate; null if it is unknown.
    pub evaluation_seconds: Option<f64>,
    /// Wall-clock time of the counting.
    pub seconds: f64,
}

/// Estimates the positions and the memory that [`evaluate`](super::evaluate) takes for the sum of `terms`.
///
/// Counts until there are [`Limits::nodes`] positions of each board, 2 million without this limit; the last layer is counted
/// completely, and at least four are. Another limit, or a need of more than `memory_bytes`, ends the counting as well.
/// Games that are not positions are not included.
///
/// # Errors
/// Those of [`evaluate`](super::evaluate).
pub fn plan(
    terms: &[ValueTerm],
    limits: Limits<'_>,
    memory_bytes: u64,
    observer: &mut dyn FnMut(&ValueProgress),
) -> Result<ValuePlan, ValueError> {
    let begun = Instant::now();
    let Components { games, boards, parts, unread } = Components::new(terms, limits, memory_bytes)?;
    let mut count = Count { limits, memory_bytes, counted: 0, reason: unread, observer };
    let mut positions = unread.is_none().then_some(0);
    let (mut memory, mut evaluation_seconds) = (0, 0.0);
    for (place, board) in boards.iter().enumerate() {
        let regions = parts.iter().filter_map(|part| part.region);
        let roots = regions.filter(|&(at, _)| at == place).map(|(_, region)| region.occupied);
        let (before, begun) = (count.counted, Instant::now());
        let found = count.positions(board, roots);
        let share = (count.counted - before).max(1) as f64 / found.unwrap_or(0).max(1) as f64;
        let factor = TIME_FACTORS[usize::from(board.splits_all)];
        evaluation_seconds += factor * begun.elapsed().as_secs_f64() / share;
        positions = positions.zip(found).map(|(sum, found): (u64, u64)| sum.saturating_add(found));
        memory = found.map_or(0, PositionValues::memo_bytes).saturating_add(memory);
    }
    let memory_bytes = (memory as f64 * (1.0 + VALUE_SHARE)) as u64;
    let single = single_position(terms);
    Ok(ValuePlan {
        board: single.map(|(board, _)| board.dimensions()),
        position: single.map(|(_, position)| position),
        terms: if single.is_some() { Vec::new() } else { term_texts(terms) },
        positions,
        counted: count.counted,
        reason: count.reason,
        memory_bytes: positions.map(|_| memory_bytes.saturating_add(games.memory_bytes() as u64)),
        evaluation_seconds: positions.map(|_| evaluation_seconds),
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// A count of positions, and its limits.
struct Count<'c> {
    limits: Limits<'c>,
    memory_bytes: u64,
    counted: u64,
    /// The limit that ended the counting.
    reason: Option<Reason>,
    observer: &'c mut dyn FnMut(&ValueProgress),
}

impl Count<'_> {
    /// Returns the number of positions that the values of `roots` need. `None` if too few layers were counted.
    fn positions(
        &mut self,
        values: &PositionValues<'_>,
        roots: impl Iterator<Item = u64>,
    ) -> Option<u64> {
        let mut layers = Layers::new();
        roots.for_each(|root| insert(&mut layers, values.code(root).0));
        let max = self.limits.nodes.unwrap_or(MAX_COUNTED);
        let (mut sizes, mut sum) = (Vec::new(), 0);
        while let Some((stones, layer)) = layers.pop_last() {
            // Regions have fewer stones, so they belong to later layers.
            let is_whole =
                |&code: &u64| values.is_whole(code, |region| insert(&mut layers, region));
            let layer: Vec<u64> = layer.into_iter().filter(is_whole).collect();
            sizes.push(layer.len().max(1) as f64);
            sum += layer.len() as u64;
            self.counted += layer.len() as u64;
            let has_moves = |&occupied: &u64| {
                let position = Position::new_unchecked(values.board, occupied, Colour::Black);
                let colours = [Colour::Black, Colour::White];
                colours.into_iter().any(|colour| position.count_jumps(values.board, colour) > 0)
            };
            let is_over = sum >= max
                && sizes.len() >= MIN_LAYERS
                && (!layers.is_empty() || layer.iter().any(has_moves));
            let mut reason = is_over.then_some(Reason::NodeLimit);
            for chunk in layer.chunks(POLL_INTERVAL) {
                reason = reason.or_else(|| self.poll(&layers));
                if reason.is_some() {
                    self.reason = self.reason.or(reason);
                    // A conversion of a number that is too large gives the greatest integer.
                    return Some(sum.saturating_add(extrapolate(&sizes, stones)? as u64));
                }
                for &occupied in chunk {
                    for colour in [Colour::Black, Colour::White] {
                        for_each_successor(values.board, occupied, colour, |after| {
                            insert(&mut layers, values.code(after).0);
                        });
                    }
                }
            }
        }
        Some(sum)
    }

    /// Calls the observer. Returns the limit that was reached.
    fn poll(&mut self, layers: &Layers) -> Option<Reason> {
        let bytes: usize = layers.values().map(HashSet::allocation_size).sum();
        let positions = self.counted;
        (self.observer)(&ValueProgress { positions, games: 0, memory_bytes: bytes as u64 });
        // A table is copied to one of twice the size when it is full.
        let is_full = 3 * bytes as u64 > self.memory_bytes;
        is_full.then_some(Reason::Memory).or_else(|| self.limits.reached())
    }
}

/// Codes of the positions that are to be counted, by their number of stones.
type Layers = BTreeMap<u32, HashSet<u64, RandomState>>;

fn insert(layers: &mut Layers, code: u64) {
    layers.entry(code.count_ones()).or_default().insert(code);
}

/// Estimates the number of positions in the layers after those of `sizes`. The positions of the last counted layer have
/// `stones` stones. `None` if fewer than [`MIN_LAYERS`] were counted.
fn extrapolate(sizes: &[f64], stones: u32) -> Option<f64> {
    if sizes.len() < MIN_LAYERS {
        return None;
    }
    let growth = |back: usize| (sizes[sizes.len() - back] / sizes[sizes.len() - back - 1]).ln();
    let mut slope = ((growth(1) - growth(3)) / 2.0).min(LEAST_SLOPE);
    let mut growth = growth(1);
    let (mut size, mut sum) = (sizes[sizes.len() - 1], 0.0);
    for _ in 1..stones {
        slope *= SLOPE_GROWTH;
        growth += slope;
        size *= growth.exp();
        sum += size;
    }
    Some(sum)
}
