//! Searches of many machines on a virtual clock: real searches, a real leader, and costs of messages.
//!
//! ```text
//! cargo run --release -p konane-simulate -- 7x7 --machines 16
//! cargo run --release -p konane-simulate -- sprouts '0*14' --machines 4
//! ```

mod costs;
mod flags;
mod pace;
mod sprouts;
mod world;

use std::num::NonZeroUsize;
use std::time::Instant;

use clap::Parser;
use konane::search::jobs::remote::{RemoteRules, RemoteWorker};
use konane::search::two_level::PlainRules;
use konane::{Board, Limits, Position, SolveOptions, Solver};

use costs::Costs;
use flags::Flags;
use pace::Turns;
use world::{Traffic, World};

#[derive(Parser)]
#[command(about = "Searches of many machines on a virtual clock")]
struct Args {
    /// The board.
    board: String,
    #[command(flatten)]
    flags: Flags,
    /// The least work of a fact, with few threads.
    #[arg(long, default_value_t = PlainRules::default().fact_work)]
    fact_work: u64,
    /// The most entries for a job.
    #[arg(long, default_value_t = PlainRules::default().most_entries)]
    most_entries: usize,
    /// Machines do not ask each other for entries.
    #[arg(long)]
    no_entries: bool,
    /// See the leader's rules, in 1/64.
    #[arg(long, default_value_t = PlainRules::default().congestion_64)]
    congestion: u32,
    /// See the leader's rules.
    #[arg(long, default_value_t = PlainRules::default().refresh_age)]
    refresh_age: u32,
    /// See the leader's rules.
    #[arg(long, default_value_t = RemoteRules::default().leaves_compared)]
    leaves: usize,
    /// Nodes to evaluate in all.
    #[arg(long)]
    max_nodes: Option<u64>,
    /// Search on one thread without any leader, too, to compare with.
    #[arg(long)]
    alone: bool,
    /// Print a JSON object.
    #[arg(long)]
    json: bool,
}

/// What came of a simulation.
#[derive(serde::Serialize)]
struct Record {
    game: String,
    machines: usize,
    threads: usize,
    job_nodes: u64,
    entries: bool,
    told_from: u64,
    winner: Option<String>,
    nodes: u64,
    /// Nodes of one thread without a leader.
    alone: Option<u64>,
    /// On the virtual clock.
    seconds: f64,
    costs: Costs,
    traffic: Traffic,
    real_seconds: f64,
}

impl Record {
    fn print(&self) {
        let Record { traffic, costs, .. } = self;
        println!(
            "{}: {} machines of {} threads, jobs of {} nodes",
            self.game, self.machines, self.threads, self.job_nodes
        );
        println!("winner      {}", self.winner.as_deref().unwrap_or("unknown"));
        println!("time        {:.3} s on the virtual clock", self.seconds);
        println!("nodes       {:.2} million", self.nodes as f64 / 1e6);
        if let Some(alone) = self.alone {
            let seconds = alone as f64 * costs.node_ns / 1e9;
            let (more, faster) = (self.nodes as f64 / alone as f64, seconds / self.seconds);
            println!("one thread  {seconds:.3} s; {more:.2} times its nodes, {faster:.1} as fast");
        }
        println!("machines    {:.0} % of the time searching", traffic.busy * 100.0);
        println!("driver      {:.0} % of the time busy", traffic.driver * 100.0);
        println!(
            "sent        {:.1} MB of messages, {:.1} MB of entries with {} of {} jobs",
            traffic.message_bytes as f64 / 1e6,
            traffic.entry_bytes as f64 / 1e6,
            traffic.fetched,
            traffic.jobs
        );
        println!(
            "real        {:.1} s; {:.1} µs of the leader for a message, {:.0} ns for an entry",
            self.real_seconds, traffic.leader_us, traffic.collect_ns
        );
    }
}

/// Workers in a row, each below the one that was made before.
struct Row<'a> {
    worker: &'a dyn RemoteWorker,
    rest: Option<&'a Row<'a>>,
}

/// Makes so many workers more and runs with all of them.
fn with_workers<T>(
    solver: &Solver<'_>,
    rules: PlainRules,
    left: usize,
    row: Option<&Row<'_>>,
    run: &mut dyn FnMut(&[&dyn RemoteWorker]) -> T,
) -> Result<T, konane::SolveError> {
    if left == 0 {
        let mut workers = Vec::new();
        let mut next = row;
        while let Some(Row { worker, rest }) = next {
            workers.push(*worker);
            next = *rest;
        }
        return Ok(run(&workers));
    }
    solver.work(rules, |worker| {
        let row = Row { worker, rest: row };
        with_workers(solver, rules, left - 1, Some(&row), run)
    })?
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some("sprouts") {
        return sprouts::run(words);
    }
    let args = Args::parse();
    let Flags { machines, threads, job_nodes, slow, memory, leader_memory, costs } = args.flags;
    let board = Board::new(args.board.parse()?);
    let start = Position::start(&board);
    let rules = RemoteRules {
        node_limit: args.max_nodes,
        leaves_compared: args.leaves,
        ..args.flags.rules()
    };
    let plain = PlainRules {
        fact_work: args.fact_work,
        most_entries: args.most_entries,
        congestion_64: args.congestion,
        refresh_age: args.refresh_age,
    };
    let turns = Turns::default();
    let limits = Limits { pace: Some(&turns), ..Limits::default() };
    let options = SolveOptions { memory_bytes: memory << 20, threads, ..SolveOptions::default() };
    let worker = Solver::new(&board, &start).options(options).limits(limits);
    let options =
        SolveOptions { memory_bytes: leader_memory << 20, threads: NonZeroUsize::MIN, ..options };
    let leader = Solver::new(&board, &start).options(options);
    let begun = Instant::now();
    let alone = match args.alone {
        true => Some(leader.clone().limits(Limits::default()).run()?.report.counters.nodes),
        false => None,
    };
    let mut run = |workers: &[&dyn RemoteWorker]| {
        let mut found = None;
        let solution = leader.lead(rules, plain, &mut (), |leader| {
            let world = World::new(leader, workers, costs, threads.get(), !args.no_entries);
            found = Some(world.with_slow_machine(slow).run());
        });
        (solution, found)
    };
    let (solution, found) = with_workers(&worker, plain, machines, None, &mut run)?;
    let (solution, (time, traffic)) = (solution?, found.expect("the game is not over"));
    let record = Record {
        game: args.board,
        machines,
        threads: threads.get(),
        job_nodes,
        entries: !args.no_entries,
        told_from: plain.told_from(threads),
        winner: solution.winner.map(|winner| winner.to_string()),
        nodes: solution.report.counters.nodes,
        alone,
        seconds: time.as_secs_f64(),
        costs,
        traffic,
        real_seconds: begun.elapsed().as_secs_f64(),
    };
    if args.json {
        println!("{}", serde_json::to_string(&record)?);
    } else {
        record.print();
    }
    Ok(())
}
