//! `konane engine`: answers requests of another program, one JSON object per line (docs/engine.md).
//!
//! ```text
//! standard input ─▶ protocol::parse ─▶ Engine::start ─▶ Job::search ─▶ AnswerWriter ─▶ standard output
//!                   (this thread)      (pool of threads)    ▲
//!                                                           └── BoardTables: one table for each board
//! ```
//!
//! Lines are read only while fewer than [`MAX_TASKS`] requests wait or are searched, so memory is bounded, and while
//! every thread searches a request without a limit: only a line ends such a search.

mod job;
mod protocol;
mod tables;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, IsTerminal};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use clap::Args;
use rayon::ScopeFifo;
use serde::Serialize;

use crate::args::{MAX_THREADS, ThreadsArg, database, environment, number};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::startup;
use crate::stdin::{POLL_INTERVAL, is_too_long, lines_of_stdin};
use crate::version::PROGRAM;
use job::Job;
use konane::results;
use konane::system::parse_bytes;
use konane::{MIN_MEMORY, SolveError};
pub use protocol::{EngineAnswerJson, EngineErrorJson, EngineVersionJson};
#[cfg(test)]
pub use protocol::{EngineCommand, EngineProgressJson, EngineRequest};
use protocol::{EngineLine, RequestId, parse};
use tables::BoardTables;

/// Maximum number of tasks of the pool. More lines are read when one has ended.
const MAX_TASKS: usize = 1024;

/// Version of the protocol.
const PROTOCOL: u32 = 1;

/// `konane engine`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Each line of standard input is a request, each line of standard output an answer:\n",
    "  {\"id\":1,\"board\":\"6x6\",\"moves\":\"d3 d4\",\"time_limit\":\"5s\"}\n",
    "  {\"id\":1,\"board\":\"6x6\", ... \"winner\":\"white\",\"best_move\":\"d1-d3\", ... }\n",
    "Other keys of a request: position, phase, max_nodes; values (of all moves), line (of best play):\n",
    "true; progress: the time between two reports, such as \"1s\"; priority. {\"action\":\"stop\",\"id\":1}\n",
    "ends a search, {\"action\":\"stop\"} all, {\"action\":\"quit\"} also the engine. The end of input waits for\n",
    "requests with a limit and stops the others. docs/engine.md describes all keys. Answers may be in\n",
    "another order than their requests.\n\n",
    "Examples:\n",
    "  printf '{\"id\":1,\"board\":\"5x5\",\"time_limit\":\"10s\"}\\n' | konane engine\n",
    "  konane engine --threads 4 --memory 2GiB < requests.jsonl > answers.jsonl\n"
))]
pub struct EngineArgs {
    /// Number of requests that are searched at the same time, each on one thread [default:
    /// KONANE_THREADS, or the number of cores].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = number(1, MAX_THREADS))]
    pub threads: Option<u32>,
    /// Memory for the results of all boards, at least 1MiB. The first board has half of it, each
    /// further one half of the rest.
    #[arg(short, long, value_name = "SIZE", default_value = environment::or(environment::MEMORY, "256MiB"), value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
    /// Look up values in the databases in this directory, or in this database [default: db, if it
    /// exists]. May be repeated: the first database of a board is used.
    #[arg(long, value_name = "DIR")]
    pub db: Vec<PathBuf>,
    /// Use the outcomes of this file, for any board, as written by solve --results.
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
}

/// Writes lines to standard output, until its reader closes it or an error occurs.
#[derive(Default)]
pub struct AnswerWriter {
    /// True if nothing can be written any more.
    is_closed: AtomicBool,
    /// The first error of a write. A reader that closes standard output is not an error.
    error: Mutex<Option<CliError>>,
}

impl AnswerWriter {
    /// Writes a line.
    pub fn write(&self, line: &impl Serialize) {
        let is_open = match output::json_line(line).and_then(output::write_open) {
            Ok(is_open) => is_open,
            Err(error) => {
                lock(&self.error).get_or_insert(error);
                false
            }
        };
        if !is_open {
            self.is_closed.store(true, Ordering::Relaxed);
        }
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed) || startup::is_reader_gone()
    }
}

/// Locks a mutex even if it is poisoned: a panic leaves none of the data here in an invalid state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Jobs by priority, the highest first, and number of the request.
type JobQueue = BTreeMap<(Reverse<i64>, u64), Arc<Job>>;

/// State that all requests share.
struct Engine {
    tables: Mutex<BoardTables>,
    in_flight: Mutex<HashMap<RequestId, Arc<Job>>>,
    /// Jobs that wait for a thread. Each has a task of the pool, which takes the first job.
    waiting: Mutex<JobQueue>,
    /// Tasks of the pool that have not ended: those of the requests in flight, and of requests that were stopped before
    /// they began.
    tasks: AtomicUsize,
    /// Searches of requests without a limit.
    unlimited: AtomicUsize,
    /// Notified after every answer, and at the end of every task.
    answered: Condvar,
    output: Arc<AnswerWriter>,
}

/// Answers requests until the end of input.
pub fn run(args: &EngineArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    output::must_be_open()?;
    if args.memory < MIN_MEMORY {
        return Err(SolveError::TooLittleMemory { bytes: args.memory }.into());
    }
    let databases = database::directories(&args.db)?;
    if let Some(results) = &args.results {
        // Errors of the file are reported before any request.
        results::read(results, |_| ())?;
    }
    let engine = Engine {
        tables: Mutex::new(BoardTables::new(databases, args.results.clone(), args.memory)),
        in_flight: Mutex::default(),
        waiting: Mutex::default(),
        tasks: AtomicUsize::new(0),
        unlimited: AtomicUsize::new(0),
        answered: Condvar::new(),
        output: Arc::default(),
    };
    if io::stdin().is_terminal() {
        output::note(
            r#"Write requests such as {"id":1,"board":"5x5"}, one per line. Ctrl-D ends."#,
        );
    }
    let lines = lines_of_stdin()?;
    let pool = ThreadsArg { threads: args.threads }.build()?;
    let threads = pool.current_num_threads();
    pool.in_place_scope_fifo(|scope| engine.serve(&lines, scope, threads, stop))?;
    let error = lock(&engine.output.error).take();
    match (error, stop.load(Ordering::Relaxed)) {
        (Some(error), _) => Err(error),
        (None, true) => Ok(Exit::Interrupted),
        (None, false) => Ok(Exit::Answered),
    }
}

impl Engine {
    /// Reads lines and starts searches. Returns after the last answer, or soon after a signal or the end of the
    /// program that reads the answers.
    fn serve<'s>(
        &'s self,
        lines: &Receiver<io::Result<Vec<u8>>>,
        scope: &ScopeFifo<'s>,
        threads: usize,
        stop: &AtomicBool,
    ) -> Result<(), CliError> {
        let is_ending = || stop.load(Ordering::Relaxed) || self.output.is_closed();
        let (mut result, mut waits, mut requests) = (Ok(()), true, 0);
        while !is_ending() {
            let is_full = self.tasks.load(Ordering::Relaxed) >= MAX_TASKS;
            if is_full && self.unlimited.load(Ordering::Relaxed) < threads {
                self.wait();
                continue;
            }
            let line = match lines.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(line)) if line.trim_ascii().is_empty() => continue,
                Ok(Ok(line)) => parse(&line),
                Ok(Err(error)) if is_too_long(&error) => {
                    Err(EngineErrorJson { id: None, error: error.to_string() })
                }
                Ok(Err(error)) => {
                    result = Err(CliError::Input(error));
                    break;
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let done = line.and_then(|line| match line {
                EngineLine::Request(found) => {
                    let (request, played) = *found;
                    let job = Job::new(request, played.board, played.position);
                    requests += 1;
                    self.start(Arc::new(job), requests, scope).map(|()| true)
                }
                EngineLine::Stop(Some(id)) => self.stop(id).map(|()| true),
                EngineLine::Stop(None) => {
                    self.stop_all(|_| true);
                    Ok(true)
                }
                EngineLine::Quit { wait } => {
                    waits = wait;
                    Ok(false)
                }
                EngineLine::Version(id) => {
                    let (protocol, program) = (PROTOCOL, PROGRAM);
                    self.output.write(&EngineVersionJson { id, protocol, program });
                    Ok(true)
                }
            });
            match done {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => self.output.write(&error),
            }
        }
        self.stop_all(|job| !waits || !job.request.has_limit());
        while !lock(&self.in_flight).is_empty() {
            if is_ending() {
                self.stop_all(|_| true);
            }
            self.wait();
        }
        result
    }

    /// Waits for an answer, or until the flags are due to be polled.
    fn wait(&self) {
        let guard = self.answered.wait_timeout(lock(&self.in_flight), POLL_INTERVAL);
        drop(guard);
    }

    /// Adds a request to the queue of the pool.
    fn start<'s>(
        &'s self,
        job: Arc<Job>,
        number: u64,
        scope: &ScopeFifo<'s>,
    ) -> Result<(), EngineErrorJson> {
        let id = job.request.id.clone();
        let mut in_flight = lock(&self.in_flight);
        if in_flight.contains_key(&id) {
            let error =
                "id: a request with this id has no answer yet; choose another id".to_owned();
            return Err(EngineErrorJson { id: Some(id), error });
        }
        in_flight.insert(id, Arc::clone(&job));
        lock(&self.waiting).insert((Reverse(job.request.priority), number), job);
        self.tasks.fetch_add(1, Ordering::Relaxed);
        scope.spawn_fifo(move |_| {
            let job = lock(&self.waiting).pop_first();
            if let Some((_, job)) = job
                && !job.is_begun.swap(true, Ordering::Relaxed)
            {
                let unlimited = usize::from(!job.request.has_limit());
                self.unlimited.fetch_add(unlimited, Ordering::Relaxed);
                self.answer(&job);
                self.unlimited.fetch_sub(unlimited, Ordering::Relaxed);
            }
            self.tasks.fetch_sub(1, Ordering::Relaxed);
            self.answered.notify_all();
        });
        Ok(())
    }

    /// Stops the requests in flight for which `is_stopped` returns true.
    fn stop_all(&self, is_stopped: impl Fn(&Job) -> bool) {
        let jobs: Vec<Arc<Job>> = lock(&self.in_flight).values().cloned().collect();
        jobs.iter().filter(|job| is_stopped(job)).for_each(|job| self.stop_job(job));
    }

    /// Stops the request with this id.
    fn stop(&self, id: RequestId) -> Result<(), EngineErrorJson> {
        let job = lock(&self.in_flight).get(&id).cloned();
        let Some(job) = job else {
            let error =
                "id: no request with this id is in flight; it may have been answered".to_owned();
            return Err(EngineErrorJson { id: Some(id), error });
        };
        self.stop_job(&job);
        Ok(())
    }

    /// Stops a job. If its search has not begun, it is answered at once.
    fn stop_job(&self, job: &Job) {
        job.stop.store(true, Ordering::Relaxed);
        if !job.is_begun.swap(true, Ordering::Relaxed) {
            self.finish(job, Ok(job.stopped()));
        }
    }

    /// Searches and writes the answer.
    fn answer(&self, job: &Arc<Job>) {
        let search = || {
            let analyst = lock(&self.tables).analyst(&job.board)?;
            job.search(analyst, &self.output)
        };
        let found = catch_unwind(AssertUnwindSafe(search));
        self.finish(
            job,
            match found {
                Ok(answer) => answer.map_err(|error| error.to_string()),
                Err(_) => Err("internal error: the search panicked".to_owned()),
            },
        );
    }

    /// Removes a request and writes its answer. The request is removed first, so that the id is free when the client
    /// reads the answer.
    fn finish(&self, job: &Job, answer: Result<EngineAnswerJson, String>) {
        let id = &job.request.id;
        lock(&self.in_flight).remove(id);
        match answer {
            Ok(answer) => self.output.write(&answer),
            Err(error) => self.output.write(&EngineErrorJson { id: Some(id.clone()), error }),
        }
        self.answered.notify_all();
    }
}
