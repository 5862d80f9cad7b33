//! A leader whose workers are elsewhere.

use super::TwoLevelOptions;
use crate::search::jobs::remote::{Desk, DeskRules, LeaderDesk};
use crate::search::jobs::{Finding, JobTree, JobTreeOptions, without_memory};
use crate::search::plain::Root;
use crate::search::plain::game::Game;
use crate::search::run::{Observer, Reason, Report};
use crate::search::snapshot::TreePort;
use crate::search::table::{Cursor, Entry, Table};

/// Leads a search with the tree at the port, if there is one, and what the table knows. Returns when
/// `run` does, which carries the messages; if the search is not over then, it was interrupted.
#[expect(clippy::too_many_arguments, reason = "those of two_level, and who carries the messages")]
pub fn lead<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    options: TwoLevelOptions,
    rules: DeskRules,
    search: u64,
    observer: &mut dyn Observer,
    port: &TreePort,
    run: impl FnOnce(&mut dyn Desk),
) -> Report {
    let table = root.table;
    let tree_options = JobTreeOptions {
        combination: options.dfpn.combination,
        open_entries: true,
        refresh_age: options.refresh_age,
        congestion_64: options.congestion_64,
        affinity_64: rules.affinity_64,
    };
    let Some(tree) = JobTree::new(root, tree_bytes, tree_options, port) else {
        return without_memory(table);
    };
    let mut desk = LeaderDesk::new(tree, rules, search, table.estimated_count(), observer);
    desk.leader.remember(found(table, rules.fact_work));
    run(&mut desk);
    if !desk.leader.is_over() {
        desk.leader.end(Reason::Interrupted);
    }
    let (reason, counters) = (desk.leader.reason(), desk.leader.counters());
    desk.leader.level.report(reason, counters)
}

/// What a table knows that took at least so much work.
fn found(table: &Table, least: u64) -> Vec<Finding> {
    let (mut cursor, mut cells, mut found) = (Cursor::default(), Vec::new(), Vec::new());
    while table.copy_cells(&mut cursor, &mut cells) {
        let all =
            cells.drain(..).map(|cell| Finding { code: cell as u64, entry: Entry::unpack(cell) });
        found.extend(all.filter(|finding| finding.entry.work >= least));
    }
    found
}
