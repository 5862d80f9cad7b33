//! Sprouts with many machines: `konane-simulate sprouts '0*14' --machines 4`.
//!
//! Time follows from expansions, which differ in what they take by more than nodes of Konane do; so the
//! clock is right on average only. Messages are charged by their bytes, as entries of 16.

use std::time::Instant;

use konane::search::jobs::remote::RemoteWorker;
use konane::search::sums::SearchOptions;
use konane::sprouts::Position;
use konane::sprouts::cluster::{ClusterError, ClusterSearch, lead, work};
use konane::{Outcome, Value};

use crate::costs::{Costs, rate};
use crate::flags::Flags;
use crate::pace::Turns;
use crate::record::{Found, Record};
use crate::world::World;

#[derive(clap::Args)]
pub struct Args {
    /// The position.
    position: Position,
    #[command(flatten)]
    pub flags: Flags,
    /// Microseconds of an expansion.
    #[arg(long, default_value_t = 20.0, value_parser = rate)]
    expansion_us: f64,
}

/// What was found.
#[derive(Debug, serde::Serialize)]
pub struct Solved {
    pub outcome: String,
    pub expansions: u64,
    pub nodes: u64,
    pub grundy_numbers: u64,
}

impl Found for Solved {
    fn rows(&self, _: &Costs, _: f64) -> Vec<(&'static str, String)> {
        vec![
            ("outcome", self.outcome.clone()),
            ("expansions", self.expansions.to_string()),
            ("nodes", self.nodes.to_string()),
            ("found", format!("{} Grundy numbers", self.grundy_numbers)),
        ]
    }
}

/// Makes so many workers more and runs with all of them.
fn with_workers(
    search: ClusterSearch<'_>,
    turns: &Turns,
    left: u32,
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

/// Searches.
pub fn run(args: &Args) -> Result<Record<Solved>, ClusterError> {
    let Flags { machines, threads, job_nodes, memory, leader_memory, messages, .. } = args.flags;
    let costs = Costs { node_ns: args.expansion_us * 1000.0, messages, entries: None };
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
        let solution = lead(leader, args.flags.rules(), None, &mut (), |leader| {
            let world = World::new(leader, workers, costs, threads.get(), false)
                .counting(|counters| counters.expansions);
            ran = Some(world.with_slow_machine(args.flags.slow).run());
        });
        found = Some((solution, ran));
    })?;
    let (solution, ran) = found.expect("the workers were made");
    let (report, (time, traffic)) = (solution?.report, ran.expect("the leader has run"));
    Ok(Record {
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
