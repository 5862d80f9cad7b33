//! A search that is watched while it runs.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::history::History;
use super::reply::Problem;
use crate::cli::judged::outcome_name;
use crate::cli::output::time;
use crate::cli::trace::{TraceMoveJson, finite};
use crate::konane::notation::{format_move, format_position};
use crate::konane::{Algorithm, Board, Colour, Position, SolveOptions, Solver};
use crate::search::numbers::Number;
use crate::search::run::{Limits, Observer, Progress, Report};
use crate::search::sums::{SearchOptions, Sum, TwoLevelOptions, Workspace};
use crate::sprouts::{self, Scratch, Sprouts};
use crate::system::quote;

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
                let (size, text) = (board.dimensions(), format_position(board, position));
                format!("{algorithm} on {size}, {text}")
            }
            Game::Sprouts { position, algorithm } => {
                format!("{algorithm} on Sprouts, {}", quote(&position.to_string()))
            }
        }
    }
}

/// The event `progress`.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProgressJson {
    /// Seconds since the beginning.
    pub t: f64,
    /// Positions evaluated.
    pub nodes: u64,
    /// The root's proof number for the side to move: 0 if it has won; null if it is infinite. Not for
    /// `ab`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pn: Option<Option<Number>>,
    /// Its disproof number: 0 if the side to move has lost; null if it is infinite. Not for `ab`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dn: Option<Option<Number>>,
    /// Entries of the transposition table in use.
    pub table_used: u64,
    /// Entries that fit.
    pub capacity: u64,
    /// Konane: the move that the search holds for the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_move: Option<String>,
    /// Konane: the moves whose numbers are known, the most promising first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<TraceMoveJson>>,
}

/// The event `end`, the last one.
#[derive(Debug, Serialize, Deserialize)]
pub struct EndJson {
    /// `win`, `loss` or `unknown`, for the side to move.
    pub outcome: String,
    /// Konane: who wins, `black` or `white`; none while it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// Why the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Konane: a winning move; the best so far if the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_move: Option<String>,
    /// Seconds since the beginning.
    pub t: f64,
    /// Positions evaluated.
    pub nodes: u64,
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
        let text = |mv| format_move(board.dimensions(), mv);
        let mut watch = Watch::new(self, |progress: &Progress, json: &mut ProgressJson| {
            let best = progress.best.and_then(|code| position.move_to(board, code));
            json.best_move = best.map(text);
            let moves = position.root_moves(board, progress).into_iter();
            let moves = moves.map(|root| TraceMoveJson {
                mv: text(root.mv),
                pn: finite(root.phi),
                dn: finite(root.delta),
            });
            json.moves = Some(moves.collect());
            if algorithm == Algorithm::AlphaBeta {
                (json.pn, json.dn) = (None, None);
            }
        });
        let solver = Solver::new(board, position).options(options).limits(limits);
        let solution = solver.run_observed(&mut watch).map_err(|error| error.to_string())?;
        let best = solution.best_move.map(text);
        Ok(Found { report: solution.report, winner: solution.winner, best })
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
        let mut watch = Watch::new(self, |_: &Progress, json: &mut ProgressJson| {
            json.capacity = capacity;
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
    winner: Option<Colour>,
    best: Option<String>,
}

/// Tells the end of a search, also of one that panics.
struct Ending<'a> {
    search: &'a Search,
    found: Result<Found, String>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut json = EndJson {
            outcome: outcome_name(None).to_owned(),
            winner: None,
            reason: None,
            best_move: None,
            t: self.search.seconds(),
            nodes: 0,
        };
        match &self.found {
            Err(error) => json.reason = Some(error.clone()),
            Ok(Found { report, winner, best }) => {
                json.outcome = outcome_name(report.outcome.value()).to_owned();
                json.winner = winner.map(|winner| winner.name().to_owned());
                json.reason = report.outcome.reason().map(|reason| reason.text().to_owned());
                json.best_move = best.clone();
                json.nodes = report.counters.nodes;
            }
        }
        self.search.history.end("end", &json);
    }
}

/// Makes events of a search's progress; the game adds what it knows.
struct Watch<'a, F> {
    search: &'a Search,
    game: F,
    /// The time of the next event.
    due: Instant,
}

impl<'a, F: Fn(&Progress, &mut ProgressJson)> Watch<'a, F> {
    fn new(search: &'a Search, game: F) -> Self {
        Watch { search, game, due: search.begun }
    }
}

impl<F: Fn(&Progress, &mut ProgressJson)> Observer for Watch<'_, F> {
    fn progress(&mut self, progress: &Progress) {
        let now = Instant::now();
        if now < self.due && !progress.is_last {
            return;
        }
        self.due = now + INTERVAL;
        let mut json = ProgressJson {
            t: self.search.seconds(),
            nodes: progress.counters.nodes,
            pn: Some(finite(progress.phi)),
            dn: Some(finite(progress.delta)),
            table_used: progress.counters.table_used,
            capacity: progress.table_capacity,
            best_move: None,
            moves: None,
        };
        (self.game)(progress, &mut json);
        self.search.history.tell("progress", &json);
    }
}
