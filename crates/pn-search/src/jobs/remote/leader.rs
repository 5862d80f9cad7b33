//! The leader's side: bytes in, bytes out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::wire::{self, Kind, WireError};
use crate::jobs::messages::{JobId, Message, Notice, Order, Search, WorkerId};
use crate::jobs::{FirstLevel, Leader, Rules};
use crate::numbers::Number;
use crate::run::{Counters, Observer, Progress, Reason};

/// What a worker is told, for whoever carries the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The worker.
    pub worker: WorkerId,
    /// The answer, for [`super::RemoteWorker::search`] if it is a job.
    pub answer: Vec<u8>,
    /// What is in it.
    pub order: Ordered,
}

/// What is in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// A job.
    Search {
        /// Its name.
        job: JobId,
        /// The node, for [`super::RemoteWorker::entries`].
        node: Vec<u8>,
        /// The worker that knows something about the node.
        last: Option<WorkerId>,
    },
    /// Nothing to do: the worker has to be announced again when something has changed.
    Wait,
    /// The search is over.
    Quit,
}

/// How a search with workers elsewhere is going.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// The root's proof and disproof number.
    pub numbers: (Number, Number),
    /// What all workers have told.
    pub counters: Counters,
    /// Nodes of the leader's tree.
    pub tree_nodes: u64,
    /// Jobs that are out.
    pub jobs: usize,
    /// Facts that every worker gets.
    pub facts: usize,
    /// Whether the search has ended.
    pub is_over: bool,
}

/// A leader whose workers are in other processes, whatever it searches.
pub trait RemoteLeader {
    /// A worker has nothing to do. From here on it is heard, until it is lost.
    fn hello(&mut self, worker: WorkerId) -> Told;

    /// Takes a message in.
    ///
    /// # Errors
    /// If it is not a sound message of this search, from a worker that has said hello and is not lost.
    /// Then nothing has changed.
    fn hear(&mut self, bytes: &[u8]) -> Result<Told, WireError>;

    /// A worker will not be heard any more, and its job is free.
    fn lost(&mut self, worker: WorkerId);

    /// The jobs that have been called off since the last call.
    fn take_stops(&mut self) -> Vec<(WorkerId, JobId)>;

    /// How many nodes the next jobs may evaluate.
    fn set_job_nodes(&mut self, nodes: u64);

    /// Ends the search, unless it has ended.
    fn end(&mut self, reason: Reason);

    /// How the search is going.
    fn standing(&self) -> Standing;
}

/// By what a leader of workers elsewhere decides, whatever it searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteRules {
    /// Nodes that a job may evaluate, to begin with.
    pub job_nodes: u64,
    /// The most facts in an answer.
    pub facts_at_once: usize,
    /// The most facts that are kept for workers who have not read them yet: of a plain game 32 bytes
    /// each, of Grundy numbers 40 and their atoms' names.
    pub facts_kept: usize,
    /// How many of the best leaves are looked through for one that is not left to another worker,
    /// which knows more about it; at least 1.
    pub leaves_compared: usize,
    /// Nodes to evaluate in all.
    pub node_limit: Option<u64>,
}

impl Default for RemoteRules {
    /// Jobs of 8000 nodes, 65 536 facts, and no limit.
    fn default() -> Self {
        RemoteRules {
            job_nodes: 8000,
            facts_at_once: 1 << 16,
            facts_kept: 1 << 22,
            leaves_compared: 16,
            node_limit: None,
        }
    }
}

/// A [`Leader`] that is told in bytes and answers in bytes.
pub(crate) struct WireLeader<'o, F: FirstLevel> {
    observer: &'o mut dyn Observer,
    leader: Leader<F>,
    search: u64,
    job_nodes: Arc<AtomicU64>,
    /// The workers that have said hello and are not lost, and how many facts each has read, as far as
    /// it has told.
    read: BTreeMap<WorkerId, usize>,
}

/// What a leader leaves.
pub(crate) struct Led<F> {
    /// The tree.
    pub level: F,
    /// Why there is no answer, if there is none.
    pub reason: Option<Reason>,
    /// The worker with whose message a contradiction was found, if one was.
    pub contradicted_by: Option<WorkerId>,
    /// What was counted.
    pub counters: Counters,
    /// Bytes of what was kept beside the tree.
    pub bytes: u64,
}

/// The fewest nodes that let a job expand its node: the node itself counts as one.
const LEAST_NODES: u64 = 2;

impl<'o, F: FirstLevel> WireLeader<'o, F> {
    /// A leader for the search with this number, with so many entries in the leader's table.
    pub fn new(
        level: F,
        rules: RemoteRules,
        search: u64,
        table_used: u64,
        observer: &'o mut dyn Observer,
    ) -> Self {
        let RemoteRules { job_nodes, facts_at_once, facts_kept, leaves_compared, node_limit } =
            rules;
        let job_nodes = Arc::new(AtomicU64::new(job_nodes));
        let nodes = job_nodes.clone();
        let budget = Box::new(move |_| nodes.load(Ordering::Relaxed));
        let rules = Rules {
            facts_at_once,
            facts_kept,
            leaves_compared,
            ..Rules::shared(node_limit, budget, LEAST_NODES)
        };
        let leader = Leader::new(level, rules, table_used);
        WireLeader { observer, leader, search, job_nodes, read: BTreeMap::new() }
    }
}

impl<F> WireLeader<'_, F>
where
    F: FirstLevel<Node: Serialize, Fact: Serialize>,
{
    /// Tells the observer of Grundy numbers; if it cannot keep them, the search ends.
    fn tell_found(&mut self) {
        let found = self.leader.level.take_found();
        if !found.is_empty() && !self.observer.grundy_numbers(&found) {
            self.leader.end(Reason::FileError);
        }
    }

    fn answer(&mut self, message: Message<F::Node, F::Children, F::Fact>) -> Told {
        let worker = message.worker;
        let answer = self.leader.hear(message);
        self.leader.level.make_room();
        self.tell_found();
        let (phi, delta, _) = self.leader.level.root();
        let counters = self.leader.counters();
        let children = self.leader.level.root_children();
        self.observer.progress(&Progress { phi, delta, counters, children, ..Progress::default() });
        let order = match &answer.order {
            Order::Search(Search { job, node, last, .. }) => Ordered::Search {
                job: *job,
                node: wire::encode(Kind::Node, self.search, node),
                last: last.filter(|last| self.read.contains_key(last)),
            },
            Order::Wait => Ordered::Wait,
            Order::Quit => Ordered::Quit,
        };
        Told { worker, answer: wire::encode(Kind::Answer, self.search, &answer), order }
    }
}

impl<F> WireLeader<'_, F>
where
    F: FirstLevel<
            Node: Serialize + DeserializeOwned,
            Fact: Serialize + DeserializeOwned,
            Children: DeserializeOwned,
        >,
{
    /// Leads the search, from which all workers hear of `facts`, until `run` returns, which carries the
    /// messages; if the search is not over then, it was interrupted.
    pub fn lead(
        mut self,
        facts: impl IntoIterator<Item = F::Fact>,
        run: impl FnOnce(&mut dyn RemoteLeader),
    ) -> Led<F> {
        self.leader.remember(facts);
        run(&mut self);
        self.tell_found();
        if !self.leader.is_over() {
            self.leader.end(Reason::Interrupted);
        }
        let leader = self.leader;
        Led {
            reason: leader.reason(),
            contradicted_by: leader.contradicted_by(),
            counters: leader.counters(),
            bytes: leader.bytes(),
            level: leader.level,
        }
    }
}

impl<F> RemoteLeader for WireLeader<'_, F>
where
    F: FirstLevel<
            Node: Serialize + DeserializeOwned,
            Fact: Serialize + DeserializeOwned,
            Children: DeserializeOwned,
        >,
{
    fn hello(&mut self, worker: WorkerId) -> Told {
        let read = *self.read.entry(worker).or_default();
        self.answer(Message { worker, facts: Vec::new(), read, notice: Notice::Hello })
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<Told, WireError> {
        let message: Message<F::Node, F::Children, F::Fact> =
            wire::decode(Kind::Message, self.search, bytes)?;
        if !self.read.contains_key(&message.worker) {
            return Err(WireError::Unexpected(
                "one of a worker that has said hello and is not lost",
            ));
        }
        if !self.leader.is_sound(&message) {
            return Err(WireError::Unexpected("one with sound numbers"));
        }
        let read = self.read.entry(message.worker).or_default();
        *read = message.read.max(*read);
        Ok(self.answer(message))
    }

    fn lost(&mut self, worker: WorkerId) {
        self.read.remove(&worker);
        self.leader.lost(worker);
    }

    fn take_stops(&mut self) -> Vec<(WorkerId, JobId)> {
        self.leader.take_stops().collect()
    }

    fn set_job_nodes(&mut self, nodes: u64) {
        self.job_nodes.store(nodes.max(LEAST_NODES), Ordering::Relaxed);
    }

    fn end(&mut self, reason: Reason) {
        self.leader.end(reason);
    }

    fn standing(&self) -> Standing {
        let (phi, delta, _) = self.leader.level.root();
        Standing {
            numbers: (phi, delta),
            counters: self.leader.counters(),
            tree_nodes: self.leader.level.nodes(),
            jobs: self.leader.jobs(),
            facts: self.leader.facts(),
            is_over: self.leader.is_over(),
        }
    }
}
