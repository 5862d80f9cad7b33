//! Machines, a driver and messages between them, on a virtual clock.
//!
//! A machine searches one job after another, by the real search; how long that takes follows from the
//! nodes. While it waits for the next job it searches on below the last one. A job is searched whole at
//! the moment at which it begins: what others learn from it they learn at its end, but its table is
//! ahead by up to a job when somebody asks for entries, and a job that is called off while it is
//! searched goes on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::{Duration, Instant};

use konane::search::jobs::remote::{Ordered, RemoteLeader, RemoteWorker, Standing, Told};
use konane::search::run::Counters;

use super::costs::Costs;

/// Real time between two lines that tell how far a simulation has come.
const TELL: Duration = Duration::from_secs(30);

/// A machine's place in the world.
struct Machine<'a> {
    worker: &'a dyn RemoteWorker,
    /// The job that has come, and when.
    job: Option<(Duration, Told)>,
    /// Whether it has said hello and waits for a job.
    waits: bool,
    /// Until when it is busy.
    free: Duration,
    /// When it has searched.
    busy: Spans,
    /// When it has waited for entries.
    waited: Spans,
    /// By what factor it searches more slowly than the costs say.
    slow: f64,
}

/// Times of one kind, from when to when.
#[derive(Default)]
struct Spans(Vec<(Duration, Duration)>);

impl Spans {
    fn add(&mut self, begin: Duration, length: Duration) {
        self.0.push((begin, begin + length));
    }

    /// What of them is before a time.
    fn until(&self, time: Duration) -> Duration {
        self.0.iter().map(|&(begin, end)| end.min(time).saturating_sub(begin)).sum()
    }
}

enum Event {
    /// A job comes to a machine.
    Job(usize, Told),
    /// A machine is free.
    Free(usize),
    /// A result comes to the driver.
    Result(Vec<u8>),
    /// Machines say that they are there.
    Hello(usize),
}

/// What was counted beside the search.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Traffic {
    pub jobs: u64,
    pub fetched: u64,
    pub entry_bytes: u64,
    pub message_bytes: u64,
    pub called_off: u64,
    /// Seconds that the real leader took, and microseconds for a message or a hello.
    pub leader_seconds: f64,
    pub leader_us: f64,
    /// Nanoseconds that it really took to collect an entry, and to evaluate a node.
    pub collect_ns: f64,
    pub node_ns: f64,
    /// The part of the time in which the driver was busy.
    pub driver: f64,
    /// The part of the time in which the machines searched.
    pub busy: f64,
    /// The part of the time in which they waited for entries.
    pub waited: f64,
}

pub struct World<'a, 'd> {
    leader: &'d mut dyn RemoteLeader,
    machines: Vec<Machine<'a>>,
    costs: Costs,
    threads: usize,
    fetches: bool,
    now: Duration,
    queue: BinaryHeap<Reverse<(Duration, u64)>>,
    events: BTreeMap<u64, Event>,
    next: u64,
    driver_free: Duration,
    driver_busy: Duration,
    /// What the leader really took, and for how many messages.
    leader_took: (Duration, u64),
    /// What collecting and searching really took.
    collecting: Duration,
    searching: Duration,
    traffic: Traffic,
    /// What takes [`Costs::node_ns`] each.
    unit: fn(&Counters) -> u64,
}

impl<'a, 'd> World<'a, 'd> {
    pub fn new(
        leader: &'d mut dyn RemoteLeader,
        workers: &[&'a dyn RemoteWorker],
        costs: Costs,
        threads: usize,
        fetches: bool,
    ) -> Self {
        let machine = |&worker| Machine {
            worker,
            job: None,
            waits: false,
            free: Duration::ZERO,
            busy: Spans::default(),
            waited: Spans::default(),
            slow: 1.0,
        };
        World {
            leader,
            machines: workers.iter().map(machine).collect(),
            costs,
            threads,
            fetches,
            now: Duration::ZERO,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            next: 0,
            driver_free: Duration::ZERO,
            driver_busy: Duration::ZERO,
            leader_took: (Duration::ZERO, 0),
            collecting: Duration::ZERO,
            searching: Duration::ZERO,
            traffic: Traffic::default(),
            unit: |counters| counters.nodes,
        }
    }

    /// The same, whose time follows from another count than that of nodes.
    pub fn counting(self, unit: fn(&Counters) -> u64) -> Self {
        World { unit, ..self }
    }

    /// The same, of which the last machine searches more slowly by a factor.
    pub fn with_slow_machine(mut self, factor: f64) -> Self {
        if let Some(machine) = self.machines.last_mut() {
            machine.slow = factor;
        }
        self
    }

    fn at(&mut self, time: Duration, event: Event) {
        self.queue.push(Reverse((time, self.next)));
        self.events.insert(self.next, event);
        self.next += 1;
    }

    /// Runs until the driver knows that the search is over; how long that takes, and what is sent.
    pub fn run(mut self) -> (Duration, Traffic) {
        for machine in 0..self.machines.len() {
            self.at(Duration::ZERO, Event::Hello(machine));
        }
        let mut told = Instant::now();
        while let Some(Reverse((time, number))) = self.queue.pop() {
            self.now = time;
            if told.elapsed() >= TELL {
                told = Instant::now();
                let Standing { numbers: (phi, delta), counters, .. } = self.leader.standing();
                let (seconds, nodes) = (time.as_secs_f64(), counters.nodes as f64 / 1e6);
                eprintln!("{seconds:.3} s, {nodes:.1} M nodes, pn {phi} dn {delta}");
            }
            match self.events.remove(&number).expect("an event happens once") {
                Event::Hello(machine) => {
                    self.machines[machine].waits = true;
                    self.drive(None);
                }
                Event::Result(message) => self.drive(Some(message)),
                Event::Job(machine, told) => {
                    self.machines[machine].job = Some((time, told));
                    self.search(machine);
                }
                Event::Free(machine) => self.search(machine),
            }
            if self.leader.standing().is_over {
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
        self.traffic.leader_seconds = self.leader_took.0.as_secs_f64();
        self.traffic.leader_us =
            self.traffic.leader_seconds * 1e6 / self.leader_took.1.max(1) as f64;
        let entries = (self.traffic.entry_bytes / 16).max(1) as f64;
        self.traffic.collect_ns = self.collecting.as_secs_f64() * 1e9 / entries;
        let nodes = self.leader.standing().counters.nodes.max(1) as f64;
        self.traffic.node_ns = self.searching.as_secs_f64() * 1e9 / nodes;
        self.traffic.driver = self.driver_busy.as_secs_f64() / seconds;
        (end, self.traffic)
    }

    /// The driver hears a message, sends jobs out and calls others off.
    fn drive(&mut self, message: Option<Vec<u8>>) {
        let begin = self.now.max(self.driver_free);
        let mut end = begin;
        let mut all = Vec::new();
        let begun = Instant::now();
        if let Some(message) = message {
            self.traffic.message_bytes += message.len() as u64;
            end += self.costs.leader() + self.costs.carry(message.len());
            all.push(self.leader.hear(&message).expect("a worker says what is sound"));
        }
        // Who waits is asked again; if one waits in vain, all others would.
        let is_over = self.leader.standing().is_over;
        for machine in 0..self.machines.len() {
            if self.machines[machine].waits && !is_over {
                self.machines[machine].waits = false;
                let told = self.leader.hello(machine as u64);
                end += self.costs.leader();
                let in_vain = told.order == Ordered::Wait;
                all.push(told);
                if in_vain {
                    break;
                }
            }
        }
        self.leader_took.0 += begun.elapsed();
        self.leader_took.1 += all.len() as u64;
        for told in all {
            let machine = told.worker as usize;
            match told.order {
                Ordered::Search { .. } => {
                    self.traffic.jobs += 1;
                    self.traffic.message_bytes += told.answer.len() as u64;
                    end += self.costs.call() + self.costs.carry(told.answer.len());
                    self.at(end + self.costs.latency(), Event::Job(machine, told));
                }
                Ordered::Wait => self.machines[machine].waits = true,
                Ordered::Quit => {}
            }
        }
        if !is_over {
            for (worker, job) in self.leader.take_stops() {
                self.traffic.called_off += 1;
                end += self.costs.call_off();
                self.machines[worker as usize].worker.call_off(job);
            }
        }
        self.driver_busy += end - begin;
        self.driver_free = end;
    }

    /// A machine searches the job that it has, if it is free; what another one knows about it was asked
    /// for when it came.
    fn search(&mut self, number: usize) {
        let free = self.machines[number].free;
        if free > self.now {
            // Others have asked for entries meanwhile.
            return self.at(free, Event::Free(number));
        }
        let Some((came, told)) = self.machines[number].job.take() else { return };
        let mut time = self.now;
        let mut entries = None;
        if let Ordered::Search { node, last: Some(last), .. } = &told.order
            && self.fetches
        {
            let other = &mut self.machines[*last as usize];
            let begun = Instant::now();
            let found = other.worker.entries(node).expect("a node of the leader");
            self.collecting += begun.elapsed();
            // A thread of its own does that, on processors that the search would have.
            let collect = self.costs.collect(found.len()) / self.threads as u32;
            other.free = other.free.max(self.now) + collect;
            self.traffic.fetched += 1;
            self.traffic.entry_bytes += found.len() as u64;
            let there = time.max(came + self.costs.fetch(found.len()));
            self.machines[number].waited.add(time, there - time);
            time = there;
            entries = Some(found);
        }
        self.go_on(number, time - free);
        let stored = told.answer.len() + entries.as_ref().map_or(0, Vec::len);
        time += self.costs.store(stored, self.threads);
        let begun = Instant::now();
        let (message, nodes) = self.do_job(&told, number, entries.as_deref());
        self.searching += begun.elapsed();
        let machine = &mut self.machines[number];
        let took = self.costs.search(nodes, self.threads).mul_f64(machine.slow);
        machine.busy.add(time, took);
        time += took;
        machine.free = time;
        self.at(time, Event::Free(number));
        self.at(time + self.costs.latency(), Event::Result(message));
    }

    /// What a worker has searched in the time since it was free. Some do nothing then.
    fn go_on(&mut self, number: usize, idle: Duration) {
        let machine = &mut self.machines[number];
        let nodes = self.costs.nodes(idle.div_f64(machine.slow), self.threads);
        if nodes > 0 {
            let before = (self.unit)(&machine.worker.counters());
            machine.worker.go_on(Some(nodes));
            let more = (self.unit)(&machine.worker.counters()) - before;
            let took = self.costs.search(more, self.threads).mul_f64(machine.slow);
            if more > 0 {
                machine.busy.add(machine.free, took.min(idle));
            }
        }
    }

    /// What a worker says of a job, and the nodes that it took.
    fn do_job(&self, told: &Told, number: usize, entries: Option<&[u8]>) -> (Vec<u8>, u64) {
        let worker = self.machines[number].worker;
        let before = (self.unit)(&worker.counters());
        let message =
            worker.search(told.worker, &told.answer, entries).expect("a job of the leader");
        (message, (self.unit)(&worker.counters()) - before)
    }
}
