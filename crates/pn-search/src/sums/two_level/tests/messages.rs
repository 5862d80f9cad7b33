//! Tests of single messages to a coordinator.

use super::*;

use crate::cluster::message::{JobOutcome, Reply, WorkerState};
use crate::numbers::INFINITY;
use crate::run::Counters;
use crate::table::Entry;

/// Calls `test` with a coordinator and two workers of a search that takes a few jobs. Returns the result of the search.
fn with_coordinator(
    test: impl FnOnce(&mut dyn RemoteCoordinator, &[Worker<'_, '_>]),
) -> (Report, Option<Contradiction>) {
    let game = Declared::random(8, 70, 6);
    let games = [(); 3].map(|()| ProcessGame::new(&game, 70));
    let states = games.map(|game| SolverState::new(Arc::new(game), 1 << 20).unwrap());
    let [state, first, second] = states;
    let options = SearchOptions::PAPER;
    let workers = [first, second].map(|state| worker(state, options, 1));
    let process_game = state.game();
    let atoms = [69, 68, 67].map(|atom| process_game.intern(atom).unwrap());
    let root = Sum::new(process_game, &atoms, 0);
    let config = CoordinatorConfig { max_results_in_reply: 1000, ..config(4) };
    coordinate_sum(&state, &root, options, config, SEARCH, &mut (), |coordinator| {
        test(coordinator, &workers)
    })
}

/// Returns the bytes of Grundy numbers in a message.
fn bytes_of(results: &[(&str, u32)]) -> Vec<u8> {
    let lost = Entry::solved(Value::Loss, 1);
    results.iter().flat_map(|&(atom, number)| bytes_of_couple(atom, number, lost)).collect()
}

fn bytes_of_couple(atom: &str, nimber: u32, entry: Entry) -> Vec<u8> {
    let mut bytes = Vec::new();
    SharedCouple { atom: atom.as_bytes(), nimber, entry }.append_to(&mut bytes);
    bytes
}

fn request(worker: u64, state: WorkerState<Vec<u8>>, results: Vec<(&str, u32)>) -> Vec<u8> {
    let results = bytes_of(&results);
    let request: SumRequest = Request { worker, results, received: 0, state };
    wire::encode(Kind::Request, SEARCH, &request)
}

#[test]
fn a_late_worker_receives_all_results() {
    with_coordinator(|coordinator, workers| {
        let mut delivery = coordinator.handle_idle(0);
        for _ in 0..4 {
            let message = workers[0].search(0, &delivery.reply, None).unwrap();
            delivery = coordinator.handle(&message).unwrap();
        }
        let results = coordinator.status().results;
        assert!(results > 0);
        let late = coordinator.handle_idle(1);
        let reply: Reply<Couple> = wire::decode(Kind::Reply, SEARCH, &late.reply).unwrap();
        assert_eq!((couples_in(&reply.results).count(), reply.received), (results, results));
        workers[1].search(1, &late.reply, None).unwrap();
        let SolverState { game, knowledge, .. } = &workers[1].job_search.state;
        for SharedCouple { atom, nimber, entry } in couples_in(&reply.results).flatten() {
            assert_eq!(entry.value(), Some(Value::Loss));
            let known = knowledge.get(game.find(atom, &mut ()).unwrap().unwrap());
            assert_eq!(known.grundy(), Some(nimber));
        }
    });
}

#[test]
fn invalid_names_and_numbers_are_ignored() {
    let (report, _) = with_coordinator(|coordinator, workers| {
        let invalid = ["", "a", "a01", "a70", "a-1", "b3", "a9999999999999999", "ä", "a1 "];
        let results = invalid.map(|name| (name, 0)).into_iter();
        let results = results.chain([("a3", 65_000), ("a3", 65_534)]).collect();
        coordinator.handle_idle(4);
        coordinator.handle(&request(4, WorkerState::Idle, results)).unwrap();
        assert_eq!((coordinator.status().results, coordinator.status().is_over), (0, false));
        let delivery = coordinator.handle_idle(0);
        let job = delivery.job.expect("a job");
        let open = |children| {
            let spent = Counters { nodes: 3, expansions: 1 << 44, ..Counters::default() };
            WorkerState::Done { job, outcome: JobOutcome::Open(children), spent }
        };
        let couple = |phi, delta| bytes_of_couple("a01", 3, Entry { phi, delta, work: u64::MAX });
        let valid = couple(1, 1);
        let long = [&valid[..2], &[200], &valid[3..]].concat();
        let short = valid[..9].to_vec();
        let large = [&[255; 2], &valid[2..]].concat();
        for invalid in [couple(0, 1), couple(1, INFINITY), large, long, short, vec![0]] {
            assert!(coordinator.handle(&request(0, open(invalid.clone()), vec![])).is_err());
            let invalid: SumRequest =
                Request { worker: 0, results: invalid, received: 0, state: WorkerState::Idle };
            let invalid = wire::encode(Kind::Request, SEARCH, &invalid);
            assert!(coordinator.handle(&invalid).is_err());
        }
        coordinator.handle(&request(0, open(valid), vec![])).unwrap();
        assert!(!coordinator.status().is_over);
        let mut delivery = coordinator.handle_idle(2);
        while !delivery.is_over {
            if delivery.job.is_none() {
                // Workers 0 and 4 have been assigned jobs as well. Their removal frees the leaves of these jobs.
                [0, 4].into_iter().for_each(|worker| coordinator.remove_worker(worker));
                delivery = coordinator.handle_idle(2);
                continue;
            }
            let message = workers[0].search(2, &delivery.reply, None).unwrap();
            delivery = coordinator.handle(&message).unwrap();
        }
    });
    assert!(report.outcome.value().is_some());
}

/// Returns the text of the contradiction that ends a search.
fn contradiction(test: impl FnOnce(&mut dyn RemoteCoordinator, &[Worker<'_, '_>])) -> String {
    let (report, contradiction) = with_coordinator(|coordinator, workers| {
        test(coordinator, workers);
        assert!(coordinator.status().is_over);
        assert!(coordinator.handle_idle(8).is_over);
    });
    assert_eq!(report.outcome, Outcome::Unknown(Reason::Contradiction));
    contradiction.expect("a contradiction was reported").to_string()
}

#[test]
fn contradictions_end_the_search() {
    // Two different numbers for an atom.
    let text = contradiction(|coordinator, _| {
        for worker in [4, 6] {
            coordinator.handle_idle(worker);
        }
        coordinator.handle(&request(4, WorkerState::Idle, vec![("a3", 0)])).unwrap();
        coordinator.handle(&request(4, WorkerState::Idle, vec![("a3", 0)])).unwrap();
        assert_eq!((coordinator.status().results, coordinator.status().is_over), (1, false));
        coordinator.handle(&request(6, WorkerState::Idle, vec![("a3", 1)])).unwrap();
    });
    assert_eq!(
        text,
        "a3: worker 6 reports Grundy number 1, but the earlier result is Grundy number 0"
    );
    // The Grundy number of an atom is excluded.
    let text = contradiction(|coordinator, _| {
        let delivery = coordinator.handle_idle(0);
        let job = delivery.job.expect("a job");
        coordinator.handle(&request(0, WorkerState::Idle, vec![("a3", 2)])).unwrap();
        let won = bytes_of_couple("a3", 2, Entry::solved(Value::Win, 9));
        let (outcome, spent) = (JobOutcome::Open(won), Counters::default());
        let bytes = request(0, WorkerState::Done { job, outcome, spent }, vec![]);
        coordinator.handle(&bytes).unwrap();
    });
    assert_eq!(
        text,
        "a3: worker 0 reports a win with a nim heap of 2, but the earlier result is Grundy number 2"
    );
    // A worker receives a number that contradicts its own results. It reports its own number if it has one.
    for knows_number in [true, false] {
        let text = contradiction(|coordinator, workers| {
            let atom = workers[0].job_search.state.game.intern(5).unwrap();
            let knowledge = workers[0].job_search.state.knowledge();
            match knows_number {
                true => knowledge.set_grundy(atom, 1),
                false => knowledge.exclude(atom, 1),
            };
            coordinator.handle_idle(4);
            coordinator.handle(&request(4, WorkerState::Idle, vec![("a5", 0)])).unwrap();
            let delivery = coordinator.handle_idle(0);
            let message = workers[0].search(0, &delivery.reply, None).unwrap();
            coordinator.handle(&message).unwrap();
        });
        let expected = match knows_number {
            true => {
                "a5: worker 0 reports Grundy number 1, but the earlier result is Grundy number 0"
            }
            false => "worker 0 received a Grundy number that contradicts its own results",
        };
        assert_eq!(text, expected);
    }
}

/// The result that solves the root arrives with the contradiction, or after it.
#[test]
fn after_a_contradiction_there_is_no_result() {
    // All requests of a search with one worker. The last one solves the root.
    let mut messages: Vec<Vec<u8>> = Vec::new();
    let (report, _) = with_coordinator(|coordinator, workers| {
        let mut delivery = coordinator.handle_idle(0);
        while !delivery.is_over {
            messages.push(workers[0].search(0, &delivery.reply, None).unwrap());
            delivery = coordinator.handle(messages.last().unwrap()).unwrap();
        }
    });
    assert!(report.outcome.value().is_some());
    let (last, others) = messages.split_last().unwrap();
    let contradicting = |message: &[u8]| -> Vec<u8> {
        let mut message: SumRequest = wire::decode(Kind::Request, SEARCH, message).unwrap();
        message.results.extend(bytes_of(&[("a3", 0), ("a3", 1)]));
        wire::encode(Kind::Request, SEARCH, &message)
    };
    for is_last in [true, false] {
        contradiction(|coordinator, _| {
            coordinator.handle_idle(0);
            others.iter().for_each(|message| drop(coordinator.handle(message).unwrap()));
            if is_last {
                coordinator.handle(&contradicting(last)).unwrap();
            } else {
                coordinator.handle_idle(1);
                coordinator.handle(&contradicting(&request(1, WorkerState::Idle, vec![]))).unwrap();
                coordinator.handle(last).unwrap();
            }
        });
    }
}
