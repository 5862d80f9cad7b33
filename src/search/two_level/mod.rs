//! Proof-number search on two levels (PNS-PDFPN; Čížek, Balko and Schmid): a master with a
//! proof-number tree, and df-pn workers to whom its leaves are jobs.
//!
//! The master gives every idle worker the best leaf that nobody has, as in a parallel PN² (the tree
//! and its selection are the same). The worker searches it until it is solved or has evaluated so
//! many nodes, and returns its children with their numbers, which become nodes of the master's
//! tree. In between it sends interim numbers, by which the master chooses the others' leaves. If a
//! leaf leaves the tree because something above it was solved, the master calls its job off.
//!
//! Unlike a second-level tree of PN², what a worker has found out stays in its table. In one process
//! all workers share the table, so that each has all results of the others.
//!
//! Master and workers know each other by messages only ([`messages`]); the search runs over anything
//! that carries these.

#![forbid(unsafe_code)]

mod master;
pub mod messages;
mod worker;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::checkpoint::TreePort;
use super::control::{Counters, Limits, Observer, Outcome, Reason, Report};
use super::dfpn::DfpnOptions;
use super::game::Game;
use super::job_tree::{Facts, JobTree, JobTreeOptions};
use super::pn2::gate::Gate;
use super::table::Table;
use master::Master;

/// The parameters of the two-level search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoLevelOptions {
    /// The workers' df-pn. Its combination is the master's as well.
    pub dfpn: DfpnOptions,
    /// Workers, each of which has one job at a time.
    pub workers: NonZeroUsize,
    /// Threads of each worker.
    pub threads: NonZeroUsize,
    /// Nodes that a job may evaluate; at least 2 are taken.
    pub job_nodes: u64,
    /// Expansions between two updates to the master, rounded up to the pace at which df-pn calls its
    /// observer: 2048 on one thread.
    pub update_expansions: u64,
    /// What a worker below a node adds to the node's delta when the master selects, beside 1, as a
    /// part of the delta in 1/64.
    pub congestion_64: u32,
    /// Expansions by the workers after which the master looks a node's children up in the table
    /// again; `u32::MAX` for never.
    pub refresh_age: u32,
}

impl TwoLevelOptions {
    /// Jobs of 10 000 nodes, with an update after every 4096 expansions.
    pub fn new(dfpn: DfpnOptions, workers: NonZeroUsize, threads: NonZeroUsize) -> Self {
        TwoLevelOptions {
            dfpn,
            workers,
            threads,
            job_nodes: 10_000,
            update_expansions: 4096,
            congestion_64: 16,
            refresh_age: 1000,
        }
    }
}

/// Stack of a worker's thread; df-pn recurses as deep as the longest line.
const STACK_BYTES: usize = 16 << 20;

/// Searches a position on two levels. The calling thread is the master.
///
/// The master's tree takes at most `tree_bytes` bytes, some 22 for a node; if that is not enough,
/// the outcome is `Unknown` for [`Reason::Memory`]. The node limit is overrun by at most two
/// expansions of each thread.
///
/// [`Counters::nodes`] are the positions that the workers have evaluated, [`Counters::first_level`]
/// those that became nodes of the master's tree, and [`Counters::second_level`] the nodes of all
/// jobs that have ended.
///
/// # Panics
/// If the game or the observer does, or if the system starts no thread.
pub fn two_level<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
    tree_bytes: usize,
    options: TwoLevelOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let port = TreePort::idle();
    two_level_saving(game, root, table, tree_bytes, options, limits, observer, &port)
}

/// [`two_level`] that begins with the tree of an earlier search, and hands its own over, where
/// somebody keeps checkpoints ([`super::checkpoint`]).
#[expect(clippy::too_many_arguments, reason = "those of two_level and one more")]
pub fn two_level_saving<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
    tree_bytes: usize,
    options: TwoLevelOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    port: &TreePort,
) -> Report {
    let (Some(memory), region, root_block) = port.open(tree_bytes, |units| units) else {
        return Report {
            outcome: Outcome::Unknown(Reason::Memory),
            phi: 1,
            delta: 1,
            best: None,
            counters: Counters { nodes: 1, first_level: 1, ..Counters::default() },
            memory_bytes: table.bytes() as u64,
        };
    };
    let tree_options = JobTreeOptions {
        combination: options.dfpn.combination,
        open_entries: true,
        refresh_age: options.refresh_age,
        congestion_64: options.congestion_64,
    };
    let gate = Gate::new(table);
    let broken = AtomicBool::new(false);
    let (link, ends) = messages::channels(options.workers.get());
    let facts = Facts { game, table };
    let mut tree = JobTree::new(memory, tree_options, root);
    tree.adopt(region, root_block);
    let mut master = Master::new(facts, gate.pass(), tree, link, port, options, limits.nodes);
    let master = thread::scope(|scope| {
        let mut handles = Vec::with_capacity(ends.len());
        for mut end in ends {
            let (gate, broken) = (&gate, &broken);
            let work = move || {
                let _watch = Broken(broken);
                worker::work(game, table, gate.pass(), &options, &mut end);
            };
            let thread = thread::Builder::new().name("df-pn".into()).stack_size(STACK_BYTES);
            handles.push(thread.spawn_scoped(scope, work).expect("the system starts a thread"));
        }
        master.direct(limits, &broken, observer);
        // The workers end when their links do.
        let Master { tree, counters, reason, .. } = {
            master.counters = master.counters_now();
            master
        };
        for handle in handles {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
        (tree, counters, reason)
    });
    let (tree, counters, reason) = master;
    let outcome = match tree.value {
        Some(value) => Outcome::Known(value),
        None => Outcome::Unknown(reason.expect("an open search was stopped")),
    };
    let report = Report {
        outcome,
        phi: tree.phi,
        delta: tree.delta,
        best: tree.best,
        counters,
        memory_bytes: (table.bytes() + tree.bytes()) as u64,
    };
    port.leave(|| tree.into_parts());
    report
}

/// Tells the master when its thread panics.
struct Broken<'b>(&'b AtomicBool);

impl Drop for Broken<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SettleOptions;
    use crate::search::control::Progress;
    use crate::search::game::{Child, Expansion, Value};
    use crate::search::known::{Answer, Informed, Known};
    use crate::search::negamax::Negamax;
    use crate::search::numbers::Combination;
    use crate::search::pns::tests::{large_game, random_game};
    use crate::search::split_mix::mix;
    use std::time::{Duration, Instant};

    fn options(workers: usize, threads: usize, job_nodes: u64) -> TwoLevelOptions {
        let dfpn = DfpnOptions {
            combination: Combination { weight_64: 8 },
            epsilon_1024: 154,
            settle: SettleOptions { budget: 20, effort: 3 },
            virtual_1024: 4,
        };
        let [workers, threads] = [workers, threads].map(|n| NonZeroUsize::new(n).unwrap());
        TwoLevelOptions {
            job_nodes,
            refresh_age: 0,
            ..TwoLevelOptions::new(dfpn, workers, threads)
        }
    }

    fn run(game: &impl Game, options: TwoLevelOptions, limits: Limits<'_>) -> Report {
        let table = Table::new(1 << 16).unwrap();
        two_level(game, 0, &table, 1 << 20, options, limits, &mut ())
    }

    #[test]
    fn random_games_have_the_value_of_negamax() {
        let mut large = 0;
        for seed in 0..60 {
            let game = random_game(seed);
            let mut oracle = Negamax::new(&game);
            let value = oracle.value(0);
            for (workers, threads, nodes) in
                [(1, 1, 0), (2, 1, 10), (5, 1, 3), (33, 1, 20), (2, 2, 8)]
            {
                let report = run(&game, options(workers, threads, nodes), Limits::default());
                assert_eq!(report.outcome, Outcome::Known(value), "seed {seed}, {workers} workers");
                if value == Value::Win {
                    let best = report.best.expect("a won root has a lost child");
                    assert_eq!(oracle.value(best), Value::Loss, "seed {seed}, {workers} workers");
                }
                large += u32::from(report.counters.first_level > 10);
            }
        }
        assert!(large > 10, "{large}");
    }

    #[test]
    fn limits_stop_all_workers_and_are_named() {
        let game = large_game();
        let stop = AtomicBool::new(true);
        for workers in [1, 2, 8] {
            let options = options(workers, 1, 300);
            for nodes in [0, 1, 2, 50, 3000] {
                let limits = Limits { nodes: Some(nodes), ..Limits::default() };
                let report = run(&game, options, limits);
                assert_eq!(report.outcome, Outcome::Unknown(Reason::NodeLimit));
                assert!(report.counters.nodes <= nodes.max(1) + 2 * 58 * workers as u64);
                assert!(report.phi > 0 && report.delta > 0);
            }
            let limits = Limits { stop: Some(&stop), ..Limits::default() };
            assert_eq!(run(&game, options, limits).outcome, Outcome::Unknown(Reason::Interrupted));
            let started = Instant::now();
            let deadline = Some(started + Duration::from_millis(30));
            // A job that only an order ends.
            let long = TwoLevelOptions { job_nodes: u64::MAX, ..options };
            let limits = Limits { deadline, ..Limits::default() };
            let report = run(&Endless, long, limits);
            assert_eq!(report.outcome, Outcome::Unknown(Reason::TimeLimit));
            // Generous: a loaded machine may not run us for a while.
            assert!(started.elapsed() < Duration::from_secs(10));
        }
    }

    /// A tree of three moves at each of 50 plies, without transpositions. The lower bits of a code
    /// count the plies.
    struct Endless;

    impl Game for Endless {
        type Scratch = ();

        fn expand(
            &self,
            code: u64,
            (): &mut (),
            children: &mut Vec<Child>,
            mut announce: impl FnMut(u64),
        ) -> Expansion {
            let ply = code & 63;
            if ply == 50 {
                return Expansion::Lost;
            }
            for number in 1..=3 {
                let code = mix(code.wrapping_mul(4) + number) & !63 | (ply + 1);
                announce(code);
                children.push(Child { code, phi: 1, delta: 1, effort: 9 });
            }
            Expansion::Open
        }

        fn key(&self, code: u64) -> u64 {
            mix(code)
        }
    }

    #[test]
    fn too_little_memory_is_no_answer() {
        let game = large_game();
        for bytes in [0, 64, 1000] {
            let table = Table::new(1 << 16).unwrap();
            let options = options(2, 1, 30);
            let report = two_level(&game, 0, &table, bytes, options, Limits::default(), &mut ());
            assert_eq!(report.outcome, Outcome::Unknown(Reason::Memory));
        }
    }

    #[test]
    fn known_values_are_used_and_failures_end_the_search() {
        struct All(Answer);
        impl Known for All {
            fn value(&self, _: u64) -> Answer {
                self.0
            }
        }
        let nim = large_game();
        let lost = All(Answer::Known(Value::Loss));
        let report = run(&Informed::new(&nim, &lost), options(2, 1, 30), Limits::default());
        assert_eq!(report.outcome, Outcome::Known(Value::Loss));
        let failed = All(Answer::Failed);
        let report = run(&Informed::new(&nim, &failed), options(2, 1, 30), Limits::default());
        assert_eq!(report.outcome, Outcome::Unknown(Reason::KnownValues));
    }

    #[test]
    fn a_panic_of_a_worker_or_of_the_observer_ends_the_search() {
        struct Breaks;
        impl Known for Breaks {
            fn value(&self, code: u64) -> Answer {
                assert!(code != 77, "the values broke");
                Answer::Unknown
            }
        }
        struct Panics;
        impl Observer for Panics {
            fn progress(&mut self, _: &Progress) {
                panic!("the observer broke");
            }
        }
        let nim = large_game();
        let informed = Informed::new(&nim, &Breaks);
        let broken =
            std::panic::catch_unwind(|| run(&informed, options(3, 1, 30), Limits::default()));
        assert!(broken.is_err());
        let broken = std::panic::catch_unwind(|| {
            let table = Table::new(1 << 16).unwrap();
            let options = options(3, 1, 30);
            two_level(&nim, 0, &table, 1 << 20, options, Limits::default(), &mut Panics)
        });
        assert!(broken.is_err());
    }

    #[test]
    fn links_carry_messages_in_order_and_say_who_leaves() {
        use messages::{JobOutcome, MasterLink, Notice, Order, WorkerLink, channels};
        let (mut master, mut ends) = channels(2);
        master.send(0, Order::Job { id: 3, code: 5, nodes: 7 }).unwrap();
        assert_eq!(ends[0].wait(), Ok(Order::Job { id: 3, code: 5, nodes: 7 }));
        assert_eq!(ends[0].poll(), Ok(None));
        let outcome = JobOutcome::Solved(Value::Win, Some(4));
        let done = Notice::Done { id: 3, outcome, counters: Counters::default() };
        ends[0].tell(done.clone()).unwrap();
        assert_eq!(master.receive(Duration::from_secs(9)), Ok(Some((0, done))));
        drop(ends.pop());
        assert_eq!(master.receive(Duration::from_secs(9)), Ok(Some((1, Notice::Leaving))));
        assert!(master.send(1, Order::Stop { id: 0 }).is_err());
        drop(ends);
        assert_eq!(master.receive(Duration::from_secs(9)), Ok(Some((0, Notice::Leaving))));
        assert!(master.receive(Duration::from_secs(9)).is_err());
    }
}
