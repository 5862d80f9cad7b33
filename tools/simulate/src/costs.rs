//! What things take on the virtual clock.

use std::time::Duration;

/// Entries for which a worker takes another thread to store them.
const SHARE: usize = 4096;

/// Seconds and bytes a second. The defaults were measured: searches and walks on the machine of
/// docs/benchmarks.md, calls with Ray 2.60 there.
#[derive(Clone, Copy, Debug, clap::Args, serde::Serialize)]
pub struct Costs {
    /// Nanoseconds to evaluate a node.
    #[arg(long, default_value_t = 300.0)]
    pub node_ns: f64,
    /// Microseconds in which a thread of a job begins and ends.
    #[arg(long, default_value_t = 15.0)]
    pub thread_us: f64,
    /// Microseconds of a message on its way, in either direction.
    #[arg(long, default_value_t = 500.0)]
    pub latency_us: f64,
    /// Microseconds that a call and its result take of the driver, whatever is in them.
    #[arg(long, default_value_t = 700.0)]
    pub call_us: f64,
    /// Microseconds of a message in the leader.
    #[arg(long, default_value_t = 20.0)]
    pub job_us: f64,
    /// Nanoseconds to collect an entry for another machine.
    #[arg(long, default_value_t = 250.0)]
    pub collect_ns: f64,
    /// Nanoseconds to take an entry or a fact in.
    #[arg(long, default_value_t = 60.0)]
    pub store_ns: f64,
    /// Megabytes a second between two machines.
    #[arg(long, default_value_t = 1000.0)]
    pub megabytes: f64,
    /// Megabytes a second that the driver hears and says.
    #[arg(long, default_value_t = 400.0)]
    pub driver_megabytes: f64,
}

impl Costs {
    pub fn latency(&self) -> Duration {
        microseconds(self.latency_us)
    }

    /// The leader's part of a message.
    pub fn leader(&self) -> Duration {
        microseconds(self.job_us)
    }

    /// The driver's part of a call and of its result.
    pub fn call(&self) -> Duration {
        microseconds(self.call_us)
    }

    pub fn search(&self, nodes: u64, threads: usize) -> Duration {
        let nodes = nodes as f64 * self.node_ns / 1000.0 / threads as f64;
        microseconds(nodes + self.thread_us * (threads - 1) as f64)
    }

    /// The nodes that are searched in a time.
    pub fn nodes(&self, time: Duration, threads: usize) -> u64 {
        (time.as_secs_f64() * 1e9 / self.node_ns * threads as f64) as u64
    }

    /// Until `bytes` of entries are here, and taken in.
    pub fn fetch(&self, bytes: usize) -> Duration {
        2 * self.latency() + self.send(bytes) + self.collect(bytes)
    }

    /// What `bytes` take between two machines beside the latency.
    fn send(&self, bytes: usize) -> Duration {
        microseconds(bytes as f64 / self.megabytes)
    }

    /// What `bytes` of messages take of the driver.
    pub fn carry(&self, bytes: usize) -> Duration {
        microseconds(bytes as f64 / self.driver_megabytes)
    }

    /// Until `bytes` of entries have been collected.
    pub fn collect(&self, bytes: usize) -> Duration {
        microseconds(bytes as f64 / 16.0 * self.collect_ns / 1000.0)
    }

    /// Until `bytes` of entries or facts have been stored, by as many threads as there are shares of
    /// [`SHARE`] entries.
    pub fn store(&self, bytes: usize, threads: usize) -> Duration {
        let entries = bytes / 16;
        let threads = entries.div_ceil(SHARE).clamp(1, threads);
        let own = entries as f64 / threads as f64 * self.store_ns / 1000.0;
        microseconds(own + self.thread_us * (threads - 1) as f64)
    }
}

fn microseconds(number: f64) -> Duration {
    Duration::from_nanos((number * 1000.0) as u64)
}
