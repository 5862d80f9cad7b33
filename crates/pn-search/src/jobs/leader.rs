//! The leader: knows which leaf is whose, what has been spent, and when the search is over.
//!
//! It is driven by messages, and answers each at once ([`Leader::hear`]). What it would tell a worker
//! without being asked, namely that its job is called off, it lays out for whoever can deliver that
//! ([`Leader::take_stops`]); a worker that is not told only searches longer.
//!
//! A worker has one job at a time. If it is lost, that is released, and its leaf goes to somebody else
//! ([`Leader::lost`]).

use std::collections::{BTreeMap, VecDeque};

use ahash::AHashMap;

use super::messages::{
    Answer, AnswerOf, JobId, JobOutcome, Message, MessageFor, Notice, Order, Search, WorkerId,
};
use super::{FirstLevel, Selection};
use crate::map_bytes;
use crate::numbers::Number;
use crate::run::{Counters, Reason};

/// How many nodes a job may evaluate, when the first level has so many.
type Budget = Box<dyn Fn(u64) -> u64 + Send>;

/// The most nodes that a job may get, and the most that it may count of anything: a million such
/// numbers can be added.
const MOST: u64 = 1 << 44;

/// By what a leader decides.
pub struct Rules {
    /// Nodes to evaluate in all, if there is a limit.
    pub node_limit: Option<u64>,
    /// See [`Search::budget`]: what a job gets, if there is as much left.
    pub budget: Budget,
    /// The least that makes a job; at least 1.
    pub least_budget: u64,
    /// Whether jobs leave nothing behind, so that nodes are made anew when they join the first
    /// level, and count again.
    pub made_anew: bool,
    /// The most facts in an answer.
    pub facts_at_once: usize,
    /// The most facts in the log, the latest ones; 1 at least. Who has not read the others does not get
    /// them.
    pub facts_kept: usize,
    /// How many of the best leaves are looked through for one that is not left to another worker, which
    /// knows more about it, for workers that share nothing; at least 1.
    pub leaves_compared: usize,
}

impl Rules {
    /// For workers that share what they find out.
    pub fn shared(node_limit: Option<u64>, budget: Budget, least_budget: u64) -> Self {
        Rules {
            node_limit,
            budget,
            least_budget: least_budget.max(1),
            made_anew: false,
            facts_at_once: 0,
            facts_kept: usize::MAX,
            leaves_compared: 1,
        }
    }
}

/// A job that is out.
struct Job<L> {
    worker: WorkerId,
    leaf: L,
    budget: u64,
    last: Option<WorkerId>,
    /// What the worker has told of it.
    spent: Counters,
    called_off: bool,
}

/// How often a leaf is left to the worker that knows more about it, for each job that is out. One that
/// is as fast as the others has asked by then; one that is slow must not keep the best leaves.
const PATIENCE: u64 = 2;

/// The most leaves for which is kept how often they have been left to somebody. Those that are looked
/// at are few; others may have left the tree.
const MOST_PASSED: usize = 1 << 16;

/// See the module.
pub struct Leader<F: FirstLevel> {
    /// The tree.
    pub level: F,
    rules: Rules,
    jobs: BTreeMap<JobId, Job<F::Leaf>>,
    /// The workers that have a job.
    seats: AHashMap<WorkerId, JobId>,
    /// The latest facts, and who has found them out.
    log: VecDeque<(WorkerId, F::Fact)>,
    /// Facts that have left the log.
    forgotten: usize,
    /// How often free leaves have been left to the worker that knows more about them.
    passed: AHashMap<F::Node, u64>,
    stops: Vec<(WorkerId, JobId)>,
    next_job: JobId,
    /// Nodes of jobs that are over, and those of the first level that count beside them.
    spent: u64,
    /// Nodes that the jobs may evaluate that are out.
    granted: u64,
    counters: Counters,
    reason: Option<Reason>,
    /// The worker with whose message a contradiction was found.
    contradicted_by: Option<WorkerId>,
}

impl<F: FirstLevel> Leader<F> {
    /// A leader of a first level whose root counts as a node, with so many entries in the workers'
    /// table, if they have one.
    pub fn new(level: F, rules: Rules, table_used: u64) -> Self {
        Leader {
            level,
            rules,
            jobs: BTreeMap::new(),
            seats: AHashMap::new(),
            log: VecDeque::new(),
            forgotten: 0,
            passed: AHashMap::new(),
            stops: Vec::new(),
            next_job: 1,
            spent: 1,
            granted: 0,
            counters: Counters { nodes: 1, first_level: 1, table_used, ..Counters::default() },
            reason: None,
            contradicted_by: None,
        }
    }

    /// What all workers have counted, as far as they have told. Every node counts at one level: the
    /// first, if it joined the tree, else the second.
    pub fn counters(&self) -> Counters {
        let Counters { nodes, first_level, .. } = self.counters;
        Counters { second_level: nodes.saturating_sub(first_level), ..self.counters }
    }

    /// Why the search has ended without an answer, if it has. After a contradiction there is none,
    /// whatever has been found.
    pub fn reason(&self) -> Option<Reason> {
        let is_final =
            |&reason: &Reason| reason == Reason::Contradiction || !self.level.is_solved();
        self.reason.filter(is_final)
    }

    /// The worker with whose message a contradiction was found.
    pub fn contradicted_by(&self) -> Option<WorkerId> {
        self.contradicted_by
    }

    /// Whether the search has ended.
    pub fn is_over(&self) -> bool {
        self.reason.is_some() || self.level.is_solved()
    }

    /// Ends the search, unless it has ended.
    pub fn end(&mut self, reason: Reason) {
        self.reason = self.reason.or(Some(reason));
        self.call_off();
    }

    /// Jobs that are out.
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    /// The jobs that have been called off since the last call, for their workers to be told.
    pub fn take_stops(&mut self) -> impl Iterator<Item = (WorkerId, JobId)> {
        self.stops.drain(..)
    }

    /// Whether a message can be true. What comes from another process may be anything, and what is not
    /// sound must not be heard.
    pub fn is_sound(&mut self, message: &MessageFor<F>) -> bool {
        let may_count = |spent: &Counters| spent.to_array().into_iter().all(|count| count <= MOST);
        match &message.notice {
            Notice::Hello => true,
            Notice::Done { job, outcome, spent } => {
                // What is said of another job is not listened to.
                let of_worker = self.jobs.get(job).filter(|job| job.worker == message.worker);
                may_count(spent)
                    && of_worker.is_none_or(|job| self.level.is_sound(&job.leaf, outcome))
            }
        }
    }

    /// Takes a message in and answers it.
    pub fn hear(&mut self, message: MessageFor<F>) -> AnswerOf<F> {
        let Message { worker, facts, read, notice } = message;
        facts.iter().for_each(|fact| self.level.announce(fact));
        for fact in facts {
            if self.level.learn(&fact, &mut self.counters) {
                self.keep(worker, fact);
            }
        }
        let order = match notice {
            Notice::Hello => self.next(worker),
            Notice::Done { job, outcome, spent } => {
                if self.seats.get(&worker) == Some(&job) {
                    self.finish(job, outcome, &spent);
                }
                self.next(worker)
            }
        };
        self.look(worker);
        let read = read.max(self.forgotten);
        let end = self.facts().min(read.saturating_add(self.rules.facts_at_once));
        let facts = self.log.range(read.min(end) - self.forgotten..end - self.forgotten);
        let facts = facts.filter(|(from, _)| *from != worker).map(|(_, fact)| fact.clone());
        Answer { order, facts: facts.collect(), read: read.max(end) }
    }

    /// Takes in how far a worker has come with its job: the numbers of the job's node by now, if it
    /// tells any, and what it has counted for the job so far.
    pub fn slice(&mut self, id: JobId, numbers: Option<(Number, Number)>, spent: &Counters) {
        let job = self.jobs.get_mut(&id).expect("who is at a job has one");
        self.counters.add_since(spent, &job.spent);
        job.spent = *spent;
        if let Some((phi, delta)) = numbers.filter(|&(phi, delta)| phi > 0 && delta > 0) {
            self.level.update(&job.leaf, phi, delta);
        }
        let worker = job.worker;
        self.look(worker);
    }

    /// Looks at what a worker has made of the tree.
    fn look(&mut self, worker: WorkerId) {
        self.level.publish(&mut self.counters);
        if let Some(reason) = self.level.failure() {
            self.fail(reason, worker);
        }
        if self.level.has_lost_leaves() || self.is_over() {
            self.call_off();
        }
    }

    /// Notes why the search has to end, as a worker has told or by what it has told. The first reason
    /// stays, unless it turns out that what has been told cannot be true.
    fn fail(&mut self, reason: Reason, worker: WorkerId) {
        if reason == Reason::Contradiction && self.reason != Some(reason) {
            (self.reason, self.contradicted_by) = (Some(reason), Some(worker));
        }
        self.reason = self.reason.or(Some(reason));
    }

    /// Takes over facts from before the search.
    pub fn remember(&mut self, facts: impl IntoIterator<Item = F::Fact>) {
        for fact in facts {
            self.keep(WorkerId::MAX, fact);
        }
    }

    fn keep(&mut self, from: WorkerId, fact: F::Fact) {
        if self.log.len() == self.rules.facts_kept.max(1) {
            self.log.pop_front();
            self.forgotten += 1;
        }
        self.log.push_back((from, fact));
    }

    /// Facts that there have been.
    pub fn facts(&self) -> usize {
        self.forgotten + self.log.len()
    }

    /// Bytes beside the first level: of facts, and what grows with the workers.
    pub fn bytes(&self) -> u64 {
        let beside: usize = self.log.iter().map(|(_, fact)| F::bytes_beside(fact)).sum();
        let facts = self.log.capacity() * size_of::<(WorkerId, F::Fact)>() + beside;
        facts as u64 + map_bytes::<(F::Node, u64)>(self.passed.capacity())
    }

    /// Releases the job of a worker that will not be heard of again: a message of its that comes
    /// later must be kept from [`Leader::hear`]. What it knew is gone, so its leaves are as good as
    /// unknown to everybody.
    pub fn lost(&mut self, worker: WorkerId) {
        if let Some(&id) = self.seats.get(&worker) {
            self.release(id);
        }
        self.level.forget(worker);
    }

    /// What a worker without a job does next.
    fn next(&mut self, worker: WorkerId) -> Order<F::Node> {
        if self.is_over() {
            return Order::Quit;
        }
        if let Some(&id) = self.seats.get(&worker) {
            // The answer has not come, or the message has come twice.
            return self.search(id);
        }
        let gone = self.spent.saturating_add(self.granted);
        let left = self.rules.node_limit.map_or(MOST, |limit| limit.saturating_sub(gone).min(MOST));
        if left < self.rules.least_budget {
            // What others have been granted may come back.
            if self.granted > 0 {
                return Order::Wait;
            }
            self.reason = Some(Reason::NodeLimit);
            return Order::Quit;
        }
        // The best leaf that is not left to another worker, among the best that there are.
        let (mut passed, mut chosen) = (Vec::new(), None);
        while chosen.is_none() && passed.len() < self.rules.leaves_compared.max(1) {
            match self.level.select() {
                Selection::Leaf(leaf) if self.is_left(&leaf, worker) => passed.push(leaf),
                Selection::Leaf(leaf) => chosen = Some(leaf),
                Selection::AllTaken => break,
                Selection::Solved => return Order::Quit,
            }
        }
        for leaf in passed {
            if chosen.is_none() && self.level.stands(&leaf) {
                chosen = Some(leaf);
            } else {
                self.level.release(&leaf);
                self.pass(F::node(&leaf));
            }
        }
        let Some(leaf) = chosen else { return Order::Wait };
        let budget = (self.rules.budget)(self.level.nodes()).max(self.rules.least_budget).min(left);
        let last = self.level.known_by(&leaf).filter(|&last| last != worker);
        self.passed.remove(&F::node(&leaf));
        let spent = Counters::default();
        let job = Job { worker, leaf, budget, last, spent, called_off: false };
        let id = self.next_job;
        self.next_job += 1;
        self.granted += budget;
        self.jobs.insert(id, job);
        self.seats.insert(worker, id);
        self.search(id)
    }

    /// Whether a leaf is left to another worker, who knows more about it.
    fn is_left(&self, leaf: &F::Leaf, worker: WorkerId) -> bool {
        let patience = PATIENCE * (self.seats.len() as u64 + 1);
        self.level.known_by(leaf).is_some_and(|last| last != worker)
            && self.passed.get(&F::node(leaf)).is_none_or(|&passed| passed < patience)
    }

    /// Counts that a leaf was left to somebody.
    fn pass(&mut self, node: F::Node) {
        if self.passed.len() == MOST_PASSED {
            self.passed.clear();
        }
        *self.passed.entry(node).or_default() += 1;
    }

    fn search(&self, id: JobId) -> Order<F::Node> {
        let Job { ref leaf, budget, last, .. } = self.jobs[&id];
        Order::Search(Search { job: id, node: F::node(leaf), budget, last })
    }

    /// Takes a result in.
    fn finish(&mut self, id: JobId, outcome: JobOutcome<F::Node, F::Children>, spent: &Counters) {
        let job = self.release(id);
        self.counters.add_since(spent, &job.spent);
        let more = spent.nodes.saturating_sub(job.spent.nodes);
        self.spent = self.spent.saturating_add(more);
        match outcome {
            JobOutcome::Solved(value, best) => {
                self.level.resolve(&job.leaf, value, best, spent.expansions);
            }
            JobOutcome::Open(children) => {
                match self.level.attach(&job.leaf, &children, spent.expansions, job.worker) {
                    Some(added) if self.rules.made_anew => {
                        self.spent += added;
                        self.counters.nodes += added;
                        self.counters.first_level += added;
                    }
                    // What the table knew before was counted when it was evaluated.
                    Some(added) => self.counters.first_level += added.min(spent.nodes),
                    None => self.fail(Reason::Memory, job.worker),
                }
            }
            JobOutcome::Failed(reason) => self.fail(reason, job.worker),
            JobOutcome::Stopped => {}
        }
    }

    /// Ends a job. Its leaf is free again, if it is still one.
    fn release(&mut self, id: JobId) -> Job<F::Leaf> {
        let job = self.jobs.remove(&id).expect("the job is out");
        self.seats.remove(&job.worker);
        self.granted -= job.budget;
        self.spent = self.spent.saturating_add(job.spent.nodes);
        self.level.release(&job.leaf);
        job
    }

    /// Calls off the jobs whose leaves have left the tree, or all if the search is over.
    fn call_off(&mut self) {
        let over = self.is_over();
        for (&id, job) in &mut self.jobs {
            if !job.called_off && (over || !self.level.stands(&job.leaf)) {
                job.called_off = true;
                self.stops.push((job.worker, id));
            }
        }
    }
}

#[cfg(test)]
mod tests;
