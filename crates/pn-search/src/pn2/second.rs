//! The second level: a bounded proof-number search whose tree is discarded afterwards.

#![forbid(unsafe_code)]

use crate::arena::Arena;
use crate::plain::evaluate::Evaluator;
use crate::plain::game::{Child, Game};
use crate::pns::tree::ProofTree;
use crate::pns::{self, PnsOptions};
use crate::run::ListChildren;

/// Second-level tree of a worker, reset for every search.
pub(super) struct SecondLevel {
    pub tree: ProofTree,
    /// Maximum number of bytes of the tree in all searches.
    pub bytes: usize,
}

impl SecondLevel {
    pub fn new(arena: Arena, options: PnsOptions) -> Self {
        SecondLevel { tree: ProofTree::new(arena, options, 0), bytes: 0 }
    }

    /// Searches a position until it is solved, the budget is spent, a limit is reached, `before_expansion`
    /// returns true, or the memory is full. Makes at least one expansion unless a limit, `before_expansion`,
    /// full memory or a solution in the table prevents it. `root_children` lists the children of the first level's root
    /// for the observer.
    pub fn search<G: Game>(
        &mut self,
        root_children: &ListChildren<'_>,
        evaluator: &mut Evaluator<G>,
        code: u64,
        budget: u64,
        mut before_expansion: impl FnMut(&mut Evaluator<G>) -> bool,
    ) {
        let tree = &mut self.tree;
        tree.reset(code);
        let limit = evaluator.monitor.counters.nodes.saturating_add(budget.max(1));
        while evaluator.monitor.counters.nodes < limit
            && tree.created <= budget.max(1)
            && let Some(code) = tree.select(evaluator)
        {
            if tree.take_from_table(evaluator, code) {
                continue;
            }
            if before_expansion(evaluator)
                || evaluator.monitor.tick_at(root_children)
                || pns::expand(tree, evaluator, code).is_err()
            {
                break;
            }
        }
        tree.unwind();
        self.bytes = self.bytes.max(tree.arena.used_bytes());
    }

    /// Returns the open children of the last search's root.
    pub fn children(&self) -> Vec<Child> {
        self.tree.arena.nodes(self.tree.root_array).collect()
    }
}
