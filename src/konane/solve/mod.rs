//! Searches for the winner of a position.
//!
//! * [`SolveOptions`], [`Algorithm`]: parameters of a search.
//! * [`Solver`]: a position with its options, limits, oracle and checkpoints. Runs the search.
//! * [`Solution`], [`SolveError`]: the result. The search core returns a value for the side to move and the code of the
//!   best child; a solution has the colour of the winner and the best move instead.
//! * [`SearchTable`]: the transposition table after a search.

mod algorithm;
mod options;
mod solution;
mod table;

pub use algorithm::{Algorithm, AlgorithmError};
pub use options::{MIN_MEMORY, SolveOptions};
pub use solution::{Solution, SolveError};
pub use table::SearchTable;
pub(crate) use table::new_table;
pub(in crate::konane) use table::table_capacity;

use std::time::{Duration, Instant};

use super::board::Board;
use super::game::Konane;
use super::position::Position;
use super::root_moves::RootMoveObserver;
use crate::checkpoint::CheckpointWriter;
use crate::results::ResultsFile;
use crate::search::TreeError;
use crate::search::alphabeta::{ScoreTable, alphabeta};
use crate::search::cluster::CoordinatorConfig;
use crate::search::dfpn::dfpn_parallel;
use crate::search::plain::game::Game;
use crate::search::plain::oracle::{Oracle, WithOracle};
use crate::search::plain::{Root, RootView};
use crate::search::pn2::pn2_parallel;
use crate::search::pns::pns;
use crate::search::run::{Limits, Observer, Progress, Report};
use crate::search::table::Table;
use crate::search::two_level::two_level;

/// Finds the winner of a position.
///
/// Time and memory grow by orders of magnitude with the board, so set limits. If a limit is reached, the winner is
/// unknown. A position without a legal move needs no search.
///
/// ```
/// use konane::{Algorithm, Board, Colour, Limits, Position, SolveOptions, Solver};
///
/// let board = Board::new("5x6".parse()?);
/// let start = Position::start(&board);
/// let algorithm = Algorithm::Pn2;
/// let options = SolveOptions { algorithm, memory_bytes: 16 << 20, ..SolveOptions::default() };
/// let limits = Limits { nodes: Some(1_000_000), ..Limits::default() };
/// let solution = Solver::new(&board, &start).options(options).limits(limits).run()?;
/// assert_eq!(solution.winner, Some(Colour::White));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solver<'a> {
    pub(crate) board: &'a Board,
    pub(crate) position: Position,
    pub(crate) options: SolveOptions,
    pub(crate) limits: Limits<'a>,
    pub(crate) oracle: Option<&'a dyn Oracle>,
    pub(super) checkpoints: Option<&'a CheckpointWriter>,
    pub(super) results: Option<&'a ResultsFile<'a>>,
}

impl<'a> Solver<'a> {
    /// Creates a solver of a position, with the default options and no limits.
    pub fn new(board: &'a Board, position: &Position) -> Self {
        Solver {
            board,
            position: *position,
            options: SolveOptions::default(),
            limits: Limits::default(),
            oracle: None,
            checkpoints: None,
            results: None,
        }
    }

    /// Sets the options.
    pub fn options(self, options: SolveOptions) -> Self {
        Solver { options, ..self }
    }

    /// Sets the limits.
    pub fn limits(self, limits: Limits<'a>) -> Self {
        Solver { limits, ..self }
    }

    /// Sets a source of known values of positions, such as a database
    /// ([`crate::tablebase::DatabaseValues`]). The search treats these positions as solved. If the root is one of
    /// them, one expansion suffices.
    ///
    /// Values are looked up by canonical code ([`Position::code`]) and are those of the standard board: positions
    /// of other rules ([`Position::is_standard`]) are not looked up. If a value cannot be read, the
    /// search ends with the reason [`FileError`](crate::Reason::FileError), and the oracle has the error.
    pub fn oracle(self, oracle: &'a dyn Oracle) -> Self {
        Solver { oracle: Some(oracle), ..self }
    }

    /// Sets the writer of checkpoints. If the writer has a checkpoint, the search resumes from it. The writer must have
    /// been created for this search ([`Solver::checkpoints`]).
    ///
    /// For a position without a legal move, no checkpoint is read or written.
    pub fn checkpoint_writer(self, checkpoints: Option<&'a CheckpointWriter>) -> Self {
        Solver { checkpoints, ..self }
    }

    /// Sets a file of results of this board. The search treats the positions in it as solved, and adds those that it
    /// solves. α-β, which has no proof numbers, does not use the file.
    pub fn results(self, results: Option<&'a ResultsFile<'a>>) -> Self {
        Solver { results, ..self }
    }

    /// Runs the search.
    ///
    /// # Errors
    /// If the memory is less than [`MIN_MEMORY`] or cannot be allocated, or if the
    /// checkpoint cannot be read.
    pub fn run(&self) -> Result<Solution, SolveError> {
        self.run_observed(&mut ())
    }

    /// [`Solver::run`] with an observer, which receives the progress, and the final state at the end. The observer can
    /// compute the proof and disproof number of every move ([`Position::root_moves`]).
    ///
    /// # Errors
    /// As [`Solver::run`].
    pub fn run_observed(&self, observer: &mut dyn Observer) -> Result<Solution, SolveError> {
        Ok(self.search(observer)?.0)
    }

    /// [`Solver::run_observed`] that also returns the table after the search, or `None` if the game was over.
    ///
    /// # Errors
    /// As [`Solver::run`].
    pub fn search(
        &self,
        observer: &mut dyn Observer,
    ) -> Result<(Solution, Option<SearchTable>), SolveError> {
        let (table_bytes, _) = self.options.memory()?;
        if let Some(solution) = self.finished_game(observer) {
            return Ok((solution, None));
        }
        if self.options.algorithm != Algorithm::AlphaBeta {
            let table = self.new_table()?;
            let solution = self.search_in(&table, observer)?;
            return Ok((solution, Some(SearchTable::ProofNumbers(table))));
        }
        let table = ScoreTable::new(table_bytes)?;
        let options = self.options.overrides.alphabeta(self.options.profile.alphabeta());
        let solution = self.search_with(table.entries(), observer, |root, observer| {
            Ok(alphabeta(root.game, root.code, &table, options, self.limits, observer))
        })?;
        Ok((solution, Some(SearchTable::Scores(table))))
    }

    /// Returns the solution if the game is over, and calls the observer.
    pub(super) fn finished_game(&self, observer: &mut dyn Observer) -> Option<Solution> {
        if self.position.count_moves(self.board) > 0 {
            return None;
        }
        let solution = Solution::of_finished_game(self);
        observer.progress(&Progress::from(&solution.report));
        Some(solution)
    }

    /// Creates a table for [`Solver::search_in`].
    ///
    /// # Errors
    /// If the memory is less than [`MIN_MEMORY`] or cannot be allocated.
    pub fn new_table(&self) -> Result<Table, SolveError> {
        Ok(new_table(self.board, self.options.memory()?.0)?)
    }

    /// [`Solver::run_observed`] with the caller's table, for the proof-number searches. The table may have entries of
    /// earlier searches, if they were searches of positions of this board with this profile and this oracle.
    ///
    /// # Errors
    /// As [`Solver::run`].
    ///
    /// # Panics
    /// If the algorithm is α-β, which has another kind of table.
    pub fn search_in(
        &self,
        table: &Table,
        observer: &mut dyn Observer,
    ) -> Result<Solution, SolveError> {
        let &Solver { ref options, limits, .. } = self;
        let (_, tree_bytes) = options.memory()?;
        let threads = options.threads;
        if let Some(solution) = self.finished_game(observer) {
            return Ok(solution);
        }
        self.search_with(table, observer, |root, observer| match options.algorithm {
            Algorithm::Dfpn => Ok(dfpn_parallel(root, options.dfpn(), threads, limits, observer)),
            Algorithm::Pns => pns(root, tree_bytes, options.pns(), limits, observer),
            Algorithm::Pn2 => {
                pn2_parallel(root, tree_bytes, options.pn2(), threads, limits, observer)
            }
            Algorithm::PnsPdfpn => {
                let job_nodes = options.job_nodes;
                let config = CoordinatorConfig { job_nodes, ..CoordinatorConfig::LOCAL };
                two_level(root, tree_bytes, options.dfpn(), threads, config, limits, observer)
            }
            Algorithm::AlphaBeta => unreachable!("α-β does not use a table of proof numbers"),
        })
    }

    /// Restores the checkpoint, runs `search` with a table, and returns the solution.
    pub(super) fn search_with(
        &self,
        table: &Table,
        observer: &mut dyn Observer,
        search: impl FnOnce(
            Root<'_, WithOracle<'_, Konane<'_>>>,
            &mut dyn Observer,
        ) -> Result<Report, TreeError>,
    ) -> Result<Solution, SolveError> {
        let &Solver {
            board, ref position, ref options, limits, oracle, checkpoints, results, ..
        } = self;
        let results = results.filter(|_| options.algorithm != Algorithm::AlphaBeta);
        let begun = Instant::now();
        let game = Konane::new(board, options.profile.estimate());
        let game = &WithOracle::new(&game, oracle);
        let root = Root::new(game, position.code(board), table);
        let mut observer = RootMoveObserver::new(
            observer,
            RootView {
                root,
                open_entries: options.algorithm != Algorithm::AlphaBeta,
                leaf_solver: options.profile.pns().leaf_solver,
            },
        );
        if let Some(writer) = checkpoints {
            writer.restore(table, |code| game.key(code), limits.stop, &mut observer)?;
        }
        if let Some(results) = results {
            results.fill(table, |code| game.key(code));
        }
        let search = |observer: &mut dyn Observer| {
            let report = match results {
                None => search(root, observer),
                Some(results) => results.run(root, || search(root, observer)),
            }?;
            observer.progress(&Progress::from(&report));
            Ok::<_, SolveError>(report)
        };
        let report = match checkpoints {
            None => search(&mut observer),
            Some(writer) => writer.run(table, &mut observer, search),
        }?;

        let last = Progress { table_capacity: table.capacity(), ..Progress::from(&report) };
        // The time for reading and writing checkpoints is excluded.
        let searched = checkpoints.map_or(Duration::ZERO, CheckpointWriter::searched);
        let seconds = if searched.is_zero() { begun.elapsed() } else { searched };
        Ok(Solution::new(self, report, last.table(), seconds.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::notation::{parse_moves, parse_position};
    use crate::konane::{Colour, Dimensions};
    use crate::search::run::Reason;

    fn options(algorithm: Algorithm) -> SolveOptions {
        SolveOptions { algorithm, memory_bytes: 16 << 20, ..SolveOptions::default() }
    }

    fn run(board: &Board, position: &Position, options: &SolveOptions) -> Solution {
        Solver::new(board, position).options(*options).run().unwrap()
    }

    #[test]
    fn too_little_and_too_much_memory_are_errors() {
        let board = Board::new(Dimensions::new(4, 4).unwrap());
        let start = Position::start(&board);
        for algorithm in Algorithm::ALL {
            let results = |memory_bytes| {
                let options = SolveOptions { memory_bytes, ..options(algorithm) };
                let solver = Solver::new(&board, &start).options(options);
                [solver.run().map(drop), solver.work(&CoordinatorConfig::REMOTE, |_| ())]
            };
            for bytes in [0, 1, MIN_MEMORY - 1] {
                for result in results(bytes) {
                    assert!(matches!(result, Err(SolveError::TooLittleMemory { .. })));
                }
            }
            for result in results(u64::MAX) {
                assert!(matches!(result, Err(SolveError::TooMuchMemory { .. })));
            }
        }
    }

    #[test]
    fn a_finished_game_is_lost_for_the_side_to_move() {
        let board = Board::new(Dimensions::new(1, 4).unwrap());
        for (text, winner) in [("4 b", Colour::White), ("4 w", Colour::Black)] {
            let position = parse_position(&board, text).unwrap();
            for algorithm in Algorithm::ALL {
                let solution = run(&board, &position, &options(algorithm));
                assert_eq!(solution.winner, Some(winner));
                assert_eq!(solution.best_move, None);
            }
        }
    }

    /// Returns true if the side to move wins, by plain recursion.
    fn wins(board: &Board, position: &Position) -> bool {
        let mut moves = position.moves(board).into_iter();
        moves.any(|mv| !wins(board, &position.play(board, mv)))
    }

    /// Searches positions of small boards with either colour to move. Checks that the winner is the same as by plain
    /// recursion, and that the best move wins.
    #[test]
    fn winners_and_best_moves_agree_with_plain_recursion() {
        for (dimensions, lines) in [
            ((1, 5), &["", "a1", "c1"][..]),
            ((3, 3), &["", "b2", "a1"]),
            ((3, 4), &["", "a3", "a3 a2", "b2 b3"]),
            ((4, 4), &["", "b3", "b3 b4", "b3 b4 b1-b3"]),
        ] {
            let board = Board::new(Dimensions::new(dimensions.0, dimensions.1).unwrap());
            for line in lines {
                let Ok(position) = parse_moves(&board, line) else {
                    panic!("{dimensions:?} {line}");
                };
                let solution = run(&board, &position, &options(Algorithm::Dfpn));
                let to_move = position.to_move();
                let expected = if wins(&board, &position) {
                    let best = solution.best_move.expect("a won position has a best move");
                    assert!(!wins(&board, &position.play(&board, best)));
                    to_move
                } else {
                    assert_eq!(solution.best_move, None);
                    !to_move
                };
                assert_eq!(solution.winner, Some(expected), "{line}");
            }
        }
    }

    #[test]
    fn a_limit_gives_no_outcome() {
        let board = Board::new(Dimensions::new(8, 8).unwrap());
        let limits = Limits { nodes: Some(100), ..Limits::default() };
        let start = Position::start(&board);
        let solver = Solver::new(&board, &start).options(options(Algorithm::Dfpn)).limits(limits);
        let solution = solver.run().unwrap();
        assert_eq!((solution.winner, solution.reason), (None, Some(Reason::NodeLimit)));
        let best = solution.best_move.expect("the root was expanded");
        assert!(start.is_legal(&board, best));
    }
}
