//! Tests of a coordinator and workers with tables of their own, without a network.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::coordinate_plain;
use super::worker::PlainWorker;
use crate::Value;
use crate::cluster::message::{Instruction, Job, JobOutcome, Reply, Request, WorkerState};
use crate::cluster::shared_entry::{self, SharedEntry};
use crate::cluster::wire::{self, Kind};
use crate::cluster::{CoordinatorConfig, RemoteCoordinator, RemoteWorker, WireError, WireWorker};
use crate::dfpn::DfpnOptions;
use crate::numbers::{Combination, Epsilon, INFINITY};
use crate::plain::Root;
use crate::plain::game::{Child, Expansion, Game};
use crate::run::{Counters, Limits, Outcome, Reason, Report};
use crate::table::{Entry, Table};
use crate::testing::graph::{GraphGame, Hooked};
use crate::testing::graph::{large_game, random_game};
use crate::testing::negamax::Negamax;
use crate::testing::network::{FaultRates, NetworkEvents, run_network};

const SEARCH: u64 = 99;

type PlainRequest = Request<Vec<Child>>;

/// An entry with a code that no position has.
const ABSENT: SharedEntry =
    SharedEntry { code: u64::MAX, entry: Entry { phi: INFINITY, delta: 0, work: 1 } };

const DFPN: DfpnOptions = DfpnOptions {
    combination: Combination::mixed(8),
    epsilon: Epsilon::new(0.15),
    ..DfpnOptions::PLAIN
};

const CONFIG: CoordinatorConfig = CoordinatorConfig {
    max_results_in_reply: 5,
    shared_work: 1,
    max_entries: 1 << 16,
    virtual_loss_64: 16,
    refresh_age: 10,
    ..CoordinatorConfig::REMOTE
};

fn config_with(job_nodes: u64) -> CoordinatorConfig {
    CoordinatorConfig { job_nodes, ..CONFIG }
}

type Worker<'g, G = GraphGame> = WireWorker<'g, PlainWorker<'g, G>>;

fn remote(game: &GraphGame) -> Worker<'_> {
    worker(game, 1 << 14, 1, &CONFIG)
}

fn worker<'g, G: Game>(
    game: &'g G,
    table_bytes: usize,
    threads: usize,
    config: &CoordinatorConfig,
) -> Worker<'g, G> {
    let table = Table::new(table_bytes).unwrap();
    let threads = NonZeroUsize::new(threads).unwrap();
    let worker = PlainWorker::new(game, table, DFPN, threads, config);
    WireWorker::new(worker, SEARCH, Limits::default())
}

fn with_coordinator(
    game: &GraphGame,
    config: CoordinatorConfig,
    run: impl FnOnce(&mut dyn RemoteCoordinator),
) -> Report {
    let table = Table::new(1 << 14).unwrap();
    let (root, combination) = (Root::new(game, 0, &table), DFPN.combination);
    coordinate_plain(root, 1 << 20, combination, config, SEARCH, &mut (), run).unwrap()
}

/// Searches with workers of which `concurrent` run at a time, and checks all results.
fn run(
    game: &GraphGame,
    config: CoordinatorConfig,
    concurrent: usize,
    faults: FaultRates,
    seed: u64,
) -> (Report, NetworkEvents) {
    let workers: Vec<Worker<'_>> = (0..concurrent + 20).map(|_| remote(game)).collect();
    let all: Vec<&dyn RemoteWorker> = workers.iter().map(|worker| worker as _).collect();
    let mut events = NetworkEvents::default();
    let report = with_coordinator(game, config, |coordinator| {
        events = run_network(coordinator, &all, concurrent, faults, seed);
    });
    let mut oracle = Negamax::new(game);
    for worker in &workers {
        for code in 0..game.nodes() {
            let entry = worker.job_search.table().lookup(game.key(code), code);
            let value = entry.and_then(|entry| entry.value());
            assert!(value.is_none_or(|value| value == oracle.value(code)));
        }
    }
    let Counters { nodes, first_level, second_level, .. } = report.counters;
    assert_eq!(nodes, first_level + second_level);
    (report, events)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn searches_with_faults_return_the_value_of_negamax(
        seed in 0u64..1000,
        workers in 1usize..9,
        job_nodes in 2u64..40,
        (loss, duplication, alteration, crash) in (0u64..130, 0u64..200, 0u64..60, 0u64..20),
        max_delay in 1u64..60,
    ) {
        let game = random_game(seed);
        let mut oracle = Negamax::new(&game);
        let faults = FaultRates { loss, duplication, alteration, crash, max_delay };
        let (report, _) = run(&game, config_with(job_nodes), workers, faults, seed);
        let value = oracle.value(0);
        prop_assert_eq!(report.outcome, Outcome::Known(value));
        if value == Value::Win {
            prop_assert_eq!(oracle.value(report.best.unwrap()), Value::Loss);
        }
    }

    /// Compares the collected entries with a recursive reference implementation.
    #[test]
    fn entries_are_those_of_the_positions_below(seed in 0u64..1000, nodes in 1u64..200) {
        let game = random_game(seed);
        let remote = remote(&game);
        let mut delivery = None;
        with_coordinator(&game, config_with(nodes), |coordinator| delivery = Some(coordinator.handle_idle(0)));
        let delivery = delivery.unwrap();
        remote.search(0, &delivery.reply, None).unwrap();
        let bytes = remote.entries(&wire::encode(Kind::Node, SEARCH, &0u64)).unwrap();
        let content = wire::open(Kind::Entries, SEARCH, &bytes).unwrap();
        let mut found = shared_entry::from_bytes(content).unwrap();
        let mut expected = Vec::new();
        known_below(&game, remote.job_search.table(), 0, &mut expected);
        found.sort_by_key(|shared_entry| shared_entry.code);
        expected.sort_by_key(|shared_entry: &SharedEntry| shared_entry.code);
        prop_assert_eq!(&found, &expected);
        // Another worker that stores these entries has the same results.
        let other = self::remote(&game);
        other.search(2, &delivery.reply, Some(&bytes)).unwrap();
        for SharedEntry { code, entry } in found {
            let here = other.job_search.table().lookup(game.key(code), code).unwrap();
            prop_assert!(entry.value().is_none() || here.value() == entry.value());
            prop_assert!(here.work >= entry.work);
        }
    }
}

fn known_below(game: &GraphGame, table: &Table, code: u64, found: &mut Vec<SharedEntry>) {
    let Some(entry) = table.lookup(game.key(code), code) else { return };
    if found.iter().any(|other| other.code == code) {
        return;
    }
    found.push(SharedEntry { code, entry });
    let mut children = Vec::new();
    if entry.value().is_none()
        && game.expand(code, &mut (), &mut children, |_| {}) == Expansion::Open
    {
        for child in children {
            known_below(game, table, child.code, found);
        }
    }
}

#[test]
fn the_faults_of_the_test_above_occur() {
    let faults =
        FaultRates { loss: 60, duplication: 100, alteration: 30, crash: 10, max_delay: 50 };
    let (mut large, mut all) = (0, NetworkEvents::default());
    for seed in 0..20 {
        let (report, events) = run(&random_game(seed), config_with(6), 5, faults, seed);
        large += usize::from(report.counters.first_level > 10);
        all.crashes += events.crashes;
        all.alterations += events.alterations;
        all.transfers += events.transfers;
    }
    let NetworkEvents { crashes, alterations, transfers } = all;
    assert!(crashes > 5 && alterations > 10 && transfers > 40 && large > 5, "{all:?} {large}");
}

#[test]
fn the_node_limit_applies_to_all_workers_together() {
    let game = large_game();
    for limit in [0, 1, 2, 50, 1000] {
        for nodes in [2, 30, 1000] {
            let config = CoordinatorConfig { node_limit: Some(limit), ..config_with(nodes) };
            let (Report { outcome, counters, .. }, _) = run(&game, config, 7, FaultRates::NONE, 1);
            assert_eq!(outcome, Outcome::Unknown(Reason::NodeLimit));
            // The last job of a worker exceeds its budget by at most one expansion.
            assert!(counters.nodes <= limit.max(1) + 7 * 58, "{limit}: {}", counters.nodes);
        }
    }
}

#[test]
fn late_workers_receive_all_results() {
    let game = large_game();
    let late = remote(&game);
    with_coordinator(&game, config_with(200), |coordinator| {
        let first = remote(&game);
        let mut delivery = coordinator.handle_idle(0);
        while coordinator.status().results < 20 {
            let message = first.search(0, &delivery.reply, None).unwrap();
            delivery = coordinator.handle(&message).unwrap();
        }
        let results = coordinator.status().results;
        // A reply contains at most five results.
        let mut delivery = coordinator.handle_idle(2);
        for _ in 0..results.div_ceil(5) {
            let message = late.search(2, &delivery.reply, None).unwrap();
            delivery = coordinator.handle(&message).unwrap();
        }
        // Entries of open positions have been sent as well. The late worker's entries have at least
        // the same search effort.
        let mut open = 0;
        for code in 0..game.nodes() {
            let known =
                |remote: &Worker<'_>| remote.job_search.table().lookup(game.key(code), code);
            let Some(sent) = known(&first) else { continue };
            let received = known(&late).expect("the entry was sent");
            assert!(sent.value().is_none() || received.value() == sent.value());
            assert!(received.value().is_some() || received.work >= sent.work);
            open += u32::from(sent.value().is_none());
        }
        assert!(open > 0);
    });
}

#[test]
fn a_worker_continues_its_leaf_until_the_next_job_and_reports_it_then() {
    let game = large_game();
    let (idle, busy) = (remote(&game), remote(&game));
    with_coordinator(&game, config_with(20), |coordinator| {
        let delivery = coordinator.handle_idle(0);
        busy.continue_search(Some(50));
        assert_eq!(busy.counters().nodes, 0, "there has been no job");
        let messages = [&idle, &busy].map(|one| one.search(0, &delivery.reply, None).unwrap());
        assert_eq!(messages[0], messages[1]);
        let before = busy.counters().nodes;
        busy.continue_search(Some(50));
        let more = busy.counters().nodes - before;
        assert!((40..110).contains(&more), "{more}");
        // The next job's result counts the nodes searched in the meantime once, and includes
        // their results.
        let delivery = coordinator.handle(&messages[0]).unwrap();
        let [without, with] = [&idle, &busy]
            .map(|one| decode_request(&one.search(0, &delivery.reply, None).unwrap()));
        let spent = |message: &PlainRequest| match message.state {
            WorkerState::Done { spent, .. } => spent.nodes,
            _ => panic!("{message:?}"),
        };
        let own = busy.counters().nodes - before - more;
        assert_eq!(spent(&with), own + more);
        assert_eq!(spent(&without), idle.counters().nodes - before);
        assert!(with.results.len() > without.results.len());
    });
    // A job that arrives while the worker continues its leaf without limit is searched at once.
    let has_started = AtomicBool::new(false);
    let hooked = Hooked::new(&game, |_| has_started.store(true, Ordering::Relaxed));
    let busy = worker(&hooked, 1 << 8, 1, &CONFIG);
    with_coordinator(&game, config_with(4), |coordinator| {
        let delivery = coordinator.handle_idle(0);
        let message = busy.search(0, &delivery.reply, None).unwrap();
        let delivery = coordinator.handle(&message).unwrap();
        has_started.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| busy.continue_search(None));
            while !has_started.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let start = Instant::now();
            busy.search(0, &delivery.reply, None).unwrap();
            assert!(start.elapsed() < Duration::from_secs(20));
        });
    });
}

#[test]
fn invalid_entries_are_rejected() {
    let bytes = |cells: &[u128]| cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
    let sound = Entry { phi: 3, delta: 4, work: 5 };
    let (entry, cell) = (SharedEntry { code: 77, entry: sound }, sound.pack(77));
    let two: Vec<u8> = bytes(&[cell, cell]);
    assert_eq!(shared_entry::to_bytes(&[entry, entry]), two);
    assert_eq!(shared_entry::from_bytes(&two), Ok(vec![entry, entry]));
    assert_eq!(shared_entry::from_bytes(&[]), Ok(vec![]));
    let with = |phi, delta| Entry { phi, delta, work: 1 }.pack(77);
    for invalid in [0, 77, with(0, 9), with(INFINITY, 9), with(9, INFINITY)] {
        let bytes: Vec<u8> = bytes(&[cell, invalid]);
        assert!(shared_entry::from_bytes(&bytes).is_err(), "{invalid:x}");
    }
    assert!(shared_entry::from_bytes(&two[..31]).is_err());
}

#[test]
fn messages_of_other_kinds_and_searches_are_rejected() {
    let game = large_game();
    let remote = remote(&game);
    with_coordinator(&game, config_with(20), |coordinator| {
        let delivery = coordinator.handle_idle(0);
        let message = remote.search(0, &delivery.reply, None).unwrap();
        assert!(matches!(coordinator.handle(&delivery.reply), Err(WireError::Unexpected(_))));
        assert!(remote.search(0, &message, None).is_err());
        assert!(remote.entries(&message).is_err());
        assert!(remote.search(0, &delivery.reply, Some(&message)).is_err());
        let other = wire::encode(Kind::Request, SEARCH + 1, &decode_request(&message));
        assert_eq!(coordinator.handle(&other), Err(WireError::OtherSearch));
        assert_eq!(coordinator.status().counters.nodes, 1, "nothing has changed");
        coordinator.handle(&message).unwrap();
        assert!(coordinator.status().counters.nodes > 1);
    });
}

#[test]
fn a_removed_worker_gets_no_job() {
    let game = large_game();
    let remotes = [(); 2].map(|()| remote(&game));
    with_coordinator(&game, config_with(20), |coordinator| {
        let delivery = coordinator.handle_idle(0);
        let late = remotes[0].search(0, &delivery.reply, None).unwrap();
        coordinator.remove_worker(0);
        assert_eq!(coordinator.status().jobs, 0);
        let other = coordinator.handle_idle(1);
        assert!(matches!(coordinator.handle(&late), Err(WireError::Unexpected(_))));
        let status = coordinator.status();
        assert_eq!((status.jobs, status.results, status.counters.nodes), (1, 0, 1));
        // The leaf is now assigned to the other worker.
        let message = remotes[1].search(1, &other.reply, None).unwrap();
        coordinator.handle(&message).unwrap();
        assert!(matches!(coordinator.handle(&late), Err(WireError::Unexpected(_))));
        assert_eq!(coordinator.status().jobs, 1);
    });
}

fn decode_request(message: &[u8]) -> PlainRequest {
    wire::decode(Kind::Request, SEARCH, message).unwrap()
}

/// Well-formed messages that no worker sends.
#[test]
fn impossible_messages_are_rejected() {
    let game = large_game();
    let remote = remote(&game);
    let report = with_coordinator(&game, config_with(20), |coordinator| {
        let delivery = coordinator.handle_idle(0);
        let message = remote.search(0, &delivery.reply, None).unwrap();
        let request = decode_request(&message);
        let WorkerState::Done { job, outcome: JobOutcome::Open(children), spent } = &request.state
        else {
            panic!("{request:?}")
        };
        let (job, spent) = (*job, *spent);
        let unrelated = Child { code: 0, phi: 1, delta: 1, effort: 1 };
        let done = |outcome| WorkerState::Done { job, outcome, spent };
        let open = |child| done(JobOutcome::Open([&children[..], &[child]].concat()));
        let many = Counters { table_used: u64::MAX, ..spent };
        let states = [
            open(Child { phi: 0, ..children[0] }),
            open(Child { delta: INFINITY, ..children[0] }),
            open(unrelated),
            done(JobOutcome::Solved(Value::Win, None)),
            done(JobOutcome::Solved(Value::Win, Some(unrelated.code))),
            WorkerState::Done { job, outcome: JobOutcome::Stopped, spent: many },
        ];
        let messages = states.map(|state| Request { state, ..request.clone() });
        let unknown = Request { worker: 1, ..request.clone() };
        for invalid in messages.iter().chain([&unknown]) {
            let bytes = wire::encode(Kind::Request, SEARCH, invalid);
            let result = coordinator.handle(&bytes);
            assert!(matches!(result, Err(WireError::Unexpected(_))), "{invalid:?}: {result:?}");
        }
        assert_eq!(coordinator.status().counters.nodes, 1, "nothing has changed");
        coordinator.handle(&message).unwrap();
    });
    assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted));
}

#[test]
fn a_worker_accepts_a_job_with_extreme_numbers() {
    let game = random_game(1);
    let remote = remote(&game);
    let search = Job { id: u64::MAX, node: 0, budget: u64::MAX, last: None };
    let (instruction, results) = (
        Instruction::Search(search),
        [SharedEntry { entry: Entry::solved(Value::Loss, u64::MAX), ..ABSENT }; 2],
    );
    let results = shared_entry::to_bytes(&results);
    let reply: Reply<u64> = Reply { instruction, results, received: usize::MAX };
    let reply = wire::encode(Kind::Reply, SEARCH, &reply);
    let message = decode_request(&remote.search(u64::MAX, &reply, None).unwrap());
    assert!(matches!(message.state, WorkerState::Done { job: u64::MAX, .. }));
}

#[test]
fn many_entries_are_stored_by_several_threads() {
    let game = random_game(1);
    let remote = worker(&game, 1 << 20, 3, &CONFIG);
    let search = Job { id: 0, node: 0, budget: 2, last: None };
    let code = |number: u64| (1 << 40) + number;
    let shared_entry =
        |number| SharedEntry { code: code(number), entry: Entry::solved(Value::Win, number) };
    let results: Vec<SharedEntry> = (1..30_000).map(shared_entry).collect();
    let results = shared_entry::to_bytes(&results);
    let reply = Reply { instruction: Instruction::Search(search), results, received: 0 };
    remote.search(0, &wire::encode(Kind::Reply, SEARCH, &reply), None).unwrap();
    // Some entries are lost, because their clusters are full.
    let known = |&number: &u64| {
        remote.job_search.table().lookup(game.key(code(number)), code(number)).is_some()
    };
    let found = (1..30_000).filter(known).count();
    assert!(found > 27_000, "{found}");
}

#[test]
fn a_cancelled_job_ends_soon_and_frees_its_leaf() {
    let (game, has_started) = (GraphGame::nim(&[40, 41, 42]), AtomicBool::new(false));
    let hooked = Hooked::new(&game, |_| has_started.store(true, Ordering::Relaxed));
    let config = CoordinatorConfig { shared_work: 1 << 40, max_entries: 0, ..CONFIG };
    // The table is too small for the search to end.
    let remote = worker(&hooked, 1 << 8, 1, &config);
    let report = with_coordinator(&game, config_with(1 << 40), |coordinator| {
        let delivery = coordinator.handle_idle(0);
        let job = delivery.job.expect("a job");
        std::thread::scope(|scope| {
            let searching = scope.spawn(|| remote.search(0, &delivery.reply, None).unwrap());
            while !has_started.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let start = Instant::now();
            remote.cancel(job);
            let message = searching.join().unwrap();
            assert!(start.elapsed() < Duration::from_secs(20));
            let delivery = coordinator.handle(&message).unwrap();
            assert!(delivery.job.unwrap() > job);
        });
    });
    assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted));
}

#[test]
fn many_threads_share_only_entries_of_more_work() {
    let config = CoordinatorConfig { shared_work: 100, ..CONFIG };
    let min_work = |threads| config.min_shared_work(NonZeroUsize::new(threads).unwrap());
    assert_eq!([1, 11, 16, 32, 64].map(min_work), [100, 100, 200, 800, 3200]);
    assert_eq!(min_work(usize::MAX), u64::MAX / 128 * 100);
}
