//! A search that is watched while it runs.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::history::History;
use super::reply::Problem;
use crate::output::time;
use crate::trace::ProgressJson;
use konane::json::{OrUnknown, or_unknown};
use konane::search::Value;
use konane::search::run::{Limits, Observer, Progress, Reason, Report};
use konane::search::sums::{SearchOptions, Sum, TwoLevelOptions, Workspace};
use konane::sprouts::{self, Scratch, Sprouts};
use konane::system::quote;
use konane::{Algorithm, Board, Colour, Move, Position, SolveOptions, Solver};

/// From one event to the next.
const INTERVAL: Duration = Duration::from_millis(100);

/// What to search.
pub struct Order {
    /// The position.
    pub game: Game,
    /// Bytes for the search.
    pub memory: u64,
    /// When to give up.
    pub time: Option<Duration>,
    /// When to give up.
    pub nodes: Option<u64>,
}

/// A position of a game, and how to search it.
pub enum Game {
    /// Konane.
    Konane { board: Board, position: Position, algorithm: Algorithm },
    /// Sprouts.
    Sprouts { position: sprouts::Position, algorithm: sprouts::Algorithm },
}

impl Game {
    /// What is searched and how, for people.
    fn text(&self) -> String {
        match self {
            Game::Konane { board, position, algorithm } => {
                let (size, text) = (board.dimensions(), position.to_string());
                format!("{algorithm} on {size}, {text}")
            }
            Game::Sprouts { position, algorithm } => {
                format!("{algorithm} on Sprouts, {}", quote(&position.to_string()))
            }
        }
    }
}

/// The event `end`, the last one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EndJson {
    /// The outcome for the player to move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[schemars(with = "OrUnknown<Value>")]
    pub outcome: Option<Value>,
    /// Konane: the player who wins.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "some_or_unknown")]
    #[schemars(with = "OrUnknown<Colour>")]
    pub winner: Option<Option<Colour>>,
    /// Why the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The error that ended the search, if it ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Konane: a winning move; while the outcome is unknown, the best move so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_move: Option<Move>,
    /// Wall-clock time since the search began.
    pub seconds: f64,
    /// Positions evaluated.
    pub nodes: u64,
}

/// Writes `unknown` for the inner `None`; the outer one is skipped.
fn some_or_unknown<S: Serializer>(
    winner: &Option<Option<Colour>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    or_unknown::serialize(&winner.flatten(), serializer)
}

/// A search.
pub struct Search {
    /// Its name.
    pub id: String,
    /// What has happened.
    pub history: History,
    /// What is searched and how, for people.
    what: String,
    /// When it gives up.
    limit: Option<Duration>,
    begun: Instant,
    stop: AtomicBool,
}

impl Search {
    /// That is about to begin.
    pub fn new(id: String, order: &Order) -> Self {
        let (what, limit) = (order.game.text(), order.time);
        let (begun, stop) = (Instant::now(), AtomicBool::new(false));
        Search { id, history: History::new(), what, limit, begun, stop }
    }

    /// Why another one cannot begin now, and what can be done about it.
    pub fn in_the_way(&self) -> Problem {
        let what = &self.what;
        let begun = time(self.seconds());
        let limit = self.limit.map(|limit| format!(" and {} at most", time(limit.as_secs_f64())));
        let limit = limit.unwrap_or_default();
        let remedy = if self.stop.load(Ordering::Relaxed) {
            "it is being ended, try again in a moment"
        } else {
            "wait for its end, or end it"
        };
        let text = format!("a search is running, for {begun} now{limit}: {what}; {remedy}");
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, text);
        Problem { search: Some(self.id.clone()), ..problem }
    }

    /// Asks it to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Seconds since the beginning, to the millisecond.
    fn seconds(&self) -> f64 {
        (self.begun.elapsed().as_secs_f64() * 1000.0).round() / 1000.0
    }

    /// Searches, and tells about it.
    pub fn run(&self, order: Order, threads: NonZeroUsize) {
        let mut end = Ending { search: self, found: Err("the program failed".to_owned()) };
        let limits = Limits {
            nodes: order.nodes,
            // A time beyond what the clock can tell is no limit.
            deadline: order.time.and_then(|time| self.begun.checked_add(time)),
            stop: Some(&self.stop),
            ..Limits::default()
        };
        end.found = match &order.game {
            Game::Konane { board, position, algorithm } => {
                self.konane(board, position, *algorithm, order.memory, threads, limits)
            }
            Game::Sprouts { position, algorithm } => {
                self.sprouts(position, *algorithm, order.memory, threads, limits)
            }
        };
    }

    fn konane(
        &self,
        board: &Board,
        position: &Position,
        algorithm: Algorithm,
        memory_bytes: u64,
        threads: NonZeroUsize,
        limits: Limits<'_>,
    ) -> Result<Found, String> {
        let threads = if algorithm.is_parallel() { threads } else { NonZeroUsize::MIN };
        let options = SolveOptions { algorithm, memory_bytes, threads, ..SolveOptions::default() };
        let mut watch = Watch::new(self, |progress: &Progress, seconds| {
            ProgressJson::of_konane(progress, seconds, board, position, algorithm)
        });
        let solver = Solver::new(board, position).options(options).limits(limits);
        let solution = solver.run_observed(&mut watch).map_err(|error| error.to_string())?;
        let (winner, best) = (Some(solution.winner), solution.best_move);
        Ok(Found { report: solution.report, winner, best })
    }

    fn sprouts(
        &self,
        position: &sprouts::Position,
        algorithm: sprouts::Algorithm,
        memory: u64,
        threads: NonZeroUsize,
        limits: Limits<'_>,
    ) -> Result<Found, String> {
        let game = Sprouts::new(memory);
        let workspace = Workspace::new(&game, memory).map_err(|error| error.to_string())?;
        let atoms = game.atoms(position, &mut Scratch::default());
        let root = Sum::new(&game, &atoms.map_err(|error| error.to_string())?, 0);
        let capacity = workspace.table().capacity();
        let mut watch = Watch::new(self, |progress: &Progress, seconds| {
            let progress = Progress { table_capacity: capacity, ..*progress };
            ProgressJson::new(&progress, seconds)
        });
        let (options, jobs) = (SearchOptions::TUNED, TwoLevelOptions::default());
        let threads = threads.get() as u32;
        let report =
            algorithm.search(&workspace, &root, options, jobs, threads, limits, &mut watch);
        watch.progress(&Progress::from(&report));
        Ok(Found { report, winner: None, best: None })
    }
}

/// What a search has found.
struct Found {
    report: Report,
    /// Konane: the player who wins, if known.
    winner: Option<Option<Colour>>,
    best: Option<Move>,
}

/// Tells the end of a search, also of one that panics.
struct Ending<'a> {
    search: &'a Search,
    found: Result<Found, String>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut json = EndJson {
            outcome: None,
            winner: None,
            reason: None,
            error: None,
            best_move: None,
            seconds: self.search.seconds(),
            nodes: 0,
        };
        match &self.found {
            Err(error) => json.error = Some(error.clone()),
            Ok(Found { report, winner, best }) => {
                (json.outcome, json.winner) = (report.outcome.value(), *winner);
                (json.reason, json.best_move) = (report.outcome.reason(), *best);
                json.nodes = report.counters.nodes;
            }
        }
        self.search.history.end("end", &json);
    }
}

/// Makes events of a search's progress.
struct Watch<'a, F> {
    search: &'a Search,
    json: F,
    /// The time of the next event.
    due: Instant,
}

impl<'a, F: Fn(&Progress, f64) -> ProgressJson> Watch<'a, F> {
    fn new(search: &'a Search, json: F) -> Self {
        Watch { search, json, due: search.begun }
    }
}

impl<F: Fn(&Progress, f64) -> ProgressJson> Observer for Watch<'_, F> {
    fn progress(&mut self, progress: &Progress) {
        let now = Instant::now();
        if now < self.due && !progress.is_last {
            return;
        }
        self.due = now + INTERVAL;
        let json = (self.json)(progress, self.search.seconds());
        self.search.history.tell("progress", &json);
    }
}
