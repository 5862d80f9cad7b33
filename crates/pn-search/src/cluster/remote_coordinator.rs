//! A coordinator of workers in other processes, which receives and sends bytes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::message::{
    Instruction, Job, JobId, Reply, Request, RequestFor, SharedResults, WorkerId, WorkerState,
};
use super::wire::{self, Kind, WireError};
use super::{Coordinator, CoordinatorConfig, JobTree};
use crate::numbers::{Number, Pair};
use crate::run::{Counters, ListChildren, Observer, Progress, Reason, Report};

/// Reply to a worker, for the carrier of the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Receiver of the reply.
    pub worker: WorkerId,
    /// The reply. A reply with a job is the argument `reply` of [`super::RemoteWorker::search`].
    pub reply: Vec<u8>,
    /// Id of the job in the reply. If there is none and the search is not over, the carrier has to send an idle request
    /// of the worker after the next change, such as a result or the removal of another worker, and after a timeout if
    /// replies can be lost.
    pub job: Option<JobId>,
    /// Another worker that has entries below the job's node, and the message for
    /// [`super::RemoteWorker::entries`] that contains this node.
    pub last: Option<(WorkerId, Vec<u8>)>,
    /// True if the search is over.
    pub is_over: bool,
}

/// State of a search with workers in other processes.
#[derive(Clone, Copy, Debug)]
pub struct CoordinatorStatus {
    /// Proof and disproof number of the root.
    pub numbers: (Number, Number),
    /// Counters of all workers.
    pub counters: Counters,
    /// Number of nodes in the coordinator's tree.
    pub tree_nodes: u64,
    /// Number of assigned jobs.
    pub jobs: usize,
    /// Number of results shared since the start of the search.
    pub results: usize,
    /// True if the search has ended.
    pub is_over: bool,
}

/// A coordinator whose workers are in other processes, for any game.
pub trait RemoteCoordinator {
    /// Handles an idle request of a worker. From the worker's first idle request on, all its requests are accepted
    /// until it is removed.
    fn handle_idle(&mut self, worker: WorkerId) -> Delivery;

    /// Handles a request.
    ///
    /// # Errors
    /// If the bytes are not a valid request of this search, or if the worker has not sent an idle request before or
    /// has been removed. After an error, the search is unchanged.
    fn handle(&mut self, request: &[u8]) -> Result<Delivery, WireError>;

    /// Removes a lost worker and releases its job.
    fn remove_worker(&mut self, worker: WorkerId);

    /// Takes the jobs that have been cancelled since the last call.
    fn take_cancelled(&mut self) -> Vec<(WorkerId, JobId)>;

    /// Sets the budget, in nodes, of each job that is assigned from now on.
    fn set_job_nodes(&mut self, nodes: u64);

    /// Ends the search for this reason, unless it has already ended.
    fn end(&mut self, reason: Reason);

    /// Returns the state of the search.
    fn status(&self) -> CoordinatorStatus;
}

/// Coordinates the search with id `search` until `run` returns. `run` transports the messages. If the search is not
/// over when `run` returns, it counts as interrupted. All workers receive `results` from before
/// the search.
pub(crate) fn coordinate<T>(
    tree: T,
    config: CoordinatorConfig,
    search: u64,
    results: impl IntoIterator<Item = SharedResults>,
    observer: &mut dyn Observer,
    run: impl FnOnce(&mut dyn RemoteCoordinator),
) -> (Report, Coordinator<T>)
where
    T: JobTree<Node: Serialize, Children: DeserializeOwned>,
{
    let table_used = tree.table_used();
    let mut coordinator = Coordinator::new(tree, config, table_used);
    coordinator.share(results);
    let mut wire = WireCoordinator { observer, coordinator, search, received: BTreeMap::new() };
    run(&mut wire);
    wire.report_grundy_numbers();
    if !wire.coordinator.is_over() {
        wire.coordinator.end(Reason::Interrupted);
    }
    let WireCoordinator { coordinator, .. } = wire;
    let (reason, counters) = (coordinator.reason(), coordinator.counters());
    let mut report = coordinator.tree.report(reason, counters, 1);
    report.memory_bytes += coordinator.bytes();
    (report, coordinator)
}

/// A [`Coordinator`] that receives and sends bytes.
struct WireCoordinator<'o, T: JobTree> {
    observer: &'o mut dyn Observer,
    coordinator: Coordinator<T>,
    search: u64,
    /// Workers whose requests are accepted, and the number of shared results that each has received.
    received: BTreeMap<WorkerId, usize>,
}

impl<T: JobTree<Node: Serialize>> WireCoordinator<'_, T> {
    /// Reports new Grundy numbers to the observer. If the observer cannot store them, the search ends.
    fn report_grundy_numbers(&mut self) {
        let found = self.coordinator.tree.take_grundy_numbers();
        if !found.is_empty() && !self.observer.grundy_numbers(&found) {
            self.coordinator.end(Reason::FileError);
        }
    }

    fn deliver(&mut self, request: RequestFor<T>) -> Delivery {
        let worker = request.worker;
        let Reply { instruction, results, received } = self.coordinator.handle(request);
        self.report_grundy_numbers();
        let CoordinatorStatus { numbers: (phi, delta), counters, .. } = self.status();
        let children = self.coordinator.tree.root_children();
        let list = || children.clone();
        let children = Some(&list as &ListChildren<'_>);
        self.observer.progress(&Progress { phi, delta, counters, children, ..Progress::default() });
        let (mut job, mut last_worker) = (None, None);
        let is_over = matches!(instruction, Instruction::Quit);
        let instruction = match instruction {
            Instruction::Search(Job { id, node, budget, last }) => {
                let node = self.coordinator.tree.node(node);
                let last = last.filter(|last| self.received.contains_key(last));
                last_worker = last.map(|last| (last, wire::encode(Kind::Node, self.search, &node)));
                job = Some(id);
                Instruction::Search(Job { id, node, budget, last })
            }
            Instruction::Wait => Instruction::Wait,
            Instruction::Quit => Instruction::Quit,
        };
        let reply = Reply { instruction, results, received };
        let reply = wire::encode(Kind::Reply, self.search, &reply);
        Delivery { worker, reply, job, last: last_worker, is_over }
    }

    fn status(&self) -> CoordinatorStatus {
        let Coordinator { tree, .. } = &self.coordinator;
        let Pair { phi, delta } = tree.root().pair;
        CoordinatorStatus {
            numbers: (phi, delta),
            counters: self.coordinator.counters(),
            tree_nodes: tree.nodes(),
            jobs: self.coordinator.jobs(),
            results: self.coordinator.results(),
            is_over: self.coordinator.is_over(),
        }
    }
}

impl<T> RemoteCoordinator for WireCoordinator<'_, T>
where
    T: JobTree<Node: Serialize, Children: DeserializeOwned>,
{
    fn handle_idle(&mut self, worker: WorkerId) -> Delivery {
        let received = *self.received.entry(worker).or_default();
        let state = WorkerState::Idle;
        self.deliver(Request { worker, results: Vec::new(), received, state })
    }

    fn handle(&mut self, request: &[u8]) -> Result<Delivery, WireError> {
        let request: RequestFor<T> = wire::decode(Kind::Request, self.search, request)?;
        if !self.received.contains_key(&request.worker) {
            return Err(WireError::Unexpected("from a worker that takes part in the search"));
        }
        if !self.coordinator.is_valid(&request) {
            return Err(WireError::Unexpected("consistent with the worker's job"));
        }
        let received = self.received.entry(request.worker).or_default();
        *received = request.received.max(*received);
        Ok(self.deliver(request))
    }

    fn remove_worker(&mut self, worker: WorkerId) {
        self.received.remove(&worker);
        self.coordinator.remove_worker(worker);
    }

    fn take_cancelled(&mut self) -> Vec<(WorkerId, JobId)> {
        self.coordinator.take_cancelled().collect()
    }

    fn set_job_nodes(&mut self, nodes: u64) {
        self.coordinator.set_job_nodes(nodes);
    }

    fn end(&mut self, reason: Reason) {
        self.coordinator.end(reason);
    }

    fn status(&self) -> CoordinatorStatus {
        WireCoordinator::status(self)
    }
}
