//! Oracles: values that are known without search, such as those of an endgame database.

use super::game::{Child, Expansion, Game, LeafSolution};

pub use super::game::OracleAnswer;

/// Values of some positions.
///
/// A search queries the oracle for every new position whose value its table does not contain, so
/// `Unknown` has to be a fast answer. Answers are trusted without verification: proofs rest on
/// them.
///
/// The implementation for `()` always returns `Unknown` and costs nothing.
pub trait Oracle: Sync {
    /// Returns the value of the position with this code.
    fn value(&self, code: u64) -> OracleAnswer;
}

impl Oracle for () {
    #[inline(always)]
    fn value(&self, _: u64) -> OracleAnswer {
        OracleAnswer::Unknown
    }
}

impl<K: Oracle + ?Sized> Oracle for &K {
    #[inline(always)]
    fn value(&self, code: u64) -> OracleAnswer {
        (**self).value(code)
    }
}

/// A game with an oracle. Every search accepts it like any other game.
#[derive(Debug)]
pub struct WithOracle<'a, G, K> {
    game: &'a G,
    oracle: &'a K,
}

impl<'a, G: Game, K: Oracle> WithOracle<'a, G, K> {
    /// Combines a game with an oracle, whose values have to be right.
    pub fn new(game: &'a G, oracle: &'a K) -> Self {
        WithOracle { game, oracle }
    }
}

impl<G: Game, K: Oracle> Game for WithOracle<'_, G, K> {
    type Scratch = G::Scratch;

    #[inline(always)]
    fn expand(
        &self,
        code: u64,
        scratch: &mut G::Scratch,
        children: &mut Vec<Child>,
        prefetch: impl FnMut(u64),
    ) -> Expansion {
        self.game.expand(code, scratch, children, prefetch)
    }

    #[inline(always)]
    fn key(&self, code: u64) -> u64 {
        self.game.key(code)
    }

    /// Returns the oracle's answer. If the oracle does not have the value or does not apply to the
    /// position, returns the game's answer.
    #[inline(always)]
    fn oracle_value(&self, code: u64) -> OracleAnswer {
        if !self.game.uses_oracle(code) {
            return self.game.oracle_value(code);
        }
        match self.oracle.value(code) {
            OracleAnswer::Unknown => self.game.oracle_value(code),
            answer => answer,
        }
    }

    #[inline(always)]
    fn solve_leaf(&self, code: u64, budget: u32, scratch: &mut G::Scratch) -> LeafSolution {
        self.game.solve_leaf(code, budget, scratch)
    }

    #[inline(always)]
    fn evaluate(&self, code: u64, scratch: &mut G::Scratch) -> i32 {
        self.game.evaluate(code, scratch)
    }
}
