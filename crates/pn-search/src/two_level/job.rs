//! What a worker does with a job.

use std::num::NonZeroUsize;

use crate::Value;
use crate::dfpn::{DfpnOptions, dfpn_heard_by};
use crate::jobs::messages::JobOutcome;
use crate::plain::Root;
use crate::plain::evaluate::{Evaluation, Evaluator, Growth, Listener};
use crate::plain::game::{Child, Game};
use crate::run::{Control, Counters, Limits, Observer, Outcome, Reason};
use crate::table::Table;

/// Searches nodes by df-pn, and lists the children of those that stay open.
pub(super) struct Searcher<'a, G: Game> {
    evaluator: Evaluator<'a, G>,
    growth: Growth,
    options: DfpnOptions,
    threads: NonZeroUsize,
    /// Maximum number of threads that searched a node.
    pub threads_used: u32,
}

impl<'a, G: Game> Searcher<'a, G> {
    pub fn new(
        game: &'a G,
        table: &'a Table,
        growth: Growth,
        options: DfpnOptions,
        threads: NonZeroUsize,
        nobody: &'a mut (),
    ) -> Self {
        let control = Control::new(Limits::default(), nobody);
        let mut evaluator = Evaluator::new(game, table, control, options.settle);
        evaluator.open_entries = true;
        Searcher { evaluator, growth, options, threads, threads_used: 1 }
    }

    /// Searches a node until it is solved or the limits are reached, with so many entries in the table
    /// before.
    pub fn search<L: Listener>(
        &mut self,
        listener: &L,
        node: u64,
        limits: Limits<'_>,
        used_before: u64,
        observer: &mut dyn Observer,
    ) -> (JobOutcome<u64, Vec<Child>>, Counters) {
        let Searcher { evaluator, growth, options, threads, threads_used } = self;
        let (game, table) = (evaluator.game, evaluator.table);
        let root = Root::new(game, node, table);
        let report = dfpn_heard_by(listener, root, *growth, *options, *threads, limits, observer);
        *threads_used = report.threads.max(*threads_used);
        let mut spent = of_job(&report.counters, used_before);
        let outcome = match report.outcome {
            Outcome::Known(value) => JobOutcome::Solved(value, report.best),
            Outcome::Unknown(Reason::NodeLimit) => {
                let before = evaluator.control.counters;
                let outcome = children(evaluator, node);
                spent.add_since(&evaluator.control.counters, &before);
                outcome
            }
            Outcome::Unknown(Reason::Interrupted) => JobOutcome::Stopped,
            Outcome::Unknown(reason) => JobOutcome::Failed(reason),
        };
        (outcome, spent)
    }
}

/// A search's counters without what it did not do itself: its root has been counted as a child, and
/// so many entries were in the table.
pub(super) fn of_job(counters: &Counters, used_before: u64) -> Counters {
    let table_used = counters.table_used.saturating_sub(used_before);
    Counters { nodes: counters.nodes - 1, table_used, ..*counters }
}

/// The open children of a position, as the table knows them.
fn children<G: Game>(evaluator: &mut Evaluator<G>, code: u64) -> JobOutcome<u64, Vec<Child>> {
    evaluator.children.clear();
    match evaluator.expand(code, false) {
        Evaluation::Lost => JobOutcome::Solved(Value::Loss, None),
        Evaluation::Won(child) => JobOutcome::Solved(Value::Win, Some(child)),
        Evaluation::Open => JobOutcome::Open(evaluator.children.clone()),
        Evaluation::Stopped => JobOutcome::Failed(Reason::FileError),
    }
}
