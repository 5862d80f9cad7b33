//! `ClusterWorker`: a worker on its own threads, and requests to it.
//!
//! A worker has four queues, each with its own thread:
//!
//! * `search`: jobs.
//! * `idle`: continues below the last job until the next one arrives.
//! * `entries`: collects entries for other workers, which may take milliseconds.
//! * `control`: cancels jobs and reads counters, without delay.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use konane::search::cluster::RemoteWorker;
use konane::sprouts::cluster as sprouts;
use konane::system::thread;
use konane::{Limits, SolveOptions, Solver};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{ServiceThread, catch_panic, heap, lock, sprouts_search, worker_config};
use crate::argument::{BytesArg, IntegerArg, StrArg, name};
use crate::error::Failure;
use crate::interrupt::STACK;
use crate::options::{MemoryArg, StartArg, ThreadCountArg};
use crate::solve::profile as profile_of;
use crate::sprouts::read;

/// Maximum number of nodes of a search without a job, for each thread. Many fewer are searched until the next job
/// arrives. If no job arrives, the search still ends soon.
const IDLE_NODES: u64 = 500_000;

/// Task for a thread of a worker.
type WorkerTask = Box<dyn FnOnce(&dyn RemoteWorker) + Send>;

/// Worker of a search whose coordinator is in another process. It has its own table.
#[pyclass(module = "konane._konane", frozen)]
pub struct ClusterWorker {
    /// `None` after `close`.
    queues: Mutex<Option<TaskQueues>>,
    service: ServiceThread<()>,
    idle_nodes: u64,
}

/// Queues of a worker's threads.
#[derive(Clone)]
struct TaskQueues {
    search: Sender<WorkerTask>,
    idle: Sender<WorkerTask>,
    entries: Sender<WorkerTask>,
    control: Sender<WorkerTask>,
}

/// Executes the tasks of a queue until it is closed.
fn serve(worker: &dyn RemoteWorker, tasks: Receiver<WorkerTask>) {
    for task in tasks {
        task(worker);
    }
}

impl ClusterWorker {
    /// Starts the thread that searches, and the threads of the other queues.
    fn start(
        py: Python<'_>,
        threads: ThreadCountArg,
        work: impl FnOnce(&mut dyn FnMut(&dyn RemoteWorker)) -> Result<(), Failure> + Send + 'static,
    ) -> Result<Self, Failure> {
        let (search, search_tasks) = channel();
        let (idle, idle_tasks) = channel();
        let (entries, entries_tasks) = channel();
        let (control, control_tasks) = channel();
        let (ready, is_ready) = channel();
        let service = ServiceThread::start(py, is_ready, move |_| {
            let mut receivers = Some((search_tasks, [idle_tasks, entries_tasks, control_tasks]));
            work(&mut |worker| {
                let Some((search_tasks, other_tasks)) = receivers.take() else { return };
                std::thread::scope(|scope| {
                    for tasks in other_tasks {
                        let thread = thread("konane", STACK);
                        let thread = thread.spawn_scoped(scope, move || serve(worker, tasks));
                        thread.expect("the system starts a thread");
                    }
                    // Sending fails if the waiting thread has been interrupted.
                    let _ = ready.send(());
                    serve(worker, search_tasks);
                });
            })
        })?;
        let queues = Mutex::new(Some(TaskQueues { search, idle, entries, control }));
        let idle_nodes = IDLE_NODES.saturating_mul(threads.0.get() as u64);
        Ok(ClusterWorker { queues, service, idle_nodes })
    }

    /// Returns the queues.
    ///
    /// # Errors
    /// After a fork, or if the worker has been closed.
    fn queues(&self) -> Result<TaskQueues, Failure> {
        self.service.owner.check("ClusterWorker")?;
        lock(&self.queues).clone().ok_or_else(closed)
    }

    /// Runs work on the thread of a queue.
    fn call<T: Send + 'static>(
        &self,
        py: Python<'_>,
        queue: impl FnOnce(TaskQueues) -> Sender<WorkerTask>,
        work: impl FnOnce(&dyn RemoteWorker) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let queue = queue(self.queues()?);
        let (reply, result) = channel();
        let task: WorkerTask =
            Box::new(move |worker| drop(reply.send(catch_panic(|| work(worker)))));
        let result = py.detach(move || queue.send(task).ok().and_then(|()| result.recv().ok()));
        result.ok_or_else(closed)?.map_err(Failure::internal)
    }
}

fn closed() -> Failure {
    Failure::input("the worker has been closed")
}

#[pymethods]
impl ClusterWorker {
    /// Starts a worker of a search of Konane. Its coordinator must have the same `shared_work`.
    ///
    /// Raises ``InputError`` and ``ResourceError`` as ``konane.solve`` does.
    #[staticmethod]
    #[pyo3(
        signature = (start, *, shared_work, memory, threads, profile=StrArg::from("tuned")),
        text_signature = "(start, *, shared_work, memory, threads, profile='tuned')"
    )]
    fn konane(
        py: Python<'_>,
        start: StartArg<name::Start>,
        shared_work: IntegerArg<name::SharedWork>,
        memory: MemoryArg,
        threads: ThreadCountArg,
        profile: StrArg<name::Profile>,
    ) -> Result<Self, Failure> {
        let start = start.0;
        let shared_work = shared_work.get()?;
        let options = SolveOptions {
            profile: profile_of(&profile)?,
            memory_bytes: memory.0,
            threads: threads.0,
            ..SolveOptions::default()
        };
        ClusterWorker::start(py, threads, move |serve| {
            let solver = Solver::new(&start.board, &start.position).options(options);
            Ok(solver.work(&worker_config(shared_work), serve)?)
        })
    }

    /// Starts a worker of a search of Sprouts.
    ///
    /// Raises ``InputError`` and ``ResourceError`` as ``konane.sprouts.solve`` does.
    #[staticmethod]
    #[pyo3(
        signature = (text, *, nimber=IntegerArg::from(0), shared_work=IntegerArg::from(sprouts::SHARED_WORK), memory, threads),
        text_signature = "(text, *, nimber=0, shared_work=8, memory, threads)"
    )]
    fn sprouts(
        py: Python<'_>,
        text: StrArg<name::Text>,
        nimber: IntegerArg<name::Nimber>,
        shared_work: IntegerArg<name::SharedWork>,
        memory: MemoryArg,
        threads: ThreadCountArg,
    ) -> Result<Self, Failure> {
        let (position, nimber, shared_work) = (read(&text)?, heap(nimber)?, shared_work.get()?);
        ClusterWorker::start(py, threads, move |serve| {
            let search = sprouts_search(&position, nimber, memory.0, threads.0, shared_work);
            Ok(sprouts::work(search, Limits::default(), serve)?)
        })
    }

    /// Searches the job of a reply and returns the request for the coordinator.
    ///
    /// `worker` is the number of this worker, `entries` are table entries of another worker for the job's node.
    /// Raises ``InputError`` if `reply` is not a job of this search, or `entries` are invalid.
    #[pyo3(signature = (worker, reply, entries=None))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        worker: IntegerArg<name::Worker>,
        reply: BytesArg<name::Reply>,
        entries: Option<BytesArg<name::Entries>>,
    ) -> Result<Bound<'py, PyBytes>, Failure> {
        let (worker, entries) = (worker.get()?, entries.map(|entries| entries.0));
        let work = move |own: &dyn RemoteWorker| own.search(worker, &reply.0, entries.as_deref());
        let request = self.call(py, |queues| queues.search, work)?;
        Ok(PyBytes::new(py, &request.map_err(Failure::input)?))
    }

    /// Returns table entries of this worker below a node, for ``search`` of another worker.
    ///
    /// Raises ``InputError`` if `node` is not a node of this search.
    fn entries<'py>(
        &self,
        py: Python<'py>,
        node: BytesArg<name::Node>,
    ) -> Result<Bound<'py, PyBytes>, Failure> {
        let work = move |worker: &dyn RemoteWorker| worker.entries(&node.0);
        let entries = self.call(py, |queues| queues.entries, work)?;
        Ok(PyBytes::new(py, &entries.map_err(Failure::input)?))
    }

    /// Continues the search below the last job until the next one arrives, for at most some tenths of a second.
    ///
    /// Returns at once.
    fn go_on(&self) -> Result<(), Failure> {
        let nodes = Some(self.idle_nodes);
        // Sending fails only if the worker is being closed.
        let _ = self.queues()?.idle.send(Box::new(move |worker| worker.continue_search(nodes)));
        Ok(())
    }

    /// Cancels a job that is searched or will arrive later.
    fn cancel(&self, py: Python<'_>, job: IntegerArg<name::Job>) -> Result<(), Failure> {
        let job = job.get()?;
        self.call(py, |queues| queues.control, move |worker| worker.cancel(job))
    }

    /// Returns the nodes that the worker has evaluated in all its jobs.
    fn nodes(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.call(py, |queues| queues.control, |worker| worker.counters().nodes)
    }

    /// Returns the capacity of the worker's table in entries.
    fn capacity(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.call(py, |queues| queues.control, |worker| worker.capacity())
    }

    /// Ends the worker after its job has ended.
    fn close(&self, py: Python<'_>) -> Result<(), Failure> {
        self.service.owner.check("ClusterWorker")?;
        drop(lock(&self.queues).take());
        self.service.join(py).map(drop)
    }
}
