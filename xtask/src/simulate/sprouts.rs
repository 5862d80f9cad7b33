//! Sprouts on many machines: `cargo xtask simulate sprouts '0*14' --machines 4`.
//!
//! Virtual time is proportional to expansions. The real times of expansions differ more than those of
//! Konane's nodes, so the virtual clock is right on average only. To store a received message takes as long
//! as to store entries of 16 bytes each.

use std::time::Instant;

use konane::search::cluster::RemoteWorker;
use konane::search::sums::SearchOptions;
use konane::sprouts::Position;
use konane::sprouts::cluster::{ClusterError, ClusterSearch, coordinate, work};
use konane::{Limits, Outcome, Value};

use super::costs::{Costs, parse_rate};
use super::scheduler::TurnScheduler;
use super::simulator::Simulator;
use super::{Machines, SimulatedResult, Simulation};

#[derive(clap::Args)]
pub struct SproutsArgs {
    /// Position
    position: Position,
    #[command(flatten)]
    pub(super) machines: Machines,
    /// Microseconds per expansion
    #[arg(long, default_value_t = 20.0, value_parser = parse_rate)]
    expansion_us: f64,
}

/// Result of a search of Sprouts.
#[derive(Debug, serde::Serialize)]
pub(super) struct Solved {
    pub outcome: String,
    pub expansions: u64,
    pub nodes: u64,
    pub grundy_numbers: u64,
}

impl SimulatedResult for Solved {
    fn rows(&self, _: &Costs, _: f64) -> Vec<(&'static str, String)> {
        vec![
            ("outcome", self.outcome.clone()),
            ("expansions", self.expansions.to_string()),
            ("nodes", self.nodes.to_string()),
            ("found", format!("{} Grundy numbers", self.grundy_numbers)),
        ]
    }
}

/// Creates `left` more workers and calls `run` with these and the given ones.
fn with_workers(
    search: ClusterSearch<'_>,
    limits: Limits<'_>,
    left: u32,
    workers: &[&dyn RemoteWorker],
    run: &mut dyn FnMut(&[&dyn RemoteWorker]),
) -> Result<(), ClusterError> {
    if left == 0 {
        run(workers);
        return Ok(());
    }
    work(search, limits, |worker| {
        let more = [workers, &[worker]].concat();
        with_workers(search, limits, left - 1, &more, run)
    })?
}

pub(super) fn run(args: &SproutsArgs) -> Result<Simulation<Solved>, ClusterError> {
    let Machines { machines, threads, job_nodes, slow, memory, messages, .. } = args.machines;
    let costs = Costs { node_ns: args.expansion_us * 1000.0, messages, entries: None };
    let search = ClusterSearch {
        position: &args.position,
        nimber: 0,
        options: SearchOptions::TUNED,
        memory_bytes: memory << 20,
        threads,
    };
    let coordinator =
        ClusterSearch { memory_bytes: args.machines.coordinator_memory << 20, ..search };
    let turns = TurnScheduler::default();
    let begun = Instant::now();
    let mut found = None;
    let limits = Limits { scheduler: Some(&turns), ..Limits::default() };
    with_workers(search, limits, machines, &[], &mut |workers| {
        let mut ran = None;
        let solution =
            coordinate(coordinator, args.machines.config(), None, &mut (), |coordinator| {
                let simulator = Simulator::new(coordinator, workers, costs, threads.get(), false)
                    .counting(|counters| counters.expansions);
                ran = Some(simulator.with_slow_machine(slow).run());
            });
        found = Some((solution, ran));
    })?;
    let (solution, ran) = found.expect("all workers were created");
    let (report, (time, traffic)) = (solution?.report, ran.expect("the coordinator ran"));
    Ok(Simulation {
        game: args.position.to_string(),
        machines,
        threads: threads.get(),
        job_nodes,
        found: Solved {
            outcome: match report.outcome {
                Outcome::Known(Value::Win) => "win".to_owned(),
                Outcome::Known(Value::Loss) => "loss".to_owned(),
                Outcome::Unknown(reason) => format!("unknown ({})", reason.text()),
            },
            expansions: report.counters.expansions,
            nodes: report.counters.nodes,
            grundy_numbers: report.counters.grundy_numbers,
        },
        seconds: time.as_secs_f64(),
        costs,
        traffic,
        real_seconds: begun.elapsed().as_secs_f64(),
    })
}
