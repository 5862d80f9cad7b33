//! Tests of the coordinator without threads: workers with tables of their own, a virtual clock, and a network that
//! loses, duplicates and delays messages.

use std::collections::{BinaryHeap, HashMap, HashSet};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::Value;
use crate::arena::Arena;
use crate::cluster::PlainTree;
use crate::cluster::shared_entry::{self, SharedEntry};
use crate::dfpn::{DfpnOptions, dfpn};
use crate::numbers::{Combination, Epsilon, Number};
use crate::plain::Root;
use crate::plain::game::{Child, Expansion, Game};
use crate::pn2::{Pn2Budget, Pn2Options};
use crate::pns::PnsOptions;
use crate::run::{Limits, Outcome};
use crate::split_mix::mix;
use crate::table::{Entry, Table};
use crate::testing::FaultRates;
use crate::testing::graph::GraphGame;
use crate::testing::graph::{large_game, random_game};
use crate::testing::negamax::Negamax;

type PlainRequest = Request<Vec<Child>>;
type PlainReply = Reply<u64>;

const COMBINATION: Combination = Combination::mixed(8);

const TREE: CoordinatorConfig =
    CoordinatorConfig { refresh_age: 10, virtual_loss_64: 4, ..CoordinatorConfig::REMOTE };

const DFPN: DfpnOptions = DfpnOptions {
    combination: Combination::mixed(8),
    epsilon: Epsilon::new(0.15),
    ..DfpnOptions::PLAIN
};

fn config(job_nodes: u64) -> CoordinatorConfig {
    CoordinatorConfig { job_nodes, max_results_in_reply: 7, ..CoordinatorConfig::LOCAL }
}

struct Worker {
    table: Table,
    job: Option<Job<u64>>,
    /// Request that is repeated until its reply arrives.
    request: Option<PlainRequest>,
    /// Number of the last request.
    serial: u64,
    received: usize,
    /// Job of the last cancellation.
    cancelled: JobId,
}

enum Event {
    /// A request with a serial number arrives at the coordinator.
    Request(u64, PlainRequest),
    /// The reply to the request with this serial number arrives at the worker.
    Reply(WorkerId, u64, PlainReply),
    /// A cancellation arrives at a worker.
    Cancel(WorkerId, JobId),
    /// The coordinator is informed of a crash.
    RemoveWorker(WorkerId),
    /// A worker takes its next step, unless it has created another request since.
    Step(WorkerId, u64),
    StartWorker,
}

/// Coordinator and workers, connected by a simulated network. Times are in milliseconds.
struct NetworkSimulation<'a> {
    game: &'a GraphGame,
    coordinator: Coordinator<PlainTree<'a, GraphGame>>,
    faults: FaultRates,
    workers: HashMap<WorkerId, Worker>,
    removed: HashSet<WorkerId>,
    started: u64,
    now: Duration,
    /// Times of the pending events, and their indices in `events`; the earliest first.
    queue: BinaryHeap<std::cmp::Reverse<(Duration, usize)>>,
    events: Vec<Option<Event>>,
    random: u64,
    job_ids: HashSet<JobId>,
    /// Number of jobs whose workers have crashed.
    lost_jobs: usize,
    /// Number of jobs assigned to a worker although another worker has searched the node's parent.
    moved_jobs: usize,
}

impl<'a> NetworkSimulation<'a> {
    fn new(
        game: &'a GraphGame,
        coordinator: Coordinator<PlainTree<'a, GraphGame>>,
        workers: u64,
        faults: FaultRates,
        seed: u64,
    ) -> Self {
        let mut simulation = NetworkSimulation {
            game,
            coordinator,
            faults,
            workers: HashMap::new(),
            removed: HashSet::new(),
            started: 0,
            now: Duration::ZERO,
            queue: BinaryHeap::new(),
            events: Vec::new(),
            random: seed,
            job_ids: HashSet::new(),
            lost_jobs: 0,
            moved_jobs: 0,
        };
        (0..workers).for_each(|number| simulation.schedule(100 * number, Event::StartWorker));
        simulation
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random += 1;
        mix(self.random) % below
    }

    fn schedule(&mut self, delay: u64, event: Event) {
        let time = self.now + Duration::from_millis(delay);
        self.queue.push(std::cmp::Reverse((time, self.events.len())));
        self.events.push(Some(event));
    }

    /// Sends a message, which arrives never, once or twice.
    fn send(&mut self, message: impl Fn() -> Event) {
        let FaultRates { loss, duplication, max_delay, .. } = self.faults;
        for chance in [256, duplication] {
            if self.random(256) < chance && self.random(256) >= loss {
                let delay = 1 + self.random(max_delay);
                self.schedule(delay, message());
            }
        }
    }

    fn run(&mut self) {
        while let Some(std::cmp::Reverse((time, index))) = self.queue.pop() {
            assert!(time < Duration::from_secs(100_000), "the search ends");
            self.now = time;
            match self.events[index].take().expect("an event is handled once") {
                Event::StartWorker => self.start_worker(),
                Event::Request(serial, request) => self.handle_request(serial, request),
                Event::RemoveWorker(worker) => {
                    self.removed.insert(worker);
                    self.coordinator.remove_worker(worker);
                }
                Event::Cancel(worker, job) => {
                    if let Some(worker) = self.workers.get_mut(&worker) {
                        worker.cancelled = job;
                    }
                }
                Event::Reply(worker, serial, reply) => self.handle_reply(worker, serial, reply),
                Event::Step(worker, serial) => self.step(worker, serial),
            }
        }
        assert_eq!(self.coordinator.jobs(), 0);
        assert_eq!((self.coordinator.granted, self.coordinator.assigned.len()), (0, 0));
    }

    fn start_worker(&mut self) {
        self.started += 1;
        let table = Table::new(1 << 14).unwrap();
        let worker =
            Worker { table, job: None, request: None, serial: 0, received: 0, cancelled: 0 };
        self.workers.insert(self.started, worker);
        self.request(self.started, WorkerState::Idle, Vec::new(), 0);
    }

    /// Creates a request, which the worker sends after a delay and repeats until its reply arrives.
    fn request(
        &mut self,
        id: WorkerId,
        state: WorkerState<Vec<Child>>,
        results: Vec<u8>,
        delay: u64,
    ) {
        let worker = self.workers.get_mut(&id).unwrap();
        worker.serial += 1;
        let (serial, received) = (worker.serial, worker.received);
        worker.request = Some(Request { worker: id, results, received, state });
        self.schedule(delay, Event::Step(id, serial));
    }

    fn step(&mut self, id: WorkerId, serial: u64) {
        if self.workers.get(&id).is_none_or(|worker| worker.serial != serial) {
            return;
        }
        if self.random(256) < self.faults.crash {
            let worker = self.workers.remove(&id).unwrap();
            self.lost_jobs += usize::from(worker.job.is_some());
            let delay = self.random(2 * self.faults.max_delay);
            self.schedule(delay, Event::RemoveWorker(id));
            return self.schedule(500, Event::StartWorker);
        }
        if let Some(request) = self.workers[&id].request.clone() {
            self.send(|| Event::Request(serial, request.clone()));
            let timeout = 3 * self.faults.max_delay;
            return self.schedule(timeout, Event::Step(id, serial));
        }
        let (state, results) = self.search(id);
        self.request(id, state, results, 5);
    }

    /// Searches the job of a worker.
    fn search(&mut self, id: WorkerId) -> (WorkerState<Vec<Child>>, Vec<u8>) {
        let game = self.game;
        let worker = self.workers.get_mut(&id).unwrap();
        let Job { id: job, node, budget, .. } = worker.job.take().unwrap();
        let table = &worker.table;
        let limits = Limits { nodes: Some(budget), ..Limits::default() };
        let report = dfpn(Root::new(game, node, table), DFPN, limits, &mut ());
        let nodes = report.counters.nodes - 1;
        let spent = Counters { nodes, expansions: report.counters.expansions, ..spent(0) };
        let lookup = |code| table.lookup(game.key(code), code);
        let mut children = Vec::new();
        let outcome = match report.outcome {
            Outcome::Known(value) => JobOutcome::Solved(value, report.best),
            Outcome::Unknown(_) if worker.cancelled == job => JobOutcome::Stopped,
            Outcome::Unknown(_) => {
                assert_eq!(game.expand(node, &mut (), &mut children, |_| {}), Expansion::Open);
                for child in &mut children {
                    if let Some(entry) = lookup(child.code) {
                        (child.phi, child.delta) = (entry.phi, entry.delta);
                    }
                }
                children.retain(|child| child.phi != 0);
                match children.iter().find(|child| child.delta == 0) {
                    Some(lost) => JobOutcome::Solved(Value::Win, Some(lost.code)),
                    None if children.is_empty() => JobOutcome::Solved(Value::Loss, None),
                    None => JobOutcome::Open(children.clone()),
                }
            }
        };
        let codes = children.iter().map(|child| child.code).chain([node]);
        let results = codes.filter_map(|code| Some(SharedEntry { code, entry: lookup(code)? }));
        let results: Vec<SharedEntry> = results.collect();
        (WorkerState::Done { job, outcome, spent }, shared_entry::to_bytes(&results))
    }

    fn handle_request(&mut self, serial: u64, request: PlainRequest) {
        let worker = request.worker;
        if self.removed.contains(&worker) {
            return;
        }
        let reply = self.coordinator.handle(request);
        if let Instruction::Search(Job { id: job, last, .. }) = &reply.instruction {
            self.job_ids.insert(*job);
            self.moved_jobs += usize::from(last.is_some_and(|last| last != worker));
        }
        self.send(|| Event::Reply(worker, serial, reply.clone()));
        let cancelled: Vec<_> = self.coordinator.take_cancelled().collect();
        for (worker, job) in cancelled {
            self.send(|| Event::Cancel(worker, job));
        }
    }

    /// Handles a reply, if it is the one to the worker's last request.
    fn handle_reply(&mut self, id: WorkerId, serial: u64, reply: PlainReply) {
        let Some(worker) = self.workers.get_mut(&id) else { return };
        if worker.request.is_none() || worker.serial != serial {
            return;
        }
        worker.request = None;
        worker.received = reply.received;
        for SharedEntry { code, entry } in shared_entry::from_bytes(&reply.results).unwrap() {
            worker.table.store(self.game.key(code), code, entry);
        }
        match reply.instruction {
            Instruction::Search(job) => worker.job = Some(job),
            Instruction::Wait => return self.request(id, WorkerState::Idle, Vec::new(), 20),
            Instruction::Quit => {
                // The worker may have been assigned a job in a reply that was lost.
                self.workers.remove(&id);
                return self.schedule(0, Event::RemoveWorker(id));
            }
        }
        self.schedule(0, Event::Step(id, serial));
    }
}

/// Returns a tree below position 0.
fn tree<'a>(game: &'a GraphGame, table: &'a Table) -> PlainTree<'a, GraphGame> {
    let arena = Arena::new(1 << 20).unwrap();
    PlainTree::new(Root::new(game, 0, table), arena, COMBINATION, TREE)
}

/// Runs a search with workers that are started one after the other.
fn run(
    game: &GraphGame,
    config: CoordinatorConfig,
    workers: u64,
    faults: FaultRates,
    seed: u64,
) -> Summary {
    let table = Table::new(1 << 14).unwrap();
    let coordinator = Coordinator::new(tree(game, &table), config, 0);
    let mut simulation = NetworkSimulation::new(game, coordinator, workers, faults, seed);
    simulation.run();
    let NetworkSimulation { coordinator, job_ids, lost_jobs, moved_jobs, .. } = simulation;
    assert!(coordinator.is_over());
    assert_eq!(job_ids.len() as u64, coordinator.next_job - 1, "every id is assigned once");
    let results = coordinator.log.iter().flat_map(|logged| results(&logged.results.bytes));
    let results = results.collect();
    let (reason, counters) = (coordinator.reason(), coordinator.counters());
    assert_eq!(counters.nodes, counters.first_level + counters.second_level);
    let report = coordinator.tree.report(reason, counters, 1);
    Summary { outcome: report.outcome, best: report.best, counters, results, lost_jobs, moved_jobs }
}

fn results(bytes: &[u8]) -> Vec<SharedEntry> {
    shared_entry::from_bytes(bytes).unwrap()
}

struct Summary {
    outcome: Outcome,
    best: Option<u64>,
    counters: Counters,
    results: Vec<SharedEntry>,
    lost_jobs: usize,
    moved_jobs: usize,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn searches_with_faults_return_the_value_of_negamax(
        seed in 0u64..1000,
        workers in 1u64..9,
        budget in 2u64..40,
        (loss, duplication, crash) in (0u64..130, 0u64..200, 0u64..20),
        max_delay in 1u64..100,
    ) {
        let game = random_game(seed);
        let mut oracle = Negamax::new(&game);
        let faults = FaultRates { loss, duplication, crash, max_delay };
        let summary = run(&game, config(budget), workers, faults, seed);
        let value = oracle.value(0);
        prop_assert_eq!(summary.outcome, Outcome::Known(value));
        if value == Value::Win {
            prop_assert_eq!(oracle.value(summary.best.unwrap()), Value::Loss);
        }
        for SharedEntry { code, entry } in summary.results {
            prop_assert!(entry.value().is_none_or(|value| value == oracle.value(code)));
        }
    }
}

#[test]
fn the_faults_of_the_test_above_occur() {
    let faults = FaultRates { loss: 60, duplication: 100, crash: 30, max_delay: 50 };
    let (mut lost_jobs, mut moved_jobs, mut results, mut large) = (0, 0, 0, 0);
    for seed in 0..20 {
        let summary = run(&random_game(seed), config(6), 5, faults, seed);
        lost_jobs += summary.lost_jobs;
        moved_jobs += summary.moved_jobs;
        results += summary.results.len();
        large += usize::from(summary.counters.first_level > 10);
    }
    assert!(
        lost_jobs > 5 && moved_jobs > 50 && results > 40 && large > 5,
        "{lost_jobs} {moved_jobs} {results} {large}"
    );
}

#[test]
fn the_node_limit_applies_to_all_workers_together() {
    let game = large_game();
    for limit in [0, 1, 2, 50, 1000] {
        for nodes in [2, 30, 1000] {
            let config = CoordinatorConfig { node_limit: Some(limit), ..config(nodes) };
            let Summary { outcome, counters, .. } = run(&game, config, 7, FaultRates::NONE, 1);
            assert_eq!(outcome, Outcome::Unknown(Reason::NodeLimit));
            // The last job of a worker exceeds its budget by at most one expansion.
            assert!(counters.nodes <= limit.max(1) + 7 * 58, "{limit}: {}", counters.nodes);
        }
    }
}

/// Calls `test` with a coordinator of the large game.
fn with_coordinator(test: impl FnOnce(&mut Coordinator<PlainTree<'_, GraphGame>>)) {
    with_config(config(30), test);
}

fn with_config(
    config: CoordinatorConfig,
    test: impl FnOnce(&mut Coordinator<PlainTree<'_, GraphGame>>),
) {
    let (game, table) = (large_game(), Table::new(1 << 14).unwrap());
    test(&mut Coordinator::new(tree(&game, &table), config, 0));
}

fn message(worker: WorkerId, state: WorkerState<Vec<Child>>) -> PlainRequest {
    Request { worker, results: Vec::new(), received: 0, state }
}

fn children(codes: std::ops::Range<u64>) -> JobOutcome<Vec<Child>> {
    JobOutcome::Open(codes.map(|code| Child { code, phi: 1, delta: 1, effort: 0 }).collect())
}

/// Returns the job in a reply.
fn job(reply: &PlainReply) -> Job<u64> {
    match &reply.instruction {
        Instruction::Search(job) => job.clone(),
        instruction => panic!("{instruction:?}"),
    }
}

fn spent(nodes: u64) -> Counters {
    Counters { nodes, expansions: nodes, ..Counters::default() }
}

#[test]
fn jobs_of_lost_workers_are_free_and_duplicates_count_once() {
    with_coordinator(|coordinator| {
        let first = job(&coordinator.handle(message(1, WorkerState::Idle)));
        assert_eq!(job(&coordinator.handle(message(1, WorkerState::Idle))), first);
        assert_eq!(
            coordinator.handle(message(2, WorkerState::Idle)).instruction,
            Instruction::Wait
        );
        coordinator.remove_worker(1);
        assert_eq!((coordinator.jobs(), coordinator.granted), (0, 0));
        let other = job(&coordinator.handle(message(2, WorkerState::Idle)));
        assert_eq!((other.node, other.last), (first.node, None));
        assert!(other.id > first.id);
        // Shared results are added even if the job of the request has ended, but only once.
        let late = WorkerState::Done { job: first.id, outcome: children(1..4), spent: spent(9) };
        let result = SharedEntry { code: 77, entry: Entry::solved(Value::Win, 3) };
        let results = shared_entry::to_bytes(&[result, result]);
        let late = Request { results, ..message(2, late) };
        assert_eq!(coordinator.handle(late).instruction, Instruction::Wait);
        assert_eq!(job(&coordinator.handle(message(2, WorkerState::Idle))), other);
        assert_eq!(
            (coordinator.counters().nodes, coordinator.tree.nodes(), coordinator.results()),
            (1, 1, 1)
        );
        let done = WorkerState::Done { job: other.id, outcome: children(1..4), spent: spent(9) };
        let next = job(&coordinator.handle(message(2, done.clone())));
        let counters = coordinator.counters();
        assert_eq!((counters.nodes, counters.first_level, counters.second_level), (10, 4, 6));
        assert_eq!(coordinator.handle(message(2, done)).instruction, Instruction::Wait);
        assert_eq!(job(&coordinator.handle(message(2, WorkerState::Idle))), next);
        assert_eq!((coordinator.counters(), coordinator.jobs()), (counters, 1));
        // A new worker receives the id of the worker that has searched the parent, and all results.
        let reply = coordinator.handle(message(3, WorkerState::Idle));
        let results = shared_entry::to_bytes(&[result]);
        assert_eq!((job(&reply).last, reply.results, reply.received), (Some(2), results, 1));
    });
}

#[test]
fn late_workers_receive_the_latest_results() {
    with_coordinator(|coordinator| {
        coordinator.config.max_results_stored = 3;
        let shared = |codes: &[u64]| {
            let result = |&code| SharedEntry { code, entry: Entry::solved(Value::Win, 3) };
            let results: Vec<SharedEntry> = codes.iter().map(result).collect();
            SharedResults { count: results.len(), bytes: shared_entry::to_bytes(&results) }
        };
        coordinator.share((0..5).map(|code| shared(&[code])));
        assert_eq!((coordinator.results(), coordinator.log.len()), (5, 3));
        let reply = coordinator.handle(message(1, WorkerState::Idle));
        assert_eq!((reply.results, reply.received), (shared(&[2, 3, 4]).bytes, 5));
        coordinator.share([shared(&[5])]);
        for (received, results) in
            [(0, &[3, 4, 5][..]), (4, &[4, 5]), (5, &[5]), (6, &[]), (9, &[])]
        {
            let reply = coordinator.handle(Request { received, ..message(1, WorkerState::Idle) });
            assert_eq!((reply.results, reply.received), (shared(results).bytes, received.max(6)));
        }
        // The results of one request are neither divided nor dropped in part.
        coordinator.share([shared(&[6, 7, 8, 9]), shared(&[10])]);
        coordinator.config.max_results_in_reply = 2;
        for (received, results, after) in
            [(5, &[6, 7, 8, 9][..], 10), (8, &[6, 7, 8, 9], 10), (10, &[10], 11), (11, &[], 11)]
        {
            let reply = coordinator.handle(Request { received, ..message(1, WorkerState::Idle) });
            assert_eq!((reply.results, reply.received), (shared(results).bytes, after));
        }
    });
}

/// Attaches children with these codes and deltas to the best leaf, as results of `worker`. Returns the leaf's code.
fn attach(
    coordinator: &mut Coordinator<PlainTree<'_, GraphGame>>,
    worker: WorkerId,
    children: &[(u64, Number)],
) -> u64 {
    let child = |&(code, delta)| Child { code, phi: 8, delta, effort: 0 };
    let children = children.iter().map(child).collect();
    let Selection::Leaf { leaf, code, .. } = coordinator.tree.select() else {
        panic!("a leaf is free")
    };
    coordinator.tree.release(&leaf);
    coordinator.tree.attach(&leaf, &children, 1, worker).unwrap();
    code
}

/// Calls `test` with a tree in which leaf 1 is the best one. Worker 7 has searched the parent of leaf 1, and worker 2
/// that of leaves 20 and 21.
fn with_searched_parents(test: impl Fn(&mut Coordinator<PlainTree<'_, GraphGame>>)) {
    with_coordinator(|coordinator| {
        assert_eq!(attach(coordinator, 7, &[(1, 5), (2, 4)]), 0);
        assert_eq!(attach(coordinator, 2, &[(20, 1), (21, 2)]), 2);
        test(coordinator);
    });
}

#[test]
fn a_worker_receives_a_leaf_whose_parent_it_has_searched_among_the_best() {
    for (leaves_compared, expected) in [(1, 1), (2, 20), (3, 20)] {
        with_searched_parents(|coordinator| {
            coordinator.config.leaves_compared = leaves_compared;
            let next = job(&coordinator.handle(message(2, WorkerState::Idle)));
            assert_eq!(next.node, expected);
            // The deferred leaves are free.
            let others =
                [3, 4].map(|worker| coordinator.handle(message(worker, WorkerState::Idle)));
            let mut codes = others.map(|reply| job(&reply).node).to_vec();
            codes.push(next.node);
            codes.sort_unstable();
            assert_eq!(codes, [1, 20, 21]);
        });
    }
}

#[test]
fn leaves_are_deferred_a_limited_number_of_times() {
    with_searched_parents(|coordinator| {
        coordinator.config.leaves_compared = 3;
        let mut state = WorkerState::Idle;
        for (node, last) in [(20, None), (20, None), (1, Some(7))] {
            let next = job(&coordinator.handle(message(2, state)));
            assert_eq!((next.node, next.last), (node, last));
            let (outcome, spent) = (JobOutcome::Stopped, spent(1));
            state = WorkerState::Done { job: next.id, outcome, spent };
        }
    });
}

/// If leaves were still deferred to a lost worker, they would not be searched as long as there are other
/// leaves.
#[test]
fn leaves_are_not_deferred_to_a_lost_worker() {
    with_searched_parents(|coordinator| {
        coordinator.config.leaves_compared = 3;
        coordinator.remove_worker(7);
        let next = job(&coordinator.handle(message(2, WorkerState::Idle)));
        assert_eq!((next.node, next.last), (1, None));
        let next = job(&coordinator.handle(message(3, WorkerState::Idle)));
        assert_eq!((next.node, next.last), (20, Some(2)));
    });
}

#[test]
fn memory_for_leaves_is_bounded_by_the_tree() {
    with_coordinator(|coordinator| {
        let mut next = job(&coordinator.handle(message(1, WorkerState::Idle)));
        let done = |coordinator: &mut Coordinator<_>, next: &Job<u64>, outcome| {
            let (job, spent) = (next.id, spent(1));
            self::job(&coordinator.handle(message(1, WorkerState::Done { job, outcome, spent })))
        };
        let child = |code| Child { code, phi: 1, delta: 1 << 20, effort: 0 };
        next = done(coordinator, &next, JobOutcome::Open((1..301).map(child).collect()));
        // One by one, children of the root are won because one of their children is lost, and leave the tree.
        for round in 0..299 {
            next = done(coordinator, &next, children(1000 + 100 * round..1100 + 100 * round));
            next = done(coordinator, &next, JobOutcome::Solved(Value::Loss, None));
        }
        assert_eq!(coordinator.tree.nodes(), 2);
        let bytes = coordinator.bytes() + coordinator.tree.own_bytes();
        assert!(bytes < 1000, "{bytes}");
    });
}

#[test]
fn jobs_below_solved_nodes_are_cancelled_and_the_end_cancels_all() {
    cancellations(true);
}

/// In the thesis (section 3.7.1), no signal stops a second-level search below a solved node.
#[test]
fn published_pn2_cancels_jobs_only_at_the_end() {
    cancellations(false);
}

fn cancellations(cancel_jobs: bool) {
    let pn2 = Pn2Options {
        pns: PnsOptions::PLAIN,
        budget: Pn2Budget::Size,
        virtual_loss_64: 0,
        cancel_jobs,
    };
    with_config(CoordinatorConfig { pn2: Some(pn2), ..config(30) }, |coordinator| {
        let mut handle = |worker, state| {
            let reply = coordinator.handle(message(worker, state));
            (reply, coordinator.take_cancelled().collect::<Vec<_>>())
        };
        let root = job(&handle(1, WorkerState::Idle).0).id;
        let (reply, _) =
            handle(1, WorkerState::Done { job: root, outcome: children(1..3), spent: spent(3) });
        let one = job(&reply);
        let outcome = children(10 * one.node..10 * one.node + 2);
        let (reply, _) = handle(1, WorkerState::Done { job: one.id, outcome, spent: spent(3) });
        let first = job(&reply);
        let jobs = [2, 3].map(|worker| job(&handle(worker, WorkerState::Idle).0));
        let below = jobs.iter().position(|job| job.node >= 10).unwrap();
        let other = jobs[1 - below].clone();
        assert!(first.node >= 10 && other.node < 10);
        // A lost leaf wins its parent. So the other leaf of this parent leaves the tree too.
        let outcome = JobOutcome::Solved(Value::Loss, None);
        let (reply, cancelled) =
            handle(1, WorkerState::Done { job: first.id, outcome, spent: spent(3) });
        assert_eq!(reply.instruction, Instruction::Wait);
        let job_below = (2 + below as u64, jobs[below].id);
        let other_job = (3 - below as u64, other.id);
        assert_eq!(cancelled, if cancel_jobs { vec![job_below] } else { vec![] });
        coordinator.end(Reason::Interrupted);
        let all: Vec<_> = coordinator.take_cancelled().collect();
        let expected = if cancel_jobs { vec![other_job] } else { vec![job_below, other_job] };
        assert_eq!(all.len(), expected.len());
        assert!(expected.iter().all(|job| all.contains(job)));
        for (worker, Job { id: job, .. }) in [2, 3].into_iter().zip(jobs) {
            let done = WorkerState::Done { job, outcome: JobOutcome::Stopped, spent: spent(1) };
            let reply = coordinator.handle(message(worker, done));
            assert_eq!(reply.instruction, Instruction::Quit);
        }
        assert_eq!((coordinator.jobs(), coordinator.reason()), (0, Some(Reason::Interrupted)));
    });
}
