//! Konane on many machines: `cargo xtask simulate solve 7x7 --machines 16`.

use std::num::NonZeroUsize;
use std::time::Instant;

use konane::search::cluster::{CoordinatorConfig, RemoteWorker};
use konane::{Board, Dimensions, Limits, Position, SolveError, SolveOptions, Solver};

use super::costs::{Costs, EntryCosts, ResultCosts, parse_rate};
use super::scheduler::TurnScheduler;
use super::simulator::Simulator;
use super::{Machines, SimulatedResult, Simulation};

#[derive(clap::Args)]
pub struct KonaneArgs {
    /// Board, as ranks x files
    board: Dimensions,
    #[command(flatten)]
    pub(super) machines: Machines,
    /// Nanoseconds per node
    #[arg(long, default_value_t = 300.0, value_parser = parse_rate)]
    node_ns: f64,
    #[command(flatten)]
    entries: EntryCosts,
    /// Minimum search effort of the entries that a machine with fewer than 16 threads shares
    #[arg(long, default_value_t = CoordinatorConfig::REMOTE.shared_work)]
    shared_work: u64,
    /// Maximum number of table entries that one machine sends to another for a job
    #[arg(long, default_value_t = CoordinatorConfig::REMOTE.max_entries)]
    max_entries: usize,
    /// Exchange no table entries between machines
    #[arg(long)]
    no_entries: bool,
    /// Virtual loss of each machine below a node, in 1/64 of the node's delta
    #[arg(long, default_value_t = CoordinatorConfig::REMOTE.virtual_loss_64)]
    virtual_loss_64: u32,
    /// Number of expansions after which the coordinator reads a node's children from its table again
    #[arg(long, default_value_t = CoordinatorConfig::REMOTE.refresh_age)]
    refresh_age: u32,
    /// Maximum number of leaves that the coordinator compares to select one
    #[arg(long, default_value_t = CoordinatorConfig::REMOTE.leaves_compared)]
    leaves: usize,
    /// Node limit of the whole search
    #[arg(long)]
    max_nodes: Option<u64>,
    /// Also search on one thread without a coordinator, for comparison
    #[arg(long)]
    alone: bool,
}

/// Result of a search of Konane.
#[derive(Debug, serde::Serialize)]
pub(super) struct Winner {
    /// True if machines exchange entries.
    pub entries: bool,
    /// Minimum search effort of the entries that a machine shares.
    pub shared_work: u64,
    pub winner: Option<String>,
    pub nodes: u64,
    /// Nodes of a search on one thread without a coordinator.
    pub alone: Option<u64>,
}

impl SimulatedResult for Winner {
    fn rows(&self, costs: &Costs, seconds: f64) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("winner", self.winner.clone().unwrap_or("unknown".to_owned())),
            ("nodes", format!("{:.2} million", self.nodes as f64 / 1e6)),
        ];
        rows.extend(self.alone.map(|alone| costs.compare(alone, self.nodes, seconds)));
        rows
    }
}

/// Creates `left` more workers and calls `run` with these and the given ones.
fn with_workers<T>(
    solver: &Solver<'_>,
    config: &CoordinatorConfig,
    left: u32,
    workers: &[&dyn RemoteWorker],
    run: &mut dyn FnMut(&[&dyn RemoteWorker]) -> T,
) -> Result<T, SolveError> {
    if left == 0 {
        return Ok(run(workers));
    }
    solver.work(config, |worker| {
        let more = [workers, &[worker]].concat();
        with_workers(solver, config, left - 1, &more, run)
    })?
}

pub(super) fn run(args: &KonaneArgs) -> Result<Simulation<Winner>, SolveError> {
    let Machines { machines, threads, job_nodes, slow, memory, messages, .. } = args.machines;
    let results = args.machines.results.or(ResultCosts::KONANE);
    let costs = Costs { node_ns: args.node_ns, messages, results, entries: Some(args.entries) };
    let board = Board::new(args.board);
    let start = Position::start(&board);
    let config = CoordinatorConfig {
        node_limit: args.max_nodes,
        leaves_compared: args.leaves,
        shared_work: args.shared_work,
        max_entries: args.max_entries,
        virtual_loss_64: args.virtual_loss_64,
        refresh_age: args.refresh_age,
        ..args.machines.config()
    };
    let turns = TurnScheduler::default();
    let limits = Limits { scheduler: Some(&turns), ..Limits::default() };
    let options = SolveOptions { memory_bytes: memory << 20, threads, ..SolveOptions::default() };
    let worker = Solver::new(&board, &start).options(options).limits(limits);
    let options = SolveOptions {
        memory_bytes: args.machines.coordinator_memory << 20,
        threads: NonZeroUsize::MIN,
        ..options
    };
    let coordinator = Solver::new(&board, &start).options(options);
    let begun = Instant::now();
    let alone = match args.alone {
        true => Some(coordinator.clone().limits(Limits::default()).run()?.report.counters.nodes),
        false => None,
    };
    let mut run = |workers: &[&dyn RemoteWorker]| {
        let mut found = None;
        let solution = coordinator.coordinate(config, &mut (), |coordinator| {
            let simulator =
                Simulator::new(coordinator, workers, costs, threads.get(), !args.no_entries);
            found = Some(simulator.with_slow_machine(slow).run());
        });
        (solution, found)
    };
    let (solution, found) = with_workers(&worker, &config, machines, &[], &mut run)?;
    let (solution, (time, traffic)) =
        (solution?, found.expect("the coordinator ran, since the game is not over"));
    Ok(Simulation {
        game: args.board.to_string(),
        machines,
        threads: threads.get(),
        job_nodes,
        found: Winner {
            entries: !args.no_entries,
            shared_work: config.min_shared_work(threads),
            winner: solution.winner.map(|winner| winner.to_string()),
            nodes: solution.report.counters.nodes,
            alone,
        },
        seconds: time.as_secs_f64(),
        costs,
        traffic,
        real_seconds: begun.elapsed().as_secs_f64(),
    })
}
