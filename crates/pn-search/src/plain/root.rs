//! The root of a search, and the numbers of its children while the search runs.

use super::game::{Child, Expansion, Game};
use super::oracle::OracleAnswer;
use crate::numbers::Pair;
use crate::run::RootChild;
use crate::table::{Entry, Table};
use crate::{LeafSolverOptions, Value};

/// The root of a search: a position of a game, and a table.
#[derive(Debug)]
pub struct Root<'a, G> {
    /// The game.
    pub game: &'a G,
    /// Code of the position.
    pub code: u64,
    /// Table with the results of earlier searches of the game, which also stores those of this
    /// search.
    pub table: &'a Table,
}

impl<'a, G> Root<'a, G> {
    /// Creates a root from a position's code.
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

/// View of the root's children from outside the search.
#[derive(Clone, Copy, Debug)]
pub struct RootView<'a, G> {
    /// The root.
    pub root: Root<'a, G>,
    /// True if the numbers that the table stores for open positions are proof and disproof numbers.
    pub open_entries: bool,
    /// Options of the leaf solver in expansions.
    pub leaf_solver: LeafSolverOptions,
}

impl<G: Game> RootView<'_, G> {
    /// Lists the children with their numbers: all of them, or only a lost one if a move wins at
    /// once. `other` lists children with their numbers in the tree of the search, if it has a tree.
    /// A child's numbers are from the first of these sources that has them:
    ///
    /// 1. the table, if it contains the value of the child;
    /// 2. `other`;
    /// 3. the table, if [`RootView::open_entries`] is true;
    /// 4. the oracle, and then the leaf solver, if it solves the child;
    /// 5. the leaf estimate, if [`RootView::open_entries`] is true.
    ///
    /// A child without any source is omitted.
    ///
    /// Costs an expansion of the root. May be called by any thread while others search. If the
    /// table is growing, the call waits until the growth has ended.
    pub fn children(&self, other: &[RootChild]) -> Vec<RootChild> {
        let mut scratch = G::Scratch::default();
        let mut children: Vec<Child> = Vec::new();
        let Root { game, code, .. } = self.root;
        match game.expand(code, &mut scratch, &mut children, |_| {}) {
            Expansion::Lost => Vec::new(),
            Expansion::Won(code) => vec![with(code, Pair::of(Value::Loss))],
            Expansion::Open => {
                for (index, child) in children.iter_mut().enumerate() {
                    game.estimate(&scratch, index, child);
                }
                let entries = self.entries(&children);
                let known = children.iter().zip(entries).filter_map(|(child, entry)| {
                    let pair = self.pair(child, entry, other, &mut scratch)?;
                    Some(with(child.code, pair))
                });
                known.collect()
            }
        }
    }

    /// Looks up the entries of some positions. The calling thread does not take part in the resize
    /// barrier, so this function locks the table against growth. Otherwise a compact entry that
    /// moves during the look-up could be mistaken for the entry of another position.
    fn entries(&self, children: &[Child]) -> Vec<Option<Entry>> {
        let Root { game, table, .. } = self.root;
        let entry = |child: &Child| table.lookup(game.key(child.code), child.code);
        table.with_growth_locked(|| children.iter().map(entry).collect())
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
            (None, Some(entry)) if self.open_entries => Some(entry.pair()),
            _ => None,
        };
        if open.is_some() {
            return open;
        }
        if let OracleAnswer::Known(value) = game.oracle_value(code) {
            return Some(Pair::of(value));
        }
        if self.leaf_solver.admits(child)
            && let Some(value) = game.solve_leaf(code, self.leaf_solver.budget, scratch).value
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

    /// Values in the table take precedence over numbers in the tree, these over open entries of the
    /// table, and leaf estimates come last.
    #[test]
    fn the_source_of_highest_precedence_is_used() {
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
            leaf_solver: LeafSolverOptions::NEVER,
        };
        let pair = |phi, delta| Pair { phi, delta };
        let all = [(a, Pair::WIN), (b, pair(1, 2)), (c, pair(5, 6)), (d, pair(70, 80))];
        assert_eq!(view.children(&tree), all.map(|(code, pair)| with(code, pair)));
        view.open_entries = false;
        assert_eq!(view.children(&[]), [with(a, Pair::WIN)]);
    }

    /// A look-up during a growth could find an entry of another position.
    #[test]
    fn nothing_is_looked_up_while_the_table_grows() {
        let game = GraphGame::nim(&[2, 2]);
        let table = Table::new(1 << 20).unwrap();
        table.store(game.key(1), 1, Entry { phi: 5, delta: 6, work: 1 });
        let view = RootView {
            root: Root::new(&game, 0, &table),
            open_entries: true,
            leaf_solver: LeafSolverOptions::NEVER,
        };
        let (started, has_started) = channel();
        let (sender, receiver) = channel();
        let receiver = Mutex::new(receiver);
        thread::scope(|scope| {
            scope.spawn(move || {
                has_started.recv().unwrap();
                sender.send(view.children(&[]).len()).unwrap();
            });
            // `grow` calls this closure to get the key of the only entry.
            table.grow(1, |code| {
                started.send(()).unwrap();
                let receiver = receiver.lock().unwrap();
                assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
                game.key(code)
            });
            assert_eq!(receiver.lock().unwrap().recv(), Ok(4));
        });
    }
}
