//! Costs on the virtual clock.

use std::time::Duration;

/// Number of received entries or shared results that one thread stores. For more, further threads are started.
const ENTRIES_PER_THREAD: usize = 4096;

/// All costs. The defaults were measured: searches on the machine of docs/benchmarks.md, calls with Ray
/// 2.60 on the same machine.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Costs {
    /// Nanoseconds per node, or per expansion in Sprouts.
    pub node_ns: f64,
    #[serde(flatten)]
    pub messages: MessageCosts,
    /// Present if machines exchange entries.
    #[serde(flatten)]
    pub entries: Option<EntryCosts>,
}

/// Costs of threads and messages, for both games.
#[derive(Clone, Copy, Debug, clap::Args, serde::Serialize)]
pub struct MessageCosts {
    /// Microseconds to start and end one thread of a job
    #[arg(long, default_value_t = 15.0, value_parser = parse_cost)]
    pub thread_us: f64,
    /// Latency of a message in microseconds
    #[arg(long, default_value_t = 500.0, value_parser = parse_cost)]
    pub latency_us: f64,
    /// Microseconds that the driver needs for a call and its result, without the time to transfer their bytes
    #[arg(long, default_value_t = 700.0, value_parser = parse_cost)]
    pub call_us: f64,
    /// Microseconds that the coordinator needs to handle a message
    #[arg(long, default_value_t = 20.0, value_parser = parse_cost)]
    pub job_us: f64,
    /// Nanoseconds to store a received entry or shared result
    #[arg(long, default_value_t = 60.0, value_parser = parse_cost)]
    pub store_ns: f64,
    /// Megabytes of messages that the driver forwards per second
    #[arg(long, default_value_t = 400.0, value_parser = parse_rate)]
    pub driver_megabytes: f64,
}

/// Costs of the exchange of entries.
#[derive(Clone, Copy, Debug, clap::Args, serde::Serialize)]
pub struct EntryCosts {
    /// Nanoseconds to collect an entry for another machine
    #[arg(long, default_value_t = 250.0, value_parser = parse_cost)]
    pub collect_ns: f64,
    /// Megabytes of entries that one machine sends to another per second
    #[arg(long, default_value_t = 1000.0, value_parser = parse_rate)]
    pub megabytes: f64,
}

impl Costs {
    pub fn latency(&self) -> Duration {
        microseconds(self.messages.latency_us)
    }

    /// The coordinator's time to handle a message.
    pub fn coordinator(&self) -> Duration {
        microseconds(self.messages.job_us)
    }

    /// The driver's time for a call and its result.
    pub fn call(&self) -> Duration {
        microseconds(self.messages.call_us)
    }

    /// The driver's time to cancel a job: a call without a result. With Ray, such a call takes a third of the
    /// time of a call with a result.
    pub fn cancel(&self) -> Duration {
        self.call() / 3
    }

    /// Time in which `threads` threads search `nodes` nodes.
    pub fn search(&self, nodes: u64, threads: usize) -> Duration {
        let nodes = nodes as f64 * self.node_ns / 1000.0 / threads as f64;
        microseconds(nodes + self.messages.thread_us * (threads - 1) as f64)
    }

    /// Number of nodes that `threads` threads search in `time`.
    pub fn nodes(&self, time: Duration, threads: usize) -> u64 {
        (time.as_secs_f64() * 1e9 / self.node_ns * threads as f64) as u64
    }

    /// Time from the request for entries to their arrival.
    pub fn fetch(&self, bytes: usize) -> Duration {
        2 * self.latency() + self.send(bytes) + self.collect(bytes)
    }

    /// Transfer time between two machines, without latency.
    fn send(&self, bytes: usize) -> Duration {
        microseconds(self.entries.map_or(0.0, |entries| bytes as f64 / entries.megabytes))
    }

    /// The driver's time to forward `bytes` of messages.
    pub fn forward(&self, bytes: usize) -> Duration {
        microseconds(bytes as f64 / self.messages.driver_megabytes)
    }

    /// Time to collect `bytes` of entries.
    pub fn collect(&self, bytes: usize) -> Duration {
        let collect_ns = self.entries.map_or(0.0, |entries| entries.collect_ns);
        microseconds(bytes as f64 / 16.0 * collect_ns / 1000.0)
    }

    /// Time to store `bytes` of entries or shared results, with one thread for each
    /// [`ENTRIES_PER_THREAD`] of them.
    pub fn store(&self, bytes: usize, threads: usize) -> Duration {
        let entries = bytes / 16;
        let threads = entries.div_ceil(ENTRIES_PER_THREAD).clamp(1, threads);
        let own = entries as f64 / threads as f64 * self.messages.store_ns / 1000.0;
        microseconds(own + self.messages.thread_us * (threads - 1) as f64)
    }
}

fn microseconds(number: f64) -> Duration {
    Duration::from_nanos((number * 1000.0) as u64)
}

/// Parses a cost, which may be 0.
pub fn parse_cost(text: &str) -> Result<f64, String> {
    within(text, 0.0)
}

/// Parses a rate, by which other numbers are divided, so it must not be 0.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    within(text, 1e-3)
}

/// Parses a factor of at least 1.
pub fn parse_slowdown(text: &str) -> Result<f64, String> {
    within(text, 1.0)
}

/// Parses a number from `min` to a billion.
fn within(text: &str, min: f64) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (min..=1e9).contains(&number) => Ok(number),
        _ => Err(format!("expected a number from {min} to 1000000000")),
    }
}
