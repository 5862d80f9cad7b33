//! What the search asks of a game.
//!
//! A position is its exact 64-bit code: two positions have one code only if they are equivalent,
//! and the code is all that the search ever holds of a position. Values are seen from the side to
//! move (the NAND tree): a position is won if some child is lost.

use serde::{Deserialize, Serialize};

use crate::numbers::Number;

use crate::Value;

/// What is known about a position without a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OracleAnswer {
    /// The value for the side to move.
    Known(Value),
    /// Nothing.
    Unknown,
    /// The value could not be read. The search stops without an answer
    /// ([`crate::run::Reason::FileError`]); the oracle keeps the error for the caller.
    Failed,
}

/// A successor, with what its parent's expansion found out about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// The exact code.
    pub code: u64,
    /// Leaf estimate of the number of leaves to settle until the side to move *in the child* is
    /// shown to win. At least 1.
    pub phi: Number,
    /// The same until it is shown to lose. At least 1.
    pub delta: Number,
    /// The game's own guess of the effort to search the child exactly, small for nearly finished
    /// games. [`Game::settle`] is only asked about children whose effort is at most the search's
    /// option.
    pub effort: u32,
}

impl Child {
    /// An effort that no option of a search admits.
    pub const NEVER_SETTLE: u32 = u32::MAX;
}

/// What the expansion of a position found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// The side to move has no move (or the game says otherwise that it has lost): [`Value::Loss`].
    Lost,
    /// Some move wins on the spot, because the opponent has no reply. Its code is given; the list
    /// of children was not completed.
    Won(u64),
    /// The children are in the list.
    Open,
}

/// The outcome of a bounded exact search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafSolution {
    /// The value, or `None` if the budget did not suffice or hardly would.
    pub value: Option<Value>,
    /// Positions that were looked at.
    pub positions: u32,
}

/// Which children that the table does not know are handed to [`Game::settle`], the game's bounded
/// exact search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafSolverOptions {
    /// The most positions that one such search may visit; 0 for none.
    pub budget: u32,
    /// The greatest [`Child::effort`] for which it is tried.
    pub effort: u32,
}

impl LeafSolverOptions {
    /// Every child keeps its estimate until the search itself comes to it.
    pub const NEVER: LeafSolverOptions = LeafSolverOptions { budget: 0, effort: 0 };

    /// Whether it is tried on a child.
    #[inline(always)]
    pub fn admits(&self, child: &Child) -> bool {
        self.budget > 0 && child.effort <= self.effort.min(Child::NEVER_SETTLE - 1)
    }
}

/// A two-player game without draws and without cycles, last player to move wins or any other rule
/// that [`Game::expand`] knows.
///
/// Implementations are shared between threads; whatever an expansion needs to write to is in the
/// scratch space, of which every worker has its own.
pub trait Game: Sync {
    /// Working memory of one worker.
    type Scratch: Default + Send + Sync;

    /// Appends the children of `code` to `children`, each equivalence class of moves once or more
    /// often. On [`Expansion::Lost`] and [`Expansion::Won`] the list is as it was.
    ///
    /// `announce` is called with the children's codes, in the order in which they are appended and
    /// as long as possible before the end, so that the caller can fetch from memory what it knows
    /// about them while the game computes the rest.
    fn expand(
        &self,
        code: u64,
        scratch: &mut Self::Scratch,
        children: &mut Vec<Child>,
        announce: impl FnMut(u64),
    ) -> Expansion;

    /// A well-mixed key of the code, of which tables use the upper bits. Need not be exact.
    fn key(&self, code: u64) -> u64;

    /// What is known about a position without a search. Games themselves know nothing; one that is
    /// [`super::oracle::WithOracle`] does.
    #[inline(always)]
    fn known(&self, code: u64) -> OracleAnswer {
        let _ = code;
        OracleAnswer::Unknown
    }

    /// False if values from outside, such as those of a database, are not about the position with
    /// this code: [`super::oracle::WithOracle`] does not ask for them then.
    #[inline(always)]
    fn takes_known(&self, code: u64) -> bool {
        let _ = code;
        true
    }

    /// A plain exact search of at most `budget` positions, for positions near the end. It may give up
    /// before when that is not likely to do.
    fn settle(&self, code: u64, budget: u32, scratch: &mut Self::Scratch) -> LeafSolution {
        let _ = (code, budget, scratch);
        LeafSolution { value: None, positions: 0 }
    }

    /// A static evaluation from the side to move, in (-[`EVALUATION_LIMIT`], [`EVALUATION_LIMIT`]);
    /// α-β orders moves and judges its horizon by it.
    fn evaluate(&self, code: u64, scratch: &mut Self::Scratch) -> i32 {
        let _ = (code, scratch);
        0
    }
}

/// Bound of [`Game::evaluate`].
pub const EVALUATION_LIMIT: i32 = 1 << 14;
