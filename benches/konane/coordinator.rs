//! The coordinator of a search of Sprouts in several processes: the messages of a search are recorded, and replayed to
//! the coordinator alone.
//!
//! A time is that of one call. The names have the position and the nodes of a job; the number of calls and the size of
//! the coordinator's tree are printed before the measurement.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group};
use konane::Limits;
use konane::search::cluster::{CoordinatorConfig, Delivery, RemoteCoordinator, RemoteWorker};
use konane::search::sums::SearchOptions;
use konane::sprouts::Position;
use konane::sprouts::cluster::{ClusterSearch, coordinate, work};

use super::common::group;

/// Number of workers. Each has one thread.
const WORKERS: usize = 16;

/// A call of the coordinator.
enum Call {
    /// An idle request of this worker.
    Idle(u64),
    /// A message of a worker.
    Message(Vec<u8>),
}

/// Calls `run` with `left` more workers.
fn with_workers(
    search: ClusterSearch<'_>,
    left: usize,
    workers: &[&dyn RemoteWorker],
    run: &mut dyn FnMut(&[&dyn RemoteWorker]),
) {
    if left == 0 {
        return run(workers);
    }
    work(search, Limits::default(), |worker| {
        with_workers(search, left - 1, &[workers, &[worker]].concat(), run);
    })
    .expect("there is memory");
}

/// Searches with one job of each worker in turn. Returns the calls of the coordinator and the nodes of its tree.
fn record(search: ClusterSearch<'_>, config: CoordinatorConfig) -> (Vec<Call>, u64) {
    let (mut calls, mut nodes) = (Vec::new(), 0);
    with_workers(search, WORKERS, &[], &mut |workers| {
        let run = |coordinator: &mut dyn RemoteCoordinator| {
            let mut next: Vec<Option<Delivery>> = vec![None; workers.len()];
            while !coordinator.status().is_over {
                for (worker, delivery) in (0u64..).zip(&mut next) {
                    if delivery.is_none() {
                        *delivery = Some(coordinator.handle_idle(worker));
                        calls.push(Call::Idle(worker));
                    }
                    let Some(Delivery { job: Some(_), reply, .. }) = delivery.take() else {
                        continue;
                    };
                    let message = workers[worker as usize].search(worker, &reply, None);
                    let message = message.expect("the coordinator sends jobs");
                    *delivery = coordinator.handle(&message).ok();
                    calls.push(Call::Message(message));
                }
            }
            nodes = coordinator.status().tree_nodes;
        };
        coordinate(search, config, None, &mut (), run).expect("there is memory");
    });
    (calls, nodes)
}

/// Returns the time that a new coordinator needs for these calls.
fn replay(search: ClusterSearch<'_>, config: CoordinatorConfig, calls: &[Call]) -> Duration {
    let mut time = Duration::ZERO;
    let run = |coordinator: &mut dyn RemoteCoordinator| {
        let begun = Instant::now();
        for call in calls {
            match call {
                Call::Idle(worker) => drop(coordinator.handle_idle(*worker)),
                Call::Message(message) => drop(coordinator.handle(message)),
            }
        }
        time = begun.elapsed();
        assert!(coordinator.status().is_over, "the search is the same");
    };
    coordinate(search, config, None, &mut (), run).expect("there is memory");
    time
}

fn messages(c: &mut Criterion) {
    for (spots, job_nodes) in [(14, 2000), (18, 20_000), (24, 20_000), (24, 400_000)] {
        let position = Position::start(spots).expect("few spots");
        let search = ClusterSearch {
            position: &position,
            nimber: 0,
            options: SearchOptions::TUNED,
            memory_bytes: 512 << 20,
            threads: NonZeroUsize::MIN,
        };
        let config = CoordinatorConfig { job_nodes, ..CoordinatorConfig::REMOTE };
        let mut recorded = None;
        group(c, "coordinator").bench_function(format!("0*{spots}, jobs of {job_nodes}"), |b| {
            let calls: &Vec<Call> = recorded.get_or_insert_with(|| {
                let (calls, nodes) = record(search, config);
                eprintln!("{} calls, a tree of {nodes} nodes", calls.len());
                calls
            });
            b.iter_custom(|times| {
                let time: Duration = (0..times).map(|_| replay(search, config, calls)).sum();
                time / calls.len() as u32
            });
        });
    }
}

criterion_group!(benches, messages);
