//! The search that is running, if one is, and those before it.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

use super::events::STREAMS;
use super::reply::Problem;
use super::search::{Order, Search};
use konane::system::thread;

/// Searches whose history is kept.
const KEPT: usize = 8;

/// Some searches recurse as deep as the longest game.
const STACK: usize = 16 << 20;

/// The searches of this run of the program.
pub struct Searches {
    /// The last one may be running; the others have ended.
    kept: Mutex<Vec<Arc<Search>>>,
    /// Begins anywhere, so that a page that an earlier run left open finds nothing here.
    next: AtomicU64,
    /// The most memory that a search may have.
    pub memory: u64,
    threads: NonZeroUsize,
    /// Streams of events that may still be opened.
    pub streams: Arc<Semaphore>,
}

impl Searches {
    /// In so much memory at most.
    pub fn new(memory: u64, threads: NonZeroUsize) -> Self {
        let next = AtomicU64::new(RandomState::new().hash_one(()));
        let streams = Arc::new(Semaphore::new(STREAMS));
        Searches { kept: Mutex::default(), next, memory, threads, streams }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Arc<Search>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a search, if none is running. Its name.
    pub fn start(&self, order: Order) -> Result<String, Problem> {
        let mut kept = self.kept();
        if let Some(running) = kept.last().filter(|search| !search.history.has_ended()) {
            return Err(running.in_the_way());
        }
        let id = format!("{:016x}", self.next.fetch_add(1, Ordering::Relaxed));
        let search = Arc::new(Search::new(id.clone(), &order));
        let (running, threads) = (Arc::clone(&search), self.threads);
        let thread = thread("search", STACK);
        let spawned = thread.spawn(move || running.run(order, threads));
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
