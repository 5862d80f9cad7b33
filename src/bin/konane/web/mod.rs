//! `konane explore`: a web page and its HTTP API (docs/api.md).
//!
//! ```text
//! server ─▶ security ─▶ routes ─▶ boards ─▶ turns (one request at a time) ─▶ files: databases, proofs
//! (accepts)  (rejects)     ├────▶ searches ─▶ search ─▶ events (streams)
//!                          └────▶ assets (the page)
//! ```
//!
//! * `server` accepts connections on one thread and limits their number. This thread neither computes nor
//!   waits for files.
//! * `security` rejects cross-origin requests and adds headers to every answer.
//! * `routes` has one file for each resource, with the types of its requests and answers, from which the
//!   documentation is generated. `params` and `reply` parse parameters and bodies, and convert errors to
//!   answers.
//! * `boards` has an analyst for each board. `turns` queues the requests to each of them, to the analyst of
//!   Sprouts and to weaker opponents.
//! * `searches` has the current search and earlier ones, `events` their events.

mod assets;
mod boards;
mod events;
mod files;
mod params;
mod reply;
mod routes;
mod search;
mod searches;
mod security;
mod server;
mod turns;

use std::io::{self, IsTerminal, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use tokio::task::spawn_blocking;

use crate::args::{SearchMemoryArg, ThreadsArg, environment};
use crate::commands::sprouts::search::{NumbersArg, analyst};
use crate::exit::{CliError, Exit};
use crate::output;
use boards::Boards;
use files::Files;
use konane::MIN_MEMORY;
use konane::sprouts::analysis::Analyst;
use konane::system::{STACK_BYTES, parse_bytes, thread};
use konane::tablebase::{DatabaseError, ListedDatabase};
use reply::ApiError;
#[cfg(test)]
pub use routes::add_schemas;
use searches::Searches;
use turns::TurnQueue;

/// Maximum number of boards with an analyst. Half of the memory is for `searches`. The boards and both games of Sprouts
/// share the other half equally.
const BOARDS: u64 = 2;

/// Divisor of the memory for the share of one board.
const PARTS: u64 = 2 * (BOARDS + 2);

fn parse_memory(text: &str) -> Result<u64, String> {
    let min = PARTS * MIN_MEMORY;
    match parse_bytes(text) {
        Ok(bytes) if bytes < min => Err(format!("at least {} MiB are needed", min >> 20)),
        result => result.map_err(|error| error.to_string()),
    }
}

/// `konane explore`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "The first line on standard output is the address. Only programs on this machine can reach it.\n",
    "Ctrl-C stops the server.\n\n",
    "Examples:\n",
    "  konane explore --open\n",
    "  konane explore --db db --proof 8x7.proof\n",
    "  konane explore --port 0 --memory 4GiB\n",
    "  konane explore --allow-host konane.example.org\n"
))]
pub struct ExploreArgs {
    /// Port to listen at; 0 selects a free one.
    #[arg(long, value_name = "N", default_value = "8017")]
    pub port: u16,
    /// Open the address in the browser.
    #[arg(long)]
    pub open: bool,
    /// Also accept requests for this host name, for use behind a proxy. Can be given several times.
    /// Loopback names and addresses are always accepted.
    #[arg(long, value_name = "NAME", value_parser = security::parse_host)]
    pub allow_host: Vec<String>,
    /// Look up values in the databases in this directory, or in this database [default: db, if it
    /// exists]. May be repeated: the first database of a board is used.
    #[arg(long, value_name = "DIR")]
    pub db: Vec<PathBuf>,
    /// Trust this proof without verifying it (verify-proof verifies it). Can be given several times, for
    /// any boards.
    #[arg(long, value_name = "FILE")]
    pub proof: Vec<PathBuf>,
    /// Use the outcomes of this file, as written by solve --results.
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Sprouts: look up Grundy numbers in this file, and add those that are found; created if it does
    /// not exist.
    #[arg(long, value_name = "FILE")]
    pub sprouts_db: Option<PathBuf>,
    #[command(flatten)]
    pub threads: ThreadsArg,
    /// Memory for searches, at least 8MiB. Files need additional memory.
    #[arg(short, long, value_name = "SIZE", default_value = environment::or(environment::MEMORY, "256MiB"), value_parser = parse_memory,
          allow_hyphen_values = true)]
    pub memory: u64,
}

/// State that all requests share.
struct Explorer {
    files: Arc<Files>,
    boards: Boards,
    /// Queue of weaker opponents, which search a fixed number of nodes without an analyst. One searches at a
    /// time, because each allocates memory.
    levels: TurnQueue<()>,
    sprouts: TurnQueue<Analyst>,
    misere: TurnQueue<Analyst>,
    searches: Searches,
}

impl Explorer {
    fn new(args: &ExploreArgs) -> Result<Self, CliError> {
        let (memory, threads) = (args.memory / PARTS, args.threads.of("dfpn", ["dfpn"])?);
        let files = Arc::new(Files::open(&args.db, &args.proof, args.results.clone())?);
        let boards = Boards::new(Arc::clone(&files), memory, threads);
        boards.refresh(&files.databases()?);
        let numbers = NumbersArg { db: args.sprouts_db.clone() };
        let create = move || -> Result<_, CliError> {
            Ok(analyst(SearchMemoryArg { memory }, &numbers, false)?.threads(threads))
        };
        // Opened at the start, so that errors of the file are reported.
        let first = args.sprouts_db.as_ref().map(|_| create()).transpose()?;
        let sprouts = TurnQueue::new(first, move || Ok(create()?));
        let none = NumbersArg { db: None };
        let misere = TurnQueue::new(None, move || {
            Ok(analyst(SearchMemoryArg { memory }, &none, true)?.threads(threads))
        });
        let levels = TurnQueue::new(Some(()), || Ok(()));
        let searches = Searches::new(args.memory / 2, threads);
        Ok(Explorer { files, boards, levels, sprouts, misere, searches })
    }

    /// Reads databases on a thread that may block.
    async fn read_files<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Files) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let files = Arc::clone(&self.files);
        Ok(spawn_blocking(move || read(&files)).await.map_err(ApiError::failed)??)
    }

    /// Reads the manifests of all databases. Later requests use those that have been added or replaced.
    async fn databases(&self) -> Result<Vec<ListedDatabase>, ApiError> {
        let listed = self.read_files(Files::databases).await?;
        self.boards.refresh(&listed);
        Ok(listed)
    }

    /// Ends all searches.
    fn stop(&self) {
        self.boards.stop();
        self.levels.stop();
        self.sprouts.stop();
        self.misere.stop();
        self.searches.stop();
    }
}

/// Serves the page until `stop` is set.
pub fn run(args: &ExploreArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let explorer = Arc::new(Explorer::new(args)?);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port));
    let listener = listener.map_err(|error| CliError::Port { port: args.port, error })?;
    let port = listener.local_addr().map_err(CliError::Server)?.port();
    let address = format!("http://127.0.0.1:{port}/");
    output::write_text(format!("{address}\n"))?;
    output::note_trusted_proofs(&args.proof);
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // A closed terminal is not an error.
        let _ = writeln!(stderr, "Open this address in a browser. Ctrl-C stops the server.");
    }
    if args.open {
        open_browser(&address);
    }
    let hosts = args.allow_host.clone().into();
    let router = security::guarded(routes::router(Arc::clone(&explorer)), &hosts);
    server::serve(listener, router, &explorer, stop).map_err(CliError::Server)?;
    // Skipped if a request is still using it. A file without its last numbers is valid.
    if let Some(analyst) = explorer.sprouts.take() {
        analyst.close()?;
    }
    // Only a signal ends the server.
    Ok(Exit::Interrupted)
}

/// Opens the address in the browser. A failure is only a warning, because the user can open the address.
fn open_browser(address: &str) {
    let opener = match () {
        () if cfg!(target_os = "macos") => "open",
        () if cfg!(windows) => "explorer",
        () => "xdg-open",
    };
    let mut command = Command::new(opener);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // Waiting for it avoids a zombie process.
        Ok(mut child) => drop(thread("browser", STACK_BYTES).spawn(move || child.wait())),
        Err(error) => output::warn(&format!("cannot open a browser with {opener}: {error}")),
    }
}
