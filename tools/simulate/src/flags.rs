//! The flags of every simulation.

use std::num::NonZeroUsize;

use clap::value_parser;
use konane::search::jobs::remote::RemoteRules;

use crate::costs::{MessageCosts, factor};

/// Machines, the leader, and the jobs between them.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Flags {
    /// Machines, each with a memory of its own.
    #[arg(long, default_value_t = 16, value_parser = value_parser!(u32).range(1..=4096))]
    pub machines: u32,
    /// Threads of each machine.
    #[arg(long, default_value_t = NonZeroUsize::MIN)]
    pub threads: NonZeroUsize,
    /// Nodes of a job.
    #[arg(long, default_value_t = 8000, value_parser = value_parser!(u64).range(1..))]
    pub job_nodes: u64,
    /// By what factor the last machine searches more slowly than the others.
    #[arg(long, default_value_t = 1.0, value_parser = factor)]
    pub slow: f64,
    /// MiB of each machine.
    #[arg(long, default_value_t = 256, value_parser = value_parser!(u64).range(1..1 << 30))]
    pub memory: u64,
    /// MiB of the leader.
    #[arg(long, default_value_t = 512, value_parser = value_parser!(u64).range(1..1 << 30))]
    pub leader_memory: u64,
    #[command(flatten)]
    pub messages: MessageCosts,
    /// Print a JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Flags {
    /// The leader's rules, as far as these flags say them.
    pub fn rules(&self) -> RemoteRules {
        RemoteRules { job_nodes: self.job_nodes, ..RemoteRules::default() }
    }
}
