//! What surrounds every search: limits, counters, progress, the report, and what the workers of one
//! search share apart from the table.
//!
//! * [`Limits`], [`Counters`], [`Progress`], [`Observer`], [`Report`]: what goes in and what comes
//!   out.
//! * `Control`: one worker's side of it, asked before every expansion.
//! * `Team`: what its workers share. Every worker counts for itself and hands over what has been
//!   added every few dozen or hundred expansions; then it also learns whether somebody has stopped
//!   the search. A search on one thread is a team of one.
//! * `Visits`: how many workers are below a node, from which virtual proof and disproof numbers
//!   follow (Kaneko 2010).
//! * `Signals`: "this node is solved", to those who are still below it.
//! * `Gate`: the place where all workers stand still while the table grows.
//!
//! Nothing of this decides what is proven. A count that is read too early or too late, or that two
//! nodes share because their keys collide, makes a worker choose another node; a signal that is
//! lost makes it finish work that nobody needs; a false one makes it look into the table and go on.
//! Values travel through the table and what is known for good, whose entries are true whoever reads
//! them and whenever. So every atomic access here is relaxed, except that the gate is a mutex,
//! because a growth has to happen after everything that the workers did before it and before
//! everything they do after it.

#[cfg(all(loom, test))]
mod model;

mod control;
mod counters;
mod gate;
mod limits;
mod report;
mod signals;
mod team;
mod visits;

pub(super) use control::{Control, MemoryUse};
pub use counters::Counters;
pub(super) use gate::Gate;
pub use limits::{Limits, Outcome, Pace, Reason};
pub use report::{CheckpointProgress, Observer, Progress, Report, RootChild, RootChildren};
pub(super) use team::{Member, Team};
pub(super) use visits::Seen;

/// The primitives, which are loom's in its models.
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
