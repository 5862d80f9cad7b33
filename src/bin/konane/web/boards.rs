//! What was found about the boards that were asked for last: an [`Analyst`] each, in a [`Seat`].

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use super::BOARDS;
use super::files::Files;
use super::reply::Problem;
use super::seat::{Seat, Turn};
use konane::analysis::Analyst;
use konane::{Board, Dimensions};

/// Ranks and files of a board, and whether it has no removals: tables of the two kinds are kept apart.
type Key = (Dimensions, bool);

/// The boards.
pub struct Boards {
    files: Arc<Files>,
    memory: u64,
    threads: NonZeroUsize,
    /// The one that was asked for last comes last.
    seats: Mutex<Vec<(Key, Arc<Seat<Analyst>>)>>,
}

impl Boards {
    /// With so much memory for the searches of each board.
    pub fn new(files: Arc<Files>, memory: u64, threads: NonZeroUsize) -> Self {
        Boards { files, memory, threads, seats: Mutex::default() }
    }

    fn seat(&self, board: Key) -> Arc<Seat<Analyst>> {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let seat = match seats.iter().position(|&(of, _)| of == board) {
            Some(index) => seats.remove(index),
            None => {
                if seats.len() as u64 >= BOARDS {
                    seats.remove(0);
                }
                (board, Arc::default())
            }
        };
        seats.push(seat.clone());
        seat.1
    }

    /// Does some work with the analyst of a board, on a thread where it may take its time.
    pub async fn with<T: Send + 'static>(
        &self,
        board: Board,
        work: impl FnOnce(&mut Analyst, &Turn) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (files, memory, threads) = (Arc::clone(&self.files), self.memory, self.threads);
        let key = (board.dimensions(), board.is_jumping());
        let make = move || Ok(files.analyst(&board, memory, threads)?);
        self.seat(key).with(make, work).await
    }

    /// Ends all searches.
    pub fn stop(&self) {
        let seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.iter().for_each(|(_, seat)| seat.stop());
    }
}
