//! A worker of a plain game in another process.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ahash::AHashMap;

use super::entries;
use super::job::Searcher;
use crate::cluster::message::{Job, JobId, JobOutcome, WorkerId};
use crate::cluster::wire::{self, Kind};
use crate::cluster::{CoordinatorConfig, RemoteWorker, SharedEntry, WireError, WorkerJobs};
use crate::dfpn::DfpnOptions;
use crate::plain::evaluate::Listener;
use crate::plain::game::{Child, Game};
use crate::run::{Counters, Limits, Pace};
use crate::split_mix::mix;
use crate::table::{Entry, Table};
use crate::threads::start_worker;

/// SharedEntrys that are worth a thread of their own: it takes them in a few times as long as it takes to begin.
const LEAST_SHARE: usize = 4096;

/// SharedEntrys whose places in the table are fetched together.
const AHEAD: usize = 32;

/// Minimum number of entries for which room is made, more than several threads of df-pn begin with.
const LEAST_ROOM: u64 = 1 << 16;

/// Stack of a thread that takes entries in.
const STACK_BYTES: usize = 1 << 20;

/// A worker for a plain game.
pub struct PlainWorker<'a, G> {
    game: &'a G,
    found: StoredEntries,
    table: Table,
    dfpn: DfpnOptions,
    threads: NonZeroUsize,
    max_entries: usize,
    jobs: WorkerJobs<'a>,
    /// The node of the last job, if it is open.
    open: Mutex<Option<u64>>,
}

impl<'a, G: Game> PlainWorker<'a, G> {
    /// A worker for the search with this number.
    pub fn new(
        game: &'a G,
        table: Table,
        dfpn: DfpnOptions,
        threads: NonZeroUsize,
        config: &CoordinatorConfig,
        search: u64,
        pace: Option<&'a dyn Pace>,
    ) -> Self {
        let min_work = config.min_shared_work(threads);
        let found = StoredEntries { min_work, parts: [(); PARTS].map(|()| Mutex::default()) };
        PlainWorker {
            game,
            found,
            table,
            dfpn,
            threads,
            max_entries: config.max_entries,
            jobs: WorkerJobs::new(search, pace),
            open: Mutex::default(),
        }
    }

    /// What it knows.
    #[cfg(test)]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Stores entries of other workers, on all threads. No search may be running. If a position is listed twice,
    /// either of its entries stays.
    fn add_entries(&self, entries: &[SharedEntry]) {
        self.make_room(entries.len() as u64);
        let share = entries.len().div_ceil(self.threads.get()).max(LEAST_SHARE);
        let mut shares = entries.chunks(share);
        let own = shares.next().unwrap_or_default();
        std::thread::scope(|scope| {
            for share in shares {
                let add = || self.add_share(share);
                if start_worker(scope, "entries", STACK_BYTES, add).is_none() {
                    self.add_share(share);
                }
            }
            self.add_share(own);
        });
    }

    fn add_share(&self, entries: &[SharedEntry]) {
        for entries in entries.chunks(AHEAD) {
            let key = |shared: &SharedEntry| self.game.key(shared.code);
            entries.iter().for_each(|shared| self.table.prefetch(key(shared)));
            for shared in entries {
                let &SharedEntry { code, entry } = shared;
                // Own numbers of more work are the better ones; values are never lost to numbers.
                let own = self.table.lookup(key(shared), code);
                if entry.value().is_some() || own.is_none_or(|own| own.work <= entry.work) {
                    self.table.store(key(shared), code, entry);
                }
            }
        }
    }

    /// Searches a node, with room for so many entries.
    fn search_node(
        &self,
        node: u64,
        room: u64,
        limits: Limits<'_>,
    ) -> (JobOutcome<Vec<Child>>, Counters) {
        self.make_room(room.max(LEAST_ROOM));
        let mut nobody = ();
        let (dfpn, threads) = (self.dfpn, self.threads);
        let used_before = self.table.estimated_count();
        Searcher::new(self.game, &self.table, dfpn, threads, &mut nobody).search(
            &self.found,
            node,
            limits,
            used_before,
            &mut (),
        )
    }

    fn lock_open(&self) -> MutexGuard<'_, Option<u64>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_room(&self, more: u64) {
        // The count is judged by a sample, so a quarter is added.
        let count = self.table.estimated_count().saturating_add(more).min(self.table.capacity());
        let threads = self.threads.get();
        self.table.reserve(count + count / 4, threads, |code| self.game.key(code));
    }
}

impl<G: Game> RemoteWorker for PlainWorker<'_, G> {
    fn search(
        &self,
        worker: WorkerId,
        reply: &[u8],
        entries: Option<&[u8]>,
    ) -> Result<Vec<u8>, WireError> {
        let entries = entries.map(|bytes| entries::read(self.jobs.search, bytes)).transpose()?;
        self.jobs.run(worker, reply, |job, results, limits| {
            self.add_entries(&results);
            self.add_entries(&entries.unwrap_or_default());
            let Job { node, budget, .. } = job;
            let (outcome, spent) = self.search_node(node, budget, limits);
            let is_open = matches!(outcome, JobOutcome::Open(_));
            *self.lock_open() = is_open.then_some(node);
            Ok((outcome, spent, self.found.take()))
        })
    }

    fn go_on(&self, nodes: Option<u64>) {
        let node = *self.lock_open();
        if let Some(node) = node {
            self.jobs.go_on(nodes, |limits| self.search_node(node, 0, limits).1);
        }
    }

    fn entries(&self, node: &[u8]) -> Result<Vec<u8>, WireError> {
        let (search, most) = (self.jobs.search, self.max_entries);
        let node = wire::decode(Kind::Node, search, node)?;
        // Beside the job's threads, which may want to grow the table.
        let collect = || entries::collect(self.game, &self.table, search, node, most);
        Ok(self.table.while_nothing_moves(collect))
    }

    fn cancel(&self, job: JobId) {
        self.jobs.cancel(job);
    }

    fn counters(&self) -> Counters {
        self.jobs.counters()
    }

    fn capacity(&self) -> u64 {
        self.table.capacity()
    }
}

/// Entries stored with at least `min_work` expansions, to be shared: of each position the latest.
struct StoredEntries {
    min_work: u64,
    /// By the code's hash, so that threads seldom meet.
    parts: [Mutex<AHashMap<u64, Entry>>; PARTS],
}

const PARTS: usize = 64;

impl StoredEntries {
    /// In the order of the codes, so that searches on one thread can be repeated.
    fn take(&self) -> Vec<SharedEntry> {
        let lock = |part: &Mutex<_>| {
            std::mem::take(&mut *part.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let all = self.parts.iter().flat_map(lock);
        let mut all: Vec<_> = all.map(|(code, entry)| SharedEntry { code, entry }).collect();
        all.sort_unstable_by_key(|shared| shared.code);
        all
    }
}

impl Listener for StoredEntries {
    #[inline(always)]
    fn stored(&self, code: u64, entry: Entry) {
        if entry.work >= self.min_work {
            let part = &self.parts[mix(code) as usize % PARTS];
            let mut found = part.lock().unwrap_or_else(PoisonError::into_inner);
            let known = found.entry(code).or_insert(entry);
            // Threads that come later may know less.
            if entry.value().is_some() || known.value().is_none() && known.work <= entry.work {
                *known = entry;
            }
        }
    }
}
