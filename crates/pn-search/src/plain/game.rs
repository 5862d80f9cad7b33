//! Interface of plain games.
//!
//! A position is represented by its exact 64-bit code: two positions share a code only if they are
//! equivalent, and a search stores nothing else of a position. Values are seen from the side to
//! move (the NAND tree): a position is won if some child is lost.
//!
//! * [`Game`]: the interface. Its methods return [`Expansion`], [`LeafSolution`] and
//!   [`OracleAnswer`].
//! * [`Child`]: a successor with its leaf estimate.
//! * [`LeafSolverOptions`]: selection of the children for the leaf solver.

use serde::{Deserialize, Serialize};

use crate::numbers::Number;

use crate::Value;

/// Answer of an oracle about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OracleAnswer {
    /// The value for the side to move.
    Known(Value),
    /// The value is not available.
    Unknown,
    /// The value could not be read. The search stops without an answer
    /// ([`crate::run::Reason::FileError`]); the oracle keeps the error for the caller.
    Failed,
}

/// A successor of a position, with estimates ([`Game::expand`], [`Game::estimate`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// The exact code.
    pub code: u64,
    /// Leaf estimate of the number of leaves to solve until the side to move *in the child* is
    /// shown to win. At least 1.
    pub phi: Number,
    /// Leaf estimate of the number of leaves to solve until the same side is shown to lose. At
    /// least 1.
    pub delta: Number,
    /// The game's estimate of the effort to solve the child exactly, small for nearly finished
    /// games. [`Game::solve_leaf`] is only called for children whose effort is at most
    /// [`LeafSolverOptions::effort`].
    pub effort: u32,
}

impl Child {
    /// Effort of a child for which the leaf solver is never called.
    pub const NEVER_SOLVE: u32 = u32::MAX;
}

/// Result of an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// The side to move has lost ([`Value::Loss`]): it has no move, or the rules say so.
    Lost,
    /// Some move wins at once, because the opponent has no reply. Contains the code of the child;
    /// the list of children was not completed.
    Won(u64),
    /// The children are in the list.
    Open,
}

/// Result of the leaf solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafSolution {
    /// Value, or `None` if the budget did not suffice or was not likely to suffice.
    pub value: Option<Value>,
    /// Number of positions visited.
    pub positions: u32,
}

/// Options of the leaf solver ([`Game::solve_leaf`]): a bounded exact search of children that the
/// table does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafSolverOptions {
    /// Maximum number of positions per call; 0 disables the leaf solver.
    pub budget: u32,
    /// Maximum [`Child::effort`] of a child for which the leaf solver is called.
    pub effort: u32,
}

impl LeafSolverOptions {
    /// Disables the leaf solver.
    pub const NEVER: LeafSolverOptions = LeafSolverOptions { budget: 0, effort: 0 };

    /// Returns true if the leaf solver may be called for this child.
    #[inline(always)]
    pub fn admits(&self, child: &Child) -> bool {
        self.budget > 0 && child.effort <= self.effort.min(Child::NEVER_SOLVE - 1)
    }
}

/// A two-player game without draws and cycles. The player who makes the last move wins, unless
/// [`Game::expand`] implements another rule.
///
/// Implementations are shared between threads. An expansion writes only to the scratch space, which
/// every worker has for itself.
pub trait Game: Sync {
    /// Working memory of one worker.
    type Scratch: Default + Send + Sync;

    /// Appends the children of `code` to `children`, each equivalence class of moves at least once.
    /// On [`Expansion::Lost`] and [`Expansion::Won`] the list is unchanged.
    ///
    /// `prefetch` is called with the children's codes, in the order in which they are appended and
    /// as early as possible; also on [`Expansion::Won`]. The caller prefetches the table entries of the children while the game
    /// computes the rest.
    fn expand(
        &self,
        code: u64,
        scratch: &mut Self::Scratch,
        children: &mut Vec<Child>,
        prefetch: impl FnMut(u64),
    ) -> Expansion;

    /// Sets phi and delta of a child of the last expansion with this scratch space, if the expansion has left them
    /// open: most children are in the table, where their numbers are better. `index` counts the children that the
    /// expansion has appended. Must be called before any other method that uses the scratch space.
    #[inline(always)]
    fn estimate(&self, scratch: &Self::Scratch, index: usize, child: &mut Child) {
        let _ = (scratch, index, child);
    }

    /// A well-mixed key of the code, of which tables use the upper bits. Keys need not be unique.
    fn key(&self, code: u64) -> u64;

    /// Value of a position without search. Games without an oracle return `Unknown`; see
    /// [`super::oracle::WithOracle`].
    #[inline(always)]
    fn oracle_value(&self, code: u64) -> OracleAnswer {
        let _ = code;
        OracleAnswer::Unknown
    }

    /// Returns false if oracle values, such as those of a database, do not apply to the position
    /// with this code. Then [`super::oracle::WithOracle`] does not query the oracle.
    #[inline(always)]
    fn uses_oracle(&self, code: u64) -> bool {
        let _ = code;
        true
    }

    /// Solves a position near the end of the game exactly, visiting at most `budget` positions. May
    /// return early without a value if the budget is not likely to suffice.
    fn solve_leaf(&self, code: u64, budget: u32, scratch: &mut Self::Scratch) -> LeafSolution {
        let _ = (code, budget, scratch);
        LeafSolution { value: None, positions: 0 }
    }

    /// Static evaluation from the view of the side to move, in (-[`EVALUATION_LIMIT`],
    /// [`EVALUATION_LIMIT`]). α-β uses it to order moves and to evaluate positions at its depth
    /// limit.
    fn evaluate(&self, code: u64, scratch: &mut Self::Scratch) -> i32 {
        let _ = (code, scratch);
        0
    }
}

/// Exclusive bound of [`Game::evaluate`].
pub const EVALUATION_LIMIT: i32 = 1 << 14;
