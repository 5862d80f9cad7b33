//! Solving a position: the algorithm by name, the memory divided, the winner by colour and the
//! best move as a move.
//!
//! The search proper sees only codes and the side to move; this is where they meet the board
//! again.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use super::board::Board;
use super::game::Konane;
use super::geometry::Colour;
use super::moves::Move;
use super::position::Position;
use super::profile::Profile;
use super::watch::Watched;
use super::zobrist::Zobrist;
use crate::checkpoint::{CheckpointError, Keeper};
use crate::search::alphabeta::alphabeta;
use crate::search::dfpn::dfpn_parallel;
use crate::search::numbers::INFINITY;
use crate::search::plain::game::{Game, Value};
use crate::search::plain::known::{Informed, Known};
use crate::search::plain::root::Root;
use crate::search::pn2::pn2_parallel;
use crate::search::pns::pns_saving;
use crate::search::run::{Counters, Limits, Observer, Outcome, Progress, Reason, Report};
use crate::search::snapshot::{TreePort, TreeRoom};
use crate::search::table::{Table, TableError};
use crate::search::two_level::{TwoLevelOptions, two_level_saving};

/// The least memory that a [`Solver`] accepts, for every algorithm: 1 MiB.
pub const LEAST_MEMORY: u64 = 1 << 20;

/// PNS and PN² give this part of their memory to the table, one over it; the tree has the rest.
const TABLE_PART: u64 = 4;

/// The search algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Proof-number search with the tree in memory ([`crate::search::pns`]).
    Pns,
    /// Proof-number search whose leaves are evaluated by proof-number searches
    /// ([`crate::search::pn2`]).
    Pn2,
    /// Depth-first proof-number search in a table ([`crate::search::dfpn`]).
    Dfpn,
    /// α-β with iterative deepening ([`crate::search::alphabeta`]).
    AlphaBeta,
    /// Proof-number search whose leaves are jobs for df-pn workers ([`crate::search::two_level`]).
    PnsPdfpn,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 5] = [
        Algorithm::Pns,
        Algorithm::Pn2,
        Algorithm::Dfpn,
        Algorithm::AlphaBeta,
        Algorithm::PnsPdfpn,
    ];

    /// `pns`, `pn2`, `dfpn`, `ab` or `pns-pdfpn`.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Pns => "pns",
            Algorithm::Pn2 => "pn2",
            Algorithm::Dfpn => "dfpn",
            Algorithm::AlphaBeta => "ab",
            Algorithm::PnsPdfpn => "pns-pdfpn",
        }
    }

    /// Whether the search keeps a tree in memory beside the table.
    pub const fn keeps_tree(self) -> bool {
        matches!(self, Algorithm::Pns | Algorithm::Pn2 | Algorithm::PnsPdfpn)
    }

    /// Whether the search can use more than one thread.
    pub const fn is_parallel(self) -> bool {
        matches!(self, Algorithm::Dfpn | Algorithm::Pn2 | Algorithm::PnsPdfpn)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no algorithm's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an algorithm: choose one of pns, pn2, dfpn, ab, pns-pdfpn")]
pub struct AlgorithmError(pub String);

impl FromStr for Algorithm {
    type Err = AlgorithmError;

    fn from_str(text: &str) -> Result<Self, AlgorithmError> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == text)
            .ok_or_else(|| AlgorithmError(text.chars().take(40).collect()))
    }
}

/// How to solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolveOptions {
    /// The search.
    pub algorithm: Algorithm,
    /// Its parameters.
    pub profile: Profile,
    /// Bytes for table and tree together, at least [`LEAST_MEMORY`].
    pub memory_bytes: u64,
    /// Threads to search with, where the algorithm can ([`Algorithm::is_parallel`]).
    pub threads: NonZeroUsize,
    /// The jobs of [`Algorithm::PnsPdfpn`].
    pub jobs: JobOptions,
}

/// How the two-level search divides its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobOptions {
    /// Nodes that a job may evaluate; at least 2 are taken.
    pub nodes: u64,
    /// Expansions of a job between two messages about its numbers.
    pub update_expansions: u64,
    /// Threads of each worker. There are as many workers as the threads of the search allow, at
    /// least one.
    pub threads: NonZeroUsize,
}

impl Default for JobOptions {
    /// As [`TwoLevelOptions::new`], on one thread each.
    fn default() -> Self {
        let one = NonZeroUsize::MIN;
        let options = TwoLevelOptions::new(Profile::Tuned.dfpn(), one, one);
        JobOptions {
            nodes: options.job_nodes,
            update_expansions: options.update_expansions,
            threads: one,
        }
    }
}

impl Default for SolveOptions {
    /// df-pn, tuned, 1 GiB, one thread.
    fn default() -> Self {
        SolveOptions {
            algorithm: Algorithm::Dfpn,
            profile: Profile::Tuned,
            memory_bytes: 1 << 30,
            threads: NonZeroUsize::MIN,
            jobs: JobOptions::default(),
        }
    }
}

/// Memory divided between a table and a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Bytes of the table.
    pub table: u64,
    /// Bytes of the tree; 0 for the algorithms that keep none.
    pub tree: u64,
}

impl SolveOptions {
    /// Divides the memory: df-pn and α-β have a table only; PNS and PN² keep a quarter for it, where
    /// solved positions outlive their part of the tree.
    pub fn memory_plan(&self) -> MemoryPlan {
        let table = if self.algorithm.keeps_tree() {
            self.memory_bytes / TABLE_PART
        } else {
            self.memory_bytes
        };
        let tree = self.memory_bytes - table;
        MemoryPlan { table, tree }
    }

    /// The memory of the tree that checkpoints keep.
    fn tree_room(&self, bytes: usize) -> Option<TreeRoom> {
        match self.algorithm {
            Algorithm::Pns => Some(self.profile.pns().tree_room(bytes)),
            Algorithm::Pn2 => Some(self.profile.pn2().tree_room(bytes, self.threads)),
            Algorithm::PnsPdfpn => Some(self.two_level().tree_room(bytes)),
            Algorithm::Dfpn | Algorithm::AlphaBeta => None,
        }
    }

    /// The parameters of the two-level search: the profile's df-pn, in as many workers as there are
    /// threads for.
    pub(super) fn two_level(&self) -> TwoLevelOptions {
        let JobOptions { nodes, update_expansions, threads } = self.jobs;
        let workers = NonZeroUsize::new(self.threads.get() / threads.get());
        let workers = workers.unwrap_or(NonZeroUsize::MIN);
        TwoLevelOptions {
            job_nodes: nodes,
            update_expansions,
            ..TwoLevelOptions::new(self.profile.dfpn(), workers, threads.min(self.threads))
        }
    }
}

/// How full the table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableUse {
    /// Entries that fit.
    pub capacity: u64,
    /// Entries in use.
    pub used: u64,
    /// Entries dropped for others.
    pub replaced: u64,
}

/// What a [`Solver`] found.
#[derive(Clone, Copy, Debug)]
pub struct Solution {
    /// Who wins, if that is proven; the report's outcome says why it is not.
    pub winner: Option<Colour>,
    /// A winning move if the side to move is proven to win; nothing if it is proven to lose; else
    /// the move that the search held for the best, if it has got so far.
    pub best_move: Option<Move>,
    /// The search's own account.
    pub report: Report,
    /// The table at the end.
    pub table: TableUse,
}

impl Solution {
    /// Why the winner is not known.
    pub fn reason(&self) -> Option<Reason> {
        self.report.outcome.reason()
    }
}

/// Why a search cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// Less than [`LEAST_MEMORY`].
    #[error(
        "a memory of {bytes} B is too small to search with: at least {LEAST_MEMORY} B (1 MiB) \
         are needed, and 1 GiB or more is sensible for 6x6 and beyond"
    )]
    TooLittleMemory {
        /// The bytes asked for.
        bytes: u64,
    },
    /// More than this machine's addresses can name.
    #[error("{bytes} bytes are more than this system can address; ask for less memory")]
    TooMuchMemory {
        /// The bytes asked for.
        bytes: u64,
    },
    /// The table cannot be made.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The checkpoint cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Finds the winner of a position.
///
/// Time and memory grow by orders of magnitude with the board; give limits where that matters. A
/// limit that is reached leaves the winner open, never guessed. A position without a legal move is
/// answered without a search.
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
pub struct Solver<'a, K = ()> {
    pub(crate) board: &'a Board,
    pub(crate) position: Position,
    pub(crate) options: SolveOptions,
    pub(crate) limits: Limits<'a>,
    pub(crate) known: &'a K,
    pub(super) keeper: Option<&'a Keeper>,
}

impl<'a> Solver<'a> {
    /// For a position of a board, with the default options and no limits.
    pub fn new(board: &'a Board, position: &Position) -> Self {
        Solver {
            board,
            position: *position,
            options: SolveOptions::default(),
            limits: Limits::default(),
            known: &(),
            keeper: None,
        }
    }
}

impl<'a, K: Known> Solver<'a, K> {
    /// How to search.
    pub fn options(self, options: SolveOptions) -> Self {
        Solver { options, ..self }
    }

    /// When to give up.
    pub fn limits(self, limits: Limits<'a>) -> Self {
        Solver { limits, ..self }
    }

    /// Values of some positions that are known before, such as those of a database
    /// ([`crate::endgame::DatabaseValues`]). The search takes them for solved wherever it meets
    /// their positions; if the root is one of them, one expansion is enough.
    ///
    /// They are asked for by canonical code ([`Position::code`]). If one of them cannot be read, the
    /// search ends for [`Reason::KnownValues`], and `known` can say more.
    pub fn known<L: Known>(self, known: &'a L) -> Solver<'a, L> {
        let Solver { board, position, options, limits, keeper, .. } = self;
        Solver { board, position, options, limits, known, keeper }
    }

    /// Goes on from the keeper's checkpoint, if it has one, and writes checkpoints through it. It
    /// has to be one of this search: of [`Solver::identity`].
    ///
    /// For a position without a legal move nothing is read or written.
    pub fn keeper(self, keeper: Option<&'a Keeper>) -> Self {
        Solver { keeper, ..self }
    }

    /// Searches.
    ///
    /// # Errors
    /// If the memory is less than [`LEAST_MEMORY`], if the system does not give it, or if the
    /// checkpoint cannot be read.
    pub fn run(&self) -> Result<Solution, SolveError> {
        self.run_observed(&mut ())
    }

    /// [`Solver::run`], which tells its progress, and at the end how it has ended. The observer can
    /// ask for the numbers of every move ([`Position::root_moves`]).
    ///
    /// # Errors
    /// As [`Solver::run`].
    pub fn run_observed(&self, observer: &mut dyn Observer) -> Result<Solution, SolveError> {
        Ok(self.search(observer)?.0)
    }

    /// [`Solver::run_observed`] that hands over the table as the search has left it; there is none
    /// if the game was over.
    pub(crate) fn search(
        &self,
        observer: &mut dyn Observer,
    ) -> Result<(Solution, Option<Table>), SolveError> {
        self.search_by(observer, |ground, observer, port| self.by_algorithm(ground, observer, port))
    }

    /// [`Solver::run_observed`] in a table of the caller's, in which earlier searches of positions of
    /// this board with this profile may have left what they found.
    pub(crate) fn search_in(
        &self,
        table: &Table,
        observer: &mut dyn Observer,
    ) -> Result<Solution, SolveError> {
        let (_, tree_bytes) = self.memory()?;
        if self.position.count_moves(self.board) == 0 {
            return Ok(game_over(&self.position));
        }
        self.search_on(table, tree_bytes, observer, |ground, observer, port| {
            self.by_algorithm(ground, observer, port)
        })
    }

    /// The search that the options ask for.
    fn by_algorithm<G: Game>(
        &self,
        Ground { game, table, tree_bytes }: Ground<'_, G>,
        observer: &mut dyn Observer,
        port: &TreePort,
    ) -> Report {
        let &Solver { ref options, limits, position, board, .. } = self;
        let (root, profile) = (position.code(board), options.profile);
        match options.algorithm {
            Algorithm::Pns => {
                let parameters = profile.pns();
                pns_saving(game, root, table, tree_bytes, parameters, limits, observer, port)
            }
            Algorithm::Pn2 => {
                let parameters = profile.pn2();
                let threads = options.threads;
                pn2_parallel(
                    game, root, table, tree_bytes, parameters, threads, limits, observer, port,
                )
            }
            Algorithm::Dfpn => {
                let parameters = profile.dfpn();
                dfpn_parallel(game, root, table, parameters, options.threads, limits, observer)
            }
            Algorithm::AlphaBeta => {
                alphabeta(game, root, table, profile.alphabeta(), limits, observer)
            }
            Algorithm::PnsPdfpn => {
                let parameters = options.two_level();
                two_level_saving(game, root, table, tree_bytes, parameters, limits, observer, port)
            }
        }
    }

    /// Prepares everything for a search, and turns its report into a solution.
    pub(super) fn search_by(
        &self,
        observer: &mut dyn Observer,
        search: impl FnOnce(
            Ground<'_, Informed<'_, Konane<'_>, K>>,
            &mut dyn Observer,
            &TreePort,
        ) -> Report,
    ) -> Result<(Solution, Option<Table>), SolveError> {
        let (table_bytes, tree_bytes) = self.memory()?;
        if self.position.count_moves(self.board) == 0 {
            let solution = game_over(&self.position);
            observer.progress(&Progress::from(&solution.report));
            return Ok((solution, None));
        }
        let table = new_table(self.board, table_bytes, self.options.algorithm)?;
        let solution = self.search_on(&table, tree_bytes, observer, search)?;
        Ok((solution, Some(table)))
    }

    /// A table for [`Solver::search_in`].
    pub(crate) fn new_table(&self) -> Result<Table, SolveError> {
        Ok(new_table(self.board, self.memory()?.0, self.options.algorithm)?)
    }

    /// Bytes of the table and of the tree.
    fn memory(&self) -> Result<(usize, usize), SolveError> {
        let bytes = self.options.memory_bytes;
        if bytes < LEAST_MEMORY {
            return Err(SolveError::TooLittleMemory { bytes });
        }
        let plan = self.options.memory_plan();
        let addressable = |part: u64| {
            let part = usize::try_from(part).ok();
            let part = part.filter(|&part| part <= isize::MAX as usize);
            part.ok_or(SolveError::TooMuchMemory { bytes })
        };
        Ok((addressable(plan.table)?, addressable(plan.tree)?))
    }

    fn search_on(
        &self,
        table: &Table,
        tree_bytes: usize,
        observer: &mut dyn Observer,
        search: impl FnOnce(
            Ground<'_, Informed<'_, Konane<'_>, K>>,
            &mut dyn Observer,
            &TreePort,
        ) -> Report,
    ) -> Result<Solution, SolveError> {
        let &Solver { board, ref position, ref options, limits, known, keeper } = self;
        let game = Konane::new(board, options.profile.estimate());
        let game = &Informed::new(&game, known);
        let ground = Ground { game, table, tree_bytes };
        let mut observer = Watched::new(
            observer,
            Root {
                game,
                code: position.code(board),
                table,
                open_entries: options.algorithm != Algorithm::AlphaBeta,
                settle: options.profile.pns().settle,
            },
        );
        let search = |observer: &mut dyn Observer, port: &TreePort| {
            let report = search(ground, observer, port);
            observer.progress(&Progress::from(&report));
            report
        };
        let report = match keeper {
            None => search(&mut observer, &TreePort::idle()),
            Some(keeper) => {
                let room = options.tree_room(tree_bytes);
                let tree = keeper.restore(table, |code| game.key(code), room, limits.stop)?;
                keeper.run(table, tree, &mut observer, room.is_some(), search)
            }
        };

        let best = report.best.and_then(|code| position.move_to(board, code));
        let to_move = position.to_move();
        let (winner, best_move) = match report.outcome {
            Outcome::Known(Value::Win) => {
                debug_assert!(best.is_some(), "a won root has a lost child");
                (Some(to_move), best)
            }
            Outcome::Known(Value::Loss) => (Some(!to_move), None),
            Outcome::Unknown(_) => (None, best),
        };
        let table = TableUse {
            capacity: table.capacity(),
            used: report.counters.table_used,
            replaced: report.counters.table_replaced,
        };
        Ok(Solution { winner, best_move, report, table })
    }
}

/// A table for a search of this board. Proof numbers may be rounded to make room for more of them; α-β
/// keeps scores and depths.
pub(crate) fn new_table(
    board: &Board,
    bytes: usize,
    algorithm: Algorithm,
) -> Result<Table, TableError> {
    match algorithm {
        Algorithm::AlphaBeta => Table::new(bytes),
        _ => Table::with_codes(bytes, Zobrist::new(board).codes()),
    }
}

/// What a search stands on.
pub(super) struct Ground<'s, G> {
    pub game: &'s G,
    pub table: &'s Table,
    pub tree_bytes: usize,
}

/// The side to move has no move and has lost.
fn game_over(position: &Position) -> Solution {
    Solution {
        winner: Some(!position.to_move()),
        best_move: None,
        report: Report {
            outcome: Outcome::Known(Value::Loss),
            phi: INFINITY,
            delta: 0,
            best: None,
            counters: Counters { nodes: 1, ..Counters::default() },
            memory_bytes: 0,
        },
        table: TableUse::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::Dimensions;
    use crate::konane::notation::{parse_moves, parse_position};

    fn options(algorithm: Algorithm) -> SolveOptions {
        SolveOptions { algorithm, memory_bytes: 16 << 20, ..SolveOptions::default() }
    }

    fn run(board: &Board, position: &Position, options: &SolveOptions) -> Solution {
        Solver::new(board, position).options(*options).run().unwrap()
    }

    #[test]
    fn names_of_algorithms_are_read_back() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        }
        for text in ["", "DFPN", "df-pn", "alphabeta", "pn²"] {
            assert_eq!(text.parse::<Algorithm>(), Err(AlgorithmError(text.to_string())));
        }
    }

    #[test]
    fn too_little_memory_is_an_error_and_so_is_too_much() {
        let board = Board::new(Dimensions::new(4, 4).unwrap());
        let start = Position::start(&board);
        for algorithm in Algorithm::ALL {
            let mut options = options(algorithm);
            for bytes in [0, 1, LEAST_MEMORY - 1] {
                options.memory_bytes = bytes;
                let result = Solver::new(&board, &start).options(options).run();
                assert!(matches!(result, Err(SolveError::TooLittleMemory { .. })));
            }
            options.memory_bytes = u64::MAX;
            let result = Solver::new(&board, &start).options(options).run();
            assert!(matches!(result, Err(SolveError::TooMuchMemory { .. })));
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

    /// Whether the side to move wins, by plain recursion.
    fn wins(board: &Board, position: &Position) -> bool {
        let mut moves = position.moves(board).into_iter();
        moves.any(|mv| !wins(board, &position.play(board, mv)))
    }

    /// Every position of some small boards and game lines, both colours to move: the winner is the
    /// recursion's, and the best move wins.
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
        assert_eq!((solution.winner, solution.reason()), (None, Some(Reason::NodeLimit)));
        let best = solution.best_move.expect("the root was expanded");
        assert!(start.is_legal(&board, best));
    }
}
