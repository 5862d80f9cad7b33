//! A leader whose workers are elsewhere.

use super::contradiction::Contradiction;
use super::level::SumTree;
use super::named::{GrundyNumber, Named};
use crate::jobs::remote::{RemoteLeader, RemoteRules, WireLeader};
use crate::run::{Observer, Report};
use crate::sums::options::SearchOptions;
use crate::sums::workspace::{Sum, Workspace};

/// Leads a search with what the workspace knows; the Grundy numbers of that go to all workers. Returns
/// when `run` does, which carries the messages; if the search is not over then, it was interrupted.
///
/// A number that contradicts another one ends the search without an answer, for
/// [`Contradiction`](crate::run::Reason::Contradiction), and is told beside the report. The observer hears of
/// all numbers that are found.
///
/// # Panics
/// If the game, the observer or `run` does.
pub fn lead_sum<G: Named>(
    workspace: &Workspace<'_, G>,
    root: &Sum,
    options: SearchOptions,
    rules: RemoteRules,
    search: u64,
    observer: &mut dyn Observer,
    run: impl FnOnce(&mut dyn RemoteLeader),
) -> (Report, Option<Contradiction>) {
    let tree = SumTree::new(workspace, root, options);
    let used = workspace.table.estimated_count();
    let named = |(atom, number)| GrundyNumber { atom: workspace.game.name(atom), number };
    let known = workspace.knowledge.iter().map(named);
    let leader = WireLeader::new(tree, rules, search, used, observer);
    let mut led = leader.lead(known, run);
    let claims = led.level.take_claims();
    let contradiction = led.contradicted_by.map(|worker| Contradiction::new(claims, worker));
    let mut report = led.level.report(led.reason, led.counters);
    report.memory_bytes += led.bytes;
    (report, contradiction)
}
