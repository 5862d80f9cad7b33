//! What searches count.

use serde::{Deserialize, Serialize};

use crate::table::Stored;

/// What a search counts. What a search has nothing to do with stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Positions evaluated for the first time, as far as the table remembers; of impartial games
    /// these are couples.
    pub nodes: u64,
    /// Positions expanded, again and again ones included: what the papers call iterations.
    pub expansions: u64,
    /// Positions visited by bounded exact searches ([`crate::plain::game::Game::settle`]).
    pub settle_positions: u64,
    /// Answers from known values ([`crate::plain::known`]), repeated ones included.
    pub known_hits: u64,
    /// Two levels: nodes of the first-level tree.
    pub first_level: u64,
    /// Two levels: nodes of all second-level searches.
    pub second_level: u64,
    /// Table entries in use. Those that an earlier search left in the table are estimated
    /// ([`crate::table::Table::estimated_count`]).
    pub table_used: u64,
    /// Table entries dropped for others.
    pub table_replaced: u64,
    /// Impartial games: atoms whose options, or the first of them, were generated, again where they
    /// had been dropped.
    pub generated: u64,
    /// Impartial games: Grundy numbers found.
    pub grundy_numbers: u64,
    /// Impartial games: how often df-pn forgot what it could find again, because its memory was
    /// full.
    pub collections: u64,
    /// Jobs of a search on two levels.
    pub jobs: u64,
}

/// How many counters there are.
pub(super) const COUNTERS: usize = 12;

impl Counters {
    fn fields(&mut self) -> [&mut u64; COUNTERS] {
        let Counters {
            nodes,
            expansions,
            settle_positions,
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
            settle_positions,
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

    /// The counters as a list.
    pub(crate) fn to_array(mut self) -> [u64; COUNTERS] {
        self.fields().map(|field| *field)
    }

    /// The inverse.
    pub(super) fn from_array(counts: [u64; COUNTERS]) -> Self {
        let mut counters = Counters::default();
        for (field, count) in counters.fields().into_iter().zip(counts) {
            *field = count;
        }
        counters
    }

    /// Adds what has been counted since `before`. What comes from elsewhere may count anything.
    pub(crate) fn add_since(&mut self, now: &Counters, before: &Counters) {
        let since = now.to_array().into_iter().zip(before.to_array());
        for (sum, (now, before)) in self.fields().into_iter().zip(since) {
            *sum = sum.saturating_add(now.saturating_sub(before));
        }
    }

    /// What has been counted since `before`.
    pub(crate) fn since(&self, before: &Counters) -> Counters {
        let mut difference = Counters::default();
        difference.add_since(self, before);
        difference
    }

    /// Counts what a store did.
    #[inline(always)]
    pub(crate) fn stored(&mut self, stored: Stored) {
        match stored {
            Stored::Filled => self.table_used += 1,
            Stored::Updated => {}
            Stored::Replaced => self.table_replaced += 1,
        }
    }
}
