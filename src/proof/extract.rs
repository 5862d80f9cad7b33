//! Proofs: a position is solved, and the positions that prove the result are collected.

use crate::konane::game::Konane;
use crate::konane::{Colour, Position, SearchTable, Solution, SolveError, Solver};
use crate::search::LeafSolverOptions;
use crate::search::Value;
use crate::search::certificate::{
    Certificate, CertificateError, CertificateOptions, CertificateProgress, collect,
};
use crate::search::plain::Root;
use crate::search::plain::oracle::{Oracle, WithOracle};
use crate::search::run::{Observer, Reason};

use super::writer::CHUNK_CODES;
use super::{ProofHeader, Side};

/// The winner of a position, and the positions that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Board, position and winner, as the header of a file.
    pub header: ProofHeader,
    /// The closed set, and the work to collect it.
    pub certificate: Certificate,
}

/// Receives the progress of the search and of what follows it.
pub trait ProofObserver: Observer {
    /// Called when the search has an answer, before its proof is collected.
    fn solved(&mut self, solution: &Solution) {
        let _ = solution;
    }

    /// Called some times a second while the positions are collected.
    fn collecting(&mut self, progress: &CertificateProgress) {
        let _ = progress;
    }
}

/// Ignores everything.
impl ProofObserver for () {}

/// Result of an attempt to prove the winner of a position.
#[derive(Debug)]
pub struct Proved {
    /// Result of the search.
    pub solution: Solution,
    /// The proof; nothing if the search has no answer.
    pub proof: Option<Result<Proof, CertificateError>>,
}

/// Exact searches of replies where the table knows none: those of the search itself (120 positions,
/// effort 62) are repeated and go through: no reply of 6x7 or 7x7 is searched again. A greater effort
/// or budget gains nothing.
const SETTLE: LeafSolverOptions = LeafSolverOptions { budget: 1000, effort: 100 };

/// Solves a position and collects a proof of the result ([`crate::search::certificate`]).
///
/// The limit of nodes is one of the search; the deadline and the stop flag hold for both. Collecting
/// uses the current pool of `rayon`. The table is given back as soon as all positions are collected,
/// before they are thinned.
///
/// # Errors
/// As [`Solver::run`], and [`SolveError::NotProvable`].
///
/// # Examples
/// ```
/// use std::sync::atomic::AtomicBool;
///
/// use konane::proof::{ProofReader, ProofWriter, prove, verify};
/// use konane::{Board, Position, SolveOptions, Solver};
///
/// let board = Board::new("4x5".parse()?);
/// let start = Position::start(&board);
/// let options = SolveOptions { memory_bytes: 16 << 20, ..SolveOptions::default() };
/// let proved = prove(&Solver::new(&board, &start).options(options), &mut ())?;
/// let proof = proved.proof.expect("no limit was set")?;
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("4x5.proof");
/// ProofWriter::create(&path)?.finish(&proof.header, &proof.certificate.codes)?;
///
/// let checked = verify(&mut ProofReader::open(&path)?, &|_, _| {}, &AtomicBool::new(false))?;
/// assert_eq!(checked.flaw, None);
/// assert_eq!(checked.header.winner.name(), "white");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prove<K: Oracle>(
    solver: &Solver<'_, K>,
    observer: &mut dyn ProofObserver,
) -> Result<Proved, SolveError> {
    Ok(prove_and(solver, observer, false)?.0)
}

/// Calls [`prove`], and also returns the table as the search has left it, or none if the game was over.
///
/// # Errors
/// As [`Solver::run`].
pub fn prove_keeping<K: Oracle>(
    solver: &Solver<'_, K>,
    observer: &mut dyn ProofObserver,
) -> Result<(Proved, Option<SearchTable>), SolveError> {
    prove_and(solver, observer, true)
}

/// [`prove`], with or without the table at the end.
fn prove_and<K: Oracle>(
    solver: &Solver<'_, K>,
    observer: &mut dyn ProofObserver,
    keep_table: bool,
) -> Result<(Proved, Option<SearchTable>), SolveError> {
    let &Solver { board, position, options, limits, known, .. } = solver;
    if position.is_early_jump(board) {
        return Err(SolveError::NotProvable);
    }
    let (solution, table) = solver.search(observer)?;
    let Some(winner) = solution.winner else {
        return Ok((Proved { solution, proof: None }, table.filter(|_| keep_table)));
    };
    observer.solved(&solution);
    let mut table = match table.map(|table| table.into_proof_numbers(board)).transpose() {
        Ok(table) => table,
        // The answer stays, without a proof.
        Err(_) => {
            let proof = Some(Err(CertificateError::Stopped(Reason::Memory)));
            return Ok((Proved { solution, proof }, None));
        }
    };
    let game = Konane::new(board, options.profile.estimate());
    let game = WithOracle::new(&game, known);
    let collecting = &mut |progress: &CertificateProgress| observer.collecting(progress);
    let collected = match &table {
        // The game is over, and there is nothing to prove.
        None => None,
        Some(table) => {
            let root = position.code(board);
            let won = winner == position.to_move();
            let value = if won { Value::Win } else { Value::Loss };
            let stones = |code| Position::from_code(board, code).occupied().count_ones();
            let how = CertificateOptions { dfpn: options.profile.dfpn(), leaf_solver: SETTLE };
            let root = Root::new(&game, root, table);
            Some(collect(root, value, stones, &how, limits, collecting))
        }
    };
    if !keep_table {
        table = None;
    }
    let result = match collected {
        None => Ok(Certificate::default()),
        Some(collected) => {
            collected.and_then(|collected| collected.thin(&game, limits, collecting))
        }
    };
    let proof = result.map(|certificate| {
        let dimensions = board.dimensions();
        let header = ProofHeader {
            ranks: dimensions.ranks() as u8,
            files: dimensions.files() as u8,
            root: position.occupied(),
            to_move: side(position.to_move()),
            winner: side(winner),
            positions: certificate.codes.len() as u64,
            chunk_codes: CHUNK_CODES,
        };
        Proof { header, certificate }
    });
    Ok((Proved { solution, proof: Some(proof) }, table.map(SearchTable::ProofNumbers)))
}

fn side(colour: Colour) -> Side {
    match colour {
        Colour::Black => Side::Black,
        Colour::White => Side::White,
    }
}
