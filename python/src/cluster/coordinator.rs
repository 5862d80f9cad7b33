//! `ClusterCoordinator`: a coordinator on its own thread, and requests to it.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use konane::checkpoint::CheckpointWriter;
use konane::search::cluster::{CoordinatorConfig, CoordinatorStatus, Delivery, RemoteCoordinator};
use konane::sprouts::cluster::{self as sprouts, Checkpoint};
use konane::{Algorithm, Limits, Reason, SolveOptions, Solver};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::fields::{konane_fields, sprouts_fields};
use super::{ServiceThread, catch_panic, heap, lock, sprouts_search};
use crate::argument::{BytesArg, FlagArg, IntegerArg, PathArg, StrArg, name, wrong_choice};
use crate::error::Failure;
use crate::options::{MemoryArg, NodesArg, SecondsArg, StartArg, on_pool, threads_or_cores};
use crate::results::ProofNumber;
use crate::solve::profile as profile_of;
use crate::sprouts::read;

/// Task for the thread of a coordinator.
type CoordinatorTask = Box<dyn FnOnce(&mut dyn RemoteCoordinator) + Send>;

/// Attempt to write a checkpoint: error, bytes, entries, and nodes of the tree.
type SaveFields = (Option<String>, u64, u64);

/// Makes the fields of the result of a search.
type MakeAnswer = Box<dyn FnOnce(Python<'_>) -> Result<Py<PyDict>, Failure> + Send>;

/// Coordinator of a search whose workers are in other processes. ``konane.cluster`` carries the messages.
#[pyclass(module = "konane._konane", frozen)]
pub struct ClusterCoordinator {
    tasks: Mutex<Option<Sender<CoordinatorTask>>>,
    service: ServiceThread<MakeAnswer>,
    checkpoints: Option<Arc<CheckpointWriter>>,
}

/// Reply to a worker.
///
/// ``job`` is ``None`` if there is nothing to search; then ``over`` is true if the search has ended. ``last`` is the
/// worker that has entries below ``node``.
#[pyclass(module = "konane._konane", frozen, get_all)]
pub struct ClusterDelivery {
    worker: u64,
    reply: Py<PyBytes>,
    job: Option<u64>,
    node: Option<Py<PyBytes>>,
    last: Option<u64>,
    over: bool,
}

impl ClusterDelivery {
    fn new(py: Python<'_>, delivery: Delivery) -> Self {
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes).unbind();
        let Delivery { worker, reply, job, last, is_over: over } = delivery;
        let (last, node) = last.map(|(last, node)| (last, bytes(&node))).unzip();
        ClusterDelivery { worker, reply: bytes(&reply), job, node, last, over }
    }
}

/// State of a search: numbers of the root, nodes of all workers, nodes of the coordinator's tree, assigned jobs, and
/// results shared with all workers.
#[pyclass(module = "konane._konane", frozen, get_all)]
pub struct ClusterStatus {
    pn: ProofNumber,
    dn: ProofNumber,
    nodes: u64,
    tree_nodes: u64,
    jobs: usize,
    results: usize,
    over: bool,
}

impl From<CoordinatorStatus> for ClusterStatus {
    fn from(status: CoordinatorStatus) -> Self {
        let CoordinatorStatus { numbers, counters, tree_nodes, jobs, results, is_over } = status;
        let (pn, dn) = numbers;
        ClusterStatus {
            pn: pn.into(),
            dn: dn.into(),
            nodes: counters.nodes,
            tree_nodes,
            jobs,
            results,
            over: is_over,
        }
    }
}

/// Result of a request: a reply, or the reason of its rejection.
#[derive(IntoPyObject)]
enum Handled {
    Delivery(ClusterDelivery),
    Rejected(String),
}

impl ClusterCoordinator {
    /// Starts the thread of the coordinator. If there are checkpoints, it runs in a thread pool, because reading and
    /// writing them uses all cores.
    fn start(
        py: Python<'_>,
        checkpoints: Option<Arc<CheckpointWriter>>,
        coordinate: impl FnOnce(
            &AtomicBool,
            &mut dyn FnMut(&mut dyn RemoteCoordinator),
        ) -> Result<MakeAnswer, Failure>
        + Send
        + 'static,
    ) -> Result<Self, Failure> {
        let (tasks, queue) = channel::<CoordinatorTask>();
        let (ready, is_ready) = channel();
        let pool = checkpoints.as_ref().map(|_| threads_or_cores(None));
        let service = ServiceThread::start(py, is_ready, move |stop| {
            let work = move || {
                coordinate(stop, &mut |coordinator| {
                    // Sending fails if the waiting thread has been interrupted.
                    let _ = ready.send(());
                    for task in &queue {
                        task(coordinator);
                    }
                })
            };
            match pool {
                None => work(),
                Some(threads) => on_pool(threads, work)?,
            }
        })?;
        let tasks = Mutex::new(Some(tasks));
        Ok(ClusterCoordinator { tasks, service, checkpoints })
    }

    /// Runs work on the coordinator's thread; `None` if the position was solved without a search.
    fn call<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn RemoteCoordinator) -> T + Send + 'static,
    ) -> Result<Option<T>, Failure> {
        self.service.owner.check("ClusterCoordinator")?;
        let Some(tasks) = lock(&self.tasks).clone() else { return Ok(None) };
        let (reply, result) = channel();
        let task: CoordinatorTask =
            Box::new(move |coordinator| drop(reply.send(catch_panic(|| work(coordinator)))));
        let result = py.detach(move || tasks.send(task).ok().and_then(|()| result.recv().ok()));
        result.transpose().map_err(Failure::internal)
    }
}

#[pymethods]
impl ClusterCoordinator {
    /// Starts the coordinator of a search of Konane. Its workers must have the same `shared_work`.
    ///
    /// Raises ``InputError``, ``FileError`` and ``ResourceError`` as ``konane.solve`` does.
    #[staticmethod]
    #[pyo3(
        signature = (start, *, job_nodes, shared_work, memory, profile=StrArg::from("tuned"),
        max_nodes=None, checkpoint=None, resume=FlagArg::from(false), checkpoint_interval=None),
        text_signature = "(start, *, job_nodes, shared_work, memory, profile='tuned', \
        max_nodes=None, checkpoint=None, resume=False, checkpoint_interval=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword")]
    fn konane(
        py: Python<'_>,
        start: StartArg<name::Start>,
        job_nodes: IntegerArg<name::JobNodes>,
        shared_work: IntegerArg<name::SharedWork>,
        memory: MemoryArg,
        profile: StrArg<name::Profile>,
        max_nodes: Option<NodesArg>,
        checkpoint: Option<PathArg<name::Checkpoint>>,
        resume: FlagArg<name::Resume>,
        checkpoint_interval: Option<SecondsArg<name::CheckpointInterval>>,
    ) -> Result<Self, Failure> {
        let start = start.0;
        let config = CoordinatorConfig {
            shared_work: shared_work.get()?,
            ..config(job_nodes.get()?, max_nodes)
        };
        let options = SolveOptions {
            algorithm: Algorithm::PnsPdfpn,
            profile: profile_of(&profile)?,
            memory_bytes: memory.0,
            ..SolveOptions::default()
        };
        let interval = checkpoint_interval.map(SecondsArg::interval);
        let solver = Solver::new(&start.board, &start.position).options(options);
        let checkpoints = checkpoint.map(|path| solver.checkpoints(&path.0, resume.0, interval));
        let checkpoints = checkpoints.transpose()?.map(Arc::new);
        let writer = checkpoints.clone();
        let coordinate =
            move |stop: &AtomicBool, run: &mut dyn FnMut(&mut dyn RemoteCoordinator)| {
                let limits = Limits { stop: Some(stop), ..Limits::default() };
                let solver = Solver::new(&start.board, &start.position).options(options);
                let solver = solver.limits(limits).checkpoint_writer(writer.as_deref());
                let found = solver.coordinate(config, &mut (), run)?;
                let fields = move |py: Python<'_>| konane_fields(py, writer.as_deref(), &found);
                Ok(Box::new(fields) as MakeAnswer)
            };
        ClusterCoordinator::start(py, checkpoints, coordinate)
    }

    /// Starts the coordinator of a search of Sprouts.
    ///
    /// `checkpoint` is a file of Grundy numbers, to which new ones are appended. It must exist if `resume` is true,
    /// and must not exist otherwise. Raises ``InputError``, ``FileError`` and ``ResourceError`` as
    /// ``konane.sprouts.solve`` does.
    #[staticmethod]
    #[pyo3(
        signature = (text, *, nimber=IntegerArg::from(0), job_nodes, memory, max_nodes=None,
        checkpoint=None, resume=FlagArg::from(false)),
        text_signature = "(text, *, nimber=0, job_nodes, memory, max_nodes=None, \
        checkpoint=None, resume=False)"
    )]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword")]
    fn sprouts(
        py: Python<'_>,
        text: StrArg<name::Text>,
        nimber: IntegerArg<name::Nimber>,
        job_nodes: IntegerArg<name::JobNodes>,
        memory: MemoryArg,
        max_nodes: Option<NodesArg>,
        checkpoint: Option<PathArg<name::Checkpoint>>,
        resume: FlagArg<name::Resume>,
    ) -> Result<Self, Failure> {
        let (text, position, nimber) = (text.to_string(), read(&text)?, heap(nimber)?);
        let config = config(job_nodes.get()?, max_nodes);
        let coordinate = move |_: &AtomicBool, run: &mut dyn FnMut(&mut dyn RemoteCoordinator)| {
            let search = sprouts_search(
                &position,
                nimber,
                memory.0,
                NonZeroUsize::MIN,
                sprouts::SHARED_WORK,
            );
            let checkpoint =
                checkpoint.as_ref().map(|file| Checkpoint { path: &file.0, resume: resume.0 });
            let found = sprouts::coordinate(search, config, checkpoint, &mut (), run)?;
            Ok(Box::new(move |py: Python<'_>| sprouts_fields(py, text, nimber, found))
                as MakeAnswer)
        };
        ClusterCoordinator::start(py, None, coordinate)
    }

    /// Handles an idle request of a worker and returns the reply.
    ///
    /// Returns ``None`` if the position was solved without a search.
    fn handle_idle(
        &self,
        py: Python<'_>,
        worker: IntegerArg<name::Worker>,
    ) -> Result<Option<ClusterDelivery>, Failure> {
        let worker = worker.get()?;
        let delivery = self.call(py, move |coordinator| coordinator.handle_idle(worker))?;
        Ok(delivery.map(|delivery| ClusterDelivery::new(py, delivery)))
    }

    /// Handles a request of a worker and returns the reply, or a text if the request was rejected.
    ///
    /// Returns ``None`` if the position was solved without a search.
    fn handle(
        &self,
        py: Python<'_>,
        request: BytesArg<name::Request>,
    ) -> Result<Option<Handled>, Failure> {
        let delivery = self.call(py, move |coordinator| coordinator.handle(&request.0))?;
        Ok(delivery.map(|delivery| match delivery {
            Ok(delivery) => Handled::Delivery(ClusterDelivery::new(py, delivery)),
            Err(error) => Handled::Rejected(error.to_string()),
        }))
    }

    /// Removes a lost worker. Its job can be assigned again.
    fn remove_worker(
        &self,
        py: Python<'_>,
        worker: IntegerArg<name::Worker>,
    ) -> Result<(), Failure> {
        let worker = worker.get()?;
        self.call(py, move |coordinator| coordinator.remove_worker(worker)).map(drop)
    }

    /// Returns the jobs that have been cancelled since the last call, each as worker and job.
    fn cancelled(&self, py: Python<'_>) -> Result<Vec<(u64, u64)>, Failure> {
        Ok(self.call(py, |coordinator| coordinator.take_cancelled())?.unwrap_or_default())
    }

    /// Sets the maximum number of nodes of later jobs.
    fn set_job_nodes(&self, py: Python<'_>, nodes: IntegerArg<name::Nodes>) -> Result<(), Failure> {
        let nodes = nodes.get()?;
        self.call(py, move |coordinator| coordinator.set_job_nodes(nodes)).map(drop)
    }

    /// Returns the state of the search; ``None`` if the position was solved without a search.
    fn status(&self, py: Python<'_>) -> Result<Option<ClusterStatus>, Failure> {
        Ok(self.call(py, |coordinator| coordinator.status())?.map(Into::into))
    }

    /// Ends the search without a result, unless it has ended.
    ///
    /// `reason` is ``"interrupted"``, ``"time limit"`` or ``"memory"``.
    fn end(&self, py: Python<'_>, reason: StrArg<name::Reason>) -> Result<(), Failure> {
        let all = [Reason::Interrupted, Reason::TimeLimit, Reason::Memory];
        let found = all.into_iter().find(|known| known.text() == &*reason);
        let known = found
            .ok_or_else(|| wrong_choice(&reason, "'interrupted', 'time limit' or 'memory'"))?;
        self.call(py, move |coordinator| coordinator.end(known)).map(drop)
    }

    /// Ends the search, writes the last checkpoint, and returns the fields of the result as in the program's JSON.
    ///
    /// Raises ``InputError`` at the second call.
    fn finish(&self, py: Python<'_>) -> Result<Py<PyDict>, Failure> {
        self.service.owner.check("ClusterCoordinator")?;
        drop(lock(&self.tasks).take());
        match self.service.join(py)? {
            Some(found) => found(py),
            None => Err(Failure::input("the search has been finished before")),
        }
    }

    /// Returns the attempts to write a checkpoint since the last call: error or ``None``, bytes, and entries.
    fn saves(&self) -> Result<Vec<SaveFields>, Failure> {
        self.service.owner.check("ClusterCoordinator")?;
        let written = self.checkpoints.as_ref().map(|writer| writer.take_written());
        let written = written.unwrap_or_default().into_iter().map(|result| match result {
            Ok(written) => (None, written.bytes, written.entries),
            Err(error) => (Some(error.to_string()), 0, 0),
        });
        Ok(written.collect())
    }

    /// Maximum bytes of a checkpoint; ``None`` if no checkpoints are written during the search.
    #[getter]
    fn checkpoint_bound(&self) -> Option<u64> {
        self.checkpoints.as_ref().map(|writer| writer.bound())
    }

    /// Runs, nodes and seconds before this run.
    #[getter]
    fn before(&self) -> (u64, u64, f64) {
        let before = self.checkpoints.as_ref().map(|writer| *writer.before()).unwrap_or_default();
        (before.runs, before.nodes, before.seconds())
    }
}

/// Maximum number of shared results in a reply: some 400 kB.
const MAX_RESULTS_IN_REPLY: usize = 20_000;

/// Returns the configuration of a coordinator.
fn config(job_nodes: u64, max_nodes: Option<NodesArg>) -> CoordinatorConfig {
    let node_limit = max_nodes.map(|nodes| nodes.0);
    let max_results_in_reply = MAX_RESULTS_IN_REPLY;
    CoordinatorConfig { job_nodes, node_limit, max_results_in_reply, ..CoordinatorConfig::REMOTE }
}
