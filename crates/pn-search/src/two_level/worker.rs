//! A worker of a plain game in another process.

use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{children, entries};
use crate::cluster::message::JobOutcome;
use crate::cluster::shared_entry::{self, SharedEntry};
use crate::cluster::{CoordinatorConfig, JobResult, JobSearch, WireError};
use crate::dfpn::{DfpnOptions, dfpn_sharing};
use crate::parallel::for_each_share;
use crate::plain::Root;
use crate::plain::evaluate::{EvaluationOptions, Evaluator};
use crate::plain::game::{Child, Game};
use crate::run::{Counters, Limits, Outcome, Reason, SearchMonitor};
use crate::table::Table;

/// Minimum number of entries for which a further thread is started. To store that many entries takes
/// a few times as long as to start the thread.
const MIN_SHARE: usize = 4096;

/// Number of entries whose table clusters are prefetched together.
const PREFETCHED_ENTRIES: usize = 32;

/// Before a job, the table grows until it has space for at least this many new entries. This is more
/// than df-pn reserves at the start of a search with several threads.
const MIN_NEW_ENTRIES: u64 = 1 << 16;

/// A worker of a plain game, to be used in a [`WireWorker`](crate::cluster::WireWorker).
pub struct PlainWorker<'a, G> {
    game: &'a G,
    /// Entries to be sent to other workers, collected since the last result.
    shared: Mutex<Vec<SharedEntry>>,
    min_shared_work: u64,
    table: Table,
    dfpn: DfpnOptions,
    threads: NonZeroUsize,
    max_entries: usize,
}

impl<'a, G: Game> PlainWorker<'a, G> {
    /// Creates a worker with an empty table.
    pub fn new(
        game: &'a G,
        table: Table,
        dfpn: DfpnOptions,
        threads: NonZeroUsize,
        config: &CoordinatorConfig,
    ) -> Self {
        PlainWorker {
            game,
            shared: Mutex::default(),
            min_shared_work: config.min_shared_work(threads),
            table,
            dfpn,
            threads,
            max_entries: config.max_entries,
        }
    }

    /// Table of the worker.
    #[cfg(test)]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Stores entries of other workers, on all threads. No search may be running. If a position is listed twice,
    /// either of its entries stays.
    fn add_entries(&self, entries: &[SharedEntry]) {
        self.reserve(entries.len() as u64);
        for_each_share(entries, self.threads, MIN_SHARE, |entries| self.add_share(entries));
    }

    fn add_share(&self, entries: &[SharedEntry]) {
        for entries in entries.chunks(PREFETCHED_ENTRIES) {
            let key = |shared: &SharedEntry| self.game.key(shared.code);
            entries.iter().for_each(|shared| self.table.prefetch(key(shared)));
            for shared in entries {
                let &SharedEntry { code, entry } = shared;
                // Of two open entries, the one with more search effort is better. `store` never
                // replaces a solved entry by an open one.
                let own = self.table.lookup(key(shared), code);
                if entry.value().is_some() || own.is_none_or(|own| own.work <= entry.work) {
                    self.table.store(key(shared), code, entry);
                }
            }
        }
    }

    /// Searches a node by df-pn. The table grows first if it has no space for `new_entries`.
    fn search_node(
        &self,
        node: u64,
        new_entries: u64,
        limits: Limits<'_>,
    ) -> (JobOutcome<Vec<Child>>, Counters) {
        let PlainWorker { game, ref table, dfpn, threads, min_shared_work, .. } = *self;
        self.reserve(new_entries.max(MIN_NEW_ENTRIES));
        let used_before = table.estimated_count();
        let root = Root::new(game, node, table);
        let (report, shared) = dfpn_sharing(root, dfpn, threads, limits, &mut (), min_shared_work);
        self.lock_shared().extend(shared);
        // Only the new nodes and entries are reported: this node has already been counted as a
        // child of its parent, and `table_used` includes the entries from before the search.
        let Counters { nodes, table_used, .. } = report.counters;
        let table_used = table_used.saturating_sub(used_before);
        let mut spent = Counters { nodes: nodes - 1, table_used, ..report.counters };
        let outcome = match report.outcome {
            Outcome::Known(value) => JobOutcome::Solved(value, report.best),
            Outcome::Unknown(Reason::NodeLimit) => {
                let mut observer = ();
                let monitor = SearchMonitor::new(Limits::default(), &mut observer);
                // The search of the job has ended, so no later visit would try the other children.
                let all_attempts =
                    EvaluationOptions { max_attempts: u32::MAX, ..dfpn.evaluation() };
                let mut evaluator = Evaluator::new(game, table, monitor, all_attempts);
                let before = evaluator.monitor.counters;
                let outcome = children(&mut evaluator, node);
                spent.add(&evaluator.monitor.counters.since(&before));
                outcome
            }
            Outcome::Unknown(Reason::Interrupted) => JobOutcome::Stopped,
            Outcome::Unknown(reason) => JobOutcome::Failed(reason),
        };
        (outcome, spent)
    }

    /// Takes the entries to be sent to other workers, one for each position: a solved entry if there is one, otherwise
    /// the entry with the most search effort. They are sorted by code, so that searches on one thread can be repeated.
    fn take_shared(&self) -> Vec<SharedEntry> {
        let mut shared = std::mem::take(&mut *self.lock_shared());
        let key = |shared: &SharedEntry| {
            let SharedEntry { code, entry } = *shared;
            (code, Reverse((entry.value().is_some(), entry.work)))
        };
        shared.sort_by_key(key);
        shared.dedup_by_key(|shared| shared.code);
        shared
    }

    fn lock_shared(&self) -> MutexGuard<'_, Vec<SharedEntry>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reserve(&self, more: u64) {
        // The count is estimated from a sample, so a quarter is added.
        let count = self.table.estimated_count().saturating_add(more).min(self.table.capacity());
        let threads = self.threads.get();
        self.table.reserve(count + count / 4, threads, |code| self.game.key(code));
    }
}

impl<G: Game> JobSearch for PlainWorker<'_, G> {
    type Node = u64;
    type Children = Vec<Child>;

    fn search(
        &self,
        node: u64,
        results: &[u8],
        entries: &[u8],
        budget: u64,
        limits: Limits<'_>,
    ) -> Result<JobResult<Vec<Child>>, WireError> {
        let entries = shared_entry::from_bytes(entries)?;
        self.add_entries(&shared_entry::from_bytes(results)?);
        self.add_entries(&entries);
        let (outcome, spent) = self.search_node(node, budget, limits);
        Ok((outcome, spent, shared_entry::to_bytes(&self.take_shared())))
    }

    fn continue_search(&self, node: u64, limits: Limits<'_>) -> Counters {
        self.search_node(node, 0, limits).1
    }

    fn entries(&self, node: u64) -> Vec<u8> {
        // Without the lock, the threads of a job might let the table grow meanwhile.
        let collect = || entries::collect(self.game, &self.table, node, self.max_entries);
        shared_entry::to_bytes(&self.table.with_growth_locked(collect))
    }

    fn capacity(&self) -> u64 {
        self.table.capacity()
    }
}
