//! Solves a position and collects the positions that prove the result ([`prove`]).

use crate::konane::game::Konane;
use crate::konane::{Colour, Position, SearchTable, Solution, SolveError, Solver};
use crate::search::LeafSolverOptions;
use crate::search::Value;
use crate::search::certificate::{
    Certificate, CertificateError, CertificateOptions, CertificateProgress, collect,
};
use crate::search::plain::Root;
use crate::search::plain::oracle::WithOracle;
use crate::search::run::{Observer, Reason};

use super::writer::CHUNK_CODES;
use super::{ProofHeader, Side};

/// The winner of a position, and the positions that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The claim of the proof, as the header of a file.
    pub header: ProofHeader,
    /// The set of positions, which is closed under moves and replies, with statistics of its collection.
    pub certificate: Certificate,
}

/// Receives the progress of the search and of the collection of the proof.
pub trait ProofObserver: Observer {
    /// Called when the search has found the winner, before the proof is collected.
    fn solved(&mut self, solution: &Solution) {
        let _ = solution;
    }

    /// Called several times a second while the positions are collected.
    fn collecting(&mut self, progress: &CertificateProgress) {
        let _ = progress;
    }
}

/// No-op.
impl ProofObserver for () {}

/// Result of [`prove`].
#[derive(Debug)]
pub struct ProveResult {
    /// The solution of the search.
    pub solution: Solution,
    /// The proof; `None` if the search has not found the winner.
    pub proof: Option<Result<Proof, CertificateError>>,
}

/// Options of the leaf solver for replies that are not in the table. Both limits exceed those of the search (budget
/// 120, effort 62), so the leaf solver can solve again every position that it solved during the search. On 6x7 and
/// 7x7, all replies that are not in the table are found in this way, without a search by df-pn. Greater limits have
/// no effect.
const LEAF_SOLVER: LeafSolverOptions = LeafSolverOptions { budget: 1000, effort: 100 };

/// Solves a position and collects a proof of the result ([`crate::search::certificate`]).
///
/// The node limit applies to the search only. The deadline and the stop flag also apply to the collection of the proof.
/// Collecting uses the current `rayon` pool. When all positions have been collected, the memory of the table is
/// released. Then superfluous positions are removed.
///
/// # Errors
/// As [`Solver::run`], and [`SolveError::NotProvable`] or [`SolveError::ProofSymmetry`].
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
pub fn prove(
    solver: &Solver<'_>,
    observer: &mut dyn ProofObserver,
) -> Result<ProveResult, SolveError> {
    Ok(prove_with_table(solver, observer, false)?.0)
}

/// [`prove`], which also returns the table after the search if `keep_table` is true and the game was not over.
///
/// # Errors
/// As [`prove`].
pub fn prove_with_table(
    solver: &Solver<'_>,
    observer: &mut dyn ProofObserver,
    keep_table: bool,
) -> Result<(ProveResult, Option<SearchTable>), SolveError> {
    let &Solver { board, position, options, limits, oracle, .. } = solver;
    if !position.is_standard() {
        return Err(SolveError::NotProvable);
    }
    if !board.symmetry().is_all() {
        return Err(SolveError::ProofSymmetry);
    }
    let (solution, table) = solver.search(observer)?;
    let Some(winner) = solution.winner else {
        return Ok((ProveResult { solution, proof: None }, table.filter(|_| keep_table)));
    };
    observer.solved(&solution);
    let mut table = match table.map(|table| table.into_proof_numbers(board)).transpose() {
        Ok(table) => table,
        // The winner is known, but there is no memory for collecting a proof.
        Err(_) => {
            let proof = Some(Err(CertificateError::Stopped(Reason::Memory)));
            return Ok((ProveResult { solution, proof }, None));
        }
    };
    let game = Konane::new(board, options.profile.estimate());
    let game = WithOracle::new(&game, oracle);
    let collecting = &mut |progress: &CertificateProgress| observer.collecting(progress);
    let collected = match &table {
        // The game is over, so the proof is empty.
        None => None,
        Some(table) => {
            let root = position.code(board);
            let won = winner == position.to_move();
            let value = if won { Value::Win } else { Value::Loss };
            let stones = |code| Position::from_code(board, code).occupied().count_ones();
            let options = CertificateOptions { dfpn: options.dfpn(), leaf_solver: LEAF_SOLVER };
            let root = Root::new(&game, root, table);
            Some(collect(root, value, stones, &options, limits, collecting))
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
    Ok((ProveResult { solution, proof: Some(proof) }, table.map(SearchTable::ProofNumbers)))
}

fn side(colour: Colour) -> Side {
    match colour {
        Colour::Black => Side::Black,
        Colour::White => Side::White,
    }
}
