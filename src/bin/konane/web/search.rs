//! Searches with live progress events.

use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde::{Serialize, Serializer};
use tokio::sync::watch;

use super::events::EventHistory;
use super::reply::ApiError;
use crate::output::time;
use crate::trace::ProgressJson;
use konane::json::or_unknown;
use konane::search::Value;
use konane::search::run::{Limits, Observer, Progress, Reason, Report};
use konane::search::sums::{DEFAULT_JOB_EXPANSIONS, SearchOptions, SolverState, Sum};
use konane::sprouts::{self, Scratch, Sprouts};
use konane::system::quote;
use konane::{Algorithm, Board, Colour, Move, Position, SolveOptions, Solver};

/// Minimum time between two events.
const INTERVAL: Duration = Duration::from_millis(100);

/// A position and the limits of its search.
pub struct SearchTask {
    /// Position and algorithm.
    pub game: SearchedGame,
    /// Memory in bytes.
    pub memory: u64,
    /// Time limit.
    pub time: Option<Duration>,
    /// Node limit.
    pub nodes: Option<u64>,
}

/// A position of a game, and the algorithm of its search.
pub enum SearchedGame {
    /// Konane.
    Konane { board: Board, position: Position, algorithm: Algorithm },
    /// Sprouts.
    Sprouts { position: sprouts::Position, algorithm: sprouts::Algorithm },
}

/// The description for users.
impl fmt::Display for SearchedGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchedGame::Konane { board, position, algorithm } => {
                let (size, text) = (board.dimensions(), position.to_string());
                write!(f, "{algorithm} on {size}, {text}")
            }
            SearchedGame::Sprouts { position, algorithm } => {
                write!(f, "{algorithm} on Sprouts, {}", quote(&position.to_string()))
            }
        }
    }
}

/// The event `end`, the last event of a search.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EndJson {
    /// The outcome for the player to move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(test, schemars(with = "konane::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
    /// Konane: the player who wins.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "some_or_unknown")]
    #[cfg_attr(test, schemars(with = "konane::json::OrUnknown<Colour>"))]
    pub winner: Option<Option<Colour>>,
    /// Reason why the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The error that ended the search, if any.
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

/// Serialises an inner `None` as `unknown`. An outer `None` is skipped.
fn some_or_unknown<S: Serializer>(
    winner: &Option<Option<Colour>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    or_unknown::serialize(&winner.flatten(), serializer)
}

impl From<&Report> for EndJson {
    fn from(report: &Report) -> Self {
        EndJson {
            outcome: report.outcome.value(),
            reason: report.outcome.reason(),
            nodes: report.counters.nodes,
            ..EndJson::default()
        }
    }
}

/// A search with its events.
pub struct LiveSearch {
    /// Id of the search in URLs.
    pub id: String,
    /// Events of the search. Streams wait for changes.
    pub history: watch::Sender<EventHistory>,
    /// Description for users.
    description: String,
    /// Time limit.
    max_time: Option<Duration>,
    started: Instant,
    stop: AtomicBool,
}

impl LiveSearch {
    /// Returns a search that has not started.
    pub fn new(id: String, task: &SearchTask) -> Self {
        LiveSearch {
            id,
            history: watch::Sender::default(),
            description: task.game.to_string(),
            max_time: task.time,
            started: Instant::now(),
            stop: AtomicBool::new(false),
        }
    }

    /// Returns the error for a second search while this one is running.
    pub fn busy_error(&self) -> ApiError {
        let (description, begun) = (&self.description, time(self.seconds()));
        let limit =
            self.max_time.map(|limit| format!(" and {} at most", time(limit.as_secs_f64())));
        let limit = limit.unwrap_or_default();
        let remedy = if self.stop.load(Ordering::Relaxed) {
            "it is stopping; try again in a moment"
        } else {
            "wait for it or stop it"
        };
        let text = format!("a search is running, for {begun} now{limit}: {description}; {remedy}");
        let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, text);
        ApiError { search: Some(self.id.clone()), ..error }
    }

    /// Sets the stop flag of the search.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Seconds since the start, rounded to milliseconds.
    fn seconds(&self) -> f64 {
        (self.started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0
    }

    /// Runs the search and adds events. The last event is `end`, even if the search panics.
    pub fn run(&self, task: &SearchTask, threads: NonZeroUsize) {
        let limits = Limits {
            nodes: task.nodes,
            // A time that the clock cannot represent is no limit.
            deadline: task.time.and_then(|time| self.started.checked_add(time)),
            stop: Some(&self.stop),
            ..Limits::default()
        };
        let search = || match &task.game {
            SearchedGame::Konane { board, position, algorithm } => {
                self.konane(board, position, *algorithm, task.memory, threads, limits)
            }
            SearchedGame::Sprouts { position, algorithm } => {
                self.sprouts(position, *algorithm, task.memory, threads, limits)
            }
        };
        let found = catch_unwind(AssertUnwindSafe(search));
        let found = found.unwrap_or_else(|_| Err("internal error: the search panicked".to_owned()));
        let mut end =
            found.unwrap_or_else(|error| EndJson { error: Some(error), ..EndJson::default() });
        end.seconds = self.seconds();
        self.history.send_modify(|history| {
            history.push("end", &end);
            history.ended = true;
        });
    }

    fn konane(
        &self,
        board: &Board,
        position: &Position,
        algorithm: Algorithm,
        memory_bytes: u64,
        threads: NonZeroUsize,
        limits: Limits<'_>,
    ) -> Result<EndJson, String> {
        let threads = if algorithm.is_parallel() { threads } else { NonZeroUsize::MIN };
        let options = SolveOptions { algorithm, memory_bytes, threads, ..SolveOptions::default() };
        let mut observer = EventObserver::new(self, |progress: &Progress, seconds| {
            ProgressJson::of_konane(progress, seconds, board, position, algorithm)
        });
        let solver = Solver::new(board, position).options(options).limits(limits);
        let solution = solver.run_observed(&mut observer).map_err(|error| error.to_string())?;
        let (winner, best_move) = (Some(solution.winner), solution.best_move);
        Ok(EndJson { winner, best_move, ..EndJson::from(&solution.report) })
    }

    fn sprouts(
        &self,
        position: &sprouts::Position,
        algorithm: sprouts::Algorithm,
        memory: u64,
        threads: NonZeroUsize,
        limits: Limits<'_>,
    ) -> Result<EndJson, String> {
        let state = SolverState::new(Arc::new(Sprouts::new(memory)), memory);
        let state = state.map_err(|error| error.to_string())?;
        let atoms = state.game().atoms(position, &mut Scratch::default());
        let root = Sum::new(state.game(), &atoms.map_err(|error| error.to_string())?, 0);
        let capacity = state.table().capacity();
        let mut observer = EventObserver::new(self, |progress: &Progress, seconds| {
            let progress = Progress { table_capacity: capacity, ..*progress };
            ProgressJson::new(&progress, seconds)
        });
        let (options, jobs) = (SearchOptions::TUNED, DEFAULT_JOB_EXPANSIONS);
        let threads = threads.get() as u32;
        let report = algorithm.search(&state, &root, options, jobs, threads, limits, &mut observer);
        observer.progress(&Progress::from(&report));
        Ok(EndJson::from(&report))
    }
}

/// Observer that adds the progress of a search to its events.
struct EventObserver<'a, F> {
    search: &'a LiveSearch,
    json: F,
    /// Earliest time of the next event.
    due: Instant,
}

impl<'a, F: Fn(&Progress, f64) -> ProgressJson + Send> EventObserver<'a, F> {
    fn new(search: &'a LiveSearch, json: F) -> Self {
        EventObserver { search, json, due: search.started }
    }
}

impl<F: Fn(&Progress, f64) -> ProgressJson + Send> Observer for EventObserver<'_, F> {
    fn progress(&mut self, progress: &Progress) {
        let now = Instant::now();
        if now < self.due && !progress.is_last {
            return;
        }
        self.due = now + INTERVAL;
        let json = (self.json)(progress, self.search.seconds());
        self.search.history.send_modify(|history| history.push("progress", &json));
    }
}
