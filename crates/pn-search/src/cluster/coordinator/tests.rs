//! Tests of the coordinator by single requests.

use super::*;
use crate::Value;
use crate::arena::Arena;
use crate::cluster::PlainTree;
use crate::cluster::shared_entry::{self, SharedEntry};
use crate::numbers::{Combination, Number};
use crate::plain::Root;
use crate::plain::game::Child;
use crate::pn2::{Pn2Budget, Pn2Options};
use crate::pns::PnsOptions;
use crate::table::{Entry, Table};
use crate::testing::graph::{GraphGame, large_game};

type PlainRequest = Request<Vec<Child>>;
type PlainReply = Reply<u64>;

const COMBINATION: Combination = Combination::mixed(8);

const TREE: CoordinatorConfig =
    CoordinatorConfig { refresh_age: 10, virtual_loss_64: 4, ..CoordinatorConfig::REMOTE };

fn config(job_nodes: u64) -> CoordinatorConfig {
    CoordinatorConfig { job_nodes, max_results_in_reply: 7, ..CoordinatorConfig::LOCAL }
}

/// Returns a tree below position 0.
fn tree<'a>(game: &'a GraphGame, table: &'a Table) -> PlainTree<'a, GraphGame> {
    let arena = Arena::new(1 << 20).unwrap();
    PlainTree::new(Root::new(game, 0, table), arena, COMBINATION, TREE)
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
