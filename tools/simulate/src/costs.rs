//! What things take on the virtual clock.

use std::time::Duration;

/// Entries for which a worker takes another thread to store them.
const SHARE: usize = 4096;

/// Seconds and bytes a second. The defaults were measured: searches and walks on the machine of
/// docs/benchmarks.md, calls with Ray 2.60 there.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Costs {
    /// Nanoseconds to evaluate a node, or to expand one, whichever the clock goes by.
    pub node_ns: f64,
    #[serde(flatten)]
    pub messages: MessageCosts,
    /// Where entries are handed over.
    #[serde(flatten)]
    pub entries: Option<EntryCosts>,
}

/// What threads and messages take, whatever is searched.
#[derive(Clone, Copy, Debug, clap::Args, serde::Serialize)]
pub struct MessageCosts {
    /// Microseconds in which a thread of a job begins and ends.
    #[arg(long, default_value_t = 15.0, value_parser = cost)]
    pub thread_us: f64,
    /// Microseconds of a message on its way, in either direction.
    #[arg(long, default_value_t = 500.0, value_parser = cost)]
    pub latency_us: f64,
    /// Microseconds that a call and its result take of the driver, whatever is in them.
    #[arg(long, default_value_t = 700.0, value_parser = cost)]
    pub call_us: f64,
    /// Microseconds of a message in the leader.
    #[arg(long, default_value_t = 20.0, value_parser = cost)]
    pub job_us: f64,
    /// Nanoseconds to take an entry or a fact in.
    #[arg(long, default_value_t = 60.0, value_parser = cost)]
    pub store_ns: f64,
    /// Megabytes a second that the driver hears and says.
    #[arg(long, default_value_t = 400.0, value_parser = rate)]
    pub driver_megabytes: f64,
}

/// What it takes to hand entries over.
#[derive(Clone, Copy, Debug, clap::Args, serde::Serialize)]
pub struct EntryCosts {
    /// Nanoseconds to collect an entry for another machine.
    #[arg(long, default_value_t = 250.0, value_parser = cost)]
    pub collect_ns: f64,
    /// Megabytes a second between two machines.
    #[arg(long, default_value_t = 1000.0, value_parser = rate)]
    pub megabytes: f64,
}

impl Costs {
    pub fn latency(&self) -> Duration {
        microseconds(self.messages.latency_us)
    }

    /// The leader's part of a message.
    pub fn leader(&self) -> Duration {
        microseconds(self.messages.job_us)
    }

    /// The driver's part of a call and of its result.
    pub fn call(&self) -> Duration {
        microseconds(self.messages.call_us)
    }

    /// The driver's part of a call for whose result nobody waits: a third, with Ray.
    pub fn call_off(&self) -> Duration {
        self.call() / 3
    }

    pub fn search(&self, nodes: u64, threads: usize) -> Duration {
        let nodes = nodes as f64 * self.node_ns / 1000.0 / threads as f64;
        microseconds(nodes + self.messages.thread_us * (threads - 1) as f64)
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
        microseconds(self.entries.map_or(0.0, |entries| bytes as f64 / entries.megabytes))
    }

    /// What `bytes` of messages take of the driver.
    pub fn carry(&self, bytes: usize) -> Duration {
        microseconds(bytes as f64 / self.messages.driver_megabytes)
    }

    /// Until `bytes` of entries have been collected.
    pub fn collect(&self, bytes: usize) -> Duration {
        let collect_ns = self.entries.map_or(0.0, |entries| entries.collect_ns);
        microseconds(bytes as f64 / 16.0 * collect_ns / 1000.0)
    }

    /// Until `bytes` of entries or facts have been stored, by as many threads as there are shares of
    /// [`SHARE`] entries.
    pub fn store(&self, bytes: usize, threads: usize) -> Duration {
        let entries = bytes / 16;
        let threads = entries.div_ceil(SHARE).clamp(1, threads);
        let own = entries as f64 / threads as f64 * self.messages.store_ns / 1000.0;
        microseconds(own + self.messages.thread_us * (threads - 1) as f64)
    }
}

fn microseconds(number: f64) -> Duration {
    Duration::from_nanos((number * 1000.0) as u64)
}

/// What something takes: nothing, or more.
pub fn cost(text: &str) -> Result<f64, String> {
    within(text, 0.0)
}

/// What a division is by.
pub fn rate(text: &str) -> Result<f64, String> {
    within(text, 1e-3)
}

/// By what factor something is slower.
pub fn factor(text: &str) -> Result<f64, String> {
    within(text, 1.0)
}

/// A number from `least` to a billion.
fn within(text: &str, least: f64) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it has to be a number".to_owned())?;
    match (least..=1e9).contains(&number) {
        true => Ok(number),
        false => Err(format!("it has to be from {least} to a billion")),
    }
}
