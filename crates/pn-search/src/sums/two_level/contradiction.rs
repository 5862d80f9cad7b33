//! What cannot be true together.

use crate::Value;
use crate::jobs::messages::WorkerId;
use crate::sums::knowledge::{Known, TRACKED};

/// Who has told what contradicts what others have found out. Either may be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// A worker has told something that contradicts what the leader knew, from others or from before
    /// the search.
    #[error("{atom}: {known} was known, and worker {worker} says {told}")]
    Told {
        /// The atom's name.
        atom: String,
        /// What was known.
        known: String,
        /// What was told.
        told: String,
        /// By whom.
        worker: WorkerId,
    },
    /// A worker was told something that contradicts what it knew, and cannot say that in a number.
    #[error("worker {worker} knows otherwise than it was told")]
    Found {
        /// The worker.
        worker: WorkerId,
    },
}

/// A contradiction of which the leader has not said yet who has told it.
#[derive(Debug)]
pub(super) struct Claims {
    pub atom: String,
    pub known: String,
    pub told: String,
}

impl Contradiction {
    pub(super) fn new(claims: Option<Claims>, worker: WorkerId) -> Self {
        match claims {
            Some(Claims { atom, known, told }) => Contradiction::Told { atom, known, told, worker },
            None => Contradiction::Found { worker },
        }
    }
}

/// A Grundy number.
pub(super) fn number(number: u32) -> String {
    format!("Grundy number {number}")
}

/// What is known of an atom.
pub(super) fn known(known: Known) -> String {
    match known.grundy() {
        Some(grundy) => number(grundy),
        None => excluded(known.exclusions()),
    }
}

/// The numbers that an atom does not have, as bits.
pub(super) fn excluded(bits: u64) -> String {
    let single =
        (0..TRACKED).filter(|&number| bits >> number & 1 != 0).map(|number| number.to_string());
    let above = (bits >> TRACKED & 1 != 0).then(|| format!("{TRACKED} or more"));
    let all: Vec<String> = single.chain(above).collect();
    format!("no Grundy number of {}", all.join(", "))
}

/// Who wins beside a heap.
pub(super) fn couple(nimber: u32, value: Value) -> String {
    let value = if value == Value::Win { "won" } else { "lost" };
    format!("{value} beside a heap of {nimber}")
}
