//! The [`Analyst`]: analyses positions of a board one after the other.

use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::judgement::{Analysis, JudgedMove, Judgement, ValueSource};
use crate::error::ErrorKind;
use crate::konane::solve::new_table;
use crate::konane::zobrist::Zobrist;
use crate::konane::{
    Algorithm, Board, Dimensions, MIN_MEMORY, Move, Position, SearchTable, Solution, SolveError,
    SolveOptions, Solver,
};
use crate::proof::{self, ProofError, ProofStrategy};
use crate::search::Value;
use crate::search::plain::oracle::Oracle;
use crate::search::run::{Limits, Outcome, Reason};
use crate::search::table::Table;
use crate::tablebase::{Database, DatabaseError, DatabaseValues};

/// Node budget for the position and for each of its moves in the first round. Such a search takes some 5 ms.
const FIRST_BUDGET: u64 = 16_384;

/// Factor by which the budget grows from one round to the next. All previous rounds together have a third of the budget
/// of the next round, and the table has their results.
const BUDGET_GROWTH: u64 = 4;

/// Minimum node budget of a search on several threads. A smaller search ends before the other threads have started.
const MIN_PARALLEL_NODES: u64 = 200_000;

/// Error that prevents an analysis.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The database cannot be read, or contradicts itself.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A proof cannot be read.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// A search cannot start.
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
pub struct ChosenMove {
    /// The move.
    pub mv: Move,
    /// The value of the move for the side that makes it, if it is proven: a win, or an unavoidable loss. If the value
    /// is unknown, the move is the best one according to the search.
    pub judgement: Option<Judgement>,
}

/// Analyses positions of one board with its database and its proofs, and falls back to df-pn. The table persists, so
/// the results about a position speed up the analysis of the next one.
///
/// Its memory is that of the table, the database and the proofs.
#[derive(Debug)]
pub struct Analyst {
    board: Board,
    zobrist: Zobrist,
    table: Table,
    options: SolveOptions,
    database: Option<Arc<Database>>,
    proofs: Vec<ProofStrategy>,
}

impl Analyst {
    /// Creates an analyst of a board that uses `memory_bytes` for the table, and one thread.
    ///
    /// # Errors
    /// If the memory is less than [`crate::MIN_MEMORY`] or cannot be allocated.
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

    /// Creates an analyst that continues after a search, with its table, threads and parameters. After α-β, the table
    /// is replaced by an empty table of the same size. If `table` is `None`, the new table has [`MIN_MEMORY`] bytes.
    /// The search must have been a search on this board with these options, because the entries of its table are
    /// trusted.
    ///
    /// # Errors
    /// If the memory cannot be allocated.
    pub fn after(
        board: &Board,
        table: Option<SearchTable>,
        options: SolveOptions,
    ) -> Result<Self, SolveError> {
        let table = match table {
            None => new_table(board, MIN_MEMORY as usize)?,
            Some(table) => table.into_proof_numbers(board)?,
        };
        let options = SolveOptions { algorithm: Algorithm::Dfpn, ..options };
        Ok(Analyst::in_table(board.clone(), table, options))
    }

    fn in_table(board: Board, table: Table, options: SolveOptions) -> Self {
        let zobrist = Zobrist::new(&board);
        Analyst { board, zobrist, table, options, database: None, proofs: Vec::new() }
    }

    /// Sets the number of threads. Short searches use one thread.
    pub fn threads(self, threads: NonZeroUsize) -> Self {
        let options = SolveOptions { threads, ..self.options };
        Analyst { options, ..self }
    }

    /// Adds the values of a database.
    ///
    /// # Errors
    /// If the database is about another board.
    pub fn with_database(self, database: impl Into<Arc<Database>>) -> Result<Self, AnalysisError> {
        let database = database.into();
        self.check_board(database.directory().display().to_string(), database.board())?;
        Ok(Analyst { database: Some(database), ..self })
    }

    /// Adds the positions of a proof, which are trusted without verification
    /// ([`verify`](crate::proof::verify())).
    ///
    /// # Errors
    /// If the proof is about another board.
    pub fn with_proof(mut self, proof: ProofStrategy) -> Result<Self, AnalysisError> {
        self.check_board("the proof".to_owned(), proof.board())?;
        self.proofs.push(proof);
        Ok(self)
    }

    fn check_board(&self, what: String, got: &Board) -> Result<(), AnalysisError> {
        let (expected, got) = (self.board.dimensions(), got.dimensions());
        if expected == got {
            Ok(())
        } else {
            Err(AnalysisError::OtherBoard { what, expected, got })
        }
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The database.
    pub fn database(&self) -> Option<&Database> {
        self.database.as_deref()
    }

    /// The proofs.
    pub fn proofs(&self) -> &[ProofStrategy] {
        &self.proofs
    }

    /// The proofs that may contain a position: all proofs, or none for [`Position::is_early_jump`].
    pub fn proofs_about(&self, position: &Position) -> &[ProofStrategy] {
        if position.is_early_jump(&self.board) { &[] } else { &self.proofs }
    }

    /// The value of a position without a search: from the rules, the database, a proof, or the
    /// table with the results of earlier searches.
    ///
    /// # Errors
    /// If the database or a proof cannot be read.
    pub fn lookup(&self, position: &Position) -> Result<Option<Judgement>, AnalysisError> {
        let judged = |outcome, source, remoteness| Some(Judgement { outcome, source, remoteness });
        if position.count_moves(&self.board) == 0 {
            return Ok(judged(Value::Loss, ValueSource::Rules, Some(0)));
        }
        if let Some(database) = &self.database
            && !position.is_early_jump(&self.board)
            && position.occupied().count_ones() <= database.coverage().max_stones
            && let Some(value) = database.value(position)?
        {
            return Ok(judged(value, ValueSource::Database, database.remoteness(position)?));
        }
        for proof in self.proofs_about(position) {
            if proof.is_lost(position)? {
                return Ok(judged(Value::Loss, ValueSource::Proof, None));
            }
            if proof.answer(position)?.is_some() {
                return Ok(judged(Value::Win, ValueSource::Proof, None));
            }
        }
        let code = position.code(&self.board);
        let found = self.table.lookup(self.zobrist.key(code), code).and_then(|entry| entry.value());
        Ok(found.and_then(|value| judged(value, ValueSource::Search, None)))
    }

    /// The values of a position and its moves without a search.
    ///
    /// # Errors
    /// As [`Analyst::lookup`].
    pub fn lookup_moves(&self, position: &Position) -> Result<Analysis, AnalysisError> {
        let mut analysis = self.unsorted(position)?;
        analysis.finish();
        Ok(analysis)
    }

    pub(super) fn unsorted(&self, position: &Position) -> Result<Analysis, AnalysisError> {
        let mut analysis = Analysis::new(&self.board, position);
        analysis.judgement = self.lookup(position)?;
        for judged in &mut analysis.moves {
            judged.judgement = self.lookup(&judged.after)?.map(of_the_mover);
        }
        analysis.conclude();
        // All moves of a lost position lose, also those without an entry in the table.
        if let Some(lost @ Judgement { outcome: Value::Loss, .. }) = analysis.judgement {
            all_lose(&mut analysis, lost.source);
        }
        Ok(analysis)
    }

    /// Computes the values of a position and of each of its moves, within limits: `limits.nodes` is the limit of all
    /// searches together. When a limit is reached, the remaining values are unknown.
    ///
    /// The position and all moves are searched in rounds with growing budgets, so that easy ones are solved
    /// first. Calls `on_change` for each new value.
    ///
    /// # Errors
    /// If the database or a proof cannot be read, or a search cannot start.
    pub fn analyse(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
        on_change: &mut dyn FnMut(&Analysis),
    ) -> Result<Analysis, AnalysisError> {
        let mut analysis = self.unsorted(position)?;
        let mut report = |analysis: &Analysis| {
            let mut sorted = analysis.clone();
            sorted.finish();
            on_change(&sorted);
        };
        report(&analysis);
        let (mut budget, mut left) = (FIRST_BUDGET, limits.nodes.unwrap_or(u64::MAX));
        while !analysis.is_complete() {
            // The position comes first: its search prefers the moves that are most likely to win, and if
            // it is lost, all moves lose.
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
                        enter_result(&mut analysis, value, solution.best_move);
                        report(&analysis);
                    }
                    (Outcome::Known(value), Some(index)) => {
                        analysis.moves[index].judgement = Some(of_the_mover(searched(value)));
                        analysis.conclude();
                        report(&analysis);
                    }
                    (Outcome::Unknown(Reason::NodeLimit), _) if left > 0 => {}
                    (Outcome::Unknown(reason), _) => {
                        analysis.reason = Some(reason);
                        return self.ranked(analysis);
                    }
                }
            }
            budget = budget.saturating_mul(BUDGET_GROWTH);
        }
        self.ranked(analysis)
    }

    /// Chooses a move to play: a winning move, the quickest one if that is known; in a lost position the move of the
    /// longest resistance; if nothing is proven within the limits, the best move according to the search.
    /// Returns `None` if there is no move.
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn choose(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Option<ChosenMove>, AnalysisError> {
        let mut analysis = self.lookup_moves(position)?;
        let mut best = None;
        // The position may be known to be won while no winning move is known: a stored value does not include a move.
        if analysis.judgement.is_none_or(|known| known.outcome == Value::Win)
            && analysis.count(Some(Value::Win)) == 0
        {
            let solution = self.search(position, limits)?;
            best = solution.best_move;
            if let Outcome::Known(value) = solution.report.outcome {
                enter_result(&mut analysis, value, best);
                analysis.finish();
            }
        }
        if analysis.outcome() == Some(Value::Loss) {
            analysis = self.ranked(analysis)?;
        }
        let judgement = analysis.judgement;
        let choice = |mv, judgement| ChosenMove { mv, judgement };
        let first = analysis.moves.first();
        Ok(match first.filter(|judged| judged.outcome() == analysis.outcome()) {
            Some(judged) if judgement.is_some() => Some(choice(judged.mv, judgement)),
            _ => {
                let open = || analysis.moves.iter().filter(|judged| judged.judgement.is_none());
                // The search does not use the proofs, so it may prefer a move that loses by one of them.
                let best = open().map(|judged| judged.mv).find(|&mv| Some(mv) == best);
                // If the search has not expanded the position, the move with the fewest replies is chosen.
                let least = || open().min_by_key(|judged| judged.replies).map(|judged| judged.mv);
                best.or_else(least).map(|mv| choice(mv, None))
            }
        })
    }

    /// Sorts the moves of an analysis as [`Analysis::moves`] says. The resistance of losing moves is compared by the
    /// following criteria in turn, until one of them distinguishes the moves:
    ///
    /// * the greatest remoteness, if the remoteness after every losing move is known
    /// * the opponent is not known to have a move that ends the game
    /// * the smallest number of winning replies, which counts as 0 if the value of some reply is unknown
    /// * the greatest search effort of the position after the move
    pub(super) fn ranked(&self, mut analysis: Analysis) -> Result<Analysis, AnalysisError> {
        analysis.finish();
        let lost = |judged: &JudgedMove| judged.outcome() == Some(Value::Loss);
        let Some(first) = analysis.moves.iter().position(lost) else { return Ok(analysis) };
        let moves = &mut analysis.moves[first..];
        let end = moves.iter().take_while(|judged| lost(judged)).count();
        let after = moves[..end].iter().map(|judged| self.lookup_moves(&judged.after));
        let after = after.collect::<Result<Vec<_>, _>>()?;
        let plies = |after: &Analysis| after.judgement?.remoteness;
        // An unknown remoteness may be larger than a known one: a jump over several stones may lead to a position with
        // few enough stones for the database, while the other moves do not.
        let all_known = after.iter().all(|after| plies(after).is_some());
        let resistance = |after: &Analysis| {
            let winning = after.count(Some(Value::Win));
            let known = after.count(None) == 0;
            let code = after.position.code(&self.board);
            let effort =
                self.table.lookup(self.zobrist.key(code), code).map_or(0, |entry| entry.work);
            let (plies, continues) = (plies(after).filter(|_| all_known), plies(after) != Some(1));
            (plies, continues, Reverse(if known { winning } else { 0 }), effort)
        };
        let mut ranked: Vec<_> = moves[..end].iter().copied().zip(&after).collect();
        ranked.sort_by_key(|(_, after)| Reverse(resistance(after)));
        for (judged, (better, _)) in moves.iter_mut().zip(ranked) {
            *judged = better;
        }
        Ok(analysis)
    }

    /// A line of best play from the position, to the end of the game or to the first position whose value is not
    /// found within the limits. `limits.nodes` applies to each move, the deadline to the whole line.
    /// Every move preserves the value of the position.
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn line(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Vec<Move>, AnalysisError> {
        let (mut position, mut line) = (*position, Vec::new());
        while let Some(ChosenMove { mv, judgement: Some(_) }) = self.choose(&position, limits)? {
            line.push(mv);
            position = position.play(&self.board, mv);
        }
        Ok(line)
    }

    fn search(&self, position: &Position, limits: Limits<'_>) -> Result<Solution, AnalysisError> {
        match &self.database {
            None => Ok(self.search_by(position, limits, &())?),
            Some(database) => {
                let values = DatabaseValues::new(database).with_board(&self.board);
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
        oracle: &K,
    ) -> Result<Solution, SolveError> {
        let is_short = limits.nodes.is_some_and(|nodes| nodes < MIN_PARALLEL_NODES);
        let threads = if is_short { NonZeroUsize::MIN } else { self.options.threads };
        let options = SolveOptions { threads, ..self.options };
        let solver = Solver::new(&self.board, position).options(options).limits(limits);
        solver.oracle(oracle).search_in(&self.table, &mut ())
    }
}

fn searched(outcome: Value) -> Judgement {
    Judgement { outcome, source: ValueSource::Search, remoteness: None }
}

/// Converts the value of a position to that of the move that leads to it.
fn of_the_mover(judgement: Judgement) -> Judgement {
    Judgement { outcome: !judgement.outcome, ..judgement }
}

/// Enters the result of a search of the position, and the values of moves that follow from it.
fn enter_result(analysis: &mut Analysis, value: Value, best: Option<Move>) {
    analysis.judgement = Some(searched(value));
    match value {
        Value::Win => {
            let best = analysis.moves.iter_mut().find(|judged| Some(judged.mv) == best);
            if let Some(best) = best {
                best.judgement.get_or_insert(searched(Value::Win));
            }
        }
        Value::Loss => all_lose(analysis, ValueSource::Search),
    }
}

fn all_lose(analysis: &mut Analysis, source: ValueSource) {
    for judged in &mut analysis.moves {
        let lost = Judgement { outcome: Value::Loss, source, remoteness: None };
        judged.judgement.get_or_insert(lost);
    }
}
