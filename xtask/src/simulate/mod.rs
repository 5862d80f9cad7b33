//! Searches on many machines, simulated on a virtual clock. Searches and coordinator are the real ones;
//! the costs of messages are assumed.
//!
//! ```text
//! cargo xtask simulate solve 7x7 --machines 16
//! cargo xtask simulate sprouts '0*14' --machines 4
//! ```

mod costs;
mod scheduler;
mod simulator;
mod solve;
mod sprouts;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;

use clap::value_parser;
use konane::search::cluster::CoordinatorConfig;

use costs::{Costs, MessageCosts, ResultArgs, parse_slowdown};
use simulator::Traffic;

#[derive(clap::Subcommand)]
pub enum Simulate {
    /// Konane: the winner of a board
    Solve(solve::KonaneArgs),
    /// Sprouts: the outcome of a position. Time is proportional to expansions
    Sprouts(sprouts::SproutsArgs),
}

impl Simulate {
    pub fn run(&self) -> Result<(), crate::DeveloperError> {
        match self {
            Simulate::Solve(args) => solve::run(args)?.print(args.machines.json)?,
            Simulate::Sprouts(args) => sprouts::run(args)?.print(args.machines.json)?,
        }
        Ok(())
    }
}

/// Machines, the coordinator, and the jobs between them.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Machines {
    /// Number of machines, each with its own memory
    #[arg(long, default_value_t = 16, value_parser = value_parser!(u32).range(1..=4096))]
    machines: u32,
    /// Threads of each machine
    #[arg(long, default_value_t = NonZeroUsize::MIN)]
    threads: NonZeroUsize,
    /// Maximum number of nodes of a job
    #[arg(long, default_value_t = 8000, value_parser = value_parser!(u64).range(1..))]
    job_nodes: u64,
    /// Factor by which the last machine is slower than the others
    #[arg(long, default_value_t = 1.0, value_parser = parse_slowdown)]
    slow: f64,
    /// Memory of each machine in MiB
    #[arg(long, default_value_t = 256, value_parser = value_parser!(u64).range(1..1 << 30))]
    memory: u64,
    /// Memory of the coordinator in MiB
    #[arg(long, default_value_t = 512, value_parser = value_parser!(u64).range(1..1 << 30))]
    coordinator_memory: u64,
    #[command(flatten)]
    messages: MessageCosts,
    #[command(flatten)]
    results: ResultArgs,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl Machines {
    /// The configuration, as far as these options determine it.
    fn config(&self) -> CoordinatorConfig {
        CoordinatorConfig { job_nodes: self.job_nodes, ..CoordinatorConfig::REMOTE }
    }
}

/// Result and cost of a simulation. `F` is the result of the search.
#[derive(Debug, serde::Serialize)]
struct Simulation<F> {
    game: String,
    machines: u32,
    threads: usize,
    job_nodes: u64,
    #[serde(flatten)]
    found: F,
    /// Time on the virtual clock.
    seconds: f64,
    costs: Costs,
    traffic: Traffic,
    real_seconds: f64,
}

trait SimulatedResult: serde::Serialize {
    /// Returns the rows of the text output: names and texts. `seconds` is the time on the virtual clock.
    fn rows(&self, costs: &Costs, seconds: f64) -> Vec<(&'static str, String)>;
}

impl<F: SimulatedResult> Simulation<F> {
    fn print(&self, json: bool) -> serde_json::Result<()> {
        if json {
            println!("{}", serde_json::to_string(self)?);
            return Ok(());
        }
        let Simulation { game, machines, threads, job_nodes, seconds, traffic, .. } = self;
        println!("{game}: {machines} machines of {threads} threads, jobs of {job_nodes} nodes");
        let mut rows = self.found.rows(&self.costs, *seconds);
        rows.push(("time", format!("{seconds:.3} s on the virtual clock")));
        rows.push(("machines", format!("{:.0} % of the time searching", traffic.busy * 100.0)));
        rows.push(("driver", format!("{:.0} % of the time busy", traffic.driver * 100.0)));
        let [received, bytes] =
            [traffic.received_bytes, traffic.sent_bytes].map(|bytes| bytes as f64 / 1e6);
        let mut sent = format!(
            "{bytes:.1} MB to the machines, {received:.1} MB from them, for {} jobs",
            traffic.jobs
        );
        let per_message = |seconds: f64| seconds * 1e6 / traffic.messages.max(1) as f64;
        let (coordinator, charged) = (traffic.coordinator_seconds, traffic.charged_seconds);
        let busy = charged / seconds * 100.0;
        rows.push((
            "coordinator",
            format!("{busy:.0} % of the time busy, {:.0} µs for a message", per_message(charged)),
        ));
        let mut real = format!(
            "{:.1} s; the coordinator took {coordinator:.2} s of processor time, {:.0} µs for a message",
            self.real_seconds,
            per_message(coordinator)
        );
        if coordinator > 1.1 * charged {
            real += ", more than on the virtual clock: the costs are too low";
        }
        if traffic.fetched > 0 {
            let entries = traffic.entry_bytes as f64 / 1e6;
            sent += &format!(", {entries:.1} MB of entries for {} of these jobs", traffic.fetched);
            real += &format!("; {:.0} ns to collect an entry", traffic.collect_ns);
        }
        rows.push(("sent", sent));
        rows.push(("cancelled", format!("{} jobs", traffic.cancelled)));
        rows.push(("real", real));
        for (name, text) in rows {
            println!("{name:11} {text}");
        }
        Ok(())
    }
}
