//! Results of searches, as the program and the Python package report them.

use konane_base::json::{or_unknown, per_second};
use pn_search::Value;
use pn_search::run::{Counters, Reason, Report};
use pn_search::table::TableUse;
use serde::Serialize;

use super::Algorithm;
use super::grundy_file::GrundyFileUse;

/// Result of a search for the outcome of a position, or of its sum with a heap.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "json-schema",
    schemars(rename = "SproutsSolveJson", description = "The JSON of `sprouts solve`.")
)]
pub struct SproutsSolution {
    /// The position as it was given, without a heap.
    pub position: String,
    /// The canonical form; null if a limit was reached before it was computed.
    pub canonical: Option<String>,
    /// Size of the nim heap that is added to the position.
    pub nimber: u32,
    /// True if the player who makes the last move loses. Omitted if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub misere: bool,
    /// The outcome for the player to move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "konane_base::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
    /// The position after a winning move, with ` + *k` for a heap of k that is left; null if there is
    /// none or it is not known.
    pub best_move: Option<String>,
    /// With `--lines`: the positions after all moves, winning ones first and unknown ones last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<SproutsMove>>,
    /// The root's proof number, while the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pn: Option<u32>,
    /// Its disproof number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dn: Option<u32>,
    /// `dfpn`, `pns` or `pns-pdfpn`.
    pub algorithm: &'static str,
    /// Jobs of pns-pdfpn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u64>,
    /// The search.
    #[serde(flatten)]
    pub search: SearchFigures,
}

/// A move of a solved position.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "json-schema",
    schemars(
        rename = "SproutsMoveJson",
        description = "A move in the JSON of `sprouts solve --lines`."
    )
)]
pub struct SproutsMove {
    /// The position after the move, with ` + *k` for a heap of k that is left.
    #[serde(rename = "move")]
    pub position: String,
    /// The outcome for the player who makes the move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "konane_base::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
}

/// Figures of a search.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct SearchFigures {
    /// The reason for an unknown result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// `tuned` or `paper`.
    pub profile: &'static str,
    /// True if ties between moves are broken by the order of the paper.
    pub heuristic: bool,
    /// Threads that searched.
    pub threads: u32,
    /// Couples expanded, repeated expansions included: the iterations of the papers.
    pub expansions: u64,
    /// Couples evaluated.
    pub nodes: u64,
    /// Lands whose moves were generated.
    pub generated: u64,
    /// Lands in memory at the end.
    pub lands: u32,
    /// Grundy numbers found.
    pub grundy_numbers: u64,
    /// Wall-clock time.
    pub seconds: f64,
    /// `expansions` divided by `seconds`.
    pub expansions_per_second: f64,
    /// Memory of the table, positions, moves and Grundy numbers, in bytes.
    pub memory_bytes: u64,
    /// Number of garbage collections, one each time that the memory was full.
    pub collections: u64,
    /// The table of open couples.
    pub table: TableUse,
    /// With `--db`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<GrundyFileUse>,
}

impl SproutsSolution {
    /// Returns the result of a search. The caller adds the position and the moves.
    pub fn new(algorithm: Algorithm, report: &Report, search: SearchFigures) -> Self {
        let reason = report.outcome.reason();
        SproutsSolution {
            outcome: report.outcome.value(),
            pn: reason.map(|_| report.phi),
            dn: reason.map(|_| report.delta),
            algorithm: algorithm.name(),
            jobs: (algorithm == Algorithm::PnsPdfpn).then_some(report.counters.jobs),
            search: SearchFigures { reason, ..search },
            ..SproutsSolution::default()
        }
    }
}

impl SearchFigures {
    /// Returns the figures that follow from the counters. `table_capacity` is the number of entries that fit
    /// into the table.
    pub fn new(counters: &Counters, table_capacity: u64, seconds: f64) -> Self {
        SearchFigures {
            expansions: counters.expansions,
            nodes: counters.nodes,
            generated: counters.generated,
            grundy_numbers: counters.grundy_numbers,
            seconds,
            expansions_per_second: per_second(counters.expansions, seconds),
            collections: counters.collections,
            table: TableUse {
                capacity: table_capacity,
                used: counters.table_used,
                replaced: counters.table_replaced,
            },
            ..SearchFigures::default()
        }
    }
}
