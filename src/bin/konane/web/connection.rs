//! State of a connection: it processes a request, or it waits for its client.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// State of a connection, shared by the task that serves it, the request that it processes, and the
/// loop that accepts connections.
#[derive(Clone, Debug)]
pub struct Connection(Arc<Mutex<Option<Instant>>>);

/// A request that is being processed, until it is dropped.
#[derive(Debug)]
pub struct Processing(Connection);

impl Connection {
    /// Returns the state of a new connection, which waits for its first request.
    pub fn new() -> Self {
        Connection(Arc::new(Mutex::new(Some(Instant::now()))))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since which the server has been waiting for the client: for a request, the rest of one,
    /// or until the client reads the answer. `None` while a request is processed.
    pub fn waiting_since(&self) -> Option<Instant> {
        *self.lock()
    }

    /// Marks the connection as waiting for its client from now on.
    pub fn set_waiting(&self) {
        *self.lock() = Some(Instant::now());
    }

    /// Marks the connection as processing a request.
    pub fn set_processing(&self) {
        *self.lock() = None;
    }

    /// Marks the connection as processing a request until the returned value is dropped.
    pub fn process(&self) -> Processing {
        self.set_processing();
        Processing(self.clone())
    }
}

impl Drop for Processing {
    fn drop(&mut self) {
        self.0.set_waiting();
    }
}
