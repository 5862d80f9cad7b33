//! Judges positions one after the other.

use std::cmp::Reverse;
use std::num::NonZeroUsize;

use super::judgement::{Analysis, Judgement, Source};
use crate::error::ErrorKind;
use crate::konane::solve::new_table;
use crate::konane::zobrist::Zobrist;
use crate::konane::{
    Algorithm, Board, Dimensions, LEAST_MEMORY, Move, Position, SearchTable, Solution, SolveError,
    SolveOptions, Solver,
};
use crate::proof::{self, Guide, ProofError};
use crate::search::Value;
use crate::search::plain::oracle::Oracle;
use crate::search::run::{Limits, Outcome, Reason};
use crate::search::table::Table;
use crate::tablebase::{Database, DatabaseError, DatabaseValues};

/// Nodes that the position and each of its moves get in the first round: some 5 ms.
const FIRST_BUDGET: u64 = 16_384;

/// What they get in the next round, over this one: what a search has begun is in the table, so a
/// round costs a third of the next one.
const GROWTH: u64 = 4;

/// Below so many nodes a search is over before other threads have begun.
const PARALLEL_NODES: u64 = 200_000;

/// Why there is no analysis.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The database cannot be read, or contradicts itself.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A proof cannot be read.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// A search cannot begin.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A database or a proof is about another board.
    #[error("{what} is about {got}, and the analysis about {expected}")]
    OtherBoard {
        /// The file or directory.
        what: String,
        /// The board of the analysis.
        expected: Dimensions,
        /// The board of the file.
        got: Dimensions,
    },
}

impl AnalysisError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            AnalysisError::Database(error) => error.kind(),
            AnalysisError::Proof(error) => proof::error_kind(error),
            AnalysisError::Solve(error) => error.kind(),
            AnalysisError::OtherBoard { .. } => ErrorKind::Usage,
        }
    }
}

/// A move to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move.
    pub mv: Move,
    /// What the move brings to the side that makes it, if that is proven: a win, or what cannot be
    /// avoided. While it is not, the move is the one that the search holds for the best.
    pub judgement: Option<Judgement>,
}

/// Judges positions of one board: by its database and its proofs, and where they are silent by df-pn
/// in a table that is kept, so that what was found about a position helps with the next one.
///
/// Memory: the table's, and what the database and the proofs take.
#[derive(Debug)]
pub struct Analyst {
    board: Board,
    zobrist: Zobrist,
    table: Table,
    options: SolveOptions,
    database: Option<Database>,
    proofs: Vec<Guide>,
}

impl Analyst {
    /// For a board, with so many bytes for the table, on one thread.
    ///
    /// # Errors
    /// If it is less than [`crate::LEAST_MEMORY`], or the system does not give it.
    pub fn new(board: Dimensions, memory_bytes: u64) -> Result<Self, SolveError> {
        Analyst::on_board(Board::new(board), memory_bytes)
    }

    /// [`Analyst::new`] for a board that may be one of [`Board::jumping`].
    ///
    /// # Errors
    /// As [`Analyst::new`].
    pub fn on_board(board: Board, memory_bytes: u64) -> Result<Self, SolveError> {
        let options = SolveOptions { memory_bytes, ..SolveOptions::default() };
        let table = Solver::new(&board, &Position::start(&board)).options(options).new_table()?;
        Ok(Analyst::in_table(board, table, options))
    }

    /// Creates one that goes on in the table of a search, with its threads and parameters: in an empty
    /// table of the same size after α-β, and in one of [`LEAST_MEMORY`] if the search needed none. The
    /// search has to have been one of this board with these options: what its table says is believed.
    ///
    /// # Errors
    /// If the system does not give the memory.
    pub fn after(
        board: &Board,
        table: Option<SearchTable>,
        options: SolveOptions,
    ) -> Result<Self, SolveError> {
        let table = match table {
            None => new_table(board, LEAST_MEMORY as usize)?,
            Some(table) => table.into_proof_numbers(board)?,
        };
        let options = SolveOptions { algorithm: Algorithm::Dfpn, ..options };
        Ok(Analyst::in_table(board.clone(), table, options))
    }

    fn in_table(board: Board, table: Table, options: SolveOptions) -> Self {
        let zobrist = Zobrist::new(&board);
        Analyst { board, zobrist, table, options, database: None, proofs: Vec::new() }
    }

    /// Threads for searches that take longer.
    pub fn threads(self, threads: NonZeroUsize) -> Self {
        let options = SolveOptions { threads, ..self.options };
        Analyst { options, ..self }
    }

    /// Takes the values of a database.
    ///
    /// # Errors
    /// If it is one of another board.
    pub fn with_database(self, database: Database) -> Result<Self, AnalysisError> {
        self.same_board(|| database.directory().display().to_string(), database.board())?;
        Ok(Analyst { database: Some(database), ..self })
    }

    /// Takes a proof's positions for proven. Nothing is checked here
    /// ([`verify`](crate::proof::verify()) does that).
    ///
    /// # Errors
    /// If it is about another board.
    pub fn with_proof(mut self, proof: Guide) -> Result<Self, AnalysisError> {
        self.same_board(|| "the proof".to_owned(), proof.board())?;
        self.proofs.push(proof);
        Ok(self)
    }

    fn same_board(&self, what: impl Fn() -> String, got: &Board) -> Result<(), AnalysisError> {
        let (expected, got) = (self.board.dimensions(), got.dimensions());
        if expected == got {
            Ok(())
        } else {
            Err(AnalysisError::OtherBoard { what: what(), expected, got })
        }
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The database.
    pub fn database(&self) -> Option<&Database> {
        self.database.as_ref()
    }

    /// The proofs.
    pub fn proofs(&self) -> &[Guide] {
        &self.proofs
    }

    /// The proofs that can be about a position: all of them, or none
    /// ([`Position::is_early_jump`]).
    pub fn proofs_about(&self, position: &Position) -> &[Guide] {
        if position.is_early_jump(&self.board) { &[] } else { &self.proofs }
    }

    /// What is known of a position without a search: by the rules, the database, a proof, or what
    /// earlier searches have found. A look-up in each.
    ///
    /// # Errors
    /// If the database or a proof cannot be read.
    pub fn known(&self, position: &Position) -> Result<Option<Judgement>, AnalysisError> {
        let judged = |outcome, source, remoteness| Some(Judgement { outcome, source, remoteness });
        if position.count_moves(&self.board) == 0 {
            return Ok(judged(Value::Loss, Source::Rules, Some(0)));
        }
        if let Some(database) = &self.database
            && !position.is_early_jump(&self.board)
            && position.occupied().count_ones() <= database.coverage().max_stones
            && let Some(value) = database.value(position)?
        {
            return Ok(judged(value, Source::Database, database.remoteness(position)?));
        }
        for proof in self.proofs_about(position) {
            if proof.is_lost(position)? {
                return Ok(judged(Value::Loss, Source::Proof, None));
            }
            if proof.answer(position)?.is_some() {
                return Ok(judged(Value::Win, Source::Proof, None));
            }
        }
        let code = position.code(&self.board);
        let found = self.table.lookup(self.zobrist.key(code), code).and_then(|entry| entry.value());
        Ok(found.and_then(|value| judged(value, Source::Search, None)))
    }

    /// The position with its moves, judged as far as that goes without a search.
    ///
    /// # Errors
    /// As [`Analyst::known`].
    pub fn look(&self, position: &Position) -> Result<Analysis, AnalysisError> {
        let mut analysis = self.unsorted(position)?;
        analysis.finish();
        Ok(analysis)
    }

    fn unsorted(&self, position: &Position) -> Result<Analysis, AnalysisError> {
        let mut analysis = Analysis::new(&self.board, position);
        analysis.judgement = self.known(position)?;
        for judged in &mut analysis.moves {
            judged.judgement = self.known(&judged.after)?.map(of_the_mover);
        }
        analysis.conclude();
        // What is lost is lost by every move, whichever of them a table has kept.
        if let Some(lost @ Judgement { outcome: Value::Loss, .. }) = analysis.judgement {
            all_lose(&mut analysis, lost.source);
        }
        Ok(analysis)
    }

    /// Judges a position and each of its moves, within limits: `limits.nodes` are those of all searches
    /// together. What is not decided by then stays open.
    ///
    /// The position and all moves are searched in turn with budgets that grow, so that the easy
    /// ones come first. `on_change` hears of each new value.
    ///
    /// # Errors
    /// If the database or a proof cannot be read, or a search cannot begin.
    pub fn analyse(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
        on_change: &mut dyn FnMut(&Analysis),
    ) -> Result<Analysis, AnalysisError> {
        let mut analysis = self.unsorted(position)?;
        let mut shown = |analysis: &Analysis| {
            let mut sorted = analysis.clone();
            sorted.finish();
            on_change(&sorted);
        };
        shown(&analysis);
        let (mut budget, mut left) = (FIRST_BUDGET, limits.nodes.unwrap_or(u64::MAX));
        while !analysis.is_complete() {
            // The position itself first: its search goes where a winning move is most likely, and if
            // it is lost, all moves are.
            for index in (0..=analysis.moves.len()).map(|turn| turn.checked_sub(1)) {
                let open = match index {
                    None => analysis.judgement.is_none().then_some(*position),
                    Some(index) => {
                        let judged = &analysis.moves[index];
                        judged.judgement.is_none().then_some(judged.after)
                    }
                };
                let Some(open) = open else { continue };
                let nodes = Some(budget.min(left));
                let solution = self.search(&open, Limits { nodes, ..limits })?;
                left = left.saturating_sub(solution.report.counters.nodes);
                match (solution.report.outcome, index) {
                    (Outcome::Known(value), None) => {
                        decide(&mut analysis, value, solution.best_move);
                        shown(&analysis);
                    }
                    (Outcome::Known(value), Some(index)) => {
                        analysis.moves[index].judgement = Some(of_the_mover(searched(value)));
                        analysis.conclude();
                        shown(&analysis);
                    }
                    (Outcome::Unknown(Reason::NodeLimit), _) if left > 0 => {}
                    (Outcome::Unknown(reason), _) => {
                        analysis.reason = Some(reason);
                        analysis.finish();
                        return Ok(analysis);
                    }
                }
            }
            budget = budget.saturating_mul(GROWTH);
        }
        analysis.finish();
        Ok(analysis)
    }

    /// A move to play: one that wins, the quickest if that is known; in a lost position the one that
    /// resists longest; while nothing is proven within the limits, the one that the search prefers.
    /// None if there is no move.
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn choose(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Option<Choice>, AnalysisError> {
        let mut analysis = self.look(position)?;
        let mut best = None;
        // A value that was kept need not say by which move.
        if analysis.judgement.is_none_or(|known| known.outcome == Value::Win)
            && analysis.count(Some(Value::Win)) == 0
        {
            let solution = self.search(position, limits)?;
            best = solution.best_move;
            if let Outcome::Known(value) = solution.report.outcome {
                decide(&mut analysis, value, best);
                analysis.finish();
            }
        }
        let judgement = analysis.judgement;
        let choice = |mv, judgement| Choice { mv, judgement };
        if analysis.outcome() == Some(Value::Loss) {
            return Ok(self.longest(&analysis)?.map(|mv| choice(mv, judgement)));
        }
        let plies = |judgement: Judgement| judgement.remoteness.unwrap_or(u32::MAX);
        let winning = analysis.moves.iter().filter(|judged| judged.outcome() == Some(Value::Win));
        let quickest =
            winning.min_by_key(|judged| (judged.judgement.map_or(u32::MAX, plies), judged.replies));
        Ok(match quickest {
            Some(judged) => Some(choice(judged.mv, judgement)),
            None => {
                let open = || analysis.moves.iter().filter(|judged| judged.judgement.is_none());
                // The search knows nothing of the proofs, and may prefer a move that they have lost.
                let best = open().map(|judged| judged.mv).find(|&mv| Some(mv) == best);
                // Not even expanded, perhaps: what leaves the opponent little.
                let least = || open().min_by_key(|judged| judged.replies).map(|judged| judged.mv);
                best.or_else(least).map(|mv| choice(mv, None))
            }
        })
    }

    /// The move of a lost position that resists longest: by the plies to the end, where they are known
    /// of all moves; or does not let the opponent win at once; or leaves it the fewest winning replies,
    /// where all of them are known; or took the most work to refute.
    fn longest(&self, analysis: &Analysis) -> Result<Option<Move>, AnalysisError> {
        let after = analysis.moves.iter().map(|judged| self.look(&judged.after));
        let after = after.collect::<Result<Vec<_>, _>>()?;
        let plies = |after: &Analysis| after.judgement?.remoteness;
        // What is not known may be longer than what is: a long jump leads into a database of few stones
        // where the others do not.
        let measured = after.iter().all(|after| plies(after).is_some());
        let resistance = |after: &Analysis| {
            let winning = after.count(Some(Value::Win));
            let known = after.count(None) == 0;
            let code = after.position.code(&self.board);
            let work =
                self.table.lookup(self.zobrist.key(code), code).map_or(0, |entry| entry.work);
            let (plies, goes_on) = (plies(after).filter(|_| measured), plies(after) != Some(1));
            (plies, goes_on, Reverse(if known { winning } else { 0 }), work)
        };
        // Of equals the first.
        let moves = analysis.moves.iter().zip(&after).rev();
        let best = moves.max_by_key(|(_, after)| resistance(after));
        Ok(best.map(|(judged, _)| judged.mv))
    }

    /// A line of best play from the position, to the end of the game or as far as the winner is
    /// proven within the limits: `limits.nodes` are those of each move, the deadline holds for all.
    /// Every move keeps what the position is.
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn line(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Vec<Move>, AnalysisError> {
        let (mut position, mut line) = (*position, Vec::new());
        while let Some(Choice { mv, judgement: Some(_) }) = self.choose(&position, limits)? {
            line.push(mv);
            position = position.play(&self.board, mv);
        }
        Ok(line)
    }

    fn search(&self, position: &Position, limits: Limits<'_>) -> Result<Solution, AnalysisError> {
        match &self.database {
            None => Ok(self.search_by(position, limits, &())?),
            Some(database) => {
                let values = DatabaseValues::new(database);
                let solution = self.search_by(position, limits, &values)?;
                match values.into_error() {
                    Some(error) => Err(error.into()),
                    None => Ok(solution),
                }
            }
        }
    }

    fn search_by<K: Oracle>(
        &self,
        position: &Position,
        limits: Limits<'_>,
        known: &K,
    ) -> Result<Solution, SolveError> {
        let alone = limits.nodes.is_some_and(|nodes| nodes < PARALLEL_NODES);
        let threads = if alone { NonZeroUsize::MIN } else { self.options.threads };
        let options = SolveOptions { threads, ..self.options };
        let solver = Solver::new(&self.board, position).options(options).limits(limits);
        solver.known(known).search_in(&self.table, &mut ())
    }
}

fn searched(outcome: Value) -> Judgement {
    Judgement { outcome, source: Source::Search, remoteness: None }
}

/// What a position is to the player who has moved there.
fn of_the_mover(judgement: Judgement) -> Judgement {
    Judgement { outcome: !judgement.outcome, ..judgement }
}

/// Enters what a search says about the position.
fn decide(analysis: &mut Analysis, value: Value, best: Option<Move>) {
    analysis.judgement = Some(searched(value));
    match value {
        Value::Win => {
            let best = analysis.moves.iter_mut().find(|judged| Some(judged.mv) == best);
            if let Some(best) = best {
                best.judgement.get_or_insert(searched(Value::Win));
            }
        }
        Value::Loss => all_lose(analysis, Source::Search),
    }
}

fn all_lose(analysis: &mut Analysis, source: Source) {
    for judged in &mut analysis.moves {
        let lost = Judgement { outcome: Value::Loss, source, remoteness: None };
        judged.judgement.get_or_insert(lost);
    }
}
