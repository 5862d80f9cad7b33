//! The databases and proofs that were named on the command line. Clients name no files.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::exit::CliError;
use konane::analysis::{AnalysisError, Analyst};
use konane::proof::{Guide, ProofHeader, ProofReader};
use konane::tablebase::{Database, DatabaseError, DatabaseOptions, ListedDatabase};
use konane::{Board, Dimensions};

/// Where databases are looked for if nothing else is said.
const DEFAULT_DATABASES: &str = "db";

/// A proof that has not been read beyond its header.
#[derive(Debug)]
pub struct ProofFile {
    /// Where it is.
    pub path: PathBuf,
    /// The board.
    pub board: Dimensions,
    /// What it says about itself.
    pub header: ProofHeader,
    /// Its length.
    pub bytes: u64,
}

impl ProofFile {
    fn open(path: &Path) -> Result<Self, CliError> {
        let reader: ProofReader<fs::File> = ProofReader::open(path)?;
        let (header, bytes) = (*reader.header(), reader.bytes());
        let board = Dimensions::new(header.ranks.into(), header.files.into());
        let board = board.expect("the reader has checked it");
        Ok(ProofFile { path: path.to_owned(), board, header, bytes })
    }

    /// Whether it says who wins from the start of the game.
    pub fn is_about_the_start(&self) -> bool {
        self.header.root.count_ones() == self.board.squares()
    }
}

/// Databases and proofs.
#[derive(Debug)]
pub struct Files {
    databases: Option<PathBuf>,
    /// The proofs.
    pub proofs: Vec<ProofFile>,
}

impl Files {
    /// Looks whether they are there.
    pub fn open(named: Option<&Path>, proofs: &[PathBuf]) -> Result<Self, CliError> {
        let default = Path::new(DEFAULT_DATABASES);
        let databases = named.or_else(|| default.is_dir().then_some(default));
        let proofs = proofs.iter().map(|path| ProofFile::open(path)).collect::<Result<_, _>>()?;
        let files = Files { databases: databases.map(Path::to_owned), proofs };
        // So that a name that is wrong is found out now.
        if let Some(path) = named
            && files.databases()?.is_empty()
        {
            let what = "there is no database in it".to_owned();
            return Err(DatabaseError::NoDatabase { path: path.to_owned(), what }.into());
        }
        Ok(files)
    }

    /// The databases. Reads a manifest for each.
    pub fn databases(&self) -> Result<Vec<ListedDatabase>, DatabaseError> {
        self.databases.as_deref().map_or(Ok(Vec::new()), Database::list)
    }

    /// An analyst of a board, with all that there is about it.
    pub fn analyst(
        &self,
        board: &Board,
        memory: u64,
        threads: NonZeroUsize,
    ) -> Result<Analyst, AnalysisError> {
        let mut analyst = Analyst::on_board(board.clone(), memory)?.threads(threads);
        let board = board.dimensions();
        if let Some(directory) = &self.databases {
            match Database::find(directory, board, DatabaseOptions::default()) {
                Ok(database) => analyst = analyst.with_database(database)?,
                Err(DatabaseError::NoDatabase { .. } | DatabaseError::OtherBoard { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        for proof in self.proofs.iter().filter(|proof| proof.board == board) {
            analyst = analyst.with_proof(Guide::open(&proof.path)?)?;
        }
        Ok(analyst)
    }
}
