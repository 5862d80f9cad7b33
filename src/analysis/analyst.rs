//! The [`Analyst`]: analyses positions of a board one after the other.

use std::cmp::Reverse;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::judgement::{Analysis, JudgedMove, Judgement, ValueSource};
use super::remoteness::{RemotenessSearch, RemotenessTable};
use crate::error::ErrorKind;
use crate::konane::solve::new_table;
use crate::konane::zobrist::Zobrist;
use crate::konane::{
    Algorithm, Board, Dimensions, MIN_MEMORY, Move, Position, SearchTable, Solution, SolveError,
    SolveOptions, Solver,
};
use crate::proof::{self, ProofError, ProofStrategy};
use crate::results::{self, ResultsError};
use crate::search::Value;
use crate::search::run::{Counters, Limits, Observer, Outcome, Progress, Reason};
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
    /// A file of results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
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
            AnalysisError::Results(error) => error.kind(),
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
    /// The value of the move for the side that makes it, if it is proven: a win, or an unavoidable loss. It has a
    /// remoteness only if the move is best play. If the value is unknown, the move is the best one according to the
    /// search.
    pub judgement: Option<Judgement>,
}

/// Analyses positions of one board with its database and its proofs, and falls back to df-pn. The table persists, so
/// the results about a position speed up the analysis of the next one.
///
/// Its memory is that of the table, the database and the proofs, and at most 16 MiB for remotenesses that are searched.
#[derive(Debug)]
pub struct Analyst {
    board: Board,
    zobrist: Zobrist,
    /// A table that several analysts share does not grow.
    table: Arc<Table>,
    options: SolveOptions,
    database: Option<Arc<Database>>,
    proofs: Vec<Arc<ProofStrategy>>,
    /// Results of the last search for remotenesses.
    remoteness: Option<RemotenessTable>,
    /// Nodes of all searches.
    nodes: u64,
    on_progress: Option<ProgressFunction>,
}

/// Receives the position of a search and its progress.
type OnProgress = dyn FnMut(&Position, &Progress<'_>) + Send;

/// Function of [`Analyst::on_progress`].
struct ProgressFunction(Box<OnProgress>);

impl fmt::Debug for ProgressFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressFunction")
    }
}

impl Analyst {
    /// Creates an analyst of a board that uses `memory_bytes` for the table, and one thread.
    ///
    /// # Errors
    /// If the memory is less than [`crate::MIN_MEMORY`] or cannot be allocated.
    pub fn new(board: Dimensions, memory_bytes: u64) -> Result<Self, SolveError> {
        Analyst::on_board(Board::new(board), memory_bytes)
    }

    /// [`Analyst::new`] for a board with any [rules](Board::rules).
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
        let (zobrist, table) = (Zobrist::new(&board), Arc::new(table));
        Analyst {
            board,
            zobrist,
            table,
            options,
            database: None,
            proofs: Vec::new(),
            remoteness: None,
            nodes: 0,
            on_progress: None,
        }
    }

    /// Creates an analyst with the same table, files and options. Both can search at the same time, and each uses the
    /// results of the other.
    ///
    /// From the first call on, the whole table is in use, because it cannot grow while several searches use it. Small
    /// searches become slower, as they no longer fit into the processor's cache.
    pub fn share(&mut self) -> Analyst {
        let Analyst { board, zobrist, table, options, database, proofs, .. } = self;
        // No effect if the table is shared already: it then has its full capacity.
        table.reserve(table.capacity(), options.threads.get(), |code| zobrist.key(code));
        Analyst {
            board: board.clone(),
            zobrist: zobrist.clone(),
            table: Arc::clone(table),
            options: *options,
            database: database.clone(),
            proofs: proofs.clone(),
            remoteness: None,
            nodes: 0,
            on_progress: None,
        }
    }

    /// Returns true if another analyst has the same table ([`Analyst::share`]).
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.table) > 1
    }

    /// Sets a function that is called every few milliseconds while a position is searched. Its arguments are the
    /// position, which may be one after a move, and the progress. The nodes are those of all searches of this analyst.
    pub fn on_progress(self, call: impl FnMut(&Position, &Progress<'_>) + Send + 'static) -> Self {
        Analyst { on_progress: Some(ProgressFunction(Box::new(call))), ..self }
    }

    /// Number of nodes of all searches of this analyst.
    pub fn nodes(&self) -> u64 {
        self.nodes
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
        self.proofs.push(Arc::new(proof));
        Ok(self)
    }

    /// Adds the outcomes of a file of results ([`crate::results`]) about this board to the results of searches.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn with_results(self, path: &Path) -> Result<Self, AnalysisError> {
        results::fill(path, &self.board, &self.table, |code| self.zobrist.key(code))?;
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
    pub fn proofs(&self) -> &[Arc<ProofStrategy>] {
        &self.proofs
    }

    /// The proofs that may contain a position: all proofs, or none unless [`Position::is_standard`].
    pub fn proofs_about(&self, position: &Position) -> &[Arc<ProofStrategy>] {
        if position.is_standard() { &self.proofs } else { &[] }
    }

    /// The value of a position without a search: from the rules, the database, a proof, or the
    /// tables with the results of earlier searches.
    ///
    /// # Errors
    /// If the database or a proof cannot be read.
    pub fn lookup(&self, position: &Position) -> Result<Option<Judgement>, AnalysisError> {
        let code = position.code(&self.board);
        if position.count_moves(&self.board) == 0 {
            let source = ValueSource::Rules;
            return Ok(Some(Judgement { outcome: Value::Loss, source, remoteness: Some(0) }));
        }
        let searched = self.remoteness.as_ref().and_then(|table| table.remoteness(code));
        if let Some((outcome, remoteness)) = self.lookup_database(position)? {
            let (source, remoteness) = (ValueSource::Database, remoteness.or(searched));
            return Ok(Some(Judgement { outcome, source, remoteness }));
        }
        let judged = |outcome, source| Some(Judgement { outcome, source, remoteness: searched });
        for proof in self.proofs_about(position) {
            if proof.is_lost(position)? {
                return Ok(judged(Value::Loss, ValueSource::Proof));
            }
            if proof.answer(position)?.is_some() {
                return Ok(judged(Value::Win, ValueSource::Proof));
            }
        }
        let found = self.table.lookup(self.zobrist.key(code), code).and_then(|entry| entry.value());
        let by_plies = |plies| if plies % 2 == 1 { Value::Win } else { Value::Loss };
        let found = found.or(searched.map(by_plies));
        Ok(found.and_then(|value| judged(value, ValueSource::Search)))
    }

    /// The outcome in the database, and the remoteness if the database has it.
    fn lookup_database(
        &self,
        position: &Position,
    ) -> Result<Option<(Value, Option<u32>)>, AnalysisError> {
        if let Some(database) = self.covering(position)
            && let Some(value) = database.value(position)?
        {
            return Ok(Some((value, database.remoteness(position)?)));
        }
        Ok(None)
    }

    /// The database, if it covers positions with the rules and as many stones as this one.
    fn covering(&self, position: &Position) -> Option<&Database> {
        self.database().filter(|database| {
            let max_stones = database.coverage().max_stones;
            position.is_standard() && position.occupied().count_ones() <= max_stones
        })
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
        if let Some(database) = self.covering(position) {
            analysis.class = database.class(position)?;
        }
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

    /// Adds the remoteness of an analysed position whose outcome is known, and of its moves with known outcomes, where
    /// the database does not have it, and sorts the moves by it. The search takes about a second at most, and at most
    /// half of the limits, so that the rest is left for [`Analyst::line`]. A remoteness that it does not find stays
    /// unknown. Positions with more than 32 stones are not searched.
    ///
    /// # Errors
    /// If the database or a proof cannot be read.
    pub fn find_remoteness(
        &mut self,
        mut analysis: Analysis,
        limits: Limits<'_>,
    ) -> Result<Analysis, AnalysisError> {
        let Some(known) = &mut analysis.judgement else { return Ok(analysis) };
        let is_open = |known: &Judgement| known.remoteness.is_none();
        let mut moves = analysis.moves.iter().filter_map(|judged| judged.judgement.as_ref());
        if !is_open(known) && !moves.any(is_open) {
            return Ok(analysis);
        }
        let table = self.remoteness.take().filter(|table| table.is_of(&analysis.position));
        let table = table.or_else(|| RemotenessTable::new(&analysis.position));
        let Some(table) = table else { return Ok(analysis) };
        let mut search = RemotenessSearch::new(&self.board, table, half(limits));
        if let Some(plies) = search.root(known.outcome) {
            known.remoteness.get_or_insert(plies);
            for judged in &mut analysis.moves {
                if let Some(known) = judged.judgement.as_mut().filter(|known| is_open(known)) {
                    let plies = search.remoteness(&judged.after, !known.outcome);
                    known.remoteness = plies.map(|plies| plies + 1);
                }
            }
        }
        self.keep(search.finish());
        self.ranked(analysis)
    }

    /// Keeps the results of a search for remotenesses and counts its nodes.
    fn keep(&mut self, (table, nodes): (RemotenessTable, u64)) {
        self.remoteness = Some(table);
        self.nodes += nodes;
    }

    /// Chooses a move to play: a winning move, the quickest one if that is known; in a lost position the first of
    /// the losing moves ([`Analysis::moves`]); if nothing is proven within the limits, the best move according to the
    /// search. Returns `None` if there is no move.
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn choose(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Option<ChosenMove>, AnalysisError> {
        Ok(self.solve(position, limits)?.1)
    }

    /// Finds the value of a position by one search, unless it is known without one. Returns the values that are then
    /// known, and the move that [`Analyst::choose`] returns.
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn solve(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<(Analysis, Option<ChosenMove>), AnalysisError> {
        let mut analysis = self.lookup_moves(position)?;
        let mut best = None;
        // The position may be known to be won while no winning move is known: a stored value does not include a move.
        if analysis.judgement.is_none_or(|known| known.outcome == Value::Win)
            && analysis.count(Some(Value::Win)) == 0
        {
            let solution = self.search(position, limits)?;
            best = solution.best_move;
            match solution.report.outcome {
                Outcome::Known(value) => {
                    enter_result(&mut analysis, value, best);
                    analysis.finish();
                }
                // The value may be known even if this search, for a winning move, has reached a limit.
                Outcome::Unknown(reason) if analysis.judgement.is_none() => {
                    analysis.reason = Some(reason);
                }
                Outcome::Unknown(_) => {}
            }
        }
        if analysis.outcome() == Some(Value::Loss) {
            analysis = self.ranked(analysis)?;
        }
        let choice = choice(&analysis, best);
        Ok((analysis, choice))
    }

    /// Sorts the moves of an analysis as [`Analysis::moves`] describes. The resistance of losing moves is compared by the
    /// following criteria in turn, until one of them distinguishes the moves:
    ///
    /// * the greatest remoteness, if that of every losing move is known
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
        let mut ranked: Vec<_> = moves[..end].iter().copied().zip(&after).collect();
        // Plies to the end after the move.
        let plies = |(judged, after): &(JudgedMove, &Analysis)| {
            let of_move = judged.judgement?.remoteness.map(|plies| plies - 1);
            of_move.or(after.judgement?.remoteness)
        };
        // An unknown remoteness may be larger than a known one: a jump over several stones may lead to a position with
        // few enough stones for the database, while the other moves do not.
        let all_known = ranked.iter().all(|lost| plies(lost).is_some());
        let resistance = |lost: &(JudgedMove, &Analysis)| {
            let (after, plies) = (lost.1, plies(lost));
            let winning = after.count(Some(Value::Win));
            let known = after.count(None) == 0;
            let code = after.position.code(&self.board);
            let effort =
                self.table.lookup(self.zobrist.key(code), code).map_or(0, |entry| entry.work);
            let (continues, plies) = (plies != Some(1), plies.filter(|_| all_known));
            (plies, continues, Reverse(if known { winning } else { 0 }), effort)
        };
        ranked.sort_by_key(|lost| Reverse(resistance(lost)));
        for (judged, (better, _)) in moves.iter_mut().zip(ranked) {
            *judged = better;
        }
        Ok(analysis)
    }

    /// A line of best play from the position, to the end of the game or to the first position whose value is not
    /// found within the limits. `limits.nodes` is the limit of all searches together.
    /// Every move preserves the value of the position. If [`Analyst::find_remoteness`] has found the remoteness, it is
    /// the length of the line.
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn line(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Vec<Move>, AnalysisError> {
        if let Some(line) = self.line_by_remoteness(position, half(limits))? {
            return Ok(line);
        }
        let (mut position, mut line, begin) = (*position, Vec::new(), self.nodes);
        loop {
            let nodes = limits.nodes.map(|nodes| nodes.saturating_sub(self.nodes - begin));
            let choice = self.choose(&position, Limits { nodes, ..limits })?;
            let Some(ChosenMove { mv, judgement: Some(_) }) = choice else { return Ok(line) };
            line.push(mv);
            position = position.play(&self.board, mv);
        }
    }

    /// A line whose length is the remoteness of the position. Returns `None` if the results of the last search for
    /// remotenesses do not have it, or a limit is reached.
    fn line_by_remoteness(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Option<Vec<Move>>, AnalysisError> {
        let code = position.code(&self.board);
        let known = self.remoteness.as_ref().and_then(|table| table.remoteness(code));
        let Some(remoteness) = known else { return Ok(None) };
        let mut analysis = self.ranked(self.unsorted(position)?)?;
        let Some(table) = self.remoteness.take() else { return Ok(None) };
        let mut search = RemotenessSearch::new(&self.board, table, limits);
        let mut line = Vec::with_capacity(remoteness as usize);
        for plies in (1..=remoteness).rev() {
            let mut moves = analysis.moves.iter();
            let best = moves.find(|judged| search.is_best(&judged.after, plies) == Some(true));
            let Some(&JudgedMove { mv, after, .. }) = best else { break };
            line.push(mv);
            analysis = Analysis::new(&self.board, &after);
        }
        self.keep(search.finish());
        Ok((line.len() == remoteness as usize).then_some(line))
    }

    fn search(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
    ) -> Result<Solution, AnalysisError> {
        let is_short = limits.nodes.is_some_and(|nodes| nodes < MIN_PARALLEL_NODES);
        let threads = if is_short { NonZeroUsize::MIN } else { self.options.threads };
        let options = SolveOptions { threads, ..self.options };
        let values = self
            .database
            .as_deref()
            .map(|database| DatabaseValues::new(database).with_board(&self.board));
        let mut solver = Solver::new(&self.board, position).options(options).limits(limits);
        if let Some(values) = &values {
            solver = solver.oracle(values);
        }
        let on_progress = self.on_progress.take();
        let mut observer = SearchObserver { position: *position, nodes: self.nodes, on_progress };
        let found = solver.search_in(&self.table, &mut observer);
        self.on_progress = observer.on_progress;
        let found = match values.and_then(DatabaseValues::into_error) {
            Some(error) => Err(error.into()),
            None => found.map_err(AnalysisError::from),
        };
        self.nodes += found.as_ref().map_or(0, |solution| solution.report.counters.nodes);
        found
    }
}

/// Calls the function of [`Analyst::on_progress`].
struct SearchObserver {
    position: Position,
    /// Nodes of earlier searches.
    nodes: u64,
    on_progress: Option<ProgressFunction>,
}

impl Observer for SearchObserver {
    fn progress(&mut self, progress: &Progress<'_>) {
        if let Some(ProgressFunction(call)) = &mut self.on_progress {
            let nodes = self.nodes + progress.counters.nodes;
            let counters = Counters { nodes, ..progress.counters };
            call(&self.position, &Progress { counters, ..*progress });
        }
    }
}

/// Returns the move to play in a position that has been searched. `best` is the best move of the search.
fn choice(analysis: &Analysis, best: Option<Move>) -> Option<ChosenMove> {
    let judgement = analysis.judgement;
    let choice = |mv, judgement| ChosenMove { mv, judgement };
    let first = analysis.moves.first().filter(|first| first.outcome() == analysis.outcome());
    if let Some(first) = first
        && let Some(known) = judgement
    {
        // A move of another remoteness than the position is not known to be best play.
        let plies = first.judgement.and_then(|first| first.remoteness);
        let remoteness = known.remoteness.filter(|_| known.remoteness == plies);
        return Some(choice(first.mv, Some(Judgement { remoteness, ..known })));
    }
    let open = || analysis.moves.iter().filter(|judged| judged.judgement.is_none());
    // The search does not use the proofs, so it may prefer a move that loses by one of them.
    let best = open().map(|judged| judged.mv).find(|&mv| Some(mv) == best);
    // If the search has not expanded the position, the move with the fewest replies is chosen.
    let least = || open().min_by_key(|judged| judged.replies).map(|judged| judged.mv);
    best.or_else(least).map(|mv| choice(mv, None))
}

/// Half of the nodes and of the time that are left.
fn half(limits: Limits<'_>) -> Limits<'_> {
    let nodes = limits.nodes.map(|nodes| nodes / 2);
    let now = Instant::now();
    let deadline = limits.deadline.map(|at| now + at.saturating_duration_since(now) / 2);
    Limits { nodes, deadline, ..limits }
}

fn searched(outcome: Value) -> Judgement {
    Judgement { outcome, source: ValueSource::Search, remoteness: None }
}

/// Converts the value of a position to that of the move that leads to it.
fn of_the_mover(judgement: Judgement) -> Judgement {
    let remoteness = judgement.remoteness.map(|plies| plies + 1);
    Judgement { outcome: !judgement.outcome, remoteness, ..judgement }
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
