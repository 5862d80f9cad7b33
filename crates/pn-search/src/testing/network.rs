//! A simulated network between a coordinator and its workers, with faults.

use crate::cluster::message::WorkerId;
use crate::cluster::{Delivery, RemoteCoordinator, RemoteWorker};
use crate::split_mix::mix;

/// Faults of a simulated network and its workers.
#[derive(Clone, Copy, Debug)]
pub struct FaultRates {
    /// Probability that a message is lost, in 1/256.
    pub loss: u64,
    /// Probability that a message is duplicated, in 1/256.
    pub duplication: u64,
    /// Probability that a bit of a request is altered, in 1/256.
    pub alteration: u64,
    /// Probability that a worker crashes after a job, in 1/256.
    pub crash: u64,
    /// Maximum delay of a message, in ticks.
    pub max_delay: u64,
}

impl FaultRates {
    /// No faults.
    pub const NONE: FaultRates =
        FaultRates { loss: 0, duplication: 0, alteration: 0, crash: 0, max_delay: 1 };
}

/// Events of a simulation.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkEvents {
    /// Crashes of workers.
    pub crashes: u64,
    /// Altered requests.
    pub alterations: u64,
    /// Jobs that were sent with the entries of another worker.
    pub transfers: u64,
}

/// Time in ticks after which a request is repeated.
const TIMEOUT: u64 = 150;

/// Transports the messages of a search until it is over. `concurrent` of the workers run at a time. A worker that
/// crashes is replaced by the next of `workers`.
///
/// # Panics
/// If the search does not end, the coordinator accepts an altered request, or it rejects an unaltered request of a
/// worker that takes part in the search.
pub fn run_network(
    coordinator: &mut dyn RemoteCoordinator,
    workers: &[&dyn RemoteWorker],
    concurrent: usize,
    faults: FaultRates,
    seed: u64,
) -> NetworkEvents {
    let mut network = Network {
        coordinator,
        workers,
        faults,
        random: mix(seed),
        now: 0,
        messages: Vec::new(),
        running: Vec::new(),
        started: 0,
        removed: Vec::new(),
        events: NetworkEvents::default(),
    };
    network.run(concurrent);
    network.events
}

/// A message that has been sent.
enum Message {
    Reply(Delivery),
    Request(WorkerId, Vec<u8>),
    /// Report of a worker's crash.
    Crash(WorkerId),
}

/// Simulated network. Its clock counts ticks.
struct Network<'c, 'w> {
    coordinator: &'c mut dyn RemoteCoordinator,
    workers: &'w [&'w dyn RemoteWorker],
    faults: FaultRates,
    random: u64,
    now: u64,
    /// Messages with their times of arrival.
    messages: Vec<(u64, Message)>,
    /// Running workers, with the times of their next idle requests.
    running: Vec<(WorkerId, u64)>,
    started: usize,
    /// Workers that have been removed from the coordinator.
    removed: Vec<WorkerId>,
    events: NetworkEvents,
}

impl<'w> Network<'_, 'w> {
    fn random(&mut self, below: u64) -> u64 {
        self.random += 1;
        mix(self.random) % below
    }

    /// Sends a message. It arrives twice, once or never.
    fn send(&mut self, message: impl Fn() -> Message) {
        let FaultRates { loss, duplication, max_delay, .. } = self.faults;
        for chance in [256, duplication] {
            if self.random(256) < chance && self.random(256) >= loss {
                let due = self.now + 1 + self.random(max_delay);
                self.messages.push((due, message()));
            }
        }
    }

    fn worker(&self, worker: WorkerId) -> Option<&'w dyn RemoteWorker> {
        let is_running = self.running.iter().any(|&(running, _)| running == worker);
        self.workers.get(worker as usize).copied().filter(|_| is_running)
    }

    fn run(&mut self, concurrent: usize) {
        while !self.coordinator.status().is_over {
            self.now += 1;
            assert!(self.now < 1_000_000, "the search ends");
            while self.running.len() < concurrent {
                assert!(self.started < self.workers.len(), "another worker can be started");
                self.running.push((self.started as WorkerId, 0));
                self.started += 1;
            }
            // Repeats requests whose replies may have been lost.
            for index in 0..self.running.len() {
                let (worker, next_request) = &mut self.running[index];
                if *next_request > self.now {
                    continue;
                }
                *next_request = self.now + TIMEOUT;
                let delivery = self.coordinator.handle_idle(*worker);
                match delivery.job.is_none() && !delivery.is_over {
                    true => self.running[index].1 = self.now + 20,
                    false => self.send(|| Message::Reply(delivery.clone())),
                }
            }
            let now = self.now;
            let due = |&(due, _): &(u64, Message)| due <= now;
            while let Some(at) = self.messages.iter().position(due) {
                match self.messages.swap_remove(at).1 {
                    Message::Reply(delivery) => self.search(&delivery),
                    Message::Request(worker, request) => self.handle(worker, request),
                    Message::Crash(worker) => {
                        self.coordinator.remove_worker(worker);
                        self.removed.push(worker);
                    }
                }
            }
        }
    }

    fn search(&mut self, delivery: &Delivery) {
        let id = delivery.worker;
        let (Some(_), Some(worker)) = (delivery.job, self.worker(id)) else { return };
        let last = delivery.last.as_ref();
        let last = last.and_then(|(last, node)| Some((self.worker(*last)?, node)));
        let entries = last.map(|(last, node)| last.entries(node).unwrap());
        self.events.transfers += u64::from(entries.is_some());
        let request = worker.search(id, &delivery.reply, entries.as_deref()).unwrap();
        if self.random(256) < self.faults.crash && self.started < self.workers.len() {
            self.running.retain(|&(running, _)| running != id);
            self.events.crashes += 1;
            let due = self.now + 1 + self.random(TIMEOUT);
            self.messages.push((due, Message::Crash(id)));
            return;
        }
        self.send(|| Message::Request(id, request.clone()));
    }

    fn handle(&mut self, worker: WorkerId, mut request: Vec<u8>) {
        if self.random(256) < self.faults.alteration {
            let at = self.random(request.len() as u64) as usize;
            request[at] ^= 1 << self.random(8);
            assert!(self.coordinator.handle(&request).is_err());
            self.events.alterations += 1;
            return;
        }
        let Ok(delivery) = self.coordinator.handle(&request) else {
            assert!(self.removed.contains(&worker));
            return;
        };
        for (worker, job) in self.coordinator.take_cancelled() {
            if let Some(worker) = self.worker(worker) {
                worker.cancel(job);
            }
        }
        if delivery.job.is_none() && !delivery.is_over {
            return;
        }
        for (running, next_request) in &mut self.running {
            if *running == worker {
                *next_request = self.now + TIMEOUT;
            }
        }
        self.send(|| Message::Reply(delivery.clone()));
    }
}
