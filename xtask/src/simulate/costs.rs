//! Costs on the virtual clock.

use std::time::Duration;

/// Time for which one thread stores received entries or shared results, in nanoseconds. For more, further threads are
/// started.
const SHARE_NS: f64 = 200_000.0;

/// All costs. The defaults were measured: searches and coordinators on the machine of docs/benchmarks.md, calls with
/// Ray 2.60 on the same machine.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Costs {
    /// Nanoseconds per node, or per expansion in Sprouts.
    pub node_ns: f64,
    #[serde(flatten)]
    pub messages: MessageCosts,
    #[serde(flatten)]
    pub results: ResultCosts,
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
    /// Megabytes of messages that the driver forwards per second
    #[arg(long, default_value_t = 400.0, value_parser = parse_rate)]
    pub driver_megabytes: f64,
}

/// Costs of the coordinator, and of shared results. They differ between the games.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct ResultCosts {
    /// Microseconds that the coordinator needs for a message, without its bytes.
    pub job_us: f64,
    /// Nanoseconds that the coordinator needs for each byte that it receives.
    pub receive_ns: f64,
    /// Nanoseconds that the coordinator needs for each byte that it sends.
    pub send_ns: f64,
    /// Nanoseconds in which a thread of a machine stores a received entry or shared result.
    pub store_ns: f64,
    /// Average number of bytes of an entry or shared result.
    pub result_bytes: f64,
}

/// The costs of [`ResultCosts`] that can be set.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ResultArgs {
    /// Microseconds that the coordinator needs for a message, without its bytes [default: as measured for the game]
    #[arg(long, value_parser = parse_cost)]
    job_us: Option<f64>,
    /// Nanoseconds that the coordinator needs for each byte that it receives [default: as measured for the game]
    #[arg(long, value_parser = parse_cost)]
    receive_ns: Option<f64>,
    /// Nanoseconds in which a thread stores a received entry or shared result [default: as measured for the game]
    #[arg(long, value_parser = parse_cost)]
    store_ns: Option<f64>,
}

impl ResultArgs {
    /// Returns these costs, and those of `game` where none is set.
    pub fn or(self, game: ResultCosts) -> ResultCosts {
        ResultCosts {
            job_us: self.job_us.unwrap_or(game.job_us),
            receive_ns: self.receive_ns.unwrap_or(game.receive_ns),
            store_ns: self.store_ns.unwrap_or(game.store_ns),
            ..game
        }
    }
}

impl ResultCosts {
    /// Processor time of the coordinator in simulations: 76 µs for a message of 3317 bytes with a reply of 46 185 bytes
    /// (7x7, 16 machines), 151 µs for one of 12 370 bytes (6x8, one machine of 16 threads). A coordinator alone is
    /// faster, because its data stays in the caches: `cargo bench -- coordinator`. The cost of a result is that of
    /// docs/research/cluster.md.
    pub const KONANE: ResultCosts = ResultCosts {
        job_us: 11.0,
        receive_ns: 11.0,
        send_ns: 0.6,
        store_ns: 60.0,
        result_bytes: 16.0,
    };
    /// Processor time of the coordinator in simulations: 392 µs for a message of 10 077 bytes with a reply of 19 519
    /// bytes (0*24, 4 machines of 16 threads). The cost of a result is that of `cargo bench -- coordinator`.
    pub const SPROUTS: ResultCosts = ResultCosts {
        job_us: 200.0,
        receive_ns: 18.0,
        send_ns: 0.6,
        store_ns: 700.0,
        result_bytes: 26.0,
    };
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
    /// Compares a search with one on one thread that took `alone` nodes or expansions, as a row of the text output.
    pub fn compare(&self, alone: u64, all: u64, seconds: f64) -> (&'static str, String) {
        let one = alone as f64 * self.node_ns / 1e9;
        let (more, faster) = (all as f64 / alone as f64, one / seconds);
        let text = format!(
            "{one:.3} s; the machines search {more:.2} times as much, {faster:.1} times as fast"
        );
        ("one thread", text)
    }

    pub fn latency(&self) -> Duration {
        microseconds(self.messages.latency_us)
    }

    /// The coordinator's time to handle a message of `received` bytes and to reply with `sent` bytes.
    pub fn coordinator(&self, received: usize, sent: usize) -> Duration {
        let ResultCosts { job_us, receive_ns, send_ns, .. } = self.results;
        let bytes = received as f64 * receive_ns + sent as f64 * send_ns;
        microseconds(job_us + bytes / 1000.0)
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

    /// Time to store `bytes` of entries or shared results, with one thread for each [`SHARE_NS`] of work.
    pub fn store(&self, bytes: usize, threads: usize) -> Duration {
        let ResultCosts { store_ns, result_bytes, .. } = self.results;
        let results = bytes as f64 / result_bytes;
        let share = SHARE_NS / store_ns.max(1.0);
        let threads = ((results / share).ceil() as usize).clamp(1, threads);
        let own = results / threads as f64 * store_ns / 1000.0;
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
