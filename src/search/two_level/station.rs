//! A worker with a table of its own, whose leader is elsewhere.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use super::LEAST_ROOM;
use super::entries;
use super::job::Searcher;
use crate::search::dfpn::DfpnOptions;
use crate::search::jobs::Solved;
use crate::search::jobs::messages::{JobId, Search, WorkerId};
use crate::search::jobs::remote::wire::{self, Kind};
use crate::search::jobs::remote::{Station, StationJobs, WireError};
use crate::search::plain::game::{Game, Value};
use crate::search::plain::known::{Answer, Informed, Known};
use crate::search::run::{Counters, Pace};
use crate::search::table::{Entry, Table};

/// How a worker searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StationOptions {
    /// Its df-pn.
    pub dfpn: DfpnOptions,
    /// Its threads.
    pub threads: NonZeroUsize,
    /// The least work of a solved position that is worth telling the others.
    pub fact_work: u64,
    /// The most entries that are handed over.
    pub most_entries: usize,
}

/// A worker for a plain game.
pub struct PlainStation<'a, G> {
    game: &'a G,
    found: Found,
    table: Table,
    options: StationOptions,
    jobs: StationJobs<'a>,
}

impl<'a, G: Game> PlainStation<'a, G> {
    /// A worker for the search with this number.
    pub fn new(
        game: &'a G,
        table: Table,
        options: StationOptions,
        search: u64,
        pace: Option<&'a dyn Pace>,
    ) -> Self {
        let found = Found { least: options.fact_work, solved: Mutex::default() };
        PlainStation { game, found, table, options, jobs: StationJobs::new(search, pace) }
    }

    /// What it knows.
    #[cfg(test)]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Takes over what others have found out. Nobody may be searching.
    fn take_over(&self, entries: impl ExactSizeIterator<Item = (u64, Entry)>) {
        self.make_room(entries.len() as u64);
        for (code, entry) in entries {
            let key = self.game.key(code);
            // Own numbers of more work are the better ones; values are never lost to numbers.
            let own = self.table.lookup(key, code);
            if entry.value().is_some() || own.is_none_or(|own| own.work <= entry.work) {
                self.table.store(key, code, entry);
            }
        }
    }

    fn make_room(&self, more: u64) {
        // The count is judged by a sample, so a quarter is added.
        let count = self.table.estimated_count().saturating_add(more).min(self.table.capacity());
        self.table.reserve(count + count / 4, |code| self.game.key(code));
    }
}

impl<G: Game> Station for PlainStation<'_, G> {
    fn search(
        &self,
        name: WorkerId,
        answer: &[u8],
        entries: Option<&[u8]>,
    ) -> Result<Vec<u8>, WireError> {
        let entries = entries.map(|bytes| entries::read(self.jobs.search, bytes)).transpose()?;
        self.jobs.run(name, answer, |job, facts, limits| {
            let solved = |Solved { code, value, work }| (code, Entry::solved(value, work));
            self.take_over(facts.into_iter().map(solved));
            self.take_over(entries.unwrap_or_default().into_iter());
            let Search { node, budget, .. } = job;
            self.make_room(budget.max(LEAST_ROOM));
            let game = Informed::new(self.game, &self.found);
            let mut nobody = ();
            let StationOptions { dfpn, threads, .. } = self.options;
            let used_before = self.table.estimated_count();
            let (outcome, spent) = Searcher::new(&game, &self.table, dfpn, threads, &mut nobody)
                .search(node, limits, used_before, &mut ());
            Ok((outcome, spent, self.found.take()))
        })
    }

    fn entries(&self, node: &[u8]) -> Result<Vec<u8>, WireError> {
        let search = self.jobs.search;
        let node = wire::decode(Kind::Node, search, node)?;
        // Beside the job's threads, which may want to grow the table.
        let collect =
            || entries::collect(self.game, &self.table, search, node, self.options.most_entries);
        Ok(self.table.while_nothing_moves(collect))
    }

    fn call_off(&self, job: JobId) {
        self.jobs.call_off(job);
    }

    fn counters(&self) -> Counters {
        self.jobs.counters()
    }
}

/// Keeps what is solved with more than a little work, for the leader.
struct Found {
    least: u64,
    solved: Mutex<Vec<Solved>>,
}

impl Found {
    fn take(&self) -> Vec<Solved> {
        std::mem::take(&mut *self.solved.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Known for Found {
    #[inline(always)]
    fn value(&self, _: u64) -> Answer {
        Answer::Unknown
    }

    #[inline(always)]
    fn solved(&self, code: u64, value: Value, work: u64) {
        if work >= self.least {
            let mut solved = self.solved.lock().unwrap_or_else(PoisonError::into_inner);
            solved.push(Solved { code, value, work });
        }
    }
}
