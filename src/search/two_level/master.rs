//! The master: holds the proof-number tree and hands out its leaves.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::TwoLevelOptions;
use super::messages::{Gone, JobId, JobOutcome, MasterLink, Notice, Order};
use crate::search::checkpoint::TreePort;
use crate::search::control::{Counters, Limits, Observer, Progress, Reason};
use crate::search::game::Game;
use crate::search::job_tree::{Facts, JobTree, Leaf, News, Selection};
use crate::search::pn2::gate::Pass;
use crate::search::tally::add_since;

/// Between two looks at the limits.
const PERIOD: Duration = Duration::from_millis(5);

/// The fewest nodes that let a job expand its position: the position itself counts as one.
const LEAST_NODES: u64 = 2;

/// A job that a worker has.
struct Assigned {
    id: JobId,
    leaf: Leaf,
    /// Nodes that it may make.
    granted: u64,
    /// What the worker has reported of it.
    told: Counters,
    /// Whether it has been called off.
    stopped: bool,
}

/// A worker, as the master sees it.
enum Seat {
    Idle,
    Busy(Assigned),
    Gone,
}

/// The master of one search.
pub(super) struct Master<'a, G, L> {
    pub facts: Facts<'a, G>,
    pub pass: Pass<'a>,
    pub tree: JobTree,
    pub link: L,
    port: &'a TreePort,
    pub options: TwoLevelOptions,
    pub counters: Counters,
    seats: Vec<Seat>,
    news: News,
    next_id: JobId,
    node_limit: u64,
    /// Nodes of the jobs that are done.
    spent: u64,
    /// Nodes that the others may make.
    granted: u64,
    /// Why the search ends without an answer.
    pub reason: Option<Reason>,
}

impl<'a, G: Game, L: MasterLink> Master<'a, G, L> {
    pub fn new(
        facts: Facts<'a, G>,
        pass: Pass<'a>,
        tree: JobTree,
        link: L,
        port: &'a TreePort,
        options: TwoLevelOptions,
        node_limit: Option<u64>,
    ) -> Self {
        Master {
            seats: (0..link.workers()).map(|_| Seat::Idle).collect(),
            facts,
            pass,
            tree,
            link,
            port,
            options,
            counters: Counters { nodes: 1, first_level: 1, ..Counters::default() },
            news: News::new(),
            next_id: 0,
            node_limit: node_limit.unwrap_or(u64::MAX),
            spent: 1,
            granted: 0,
            reason: None,
        }
    }

    /// Hands out leaves until the root is solved, a limit is reached, or `broken` says that a worker
    /// has failed; then calls the other jobs off and waits for their ends.
    pub fn direct(&mut self, limits: Limits<'_>, broken: &AtomicBool, observer: &mut dyn Observer) {
        let mut shown = 0;
        loop {
            if self.reason.is_none() {
                self.reason = limits.reached();
            }
            if broken.load(Ordering::Relaxed) {
                self.reason = self.reason.or(Some(Reason::Interrupted));
            }
            if !self.is_over() {
                self.pass.enter();
                self.assign();
                self.store_news();
                self.pass.leave();
            }
            self.call_off();
            if !self.seats.iter().any(|seat| matches!(seat, Seat::Busy(_))) {
                if !self.is_over() {
                    // Everybody has left.
                    self.reason = Some(Reason::Interrupted);
                }
                return;
            }
            match self.link.receive(PERIOD) {
                Ok(Some((worker, notice))) => {
                    self.take_in(worker, notice);
                    let (memory, region, root_block) = self.tree.parts();
                    self.port.look_at(memory, region, root_block);
                }
                Ok(None) => {}
                Err(Gone) => self.seats.iter_mut().for_each(|seat| *seat = Seat::Gone),
            }
            if !self.is_over() && self.counters.expansions > shown {
                shown = self.counters.expansions;
                let counters = self.counters_now();
                let JobTree { phi, delta, best, .. } = self.tree;
                observer.progress(&Progress { phi, delta, best, depth: 0, counters });
            }
        }
    }

    fn is_over(&self) -> bool {
        self.tree.value.is_some() || self.reason.is_some()
    }

    /// The counters, with the table's entries.
    pub fn counters_now(&self) -> Counters {
        Counters { table_used: self.facts.table.estimated_count(), ..self.counters }
    }

    /// Gives every idle worker a leaf, as long as there are any.
    fn assign(&mut self) {
        for worker in 0..self.seats.len() {
            if !matches!(self.seats[worker], Seat::Idle) {
                continue;
            }
            let left = self.node_limit.saturating_sub(self.spent + self.granted);
            if left < LEAST_NODES {
                // What others have been granted may come back.
                if self.granted == 0 {
                    self.reason = Some(Reason::NodeLimit);
                }
                return;
            }
            let Selection::Leaf(leaf) = self.tree.select(&self.facts, &mut self.news) else {
                return;
            };
            let (id, code) = (self.next_id, leaf.code);
            self.next_id += 1;
            let nodes = self.options.job_nodes.max(LEAST_NODES).min(left);
            if self.link.send(worker, Order::Job { id, code, nodes }) == Err(Gone) {
                self.tree.release(leaf);
                self.seats[worker] = Seat::Gone;
                continue;
            }
            self.granted += nodes;
            let told = Counters::default();
            self.seats[worker] =
                Seat::Busy(Assigned { id, leaf, granted: nodes, told, stopped: false });
        }
    }

    fn store_news(&mut self) {
        let Facts { game, table } = self.facts;
        for (code, entry) in self.news.drain(..) {
            self.counters.stored(table.store(game.key(code), code, entry));
        }
    }

    /// Stops the jobs whose leaves have left the tree, or all if the search is over.
    fn call_off(&mut self) {
        let over = self.is_over();
        for (worker, seat) in self.seats.iter_mut().enumerate() {
            if let Seat::Busy(job) = seat
                && !job.stopped
                && (over || !self.tree.stands(&job.leaf))
            {
                job.stopped = true;
                // If the worker is gone, it says so, or the link does.
                let _ = self.link.send(worker, Order::Stop { id: job.id });
            }
        }
    }

    fn take_in(&mut self, worker: usize, notice: Notice) {
        let Seat::Busy(job) = &mut self.seats[worker] else {
            if notice == Notice::Leaving {
                self.seats[worker] = Seat::Gone;
            }
            return;
        };
        match notice {
            Notice::Update { id, phi, delta, counters } if id == job.id => {
                add_since(&mut self.counters, &counters, &job.told);
                job.told = counters;
                if phi > 0 && delta > 0 {
                    self.tree.update(&job.leaf, phi, delta, &mut self.news);
                }
            }
            Notice::Done { id, outcome, counters } if id == job.id => {
                add_since(&mut self.counters, &counters, &job.told);
                self.counters.second_level += counters.nodes;
                self.spent += counters.nodes;
                self.finish(worker, Some((outcome, counters.expansions)), Seat::Idle);
            }
            Notice::Leaving => self.finish(worker, None, Seat::Gone),
            // Of a job that is over.
            Notice::Update { .. } | Notice::Done { .. } => {}
        }
    }

    /// Ends a worker's job, with its result if there is one.
    fn finish(&mut self, worker: usize, result: Option<(JobOutcome, u64)>, then: Seat) {
        let Seat::Busy(job) = std::mem::replace(&mut self.seats[worker], then) else {
            return;
        };
        self.granted -= job.granted;
        match result {
            Some((JobOutcome::Solved(value, best), work)) => {
                self.tree.resolve(&job.leaf, value, best, work, &mut self.news);
            }
            Some((JobOutcome::Open(children), work)) if !children.is_empty() => {
                match self.tree.attach(&job.leaf, &children, work, &mut self.news) {
                    Ok(added) => self.counters.first_level += added,
                    Err(_) => self.reason = self.reason.or(Some(Reason::Memory)),
                }
            }
            Some((JobOutcome::Stopped(Reason::KnownValues), _)) => {
                self.reason = self.reason.or(Some(Reason::KnownValues));
            }
            // Called off, or of a worker that has left: if the leaf is still there, it is free
            // again.
            _ => {}
        }
        self.tree.release(job.leaf);
    }
}
