//! The search algorithms ([`Algorithm`]) and their names.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::error::ErrorKind;
use crate::system::quote;

/// The search algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub enum Algorithm {
    /// Proof-number search with the tree in memory ([`crate::search::pns`]).
    Pns,
    /// Proof-number search whose leaves are evaluated by proof-number searches
    /// ([`crate::search::pn2`]).
    Pn2,
    /// Depth-first proof-number search in a table ([`crate::search::dfpn`]).
    Dfpn,
    /// α-β with iterative deepening ([`crate::search::alphabeta`]).
    #[serde(rename = "ab")]
    AlphaBeta,
    /// Proof-number search whose leaves are jobs for df-pn workers ([`crate::search::two_level`]).
    PnsPdfpn,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Algorithm; 5] = [
        Algorithm::Pns,
        Algorithm::Pn2,
        Algorithm::Dfpn,
        Algorithm::AlphaBeta,
        Algorithm::PnsPdfpn,
    ];

    /// `pns`, `pn2`, `dfpn`, `ab` or `pns-pdfpn`.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Pns => "pns",
            Algorithm::Pn2 => "pn2",
            Algorithm::Dfpn => "dfpn",
            Algorithm::AlphaBeta => "ab",
            Algorithm::PnsPdfpn => "pns-pdfpn",
        }
    }

    /// Returns true if the search has a tree in memory in addition to the table.
    pub const fn keeps_tree(self) -> bool {
        matches!(self, Algorithm::Pns | Algorithm::Pn2 | Algorithm::PnsPdfpn)
    }

    /// Returns true if the search can use more than one thread.
    pub const fn is_parallel(self) -> bool {
        matches!(self, Algorithm::Dfpn | Algorithm::Pn2 | Algorithm::PnsPdfpn)
    }

    /// The algorithms that can use more than one thread.
    pub fn parallel() -> impl Iterator<Item = Algorithm> {
        Algorithm::ALL.into_iter().filter(|algorithm| algorithm.is_parallel())
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Error of a text that is not the name of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an algorithm: choose one of pns, pn2, dfpn, ab, pns-pdfpn")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_algorithms_are_parsed() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        }
        for text in ["", "DFPN", "df-pn", "alphabeta", "pn²"] {
            assert_eq!(text.parse::<Algorithm>(), Err(AlgorithmError(text.to_string())));
        }
        let cut = AlgorithmError("x".repeat(40) + "…");
        assert_eq!("x".repeat(41).parse::<Algorithm>(), Err(cut));
    }
}
