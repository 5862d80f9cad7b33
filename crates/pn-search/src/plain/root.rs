//! The root of a search, and what is known of its children while the search runs.

use super::game::{Child, Expansion, Game};
use super::oracle::OracleAnswer;
use crate::numbers::Pair;
use crate::run::RootChild;
use crate::table::{Entry, Table};
use crate::{LeafSolverOptions, Value};

/// The root of a search: a position of a game, and the table with what is known of it and below it.
#[derive(Debug)]
pub struct Root<'a, G> {
    /// The game.
    pub game: &'a G,
    /// The position's code.
    pub code: u64,
    /// What earlier searches of the game have found out, and where this one keeps what it does.
    pub table: &'a Table,
}

impl<'a, G> Root<'a, G> {
    /// A position of a game, by its code, and a table.
    pub fn new(game: &'a G, code: u64, table: &'a Table) -> Self {
        Root { game, code, table }
    }
}

impl<G> Clone for Root<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> Copy for Root<'_, G> {}

/// A look at the children of a search's root, from outside of the search.
#[derive(Clone, Copy, Debug)]
pub struct RootView<'a, G> {
    /// The root.
    pub root: Root<'a, G>,
    /// Whether the numbers of open positions in the table are proof and disproof numbers.
    pub open_entries: bool,
    /// The bounded exact search that expansions try.
    pub settle: LeafSolverOptions,
}

impl<G: Game> RootView<'_, G> {
    /// All children with their numbers, or the only one that is needed if the root is won on the
    /// spot. What neither the table, nor known values, nor the bounded exact search know has the
    /// numbers of `other`, or else its leaf estimate; where open entries are something else, it is
    /// left out.
    ///
    /// Costs an expansion of the root. Any thread may ask while others search. If the table grows
    /// just then, the answer comes after that.
    pub fn children(&self, other: &[RootChild]) -> Vec<RootChild> {
        let mut scratch = G::Scratch::default();
        let mut children: Vec<Child> = Vec::new();
        let Root { game, code, .. } = self.root;
        match game.expand(code, &mut scratch, &mut children, |_| {}) {
            Expansion::Lost => Vec::new(),
            Expansion::Won(code) => vec![with(code, Pair::of(Value::Loss))],
            Expansion::Open => {
                let entries = self.entries(&children);
                let known = children.iter().zip(entries).filter_map(|(child, entry)| {
                    let pair = self.pair(child, entry, other, &mut scratch)?;
                    Some(with(child.code, pair))
                });
                known.collect()
            }
        }
    }

    /// What the table has of some positions. Who asks need not stand at the barrier when it grows, and
    /// could take a narrow entry that has moved for one of another position.
    fn entries(&self, children: &[Child]) -> Vec<Option<Entry>> {
        let Root { game, table, .. } = self.root;
        let entry = |child: &Child| table.lookup(game.key(child.code), child.code);
        table.while_nothing_moves(|| children.iter().map(entry).collect())
    }

    fn pair(
        &self,
        child: &Child,
        entry: Option<Entry>,
        other: &[RootChild],
        scratch: &mut G::Scratch,
    ) -> Option<Pair> {
        let &Child { code, phi, delta, .. } = child;
        let game = self.root.game;
        if let Some(value) = entry.and_then(|entry| entry.value()) {
            return Some(Pair::of(value));
        }
        let other = other.iter().find(|other| other.code == code);
        let open = match (other, entry) {
            (Some(&RootChild { phi, delta, .. }), _) => Some(Pair { phi, delta }),
            (None, Some(entry)) if self.open_entries => {
                Some(Pair { phi: entry.phi, delta: entry.delta })
            }
            _ => None,
        };
        if open.is_some() {
            return open;
        }
        if let OracleAnswer::Known(value) = game.known(code) {
            return Some(Pair::of(value));
        }
        if self.settle.admits(child)
            && let Some(value) = game.settle(code, self.settle.budget, scratch).value
        {
            return Some(Pair::of(value));
        }
        self.open_entries.then_some(Pair { phi, delta })
    }
}

fn with(code: u64, Pair { phi, delta }: Pair) -> RootChild {
    RootChild { code, phi, delta }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::testing::graph::GraphGame;

    /// What is proven comes before the tree, the tree before the table, and estimates come last.
    #[test]
    fn the_best_source_is_taken() {
        let game = GraphGame::nim(&[2, 2]);
        let estimates = vec![(70, 80); game.nodes() as usize];
        let game = game.with_estimates(estimates).unwrap();
        let table = Table::new(1 << 14).unwrap();
        let mut children = Vec::new();
        assert_eq!(game.expand(0, &mut Default::default(), &mut children, |_| {}), Expansion::Open);
        let codes: Vec<u64> = children.iter().map(|child| child.code).collect();
        let [a, b, c, d] = codes[..] else { panic!("two heaps of 2 have four options: {codes:?}") };
        let open = Entry { phi: 5, delta: 6, work: 1 };
        for (code, entry) in [(a, Entry::solved(Value::Win, 1)), (b, open), (c, open)] {
            table.store(game.key(code), code, entry);
        }
        let tree = [a, b].map(|code| RootChild { code, phi: 1, delta: 2 });
        let mut view = RootView {
            root: Root::new(&game, 0, &table),
            open_entries: true,
            settle: LeafSolverOptions::NEVER,
        };
        let pair = |phi, delta| Pair { phi, delta };
        let all = [(a, Pair::WIN), (b, pair(1, 2)), (c, pair(5, 6)), (d, pair(70, 80))];
        assert_eq!(view.children(&tree), all.map(|(code, pair)| with(code, pair)));
        view.open_entries = false;
        assert_eq!(view.children(&[]), [with(a, Pair::WIN)]);
    }

    /// A look-up beside a growth could find an entry of another position.
    #[test]
    fn nothing_is_looked_up_while_the_table_grows() {
        let game = GraphGame::nim(&[2, 2]);
        let table = Table::new(1 << 20).unwrap();
        table.store(game.key(1), 1, Entry { phi: 5, delta: 6, work: 1 });
        let view = RootView {
            root: Root::new(&game, 0, &table),
            open_entries: true,
            settle: LeafSolverOptions::NEVER,
        };
        let (begun, has_begun) = channel();
        let (answered, answer) = channel();
        let answer = Mutex::new(answer);
        thread::scope(|scope| {
            scope.spawn(move || {
                has_begun.recv().unwrap();
                answered.send(view.children(&[]).len()).unwrap();
            });
            // Asked for the key of the one entry.
            table.grow(1, |code| {
                begun.send(()).unwrap();
                let answer = answer.lock().unwrap();
                assert!(answer.recv_timeout(Duration::from_millis(50)).is_err());
                game.key(code)
            });
            assert_eq!(answer.lock().unwrap().recv(), Ok(4));
        });
    }
}
