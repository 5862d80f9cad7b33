//! Counters of searches.

use serde::{Deserialize, Serialize};

use crate::table::Stored;

/// Counters of a search. Those that do not apply to a search stay 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Positions evaluated for the first time; in impartial games, couples. A position that the
    /// table has lost counts again.
    pub nodes: u64,
    /// Expansions, repeated ones included; the papers call them iterations.
    pub expansions: u64,
    /// Positions visited by the leaf solver ([`crate::plain::game::Game::solve_leaf`]).
    pub leaf_positions: u64,
    /// Values from the oracle ([`crate::plain::oracle`]), repeated ones included.
    pub known_hits: u64,
    /// Searches on two levels: nodes of the first level's tree.
    pub first_level: u64,
    /// Searches on two levels: nodes of all second-level searches.
    pub second_level: u64,
    /// Table entries in use. Those that an earlier search left in the table are estimated
    /// ([`crate::table::Table::estimated_count`]).
    pub table_used: u64,
    /// Table entries replaced by others.
    pub table_replaced: u64,
    /// Impartial games: atoms whose options, or a first subset of them, were generated. An atom
    /// counts again if its options had been removed from memory.
    pub generated: u64,
    /// Impartial games: Grundy numbers found.
    pub grundy_numbers: u64,
    /// Impartial games: number of times that df-pn removed recomputable data because its memory was
    /// full.
    pub collections: u64,
    /// Jobs of a search on two levels.
    pub jobs: u64,
}

/// Number of counters.
pub(super) const COUNTERS: usize = 12;

impl Counters {
    fn fields(&mut self) -> [&mut u64; COUNTERS] {
        let Counters {
            nodes,
            expansions,
            leaf_positions,
            known_hits,
            first_level,
            second_level,
            table_used,
            table_replaced,
            generated,
            grundy_numbers,
            collections,
            jobs,
        } = self;
        [
            nodes,
            expansions,
            leaf_positions,
            known_hits,
            first_level,
            second_level,
            table_used,
            table_replaced,
            generated,
            grundy_numbers,
            collections,
            jobs,
        ]
    }

    /// Counters as an array.
    pub(crate) fn to_array(mut self) -> [u64; COUNTERS] {
        self.fields().map(|field| *field)
    }

    /// Counters from an array.
    pub(super) fn from_array(counts: [u64; COUNTERS]) -> Self {
        let mut counters = Counters::default();
        for (field, count) in counters.fields().into_iter().zip(counts) {
            *field = count;
        }
        counters
    }

    /// Adds other counts. Saturates: counters reported by remote workers are untrusted.
    pub(crate) fn add(&mut self, counters: &Counters) {
        for (sum, count) in self.fields().into_iter().zip(counters.to_array()) {
            *sum = sum.saturating_add(count);
        }
    }

    /// Counts since `before`.
    pub(crate) fn since(mut self, before: &Counters) -> Counters {
        for (count, before) in self.fields().into_iter().zip(before.to_array()) {
            *count = count.saturating_sub(before);
        }
        self
    }

    /// Counts the result of a store.
    #[inline(always)]
    pub(crate) fn stored(&mut self, stored: Stored) {
        match stored {
            Stored::Filled => self.table_used += 1,
            Stored::Updated => {}
            Stored::Replaced => self.table_replaced += 1,
        }
    }
}
