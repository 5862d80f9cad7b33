//! From a position to its proof: solved, and the positions collected that show it.

use crate::konane::game::Konane;
use crate::konane::solve::solve_keeping;
use crate::konane::symmetry::WHITE_TO_MOVE;
use crate::konane::{
    Algorithm, Board, Colour, Position, Solution, SolveError, SolveOptions, Verdict,
};
use crate::search::SettleOptions;
use crate::search::certificate::{
    Certificate, CertificateError, CertificateOptions, CertificateProgress, certificate,
};
use crate::search::checkpoint::Keeper;
use crate::search::control::{Limits, Observer};
use crate::search::game::Value;
use crate::search::known::{Informed, Known};
use crate::search::table::Table;

use super::format::{CHUNK_CODES, ProofHeader, Side};

/// Who wins a position, and the positions that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// What is proven, as a file says it.
    pub header: ProofHeader,
    /// The closed set, and what it took to collect it.
    pub certificate: Certificate,
}

/// Receives the progress of the search and of what follows it.
pub trait ProofObserver: Observer {
    /// Called some times a second while the positions are collected.
    fn collecting(&mut self, progress: &CertificateProgress) {
        let _ = progress;
    }
}

/// Ignores everything.
impl ProofObserver for () {}

/// What came of an attempt to prove something.
#[derive(Debug)]
pub struct Proved {
    /// What the search found.
    pub solution: Solution,
    /// The proof; nothing if the search has no answer.
    pub proof: Option<Result<Proof, CertificateError>>,
}

/// Exact searches of replies where the table knows none: those of the search itself (60 positions,
/// effort 7) are repeated and go through. More of them find smaller sets (8 % on 6x7, of 123 k
/// positions) and save almost all df-pn searches (1173 there); beyond this budget nothing is gained.
const SETTLE: SettleOptions = SettleOptions { budget: 1000, effort: 10 };

/// Solves a position and collects a proof of the result; see [`crate::konane::solve_with`] and
/// [`crate::search::certificate`].
///
/// The limit of nodes is one of the search; the deadline and the stop flag hold for both. Collecting
/// uses the current pool of `rayon`.
///
/// # Errors
/// As [`crate::konane::solve()`].
///
/// # Examples
/// ```
/// use std::sync::atomic::AtomicBool;
///
/// use konane::konane::{Board, Position, SolveOptions};
/// use konane::proof::{ProofReader, ProofWriter, prove, verify};
/// use konane::search::control::Limits;
///
/// let board = Board::new("4x5".parse()?);
/// let start = Position::start(&board);
/// let options = SolveOptions { memory_bytes: 16 << 20, ..SolveOptions::default() };
/// let proved = prove(&board, &start, &options, &(), Limits::default(), &mut ())?;
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
pub fn prove<K: Known>(
    board: &Board,
    position: &Position,
    options: &SolveOptions,
    known: &K,
    limits: Limits<'_>,
    observer: &mut dyn ProofObserver,
) -> Result<Proved, SolveError> {
    prove_saving(board, position, options, known, limits, observer, None)
}

/// [`prove`] whose search goes on from a checkpoint and writes checkpoints, as
/// [`crate::konane::solve_saving`].
///
/// # Errors
/// As [`crate::konane::solve_saving`].
pub fn prove_saving<K: Known>(
    board: &Board,
    position: &Position,
    options: &SolveOptions,
    known: &K,
    limits: Limits<'_>,
    observer: &mut dyn ProofObserver,
    keeper: Option<&Keeper>,
) -> Result<Proved, SolveError> {
    let (solution, table) =
        solve_keeping(board, position, options, known, limits, observer, keeper)?;
    let Verdict::Winner(winner) = solution.verdict else {
        return Ok(Proved { solution, proof: None });
    };
    let result = match table {
        // The game is over, and there is nothing to prove.
        None => Ok(Certificate::default()),
        Some(mut table) => {
            if options.algorithm == Algorithm::AlphaBeta {
                // Its entries mean something else to a proof-number search.
                let bytes = table.bytes();
                drop(table);
                table = Table::new(bytes)?;
            }
            let game = Konane::new(board, options.profile.estimate());
            let game = Informed::new(&game, known);
            let root = board.symmetries().code(position);
            let won = winner == position.to_move();
            let value = if won { Value::Win } else { Value::Loss };
            let mark = if board.dimensions().has_even_side() { 0 } else { WHITE_TO_MOVE };
            let stones = |code: u64| (code & !mark).count_ones();
            let how = CertificateOptions { dfpn: options.profile.dfpn(), settle: SETTLE };
            let collecting = &mut |progress: &CertificateProgress| observer.collecting(progress);
            certificate(&game, (root, value), &table, stones, &how, limits, collecting)
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
    Ok(Proved { solution, proof: Some(proof) })
}

fn side(colour: Colour) -> Side {
    match colour {
        Colour::Black => Side::Black,
        Colour::White => Side::White,
    }
}
