//! The current search and earlier ones.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

use super::events::MAX_STREAMS;
use super::reply::ApiError;
use super::search::{LiveSearch, SearchTask};
use konane::system::thread;

/// Maximum number of searches whose events are kept.
const MAX_KEPT: usize = 8;

/// Stack size of a search. Some searches recurse to the depth of the longest game.
const STACK: usize = 16 << 20;

/// The searches of this run of the program.
pub struct Searches {
    /// Searches in order of their start. Only the last one can be running.
    kept: Mutex<Vec<Arc<LiveSearch>>>,
    /// Next id. The first one is random, so that a page of an earlier run of the program finds no search.
    next: AtomicU64,
    /// Maximum memory of a search in bytes.
    pub memory: u64,
    threads: NonZeroUsize,
    /// Limits the number of streams of events.
    pub streams: Arc<Semaphore>,
}

impl Searches {
    /// Returns an empty collection. Each search uses at most `memory` bytes.
    pub fn new(memory: u64, threads: NonZeroUsize) -> Self {
        let next = AtomicU64::new(RandomState::new().hash_one(()));
        let streams = Arc::new(Semaphore::new(MAX_STREAMS));
        Searches { kept: Mutex::default(), next, memory, threads, streams }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Arc<LiveSearch>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a search and returns its id. Fails if one is running.
    pub fn start(&self, task: SearchTask) -> Result<String, ApiError> {
        let mut kept = self.kept();
        if let Some(running) = kept.last().filter(|search| !search.history.borrow().ended) {
            return Err(running.busy_error());
        }
        let id = format!("{:016x}", self.next.fetch_add(1, Ordering::Relaxed));
        let search = Arc::new(LiveSearch::new(id.clone(), &task));
        let (running, threads) = (Arc::clone(&search), self.threads);
        let thread = thread("search", STACK);
        let spawned = thread.spawn(move || running.run(&task, threads));
        spawned.map_err(ApiError::failed)?;
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        kept.push(search);
        Ok(id)
    }

    /// Returns the search with this id.
    pub fn find(&self, id: &str) -> Option<Arc<LiveSearch>> {
        self.kept().iter().find(|search| search.id == id).cloned()
    }

    /// Stops the running search.
    pub fn stop(&self) {
        self.kept().iter().for_each(|search| search.stop());
    }
}
