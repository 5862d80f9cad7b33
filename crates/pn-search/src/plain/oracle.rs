//! Oracles: values that are known without search, such as those of an endgame database.

use std::fmt;

use super::game::{Child, Expansion, Game, LeafSolution};

pub use super::game::OracleAnswer;

/// Values of some positions.
///
/// A search queries the oracle for every new position whose value its table does not contain, so
/// `Unknown` has to be a fast answer. Answers are trusted without verification: proofs rest on
/// them.
pub trait Oracle: Sync {
    /// Returns the value of the position with this code.
    fn value(&self, code: u64) -> OracleAnswer;
}

impl fmt::Debug for dyn Oracle + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Oracle")
    }
}

/// A game with an optional oracle. Every search accepts it like any other game.
///
/// The oracle is not a type parameter, so that a search is compiled once for all oracles.
#[derive(Debug)]
pub struct WithOracle<'a, G> {
    game: &'a G,
    oracle: Option<&'a dyn Oracle>,
}

impl<'a, G: Game> WithOracle<'a, G> {
    /// Combines a game with an oracle, whose values have to be right.
    pub fn new(game: &'a G, oracle: Option<&'a dyn Oracle>) -> Self {
        WithOracle { game, oracle }
    }
}

impl<G: Game> Game for WithOracle<'_, G> {
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
    fn estimate(&self, scratch: &Self::Scratch, index: usize, child: &mut Child) {
        self.game.estimate(scratch, index, child);
    }

    #[inline(always)]
    fn key(&self, code: u64) -> u64 {
        self.game.key(code)
    }

    /// Returns the oracle's answer. If the oracle does not have the value or does not apply to the
    /// position, returns the game's answer.
    #[inline(always)]
    fn oracle_value(&self, code: u64) -> OracleAnswer {
        if let Some(oracle) = self.oracle
            && self.game.uses_oracle(code)
        {
            let answer = oracle.value(code);
            if answer != OracleAnswer::Unknown {
                return answer;
            }
        }
        self.game.oracle_value(code)
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
