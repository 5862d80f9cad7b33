//! The search that is watched while it runs, and the histories of those before it.

use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::reply::Problem;
use crate::cli::judged::outcome_name;
use crate::konane::notation::format_move;
use crate::konane::{
    Algorithm, Board, LEAST_MEMORY, Position, SolveError, SolveOptions, Solver,
};
use crate::search::numbers::INFINITY;
use crate::search::run::{Limits, Observer, Progress};
use crate::search::table::ENTRY_BYTES;
use crate::system::bytes_text;

/// Searches whose history is kept.
const KEPT: usize = 8;

/// From one event to the next.
const INTERVAL: Duration = Duration::from_millis(100);

/// When a history has so many events, every other one of them is forgotten.
const MOST_EVENTS: usize = 1024;

/// What to search.
pub struct Order {
    /// The position.
    pub game: Game,
    /// Bytes for the search.
    pub memory: Option<u64>,
    /// When to give up.
    pub time: Option<Duration>,
    /// When to give up.
    pub nodes: Option<u64>,
}

/// A position of a game.
pub enum Game {
    /// One of Konane, and how to search it.
    Konane { board: Board, position: Position, algorithm: Algorithm },
}

/// The event `progress`.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProgressJson {
    /// Seconds since the beginning.
    pub t: f64,
    /// Positions evaluated.
    pub nodes: u64,
    /// The root's proof number for the side to move; null if it is infinite: the position is lost.
    pub pn: Option<u32>,
    /// Its disproof number; null if it is infinite: the position is won.
    pub dn: Option<u32>,
    /// Entries of the transposition table in use.
    pub table_used: u64,
    /// Entries that fit.
    pub capacity: u64,
    /// The move that the search holds for the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_move: Option<String>,
}

/// The event `end`, the last one.
#[derive(Debug, Serialize, Deserialize)]
pub struct EndJson {
    /// `win`, `loss` or `unknown`, for the side to move.
    pub outcome: String,
    /// Who wins: `black` or `white`; none while it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// Why the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A winning move; the best so far if the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_move: Option<String>,
    /// Seconds since the beginning.
    pub t: f64,
    /// Positions evaluated.
    pub nodes: u64,
}

/// The searches of this run of the program.
pub struct Searches {
    /// The last one may be running; the others have ended.
    kept: Mutex<Vec<Arc<Search>>>,
    /// Begins anywhere, so that a page that an earlier run left open finds nothing here.
    next: AtomicU64,
    memory: u64,
    threads: NonZeroUsize,
}

impl Searches {
    /// In so much memory at most.
    pub fn new(memory: u64, threads: NonZeroUsize) -> Self {
        let next = AtomicU64::new(RandomState::new().hash_one(()));
        Searches { kept: Mutex::default(), next, memory, threads }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Arc<Search>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a search, if none is running.
    pub fn start(&self, order: Order) -> Result<String, Problem> {
        let memory = order.memory.unwrap_or(self.memory);
        if memory > self.memory {
            let most = bytes_text(self.memory);
            let text = format!("memory: at most {most}, half of what --memory says");
            return Err(Problem::refused(text));
        }
        if memory < LEAST_MEMORY {
            return Err(Problem::refused(SolveError::TooLittleMemory { bytes: memory }));
        }
        let mut kept = self.kept();
        if kept.last().is_some_and(|search| !search.log().ended) {
            let text = "a search is running; wait for its end, or end it";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, text));
        }
        let id = format!("{:016x}", self.next.fetch_add(1, Ordering::Relaxed));
        let search = Arc::new(Search::new(id.clone()));
        let (running, threads) = (Arc::clone(&search), self.threads);
        let work = move || running.run(order, memory, threads);
        let spawned = thread::Builder::new().name("search".to_owned()).spawn(work);
        spawned.map_err(Problem::failed)?;
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push(search);
        Ok(id)
    }

    /// The search of this name.
    pub fn find(&self, id: &str) -> Option<Arc<Search>> {
        self.kept().iter().find(|search| search.id == id).cloned()
    }

    /// Ends the search that is running.
    pub fn stop(&self) {
        self.kept().iter().for_each(|search| search.stop());
    }
}

/// A search and what has happened in it.
pub struct Search {
    id: String,
    begun: Instant,
    stop: AtomicBool,
    log: Mutex<Log>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct Log {
    /// Events as they are sent, by their numbers from 1 on.
    events: Vec<(u64, String)>,
    last: u64,
    ended: bool,
}

impl Search {
    fn new(id: String) -> Self {
        let (stop, log) = (AtomicBool::new(false), Mutex::default());
        Search { id, begun: Instant::now(), stop, log, changed: watch::Sender::new(()) }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the search to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Hears of new events.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// The events after this one, the number of the last one, and whether it is the end.
    pub fn since(&self, heard: u64) -> (String, u64, bool) {
        let log = self.log();
        let begin = log.events.partition_point(|&(number, _)| number <= heard);
        let texts = log.events[begin..].iter().map(|(_, text)| text.as_str());
        (texts.collect(), log.last.max(heard), log.ended)
    }

    /// Whether the event of this number was the end.
    pub fn has_ended_at(&self, heard: u64) -> bool {
        let log = self.log();
        log.ended && heard >= log.last
    }

    fn tell(&self, name: &str, data: &impl Serialize) {
        let data = serde_json::to_string(data).expect("texts and numbers");
        let mut log = self.log();
        if log.events.len() >= MOST_EVENTS {
            let mut odd = false;
            log.events.retain(|_| {
                odd = !odd;
                odd
            });
        }
        log.last += 1;
        log.ended |= name == END;
        let (number, mut text) = (log.last, String::new());
        let _ = write!(text, "id: {number}\nevent: {name}\ndata: {data}\n\n");
        log.events.push((number, text));
        drop(log);
        self.changed.send_replace(());
    }

    /// Seconds since the beginning, in milliseconds.
    fn seconds(&self) -> f64 {
        (self.begun.elapsed().as_secs_f64() * 1000.0).round() / 1000.0
    }

    fn run(&self, order: Order, memory_bytes: u64, threads: NonZeroUsize) {
        let mut end = End { search: self, json: Some(self.failed("the program failed")) };
        let limits = Limits {
            nodes: order.nodes,
            // A time beyond what the clock can tell is no limit.
            deadline: order.time.and_then(|time| self.begun.checked_add(time)),
            stop: Some(&self.stop),
            ..Limits::default()
        };
        let Game::Konane { board, position, algorithm } = order.game;
        let threads = if algorithm.is_parallel() { threads } else { NonZeroUsize::MIN };
        let options =
            SolveOptions { algorithm, memory_bytes, threads, ..SolveOptions::default() };
        let solver = Solver::new(&board, &position).options(options).limits(limits);
        let capacity = options.memory_plan().table / ENTRY_BYTES as u64;
        let due = self.begun;
        let mut watch = Watch { search: self, board: &board, position: &position, capacity, due };
        end.json = Some(match solver.run_observed(&mut watch) {
            Err(error) => self.failed(&error.to_string()),
            Ok(solution) => EndJson {
                outcome: outcome_name(solution.report.outcome.value()).to_owned(),
                winner: solution.winner.map(|winner| winner.name().to_owned()),
                reason: solution.reason().map(|reason| reason.text().to_owned()),
                best_move: solution.best_move.map(|mv| format_move(board.dimensions(), mv)),
                t: self.seconds(),
                nodes: solution.report.counters.nodes,
            },
        });
    }

    fn failed(&self, reason: &str) -> EndJson {
        EndJson {
            outcome: outcome_name(None).to_owned(),
            winner: None,
            reason: Some(reason.to_owned()),
            best_move: None,
            t: self.seconds(),
            nodes: 0,
        }
    }
}

/// The name of the last event.
const END: &str = "end";

/// Tells the end of a search, also that of one that panics.
struct End<'a> {
    search: &'a Search,
    json: Option<EndJson>,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.search.tell(END, &self.json.take());
    }
}

/// Makes events of a search's progress.
struct Watch<'a> {
    search: &'a Search,
    board: &'a Board,
    position: &'a Position,
    capacity: u64,
    /// The time of the next event.
    due: Instant,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) {
        let now = Instant::now();
        if now < self.due {
            return;
        }
        self.due = now + INTERVAL;
        let finite = |number| (number < INFINITY).then_some(number);
        let best = progress.best.and_then(|code| self.position.move_to(self.board, code));
        self.search.tell("progress", &ProgressJson {
            t: self.search.seconds(),
            nodes: progress.counters.nodes,
            pn: finite(progress.phi),
            dn: finite(progress.delta),
            table_used: progress.counters.table_used,
            capacity: self.capacity,
            best_move: best.map(|mv| format_move(self.board.dimensions(), mv)),
        });
    }
}
