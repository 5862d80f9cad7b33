//! Sums of several workers' counters.

#![forbid(unsafe_code)]

use super::control::Counters;

/// Adds what has been counted since `before` to a sum.
pub(super) fn add_since(sum: &mut Counters, now: &Counters, before: &Counters) {
    let Counters {
        nodes,
        expansions,
        settle_positions,
        known_hits,
        first_level,
        second_level,
        table_used,
        table_replaced,
    } = sum;
    *nodes += now.nodes - before.nodes;
    *expansions += now.expansions - before.expansions;
    *settle_positions += now.settle_positions - before.settle_positions;
    *known_hits += now.known_hits - before.known_hits;
    *first_level += now.first_level - before.first_level;
    *second_level += now.second_level - before.second_level;
    *table_used += now.table_used - before.table_used;
    *table_replaced += now.table_replaced - before.table_replaced;
}
