//! A leader whose workers are elsewhere, and what they have to agree about.

use std::num::NonZeroUsize;

use crate::jobs::remote::{RemoteLeader, RemoteRules, WireLeader};
use crate::jobs::{Finding, JobTree, JobTreeOptions};
use crate::numbers::Combination;
use crate::plain::Root;
use crate::plain::game::Game;
use crate::run::{Observer, Report};
use crate::snapshot::{SavedTree, TreeSnapshots};
use crate::table::{Cursor, Table};

/// How a leader and workers with tables of their own share what they know, beside [`RemoteRules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainRules {
    /// The least work of a position, solved or open, that is worth telling everybody of, by a worker of
    /// few threads ([`PlainRules::told_from`]).
    pub fact_work: u64,
    /// The most table entries that a worker hands over for a job, the nearest ones; 16 bytes each.
    pub most_entries: usize,
    /// What a worker below a node of the tree adds to the node's delta in selections, beside 1, as
    /// a part of the delta in 1/64.
    pub congestion_64: u32,
    /// Expansions of all workers after which a selection looks a node's children up in the leader's
    /// table again, for what others have found out there.
    pub refresh_age: u32,
}

impl Default for PlainRules {
    /// Facts of work 100, 8192 entries, a congestion of 1/64, a refresh after 100 000 expansions.
    fn default() -> Self {
        PlainRules { fact_work: 100, most_entries: 1 << 13, congestion_64: 1, refresh_age: 100_000 }
    }
}

impl PlainRules {
    /// The least work of what a worker with so many threads tells of: with 16 threads twice what it is
    /// with few, from there on with their square. Who has many finds out much in the time of a call, and
    /// the leader sends it to all others.
    pub fn told_from(&self, threads: NonZeroUsize) -> u64 {
        let threads = threads.get() as u64;
        self.fact_work.saturating_mul((threads.saturating_mul(threads) / 128).max(1))
    }
}

/// Leads a search that begins with a tree, an empty one or that of a search that was stopped, and what
/// the table knows. Returns when `run` does, which carries the messages; if the search is not over
/// then, it was interrupted.
///
/// # Panics
/// If the game, the observer or `run` does.
#[expect(
    clippy::too_many_arguments,
    reason = "what is searched and where, by which rules, and who carries the messages"
)]
pub fn lead<G: Game>(
    root: Root<'_, G>,
    tree: SavedTree,
    combination: Combination,
    rules: RemoteRules,
    plain: PlainRules,
    search: u64,
    observer: &mut dyn Observer,
    port: &TreeSnapshots,
    run: impl FnOnce(&mut dyn RemoteLeader),
) -> Report {
    let PlainRules { refresh_age, congestion_64, fact_work, .. } = plain;
    let options = JobTreeOptions {
        combination,
        open_entries: true,
        refresh_age,
        congestion_64,
        workers_apart: true,
    };
    let table = root.table;
    let tree = JobTree::new(root, tree, options, port);
    let leader = WireLeader::new(tree, rules, search, table.estimated_count(), observer);
    let led = leader.lead(found(table, fact_work), run);
    let mut report = led.level.report(led.reason, led.counters, 1);
    report.memory_bytes += led.bytes;
    report
}

/// What a table knows that took at least so much work.
fn found(table: &Table, least: u64) -> impl Iterator<Item = Finding> {
    let mut cursor = Cursor::default();
    let cells = std::iter::from_fn(move || {
        let mut cells = Vec::new();
        table.copy_cells(&mut cursor, 1, &mut cells).then_some(cells)
    });
    cells.flatten().map(Finding::of_cell).filter(move |finding| finding.entry.work >= least)
}
