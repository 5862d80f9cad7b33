//! A worker with a table of its own, whose leader is elsewhere.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ahash::AHashMap;

use super::entries;
use super::job::Searcher;
use super::{LEAST_ROOM, PlainRules};
use crate::dfpn::DfpnOptions;
use crate::jobs::Finding;
use crate::jobs::messages::{JobId, JobOutcome, Search, WorkerId};
use crate::jobs::remote::wire::{self, Kind};
use crate::jobs::remote::{RemoteWorker, WireError, WorkerJobs};
use crate::plain::evaluate::{Growth, Listener};
use crate::plain::game::{Child, Game};
use crate::run::{Counters, Limits, Pace};
use crate::split_mix::mix;
use crate::table::{Entry, Table};
use crate::threads::start_worker;

/// Findings that are worth a thread of their own: it takes them in a few times as long as it takes to begin.
const LEAST_SHARE: usize = 4096;

/// Findings whose places in the table are fetched together.
const AHEAD: usize = 32;

/// Stack of a thread that takes findings in.
const STACK_BYTES: usize = 1 << 20;

/// How a worker searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkerOptions {
    /// Its df-pn.
    pub dfpn: DfpnOptions,
    /// Its threads.
    pub threads: NonZeroUsize,
    /// The same everywhere.
    pub rules: PlainRules,
}

/// A worker for a plain game.
pub struct PlainWorker<'a, G> {
    game: &'a G,
    found: Found,
    table: Table,
    options: WorkerOptions,
    jobs: WorkerJobs<'a>,
    /// The node of the last job, if it is open.
    open: Mutex<Option<u64>>,
}

impl<'a, G: Game> PlainWorker<'a, G> {
    /// A worker for the search with this number.
    pub fn new(
        game: &'a G,
        table: Table,
        options: WorkerOptions,
        search: u64,
        pace: Option<&'a dyn Pace>,
    ) -> Self {
        let least = options.rules.told_from(options.threads);
        let found = Found { least, parts: [(); PARTS].map(|()| Mutex::default()) };
        PlainWorker {
            game,
            found,
            table,
            options,
            jobs: WorkerJobs::new(search, pace),
            open: Mutex::default(),
        }
    }

    /// What it knows.
    #[cfg(test)]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Takes over what others have found out, on all of its threads. Nobody may be searching. If a position
    /// comes twice, and to two threads, either of its findings stays.
    fn take_over(&self, findings: &[Finding]) {
        self.make_room(findings.len() as u64);
        let share = findings.len().div_ceil(self.options.threads.get()).max(LEAST_SHARE);
        let mut shares = findings.chunks(share);
        let own = shares.next().unwrap_or_default();
        std::thread::scope(|scope| {
            for share in shares {
                let take_over = || self.take_over_share(share);
                if start_worker(scope, "entries", STACK_BYTES, take_over).is_none() {
                    self.take_over_share(share);
                }
            }
            self.take_over_share(own);
        });
    }

    fn take_over_share(&self, findings: &[Finding]) {
        for findings in findings.chunks(AHEAD) {
            let key = |finding: &Finding| self.game.key(finding.code);
            findings.iter().for_each(|finding| self.table.prefetch(key(finding)));
            for finding in findings {
                let &Finding { code, entry } = finding;
                // Own numbers of more work are the better ones; values are never lost to numbers.
                let own = self.table.lookup(key(finding), code);
                if entry.value().is_some() || own.is_none_or(|own| own.work <= entry.work) {
                    self.table.store(key(finding), code, entry);
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
    ) -> (JobOutcome<u64, Vec<Child>>, Counters) {
        self.make_room(room.max(LEAST_ROOM));
        let mut nobody = ();
        let WorkerOptions { dfpn, threads, .. } = self.options;
        let used_before = self.table.estimated_count();
        // One job at a time uses the worker's table.
        let growth = Growth::Allowed;
        Searcher::new(self.game, &self.table, growth, dfpn, threads, &mut nobody).search(
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
        let threads = self.options.threads.get();
        self.table.reserve(count + count / 4, threads, |code| self.game.key(code));
    }
}

impl<G: Game> RemoteWorker for PlainWorker<'_, G> {
    fn search(
        &self,
        worker: WorkerId,
        answer: &[u8],
        entries: Option<&[u8]>,
    ) -> Result<Vec<u8>, WireError> {
        let entries = entries.map(|bytes| entries::read(self.jobs.search, bytes)).transpose()?;
        self.jobs.run(worker, answer, |job, facts, limits| {
            self.take_over(&facts);
            self.take_over(&entries.unwrap_or_default());
            let Search { node, budget, .. } = job;
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
        let (search, most) = (self.jobs.search, self.options.rules.most_entries);
        let node = wire::decode(Kind::Node, search, node)?;
        // Beside the job's threads, which may want to grow the table.
        let collect = || entries::collect(self.game, &self.table, search, node, most);
        Ok(self.table.while_nothing_moves(collect))
    }

    fn call_off(&self, job: JobId) {
        self.jobs.call_off(job);
    }

    fn counters(&self) -> Counters {
        self.jobs.counters()
    }

    fn capacity(&self) -> u64 {
        self.table.capacity()
    }
}

/// Keeps what is found out with more than a little work, for the leader: of each position the latest.
struct Found {
    least: u64,
    /// By the code's hash, so that threads seldom meet.
    parts: [Mutex<AHashMap<u64, Entry>>; PARTS],
}

const PARTS: usize = 64;

impl Found {
    /// In the order of the codes, so that searches on one thread can be repeated.
    fn take(&self) -> Vec<Finding> {
        let lock = |part: &Mutex<_>| {
            std::mem::take(&mut *part.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let all = self.parts.iter().flat_map(lock);
        let mut all: Vec<_> = all.map(|(code, entry)| Finding { code, entry }).collect();
        all.sort_unstable_by_key(|finding| finding.code);
        all
    }
}

impl Listener for Found {
    #[inline(always)]
    fn stored(&self, code: u64, entry: Entry) {
        if entry.work >= self.least {
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
