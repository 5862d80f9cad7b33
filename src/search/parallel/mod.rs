//! What the workers of one search on several threads share, apart from the table.
//!
//! * [`Team`]: limits, counters, the end of the search. Every worker counts for itself and hands
//!   over what has been added every few hundred expansions; then it also learns whether somebody
//!   has stopped the search.
//! * [`Visits`]: how many workers are below a node, from which virtual proof and disproof numbers
//!   follow (Kaneko 2010).
//! * [`Signals`]: "this node is solved", to those who are still below it.
//! * [`Gate`]: the place where all workers stand still while the table grows.
//!
//! Nothing of this decides what is proven. A count that is read too early or too late, or that two
//! nodes share because their keys collide, makes a worker choose another node; a signal that is
//! lost makes it finish work that nobody needs; a false one makes it look into the table and go on.
//! Values travel through the table alone, whose entries are true whoever reads them and whenever.
//! So every atomic access here is relaxed, except that the gate is a mutex, because a growth has to
//! happen after everything that the workers did before it and before everything they do after it.

#[cfg(all(loom, test))]
mod model;

mod gate;
mod signals;
mod team;
mod visits;

pub(super) use gate::Gate;
pub(super) use signals::Signals;
pub(super) use team::{Member, Team};
pub(super) use visits::{Seen, Visits};

/// The primitives, which are loom's in its models.
mod sync {
    #[cfg(loom)]
    pub use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
    #[cfg(loom)]
    pub use loom::sync::{Condvar, Mutex};
    #[cfg(not(loom))]
    pub use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
    #[cfg(not(loom))]
    pub use std::sync::{Condvar, Mutex};
}
