//! What a table knows about the root's children, for whoever watches a search.

use super::game::{Child, Expansion, Game};
use super::known::Answer;
use crate::search::numbers::Pair;
use crate::search::run::RootChild;
use crate::search::table::Table;
use crate::search::{SettleOptions, Value};

/// The root of a search, with all that knows something about its children.
#[derive(Clone, Copy)]
pub struct Root<'s, G> {
    /// The game.
    pub game: &'s G,
    /// The root's code.
    pub code: u64,
    /// The search's table.
    pub table: &'s Table,
    /// Whether the numbers of open positions in the table are proof and disproof numbers.
    pub open_entries: bool,
    /// The bounded exact search that expansions try.
    pub settle: SettleOptions,
}

impl<G: Game> Root<'_, G> {
    /// All children with their numbers, or the only one that is needed if the root is won on the
    /// spot. What neither the table, nor known values, nor the bounded exact search know has the
    /// numbers of `other`, or else its leaf estimate; where open entries are something else, it is
    /// left out.
    ///
    /// Costs an expansion of the root. Any thread may ask while others search; while the table
    /// grows, an entry can be overlooked.
    pub fn children(&self, other: &[RootChild]) -> Vec<RootChild> {
        let mut scratch = G::Scratch::default();
        let mut children: Vec<Child> = Vec::new();
        match self.game.expand(self.code, &mut scratch, &mut children, |_| {}) {
            Expansion::Lost => Vec::new(),
            Expansion::Won(code) => vec![with(code, Pair::of(Value::Loss))],
            Expansion::Open => children
                .iter()
                .filter_map(|child| {
                    let pair = self.pair(child, other, &mut scratch)?;
                    Some(with(child.code, pair))
                })
                .collect(),
        }
    }

    fn pair(&self, child: &Child, other: &[RootChild], scratch: &mut G::Scratch) -> Option<Pair> {
        let &Child { code, phi, delta, .. } = child;
        let entry = self.table.lookup(self.game.key(code), code);
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
        if let Answer::Known(value) = self.game.known(code) {
            return Some(Pair::of(value));
        }
        if self.settle.admits(child)
            && let Some(value) = self.game.settle(code, self.settle.budget, scratch).value
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
    use super::*;
    use crate::oracles::graph::GraphGame;
    use crate::search::table::Entry;

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
        let mut root = Root {
            game: &game,
            code: 0,
            table: &table,
            open_entries: true,
            settle: SettleOptions::NEVER,
        };
        let pair = |phi, delta| Pair { phi, delta };
        let all = [(a, Pair::WIN), (b, pair(1, 2)), (c, pair(5, 6)), (d, pair(70, 80))];
        assert_eq!(root.children(&tree), all.map(|(code, pair)| with(code, pair)));
        root.open_entries = false;
        assert_eq!(root.children(&[]), [with(a, Pair::WIN)]);
    }
}
