//! Contradictory results of workers.

use crate::Value;
use crate::cluster::message::WorkerId;
use crate::sums::knowledge::{GrundyInfo, TRACKED};

/// Contradiction between a result of a worker and an earlier result. Either of them may be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// A worker has reported a result that contradicts a result of another worker or from before the search.
    #[error("{atom}: worker {worker} reports {reported}, but the earlier result is {known}")]
    Reported {
        /// Name of the atom.
        atom: String,
        /// Earlier result.
        known: String,
        /// Reported result.
        reported: String,
        /// The worker that has reported this result.
        worker: WorkerId,
    },
    /// A worker has received a Grundy number that it has excluded itself. It cannot report the atom's Grundy number,
    /// because it has not computed it.
    #[error("worker {worker} received a Grundy number that contradicts its own results")]
    Found {
        /// The worker.
        worker: WorkerId,
    },
}

/// Two contradictory results about an atom, as text.
#[derive(Debug)]
pub(super) struct Claims {
    pub atom: String,
    pub known: String,
    pub reported: String,
}

impl Contradiction {
    pub(super) fn new(claims: Option<Claims>, worker: WorkerId) -> Self {
        match claims {
            Some(Claims { atom, known, reported }) => {
                Contradiction::Reported { atom, known, reported, worker }
            }
            None => Contradiction::Found { worker },
        }
    }
}

/// Describes a Grundy number.
pub(super) fn number(number: u32) -> String {
    format!("Grundy number {number}")
}

/// Describes the results about an atom.
pub(super) fn known(known: GrundyInfo) -> String {
    match known.grundy() {
        Some(grundy) => number(grundy),
        None => excluded(known.exclusions()),
    }
}

/// Describes numbers, given as bits, that are not the Grundy number.
fn excluded(bits: u64) -> String {
    let single =
        (0..TRACKED).filter(|&number| bits >> number & 1 != 0).map(|number| number.to_string());
    let above = (bits >> TRACKED & 1 != 0).then(|| format!("{TRACKED} or more"));
    let all: Vec<String> = single.chain(above).collect();
    format!("a Grundy number other than {}", all.join(", "))
}

/// Describes the value of a couple.
pub(super) fn couple(nimber: u32, value: Value) -> String {
    let value = if value == Value::Win { "a win" } else { "a loss" };
    format!("{value} with a nim heap of {nimber}")
}
