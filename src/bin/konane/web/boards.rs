//! Analysts for the boards of the latest requests.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::BOARDS;
use super::files::Files;
use super::reply::ApiError;
use super::turns::{Turn, TurnQueue};
use konane::analysis::Analyst;
use konane::tablebase::{ListedDatabase, Manifest};
use konane::{Board, Dimensions, Rules};

/// Boards with other rules have separate tables.
type BoardKey = (Dimensions, Rules);

/// An analyst for each of the latest [`BOARDS`] boards.
pub struct Boards {
    files: Arc<Files>,
    memory: u64,
    threads: NonZeroUsize,
    /// Ordered by last use, the most recent one last.
    queues: Mutex<Vec<(BoardKey, Arc<TurnQueue<Analyst>>)>>,
    /// The databases at the last call of [`Boards::refresh`].
    databases: Mutex<Vec<(PathBuf, Manifest)>>,
}

impl Boards {
    /// Returns an empty collection. Each analyst will have `memory` bytes for its searches.
    pub fn new(files: Arc<Files>, memory: u64, threads: NonZeroUsize) -> Self {
        Boards { files, memory, threads, queues: Mutex::default(), databases: Mutex::default() }
    }

    fn queue(&self, board: Board) -> Arc<TurnQueue<Analyst>> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (board.dimensions(), board.rules());
        let entry = match queues.iter().position(|&(other, _)| other == key) {
            Some(index) => queues.remove(index),
            None => {
                if queues.len() as u64 >= BOARDS {
                    queues.remove(0);
                }
                let (files, memory, threads) = (Arc::clone(&self.files), self.memory, self.threads);
                let create = move || Ok(files.analyst(&board, memory, threads)?);
                (key, Arc::new(TurnQueue::new(None, create)))
            }
        };
        queues.push(entry.clone());
        entry.1
    }

    /// Waits for a turn and calls `work` with the analyst of a board on a thread that may block.
    pub async fn with<T: Send + 'static>(
        &self,
        board: Board,
        work: impl FnOnce(&mut Analyst, &Turn) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.queue(board).with(work).await
    }

    /// Discards the analysts of boards whose databases have changed since the last call. The next request uses the
    /// current ones.
    pub fn refresh(&self, listed: &[ListedDatabase]) {
        let read = |(path, manifest): &ListedDatabase| {
            Some((path.clone(), manifest.as_ref().ok()?.clone()))
        };
        let new: Vec<_> = listed.iter().filter_map(read).collect();
        let mut old = self.databases.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |board: Dimensions| {
            let of_board = |(_, manifest): &&(PathBuf, Manifest)| manifest.dimensions == board;
            new.iter().filter(of_board).eq(old.iter().filter(of_board))
        };
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|&((board, _), _)| is_same(board));
        *old = new;
    }

    /// Ends all searches.
    pub fn stop(&self) {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.iter().for_each(|(_, queue)| queue.stop());
    }
}
