//! A leader whose workers are elsewhere.

use crate::search::jobs::remote::{RemoteLeader, RemoteRules, WireLeader};
use crate::search::jobs::{Finding, JobTree, JobTreeOptions, without_memory};
use crate::search::numbers::Combination;
use crate::search::plain::Root;
use crate::search::plain::game::Game;
use crate::search::run::{Observer, Report};
use crate::search::snapshot::TreePort;
use crate::search::table::{Cursor, Table};

/// Leads a search with the tree at the port, if there is one, and what the table knows. Returns when
/// `run` does, which carries the messages; if the search is not over then, it was interrupted.
#[expect(
    clippy::too_many_arguments,
    reason = "what is searched and where, by which rules, and who carries the messages"
)]
pub fn lead<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    combination: Combination,
    rules: RemoteRules,
    search: u64,
    observer: &mut dyn Observer,
    port: &TreePort,
    run: impl FnOnce(&mut dyn RemoteLeader),
) -> Report {
    let RemoteRules { refresh_age, congestion_64, fact_work, .. } = rules;
    let options = JobTreeOptions { combination, open_entries: true, refresh_age, congestion_64 };
    let table = root.table;
    let Some(tree) = JobTree::new(root, tree_bytes, options, port) else {
        return without_memory(table);
    };
    let leader = WireLeader::new(tree, rules, search, table.estimated_count(), observer);
    let (tree, reason, counters) = leader.lead(found(table, fact_work), run);
    tree.report(reason, counters)
}

/// What a table knows that took at least so much work.
fn found(table: &Table, least: u64) -> Vec<Finding> {
    let (mut cursor, mut cells, mut found) = (Cursor::default(), Vec::new(), Vec::new());
    while table.copy_cells(&mut cursor, &mut cells) {
        let all = cells.drain(..).map(Finding::of_cell);
        found.extend(all.filter(|finding| finding.entry.work >= least));
    }
    found
}
