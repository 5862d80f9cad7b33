//! The search algorithms of Sprouts by name: [`Algorithm`], and [`AlgorithmError`] for an unknown name.

use std::fmt;
use std::str::FromStr;

use konane_base::system::quote;
use pn_search::ErrorKind;
use pn_search::run::{Limits, Observer, Report};
use pn_search::sums::{SearchOptions, SolverState, Sum, dfpn, pns, two_level};

use super::Sprouts;

/// A search algorithm for Sprouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Depth-first proof-number search ([`dfpn()`]).
    Dfpn,
    /// Proof-number search on a graph ([`pns()`]).
    Pns,
    /// Proof-number search whose leaves are jobs for df-pn workers ([`two_level()`]).
    PnsPdfpn,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Algorithm; 3] = [Algorithm::Dfpn, Algorithm::Pns, Algorithm::PnsPdfpn];

    /// Returns `dfpn`, `pns` or `pns-pdfpn`.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Dfpn => "dfpn",
            Algorithm::Pns => "pns",
            Algorithm::PnsPdfpn => "pns-pdfpn",
        }
    }

    /// Returns true if the search can use more than one thread.
    pub const fn is_parallel(self) -> bool {
        matches!(self, Algorithm::Dfpn | Algorithm::PnsPdfpn)
    }

    /// Returns the algorithms that can use more than one thread.
    pub fn parallel() -> impl Iterator<Item = Algorithm> {
        Algorithm::ALL.into_iter().filter(|algorithm| algorithm.is_parallel())
    }

    /// Searches a position of the solver state's game. `job_expansions` is the number of expansions of a job;
    /// only [`Algorithm::PnsPdfpn`] uses it.
    ///
    /// # Panics
    /// In the same cases as [`dfpn()`], [`pns()`] or [`two_level()`].
    #[expect(clippy::too_many_arguments, reason = "the parameters of all three searches")]
    pub fn search(
        self,
        state: &SolverState<Sprouts>,
        root: &Sum,
        options: SearchOptions,
        job_expansions: u64,
        threads: u32,
        limits: Limits<'_>,
        observer: &mut dyn Observer,
    ) -> Report {
        match self {
            Algorithm::Dfpn => dfpn(state, root, options, threads, limits, observer),
            Algorithm::Pns => pns(state, root, options, limits, observer),
            Algorithm::PnsPdfpn => {
                two_level(state, root, options, job_expansions, threads, limits, observer)
            }
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text is not the name of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an algorithm for Sprouts: choose one of dfpn, pns, pns-pdfpn")]
pub struct AlgorithmError(pub String);

impl AlgorithmError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl FromStr for Algorithm {
    type Err = AlgorithmError;

    fn from_str(text: &str) -> Result<Self, AlgorithmError> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == text)
            .ok_or_else(|| AlgorithmError(quote(text)))
    }
}
