//! Arguments of `analyse`, `play` and `annotate` for the sources of values.

use std::path::PathBuf;

use clap::Args;

use crate::args::{ThreadsArg, database, environment};
use crate::exit::CliError;
use konane::Board;
use konane::analysis::Analyst;
use konane::proof::ProofStrategy;
use konane::system::parse_bytes;

/// Files with values, and the search for positions that they do not contain.
#[derive(Debug, Args)]
pub struct AnalystArgs {
    /// Look up values in the database of the board in this directory, or in this database. May be repeated: the first
    /// database of the board is used.
    #[arg(long, value_name = "DIR")]
    pub db: Vec<PathBuf>,
    /// Trust this proof without verifying it (verify-proof verifies it). Can be given several times.
    #[arg(long, value_name = "FILE")]
    pub proof: Vec<PathBuf>,
    /// Use the outcomes of this file, as written by solve --results.
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    #[command(flatten)]
    pub threads: ThreadsArg,
    /// Memory for search results, at least 1MiB.
    #[arg(short, long, value_name = "SIZE", default_value = environment::or(environment::MEMORY, "256MiB"), value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
}

impl AnalystArgs {
    /// Opens the files and allocates the table of the search.
    pub fn open(&self, board: &Board) -> Result<Analyst, CliError> {
        // The search is df-pn, which uses all threads.
        let threads = self.threads.of("dfpn", ["dfpn"])?;
        let mut analyst = Analyst::on_board(board.clone(), self.memory)?.threads(threads);
        if let Some(results) = &self.results {
            analyst = analyst.with_results(results)?;
        }
        let board = board.dimensions();
        for file in &self.proof {
            let guide = ProofStrategy::open(file)?;
            let (expected, got) = (board, guide.board().dimensions());
            if expected != got {
                let file = file.display().to_string();
                return Err(CliError::OtherBoard { file, expected, got });
            }
            analyst = analyst.with_proof(guide)?;
        }
        Ok(match database::open_named(&self.db, board, None)? {
            None => analyst,
            Some(database) => analyst.with_database(database)?,
        })
    }

    /// Returns the names of the proof files.
    pub fn proofs(&self) -> String {
        let files = self.proof.iter().map(|file| file.display().to_string());
        files.collect::<Vec<_>>().join(", ")
    }
}
