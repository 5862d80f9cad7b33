//! Limits and outcomes of searches.
//!
//! * [`Limits`]: node limit, deadline and stop flag.
//! * [`Outcome`]: the value of the root, or the [`Reason`] why it is unknown.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::scheduler::Scheduler;
use crate::Value;
use crate::error::ErrorKind;

/// Reason why a search ended without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(inline))]
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
    /// A file error: an oracle value could not be read, or a Grundy number could not be written.
    #[serde(rename = "file error")]
    FileError,
    /// Grundy numbers from other processes contradict each other. One of them is wrong, so no
    /// result is proven.
    #[serde(rename = "contradiction")]
    Contradiction,
}

impl Reason {
    /// All reasons, in order.
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

    /// Name in output.
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

/// Result for the root, from the view of the side to move there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The proven value.
    Known(Value),
    /// The value is not proven, for this reason.
    Unknown(Reason),
}

impl Outcome {
    /// Outcome of a search that has found a value or was stopped for a reason.
    ///
    /// # Panics
    /// If there is neither.
    pub(crate) fn of(value: Option<Value>, stopped: Option<Reason>) -> Self {
        match value {
            Some(value) => Outcome::Known(value),
            None => Outcome::Unknown(stopped.expect("an open search was stopped")),
        }
    }

    /// Value, if it is proven.
    pub fn value(self) -> Option<Value> {
        match self {
            Outcome::Known(value) => Some(value),
            Outcome::Unknown(_) => None,
        }
    }

    /// Reason why the value is unknown.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Outcome::Known(_) => None,
            Outcome::Unknown(reason) => Some(reason),
        }
    }
}

/// Limits of a search. By default there are no limits.
///
/// The deadline and the stop flag are not polled while the table grows, and a growth that has begun
/// is finished. A growth takes two to four seconds on one thread, and less on several, for each GiB
/// of the table in use before the growth. Oracle values from a slow disk can delay a poll by some
/// seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// Maximum number of nodes to evaluate. Overrun by at most one expansion, on several threads by
    /// some hundred expansions of each thread.
    pub nodes: Option<u64>,
    /// Time at which the search stops. Overrun by some milliseconds, or by a growth of the table.
    pub deadline: Option<Instant>,
    /// Stops the search when true, within milliseconds or after a growth of the table.
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

    /// Polls the stop flag and the clock. The search itself checks the number of nodes.
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
