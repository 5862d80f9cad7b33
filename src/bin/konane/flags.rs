//! Flags that several verbs have. Each is written once, so that it reads and behaves the same
//! wherever it stands, for Konane as for Sprouts.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::exit::CliError;
use konane::search::run::Limits;
use konane::system::{
    NumberError, parse_bytes, parse_count, parse_duration, parse_number, start_in_pool, thread_pool,
};

/// Most threads that a command accepts.
pub const MOST_THREADS: u32 = 1024;

fn parse_threads(text: &str) -> Result<u32, NumberError> {
    parse_number(text, 1, MOST_THREADS.into()).map(|number| number as u32)
}

/// Parser of a value of the library by its name. Each value comes with its help text.
pub fn named<T>(
    values: &'static [(T, &'static str)],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names = values.iter().map(move |&(value, help)| PossibleValue::new(name(value)).help(help));
    PossibleValuesParser::new(names).map(move |text| {
        let (value, _) = values.iter().find(|&&(value, _)| name(value) == text).expect("a name");
        *value
    })
}

/// How to print.
#[derive(Clone, Copy, Debug, Args)]
pub struct OutputArgs {
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// Show no progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
}

/// How many threads to use.
#[derive(Clone, Copy, Debug, Args)]
pub struct ThreadsArg {
    /// Threads to use [default: all cores].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = parse_threads)]
    pub threads: Option<u32>,
}

impl ThreadsArg {
    /// The requested number, or the number of cores; one for an algorithm that is not among the
    /// `parallel` ones.
    pub fn of(
        self,
        algorithm: &'static str,
        parallel: impl IntoIterator<Item = &'static str>,
    ) -> Result<NonZeroUsize, CliError> {
        let parallel: Vec<&str> = parallel.into_iter().collect();
        let asked = self.threads.and_then(|threads| NonZeroUsize::new(threads as usize));
        if parallel.contains(&algorithm) {
            let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
            Ok(asked.unwrap_or_else(cores))
        } else if asked.is_some_and(|threads| threads > NonZeroUsize::MIN) {
            Err(CliError::OneThread { algorithm, parallel })
        } else {
            Ok(NonZeroUsize::MIN)
        }
    }

    /// Works on a pool of so many threads.
    pub fn install<T: Send>(self, work: impl FnOnce() -> T + Send) -> Result<T, CliError> {
        let pool = self.pool().spawn_handler(start_in_pool).build();
        Ok(pool.map_err(CliError::Threads)?.install(work))
    }

    /// Starts a pool of so many threads for work that cannot be installed on one; once. Rayon would
    /// start it where it is first needed, and panic if the system gives no threads.
    pub fn start_pool(self) -> Result<(), CliError> {
        self.pool().spawn_handler(start_in_pool).build_global().map_err(CliError::Threads)
    }

    fn pool(self) -> rayon::ThreadPoolBuilder {
        // 0 leaves the choice to rayon.
        thread_pool(self.threads.unwrap_or(0) as usize)
    }
}

/// A bound for verbs that know what they need.
#[derive(Clone, Copy, Debug, Args)]
pub struct MemoryLimitArg {
    /// Memory that may be used [default: what the system has available].
    #[arg(short, long, value_name = "SIZE", value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: Option<u64>,
}

/// The memory of a search.
#[derive(Clone, Copy, Debug, Args)]
pub struct SearchMemoryArg {
    /// Memory to search in, at least 1MiB.
    #[arg(short, long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
}

/// What a search may use.
#[derive(Clone, Copy, Debug, Args)]
pub struct SearchArgs {
    #[command(flatten)]
    pub threads: ThreadsArg,
    #[command(flatten)]
    pub memory: SearchMemoryArg,
    /// Give up after this time, such as 60s, 5m or 1h30m.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub time_limit: Option<Duration>,
    /// Give up after this many nodes, such as 500000, 2.5M or 1e6.
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    pub max_nodes: Option<u64>,
}

impl SearchArgs {
    /// The limits of a search that begins at this time.
    pub fn limits(self, begun: Instant, stop: &AtomicBool) -> Limits<'_> {
        Limits {
            nodes: self.max_nodes,
            // A time beyond what the clock can tell is no limit.
            deadline: self.time_limit.and_then(|limit| begun.checked_add(limit)),
            stop: Some(stop),
            ..Limits::default()
        }
    }
}

/// The jobs of the two-level search.
#[derive(Clone, Copy, Debug, Args)]
pub struct JobArgs {
    /// pns-pdfpn: length of a worker's job in nodes, for Sprouts in expansions [default: 10000].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    pub iterations: Option<u64>,
    /// pns-pdfpn: expansions after which a worker tells its numbers to the others [default: 4096,
    /// for Sprouts 1000].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    pub updates: Option<u64>,
    /// pns-pdfpn: threads of each worker [default: 1]. There are --threads / N workers.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_threads)]
    pub threads_per_worker: Option<u32>,
}

impl JobArgs {
    /// Checks them against the algorithm and the threads of the search. The threads of a worker.
    pub fn threads_per_worker(
        self,
        algorithm: &'static str,
        two_levels: bool,
        threads: NonZeroUsize,
    ) -> Result<NonZeroUsize, CliError> {
        let given = [
            ("--iterations", self.iterations.is_some()),
            ("--updates", self.updates.is_some()),
            ("--threads-per-worker", self.threads_per_worker.is_some()),
        ];
        if let (false, Some((option, _))) = (two_levels, given.iter().find(|(_, given)| *given)) {
            return Err(CliError::JobOption { option, algorithm });
        }
        let each = self.threads_per_worker.and_then(|each| NonZeroUsize::new(each as usize));
        let each = each.unwrap_or(NonZeroUsize::MIN);
        if each > threads {
            return Err(CliError::WorkerThreads { each, threads });
        }
        Ok(each)
    }
}
