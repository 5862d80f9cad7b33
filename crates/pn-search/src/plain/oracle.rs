//! Values that are known before a search begins, such as those of an endgame database.

use super::game::{Child, Expansion, Game, LeafSolution};

pub use super::game::OracleAnswer;

/// Oracle values of some positions.
///
/// A search asks about every new position whose value its table does not have, so "not covered"
/// must be a quick answer. What is answered is believed: a proof rests on it.
///
/// `()` knows nothing and costs nothing.
pub trait Oracle: Sync {
    /// The value of the position with this code.
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

/// A game together with known values of some of its positions. Every search takes it like any
/// other game.
#[derive(Debug)]
pub struct WithOracle<'a, G, K> {
    game: &'a G,
    known: &'a K,
}

impl<'a, G: Game, K: Oracle> WithOracle<'a, G, K> {
    /// Joins a game and values of its positions, which have to be right.
    pub fn new(game: &'a G, known: &'a K) -> Self {
        WithOracle { game, known }
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
        announce: impl FnMut(u64),
    ) -> Expansion {
        self.game.expand(code, scratch, children, announce)
    }

    #[inline(always)]
    fn key(&self, code: u64) -> u64 {
        self.game.key(code)
    }

    /// The collection's answer; where it has none, or the game does not take it, that of the game.
    #[inline(always)]
    fn known(&self, code: u64) -> OracleAnswer {
        if !self.game.takes_known(code) {
            return self.game.known(code);
        }
        match self.known.value(code) {
            OracleAnswer::Unknown => self.game.known(code),
            answer => answer,
        }
    }

    #[inline(always)]
    fn settle(&self, code: u64, budget: u32, scratch: &mut G::Scratch) -> LeafSolution {
        self.game.settle(code, budget, scratch)
    }

    #[inline(always)]
    fn evaluate(&self, code: u64, scratch: &mut G::Scratch) -> i32 {
        self.game.evaluate(code, scratch)
    }
}
