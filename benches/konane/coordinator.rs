//! Coordinators of searches in several processes. The calls of a coordinator are recorded in a search with 16 workers
//! of one thread, and repeated with the coordinator alone. Then a new worker receives the results of the first half of the
//! calls.
//!
//! The first time is that of a call of the coordinator, the second that of a result which a worker stores. The names of
//! the benchmarks contain the problem and the nodes of a job. The number of calls, the bytes that the coordinator receives in a call, and
//! the size of its tree are printed before the measurement.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group};
use konane::search::cluster::{CoordinatorConfig, Delivery, RemoteCoordinator, RemoteWorker};
use konane::search::sums::SearchOptions;
use konane::sprouts;
use konane::sprouts::cluster::{ClusterSearch, SHARED_WORK, coordinate, work};
use konane::{Board, Limits, Position, SolveOptions, Solver};

use super::common::{board, group};

/// Number of workers.
const WORKERS: usize = 16;

const MEMORY_BYTES: u64 = 512 << 20;

/// A call of the coordinator.
enum Call {
    /// An idle request of this worker.
    Idle(u64),
    /// A message of a worker.
    Message(Vec<u8>),
}

/// A search in several processes.
trait Search {
    /// Runs a coordinator.
    fn coordinate(
        &self,
        config: CoordinatorConfig,
        run: &mut dyn FnMut(&mut dyn RemoteCoordinator),
    );

    /// Runs a worker.
    fn work(&self, config: CoordinatorConfig, run: &mut dyn FnMut(&dyn RemoteWorker));
}

struct Konane(Board);

impl Search for Konane {
    fn coordinate(
        &self,
        config: CoordinatorConfig,
        run: &mut dyn FnMut(&mut dyn RemoteCoordinator),
    ) {
        let start = Position::start(&self.0);
        let options = SolveOptions { memory_bytes: MEMORY_BYTES, ..SolveOptions::default() };
        let solver = Solver::new(&self.0, &start).options(options);
        solver.coordinate(config, &mut (), run).expect("there is memory");
    }

    fn work(&self, config: CoordinatorConfig, run: &mut dyn FnMut(&dyn RemoteWorker)) {
        let start = Position::start(&self.0);
        let (memory_bytes, threads) = (MEMORY_BYTES, NonZeroUsize::MIN);
        let options = SolveOptions { memory_bytes, threads, ..SolveOptions::default() };
        let solver = Solver::new(&self.0, &start).options(options);
        solver.work(&config, run).expect("there is memory");
    }
}

struct Sprouts(sprouts::Position);

impl Sprouts {
    fn search(&self) -> ClusterSearch<'_> {
        ClusterSearch {
            position: &self.0,
            nimber: 0,
            options: SearchOptions::TUNED,
            memory_bytes: MEMORY_BYTES,
            threads: NonZeroUsize::MIN,
            shared_work: SHARED_WORK,
        }
    }
}

impl Search for Sprouts {
    fn coordinate(
        &self,
        config: CoordinatorConfig,
        run: &mut dyn FnMut(&mut dyn RemoteCoordinator),
    ) {
        coordinate(self.search(), config, None, &mut (), run).expect("there is memory");
    }

    fn work(&self, _: CoordinatorConfig, run: &mut dyn FnMut(&dyn RemoteWorker)) {
        work(self.search(), Limits::default(), run).expect("there is memory");
    }
}

/// Calls `run` with `left` more workers.
fn with_workers(
    search: &dyn Search,
    config: CoordinatorConfig,
    left: usize,
    workers: &[&dyn RemoteWorker],
    run: &mut dyn FnMut(&[&dyn RemoteWorker]),
) {
    if left == 0 {
        return run(workers);
    }
    search.work(config, &mut |worker| {
        with_workers(search, config, left - 1, &[workers, &[worker]].concat(), run);
    });
}

/// Searches with one job of each worker in turn. Returns the calls of the coordinator.
fn record(search: &dyn Search, config: CoordinatorConfig) -> Vec<Call> {
    let mut calls = Vec::new();
    with_workers(search, config, WORKERS, &[], &mut |workers| {
        search.coordinate(config, &mut |coordinator| {
            let mut next: Vec<Option<Delivery>> = vec![None; workers.len()];
            let mut nodes = 0;
            while !coordinator.status().is_over {
                // The tree of a solved root may be empty.
                nodes = coordinator.status().tree_nodes;
                for (worker, delivery) in (0u64..).zip(&mut next) {
                    if delivery.is_none() {
                        *delivery = Some(coordinator.handle_idle(worker));
                        calls.push(Call::Idle(worker));
                    }
                    let Some(Delivery { job: Some(_), reply, last, .. }) = delivery.take() else {
                        continue;
                    };
                    let entries = last.map(|(other, node)| {
                        workers[other as usize].entries(&node).expect("a node of the coordinator")
                    });
                    let message =
                        workers[worker as usize].search(worker, &reply, entries.as_deref());
                    let message = message.expect("a job of the coordinator");
                    *delivery = coordinator.handle(&message).ok();
                    calls.push(Call::Message(message));
                }
            }
            let bytes = |call: &Call| if let Call::Message(bytes) = call { bytes.len() } else { 0 };
            let mean = calls.iter().map(bytes).sum::<usize>() / calls.len();
            eprintln!("{} calls of {mean} bytes, a tree of {nodes} nodes", calls.len());
        });
    });
    calls
}

/// Repeats calls. Returns their time.
fn repeat(coordinator: &mut dyn RemoteCoordinator, calls: &[Call]) -> Duration {
    let begun = Instant::now();
    for call in calls {
        match call {
            Call::Idle(worker) => drop(coordinator.handle_idle(*worker)),
            Call::Message(message) => drop(coordinator.handle(message)),
        }
    }
    begun.elapsed()
}

/// Returns the time for a call of a coordinator.
fn call_time(search: &dyn Search, config: CoordinatorConfig, calls: &[Call]) -> Duration {
    let mut time = Duration::ZERO;
    search.coordinate(config, &mut |coordinator| {
        time = repeat(coordinator, calls);
        assert!(coordinator.status().is_over, "the search is the same");
    });
    time / calls.len() as u32
}

/// Returns the time for a result that a new worker receives, in a job of two nodes.
fn result_time(search: &dyn Search, config: CoordinatorConfig, calls: &[Call]) -> Duration {
    let mut time = Duration::ZERO;
    let calls = &calls[..calls.len() / 2];
    search.coordinate(config, &mut |coordinator| {
        repeat(coordinator, calls);
        coordinator.set_job_nodes(2);
        (0..WORKERS as u64).for_each(|worker| coordinator.remove_worker(worker));
        let Delivery { job, reply, .. } = coordinator.handle_idle(WORKERS as u64);
        assert!(job.is_some(), "the jobs of the workers are free");
        let results = coordinator.status().results.min(config.max_results_in_reply);
        search.work(config, &mut |worker| {
            let begun = Instant::now();
            worker.search(0, &reply, None).expect("a job of the coordinator");
            time = begun.elapsed() / results.max(1) as u32;
        });
    });
    time
}

fn calls(c: &mut Criterion) {
    let sprouts = |spots| Sprouts(sprouts::Position::start(spots).expect("few spots"));
    let [small, middle, large] = [14, 18, 24].map(sprouts);
    let konane = Konane(board("6x7"));
    for (name, search, job_nodes) in [
        ("6x7", &konane as &dyn Search, 8000),
        ("0*14", &small, 2000),
        ("0*18", &middle, 20_000),
        ("0*24", &large, 20_000),
        ("0*24", &large, 400_000),
    ] {
        let config = CoordinatorConfig { job_nodes, ..CoordinatorConfig::REMOTE };
        let mut recorded = None;
        let mut group = group(c, "coordinator");
        group.bench_function(format!("{name}, jobs of {job_nodes}, call"), |b| {
            let calls: &Vec<Call> = recorded.get_or_insert_with(|| record(search, config));
            b.iter_custom(|times| (0..times).map(|_| call_time(search, config, calls)).sum());
        });
        group.bench_function(format!("{name}, jobs of {job_nodes}, result"), |b| {
            let calls: &Vec<Call> = recorded.get_or_insert_with(|| record(search, config));
            b.iter_custom(|times| (0..times).map(|_| result_time(search, config, calls)).sum());
        });
    }
}

criterion_group!(benches, calls);
