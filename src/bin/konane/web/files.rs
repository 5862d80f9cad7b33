//! Databases and proofs named on the command line. Requests cannot name files.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::args::database;
use crate::exit::CliError;
use konane::analysis::{AnalysisError, Analyst};
use konane::proof::{ProofReader, ProofStrategy};
use konane::results;
use konane::tablebase::{Database, DatabaseError, ListedDatabase};
use konane::{Board, Colour, Dimensions, Position};

/// A proof file. Only its header has been read.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ProofHereJson", description = "A proof."))]
pub struct ProofFile {
    #[serde(skip)]
    path: PathBuf,
    /// Name of the file.
    pub name: String,
    /// Ranks x files.
    pub board: Dimensions,
    /// The proven position.
    pub root: Position,
    /// The player who wins.
    pub winner: Colour,
    /// Number of positions in it.
    pub positions: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
}

impl ProofFile {
    fn open(path: &Path) -> Result<Self, CliError> {
        let reader: ProofReader<fs::File> = ProofReader::open(path)?;
        let (header, bytes) = (*reader.header(), reader.bytes());
        let board = Dimensions::new(header.ranks.into(), header.files.into());
        let board = board.expect("the reader has checked it");
        let (root, to_move) = (header.root, header.to_move.into());
        Ok(ProofFile {
            path: path.to_owned(),
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            board,
            root: Position::new_unchecked(&Board::new(board), root, to_move),
            winner: header.winner.into(),
            positions: header.positions,
            bytes,
        })
    }

    /// Returns true if the proof is of the start position.
    pub fn proves_start(&self) -> bool {
        self.root.occupied().count_ones() == self.board.squares()
    }
}

/// Directories of databases, and proofs.
#[derive(Debug)]
pub struct Files {
    databases: Vec<PathBuf>,
    results: Option<PathBuf>,
    /// The proofs.
    pub proofs: Vec<ProofFile>,
}

impl Files {
    /// Opens the proofs, and checks that the named directories contain databases.
    pub fn open(
        named: &[PathBuf],
        proofs: &[PathBuf],
        results: Option<PathBuf>,
    ) -> Result<Self, CliError> {
        let proofs = proofs.iter().map(|path| ProofFile::open(path)).collect::<Result<_, _>>()?;
        let mut databases = database::directories(named)?;
        if databases.is_empty() {
            // It may be created later.
            databases.push(PathBuf::from(database::DEFAULT));
        }
        if let Some(results) = &results {
            results::read(results, |_| ())?;
        }
        Ok(Files { databases, results, proofs })
    }

    /// Returns the directories of databases that exist now.
    fn directories(&self) -> Vec<PathBuf> {
        let exists = |path: &&PathBuf| path.is_dir() || path.as_path() != database::DEFAULT;
        self.databases.iter().filter(exists).cloned().collect()
    }

    /// Reads the manifests of all databases that exist now.
    pub fn databases(&self) -> Result<Vec<ListedDatabase>, DatabaseError> {
        let listed: Result<Vec<_>, _> =
            self.directories().iter().map(|path| Database::list(path)).collect();
        Ok(listed?.into_iter().flatten().collect())
    }

    /// Returns an analyst with the database and the proofs of the board.
    pub fn analyst(
        &self,
        board: &Board,
        memory: u64,
        threads: NonZeroUsize,
    ) -> Result<Analyst, AnalysisError> {
        let mut analyst = Analyst::on_board(board.clone(), memory)?.threads(threads);
        let board = board.dimensions();
        if let Some(results) = &self.results {
            analyst = analyst.with_results(results)?;
        }
        if let Some(database) = database::find(&self.directories(), board)? {
            analyst = analyst.with_database(database)?;
        }
        for proof in self.proofs.iter().filter(|proof| proof.board == board) {
            analyst = analyst.with_proof(ProofStrategy::open(&proof.path)?)?;
        }
        Ok(analyst)
    }
}
