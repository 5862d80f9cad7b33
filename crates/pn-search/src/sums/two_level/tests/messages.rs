//! Single messages, and what a leader makes of them.

use super::*;
use crate::cluster::message::{JobOutcome, Reply, WorkerState};
use crate::run::Counters;

/// A leader of a search that takes a few jobs.
fn with_desk(
    test: impl FnOnce(&mut dyn RemoteCoordinator, &[SumWorker<'_, Apart<'_>>]),
) -> (Report, Option<Contradiction>) {
    let game = Declared::random(8, 70, 6);
    let games = [(); 3].map(|()| Apart::new(&game, 70));
    let workspaces = games.each_ref().map(|game| SolverState::new(game, 1 << 20).unwrap());
    let [workspace, first, second] = workspaces;
    let options = SearchOptions::PAPER;
    let worker = |workspace| {
        SumWorker::new(workspace, options, NonZeroUsize::MIN, SEARCH, Limits::default())
    };
    let workers = [worker(first), worker(second)];
    let [apart, ..] = &games;
    let atoms = [69, 68, 67].map(|atom| apart.intern(atom).unwrap());
    let root = Sum::new(apart, &atoms, 0);
    let rules = CoordinatorConfig { max_results_in_reply: 1000, ..rules(4) };
    coordinate_sum(&workspace, &root, options, rules, SEARCH, &mut (), |leader| {
        test(leader, &workers)
    })
}

fn said(worker: u64, state: WorkerState<Vec<Hints>>, results: Vec<(&str, u32)>) -> Vec<u8> {
    let fact = |(atom, number): (&str, u32)| GrundyNumber { atom: atom.to_owned(), number };
    let results = results.into_iter().map(fact).collect();
    let message: Said = Request { worker, results, received: 0, state };
    wire::encode(Kind::Request, SEARCH, &message)
}

#[test]
fn who_comes_late_gets_the_whole_log() {
    with_desk(|leader, workers| {
        let mut told = leader.handle_idle(0);
        for _ in 0..4 {
            let message = workers[0].search(0, &told.reply, None).unwrap();
            told = leader.handle(&message).unwrap();
        }
        let facts = leader.status().results;
        assert!(facts > 0);
        let late = leader.handle_idle(1);
        let answer: Reply<Couple, GrundyNumber> =
            wire::decode(Kind::Reply, SEARCH, &late.reply).unwrap();
        assert_eq!((answer.results.len(), answer.received), (facts, facts));
        workers[1].search(1, &late.reply, None).unwrap();
        let known = workers[1].workspace.knowledge();
        for fact in answer.results {
            let atom = workers[1].workspace.game.find(&fact.atom, &mut ()).unwrap().unwrap();
            assert_eq!(known.get(atom).grundy(), Some(fact.number));
        }
    });
}

#[test]
fn what_names_no_atom_or_no_number_is_ignored() {
    let (report, _) = with_desk(|leader, workers| {
        let odd = ["", "a", "a01", "a70", "a-1", "b3", "a9999999999999999", "ä", "a1 "];
        let facts = odd.map(|name| (name, 0)).into_iter();
        let facts = facts.chain([("a3", 65_000), ("a3", u32::MAX)]).collect();
        leader.handle_idle(4);
        leader.handle(&said(4, WorkerState::Idle, facts)).unwrap();
        assert_eq!((leader.status().results, leader.status().is_over), (0, false));
        let told = leader.handle_idle(0);
        let job = told.job.expect("a job");
        let hints = |excluded: u64, numbers: Vec<(u32, u32, u32, u64)>| {
            // As it is written: a name, bits and numbers.
            let hints = postcard::to_allocvec(&("a01", excluded, numbers)).unwrap();
            postcard::from_bytes::<Hints>(&hints).unwrap()
        };
        let open = |hints| {
            let spent = Counters { nodes: 3, expansions: 1 << 44, ..Counters::default() };
            WorkerState::Done { job, outcome: JobOutcome::Open(vec![hints]), spent }
        };
        for unsound in [
            hints(1 << 48, vec![]),
            hints(u64::MAX, vec![]),
            hints(0, vec![(0, 0, 1, 1)]),
            hints(0, vec![(0, 1, 1 << 27, 1)]),
            hints(0, vec![(u32::MAX, 1, 1, 1)]),
        ] {
            assert!(leader.handle(&said(0, open(unsound), vec![])).is_err());
        }
        let sound = hints(5, vec![(3, 1, 1, u64::MAX)]);
        leader.handle(&said(0, open(sound), vec![])).unwrap();
        assert!(!leader.status().is_over);
        let mut told = leader.handle_idle(2);
        while !told.is_over {
            if told.job.is_none() {
                // Those who said hello have jobs, too.
                [0, 4].into_iter().for_each(|worker| leader.remove_worker(worker));
                told = leader.handle_idle(2);
                continue;
            }
            let message = workers[0].search(2, &told.reply, None).unwrap();
            told = leader.handle(&message).unwrap();
        }
    });
    assert!(report.outcome.value().is_some());
}

/// What a search is told that ends for a contradiction.
fn contradiction(
    test: impl FnOnce(&mut dyn RemoteCoordinator, &[SumWorker<'_, Apart<'_>>]),
) -> String {
    let (report, contradiction) = with_desk(|leader, workers| {
        test(leader, workers);
        assert!(leader.status().is_over);
        assert!(leader.handle_idle(8).is_over);
    });
    assert_eq!(report.outcome, Outcome::Unknown(Reason::Contradiction));
    contradiction.expect("somebody has told it").to_string()
}

#[test]
fn contradictions_end_the_search() {
    // Two numbers for one atom.
    let said_of_two = contradiction(|leader, _| {
        for worker in [4, 6] {
            leader.handle_idle(worker);
        }
        leader.handle(&said(4, WorkerState::Idle, vec![("a3", 0)])).unwrap();
        leader.handle(&said(4, WorkerState::Idle, vec![("a3", 0)])).unwrap();
        assert_eq!((leader.status().results, leader.status().is_over), (1, false));
        leader.handle(&said(6, WorkerState::Idle, vec![("a3", 1)])).unwrap();
    });
    assert_eq!(said_of_two, "a3: Grundy number 0 was known, and worker 6 says Grundy number 1");
    // No number is left for one.
    let said_of_none = contradiction(|leader, _| {
        let told = leader.handle_idle(0);
        let job = told.job.expect("a job");
        leader.handle(&said(0, WorkerState::Idle, vec![("a3", 2)])).unwrap();
        let all = ("a3", (1u64 << 48) - 1, Vec::<(u32, u32, u32, u64)>::new());
        let all: Hints = postcard::from_bytes(&postcard::to_allocvec(&all).unwrap()).unwrap();
        let (outcome, spent) = (JobOutcome::Open(vec![all]), Counters::default());
        let bytes = said(0, WorkerState::Done { job, outcome, spent }, vec![]);
        leader.handle(&bytes).unwrap();
    });
    let told = "a3: Grundy number 2 was known, and worker 0 says no Grundy number of 0, 1, 2, 3,";
    assert!(said_of_none.starts_with(told), "{said_of_none}");
    assert!(said_of_none.ends_with(", 46, 47 or more"), "{said_of_none}");
    // A worker that is told what it knows to be wrong says so, with its number if it has one.
    for knows_number in [true, false] {
        let said_by_worker = contradiction(|leader, workers| {
            let atom = workers[0].workspace.game.intern(5).unwrap();
            let knowledge = workers[0].workspace.knowledge();
            match knows_number {
                true => knowledge.set_grundy(atom, 1),
                false => knowledge.exclude(atom, 1),
            };
            leader.handle_idle(4);
            leader.handle(&said(4, WorkerState::Idle, vec![("a5", 0)])).unwrap();
            let told = leader.handle_idle(0);
            let message = workers[0].search(0, &told.reply, None).unwrap();
            leader.handle(&message).unwrap();
        });
        let expected = match knows_number {
            true => "a5: Grundy number 0 was known, and worker 0 says Grundy number 1",
            false => "worker 0 knows otherwise than it was told",
        };
        assert_eq!(said_by_worker, expected);
    }
}

/// The result that solves the root comes with the contradiction, or after it.
#[test]
fn no_answer_counts_that_comes_with_a_contradiction() {
    // All messages of a search with one worker, the last of which solves the root.
    let mut messages: Vec<Vec<u8>> = Vec::new();
    let (report, _) = with_desk(|leader, workers| {
        let mut told = leader.handle_idle(0);
        while !told.is_over {
            messages.push(workers[0].search(0, &told.reply, None).unwrap());
            told = leader.handle(messages.last().unwrap()).unwrap();
        }
    });
    assert!(report.outcome.value().is_some());
    let (last, others) = messages.split_last().unwrap();
    let contradicting = |message: &[u8]| -> Vec<u8> {
        let mut message: Said = wire::decode(Kind::Request, SEARCH, message).unwrap();
        let known = [0, 1].map(|number| GrundyNumber { atom: "a3".to_owned(), number });
        message.results.extend(known);
        wire::encode(Kind::Request, SEARCH, &message)
    };
    for is_last in [true, false] {
        contradiction(|leader, _| {
            leader.handle_idle(0);
            others.iter().for_each(|message| drop(leader.handle(message).unwrap()));
            if is_last {
                leader.handle(&contradicting(last)).unwrap();
            } else {
                leader.handle_idle(1);
                leader.handle(&contradicting(&said(1, WorkerState::Idle, vec![]))).unwrap();
                leader.handle(last).unwrap();
            }
        });
    }
}
