//! Tests of a leader and workers with tables of their own, without a network.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::entries;
use super::worker::{PlainWorker, WorkerOptions};
use super::{PlainRules, lead};
use crate::SettleOptions;
use crate::Value;
use crate::dfpn::DfpnOptions;
use crate::jobs::Finding;
use crate::jobs::messages::{Answer, JobOutcome, Message, Notice, Order, Search};
use crate::jobs::remote::wire::{self, Kind};
use crate::jobs::remote::{Ordered, RemoteLeader, RemoteRules, RemoteWorker, Told, WireError};
use crate::numbers::{Combination, INFINITY};
use crate::plain::Root;
use crate::plain::game::{Child, Expansion, Game};
use crate::run::{Counters, Outcome, Reason, Report};
use crate::snapshot::{SavedTree, TreeRoom, TreeSnapshots};
use crate::split_mix::mix;
use crate::table::{Entry, Table};
use crate::testing::graph::{GraphGame, Hooked};
use crate::testing::graph::{large_game, random_game};
use crate::testing::negamax::Negamax;

const SEARCH: u64 = 99;

type Said = Message<u64, Vec<Child>, Finding>;

/// A code that no position has.
const LOST: Finding = Finding { code: u64::MAX, entry: Entry { phi: INFINITY, delta: 0, work: 1 } };

const DFPN: DfpnOptions = DfpnOptions {
    combination: Combination { weight_64: 8 },
    epsilon_1024: 154,
    settle: SettleOptions::NEVER,
    tries: u32::MAX,
    virtual_1024: 0,
};

fn rules(job_nodes: u64) -> RemoteRules {
    RemoteRules { job_nodes, facts_at_once: 5, ..RemoteRules::default() }
}

const RULES: PlainRules =
    PlainRules { fact_work: 1, most_entries: 1 << 16, congestion_64: 16, refresh_age: 10 };

const OPTIONS: WorkerOptions =
    WorkerOptions { dfpn: DFPN, threads: NonZeroUsize::MIN, rules: RULES };

fn remote(game: &GraphGame) -> PlainWorker<'_, GraphGame> {
    PlainWorker::new(game, Table::new(1 << 14).unwrap(), OPTIONS, SEARCH, None)
}

fn led(game: &GraphGame, rules: RemoteRules, run: impl FnOnce(&mut dyn RemoteLeader)) -> Report {
    let (table, port) = (Table::new(1 << 14).unwrap(), TreeSnapshots::new());
    let (root, combination) = (Root::new(game, 0, &table), DFPN.combination);
    let tree = SavedTree::empty(TreeRoom::new(1 << 20, 4, combination)).unwrap();
    lead(root, tree, combination, rules, RULES, SEARCH, &mut (), &port, run)
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
    leader: &mut dyn RemoteLeader,
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
    let (mut to_desk, mut to_workers): (Vec<Vec<u8>>, Vec<Told>) = Default::default();
    let (mut refused, mut fetched) = (0, 0);
    while !leader.standing().is_over {
        ticks += 1;
        assert!(ticks < 2_000_000, "the search comes to an end");
        if !dead.is_empty() && random(10) == 0 {
            let worker = dead.remove(0);
            leader.lost(worker);
            buried.push(worker);
        }
        while (remotes.len() as u64) < workers {
            remotes.insert(born, remote(game));
            born += 1;
        }
        for (worker, job) in leader.take_stops() {
            if let Some(remote) = remotes.get(&worker) {
                remote.call_off(job);
            }
        }
        // A worker without anything to do says so, and also says it when its message may be lost.
        let alive: Vec<u64> = remotes.keys().copied().collect();
        let worker = alive[random(alive.len() as u64) as usize];
        to_workers.push(leader.hello(worker));
        if random(256) < trouble.death {
            remotes.remove(&worker);
            dead.push(worker);
        }
        if !to_workers.is_empty() && random(3) > 0 {
            let told = to_workers.swap_remove(random(to_workers.len() as u64) as usize);
            let Some(remote) = remotes.get(&told.worker) else { continue };
            let Ordered::Search { node, last, .. } = &told.order else { continue };
            let mut found = None;
            if let Some(other) = last.and_then(|last| remotes.get(&last)) {
                found = Some(other.entries(node).unwrap());
                fetched += 1;
            }
            let message = remote.search(told.worker, &told.answer, found.as_deref()).unwrap();
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
                assert!(leader.hear(&message).is_err());
                refused += 1;
                continue;
            }
            match leader.hear(&message) {
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
        led(&game, rules(nodes), |leader| told = Some(leader.hello(0)));
        let told = told.unwrap();
        remote.search(0, &told.answer, None).unwrap();
        let bytes = remote.entries(&wire::encode(Kind::Node, SEARCH, &0u64)).unwrap();
        let mut found = entries::read(SEARCH, &bytes).unwrap();
        let mut expected = Vec::new();
        known_below(&game, remote.table(), 0, &mut expected);
        found.sort_by_key(|finding| finding.code);
        expected.sort_by_key(|finding: &Finding| finding.code);
        prop_assert_eq!(&found, &expected);
        // Another worker that takes them over knows the same.
        let other = self::remote(&game);
        other.search(2, &told.answer, Some(&bytes)).unwrap();
        for Finding { code, entry } in found {
            let here = other.table().lookup(game.key(code), code).unwrap();
            prop_assert!(entry.value().is_none() || here.value() == entry.value());
            prop_assert!(here.work >= entry.work);
        }
    }
}

fn known_below(game: &GraphGame, table: &Table, code: u64, found: &mut Vec<Finding>) {
    let Some(entry) = table.lookup(game.key(code), code) else { return };
    if found.iter().any(|other| other.code == code) {
        return;
    }
    found.push(Finding { code, entry });
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
        let mut told = leader.hello(0);
        while leader.standing().facts < 20 {
            let message = first.search(0, &told.answer, None).unwrap();
            told = leader.hear(&message).unwrap();
        }
        let facts = leader.standing().facts;
        // Five at a time, with its first name.
        let mut told = leader.hello(2);
        for _ in 0..facts.div_ceil(5) {
            let message = late.search(2, &told.answer, None).unwrap();
            told = leader.hear(&message).unwrap();
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
        let told = leader.hello(0);
        busy.go_on(Some(50));
        assert_eq!(busy.counters().nodes, 0, "there has been no job");
        let messages = [&idle, &busy].map(|one| one.search(0, &told.answer, None).unwrap());
        assert_eq!(messages[0], messages[1]);
        let before = busy.counters().nodes;
        busy.go_on(Some(50));
        let more = busy.counters().nodes - before;
        assert!((40..110).contains(&more), "{more}");
        // The next job's result counts what was searched meanwhile, once, and has its facts.
        let told = leader.hear(&messages[0]).unwrap();
        let [without, with] =
            [&idle, &busy].map(|one| said(&one.search(0, &told.answer, None).unwrap()));
        let spent = |message: &Said| match message.notice {
            Notice::Done { spent, .. } => spent.nodes,
            _ => panic!("{message:?}"),
        };
        let own = busy.counters().nodes - before - more;
        assert_eq!(spent(&with), own + more);
        assert_eq!(spent(&without), idle.counters().nodes - before);
        assert!(with.facts.len() > without.facts.len());
    });
    // A job that comes while the worker goes on without limit is searched at once.
    let has_begun = AtomicBool::new(false);
    let hooked = Hooked::new(&game, || has_begun.store(true, Ordering::Relaxed));
    let busy = PlainWorker::new(&hooked, Table::new(1 << 8).unwrap(), OPTIONS, SEARCH, None);
    led(&game, rules(4), |leader| {
        let told = leader.hello(0);
        let message = busy.search(0, &told.answer, None).unwrap();
        let told = leader.hear(&message).unwrap();
        has_begun.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| busy.go_on(None));
            while !has_begun.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let begun = Instant::now();
            busy.search(0, &told.answer, None).unwrap();
            assert!(begun.elapsed() < Duration::from_secs(20));
        });
    });
}

#[test]
fn findings_that_no_search_stores_are_refused() {
    let bytes = |cell: u128| [&[16], &cell.to_le_bytes()[..]].concat();
    let sound = Entry { phi: 3, delta: 4, work: 5 };
    let finding = Finding { code: 77, entry: sound };
    assert_eq!(postcard::to_allocvec(&finding).unwrap(), bytes(sound.pack(77)));
    assert_eq!(postcard::from_bytes(&bytes(sound.pack(77))), Ok(finding));
    let cell = |phi, delta| Entry { phi, delta, work: 1 }.pack(77);
    for cell in [0, 77, cell(0, 9), cell(INFINITY, 9), cell(9, INFINITY)] {
        assert!(postcard::from_bytes::<Finding>(&bytes(cell)).is_err(), "{cell:x}");
    }
    let short = [&[15], &sound.pack(77).to_le_bytes()[1..]].concat();
    assert!(postcard::from_bytes::<Finding>(&short).is_err());
}

#[test]
fn messages_of_others_are_refused() {
    let game = large_game();
    let remote = remote(&game);
    led(&game, rules(20), |leader| {
        let told = leader.hello(0);
        let message = remote.search(0, &told.answer, None).unwrap();
        assert!(matches!(leader.hear(&told.answer), Err(WireError::Unexpected(_))));
        assert!(remote.search(0, &message, None).is_err());
        assert!(remote.entries(&message).is_err());
        assert!(remote.search(0, &told.answer, Some(&message)).is_err());
        let other = wire::encode(Kind::Message, SEARCH + 1, &said(&message));
        assert_eq!(leader.hear(&other), Err(WireError::OtherSearch));
        assert_eq!(leader.standing().counters.nodes, 1, "nothing has changed");
        leader.hear(&message).unwrap();
        assert!(leader.standing().counters.nodes > 1);
    });
}

#[test]
fn a_lost_worker_gets_no_job_whatever_comes_of_it_later() {
    let game = large_game();
    let remotes = [(); 2].map(|()| remote(&game));
    led(&game, rules(20), |leader| {
        let told = leader.hello(0);
        let late = remotes[0].search(0, &told.answer, None).unwrap();
        leader.lost(0);
        assert_eq!(leader.standing().jobs, 0);
        let other = leader.hello(1);
        assert!(matches!(leader.hear(&late), Err(WireError::Unexpected(_))));
        let standing = leader.standing();
        assert_eq!((standing.jobs, standing.facts, standing.counters.nodes), (1, 0, 1));
        // The leaf is the other's.
        let message = remotes[1].search(1, &other.answer, None).unwrap();
        leader.hear(&message).unwrap();
        assert!(matches!(leader.hear(&late), Err(WireError::Unexpected(_))));
        assert_eq!(leader.standing().jobs, 1);
    });
}

fn said(message: &[u8]) -> Said {
    wire::decode(Kind::Message, SEARCH, message).unwrap()
}

/// Whole messages that no worker writes.
#[test]
fn what_cannot_be_true_is_refused() {
    let game = large_game();
    let remote = remote(&game);
    let report = led(&game, rules(20), |leader| {
        let told = leader.hello(0);
        let message = remote.search(0, &told.answer, None).unwrap();
        let said = said(&message);
        let Notice::Done { job, outcome: JobOutcome::Open(children), spent } = &said.notice else {
            panic!("{said:?}")
        };
        let (job, spent) = (*job, *spent);
        let stranger = Child { code: 0, phi: 1, delta: 1, effort: 1 };
        let done = |outcome| Notice::Done { job, outcome, spent };
        let open = |child| done(JobOutcome::Open([&children[..], &[child]].concat()));
        let many = Counters { table_used: u64::MAX, ..spent };
        let notices = [
            open(Child { phi: 0, ..children[0] }),
            open(Child { delta: INFINITY, ..children[0] }),
            open(stranger),
            done(JobOutcome::Solved(Value::Win, None)),
            done(JobOutcome::Solved(Value::Win, Some(stranger.code))),
            Notice::Done { job, outcome: JobOutcome::Stopped, spent: many },
        ];
        let messages = notices.map(|notice| Message { notice, ..said.clone() });
        let unknown = Message { worker: 1, ..said.clone() };
        for forged in messages.iter().chain([&unknown]) {
            let bytes = wire::encode(Kind::Message, SEARCH, forged);
            let heard = leader.hear(&bytes);
            assert!(matches!(heard, Err(WireError::Unexpected(_))), "{forged:?}: {heard:?}");
        }
        assert_eq!(leader.standing().counters.nodes, 1, "nothing has changed");
        leader.hear(&message).unwrap();
    });
    assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted));
}

#[test]
fn a_worker_takes_any_job() {
    let game = random_game(1);
    let remote = remote(&game);
    let search = Search { job: u64::MAX, node: 0, budget: u64::MAX, last: None };
    let (order, facts) = (
        Order::Search(search),
        vec![Finding { entry: Entry::solved(Value::Loss, u64::MAX), ..LOST }; 2],
    );
    let answer: Answer<u64, Finding> = Answer { order, facts, read: usize::MAX };
    let answer = wire::encode(Kind::Answer, SEARCH, &answer);
    let message = said(&remote.search(u64::MAX, &answer, None).unwrap());
    assert!(matches!(message.notice, Notice::Done { job: u64::MAX, .. }));
}

#[test]
fn many_findings_are_taken_in_by_several_threads() {
    let game = random_game(1);
    let options = WorkerOptions { threads: NonZeroUsize::new(3).unwrap(), ..OPTIONS };
    let remote = PlainWorker::new(&game, Table::new(1 << 20).unwrap(), options, SEARCH, None);
    let search = Search { job: 0, node: 0, budget: 2, last: None };
    let code = |number: u64| (1 << 40) + number;
    let finding = |number| Finding { code: code(number), entry: Entry::solved(Value::Win, number) };
    let facts: Vec<Finding> = (1..30_000).map(finding).collect();
    let answer = Answer { order: Order::Search(search), facts, read: 0 };
    remote.search(0, &wire::encode(Kind::Answer, SEARCH, &answer), None).unwrap();
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
    let rules = PlainRules { fact_work: 1 << 40, most_entries: 0, ..RULES };
    let options = WorkerOptions { rules, ..OPTIONS };
    // Too small a table to come to an end.
    let remote = PlainWorker::new(&hooked, Table::new(1 << 8).unwrap(), options, SEARCH, None);
    let report = led(&game, self::rules(1 << 40), |leader| {
        let told = leader.hello(0);
        let Ordered::Search { job, .. } = told.order else { panic!("{told:?}") };
        std::thread::scope(|scope| {
            let searching = scope.spawn(|| remote.search(0, &told.answer, None).unwrap());
            while !has_begun.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let begun = Instant::now();
            remote.call_off(job);
            let message = searching.join().unwrap();
            assert!(begun.elapsed() < Duration::from_secs(20));
            let told = leader.hear(&message).unwrap();
            assert!(matches!(told.order, Ordered::Search { job: next, .. } if next > job));
        });
    });
    assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted));
}

#[test]
fn many_threads_tell_of_more_work_only() {
    let rules = PlainRules { fact_work: 100, ..RULES };
    let told_from = |threads| rules.told_from(NonZeroUsize::new(threads).unwrap());
    assert_eq!([1, 11, 16, 32, 64].map(told_from), [100, 100, 200, 800, 3200]);
    assert_eq!(told_from(usize::MAX), u64::MAX / 128 * 100);
}
