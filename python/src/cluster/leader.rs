//! The leader's side: a thread that leads, and what is asked of it.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use konane::checkpoint::CheckpointWriter;
use konane::search::jobs::remote::{Ordered, RemoteLeader, RemoteRules, Standing, Told};
use konane::sprouts::cluster::{self as sprouts, Checkpoint};
use konane::{Algorithm, Limits, Reason, SolveOptions, Solver};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::fields::{konane_fields, sprouts_fields};
use super::{Host, answer, heap, lock, plain_rules, sprouts_search};
use crate::argument::{File, Flag, Octets, Text, Whole, name, wrong_choice};
use crate::error::Failure;
use crate::options::{Memory, Nodes, Seconds, Start, on_pool, threads_or_cores};
use crate::results::ProofNumber;
use crate::solve::profile as profile_of;
use crate::sprouts::read;

type Task = Box<dyn FnOnce(&mut dyn RemoteLeader) + Send>;

/// Error, bytes, entries and nodes of the tree of a checkpoint.
type SaveFields = (Option<String>, u64, u64, u64);

/// Makes the fields of the answer.
type Found = Box<dyn FnOnce(Python<'_>) -> Result<Py<PyDict>, Failure> + Send>;

/// The leader of a search whose workers are elsewhere: `konane.cluster` carries the messages.
#[pyclass(module = "konane._konane", frozen)]
pub struct ClusterLeader {
    tasks: Mutex<Option<Sender<Task>>>,
    host: Host<Found>,
    checkpoints: Option<Arc<CheckpointWriter>>,
}

/// What a worker is told. `job` is none if there is nothing to search: then `over` says whether the
/// search has ended. `last` is the worker to be asked what it knows below `node`.
#[pyclass(module = "konane._konane", frozen, get_all)]
pub struct ClusterTold {
    worker: u64,
    answer: Py<PyBytes>,
    job: Option<u64>,
    node: Option<Py<PyBytes>>,
    last: Option<u64>,
    over: bool,
}

impl ClusterTold {
    fn new(py: Python<'_>, told: &Told) -> Self {
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes).unbind();
        let (job, node, last) = match &told.order {
            Ordered::Search { job, node, last } => (Some(*job), Some(bytes(node)), *last),
            Ordered::Wait | Ordered::Quit => (None, None, None),
        };
        let over = told.order == Ordered::Quit;
        ClusterTold { worker: told.worker, answer: bytes(&told.answer), job, node, last, over }
    }
}

/// How a search is going: the root's numbers, what all workers have counted, nodes of the leader's
/// tree, jobs that are out, and facts that every worker gets.
#[pyclass(module = "konane._konane", frozen, get_all)]
pub struct ClusterStanding {
    pn: ProofNumber,
    dn: ProofNumber,
    nodes: u64,
    tree_nodes: u64,
    jobs: usize,
    facts: usize,
    over: bool,
}

impl From<Standing> for ClusterStanding {
    fn from(standing: Standing) -> Self {
        let Standing { numbers: (pn, dn), counters, tree_nodes, jobs, facts, is_over } = standing;
        ClusterStanding {
            pn: pn.into(),
            dn: dn.into(),
            nodes: counters.nodes,
            tree_nodes,
            jobs,
            facts,
            over: is_over,
        }
    }
}

/// What comes of a message: an answer, or why it was refused.
#[derive(IntoPyObject)]
enum Heard {
    Told(ClusterTold),
    Refused(String),
}

impl ClusterLeader {
    /// Starts the thread that leads, on a pool if checkpoints are read and written.
    fn start(
        py: Python<'_>,
        checkpoints: Option<Arc<CheckpointWriter>>,
        lead: impl FnOnce(&AtomicBool, &mut dyn FnMut(&mut dyn RemoteLeader)) -> Result<Found, Failure>
        + Send
        + 'static,
    ) -> Result<Self, Failure> {
        let (tasks, queue) = channel::<Task>();
        let (ready, is_ready) = channel();
        let pool = checkpoints.as_ref().map(|_| threads_or_cores(None));
        let host = Host::start(py, is_ready, move |stop| {
            let work = move || {
                lead(stop, &mut |leader| {
                    // Whoever waits may have been interrupted.
                    let _ = ready.send(());
                    for task in &queue {
                        task(leader);
                    }
                })
            };
            match pool {
                None => work(),
                Some(threads) => on_pool(threads, work)?,
            }
        })?;
        let tasks = Mutex::new(Some(tasks));
        Ok(ClusterLeader { tasks, host, checkpoints })
    }

    /// Asks the leader's thread; nothing if the search needed none.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn RemoteLeader) -> T + Send + 'static,
    ) -> Result<Option<T>, Failure> {
        self.host.owner.check("ClusterLeader")?;
        let Some(tasks) = lock(&self.tasks).clone() else { return Ok(None) };
        let (reply, result) = channel();
        let task: Task = Box::new(move |leader| drop(reply.send(answer(|| work(leader)))));
        let result = py.detach(move || tasks.send(task).ok().and_then(|()| result.recv().ok()));
        result.transpose().map_err(Failure::internal)
    }
}

#[pymethods]
impl ClusterLeader {
    /// Leads a search of Konane. `fact_work` has to be that of the workers.
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
        let (rules, plain) = (rules(job_nodes.get()?, max_nodes), plain_rules(fact_work.get()?));
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
        let lead = move |stop: &AtomicBool, run: &mut dyn FnMut(&mut dyn RemoteLeader)| {
            let limits = Limits { stop: Some(stop), ..Limits::default() };
            let solver = Solver::new(&start.board, &start.position).options(options);
            let solver = solver.limits(limits).checkpoint_writer(kept.as_deref());
            let found = solver.lead(rules, plain, &mut (), run)?;
            let fields = move |py: Python<'_>| konane_fields(py, kept.as_deref(), &found);
            Ok(Box::new(fields) as Found)
        };
        ClusterLeader::start(py, checkpoints, lead)
    }

    /// Leads a search of Sprouts. The checkpoint is a file of Grundy numbers, to which they are added
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
        let rules = rules(job_nodes.get()?, max_nodes);
        let lead = move |_: &AtomicBool, run: &mut dyn FnMut(&mut dyn RemoteLeader)| {
            let search = sprouts_search(&position, nimber, memory.0, NonZeroUsize::MIN);
            let checkpoint =
                checkpoint.as_ref().map(|file| Checkpoint { path: &file.0, resume: resume.0 });
            let found = sprouts::lead(search, rules, checkpoint, &mut (), run)?;
            Ok(Box::new(move |py: Python<'_>| sprouts_fields(py, text, nimber, found)) as Found)
        };
        ClusterLeader::start(py, None, lead)
    }

    /// Tells a worker that has nothing to do what to do; none if there was nothing to search.
    fn hello(
        &self,
        py: Python<'_>,
        worker: Whole<name::Worker>,
    ) -> Result<Option<ClusterTold>, Failure> {
        let worker = worker.get()?;
        let told = self.ask(py, move |leader| leader.hello(worker))?;
        Ok(told.map(|told| ClusterTold::new(py, &told)))
    }

    /// Takes a worker's message in: what it is told, or why the message was refused; none if there was
    /// nothing to search.
    fn hear(
        &self,
        py: Python<'_>,
        message: Octets<name::Message>,
    ) -> Result<Option<Heard>, Failure> {
        let told = self.ask(py, move |leader| leader.hear(&message.0))?;
        Ok(told.map(|told| match told {
            Ok(told) => Heard::Told(ClusterTold::new(py, &told)),
            Err(error) => Heard::Refused(error.to_string()),
        }))
    }

    /// A worker will not be heard of again, and its job is free.
    fn lost(&self, py: Python<'_>, worker: Whole<name::Worker>) -> Result<(), Failure> {
        let worker = worker.get()?;
        self.ask(py, move |leader| leader.lost(worker)).map(drop)
    }

    /// Jobs that have been called off since the last call, each with the worker that has it.
    fn stops(&self, py: Python<'_>) -> Result<Vec<(u64, u64)>, Failure> {
        Ok(self.ask(py, |leader| leader.take_stops())?.unwrap_or_default())
    }

    /// How many nodes the next jobs may evaluate.
    fn set_job_nodes(&self, py: Python<'_>, nodes: Whole<name::Nodes>) -> Result<(), Failure> {
        let nodes = nodes.get()?;
        self.ask(py, move |leader| leader.set_job_nodes(nodes)).map(drop)
    }

    /// How the search is going; none if there was nothing to search.
    fn standing(&self, py: Python<'_>) -> Result<Option<ClusterStanding>, Failure> {
        Ok(self.ask(py, |leader| leader.standing())?.map(Into::into))
    }

    /// Ends the search without an answer, unless it has ended: `"interrupted"`, `"time limit"` or
    /// `"memory"`.
    fn end(&self, py: Python<'_>, reason: Text<name::Reason>) -> Result<(), Failure> {
        let all = [Reason::Interrupted, Reason::TimeLimit, Reason::Memory];
        let found = all.into_iter().find(|known| known.text() == &*reason);
        let known = found
            .ok_or_else(|| wrong_choice(&reason, "'interrupted', 'time limit' or 'memory'"))?;
        self.ask(py, move |leader| leader.end(known)).map(drop)
    }

    /// Ends the search, writes the last checkpoint, and returns the fields of the answer, as the
    /// program's JSON has them; once.
    fn finish(&self, py: Python<'_>) -> Result<Py<PyDict>, Failure> {
        self.host.owner.check("ClusterLeader")?;
        drop(lock(&self.tasks).take());
        match self.host.join(py)? {
            Some(found) => found(py),
            None => Err(Failure::input("the search has been finished before")),
        }
    }

    /// Results of the attempts to write a checkpoint since the last call: the error or none, bytes,
    /// entries and nodes of the tree.
    fn saves(&self) -> Result<Vec<SaveFields>, Failure> {
        self.host.owner.check("ClusterLeader")?;
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

/// The most facts in an answer: some 400 kB.
const FACTS_AT_ONCE: usize = 20_000;

fn rules(job_nodes: u64, max_nodes: Option<Nodes>) -> RemoteRules {
    let (node_limit, facts_at_once) = (max_nodes.map(|nodes| nodes.0), FACTS_AT_ONCE);
    RemoteRules { job_nodes, facts_at_once, node_limit, ..RemoteRules::default() }
}
