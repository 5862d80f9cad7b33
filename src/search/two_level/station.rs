//! A worker with a table of its own, whose leader is elsewhere.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use super::LEAST_ROOM;
use super::entries;
use super::job::Searcher;
use crate::search::dfpn::DfpnOptions;
use crate::search::jobs::Solved;
use crate::search::jobs::messages::{Answer, JobId, Message, Notice, Order, Search, WorkerId};
use crate::search::jobs::remote::wire::{self, Kind};
use crate::search::jobs::remote::{CallOffs, Station, WireError};
use crate::search::plain::game::{Answer as Known, Child, Expansion, Game, Settled, Value};
use crate::search::run::{Counters, Limits, Pace};
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
}

/// A worker for a plain game.
pub struct PlainStation<'a, G> {
    game: Reporting<'a, G>,
    table: Table,
    options: StationOptions,
    /// Which search it belongs to.
    search: u64,
    calls: CallOffs,
    pace: Option<&'a dyn Pace>,
    /// Held by whoever searches.
    busy: Mutex<()>,
    /// What has been counted.
    total: Mutex<Counters>,
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
        let game = Reporting { game, least: options.fact_work, found: Mutex::default() };
        PlainStation {
            game,
            table,
            options,
            search,
            calls: CallOffs::default(),
            pace,
            busy: Mutex::default(),
            total: Mutex::default(),
        }
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
        let answer: Answer<u64, Solved> = wire::decode(Kind::Answer, self.search, answer)?;
        let Answer { serial, order: Order::Search(search), facts, read } = answer else {
            return Err(WireError::Unexpected("a job"));
        };
        let entries = entries.map(|bytes| entries::read(self.search, bytes)).transpose()?;
        let _busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let solved = |Solved { code, value, work }| (code, Entry::solved(value, work));
        self.take_over(facts.into_iter().map(solved));
        self.take_over(entries.unwrap_or_default().into_iter());
        let Search { job, node, budget, .. } = search;
        self.make_room(budget.max(LEAST_ROOM));
        let stop = self.calls.begin(job);
        let limits =
            Limits { nodes: Some(budget), stop: Some(&stop), pace: self.pace, ..Limits::default() };
        let mut nobody = ();
        let StationOptions { dfpn, threads, .. } = self.options;
        let used_before = self.table.estimated_count();
        let (outcome, spent) = Searcher::new(&self.game, &self.table, dfpn, threads, &mut nobody)
            .search(node, limits, used_before, &mut ());
        self.calls.end();
        self.total
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add_since(&spent, &Counters::default());
        let notice = Notice::Done { job, outcome, spent };
        let facts = self.game.take_found();
        let message: Message<u64, Vec<Child>, Solved> =
            Message { worker: name, serial: serial + 1, facts, read, notice };
        Ok(wire::encode(Kind::Message, self.search, &message))
    }

    fn entries(&self, node: &[u8]) -> Result<Vec<u8>, WireError> {
        let node = wire::decode(Kind::Node, self.search, node)?;
        Ok(entries::collect(&self.game, &self.table, self.search, node))
    }

    fn call_off(&self, job: JobId) {
        self.calls.call_off(job);
    }

    fn counters(&self) -> Counters {
        *self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A game that notes what is solved with more than a little work.
struct Reporting<'a, G> {
    game: &'a G,
    least: u64,
    found: Mutex<Vec<Solved>>,
}

impl<G> Reporting<'_, G> {
    fn take_found(&self) -> Vec<Solved> {
        std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<G: Game> Game for Reporting<'_, G> {
    type Scratch = G::Scratch;

    #[inline(always)]
    fn expand(
        &self,
        code: u64,
        scratch: &mut G::Scratch,
        children: &mut Vec<Child>,
        announce: impl FnMut(u64),
    ) -> Expansion {
        self.game.expand(code, scratch, children, announce)
    }

    #[inline(always)]
    fn key(&self, code: u64) -> u64 {
        self.game.key(code)
    }

    #[inline(always)]
    fn known(&self, code: u64) -> Known {
        self.game.known(code)
    }

    #[inline(always)]
    fn solved(&self, code: u64, value: Value, work: u64) {
        if work >= self.least {
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.push(Solved { code, value, work });
        }
    }

    #[inline(always)]
    fn settle(&self, code: u64, budget: u32, scratch: &mut G::Scratch) -> Settled {
        self.game.settle(code, budget, scratch)
    }

    #[inline(always)]
    fn evaluate(&self, code: u64, scratch: &mut G::Scratch) -> i32 {
        self.game.evaluate(code, scratch)
    }
}
