//! Sprouts on many machines: `cargo xtask simulate sprouts '0*14' --machines 4`.
//!
//! Virtual time is proportional to expansions. The real times of expansions differ more than those of
//! Konane's nodes, so the virtual clock is right on average only.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use konane::search::cluster::message::{JobId, WorkerId};
use konane::search::cluster::{RemoteWorker, WireError};
use konane::search::run::Counters;
use konane::search::sums::{SearchOptions, SolverState, Sum, dfpn};
use konane::sprouts::cluster::{ClusterError, ClusterSearch, SHARED_WORK, coordinate, work};
use konane::sprouts::{Position, Scratch, Sprouts};
use konane::{Limits, Outcome, Value};

use super::costs::{Costs, ResultCosts, parse_rate};
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
    /// Parameters of the search
    #[arg(long, default_value = "tuned")]
    profile: SproutsProfile,
    /// Break ties between moves by the order of Lemoine and Viennot [default: as the profile]
    #[arg(long)]
    heuristic: Option<bool>,
    /// Break other ties between moves at random, by this seed [default: in the order of the moves]
    #[arg(long)]
    seed: Option<u64>,
    /// Minimum number of expansions for a Grundy number that a machine sends to the others
    #[arg(long, default_value_t = SHARED_WORK)]
    shared_work: u64,
    /// Send no results of a worker to others
    #[arg(long)]
    no_sharing: bool,
    /// Search every job with a new worker, which has no Grundy numbers and an empty table
    #[arg(long, requires = "no_sharing")]
    new_workers: bool,
    /// Also search on one thread without a coordinator, for comparison
    #[arg(long)]
    alone: bool,
}

/// Parameters of the search.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SproutsProfile {
    /// The fastest
    Tuned,
    /// Those of the paper
    Paper,
}

/// Returns the expansions of a search on one thread without a coordinator.
fn alone(args: &SproutsArgs, options: SearchOptions) -> Result<u64, ClusterError> {
    let bytes = args.machines.coordinator_memory << 20;
    let state = SolverState::new(Arc::new(Sprouts::new(bytes)), bytes)?;
    let atoms = state.game().atoms(&args.position, &mut Scratch::default())?;
    let root = Sum::new(state.game(), &atoms, 0);
    Ok(dfpn(&state, &root, options, 1, Limits::default(), &mut ()).counters.expansions)
}

/// Result of a search of Sprouts.
#[derive(Debug, serde::Serialize)]
pub(super) struct Solved {
    pub outcome: String,
    pub expansions: u64,
    pub nodes: u64,
    pub grundy_numbers: u64,
    /// Minimum number of expansions for a Grundy number that a machine shares.
    pub shared_work: u64,
    /// Expansions of a search on one thread without a coordinator.
    pub alone: Option<u64>,
}

impl SimulatedResult for Solved {
    fn rows(&self, costs: &Costs, seconds: f64) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("outcome", self.outcome.clone()),
            ("expansions", self.expansions.to_string()),
            ("nodes", self.nodes.to_string()),
            ("found", format!("{} Grundy numbers", self.grundy_numbers)),
        ];
        rows.extend(self.alone.map(|alone| costs.compare(alone, self.expansions, seconds)));
        rows
    }
}

/// A worker that forgets everything after each job.
struct NewWorkers<'a> {
    search: ClusterSearch<'a>,
    limits: Limits<'a>,
    /// Jobs that have been cancelled before they arrived.
    cancelled: Mutex<Vec<JobId>>,
    expansions: AtomicU64,
}

impl NewWorkers<'_> {
    fn lock_cancelled(&self) -> MutexGuard<'_, Vec<JobId>> {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RemoteWorker for NewWorkers<'_> {
    fn search(
        &self,
        worker: WorkerId,
        reply: &[u8],
        entries: Option<&[u8]>,
    ) -> Result<Vec<u8>, WireError> {
        let search = |new: &dyn RemoteWorker| {
            self.lock_cancelled().drain(..).for_each(|job| new.cancel(job));
            let result = new.search(worker, reply, entries);
            self.expansions.fetch_add(new.counters().expansions, Ordering::Relaxed);
            result
        };
        work(self.search, self.limits, search).expect("there is memory for another worker")
    }

    fn entries(&self, _: &[u8]) -> Result<Vec<u8>, WireError> {
        unreachable!("machines of Sprouts do not exchange entries")
    }

    fn cancel(&self, job: JobId) {
        self.lock_cancelled().push(job);
    }

    fn counters(&self) -> Counters {
        Counters { expansions: self.expansions.load(Ordering::Relaxed), ..Counters::default() }
    }

    /// Returns 0, because the tables do not outlast a job.
    fn capacity(&self) -> u64 {
        0
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
    let results = args.machines.results.or(ResultCosts::SPROUTS);
    let costs = Costs { node_ns: args.expansion_us * 1000.0, messages, results, entries: None };
    let mut config = args.machines.config();
    let mut options = match args.profile {
        SproutsProfile::Tuned => SearchOptions::TUNED,
        SproutsProfile::Paper => SearchOptions::PAPER,
    };
    options.seed = args.seed;
    options.heuristic = args.heuristic.unwrap_or(options.heuristic);
    if args.no_sharing {
        config.max_results_in_reply = 0;
    }
    let alone = match args.alone {
        true => Some(alone(args, options)?),
        false => None,
    };
    let search = ClusterSearch {
        position: &args.position,
        nimber: 0,
        options,
        memory_bytes: memory << 20,
        threads,
        shared_work: args.shared_work,
    };
    let coordinator =
        ClusterSearch { memory_bytes: args.machines.coordinator_memory << 20, ..search };
    let turns = TurnScheduler::default();
    let begun = Instant::now();
    let mut found = None;
    let limits = Limits { scheduler: Some(&turns), ..Limits::default() };
    let mut run = |workers: &[&dyn RemoteWorker]| {
        let mut ran = None;
        let solution = coordinate(coordinator, config, None, &mut (), |coordinator| {
            let simulator = Simulator::new(coordinator, workers, costs, threads.get(), false)
                .counting(|counters| counters.expansions);
            ran = Some(simulator.with_slow_machine(slow).run());
        });
        found = Some((solution, ran));
    };
    if args.new_workers {
        let worker = |_| NewWorkers {
            search,
            limits,
            cancelled: Mutex::default(),
            expansions: AtomicU64::new(0),
        };
        let workers: Vec<NewWorkers<'_>> = (0..machines).map(worker).collect();
        run(&workers.iter().map(|worker| worker as &dyn RemoteWorker).collect::<Vec<_>>());
    } else {
        with_workers(search, limits, machines, &[], &mut run)?;
    }
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
            shared_work: args.shared_work,
            alone,
        },
        seconds: time.as_secs_f64(),
        costs,
        traffic,
        real_seconds: begun.elapsed().as_secs_f64(),
    })
}
