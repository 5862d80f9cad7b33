//! The coordinator: a thread that coordinates, and requests to it.

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
use super::{Host, answer, heap, lock, sprouts_search};
use crate::argument::{File, Flag, Octets, Text, Whole, name, wrong_choice};
use crate::error::Failure;
use crate::options::{Memory, Nodes, Seconds, Start, on_pool, threads_or_cores};
use crate::results::ProofNumber;
use crate::solve::profile as profile_of;
use crate::sprouts::read;

type Task = Box<dyn FnOnce(&mut dyn RemoteCoordinator) + Send>;

/// Error, bytes, entries and nodes of the tree of a checkpoint.
type SaveFields = (Option<String>, u64, u64, u64);

/// Makes the fields of the answer.
type Found = Box<dyn FnOnce(Python<'_>) -> Result<Py<PyDict>, Failure> + Send>;

/// The coordinator of a search whose workers are in other processes: `konane.cluster` carries the messages.
#[pyclass(module = "konane._konane", frozen)]
pub struct ClusterCoordinator {
    tasks: Mutex<Option<Sender<Task>>>,
    host: Host<Found>,
    checkpoints: Option<Arc<CheckpointWriter>>,
}

/// Reply to a worker. `job` is none if there is nothing to search; then `over` tells if the search has ended. `last`
/// is the worker that has entries below `node`.
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

/// State of a search: the root's numbers, nodes of all workers, nodes of the coordinator's tree, assigned jobs, and
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

/// Result of a request: a reply, or why it was refused.
#[derive(IntoPyObject)]
enum Handled {
    Delivery(ClusterDelivery),
    Refused(String),
}

impl ClusterCoordinator {
    /// Starts the thread of the coordinator, on a pool if checkpoints are read and written.
    fn start(
        py: Python<'_>,
        checkpoints: Option<Arc<CheckpointWriter>>,
        lead: impl FnOnce(
            &AtomicBool,
            &mut dyn FnMut(&mut dyn RemoteCoordinator),
        ) -> Result<Found, Failure>
        + Send
        + 'static,
    ) -> Result<Self, Failure> {
        let (tasks, queue) = channel::<Task>();
        let (ready, is_ready) = channel();
        let pool = checkpoints.as_ref().map(|_| threads_or_cores(None));
        let host = Host::start(py, is_ready, move |stop| {
            let work = move || {
                lead(stop, &mut |coordinator| {
                    // Whoever waits may have been interrupted.
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
        Ok(ClusterCoordinator { tasks, host, checkpoints })
    }

    /// Sends work to the coordinator's thread; nothing if the search needed none.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn RemoteCoordinator) -> T + Send + 'static,
    ) -> Result<Option<T>, Failure> {
        self.host.owner.check("ClusterCoordinator")?;
        let Some(tasks) = lock(&self.tasks).clone() else { return Ok(None) };
        let (reply, result) = channel();
        let task: Task =
            Box::new(move |coordinator| drop(reply.send(answer(|| work(coordinator)))));
        let result = py.detach(move || tasks.send(task).ok().and_then(|()| result.recv().ok()));
        result.transpose().map_err(Failure::internal)
    }
}

#[pymethods]
impl ClusterCoordinator {
    /// Coordinates a search of Konane. `fact_work` has to be that of the workers.
    ///
    /// Raises `InputError`, `FileError` and `ResourceError` as `konane.solve` does.
    #[staticmethod]
    #[pyo3(
        signature = (start, *, job_nodes, fact_work, memory, profile=Text::from("tuned"),
        max_nodes=None, checkpoint=None, resume=Flag::from(false), checkpoint_interval=None),
        text_signature = "(start, *, job_nodes, fact_work, memory, profile='tuned', \
        max_nodes=None, checkpoint=None, resume=False, checkpoint_interval=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword")]
    fn konane(
        py: Python<'_>,
        start: Start<name::Start>,
        job_nodes: Whole<name::JobNodes>,
        fact_work: Whole<name::FactWork>,
        memory: Memory,
        profile: Text<name::Profile>,
        max_nodes: Option<Nodes>,
        checkpoint: Option<File<name::Checkpoint>>,
        resume: Flag<name::Resume>,
        checkpoint_interval: Option<Seconds<name::CheckpointInterval>>,
    ) -> Result<Self, Failure> {
        let start = start.0;
        let config = CoordinatorConfig {
            shared_work: fact_work.get()?,
            ..config(job_nodes.get()?, max_nodes)
        };
        let options = SolveOptions {
            algorithm: Algorithm::PnsPdfpn,
            profile: profile_of(&profile)?,
            memory_bytes: memory.0,
            ..SolveOptions::default()
        };
        let interval = checkpoint_interval.map(Seconds::interval);
        let solver = Solver::new(&start.board, &start.position).options(options);
        let checkpoints = checkpoint.map(|path| solver.checkpoints(&path.0, resume.0, interval));
        let checkpoints = checkpoints.transpose()?.map(Arc::new);
        let kept = checkpoints.clone();
        let lead = move |stop: &AtomicBool, run: &mut dyn FnMut(&mut dyn RemoteCoordinator)| {
            let limits = Limits { stop: Some(stop), ..Limits::default() };
            let solver = Solver::new(&start.board, &start.position).options(options);
            let solver = solver.limits(limits).checkpoint_writer(kept.as_deref());
            let found = solver.coordinate(config, &mut (), run)?;
            let fields = move |py: Python<'_>| konane_fields(py, kept.as_deref(), &found);
            Ok(Box::new(fields) as Found)
        };
        ClusterCoordinator::start(py, checkpoints, lead)
    }

    /// Coordinates a search of Sprouts. The checkpoint is a file of Grundy numbers, to which they are added
    /// as they are found; `resume` says that it has to be there, otherwise it must not be.
    ///
    /// Raises `InputError`, `FileError` and `ResourceError` as `konane.sprouts.solve` does.
    #[staticmethod]
    #[pyo3(
        signature = (text, *, nimber=Whole::from(0), job_nodes, memory, max_nodes=None,
        checkpoint=None, resume=Flag::from(false)),
        text_signature = "(text, *, nimber=0, job_nodes, memory, max_nodes=None, \
        checkpoint=None, resume=False)"
    )]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword")]
    fn sprouts(
        py: Python<'_>,
        text: Text<name::Text>,
        nimber: Whole<name::Nimber>,
        job_nodes: Whole<name::JobNodes>,
        memory: Memory,
        max_nodes: Option<Nodes>,
        checkpoint: Option<File<name::Checkpoint>>,
        resume: Flag<name::Resume>,
    ) -> Result<Self, Failure> {
        let (text, position, nimber) = (text.to_string(), read(&text)?, heap(nimber)?);
        let config = config(job_nodes.get()?, max_nodes);
        let lead = move |_: &AtomicBool, run: &mut dyn FnMut(&mut dyn RemoteCoordinator)| {
            let search = sprouts_search(&position, nimber, memory.0, NonZeroUsize::MIN);
            let checkpoint =
                checkpoint.as_ref().map(|file| Checkpoint { path: &file.0, resume: resume.0 });
            let found = sprouts::coordinate(search, config, checkpoint, &mut (), run)?;
            Ok(Box::new(move |py: Python<'_>| sprouts_fields(py, text, nimber, found)) as Found)
        };
        ClusterCoordinator::start(py, None, lead)
    }

    /// Handles an idle request of a worker; none if there was nothing to search.
    fn handle_idle(
        &self,
        py: Python<'_>,
        worker: Whole<name::Worker>,
    ) -> Result<Option<ClusterDelivery>, Failure> {
        let worker = worker.get()?;
        let delivery = self.ask(py, move |coordinator| coordinator.handle_idle(worker))?;
        Ok(delivery.map(|delivery| ClusterDelivery::new(py, delivery)))
    }

    /// Handles a worker's request: the reply, or why the request was refused; none if there was nothing to
    /// search.
    fn handle(
        &self,
        py: Python<'_>,
        request: Octets<name::Request>,
    ) -> Result<Option<Handled>, Failure> {
        let delivery = self.ask(py, move |coordinator| coordinator.handle(&request.0))?;
        Ok(delivery.map(|delivery| match delivery {
            Ok(delivery) => Handled::Delivery(ClusterDelivery::new(py, delivery)),
            Err(error) => Handled::Refused(error.to_string()),
        }))
    }

    /// Removes a worker that is lost. Its job is free.
    fn remove_worker(&self, py: Python<'_>, worker: Whole<name::Worker>) -> Result<(), Failure> {
        let worker = worker.get()?;
        self.ask(py, move |coordinator| coordinator.remove_worker(worker)).map(drop)
    }

    /// Jobs that have been cancelled since the last call, each with the worker that has it.
    fn cancelled(&self, py: Python<'_>) -> Result<Vec<(u64, u64)>, Failure> {
        Ok(self.ask(py, |coordinator| coordinator.take_cancelled())?.unwrap_or_default())
    }

    /// How many nodes the next jobs may evaluate.
    fn set_job_nodes(&self, py: Python<'_>, nodes: Whole<name::Nodes>) -> Result<(), Failure> {
        let nodes = nodes.get()?;
        self.ask(py, move |coordinator| coordinator.set_job_nodes(nodes)).map(drop)
    }

    /// State of the search; none if there was nothing to search.
    fn status(&self, py: Python<'_>) -> Result<Option<ClusterStatus>, Failure> {
        Ok(self.ask(py, |coordinator| coordinator.status())?.map(Into::into))
    }

    /// Ends the search without an answer, unless it has ended: `"interrupted"`, `"time limit"` or
    /// `"memory"`.
    fn end(&self, py: Python<'_>, reason: Text<name::Reason>) -> Result<(), Failure> {
        let all = [Reason::Interrupted, Reason::TimeLimit, Reason::Memory];
        let found = all.into_iter().find(|known| known.text() == &*reason);
        let known = found
            .ok_or_else(|| wrong_choice(&reason, "'interrupted', 'time limit' or 'memory'"))?;
        self.ask(py, move |coordinator| coordinator.end(known)).map(drop)
    }

    /// Ends the search, writes the last checkpoint, and returns the fields of the answer, as the
    /// program's JSON has them; once.
    fn finish(&self, py: Python<'_>) -> Result<Py<PyDict>, Failure> {
        self.host.owner.check("ClusterCoordinator")?;
        drop(lock(&self.tasks).take());
        match self.host.join(py)? {
            Some(found) => found(py),
            None => Err(Failure::input("the search has been finished before")),
        }
    }

    /// Results of the attempts to write a checkpoint since the last call: the error or none, bytes,
    /// entries and nodes of the tree.
    fn saves(&self) -> Result<Vec<SaveFields>, Failure> {
        self.host.owner.check("ClusterCoordinator")?;
        let written = self.checkpoints.as_ref().map(|writer| writer.take_written());
        let written = written.unwrap_or_default().into_iter().map(|result| match result {
            Ok(written) => (None, written.bytes, written.entries, written.tree_nodes),
            Err(error) => (Some(error.to_string()), 0, 0, 0),
        });
        Ok(written.collect())
    }

    /// The most bytes of a checkpoint; none if there are none from time to time.
    #[getter]
    fn checkpoint_bound(&self) -> Option<u64> {
        self.checkpoints.as_ref().map(|writer| writer.bound())
    }

    /// Runs, nodes and seconds before this one.
    #[getter]
    fn before(&self) -> (u64, u64, f64) {
        let before = self.checkpoints.as_ref().map(|writer| *writer.before()).unwrap_or_default();
        (before.runs, before.nodes, before.seconds())
    }
}

/// Maximum number of shared results in a reply: some 400 kB.
const MAX_RESULTS_IN_REPLY: usize = 20_000;

fn config(job_nodes: u64, max_nodes: Option<Nodes>) -> CoordinatorConfig {
    let node_limit = max_nodes.map(|nodes| nodes.0);
    let max_results_in_reply = MAX_RESULTS_IN_REPLY;
    CoordinatorConfig { job_nodes, node_limit, max_results_in_reply, ..CoordinatorConfig::REMOTE }
}
