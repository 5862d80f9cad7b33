//! A worker's side.
//!
//! It has four lanes, each served by a thread: one searches, one goes on where the last job was while
//! the next one is on its way, one collects entries for others, which may take milliseconds, and one
//! calls jobs off and counts, which is never to wait.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use konane::search::cluster::RemoteWorker;
use konane::sprouts::cluster as sprouts;
use konane::system::thread;
use konane::{Limits, SolveOptions, Solver};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{Host, answer, heap, lock, sprouts_search, worker_config};
use crate::argument::{Octets, Text, Whole, name};
use crate::error::Failure;
use crate::interrupt::STACK;
use crate::options::{Memory, Start, Threads};
use crate::solve::profile as profile_of;
use crate::sprouts::read;

/// Nodes of a search without a job, for each thread: many more than there is time for until the next
/// job comes, and few enough to end soon where none does.
const IDLE_NODES: u64 = 500_000;

type Task = Box<dyn FnOnce(&dyn RemoteWorker) + Send>;

/// A worker of a search whose coordinator is in another process, with a table of its own.
#[pyclass(module = "konane._konane", frozen)]
pub struct ClusterWorker {
    lanes: Mutex<Option<Lanes>>,
    host: Host<()>,
    idle_nodes: u64,
}

#[derive(Clone)]
struct Lanes {
    search: Sender<Task>,
    idle: Sender<Task>,
    entries: Sender<Task>,
    side: Sender<Task>,
}

fn serve(worker: &dyn RemoteWorker, lane: Receiver<Task>) {
    for task in lane {
        task(worker);
    }
}

impl ClusterWorker {
    /// Starts the thread that works, and the lanes beside it.
    fn start(
        py: Python<'_>,
        threads: Threads,
        work: impl FnOnce(&mut dyn FnMut(&dyn RemoteWorker)) -> Result<(), Failure> + Send + 'static,
    ) -> Result<Self, Failure> {
        let (search, searches) = channel();
        let (idle, pauses) = channel();
        let (entries, requests) = channel();
        let (side, others) = channel();
        let (ready, is_ready) = channel();
        let host = Host::start(py, is_ready, move |_| {
            let mut queues = Some((searches, pauses, requests, others));
            work(&mut |worker| {
                let Some((searches, pauses, requests, others)) = queues.take() else { return };
                std::thread::scope(|scope| {
                    for queue in [pauses, requests, others] {
                        let lane = thread("konane", STACK);
                        let lane = lane.spawn_scoped(scope, move || serve(worker, queue));
                        lane.expect("the system starts a thread");
                    }
                    // Whoever waits may have been interrupted.
                    let _ = ready.send(());
                    serve(worker, searches);
                });
            })
        })?;
        let lanes = Mutex::new(Some(Lanes { search, idle, entries, side }));
        let idle_nodes = IDLE_NODES.saturating_mul(threads.0.get() as u64);
        Ok(ClusterWorker { lanes, host, idle_nodes })
    }

    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        lane: impl FnOnce(Lanes) -> Sender<Task>,
        work: impl FnOnce(&dyn RemoteWorker) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        self.host.owner.check("ClusterWorker")?;
        let closed = || Failure::input("the worker has been closed");
        let lane = lane(lock(&self.lanes).clone().ok_or_else(closed)?);
        let (reply, result) = channel();
        let task: Task = Box::new(move |worker| drop(reply.send(answer(|| work(worker)))));
        let result = py.detach(move || lane.send(task).ok().and_then(|()| result.recv().ok()));
        result.ok_or_else(closed)?.map_err(Failure::internal)
    }
}

#[pymethods]
impl ClusterWorker {
    /// Works on a search of Konane. `fact_work` has to be that of the coordinator.
    ///
    /// Raises `InputError` and `ResourceError` as `konane.solve` does.
    #[staticmethod]
    #[pyo3(
        signature = (start, *, fact_work, memory, threads, profile=Text::from("tuned")),
        text_signature = "(start, *, fact_work, memory, threads, profile='tuned')"
    )]
    fn konane(
        py: Python<'_>,
        start: Start<name::Start>,
        fact_work: Whole<name::FactWork>,
        memory: Memory,
        threads: Threads,
        profile: Text<name::Profile>,
    ) -> Result<Self, Failure> {
        let start = start.0;
        let fact_work = fact_work.get()?;
        let options = SolveOptions {
            profile: profile_of(&profile)?,
            memory_bytes: memory.0,
            threads: threads.0,
            ..SolveOptions::default()
        };
        ClusterWorker::start(py, threads, move |serve| {
            let solver = Solver::new(&start.board, &start.position).options(options);
            Ok(solver.work(&worker_config(fact_work), serve)?)
        })
    }

    /// Works on a search of Sprouts.
    ///
    /// Raises `InputError` and `ResourceError` as `konane.sprouts.solve` does.
    #[staticmethod]
    #[pyo3(
        signature = (text, *, nimber=Whole::from(0), memory, threads),
        text_signature = "(text, *, nimber=0, memory, threads)"
    )]
    fn sprouts(
        py: Python<'_>,
        text: Text<name::Text>,
        nimber: Whole<name::Nimber>,
        memory: Memory,
        threads: Threads,
    ) -> Result<Self, Failure> {
        let (position, nimber) = (read(&text)?, heap(nimber)?);
        ClusterWorker::start(py, threads, move |serve| {
            let search = sprouts_search(&position, nimber, memory.0, threads.0);
            Ok(sprouts::work(search, Limits::default(), serve)?)
        })
    }

    /// Searches a job, as the worker of this number, with what others know about its node. The message
    /// for the leader; `InputError` if the answer is no job of this search, or the entries are none.
    #[pyo3(signature = (worker, reply, entries=None))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        worker: Whole<name::Worker>,
        reply: Octets<name::Reply>,
        entries: Option<Octets<name::Entries>>,
    ) -> Result<Bound<'py, PyBytes>, Failure> {
        let (worker, entries) = (worker.get()?, entries.map(|entries| entries.0));
        let work = move |own: &dyn RemoteWorker| own.search(worker, &reply.0, entries.as_deref());
        let message = self.ask(py, |lanes| lanes.search, work)?;
        Ok(PyBytes::new(py, &message.map_err(Failure::input)?))
    }

    /// What this worker knows below a node, for another one's `search`. `InputError` if these bytes
    /// are no node of this search.
    fn entries<'py>(
        &self,
        py: Python<'py>,
        node: Octets<name::Node>,
    ) -> Result<Bound<'py, PyBytes>, Failure> {
        let work = move |worker: &dyn RemoteWorker| worker.entries(&node.0);
        let entries = self.ask(py, |lanes| lanes.entries, work)?;
        Ok(PyBytes::new(py, &entries.map_err(Failure::input)?))
    }

    /// Searches on where the last job was until the next one comes, or some tenths of a second. Returns
    /// at once.
    fn go_on(&self) -> Result<(), Failure> {
        self.host.owner.check("ClusterWorker")?;
        let lanes = lock(&self.lanes).clone();
        let lanes = lanes.ok_or_else(|| Failure::input("the worker has been closed"))?;
        // A lane is there as long as the worker is.
        let nodes = Some(self.idle_nodes);
        let _ = lanes.idle.send(Box::new(move |worker| worker.continue_search(nodes)));
        Ok(())
    }

    /// Cancels a job, now or when it comes.
    fn cancel(&self, py: Python<'_>, job: Whole<name::Job>) -> Result<(), Failure> {
        let job = job.get()?;
        self.ask(py, |lanes| lanes.side, move |worker| worker.cancel(job))
    }

    /// The nodes that the worker has evaluated in all its jobs.
    fn nodes(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.ask(py, |lanes| lanes.side, |worker| worker.counters().nodes)
    }

    /// Entries that fit into the worker's table.
    fn capacity(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.ask(py, |lanes| lanes.side, |worker| worker.capacity())
    }

    /// Ends the worker, once its job has ended.
    fn close(&self, py: Python<'_>) -> Result<(), Failure> {
        self.host.owner.check("ClusterWorker")?;
        drop(lock(&self.lanes).take());
        self.host.join(py).map(drop)
    }
}
