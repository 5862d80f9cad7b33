//! Tests of a leader and workers with tables of their own, without a network.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::coordinate_plain;
use super::entries;
use super::worker::PlainWorker;
use crate::LeafSolverOptions;
use crate::Value;
use crate::cluster::SharedEntry;
use crate::cluster::message::{Instruction, Job, JobOutcome, Reply, Request, WorkerState};
use crate::cluster::wire::{self, Kind};
use crate::cluster::{CoordinatorConfig, Delivery, RemoteCoordinator, RemoteWorker, WireError};
use crate::dfpn::DfpnOptions;
use crate::numbers::{Combination, INFINITY};
use crate::plain::Root;
use crate::plain::game::{Child, Expansion, Game};
use crate::run::{Counters, Limits, Outcome, Reason, Report};
use crate::snapshot::{SavedTree, TreeRoom, TreeSnapshots};
use crate::split_mix::mix;
use crate::table::{Entry, Table};
use crate::testing::graph::{GraphGame, Hooked};
use crate::testing::graph::{large_game, random_game};
use crate::testing::negamax::Negamax;

const SEARCH: u64 = 99;

type Said = Request<Vec<Child>, SharedEntry>;

/// A code that no position has.
const LOST: SharedEntry =
    SharedEntry { code: u64::MAX, entry: Entry { phi: INFINITY, delta: 0, work: 1 } };

const DFPN: DfpnOptions = DfpnOptions {
    combination: Combination { weight_64: 8 },
    epsilon_1024: 154,
    settle: LeafSolverOptions::NEVER,
    tries: u32::MAX,
    virtual_1024: 0,
};

const CONFIG: CoordinatorConfig = CoordinatorConfig {
    max_results_in_reply: 5,
    shared_work: 1,
    max_entries: 1 << 16,
    virtual_loss_64: 16,
    refresh_age: 10,
    ..CoordinatorConfig::REMOTE
};

fn rules(job_nodes: u64) -> CoordinatorConfig {
    CoordinatorConfig { job_nodes, ..CONFIG }
}

fn remote(game: &GraphGame) -> PlainWorker<'_, GraphGame> {
    worker(game, 1 << 14, 1, &CONFIG)
}

fn worker<'g, G: Game>(
    game: &'g G,
    table_bytes: usize,
    threads: usize,
    config: &CoordinatorConfig,
) -> PlainWorker<'g, G> {
    let table = Table::new(table_bytes).unwrap();
    let threads = NonZeroUsize::new(threads).unwrap();
    PlainWorker::new(game, table, DFPN, threads, config, SEARCH, Limits::default())
}

fn led(
    game: &GraphGame,
    rules: CoordinatorConfig,
    run: impl FnOnce(&mut dyn RemoteCoordinator),
) -> Report {
    let (table, port) = (Table::new(1 << 14).unwrap(), TreeSnapshots::new());
    let (root, combination) = (Root::new(game, 0, &table), DFPN.combination);
    let tree = SavedTree::empty(TreeRoom::new(1 << 20, 4, combination)).unwrap();
    coordinate_plain(root, tree, combination, rules, SEARCH, &mut (), &port, run)
}

/// What goes wrong, each in 1/256.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    loss: u64,
    doubling: u64,
    alteration: u64,
    death: u64,
}

/// Carries messages in any order, and some of them never, twice or altered.
fn carry<'g>(
    game: &'g GraphGame,
    leader: &mut dyn RemoteCoordinator,
    workers: u64,
    trouble: Trouble,
    seed: u64,
) -> (usize, usize) {
    let mut count = mix(seed);
    let mut random = move |below: u64| {
        count += 1;
        mix(count) % below
    };
    let mut remotes: HashMap<u64, PlainWorker<'g, GraphGame>> = HashMap::new();
    let mut born = 0;
    // The dead that the leader has not heard of, and those that it has.
    let (mut dead, mut buried): (Vec<u64>, Vec<u64>) = Default::default();
    let mut ticks = 0;
    // Messages to the leader and to workers, to be taken in any order.
    let (mut to_desk, mut to_workers): (Vec<Vec<u8>>, Vec<Delivery>) = Default::default();
    let (mut refused, mut fetched) = (0, 0);
    while !leader.status().is_over {
        ticks += 1;
        assert!(ticks < 2_000_000, "the search comes to an end");
        if !dead.is_empty() && random(10) == 0 {
            let worker = dead.remove(0);
            leader.remove_worker(worker);
            buried.push(worker);
        }
        while (remotes.len() as u64) < workers {
            remotes.insert(born, remote(game));
            born += 1;
        }
        for (worker, job) in leader.take_cancelled() {
            if let Some(remote) = remotes.get(&worker) {
                remote.cancel(job);
            }
        }
        // A worker without anything to do says so, and also says it when its message may be lost.
        let alive: Vec<u64> = remotes.keys().copied().collect();
        let worker = alive[random(alive.len() as u64) as usize];
        to_workers.push(leader.handle_idle(worker));
        if random(256) < trouble.death {
            remotes.remove(&worker);
            dead.push(worker);
        }
        if !to_workers.is_empty() && random(3) > 0 {
            let told = to_workers.swap_remove(random(to_workers.len() as u64) as usize);
            let Some(remote) = remotes.get(&told.worker) else { continue };
            if told.job.is_none() {
                continue;
            }
            let mut found = None;
            if let Some((last, node)) = &told.last
                && let Some(other) = remotes.get(last)
            {
                found = Some(other.entries(node).unwrap());
                fetched += 1;
            }
            let message = remote.search(told.worker, &told.reply, found.as_deref()).unwrap();
            for chance in [256, trouble.doubling] {
                if random(256) < chance && random(256) >= trouble.loss {
                    to_desk.push(message.clone());
                }
            }
        }
        if !to_desk.is_empty() && random(3) > 0 {
            let mut message = to_desk.swap_remove(random(to_desk.len() as u64) as usize);
            if random(256) < trouble.alteration {
                let at = random(message.len() as u64) as usize;
                message[at] ^= 1 << random(8);
                assert!(leader.handle(&message).is_err());
                refused += 1;
                continue;
            }
            match leader.handle(&message) {
                Ok(told) => to_workers.push(told),
                Err(_) => assert!(buried.contains(&said(&message).worker)),
            }
        }
    }
    (refused, fetched)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_becomes_of_messages_the_right_winner_comes_out(
        seed in 0u64..1000,
        workers in 1u64..7,
        job_nodes in 2u64..40,
        (loss, doubling, alteration, death) in (0u64..120, 0u64..200, 0u64..60, 0u64..8),
    ) {
        let game = random_game(seed);
        let mut oracle = Negamax::new(&game);
        let trouble = Trouble { loss, doubling, alteration, death };
        let report = led(&game, rules(job_nodes), |leader| {
            carry(&game, leader, workers, trouble, seed);
        });
        let value = oracle.value(0);
        prop_assert_eq!(report.outcome, Outcome::Known(value));
        if value == Value::Win {
            prop_assert_eq!(oracle.value(report.best.unwrap()), Value::Loss);
        }
    }

    /// The walk in the table against a plain recursion.
    #[test]
    fn entries_are_those_of_the_positions_below(seed in 0u64..1000, nodes in 1u64..200) {
        let game = random_game(seed);
        let remote = remote(&game);
        let mut told = None;
        led(&game, rules(nodes), |leader| told = Some(leader.handle_idle(0)));
        let told = told.unwrap();
        remote.search(0, &told.reply, None).unwrap();
        let bytes = remote.entries(&wire::encode(Kind::Node, SEARCH, &0u64)).unwrap();
        let mut found = entries::read(SEARCH, &bytes).unwrap();
        let mut expected = Vec::new();
        known_below(&game, remote.table(), 0, &mut expected);
        found.sort_by_key(|finding| finding.code);
        expected.sort_by_key(|finding: &SharedEntry| finding.code);
        prop_assert_eq!(&found, &expected);
        // Another worker that takes them over knows the same.
        let other = self::remote(&game);
        other.search(2, &told.reply, Some(&bytes)).unwrap();
        for SharedEntry { code, entry } in found {
            let here = other.table().lookup(game.key(code), code).unwrap();
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
fn the_troubles_of_the_test_above_do_occur() {
    let trouble = Trouble { loss: 60, doubling: 100, alteration: 30, death: 4 };
    let (mut refused, mut fetched, mut large) = (0, 0, 0);
    for seed in 0..20 {
        let game = random_game(seed);
        let report = led(&game, rules(6), |leader| {
            let counts = carry(&game, leader, 5, trouble, seed);
            refused += counts.0;
            fetched += counts.1;
        });
        large += usize::from(report.counters.first_level > 10);
    }
    assert!(refused > 10 && fetched > 40 && large > 5, "{refused} {fetched} {large}");
}

#[test]
fn who_comes_late_learns_every_fact() {
    let game = large_game();
    let late = remote(&game);
    led(&game, rules(200), |leader| {
        let first = remote(&game);
        let mut told = leader.handle_idle(0);
        while leader.status().results < 20 {
            let message = first.search(0, &told.reply, None).unwrap();
            told = leader.handle(&message).unwrap();
        }
        let facts = leader.status().results;
        // Five at a time, with its first name.
        let mut told = leader.handle_idle(2);
        for _ in 0..facts.div_ceil(5) {
            let message = late.search(2, &told.reply, None).unwrap();
            told = leader.handle(&message).unwrap();
        }
        // Open positions, too, and no less of them.
        let mut open = 0;
        for code in 0..game.nodes() {
            let known =
                |remote: &PlainWorker<'_, GraphGame>| remote.table().lookup(game.key(code), code);
            let Some(told) = known(&first) else { continue };
            let heard = known(&late).expect("it was told");
            assert!(told.value().is_none() || heard.value() == told.value());
            assert!(heard.value().is_some() || heard.work >= told.work);
            open += u32::from(told.value().is_none());
        }
        assert!(open > 0);
    });
}

#[test]
fn a_worker_goes_on_with_its_leaf_until_a_job_comes_and_tells_of_it_then() {
    let game = large_game();
    let (idle, busy) = (remote(&game), remote(&game));
    led(&game, rules(20), |leader| {
        let told = leader.handle_idle(0);
        busy.continue_search(Some(50));
        assert_eq!(busy.counters().nodes, 0, "there has been no job");
        let messages = [&idle, &busy].map(|one| one.search(0, &told.reply, None).unwrap());
        assert_eq!(messages[0], messages[1]);
        let before = busy.counters().nodes;
        busy.continue_search(Some(50));
        let more = busy.counters().nodes - before;
        assert!((40..110).contains(&more), "{more}");
        // The next job's result counts what was searched meanwhile, once, and has its facts.
        let told = leader.handle(&messages[0]).unwrap();
        let [without, with] =
            [&idle, &busy].map(|one| said(&one.search(0, &told.reply, None).unwrap()));
        let spent = |message: &Said| match message.state {
            WorkerState::Done { spent, .. } => spent.nodes,
            _ => panic!("{message:?}"),
        };
        let own = busy.counters().nodes - before - more;
        assert_eq!(spent(&with), own + more);
        assert_eq!(spent(&without), idle.counters().nodes - before);
        assert!(with.results.len() > without.results.len());
    });
    // A job that comes while the worker goes on without limit is searched at once.
    let has_begun = AtomicBool::new(false);
    let hooked = Hooked::new(&game, || has_begun.store(true, Ordering::Relaxed));
    let busy = worker(&hooked, 1 << 8, 1, &CONFIG);
    led(&game, rules(4), |leader| {
        let told = leader.handle_idle(0);
        let message = busy.search(0, &told.reply, None).unwrap();
        let told = leader.handle(&message).unwrap();
        has_begun.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| busy.continue_search(None));
            while !has_begun.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let begun = Instant::now();
            busy.search(0, &told.reply, None).unwrap();
            assert!(begun.elapsed() < Duration::from_secs(20));
        });
    });
}

#[test]
fn findings_that_no_search_stores_are_refused() {
    let bytes = |cell: u128| [&[16], &cell.to_le_bytes()[..]].concat();
    let sound = Entry { phi: 3, delta: 4, work: 5 };
    let finding = SharedEntry { code: 77, entry: sound };
    assert_eq!(postcard::to_allocvec(&finding).unwrap(), bytes(sound.pack(77)));
    assert_eq!(postcard::from_bytes(&bytes(sound.pack(77))), Ok(finding));
    let cell = |phi, delta| Entry { phi, delta, work: 1 }.pack(77);
    for cell in [0, 77, cell(0, 9), cell(INFINITY, 9), cell(9, INFINITY)] {
        assert!(postcard::from_bytes::<SharedEntry>(&bytes(cell)).is_err(), "{cell:x}");
    }
    let short = [&[15], &sound.pack(77).to_le_bytes()[1..]].concat();
    assert!(postcard::from_bytes::<SharedEntry>(&short).is_err());
}

#[test]
fn messages_of_others_are_refused() {
    let game = large_game();
    let remote = remote(&game);
    led(&game, rules(20), |leader| {
        let told = leader.handle_idle(0);
        let message = remote.search(0, &told.reply, None).unwrap();
        assert!(matches!(leader.handle(&told.reply), Err(WireError::Unexpected(_))));
        assert!(remote.search(0, &message, None).is_err());
        assert!(remote.entries(&message).is_err());
        assert!(remote.search(0, &told.reply, Some(&message)).is_err());
        let other = wire::encode(Kind::Request, SEARCH + 1, &said(&message));
        assert_eq!(leader.handle(&other), Err(WireError::OtherSearch));
        assert_eq!(leader.status().counters.nodes, 1, "nothing has changed");
        leader.handle(&message).unwrap();
        assert!(leader.status().counters.nodes > 1);
    });
}

#[test]
fn a_lost_worker_gets_no_job_whatever_comes_of_it_later() {
    let game = large_game();
    let remotes = [(); 2].map(|()| remote(&game));
    led(&game, rules(20), |leader| {
        let told = leader.handle_idle(0);
        let late = remotes[0].search(0, &told.reply, None).unwrap();
        leader.remove_worker(0);
        assert_eq!(leader.status().jobs, 0);
        let other = leader.handle_idle(1);
        assert!(matches!(leader.handle(&late), Err(WireError::Unexpected(_))));
        let standing = leader.status();
        assert_eq!((standing.jobs, standing.results, standing.counters.nodes), (1, 0, 1));
        // The leaf is the other's.
        let message = remotes[1].search(1, &other.reply, None).unwrap();
        leader.handle(&message).unwrap();
        assert!(matches!(leader.handle(&late), Err(WireError::Unexpected(_))));
        assert_eq!(leader.status().jobs, 1);
    });
}

fn said(message: &[u8]) -> Said {
    wire::decode(Kind::Request, SEARCH, message).unwrap()
}

/// Whole messages that no worker writes.
#[test]
fn what_cannot_be_true_is_refused() {
    let game = large_game();
    let remote = remote(&game);
    let report = led(&game, rules(20), |leader| {
        let told = leader.handle_idle(0);
        let message = remote.search(0, &told.reply, None).unwrap();
        let said = said(&message);
        let WorkerState::Done { job, outcome: JobOutcome::Open(children), spent } = &said.state
        else {
            panic!("{said:?}")
        };
        let (job, spent) = (*job, *spent);
        let stranger = Child { code: 0, phi: 1, delta: 1, effort: 1 };
        let done = |outcome| WorkerState::Done { job, outcome, spent };
        let open = |child| done(JobOutcome::Open([&children[..], &[child]].concat()));
        let many = Counters { table_used: u64::MAX, ..spent };
        let notices = [
            open(Child { phi: 0, ..children[0] }),
            open(Child { delta: INFINITY, ..children[0] }),
            open(stranger),
            done(JobOutcome::Solved(Value::Win, None)),
            done(JobOutcome::Solved(Value::Win, Some(stranger.code))),
            WorkerState::Done { job, outcome: JobOutcome::Stopped, spent: many },
        ];
        let messages = notices.map(|notice| Request { state: notice, ..said.clone() });
        let unknown = Request { worker: 1, ..said.clone() };
        for forged in messages.iter().chain([&unknown]) {
            let bytes = wire::encode(Kind::Request, SEARCH, forged);
            let heard = leader.handle(&bytes);
            assert!(matches!(heard, Err(WireError::Unexpected(_))), "{forged:?}: {heard:?}");
        }
        assert_eq!(leader.status().counters.nodes, 1, "nothing has changed");
        leader.handle(&message).unwrap();
    });
    assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted));
}

#[test]
fn a_worker_takes_any_job() {
    let game = random_game(1);
    let remote = remote(&game);
    let search = Job { id: u64::MAX, node: 0, budget: u64::MAX, last: None };
    let (instruction, results) = (
        Instruction::Search(search),
        vec![SharedEntry { entry: Entry::solved(Value::Loss, u64::MAX), ..LOST }; 2],
    );
    let answer: Reply<u64, SharedEntry> = Reply { instruction, results, received: usize::MAX };
    let answer = wire::encode(Kind::Reply, SEARCH, &answer);
    let message = said(&remote.search(u64::MAX, &answer, None).unwrap());
    assert!(matches!(message.state, WorkerState::Done { job: u64::MAX, .. }));
}

#[test]
fn many_findings_are_taken_in_by_several_threads() {
    let game = random_game(1);
    let remote = worker(&game, 1 << 20, 3, &CONFIG);
    let search = Job { id: 0, node: 0, budget: 2, last: None };
    let code = |number: u64| (1 << 40) + number;
    let finding =
        |number| SharedEntry { code: code(number), entry: Entry::solved(Value::Win, number) };
    let facts: Vec<SharedEntry> = (1..30_000).map(finding).collect();
    let answer = Reply { instruction: Instruction::Search(search), results: facts, received: 0 };
    remote.search(0, &wire::encode(Kind::Reply, SEARCH, &answer), None).unwrap();
    // Some find no room in their clusters.
    let known =
        |&number: &u64| remote.table().lookup(game.key(code(number)), code(number)).is_some();
    let found = (1..30_000).filter(known).count();
    assert!(found > 27_000, "{found}");
}

#[test]
fn a_job_that_is_called_off_ends_soon_and_its_leaf_is_free_again() {
    let (game, has_begun) = (GraphGame::nim(&[40, 41, 42]), AtomicBool::new(false));
    let hooked = Hooked::new(&game, || has_begun.store(true, Ordering::Relaxed));
    let config = CoordinatorConfig { shared_work: 1 << 40, max_entries: 0, ..CONFIG };
    // Too small a table to come to an end.
    let remote = worker(&hooked, 1 << 8, 1, &config);
    let report = led(&game, rules(1 << 40), |leader| {
        let told = leader.handle_idle(0);
        let job = told.job.expect("a job");
        std::thread::scope(|scope| {
            let searching = scope.spawn(|| remote.search(0, &told.reply, None).unwrap());
            while !has_begun.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let begun = Instant::now();
            remote.cancel(job);
            let message = searching.join().unwrap();
            assert!(begun.elapsed() < Duration::from_secs(20));
            let told = leader.handle(&message).unwrap();
            assert!(told.job.unwrap() > job);
        });
    });
    assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted));
}

#[test]
fn many_threads_tell_of_more_work_only() {
    let config = CoordinatorConfig { shared_work: 100, ..CONFIG };
    let min_work = |threads| config.min_shared_work(NonZeroUsize::new(threads).unwrap());
    assert_eq!([1, 11, 16, 32, 64].map(min_work), [100, 100, 200, 800, 3200]);
    assert_eq!(min_work(usize::MAX), u64::MAX / 128 * 100);
}
