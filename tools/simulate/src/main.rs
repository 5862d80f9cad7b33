//! Searches of many machines on a virtual clock: real searches, a real leader, and costs of messages.
//!
//! ```text
//! cargo run --release -p konane-simulate -- 7x7 --machines 16
//! ```

mod costs;
mod pace;
mod world;

use std::num::NonZeroUsize;
use std::time::Instant;

use clap::Parser;
use konane::search::jobs::remote::{DeskRules, Station};
use konane::{Board, Limits, Position, SolveOptions, Solver};

use costs::Costs;
use pace::Turns;
use world::World;

#[derive(Parser)]
#[command(about = "Searches of many machines on a virtual clock")]
struct Args {
    /// The board.
    board: String,
    /// Machines, each with a table of its own.
    #[arg(long, default_value_t = 16)]
    machines: usize,
    /// Threads of each machine.
    #[arg(long, default_value_t = NonZeroUsize::MIN)]
    threads: NonZeroUsize,
    /// Nodes of a job.
    #[arg(long, default_value_t = 8000)]
    job_nodes: u64,
    /// Jobs in a call.
    #[arg(long, default_value_t = 1)]
    batch: usize,
    /// The least work of a fact.
    #[arg(long, default_value_t = 100)]
    fact_work: u64,
    /// Machines do not ask each other for entries.
    #[arg(long)]
    no_entries: bool,
    /// See the leader's rules, in 1/64.
    #[arg(long, default_value_t = DeskRules::default().congestion_64)]
    congestion: u32,
    /// See the leader's rules.
    #[arg(long, default_value_t = DeskRules::default().refresh_age)]
    refresh_age: u32,
    /// Nodes to evaluate in all.
    #[arg(long)]
    max_nodes: Option<u64>,
    /// MiB of each machine.
    #[arg(long, default_value_t = 256)]
    memory: u64,
    /// MiB of the leader.
    #[arg(long, default_value_t = 512)]
    leader_memory: u64,
    #[command(flatten)]
    costs: Costs,
}

/// Stations in a row, each below the one that was made before.
struct Row<'a> {
    station: &'a dyn Station,
    rest: Option<&'a Row<'a>>,
}

/// Makes so many stations more and runs with all of them.
fn with_stations<T>(
    solver: &Solver<'_>,
    rules: DeskRules,
    left: usize,
    row: Option<&Row<'_>>,
    run: &mut dyn FnMut(&[&dyn Station]) -> T,
) -> Result<T, konane::SolveError> {
    if left == 0 {
        let mut stations = Vec::new();
        let mut next = row;
        while let Some(Row { station, rest }) = next {
            stations.push(*station);
            next = *rest;
        }
        return Ok(run(&stations));
    }
    solver.work(rules, |station| {
        let row = Row { station, rest: row };
        with_stations(solver, rules, left - 1, Some(&row), run)
    })?
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse();
    let board = Board::new(args.board.parse()?);
    let start = Position::start(&board);
    let rules = DeskRules {
        names: 2 * args.batch as u64,
        job_nodes: args.job_nodes,
        fact_work: args.fact_work,
        node_limit: args.max_nodes,
        congestion_64: args.congestion,
        refresh_age: args.refresh_age,
        ..DeskRules::default()
    };
    let turns = Turns::default();
    let limits = Limits { pace: Some(&turns), ..Limits::default() };
    let options = SolveOptions {
        memory_bytes: args.memory << 20,
        threads: args.threads,
        ..SolveOptions::default()
    };
    let worker = Solver::new(&board, &start).options(options).limits(limits);
    let options = SolveOptions { memory_bytes: args.leader_memory << 20, ..options };
    let leader = Solver::new(&board, &start).options(options);
    let begun = Instant::now();
    let mut run = |stations: &[&dyn Station]| {
        let mut found = None;
        let solution = leader.lead(rules, &mut (), |desk| {
            let threads = args.threads.get();
            let world =
                World::new(desk, stations, args.costs, threads, args.batch, !args.no_entries);
            found = Some(world.run());
        });
        (solution, found)
    };
    let (solution, found) = with_stations(&worker, rules, args.machines, None, &mut run)?;
    let (solution, (time, traffic)) = (solution?, found.expect("the game is not over"));
    let nodes = solution.report.counters.nodes;
    let alone = nodes as f64 * args.costs.node_ns / 1e9;
    println!(
        "{} {} machines x {} threads: winner {:?}, {:.2} M nodes, {:.3} s, {:.1} busy, {:.1} s real",
        args.board,
        args.machines,
        args.threads,
        solution.winner,
        nodes as f64 / 1e6,
        time.as_secs_f64(),
        alone / time.as_secs_f64(),
        begun.elapsed().as_secs_f64(),
    );
    println!("{}", serde_json::to_string(&traffic)?);
    Ok(())
}
