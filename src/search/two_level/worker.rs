//! A worker: searches the positions that it is sent, by df-pn.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

use super::TwoLevelOptions;
use super::messages::{Gone, JobId, JobOutcome, Notice, Order, WorkerLink};
use crate::search::control::{Control, Counters, Limits, Observer, Outcome, Progress, Reason};
use crate::search::dfpn::dfpn_parallel;
use crate::search::evaluate::{Evaluation, Evaluator};
use crate::search::game::{Game, Value};
use crate::search::pn2::gate::Pass;
use crate::search::table::Table;
use crate::search::tally::add_since;

/// Entries that are made room for at least, more than a team of df-pn begins with.
const LEAST_ROOM: u64 = 1 << 16;

/// Takes orders until the master is gone. What a job has found out stays in the table, so a position
/// that comes back is searched on from there.
pub(super) fn work<G: Game>(
    game: &G,
    table: &Table,
    mut pass: Pass<'_>,
    options: &TwoLevelOptions,
    link: &mut impl WorkerLink,
) {
    let mut nobody = ();
    let control = Control::new(Limits::default(), &mut nobody);
    let mut evaluator = Evaluator::new(game, table, control, options.dfpn.settle);
    evaluator.open_entries = true;
    while let Ok(order) = link.wait() {
        let Order::Job { id, code, nodes } = order else {
            // A stop that came after its job was done.
            continue;
        };
        // A job grows no table by itself, as long as all that run together find room.
        let room = nodes.saturating_mul(options.workers.get() as u64).max(LEAST_ROOM);
        pass.make_room(room, |code| game.key(code));
        let stop = AtomicBool::new(false);
        let interval = options.update_expansions;
        let mut watch = Watch { link, id, stop: &stop, interval, told_at: 0, gone: false };
        let limits = Limits { nodes: Some(nodes), stop: Some(&stop), ..Limits::default() };
        let threads = options.threads;
        let report = dfpn_parallel(game, code, table, options.dfpn, threads, limits, &mut watch);
        let gone = watch.gone;
        let mut counters = of_job(&report.counters);
        let outcome = match report.outcome {
            Outcome::Known(value) => JobOutcome::Solved(value, report.best),
            Outcome::Unknown(Reason::NodeLimit) => {
                let before = evaluator.control.counters;
                let outcome = children(&mut evaluator, code);
                add_since(&mut counters, &evaluator.control.counters, &before);
                counters.table_used = 0;
                outcome
            }
            Outcome::Unknown(reason) => JobOutcome::Stopped(reason),
        };
        pass.leave();
        if gone || link.tell(Notice::Done { id, outcome, counters }) == Err(Gone) {
            return;
        }
    }
}

/// A search's counters without what it did not do itself: its root has been counted as a child, and
/// the table's entries are counted in the table.
fn of_job(counters: &Counters) -> Counters {
    Counters { nodes: counters.nodes - 1, table_used: 0, ..*counters }
}

/// The open children of a position, as the table knows them.
fn children<G: Game>(evaluator: &mut Evaluator<G>, code: u64) -> JobOutcome {
    evaluator.children.clear();
    match evaluator.expand(code, false) {
        Evaluation::Lost => JobOutcome::Solved(Value::Loss, None),
        Evaluation::Won(child) => JobOutcome::Solved(Value::Win, Some(child)),
        Evaluation::Open => JobOutcome::Open(evaluator.children.clone()),
        Evaluation::Stopped => JobOutcome::Stopped(Reason::KnownValues),
    }
}

/// Reports to the master now and then, and hears from it.
struct Watch<'w, L> {
    link: &'w mut L,
    id: JobId,
    stop: &'w AtomicBool,
    /// Expansions between two reports.
    interval: u64,
    told_at: u64,
    gone: bool,
}

impl<L: WorkerLink> Observer for Watch<'_, L> {
    fn progress(&mut self, progress: &Progress) {
        loop {
            match self.link.poll() {
                Ok(Some(Order::Stop { id })) if id == self.id => {
                    self.stop.store(true, Ordering::Relaxed);
                }
                // A stop of an earlier job. There is no other job before this one is done.
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(Gone) => {
                    self.gone = true;
                    break;
                }
            }
        }
        let Progress { phi, delta, counters, .. } = *progress;
        if counters.expansions >= self.told_at + self.interval {
            self.told_at = counters.expansions;
            let notice = Notice::Update { id: self.id, phi, delta, counters: of_job(&counters) };
            self.gone |= self.link.tell(notice) == Err(Gone);
        }
        if self.gone {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
