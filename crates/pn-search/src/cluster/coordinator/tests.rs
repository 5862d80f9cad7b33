//! The leader without threads: workers with tables of their own, a virtual clock, and a network that
//! loses, doubles and delays.

use std::collections::{BinaryHeap, HashMap, HashSet};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::LeafSolverOptions;
use crate::Value;
use crate::cluster::{PlainTree, SharedEntry};
use crate::dfpn::{DfpnOptions, dfpn};
use crate::numbers::Combination;
use crate::numbers::Number;
use crate::plain::Root;
use crate::plain::game::{Child, Expansion, Game};
use crate::run::{Limits, Outcome};
use crate::snapshot::{SavedTree, TreeRoom, TreeSnapshots};
use crate::split_mix::mix;
use crate::table::{Entry, Table};
use crate::testing::graph::GraphGame;
use crate::testing::graph::{large_game, random_game};
use crate::testing::negamax::Negamax;

type Said = Request<Vec<Child>, SharedEntry>;
type Heard = Reply<u64, SharedEntry>;

const COMBINATION: Combination = Combination { weight_64: 8 };

const TREE: CoordinatorConfig =
    CoordinatorConfig { refresh_age: 10, virtual_loss_64: 4, ..CoordinatorConfig::REMOTE };

const DFPN: DfpnOptions = DfpnOptions {
    combination: Combination { weight_64: 8 },
    epsilon_1024: 154,
    settle: LeafSolverOptions::NEVER,
    tries: u32::MAX,
    virtual_1024: 0,
};

fn config(job_nodes: u64) -> CoordinatorConfig {
    CoordinatorConfig { job_nodes, max_results_in_reply: 7, ..CoordinatorConfig::LOCAL }
}

struct Worker {
    table: Table,
    /// Its job.
    search: Option<Job<u64>>,
    /// What it says until there is an answer.
    said: Option<Said>,
    /// The number of its last message.
    serial: u64,
    received: usize,
    /// The job that it has been told to stop.
    cancelled: JobId,
}

enum Event {
    /// A worker's message of a number comes to the leader.
    Said(u64, Said),
    /// The answer to it comes back.
    Heard(WorkerId, u64, Heard),
    Stop(WorkerId, JobId),
    /// The leader hears that a worker is dead.
    Lost(WorkerId),
    /// A worker does what it is to do next, unless it has said something since.
    Turn(WorkerId, u64),
    Birth,
}

/// What goes wrong, each in 1/256.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    loss: u64,
    doubling: u64,
    death: u64,
    /// The longest delay of a message in milliseconds.
    delay: u64,
}

struct World<'a> {
    game: &'a GraphGame,
    leader: Coordinator<PlainTree<'a, GraphGame>>,
    trouble: Trouble,
    workers: HashMap<WorkerId, Worker>,
    /// Those that the leader knows to be dead.
    buried: HashSet<WorkerId>,
    born: u64,
    now: Duration,
    /// Times and places of events; the earliest comes first.
    queue: BinaryHeap<std::cmp::Reverse<(Duration, usize)>>,
    events: Vec<Option<Event>>,
    random: u64,
    names: HashSet<JobId>,
    /// Jobs that were given to somebody who did not see them through.
    lost: usize,
    moved: usize,
}

impl<'a> World<'a> {
    fn new(
        game: &'a GraphGame,
        leader: Coordinator<PlainTree<'a, GraphGame>>,
        workers: u64,
        trouble: Trouble,
        seed: u64,
    ) -> Self {
        let mut world = World {
            game,
            leader,
            trouble,
            workers: HashMap::new(),
            buried: HashSet::new(),
            born: 0,
            now: Duration::ZERO,
            queue: BinaryHeap::new(),
            events: Vec::new(),
            random: seed,
            names: HashSet::new(),
            lost: 0,
            moved: 0,
        };
        (0..workers).for_each(|number| world.at(100 * number, Event::Birth));
        world
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random += 1;
        mix(self.random) % below
    }

    /// Something happens in so many milliseconds.
    fn at(&mut self, after: u64, event: Event) {
        let time = self.now + Duration::from_millis(after);
        self.queue.push(std::cmp::Reverse((time, self.events.len())));
        self.events.push(Some(event));
    }

    /// Sends something; it comes never, once or twice.
    fn send(&mut self, make: impl Fn() -> Event) {
        let Trouble { loss, doubling, delay, .. } = self.trouble;
        for chance in [256, doubling] {
            if self.random(256) < chance && self.random(256) >= loss {
                let after = 1 + self.random(delay);
                self.at(after, make());
            }
        }
    }

    fn run(&mut self) {
        while let Some(std::cmp::Reverse((time, place))) = self.queue.pop() {
            assert!(time < Duration::from_secs(100_000), "the search comes to an end");
            self.now = time;
            match self.events[place].take().expect("an event happens once") {
                Event::Birth => self.give_birth(),
                Event::Said(serial, message) => self.hear(serial, message),
                Event::Lost(worker) => {
                    self.buried.insert(worker);
                    self.leader.remove_worker(worker);
                }
                Event::Stop(worker, job) => {
                    if let Some(worker) = self.workers.get_mut(&worker) {
                        worker.cancelled = job;
                    }
                }
                Event::Heard(worker, serial, answer) => self.obey(worker, serial, answer),
                Event::Turn(worker, serial) => self.turn(worker, serial),
            }
        }
        assert_eq!(self.leader.jobs(), 0);
        assert_eq!((self.leader.granted, self.leader.assigned.len()), (0, 0));
    }

    fn give_birth(&mut self) {
        self.born += 1;
        let table = Table::new(1 << 14).unwrap();
        let worker =
            Worker { table, search: None, said: None, serial: 0, received: 0, cancelled: 0 };
        self.workers.insert(self.born, worker);
        self.say(self.born, WorkerState::Idle, Vec::new(), 0);
    }

    /// A worker says something in so many milliseconds, and again until it is answered.
    fn say(
        &mut self,
        name: WorkerId,
        state: WorkerState<Vec<Child>>,
        results: Vec<SharedEntry>,
        after: u64,
    ) {
        let worker = self.workers.get_mut(&name).unwrap();
        worker.serial += 1;
        let (serial, received) = (worker.serial, worker.received);
        worker.said = Some(Request { worker: name, results, received, state });
        self.at(after, Event::Turn(name, serial));
    }

    fn turn(&mut self, name: WorkerId, serial: u64) {
        if self.workers.get(&name).is_none_or(|worker| worker.serial != serial) {
            return;
        }
        if self.random(256) < self.trouble.death {
            let worker = self.workers.remove(&name).unwrap();
            self.lost += usize::from(worker.search.is_some());
            let after = self.random(2 * self.trouble.delay);
            self.at(after, Event::Lost(name));
            return self.at(500, Event::Birth);
        }
        if let Some(said) = self.workers[&name].said.clone() {
            self.send(|| Event::Said(serial, said.clone()));
            let patience = 3 * self.trouble.delay;
            return self.at(patience, Event::Turn(name, serial));
        }
        let (state, results) = self.search(name);
        self.say(name, state, results, 5);
    }

    /// A worker searches its job.
    fn search(&mut self, name: WorkerId) -> (WorkerState<Vec<Child>>, Vec<SharedEntry>) {
        let game = self.game;
        let worker = self.workers.get_mut(&name).unwrap();
        let Job { id: job, node, budget, .. } = worker.search.take().unwrap();
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
        let results = results.collect();
        (WorkerState::Done { job, outcome, spent }, results)
    }

    fn hear(&mut self, serial: u64, message: Said) {
        let worker = message.worker;
        if self.buried.contains(&worker) {
            return;
        }
        let answer = self.leader.handle(message);
        if let Instruction::Search(Job { id: job, last, .. }) = &answer.instruction {
            self.names.insert(*job);
            self.moved += usize::from(last.is_some_and(|last| last != worker));
        }
        self.send(|| Event::Heard(worker, serial, answer.clone()));
        let stops: Vec<_> = self.leader.take_cancelled().collect();
        for (worker, job) in stops {
            self.send(|| Event::Stop(worker, job));
        }
    }

    /// A worker takes an answer, if it is one to its last message.
    fn obey(&mut self, name: WorkerId, serial: u64, answer: Heard) {
        let Some(worker) = self.workers.get_mut(&name) else { return };
        if worker.said.is_none() || worker.serial != serial {
            return;
        }
        worker.said = None;
        worker.received = answer.received;
        for SharedEntry { code, entry } in answer.results {
            worker.table.store(self.game.key(code), code, entry);
        }
        match answer.instruction {
            Instruction::Search(search) => worker.search = Some(search),
            Instruction::Wait => return self.say(name, WorkerState::Idle, Vec::new(), 20),
            Instruction::Quit => {
                // What it may have been given without hearing of it is over as well.
                self.workers.remove(&name);
                return self.at(0, Event::Lost(name));
            }
        }
        self.at(0, Event::Turn(name, serial));
    }
}

/// A tree to begin with.
fn empty() -> SavedTree {
    SavedTree::empty(TreeRoom::new(1 << 20, 4, COMBINATION)).unwrap()
}

/// Searches with workers that come one after the other.
fn run(
    game: &GraphGame,
    config: CoordinatorConfig,
    workers: u64,
    trouble: Trouble,
    seed: u64,
) -> Summary {
    let table = Table::new(1 << 14).unwrap();
    let port = TreeSnapshots::new();
    let tree = PlainTree::new(Root::new(game, 0, &table), empty(), COMBINATION, TREE, &port);
    let mut world = World::new(game, Coordinator::new(tree, config, 0), workers, trouble, seed);
    world.run();
    let World { leader, names, lost, moved, .. } = world;
    assert!(leader.is_over());
    assert_eq!(names.len() as u64, leader.next_job - 1, "no name twice, and none for nothing");
    let results = leader.log.iter().map(|&(_, fact)| fact).collect();
    let (reason, counters) = (leader.reason(), leader.counters());
    assert_eq!(counters.nodes, counters.first_level + counters.second_level);
    let report = leader.tree.report(reason, counters, 1);
    Summary { outcome: report.outcome, best: report.best, counters, results, lost, moved }
}

struct Summary {
    outcome: Outcome,
    best: Option<u64>,
    counters: Counters,
    results: Vec<SharedEntry>,
    lost: usize,
    moved: usize,
}

const NONE: Trouble = Trouble { loss: 0, doubling: 0, death: 0, delay: 1 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_happens_the_right_winner_comes_out(
        seed in 0u64..1000,
        workers in 1u64..9,
        budget in 2u64..40,
        (loss, doubling, death) in (0u64..130, 0u64..200, 0u64..20),
        delay in 1u64..100,
    ) {
        let game = random_game(seed);
        let mut oracle = Negamax::new(&game);
        let trouble = Trouble { loss, doubling, death, delay };
        let summary = run(&game, config(budget), workers, trouble, seed);
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
fn the_troubles_of_the_test_above_do_occur() {
    let trouble = Trouble { loss: 60, doubling: 100, death: 30, delay: 50 };
    let (mut lost, mut moved, mut results, mut large) = (0, 0, 0, 0);
    for seed in 0..20 {
        let summary = run(&random_game(seed), config(6), 5, trouble, seed);
        lost += summary.lost;
        moved += summary.moved;
        results += summary.results.len();
        large += usize::from(summary.counters.first_level > 10);
    }
    assert!(
        lost > 5 && moved > 50 && results > 40 && large > 5,
        "{lost} {moved} {results} {large}"
    );
}

#[test]
fn node_limits_hold_for_all_workers_together() {
    let game = large_game();
    for limit in [0, 1, 2, 50, 1000] {
        let config = CoordinatorConfig { node_limit: Some(limit), ..config(30) };
        let Summary { outcome, counters, .. } = run(&game, config, 7, NONE, 1);
        assert_eq!(outcome, Outcome::Unknown(Reason::NodeLimit));
        // A job is overrun by an expansion.
        assert!(counters.nodes <= limit.max(1) + 7 * 58, "{limit}: {}", counters.nodes);
    }
}

/// A leader and what it needs, with the large game.
fn with_leader(test: impl FnOnce(&mut Coordinator<PlainTree<'_, GraphGame>>)) {
    let (game, table, port) = (large_game(), Table::new(1 << 14).unwrap(), TreeSnapshots::new());
    let tree = PlainTree::new(Root::new(&game, 0, &table), empty(), COMBINATION, TREE, &port);
    test(&mut Coordinator::new(tree, config(30), 0));
}

fn message(worker: WorkerId, state: WorkerState<Vec<Child>>) -> Said {
    Request { worker, results: Vec::new(), received: 0, state }
}

fn children(codes: std::ops::Range<u64>) -> JobOutcome<Vec<Child>> {
    JobOutcome::Open(codes.map(|code| Child { code, phi: 1, delta: 1, effort: 0 }).collect())
}

/// The job of an answer.
fn job(answer: &Heard) -> Job<u64> {
    match &answer.instruction {
        Instruction::Search(search) => search.clone(),
        order => panic!("{order:?}"),
    }
}

fn spent(nodes: u64) -> Counters {
    Counters { nodes, expansions: nodes, ..Counters::default() }
}

#[test]
fn what_a_lost_worker_had_is_anybodys_and_what_comes_twice_counts_once() {
    with_leader(|leader| {
        let first = job(&leader.handle(message(1, WorkerState::Idle)));
        assert_eq!(job(&leader.handle(message(1, WorkerState::Idle))), first);
        assert_eq!(leader.handle(message(2, WorkerState::Idle)).instruction, Instruction::Wait);
        leader.remove_worker(1);
        assert_eq!((leader.jobs(), leader.granted), (0, 0));
        let other = job(&leader.handle(message(2, WorkerState::Idle)));
        assert_eq!((other.node, other.last), (first.node, None));
        assert!(other.id > first.id);
        // Facts are true whatever job they come with, once.
        let late = WorkerState::Done { job: first.id, outcome: children(1..4), spent: spent(9) };
        let fact = SharedEntry { code: 77, entry: Entry::solved(Value::Win, 3) };
        let late = Request { results: vec![fact, fact], ..message(2, late) };
        assert_eq!(job(&leader.handle(late)), other);
        assert_eq!((leader.counters().nodes, leader.tree.nodes(), leader.results()), (1, 1, 1));
        let done = WorkerState::Done { job: other.id, outcome: children(1..4), spent: spent(9) };
        let next = job(&leader.handle(message(2, done.clone())));
        let counters = leader.counters();
        assert_eq!((counters.nodes, counters.first_level, counters.second_level), (10, 4, 6));
        assert_eq!(job(&leader.handle(message(2, done))), next);
        assert_eq!((leader.counters(), leader.jobs()), (counters, 1));
        // Whoever comes now learns who has searched the parent, and all results.
        let answer = leader.handle(message(3, WorkerState::Idle));
        assert_eq!((job(&answer).last, answer.results, answer.received), (Some(2), vec![fact], 1));
    });
}

#[test]
fn who_reads_late_gets_the_latest_facts() {
    with_leader(|leader| {
        leader.config.max_results_stored = 3;
        let fact = |code| SharedEntry { code, entry: Entry::solved(Value::Win, 3) };
        leader.share((0..5).map(fact));
        assert_eq!((leader.results(), leader.log.len()), (5, 3));
        let answer = leader.handle(message(1, WorkerState::Idle));
        assert_eq!((answer.results, answer.received), ([2, 3, 4].map(fact).to_vec(), 5));
        leader.share([fact(5)]);
        for (received, results) in
            [(0, &[3, 4, 5][..]), (4, &[4, 5]), (5, &[5]), (6, &[]), (9, &[])]
        {
            let answer = leader.handle(Request { received, ..message(1, WorkerState::Idle) });
            let results: Vec<_> = results.iter().map(|&code| fact(code)).collect();
            assert_eq!((answer.results, answer.received), (results, received.max(6)));
        }
    });
}

/// The best leaf gets children with these codes and deltas, as a worker tells.
fn tell(
    leader: &mut Coordinator<PlainTree<'_, GraphGame>>,
    worker: WorkerId,
    children: &[(u64, Number)],
) -> u64 {
    let child = |&(code, delta)| Child { code, phi: 8, delta, effort: 0 };
    let children = children.iter().map(child).collect();
    let Selection::Leaf { leaf, code, .. } = leader.tree.select() else { panic!("a leaf is free") };
    leader.tree.release(&leaf);
    leader.tree.attach(&leaf, &children, 1, worker).unwrap();
    code
}

/// Leaf 1 is the best one, known by worker 7; leaves 20 and 21 are known by worker 2.
fn with_leaves_that_are_known(test: impl Fn(&mut Coordinator<PlainTree<'_, GraphGame>>)) {
    with_leader(|leader| {
        assert_eq!(tell(leader, 7, &[(1, 5), (2, 4)]), 0);
        assert_eq!(tell(leader, 2, &[(20, 1), (21, 2)]), 2);
        test(leader);
    });
}

#[test]
fn a_worker_gets_the_best_leaf_that_it_knows_among_the_best() {
    for (leaves_compared, expected) in [(1, 1), (2, 20), (3, 20)] {
        with_leaves_that_are_known(|leader| {
            leader.config.leaves_compared = leaves_compared;
            let next = job(&leader.handle(message(2, WorkerState::Idle)));
            assert_eq!(next.node, expected);
            // The leaves that were passed over are free.
            let others = [3, 4].map(|name| leader.handle(message(name, WorkerState::Idle)));
            let mut codes = others.map(|answer| job(&answer).node).to_vec();
            codes.push(next.node);
            codes.sort_unstable();
            assert_eq!(codes, [1, 20, 21]);
        });
    }
}

#[test]
fn a_slow_worker_does_not_keep_the_best_leaf() {
    with_leaves_that_are_known(|leader| {
        leader.config.leaves_compared = 3;
        let mut state = WorkerState::Idle;
        for (node, last) in [(20, None), (20, None), (1, Some(7))] {
            let next = job(&leader.handle(message(2, state)));
            assert_eq!((next.node, next.last), (node, last));
            let (outcome, spent) = (JobOutcome::Stopped, spent(1));
            state = WorkerState::Done { job: next.id, outcome, spent };
        }
    });
}

/// The others would leave its leaves to it for ever, as long as there are others.
#[test]
fn leaves_of_a_lost_worker_are_anybodys() {
    with_leaves_that_are_known(|leader| {
        leader.config.leaves_compared = 3;
        leader.remove_worker(7);
        let next = job(&leader.handle(message(2, WorkerState::Idle)));
        assert_eq!((next.node, next.last), (1, None));
        let next = job(&leader.handle(message(3, WorkerState::Idle)));
        assert_eq!((next.node, next.last), (20, Some(2)));
    });
}

#[test]
fn what_is_kept_of_leaves_does_not_outgrow_the_tree() {
    with_leader(|leader| {
        let mut next = job(&leader.handle(message(1, WorkerState::Idle)));
        let done = |leader: &mut Coordinator<_>, next: &Job<u64>, outcome| {
            let (job, spent) = (next.id, spent(1));
            self::job(&leader.handle(message(1, WorkerState::Done { job, outcome, spent })))
        };
        let child = |code| Child { code, phi: 1, delta: 1 << 20, effort: 0 };
        next = done(leader, &next, JobOutcome::Open((1..301).map(child).collect()));
        // Of one child of the root after the other a child is lost, so it is won and leaves the tree.
        for round in 0..299 {
            next = done(leader, &next, children(1000 + 100 * round..1100 + 100 * round));
            next = done(leader, &next, JobOutcome::Solved(Value::Loss, None));
        }
        assert_eq!(leader.tree.nodes(), 2);
        let bytes = leader.bytes() + leader.tree.own_bytes();
        assert!(bytes < 1000, "{bytes}");
    });
}

#[test]
fn jobs_below_what_is_solved_are_cancelled_and_the_end_calls_off_all() {
    with_leader(|leader| {
        let mut say = |worker, state| {
            let answer = leader.handle(message(worker, state));
            (answer, leader.take_cancelled().collect::<Vec<_>>())
        };
        let root = job(&say(1, WorkerState::Idle).0).id;
        let (answer, _) =
            say(1, WorkerState::Done { job: root, outcome: children(1..3), spent: spent(3) });
        let one = job(&answer);
        let outcome = children(10 * one.node..10 * one.node + 2);
        let (answer, _) = say(1, WorkerState::Done { job: one.id, outcome, spent: spent(3) });
        let first = job(&answer);
        let jobs = [2, 3].map(|worker| job(&say(worker, WorkerState::Idle).0));
        let below = jobs.iter().position(|job| job.node >= 10).unwrap();
        let beside = jobs[1 - below].clone();
        assert!(first.node >= 10 && beside.node < 10);
        // A lost leaf wins its parent, whose other leaf goes with it.
        let outcome = JobOutcome::Solved(Value::Loss, None);
        let (answer, stops) = say(1, WorkerState::Done { job: first.id, outcome, spent: spent(3) });
        assert_eq!(answer.instruction, Instruction::Wait);
        assert_eq!(stops, [(2 + below as u64, jobs[below].id)]);
        leader.end(Reason::Interrupted);
        let all: Vec<_> = leader.take_cancelled().collect();
        assert_eq!(all, [(3 - below as u64, beside.id)]);
        for (worker, Job { id: job, .. }) in [2, 3].into_iter().zip(jobs) {
            let done = WorkerState::Done { job, outcome: JobOutcome::Stopped, spent: spent(1) };
            let answer = leader.handle(message(worker, done));
            assert_eq!(answer.instruction, Instruction::Quit);
        }
        assert_eq!((leader.jobs(), leader.reason()), (0, Some(Reason::Interrupted)));
    });
}
