//! The coordinator: assigns leaves to workers, counts nodes, and ends the search.
//!
//! The coordinator is driven by requests and replies to each at once ([`Coordinator::handle`]). Jobs whose leaf has
//! left the tree are cancelled. Cancellations are queued until the carrier of the messages collects them
//! ([`Coordinator::take_cancelled`]). A worker that does not receive a cancellation only searches longer.
//!
//! A worker has at most one job. If the worker is lost, its job is released, and the leaf is free for other
//! workers ([`Coordinator::remove_worker`]).

use std::collections::{BTreeMap, VecDeque};

use ahash::AHashMap;

use super::message::{
    Instruction, Job, JobId, JobOutcome, Reply, Request, RequestFor, SharedResults, WorkerId,
    WorkerState,
};
use super::{CoordinatorConfig, JobTree, Selection};
use crate::map_bytes;
use crate::run::{Counters, Reason};

/// Minimum budget of a job. The job's node itself counts as one, so a smaller budget would not allow an expansion.
const MIN_JOB_NODES: u64 = 2;

/// Maximum budget of a job, and maximum of each counter in a request. The sum of a million such numbers fits into 64
/// bits.
const MAX_COUNT: u64 = 1 << 44;

/// Number of requests of every busy worker after which a leaf is no longer *deferred*: kept for the worker that has
/// searched its parent and has the entries below it in its table. The limit prevents a slow worker from blocking the
/// best leaves.
const MAX_DEFERRALS: u64 = 2;

/// Maximum number of leaves whose deferral count is stored. The count of a leaf that leaves the tree stays stored, so
/// all counts are cleared when this number is reached. Most of them then belong to leaves that have left the tree.
const MAX_DEFERRED_LEAVES: usize = 1 << 16;

/// A job that has been assigned.
struct AssignedJob<L> {
    worker: WorkerId,
    leaf: L,
    code: u64,
    budget: u64,
    last: Option<WorkerId>,
    is_cancelled: bool,
}

/// New results of a request.
struct LoggedResults {
    /// The worker that found them.
    worker: WorkerId,
    /// Number of results shared since the start of the search, up to the last one of these.
    end: usize,
    results: SharedResults,
}

/// Coordinator of the workers of a search. See the module documentation.
pub struct Coordinator<T: JobTree> {
    /// The tree.
    pub tree: T,
    config: CoordinatorConfig,
    jobs: BTreeMap<JobId, AssignedJob<T::Leaf>>,
    /// The job of each worker that has one.
    assigned: AHashMap<WorkerId, JobId>,
    /// The latest shared results.
    log: VecDeque<LoggedResults>,
    /// Number of results shared since the start of the search.
    results: usize,
    /// Deferral counts of free leaves, by the leaves' codes.
    deferred: AHashMap<u64, u64>,
    cancelled: Vec<(WorkerId, JobId)>,
    next_job: JobId,
    /// Number of nodes that count for the node limit, without assigned jobs: those evaluated by jobs that have ended,
    /// the root, and in PN² the children that jobs have added to the tree.
    spent: u64,
    /// Sum of the budgets of assigned jobs.
    granted: u64,
    counters: Counters,
    reason: Option<Reason>,
    /// The worker in whose request a contradiction was found.
    contradicted_by: Option<WorkerId>,
}

impl<T: JobTree> Coordinator<T> {
    /// Creates a coordinator of a tree. The root counts as a node. `table_used` is the number of entries in the
    /// coordinator's own table.
    pub fn new(tree: T, config: CoordinatorConfig, table_used: u64) -> Self {
        Coordinator {
            tree,
            config,
            jobs: BTreeMap::new(),
            assigned: AHashMap::new(),
            log: VecDeque::new(),
            results: 0,
            deferred: AHashMap::new(),
            cancelled: Vec::new(),
            next_job: 1,
            spent: 1,
            granted: 0,
            counters: Counters { nodes: 1, first_level: 1, table_used, ..Counters::default() },
            reason: None,
            contradicted_by: None,
        }
    }

    /// Returns the counters of all workers and the coordinator. Every node counts at one level: at the first level if
    /// it has become a node of the coordinator's tree, otherwise at the second level, that of the jobs.
    pub fn counters(&self) -> Counters {
        let Counters { nodes, first_level, .. } = self.counters;
        Counters { second_level: nodes.saturating_sub(first_level), ..self.counters }
    }

    /// Returns the reason why the search has ended without a result, if it has. After a contradiction there is no
    /// result, even if the root has a value.
    pub fn reason(&self) -> Option<Reason> {
        let is_final = |&reason: &Reason| reason == Reason::Contradiction || !self.tree.is_solved();
        self.reason.filter(is_final)
    }

    /// Returns the worker in whose request a contradiction was found.
    pub fn contradicted_by(&self) -> Option<WorkerId> {
        self.contradicted_by
    }

    /// Returns true if the search has ended.
    pub fn is_over(&self) -> bool {
        self.reason.is_some() || self.tree.is_solved()
    }

    /// Ends the search for this reason, unless it has already ended.
    pub fn end(&mut self, reason: Reason) {
        self.reason = self.reason.or(Some(reason));
        self.cancel_jobs();
    }

    /// Continues a search that ended for lack of memory, after memory was freed. Releases all jobs.
    pub fn resume(&mut self) {
        let ids: Vec<JobId> = self.jobs.keys().copied().collect();
        for id in ids {
            self.release(id);
        }
        self.reason = self.reason.filter(|&reason| reason != Reason::Memory);
    }

    /// Returns the number of assigned jobs.
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    /// Sets the budget, in nodes, of each job that is assigned from now on.
    pub fn set_job_nodes(&mut self, nodes: u64) {
        self.config.job_nodes = nodes;
    }

    /// Takes the jobs that have been cancelled since the last call.
    pub fn take_cancelled(&mut self) -> impl Iterator<Item = (WorkerId, JobId)> {
        self.cancelled.drain(..)
    }

    /// Returns true if a request is consistent with the job of its worker. Requests from other processes are
    /// untrusted. An invalid request must not be handled.
    pub fn is_valid(&mut self, request: &RequestFor<T>) -> bool {
        let in_range =
            |spent: &Counters| spent.to_array().into_iter().all(|count| count <= MAX_COUNT);
        self.tree.are_results(&request.results)
            && match &request.state {
                WorkerState::Idle => true,
                WorkerState::Done { job, outcome, spent } => {
                    // `handle` ignores the result of a job that the worker does not have, so it need not be valid.
                    let of_worker = self.jobs.get(job).filter(|job| job.worker == request.worker);
                    in_range(spent)
                        && of_worker.is_none_or(|job| self.tree.is_valid(&job.leaf, outcome))
                }
            }
    }

    /// Handles a request.
    ///
    /// # Panics
    /// If [`Coordinator::is_valid`] returns false for the request.
    pub fn handle(&mut self, request: RequestFor<T>) -> Reply<u64> {
        let Request { worker, results, received, state } = request;
        let new = self.tree.add_results(&results, &mut self.counters);
        self.log_results(worker, new);
        let mut is_outdated = false;
        if let WorkerState::Done { job, outcome, spent } = state {
            match self.assigned.get(&worker) {
                Some(&assigned) if assigned == job => self.finish(job, outcome, &spent),
                assigned => is_outdated = assigned.is_some(),
            }
        }
        // An outdated result is the second copy of an earlier one. The worker already has its next job, and would search
        // it twice if this reply contained it again.
        let instruction = match is_outdated && !self.is_over() {
            true => Instruction::Wait,
            false => self.next_instruction(worker),
        };
        if let Some(reason) = self.tree.publish(&mut self.counters) {
            self.fail(reason, worker);
        }
        if self.tree.has_lost_leaves() || self.is_over() {
            self.cancel_jobs();
        }
        let (results, received) = self.results_since(received, worker);
        Reply { instruction, results, received }
    }

    /// Returns results for a worker that has received the first `received` results, and the number of results that it
    /// has received with them.
    fn results_since(&self, received: usize, worker: WorkerId) -> (Vec<u8>, usize) {
        let (mut bytes, mut last) = (Vec::new(), received);
        let first = self.log.partition_point(|logged| logged.end <= received);
        let (mut count, max) = (0, self.config.max_results_in_reply);
        for LoggedResults { worker: from, end, results } in self.log.range(first..) {
            if *from != worker {
                count += results.count;
                // At least the results of one request are sent, unless no results are shared.
                if count > max && (max == 0 || !bytes.is_empty()) {
                    break;
                }
                bytes.extend_from_slice(&results.bytes);
            }
            last = *end;
        }
        (bytes, last)
    }

    /// Records the reason why the search has to end. A contradiction replaces any other reason; otherwise the first
    /// reason stays.
    fn fail(&mut self, reason: Reason, worker: WorkerId) {
        if reason == Reason::Contradiction && self.reason != Some(reason) {
            (self.reason, self.contradicted_by) = (Some(reason), Some(worker));
        }
        self.reason = self.reason.or(Some(reason));
    }

    /// Shares results from before the search with all workers.
    pub fn share(&mut self, results: impl IntoIterator<Item = SharedResults>) {
        results.into_iter().for_each(|results| self.log_results(WorkerId::MAX, results));
    }

    fn log_results(&mut self, worker: WorkerId, mut results: SharedResults) {
        if results.count == 0 {
            return;
        }
        results.bytes.shrink_to_fit();
        self.results += results.count;
        self.log.push_back(LoggedResults { worker, end: self.results, results });
        let is_too_old =
            |logged: &LoggedResults| self.results - logged.end >= self.config.max_results_stored;
        while self.log.front().is_some_and(is_too_old) {
            self.log.pop_front();
        }
    }

    /// Returns the number of results shared since the start of the search.
    pub fn results(&self) -> usize {
        self.results
    }

    /// Returns the bytes used by shared results and deferral counts. The tree is not included.
    pub fn bytes(&self) -> u64 {
        let heap: usize = self.log.iter().map(|logged| logged.results.bytes.capacity()).sum();
        let log = self.log.capacity() * size_of::<LoggedResults>() + heap;
        log as u64 + map_bytes::<(u64, u64)>(self.deferred.capacity())
    }

    /// Removes a lost worker and releases its job. Later requests of this worker must not be handled. The worker's
    /// table is lost, so no leaf is deferred to the worker any more.
    pub fn remove_worker(&mut self, worker: WorkerId) {
        if let Some(&id) = self.assigned.get(&worker) {
            self.release(id);
        }
        self.tree.remove_worker(worker);
    }

    /// Returns the next instruction to a worker.
    fn next_instruction(&mut self, worker: WorkerId) -> Instruction<u64> {
        if self.is_over() {
            return Instruction::Quit;
        }
        if let Some(&id) = self.assigned.get(&worker) {
            // The worker already has a job: an earlier reply was lost, or an idle request was duplicated.
            return self.search_instruction(id);
        }
        let left = self.nodes_left();
        if left < MIN_JOB_NODES {
            // Assigned jobs may end without using their whole budgets, so nodes may be left for further jobs.
            if self.granted > 0 {
                return Instruction::Wait;
            }
            self.reason = Some(Reason::NodeLimit);
            return Instruction::Quit;
        }
        // Chooses the best leaf that is not deferred, among the best `leaves_compared` leaves. If all of these are
        // deferred, chooses the best leaf.
        let (mut postponed, mut chosen) = (Vec::new(), None);
        while chosen.is_none() && postponed.len() < self.config.leaves_compared.max(1) {
            match self.tree.select() {
                Selection::Leaf { leaf, code, last } => {
                    let last = last.filter(|&last| last != worker);
                    match last.is_some() && self.is_deferred(code) {
                        true => postponed.push((leaf, code, last)),
                        false => chosen = Some((leaf, code, last)),
                    }
                }
                Selection::AllTaken => break,
                Selection::Solved => return Instruction::Quit,
            }
        }
        for (leaf, code, last) in postponed {
            if chosen.is_none() && self.tree.is_leaf(&leaf) {
                chosen = Some((leaf, code, last));
            } else {
                self.tree.release(&leaf);
                self.count_deferral(code);
            }
        }
        let Some((leaf, code, last)) = chosen else { return Instruction::Wait };
        let CoordinatorConfig { job_nodes, pn2, .. } = self.config;
        let budget = pn2.map_or(job_nodes, |options| options.budget.of(self.tree.nodes()));
        let budget = budget.max(MIN_JOB_NODES).min(left);
        self.deferred.remove(&code);
        self.counters.jobs += 1;
        self.granted += budget;
        let id = self.next_job;
        self.next_job += 1;
        self.assigned.insert(worker, id);
        let is_cancelled = false;
        self.jobs.insert(id, AssignedJob { worker, leaf, code, budget, last, is_cancelled });
        self.search_instruction(id)
    }

    /// Returns the number of nodes up to the node limit, without those of assigned jobs.
    fn nodes_left(&self) -> u64 {
        let used = self.spent.saturating_add(self.granted);
        let limit = self.config.node_limit;
        limit.map_or(MAX_COUNT, |limit| limit.saturating_sub(used).min(MAX_COUNT))
    }

    /// Returns true if a leaf whose parent another worker has searched is deferred to that worker (see
    /// `MAX_DEFERRALS`).
    fn is_deferred(&self, code: u64) -> bool {
        let max = MAX_DEFERRALS * (self.assigned.len() as u64 + 1);
        self.deferred.get(&code).is_none_or(|&count| count < max)
    }

    fn count_deferral(&mut self, code: u64) {
        if self.deferred.len() == MAX_DEFERRED_LEAVES {
            self.deferred.clear();
        }
        *self.deferred.entry(code).or_default() += 1;
    }

    fn search_instruction(&self, id: JobId) -> Instruction<u64> {
        let AssignedJob { code, budget, last, .. } = self.jobs[&id];
        Instruction::Search(Job { id, node: code, budget, last })
    }

    /// Adds the result of a job to the tree.
    fn finish(&mut self, id: JobId, outcome: JobOutcome<T::Children>, spent: &Counters) {
        let job = self.remove(id);
        self.counters.add(spent);
        self.spent = self.spent.saturating_add(spent.nodes);
        self.tree.release(&job.leaf);
        match outcome {
            JobOutcome::Solved(value, best) => {
                self.tree.resolve(&job.leaf, value, best, spent.expansions);
            }
            JobOutcome::Open(children) => {
                match self.tree.attach(&job.leaf, &children, spent.expansions, job.worker) {
                    // PN²: the children were counted as nodes of the second-level tree, which is discarded. They
                    // count again as nodes of the first level.
                    Some(added) if self.config.pn2.is_some() => {
                        self.spent += added;
                        self.counters.nodes += added;
                        self.counters.first_level += added;
                    }
                    // Children that were in the table before the job were counted by an earlier job. So at most the
                    // nodes of this job are added.
                    Some(added) => self.counters.first_level += added.min(spent.nodes),
                    None => self.fail(Reason::Memory, job.worker),
                }
            }
            JobOutcome::Failed(reason) => self.fail(reason, job.worker),
            JobOutcome::Stopped => {}
        }
    }

    /// Ends a job and frees its leaf.
    fn release(&mut self, id: JobId) {
        let job = self.remove(id);
        self.tree.release(&job.leaf);
    }

    /// Removes a job, whose leaf stays taken.
    fn remove(&mut self, id: JobId) -> AssignedJob<T::Leaf> {
        let job = self.jobs.remove(&id).expect("the job is assigned");
        self.assigned.remove(&job.worker);
        self.granted -= job.budget;
        job
    }

    /// Cancels the jobs whose leaves have left the tree, or all jobs if the search is over.
    fn cancel_jobs(&mut self) {
        let is_over = self.is_over();
        if !is_over && self.config.pn2.is_some_and(|options| !options.cancel_jobs) {
            return;
        }
        for (&id, job) in &mut self.jobs {
            if !job.is_cancelled && (is_over || !self.tree.is_leaf(&job.leaf)) {
                job.is_cancelled = true;
                self.cancelled.push((job.worker, id));
            }
        }
    }
}

#[cfg(test)]
mod tests;
