//! `konane solve --proof`: collects and writes a proof after the search.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::progress::SolveObserver;
use crate::exit::{CliError, Exit};
use crate::output;
use konane::proof::{ProofSummary, ProofWriter, prove_with_table};
use konane::search::certificate::CertificateError;
use konane::search::run::Reason;
use konane::{SearchTable, Solution, SolveError, Solver};

/// The proof in the JSON of `solve`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProofJson {
    /// The file.
    pub file: String,
    /// Number of positions in the proof; null if it was not written.
    pub positions: Option<u64>,
    /// Size of the file in bytes.
    pub bytes: Option<u64>,
    /// Number of positions that had to be searched again.
    pub searched_again: Option<u64>,
    /// The reason why it was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Wall-clock time after the search.
    pub seconds: f64,
}

/// Result of collecting and writing a proof.
pub struct ProofResult {
    path: PathBuf,
    /// Summary of the file, and the number of positions that were searched again.
    result: Result<(ProofSummary, u64), CliError>,
    seconds: f64,
}

/// Solution of a search, and its table if it is kept.
pub type SolveResult = Result<(Solution, Option<SearchTable>), SolveError>;

/// Solves, then collects and writes the proof. Returns the table if `keep_table` is set. Without a result
/// there is no proof, and the file is removed.
pub fn run(
    solver: &Solver<'_>,
    observer: &mut SolveObserver<'_>,
    writer: ProofWriter,
    keep_table: bool,
) -> (SolveResult, Option<ProofResult>) {
    let (proved, table) = match prove_with_table(solver, observer, keep_table) {
        Ok(proved) => proved,
        Err(error) => return (Err(error), None),
    };
    let Some(proof) = proved.proof else { return (Ok((proved.solution, table)), None) };
    let begun = observer.solved.unwrap_or_else(Instant::now);
    let path = writer.path().to_owned();
    let result = proof.map_err(CliError::Certificate).and_then(|proof| {
        let summary = writer.finish(&proof.header, &proof.certificate.codes)?;
        Ok((summary, proof.certificate.searched_again))
    });
    let seconds = begun.elapsed().as_secs_f64();
    (Ok((proved.solution, table)), Some(ProofResult { path, result, seconds }))
}

impl ProofResult {
    /// Returns the result for an allocation that fails while the proof is collected or written.
    pub fn out_of_memory(path: &Path) -> Self {
        let error = CertificateError::Stopped(Reason::Memory);
        ProofResult {
            path: path.to_owned(),
            result: Err(CliError::Certificate(error)),
            seconds: 0.0,
        }
    }

    fn reason(&self) -> Option<String> {
        Some(match self.result.as_ref().err()? {
            CliError::Certificate(CertificateError::Stopped(reason)) => reason.text().to_owned(),
            CliError::Certificate(error) => error.to_string(),
            error => error.to_string(),
        })
    }

    /// Returns the object for the JSON of `solve`.
    pub fn json(&self) -> ProofJson {
        let written = self.result.as_ref().ok();
        ProofJson {
            file: self.path.display().to_string(),
            positions: written.map(|(summary, _)| summary.positions),
            bytes: written.map(|(summary, _)| summary.bytes),
            searched_again: written.map(|(_, searched_again)| *searched_again),
            reason: self.reason(),
            seconds: self.seconds,
        }
    }

    /// Returns the text for the output of `solve`.
    pub fn text(&self) -> String {
        match (&self.result, self.reason()) {
            (Ok((summary, _)), _) => format!(
                "{}, {} positions, {}, in {}",
                self.path.display(),
                output::grouped(summary.positions),
                output::bytes(summary.bytes),
                output::time(self.seconds)
            ),
            (Err(_), reason) => format!("not written ({})", reason.unwrap_or_default()),
        }
    }

    /// Returns the exit code of a run that has found the winner.
    pub fn into_exit(self) -> Result<Exit, CliError> {
        match self.result {
            Ok(_) => Ok(Exit::Answered),
            Err(CliError::Certificate(CertificateError::Stopped(reason))) => {
                Ok(Some(reason).into())
            }
            Err(error) => Err(error),
        }
    }
}
