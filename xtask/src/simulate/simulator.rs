//! Machines, a driver and the messages between them, on a virtual clock.
//!
//! A machine searches one job after another with the real search. The virtual time of a job is
//! proportional to its nodes. While a machine waits for the next job, it continues the search of its last
//! one. The real search of a job runs completely at the job's virtual begin, and its result is sent at its
//! virtual end. Therefore other machines can see the table entries of a job too early, by at most the
//! duration of the job, and a cancelled job that has begun is searched to its end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::{Duration, Instant};

use konane::search::cluster::{CoordinatorStatus, Delivery, RemoteCoordinator, RemoteWorker};
use konane::search::run::Counters;

use super::costs::Costs;

/// Real time between two lines of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(30);

/// State of a machine.
struct Machine<'a> {
    worker: &'a dyn RemoteWorker,
    /// The next job, and its time of arrival.
    job: Option<(Duration, Delivery)>,
    /// True if the machine has requested a job.
    is_waiting: bool,
    /// Virtual time at which the machine finishes its current work.
    free: Duration,
    /// Times in which the machine searched.
    busy: Spans,
    /// Times in which the machine waited for entries.
    waited: Spans,
    /// Factor by which the machine is slower than the costs say.
    slow: f64,
}

/// Time intervals: begin and end.
#[derive(Default)]
struct Spans(Vec<(Duration, Duration)>);

impl Spans {
    fn add(&mut self, begin: Duration, length: Duration) {
        self.0.push((begin, begin + length));
    }

    /// Total length before `time`.
    fn until(&self, time: Duration) -> Duration {
        self.0.iter().map(|&(begin, end)| end.min(time).saturating_sub(begin)).sum()
    }
}

enum Scheduled {
    /// A job arrives at a machine.
    Job(usize, Delivery),
    /// A machine has finished its work.
    Free(usize),
    /// A result arrives at the driver.
    Result(Vec<u8>),
    /// A machine registers at the driver.
    Hello(usize),
}

/// Returns the processor time of this thread. Unlike the real time, it does not depend on other work of the machine.
/// On systems without such a clock, returns the real time.
fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    {
        static BEGUN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        BEGUN.get_or_init(Instant::now).elapsed()
    }
}

/// Counters of messages and times.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Traffic {
    /// Jobs, each part counted.
    pub jobs: u64,
    pub fetched: u64,
    pub entry_bytes: u64,
    /// Bytes of messages that the coordinator received, and of its replies.
    pub received_bytes: u64,
    pub sent_bytes: u64,
    pub cancelled: u64,
    /// Number of messages that the coordinator handled.
    pub messages: u64,
    /// Processor time of the coordinator in seconds.
    pub coordinator_seconds: f64,
    /// Seconds of the coordinator on the virtual clock.
    pub charged_seconds: f64,
    /// Real nanoseconds to collect an entry, and to evaluate a node.
    pub collect_ns: f64,
    pub node_ns: f64,
    /// Share of the time in which the driver was busy.
    pub driver: f64,
    /// Share of the time in which the machines searched.
    pub busy: f64,
    /// Share of the time in which the machines waited for entries.
    pub waited: f64,
}

pub struct Simulator<'a, 'd> {
    coordinator: &'d mut dyn RemoteCoordinator,
    machines: Vec<Machine<'a>>,
    costs: Costs,
    threads: usize,
    fetches_entries: bool,
    now: Duration,
    queue: BinaryHeap<Reverse<(Duration, u64)>>,
    events: BTreeMap<u64, Scheduled>,
    next: u64,
    driver_free: Duration,
    driver_busy: Duration,
    /// Time of the coordinator: processor time, and time on the virtual clock.
    coordinator_time: [Duration; 2],
    /// Real times of collecting entries and of searching.
    collecting: Duration,
    searching: Duration,
    traffic: Traffic,
    /// The counter to which the virtual time is proportional.
    unit: fn(&Counters) -> u64,
}

impl<'a, 'd> Simulator<'a, 'd> {
    pub fn new(
        coordinator: &'d mut dyn RemoteCoordinator,
        workers: &[&'a dyn RemoteWorker],
        costs: Costs,
        threads: usize,
        fetches_entries: bool,
    ) -> Self {
        let machine = |&worker| Machine {
            worker,
            job: None,
            is_waiting: false,
            free: Duration::ZERO,
            busy: Spans::default(),
            waited: Spans::default(),
            slow: 1.0,
        };
        Simulator {
            coordinator,
            machines: workers.iter().map(machine).collect(),
            costs,
            threads,
            fetches_entries,
            now: Duration::ZERO,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            next: 0,
            driver_free: Duration::ZERO,
            driver_busy: Duration::ZERO,
            coordinator_time: [Duration::ZERO; 2],
            collecting: Duration::ZERO,
            searching: Duration::ZERO,
            traffic: Traffic::default(),
            unit: |counters| counters.nodes,
        }
    }

    /// Makes the virtual time proportional to the counter `unit` instead of that of nodes.
    pub fn counting(self, unit: fn(&Counters) -> u64) -> Self {
        Simulator { unit, ..self }
    }

    /// Makes the last machine slower by a factor.
    pub fn with_slow_machine(mut self, factor: f64) -> Self {
        if let Some(machine) = self.machines.last_mut() {
            machine.slow = factor;
        }
        self
    }

    /// Schedules an event.
    fn at(&mut self, time: Duration, event: Scheduled) {
        self.queue.push(Reverse((time, self.next)));
        self.events.insert(self.next, event);
        self.next += 1;
    }

    /// Runs until the driver has received the result of the search. Returns the virtual time at that moment,
    /// and the counters.
    pub fn run(mut self) -> (Duration, Traffic) {
        for machine in 0..self.machines.len() {
            self.at(Duration::ZERO, Scheduled::Hello(machine));
        }
        let mut printed = Instant::now();
        while let Some(Reverse((time, number))) = self.queue.pop() {
            self.now = time;
            if printed.elapsed() >= PROGRESS_INTERVAL {
                printed = Instant::now();
                let CoordinatorStatus { numbers: (phi, delta), counters, .. } =
                    self.coordinator.status();
                let (seconds, nodes) = (time.as_secs_f64(), counters.nodes as f64 / 1e6);
                eprintln!("{seconds:.3} s, {nodes:.1} M nodes, pn {phi} dn {delta}");
            }
            match self.events.remove(&number).expect("each event is scheduled once") {
                Scheduled::Hello(machine) => {
                    self.machines[machine].is_waiting = true;
                    self.drive(None);
                }
                Scheduled::Result(message) => self.drive(Some(message)),
                Scheduled::Job(machine, delivery) => {
                    self.machines[machine].job = Some((time, delivery));
                    self.search(machine);
                }
                Scheduled::Free(machine) => self.search(machine),
            }
            if self.coordinator.status().is_over {
                break;
            }
        }
        let end = self.now.max(self.driver_free);
        let seconds = end.as_secs_f64().max(1e-9);
        let all = |time: fn(&Machine<'_>, Duration) -> Duration| {
            let all: Duration = self.machines.iter().map(|machine| time(machine, end)).sum();
            all.as_secs_f64() / seconds / self.machines.len() as f64
        };
        self.traffic.busy = all(|machine, end| machine.busy.until(end));
        self.traffic.waited = all(|machine, end| machine.waited.until(end));
        let [real, charged] = self.coordinator_time.map(|time| time.as_secs_f64());
        (self.traffic.coordinator_seconds, self.traffic.charged_seconds) = (real, charged);
        let entries = (self.traffic.entry_bytes / 16).max(1) as f64;
        self.traffic.collect_ns = self.collecting.as_secs_f64() * 1e9 / entries;
        let nodes = self.coordinator.status().counters.nodes.max(1) as f64;
        self.traffic.node_ns = self.searching.as_secs_f64() * 1e9 / nodes;
        self.traffic.driver = self.driver_busy.as_secs_f64() / seconds;
        (end, self.traffic)
    }

    /// Passes `message` to the coordinator. Then sends the new jobs, and cancels those that the coordinator
    /// does not need any more.
    fn drive(&mut self, message: Option<Vec<u8>>) {
        let begin = self.now.max(self.driver_free);
        let mut all = Vec::new();
        let mut charged = Duration::ZERO;
        let received = message.as_ref().map_or(0, Vec::len);
        let begun = thread_time();
        if let Some(message) = message {
            let delivery =
                self.coordinator.handle(&message).expect("messages of workers are valid");
            charged += self.costs.coordinator(received, delivery.reply.len());
            all.push(delivery);
        }
        // Waiting machines request a job again. If there is none for one of them, there is none for the rest.
        let is_over = self.coordinator.status().is_over;
        for machine in 0..self.machines.len() {
            if self.machines[machine].is_waiting && !is_over {
                self.machines[machine].is_waiting = false;
                let delivery = self.coordinator.handle_idle(machine as u64);
                charged += self.costs.coordinator(0, delivery.reply.len());
                let has_no_job = delivery.job.is_none() && !delivery.is_over;
                all.push(delivery);
                if has_no_job {
                    break;
                }
            }
        }
        self.coordinator_time[0] += thread_time().saturating_sub(begun);
        self.coordinator_time[1] += charged;
        self.traffic.messages += all.len() as u64;
        self.traffic.received_bytes += received as u64;
        let mut end = begin + charged + self.costs.forward(received);
        for delivery in all {
            let machine = delivery.worker as usize;
            if delivery.job.is_some() {
                self.traffic.jobs += 1;
                self.traffic.sent_bytes += delivery.reply.len() as u64;
                end += self.costs.call() + self.costs.forward(delivery.reply.len());
                self.at(end + self.costs.latency(), Scheduled::Job(machine, delivery));
            } else {
                self.machines[machine].is_waiting = !delivery.is_over;
            }
        }
        if !is_over {
            for (worker, job) in self.coordinator.take_cancelled() {
                self.traffic.cancelled += 1;
                end += self.costs.cancel();
                self.machines[worker as usize].worker.cancel(job);
            }
        }
        self.driver_busy += end - begin;
        self.driver_free = end;
    }

    /// Searches the next job of a machine, if the machine is free. The entries of another machine were
    /// requested when the job arrived.
    fn search(&mut self, number: usize) {
        let free = self.machines[number].free;
        if free > self.now {
            // The machine is busy longer than planned: it has collected entries for another one.
            return self.at(free, Scheduled::Free(number));
        }
        let Some((came, delivery)) = self.machines[number].job.take() else { return };
        let mut time = self.now;
        let mut entries = None;
        if let Some((last, node)) = &delivery.last
            && self.fetches_entries
        {
            let other = &mut self.machines[*last as usize];
            let begun = Instant::now();
            let found = other.worker.entries(node).expect("the coordinator sends valid nodes");
            self.collecting += begun.elapsed();
            // An extra thread collects the entries. It takes processor time from all threads of the search.
            let collect = self.costs.collect(found.len()) / self.threads as u32;
            other.free = other.free.max(self.now) + collect;
            self.traffic.fetched += 1;
            self.traffic.entry_bytes += found.len() as u64;
            let arrival = time.max(came + self.costs.fetch(found.len()));
            self.machines[number].waited.add(time, arrival - time);
            time = arrival;
            entries = Some(found);
        }
        self.continue_last_job(number, time - free);
        let stored = delivery.reply.len() + entries.as_ref().map_or(0, Vec::len);
        time += self.costs.store(stored, self.threads);
        let begun = Instant::now();
        let (message, nodes) = self.search_job(&delivery, number, entries.as_deref());
        self.searching += begun.elapsed();
        let machine = &mut self.machines[number];
        let took = self.costs.search(nodes, self.threads).mul_f64(machine.slow);
        machine.busy.add(time, took);
        time += took;
        machine.free = time;
        self.at(time, Scheduled::Free(number));
        self.at(time + self.costs.latency(), Scheduled::Result(message));
    }

    /// Continues the last job for the time in which the machine was free. A worker of Sprouts does nothing in this
    /// time.
    fn continue_last_job(&mut self, number: usize, idle: Duration) {
        let machine = &mut self.machines[number];
        let nodes = self.costs.nodes(idle.div_f64(machine.slow), self.threads);
        if nodes > 0 {
            let before = (self.unit)(&machine.worker.counters());
            machine.worker.continue_search(Some(nodes));
            let more = (self.unit)(&machine.worker.counters()) - before;
            let took = self.costs.search(more, self.threads).mul_f64(machine.slow);
            if more > 0 {
                machine.busy.add(machine.free, took.min(idle));
            }
        }
    }

    /// Searches a job. Returns its result as a message, and the increase of the counter `unit`.
    fn search_job(
        &self,
        delivery: &Delivery,
        number: usize,
        entries: Option<&[u8]>,
    ) -> (Vec<u8>, u64) {
        let worker = self.machines[number].worker;
        let before = (self.unit)(&worker.counters());
        let message = worker
            .search(delivery.worker, &delivery.reply, entries)
            .expect("the coordinator sends valid jobs");
        (message, (self.unit)(&worker.counters()) - before)
    }
}
