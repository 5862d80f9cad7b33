//! The flags of every simulation.

use std::num::NonZeroUsize;

use konane::search::jobs::remote::RemoteRules;

use crate::costs::Costs;

/// Machines, the leader, and the jobs between them.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Flags {
    /// Machines, each with a memory of its own.
    #[arg(long, default_value_t = 16)]
    pub machines: usize,
    /// Threads of each machine.
    #[arg(long, default_value_t = NonZeroUsize::MIN)]
    pub threads: NonZeroUsize,
    /// Nodes of a job.
    #[arg(long, default_value_t = 8000)]
    pub job_nodes: u64,
    /// By what factor the last machine searches more slowly than the others.
    #[arg(long, default_value_t = 1.0, value_parser = factor)]
    pub slow: f64,
    /// MiB of each machine.
    #[arg(long, default_value_t = 256)]
    pub memory: u64,
    /// MiB of the leader.
    #[arg(long, default_value_t = 512)]
    pub leader_memory: u64,
    #[command(flatten)]
    pub costs: Costs,
}

impl Flags {
    /// The leader's rules, as far as these flags say them.
    pub fn rules(&self) -> RemoteRules {
        RemoteRules { job_nodes: self.job_nodes, ..RemoteRules::default() }
    }
}

/// A factor that makes things slower.
fn factor(text: &str) -> Result<f64, String> {
    let factor: f64 = text.parse().map_err(|_| "it has to be a number".to_owned())?;
    match (1.0..=1e6).contains(&factor) {
        true => Ok(factor),
        false => Err("it has to be between 1 and a million".to_owned()),
    }
}
