//! Machines, a driver and messages between them, on a virtual clock.
//!
//! A machine searches one job after another, by the real search; how long that takes follows from the
//! nodes. It has two batches of jobs at a time, so that one is there when the other is done, or one,
//! and searches on below its last job while it waits. A job is
//! searched whole at the moment at which it begins: what others learn from it they learn at its end,
//! but its table is ahead by up to a job when somebody asks for entries, and a job that is called
//! off while it is searched goes on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

use konane::search::jobs::remote::{Ordered, RemoteLeader, RemoteWorker, Told};
use konane::search::run::Counters;

use super::costs::Costs;

/// A machine's place in the world.
struct Machine<'a> {
    worker: &'a dyn RemoteWorker,
    /// Batches of jobs that have come, with the times from which they can be searched.
    batches: VecDeque<(Duration, Vec<Told>)>,
    /// Until when it is busy.
    free: Duration,
    /// Time spent with searches.
    busy: Duration,
    /// By what factor it searches more slowly than the costs say.
    slow: f64,
}

enum Event {
    /// Jobs come to a machine.
    Jobs(usize, Vec<Told>),
    /// A machine is free.
    Free(usize),
    /// Results come to the driver.
    Results(Vec<Vec<u8>>),
    /// Machines say that they are there.
    Hello(usize),
}

/// What was counted beside the search.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Traffic {
    pub calls: u64,
    pub jobs: u64,
    pub fetched: u64,
    pub entry_bytes: u64,
    pub message_bytes: u64,
    /// Microseconds that the real leader took for a message or a name.
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
    /// Batches of a machine at a time.
    batches: usize,
    batch: usize,
    fetches: bool,
    goes_on: bool,
    now: Duration,
    queue: BinaryHeap<Reverse<(Duration, u64)>>,
    events: BTreeMap<u64, Event>,
    next: u64,
    /// Names that wait for a job, by machine.
    waiting: Vec<Vec<u64>>,
    driver_free: Duration,
    driver_busy: Duration,
    /// What the leader really took, and for how many messages.
    leader_took: (Duration, u64),
    /// What collecting and searching really took.
    collecting: Duration,
    searching: Duration,
    /// What machines waited for entries.
    waited: Duration,
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
        (batches, batch): (usize, usize),
        fetches: bool,
    ) -> Self {
        let machine = |&worker| Machine {
            worker,
            batches: VecDeque::new(),
            free: Duration::ZERO,
            busy: Duration::ZERO,
            slow: 1.0,
        };
        World {
            leader,
            machines: workers.iter().map(machine).collect(),
            costs,
            threads,
            batches,
            batch,
            fetches,
            goes_on: false,
            now: Duration::ZERO,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            next: 0,
            waiting: vec![Vec::new(); workers.len()],
            driver_free: Duration::ZERO,
            driver_busy: Duration::ZERO,
            leader_took: (Duration::ZERO, 0),
            collecting: Duration::ZERO,
            searching: Duration::ZERO,
            waited: Duration::ZERO,
            traffic: Traffic::default(),
            unit: |counters| counters.nodes,
        }
    }

    /// The same, whose time follows from another count than that of nodes.
    pub fn counting(self, unit: fn(&Counters) -> u64) -> Self {
        World { unit, ..self }
    }

    /// The same, with machines that search on while they wait for a job.
    pub fn going_on(self, goes_on: bool) -> Self {
        World { goes_on, ..self }
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

    /// Runs until the search is over; how long that takes, and what is sent.
    pub fn run(mut self) -> (Duration, Traffic) {
        for machine in 0..self.machines.len() {
            self.at(Duration::ZERO, Event::Hello(machine));
        }
        while let Some(Reverse((time, number))) = self.queue.pop() {
            self.now = time;
            match self.events.remove(&number).expect("an event happens once") {
                Event::Hello(machine) => {
                    let names = (self.batches * self.batch) as u64;
                    self.waiting[machine] =
                        (machine as u64 * names..(machine as u64 + 1) * names).collect();
                    self.drive(Vec::new());
                }
                Event::Results(messages) => self.drive(messages),
                Event::Jobs(machine, jobs) => self.receive(machine, jobs),
                Event::Free(machine) => self.search(machine),
            }
            if self.leader.standing().is_over {
                break;
            }
        }
        let seconds = self.now.max(self.driver_free).as_secs_f64().max(1e-9);
        let busy: Duration = self.machines.iter().map(|machine| machine.busy).sum();
        self.traffic.leader_us =
            self.leader_took.0.as_secs_f64() * 1e6 / self.leader_took.1.max(1) as f64;
        let entries = (self.traffic.entry_bytes / 16).max(1) as f64;
        self.traffic.collect_ns = self.collecting.as_secs_f64() * 1e9 / entries;
        let nodes = self.leader.standing().counters.nodes.max(1) as f64;
        self.traffic.node_ns = self.searching.as_secs_f64() * 1e9 / nodes;
        self.traffic.driver = self.driver_busy.as_secs_f64() / seconds;
        self.traffic.waited = self.waited.as_secs_f64() / seconds / self.machines.len() as f64;
        self.traffic.busy = busy.as_secs_f64() / seconds / self.machines.len() as f64;
        (self.now, self.traffic)
    }

    /// The driver hears messages and sends jobs out.
    fn drive(&mut self, messages: Vec<Vec<u8>>) {
        let begin = self.now.max(self.driver_free);
        let mut jobs: BTreeMap<usize, Vec<Told>> = BTreeMap::new();
        let mut heard = messages.len();
        let bytes: usize = messages.iter().map(Vec::len).sum();
        let mut told: Vec<Told> = Vec::new();
        let begun = Instant::now();
        for message in messages {
            self.traffic.message_bytes += message.len() as u64;
            told.push(self.leader.hear(&message, begin).expect("a worker says what is sound"));
        }
        // Who waits is asked again; one name of a machine in vain is enough.
        for machine in 0..self.machines.len() {
            while let Some(name) = self.waiting[machine].pop() {
                let answer = self.leader.hello(name, begin);
                heard += 1;
                let waits = answer.order == Ordered::Wait;
                told.push(answer);
                if waits {
                    break;
                }
            }
        }
        self.leader_took.0 += begun.elapsed();
        self.leader_took.1 += heard as u64;
        for told in told {
            let machine = told.name as usize / (self.batches * self.batch);
            match told.order {
                Ordered::Search { .. } => jobs.entry(machine).or_default().push(told),
                Ordered::Wait => self.waiting[machine].push(told.name),
                Ordered::Quit => {}
            }
        }
        // What is heard and said is copied once more by the driver.
        let mut end = begin + self.costs.leader(heard) + self.costs.send(bytes);
        for (machine, jobs) in jobs {
            self.traffic.calls += 1;
            self.traffic.jobs += jobs.len() as u64;
            let size: usize = jobs.iter().map(|told| told.answer.len()).sum();
            self.traffic.message_bytes += size as u64;
            end += self.costs.call() + self.costs.send(size);
            self.at(end + self.costs.latency(), Event::Jobs(machine, jobs));
        }
        for (name, job) in self.leader.take_stops() {
            self.machines[name as usize / (self.batches * self.batch)].worker.call_off(job);
        }
        self.driver_busy += end - begin;
        self.driver_free = end;
    }

    /// Jobs come to a machine; what others know about them is asked for at once.
    fn receive(&mut self, number: usize, jobs: Vec<Told>) {
        self.machines[number].batches.push_back((self.now, jobs));
        self.search(number);
    }

    /// A machine searches the next batch.
    fn search(&mut self, number: usize) {
        let free = self.machines[number].free;
        if free > self.now {
            // Others have asked for entries meanwhile.
            return self.at(free, Event::Free(number));
        }
        let Some((came, jobs)) = self.machines[number].batches.pop_front() else { return };
        let mut time = self.now;
        let mut results = Vec::new();
        for told in jobs {
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
                // It was asked for when the job came.
                let there = time.max(came + self.costs.fetch(found.len()));
                if results.is_empty() {
                    self.go_on(number, there - free);
                }
                self.waited += there - time;
                time = there;
                time += self.costs.store(found.len(), self.threads);
                entries = Some(found);
            }
            if results.is_empty() && entries.is_none() {
                self.go_on(number, time - free);
            }
            let begun = Instant::now();
            let (message, nodes) = self.do_job(&told, number, entries.as_deref());
            self.searching += begun.elapsed();
            time += self.costs.store(told.answer.len(), self.threads);
            let machine = &mut self.machines[number];
            let took = self.costs.search(nodes, self.threads).mul_f64(machine.slow);
            machine.busy += took;
            time += took;
            results.push(message);
        }
        self.machines[number].free = time;
        self.at(time, Event::Free(number));
        self.at(time + self.costs.latency(), Event::Results(results));
    }

    /// What a worker has searched since it was free.
    fn go_on(&mut self, number: usize, idle: Duration) {
        let machine = &mut self.machines[number];
        let nodes = self.costs.nodes(idle.div_f64(machine.slow), self.threads);
        if self.goes_on && nodes > 0 {
            let before = (self.unit)(&machine.worker.counters());
            machine.worker.go_on(Some(nodes));
            let more = (self.unit)(&machine.worker.counters()) - before;
            let took = self.costs.search(more, self.threads).mul_f64(machine.slow);
            machine.busy += took.min(idle);
        }
    }

    /// What a worker says of a job, and the nodes that it took.
    fn do_job(&self, told: &Told, number: usize, entries: Option<&[u8]>) -> (Vec<u8>, u64) {
        let worker = self.machines[number].worker;
        let before = (self.unit)(&worker.counters());
        let message = worker.search(told.name, &told.answer, entries).expect("a job of the leader");
        (message, (self.unit)(&worker.counters()) - before)
    }
}
