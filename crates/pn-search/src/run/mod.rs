//! Limits, counters, progress and reports of all searches, and the state that the workers of a search share
//! apart from the table.
//!
//! * [`Limits`], [`Counters`], [`Progress`], [`Observer`], [`Report`]: parameters and results of a search.
//! * `SearchMonitor`: one worker's limits, counters and progress, polled before every expansion.
//! * `SharedState`: state that the workers of a search share. Every worker counts for itself and adds its counts
//!   to the totals every few dozen or hundred expansions. At these times it also reads whether the search has
//!   been stopped. A search on one thread has one worker.
//! * `VirtualLossTable`: number of workers below a node, for virtual loss (Kaneko 2010).
//! * `CutoffMailboxes`: cut-off requests to workers below a solved node, and cancelled jobs.
//! * `ResizeBarrier`: barrier that stops all workers while the table grows.
//!
//! None of these types decides what is proven. A count that is read too early or too late, or that two nodes
//! share because their keys collide, makes a worker choose another node. A lost cut-off request makes a worker
//! finish work that is no longer needed; a false one costs a table look-up. Values are exchanged through the
//! table and the proven results, whose entries are true at any time. So every atomic access in this module is
//! relaxed. The barrier uses a mutex, because a growth of the table has to be ordered after all earlier accesses
//! to the table and before all later ones.

#[cfg(all(loom, test))]
mod loom_tests;

mod counters;
mod cutoff;
mod limits;
mod monitor;
mod report;
mod resize_barrier;
mod scheduler;
mod shared_state;
mod virtual_loss;

pub use counters::Counters;
pub(super) use cutoff::CutoffRequest;
pub use limits::{Limits, Outcome, Reason};
pub(super) use monitor::{MemoryUse, SearchMonitor};
pub use report::{CheckpointProgress, ListChildren, Observer, Progress, Report, RootChild};
pub(super) use report::{RootNumbers, SharedTree};
#[cfg(feature = "simulation")]
pub use scheduler::Scheduler;
pub(super) use shared_state::{SharedState, WorkerSlot};
pub(super) use virtual_loss::NodeActivity;

/// Synchronisation primitives: those of loom in loom models, otherwise those of the standard library.
mod sync {
    #[cfg(loom)]
    pub use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
    #[cfg(loom)]
    pub use loom::sync::{Condvar, Mutex, MutexGuard};
    #[cfg(not(loom))]
    pub use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
    #[cfg(not(loom))]
    pub use std::sync::{Condvar, Mutex, MutexGuard};
}
