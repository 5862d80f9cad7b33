//! When a search gives up, and what it says then.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scheduler::Scheduler;
use crate::Value;
use crate::error::ErrorKind;

/// Why a search ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[repr(u8)]
pub enum Reason {
    /// The node limit was reached.
    #[serde(rename = "node limit")]
    NodeLimit,
    /// The deadline passed.
    #[serde(rename = "time limit")]
    TimeLimit,
    /// The memory is full.
    #[serde(rename = "memory")]
    Memory,
    /// The stop flag was set.
    #[serde(rename = "interrupted")]
    Interrupted,
    /// A file failed: a known value could not be read, or a Grundy number could not be written.
    #[serde(rename = "file error")]
    FileError,
    /// Grundy numbers from elsewhere contradict each other. One of them is wrong, so nothing counts
    /// as proven.
    #[serde(rename = "contradiction")]
    Contradiction,
}

impl Reason {
    /// All of them, in order.
    pub const ALL: [Reason; 6] = [
        Reason::NodeLimit,
        Reason::TimeLimit,
        Reason::Memory,
        Reason::Interrupted,
        Reason::FileError,
        Reason::Contradiction,
    ];

    /// Returns the kind of an error that is due to this reason.
    pub const fn kind(self) -> ErrorKind {
        match self {
            Reason::NodeLimit | Reason::TimeLimit | Reason::Memory => ErrorKind::Limit,
            Reason::Interrupted => ErrorKind::Interrupted,
            Reason::FileError | Reason::Contradiction => ErrorKind::File,
        }
    }

    /// The reason in a few words.
    pub const fn text(self) -> &'static str {
        match self {
            Reason::NodeLimit => "node limit",
            Reason::TimeLimit => "time limit",
            Reason::Memory => "memory",
            Reason::Interrupted => "interrupted",
            Reason::FileError => "file error",
            Reason::Contradiction => "contradiction",
        }
    }
}

/// What a search says about its root, seen from the side to move there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Proven.
    Known(Value),
    /// Not proven, and why.
    Unknown(Reason),
}

impl Outcome {
    /// Of a search that has found a value, or was stopped for a reason before.
    ///
    /// # Panics
    /// If there is neither.
    pub(crate) fn of(value: Option<Value>, stopped: Option<Reason>) -> Self {
        match value {
            Some(value) => Outcome::Known(value),
            None => Outcome::Unknown(stopped.expect("an open search was stopped")),
        }
    }

    /// The value, if it is proven.
    pub fn value(self) -> Option<Value> {
        match self {
            Outcome::Known(value) => Some(value),
            Outcome::Unknown(_) => None,
        }
    }

    /// Why it is not proven.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Outcome::Known(_) => None,
            Outcome::Unknown(reason) => Some(reason),
        }
    }
}

/// When to give up. The default is never.
///
/// While the table grows nobody looks at the deadline and the stop flag, and a growth that has begun is
/// finished: that takes two to four seconds on one thread for each GiB that is in use before it, and
/// less on several. Known values that come from a slow disk can take some seconds from one look to the
/// next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// Most nodes to evaluate; overrun by at most one expansion, and on several threads by those of
    /// some hundred expansions on each.
    pub nodes: Option<u64>,
    /// Time to stop at; overrun by some milliseconds, but for a growth of the table.
    pub deadline: Option<Instant>,
    /// Stops the search within milliseconds once it is true, but for a growth of the table.
    pub stop: Option<&'a AtomicBool>,
    /// Scheduler of the search's threads.
    #[cfg(feature = "simulation")]
    pub scheduler: Option<&'a dyn Scheduler>,
}

impl<'a> Limits<'a> {
    /// The scheduler of the search's threads, in builds for simulations.
    pub(crate) fn scheduler(&self) -> Option<&'a dyn Scheduler> {
        #[cfg(feature = "simulation")]
        return self.scheduler;
        #[cfg(not(feature = "simulation"))]
        None
    }

    /// Looks at the stop flag and the clock; the number of nodes is the search's own to watch.
    pub fn reached(&self) -> Option<Reason> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            Some(Reason::Interrupted)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Reason::TimeLimit)
        } else {
            None
        }
    }
}
