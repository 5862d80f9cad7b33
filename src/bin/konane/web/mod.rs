//! `konane explore`: a page in the browser, and the HTTP interface behind it (docs/api.md).
//!
//! Comes in: requests of programs on this machine. Goes out: the page, JSON, streams of events.
//!
//! ```text
//! server ─▶ security ─▶ routes ─▶ boards ─▶ seat (of an Analyst) ─▶ files: databases, proofs
//! (accepts)  (rejects)     ├────▶ levels (one search at a time)
//!                          ├────▶ searches (one at a time) ─▶ events (to whoever listens)
//!                          └────▶ assets (the page)
//! ```
//!
//! * `server` accepts connections on one thread, which never computes and never waits for a file, and
//!   limits their number; `connection` is the state of each;
//! * `security` rejects requests of other pages, and adds headers to every answer;
//! * `routes` has a file for each resource, with the types of its requests and answers: these are
//!   the documentation of the interface;
//! * `boards` keeps an analyst for each board, `sprouts` one for the other game, and `seat` lets one
//!   request at a time search with each; `levels` has the searches of weaker opponents, which need
//!   no analyst;
//! * `searches` has the `search` that is watched live and its `history`, which `events` streams;
//! * `reply` turns errors into answers.

mod assets;
mod boards;
mod connection;
mod events;
mod files;
mod history;
mod levels;
mod params;
mod reply;
mod routes;
mod search;
mod searches;
mod seat;
mod security;
mod server;
mod sprouts;

use std::io::{self, IsTerminal, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use tokio::task::spawn_blocking;

use crate::args::ThreadsArg;
use crate::exit::{CliError, Exit};
use crate::output;
use boards::Boards;
use files::Files;
use konane::LEAST_MEMORY;
use konane::system::{STACK_BYTES, parse_bytes, thread};
use levels::Levels;
use reply::Problem;
pub use routes::add_schemas;
use searches::Searches;
use security::{HostName, Hosts};
use sprouts::Sprouts;

/// Boards whose analyses are kept. Half of the memory is for the search that is watched, the other
/// one for the boards and Sprouts in equal parts.
const BOARDS: u64 = 2;

/// What a board has of the memory, one over it.
const PARTS: u64 = 2 * (BOARDS + 1);

fn parse_memory(text: &str) -> Result<u64, String> {
    let least = PARTS * LEAST_MEMORY;
    match parse_bytes(text) {
        Ok(bytes) if bytes < least => Err(format!("at least {} MiB are needed", least >> 20)),
        result => result.map_err(|error| error.to_string()),
    }
}

/// `konane explore`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "The first line on standard output is the address. Only programs on this machine can reach it.\n",
    "Ctrl-C ends it.\n\n",
    "Examples:\n",
    "  konane explore --open\n",
    "  konane explore --db db --proof 8x7.proof\n",
    "  konane explore --port 0 --memory 4GiB\n",
    "  konane explore --allow-host konane.example.org\n"
))]
pub struct ExploreArgs {
    /// The port of the address; 0 takes a free one.
    #[arg(long, value_name = "N", default_value = "8017")]
    pub port: u16,
    /// Open the address in the browser.
    #[arg(long)]
    pub open: bool,
    /// Answer requests for this host name too, which a proxy before the program passes on. Can be
    /// given several times. Loopback names and addresses are always answered.
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<HostName>,
    /// Take values from the databases in this directory, or from this database [default: db, if
    /// there is one].
    #[arg(long, value_name = "DIR")]
    pub db: Option<PathBuf>,
    /// Take the positions of this proof for proven, unchecked: verify-proof checks it. Can be given
    /// several times, for any boards.
    #[arg(long, value_name = "FILE")]
    pub proof: Vec<PathBuf>,
    /// Sprouts: take Grundy numbers from this file, and add those that are found; made if there is
    /// none.
    #[arg(long, value_name = "FILE")]
    pub sprouts_db: Option<PathBuf>,
    #[command(flatten)]
    pub threads: ThreadsArg,
    /// Memory to search in, at least 6MiB. Files are kept beside it.
    #[arg(short, long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_memory,
          allow_hyphen_values = true)]
    pub memory: u64,
}

/// What the routes work with.
struct Explorer {
    files: Arc<Files>,
    boards: Boards,
    levels: Levels,
    sprouts: Sprouts,
    searches: Searches,
}

impl Explorer {
    fn new(args: &ExploreArgs) -> Result<Self, CliError> {
        let (memory, threads) = (args.memory / PARTS, args.threads.of("dfpn", ["dfpn"])?);
        let files = Arc::new(Files::open(args.db.as_deref(), &args.proof)?);
        let boards = Boards::new(Arc::clone(&files), memory, threads);
        let sprouts = Sprouts::new(memory, threads, args.sprouts_db.clone())?;
        let searches = Searches::new(args.memory / 2, threads);
        Ok(Explorer { files, boards, levels: Levels::default(), sprouts, searches })
    }

    /// Reads something from files, on a thread where that may take its time.
    async fn read_files<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Files) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let files = Arc::clone(&self.files);
        spawn_blocking(move || read(&files)).await.map_err(Problem::failed)
    }

    /// Ends all searches.
    fn stop(&self) {
        self.boards.stop();
        self.levels.stop();
        self.sprouts.stop();
        self.searches.stop();
    }
}

/// Serves the page until somebody ends it.
pub fn run(args: &ExploreArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let explorer = Arc::new(Explorer::new(args)?);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port));
    let listener = listener.map_err(|error| CliError::Port { port: args.port, error })?;
    let port = listener.local_addr().map_err(CliError::Server)?.port();
    let address = format!("http://127.0.0.1:{port}/");
    output::write_text(format!("{address}\n"))?;
    output::note_unchecked(&args.proof);
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // If nobody hears it, it need not be said.
        let _ = writeln!(stderr, "Open this address in a browser. Ctrl-C ends it.");
    }
    if args.open {
        open_browser(&address);
    }
    let hosts = Hosts::new(&args.allow_host);
    let router = security::guarded(routes::router(Arc::clone(&explorer)), &hosts);
    let refusal = security::guarded(routes::refusal(), &hosts);
    server::serve(listener, router, refusal, &explorer, stop).map_err(CliError::Server)?;
    explorer.sprouts.close()?;
    // A signal is the only end that there is.
    Ok(Exit::Interrupted)
}

/// Asks the system to show the address. Whoever reads it can open it as well, so a failure is no
/// error.
fn open_browser(address: &str) {
    let opener = match () {
        () if cfg!(target_os = "macos") => "open",
        () if cfg!(windows) => "explorer",
        () => "xdg-open",
    };
    let mut command = Command::new(opener);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // It is waited for, so that it does not stay behind as a zombie.
        Ok(mut child) => drop(thread("browser", STACK_BYTES).spawn(move || child.wait())),
        Err(error) => output::warn(&format!("cannot open a browser with {opener}: {error}")),
    }
}
