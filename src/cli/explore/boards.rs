//! What was found about each board, and whose turn it is to search there.
//!
//! A board has an [`Analyst`], made when it is first asked for. Requests about it come one after the
//! other, and none waits long: whoever comes sets the stop flag of whoever searches, and while
//! others wait, a search takes [`SLICE`] at most. What was found until then is kept in the analyst,
//! so that who asks again gets further.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Mutex as Queue;
use tokio::task::spawn_blocking;

use super::BOARDS;
use super::files::Files;
use super::reply::Problem;
use crate::analysis::Analyst;
use crate::konane::Dimensions;
use crate::search::run::Limits;

/// What a search may take while others wait for the board.
const SLICE: Duration = Duration::from_millis(20);

/// The boards that were asked for last.
pub struct Boards {
    files: Arc<Files>,
    memory: u64,
    threads: NonZeroUsize,
    /// The one that was asked for last comes last.
    seats: Mutex<Vec<Arc<Seat>>>,
    ending: Arc<AtomicBool>,
}

/// A board, and those who wait for it.
struct Seat {
    board: Dimensions,
    analyst: Arc<Queue<Option<Analyst>>>,
    waiting: AtomicUsize,
    /// Ends the search of whoever has the analyst.
    stop: AtomicBool,
}

/// One of those who wait, until it is dropped: with its request, if the client goes away.
struct Waiting(Arc<Seat>);

impl Waiting {
    fn new(seat: Arc<Seat>) -> Self {
        seat.waiting.fetch_add(1, Ordering::Relaxed);
        seat.stop.store(true, Ordering::Relaxed);
        Waiting(seat)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whoever has the analyst, and how long it may search.
pub struct Turn {
    seat: Arc<Seat>,
    most: Duration,
    ending: Arc<AtomicBool>,
}

impl Turn {
    /// The limits of a search that begins now and takes as long as this, or less if others wait.
    pub fn limits(&self, time: Duration) -> Limits<'_> {
        let deadline = Some(Instant::now() + time.min(self.most));
        Limits { deadline, stop: Some(&self.seat.stop), ..Limits::default() }
    }

    /// Whether there is no time left for anybody.
    pub fn is_over(&self) -> bool {
        self.seat.stop.load(Ordering::Relaxed) || self.ending.load(Ordering::Relaxed)
    }
}

impl Boards {
    /// With so much memory for the searches of each board.
    pub fn new(files: Arc<Files>, memory: u64, threads: NonZeroUsize) -> Self {
        let ending = Arc::default();
        Boards { files, memory, threads, seats: Mutex::default(), ending }
    }

    fn seat(&self, board: Dimensions) -> Arc<Seat> {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let seat = match seats.iter().position(|seat| seat.board == board) {
            Some(index) => seats.remove(index),
            None => {
                if seats.len() as u64 >= BOARDS {
                    seats.remove(0);
                }
                let (waiting, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
                Arc::new(Seat { board, analyst: Arc::default(), waiting, stop })
            }
        };
        seats.push(Arc::clone(&seat));
        seat
    }

    /// Does some work with the analyst of a board, on a thread where it may take its time.
    pub async fn with<T: Send + 'static>(
        &self,
        board: Dimensions,
        work: impl FnOnce(&mut Analyst, &Turn) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let seat = self.seat(board);
        let waiting = Waiting::new(Arc::clone(&seat));
        let mut analyst = Arc::clone(&seat.analyst).lock_owned().await;
        drop(waiting);
        let crowded = seat.waiting.load(Ordering::Relaxed) > 0;
        seat.stop.store(false, Ordering::Relaxed);
        let most = if crowded { SLICE } else { Duration::MAX };
        let turn = Turn { seat, most, ending: Arc::clone(&self.ending) };
        let (files, memory, threads) = (Arc::clone(&self.files), self.memory, self.threads);
        let done = spawn_blocking(move || {
            let analyst = match &mut *analyst {
                Some(analyst) => analyst,
                none => none.insert(files.analyst(board, memory, threads, &turn.ending)?),
            };
            work(analyst, &turn)
        });
        done.await.map_err(Problem::failed)?
    }

    /// Ends all searches.
    pub fn stop(&self) {
        self.ending.store(true, Ordering::Relaxed);
        for seat in &*self.seats.lock().unwrap_or_else(PoisonError::into_inner) {
            seat.stop.store(true, Ordering::Relaxed);
        }
    }
}
