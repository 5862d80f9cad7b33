//! Sprouts with many machines: `konane-simulate sprouts '0*14' --machines 4`.
//!
//! Time follows from expansions, which differ in what they take by more than nodes of Konane do; so the
//! clock is right on average only. Messages are charged by their bytes, as entries of 16.

use std::time::{Duration, Instant};

use clap::Parser;
use konane::search::jobs::messages::{JobId, WorkerId};
use konane::search::jobs::remote::{RemoteLeader, RemoteWorker, Standing, Told, WireError};
use konane::search::sums::SearchOptions;
use konane::sprouts::Position;
use konane::sprouts::cluster::{ClusterError, ClusterSearch, lead, work};
use konane::{Observer, Reason};

use crate::costs::Costs;
use crate::flags::Flags;
use crate::pace::Turns;
use crate::world::World;

#[derive(Parser)]
#[command(about = "Sprouts with many machines on a virtual clock")]
struct Args {
    /// The position.
    position: Position,
    #[command(flatten)]
    flags: Flags,
    /// Microseconds of an expansion.
    #[arg(long, default_value_t = 20.0)]
    expansion_us: f64,
}

/// Makes so many workers more and runs with all of them.
fn with_workers(
    search: ClusterSearch<'_>,
    turns: &Turns,
    left: usize,
    workers: &[&dyn RemoteWorker],
    run: &mut dyn FnMut(&[&dyn RemoteWorker]),
) -> Result<(), ClusterError> {
    if left == 0 {
        run(workers);
        return Ok(());
    }
    work(search, Some(turns), |worker| {
        let more = [workers, &[worker]].concat();
        with_workers(search, turns, left - 1, &more, run)
    })?
}

/// A leader whose real time is taken.
struct Timed<'d> {
    leader: &'d mut dyn RemoteLeader,
    took: Duration,
}

impl Timed<'_> {
    fn take<T>(&mut self, call: impl FnOnce(&mut dyn RemoteLeader) -> T) -> T {
        let begun = Instant::now();
        let result = call(self.leader);
        self.took += begun.elapsed();
        result
    }
}

impl RemoteLeader for Timed<'_> {
    fn hello(&mut self, worker: WorkerId) -> Told {
        self.take(|leader| leader.hello(worker))
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<Told, WireError> {
        self.take(|leader| leader.hear(bytes))
    }

    fn lost(&mut self, worker: WorkerId) {
        self.leader.lost(worker);
    }

    fn take_stops(&mut self) -> Vec<(WorkerId, JobId)> {
        self.leader.take_stops()
    }

    fn set_job_nodes(&mut self, nodes: u64) {
        self.leader.set_job_nodes(nodes);
    }

    fn end(&mut self, reason: Reason) {
        self.leader.end(reason);
    }

    fn standing(&self) -> Standing {
        self.leader.standing()
    }
}

struct Nobody;

impl Observer for Nobody {}

/// Runs with the arguments after the word `sprouts`.
pub fn run(words: impl Iterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let name = "konane-simulate sprouts".to_owned();
    let args = Args::parse_from(std::iter::once(name).chain(words));
    let Flags { machines, threads, memory, leader_memory, costs, .. } = args.flags;
    let costs = Costs { node_ns: args.expansion_us * 1000.0, ..costs };
    let search = ClusterSearch {
        position: &args.position,
        nimber: 0,
        options: SearchOptions::TUNED,
        memory_bytes: memory << 20,
        threads,
    };
    let leader = ClusterSearch { memory_bytes: leader_memory << 20, ..search };
    let turns = Turns::default();
    let begun = Instant::now();
    let mut found = None;
    with_workers(search, &turns, machines, &[], &mut |workers| {
        let mut ran = None;
        let solution = lead(leader, args.flags.rules(), None, &mut Nobody, |leader| {
            let mut timed = Timed { leader, took: Duration::ZERO };
            let world = World::new(&mut timed, workers, costs, threads.get(), false)
                .counting(|counters| counters.expansions);
            let (time, traffic) = world.with_slow_machine(args.flags.slow).run();
            ran = Some((time, traffic, timed.took));
        });
        found = Some((solution, ran));
    })?;
    let (solution, ran) = found.expect("the workers were made");
    let (solution, (time, traffic, leading)) = (solution?, ran.expect("the leader has run"));
    let counters = solution.report.counters;
    let alone = counters.expansions as f64 * args.expansion_us / 1e6;
    println!(
        "{} {} machines x {} threads: {:?}, {} expansions, {} nodes, {} Grundy numbers, {:.3} s, \
         {:.1} busy, {:.1} s real, of these {:.2} s leading",
        args.position,
        machines,
        threads,
        solution.report.outcome,
        counters.expansions,
        counters.nodes,
        counters.grundy_numbers,
        time.as_secs_f64(),
        alone / time.as_secs_f64(),
        begun.elapsed().as_secs_f64(),
        leading.as_secs_f64(),
    );
    println!("{}", serde_json::to_string(&traffic)?);
    Ok(())
}
