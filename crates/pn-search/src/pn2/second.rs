//! The second level: a bounded proof-number search whose tree is discarded afterwards.

#![forbid(unsafe_code)]

use crate::arena::{ArenaMemory, ArrayId};
use crate::plain::evaluate::Evaluator;
use crate::plain::game::{Child, Game};
use crate::pns::tree::ProofTree;
use crate::pns::{self, PnsOptions};

/// Second-level tree of a worker, reset for every search.
pub(super) struct SecondLevel {
    pub tree: ProofTree,
    /// Index of the first 16-byte unit of the memory that no search has used.
    pub top: u32,
}

impl SecondLevel {
    pub fn new(options: PnsOptions) -> Self {
        SecondLevel { tree: ProofTree::new(options, 0), top: 0 }
    }

    /// Searches a position until it is solved, the budget is spent, a limit is reached, `before_expansion`
    /// returns true, or the memory is full. Makes at least one expansion unless a limit, `before_expansion`,
    /// full memory or a solution in the table prevents it.
    ///
    /// The tree uses the memory from unit `bottom` on. `root_array` is the child array of the first
    /// level's root, which the observer can list; 0 if it is not in this memory.
    #[expect(clippy::too_many_arguments, reason = "the memory, the position and the limits")]
    pub fn search<G: Game>(
        &mut self,
        memory: &mut ArenaMemory,
        bottom: u32,
        root_array: ArrayId,
        evaluator: &mut Evaluator<G>,
        code: u64,
        budget: u64,
        mut before_expansion: impl FnMut(&mut Evaluator<G>) -> bool,
    ) {
        let tree = &mut self.tree;
        tree.reset(bottom, memory.units(), code);
        let limit = evaluator.monitor.counters.nodes.saturating_add(budget.max(1));
        while evaluator.monitor.counters.nodes < limit
            && tree.created <= budget.max(1)
            && let Some(code) = tree.select(memory, evaluator)
        {
            if tree.take_from_table(memory, evaluator, code) {
                continue;
            }
            if before_expansion(evaluator)
                || evaluator.monitor.tick_at(&|| memory.root_children(root_array))
                || pns::expand(tree, memory, evaluator, code).is_err()
            {
                break;
            }
        }
        tree.unwind(memory);
        self.top = self.top.max(tree.allocator.top());
    }

    /// Copies the open children of the last search's root, because their memory may be reused.
    pub fn copy_children(&self, memory: &ArenaMemory, children: &mut Vec<Child>) {
        children.clear();
        children.extend(self.tree.root_children(memory).map(|node| Child {
            code: node.code,
            phi: node.phi,
            delta: node.delta,
            effort: 0,
        }));
    }
}
