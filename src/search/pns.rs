//! Proof-number search (Allis 1994; thesis, 2.2 and 3.5).

use super::arena::{Memory, Region, UNIT};
use super::control::{Control, Limits, Observer, Outcome, Reason, Report};
use super::evaluate::{Evaluation, Evaluator, Settling};
use super::game::{Game, Value};
use super::numbers::Combination;
use super::proof_tree::{Full, ProofTree};
use super::table::Table;

/// The parameters of PNS, and of both levels of PN².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PnsOptions {
    /// How delta follows from the children's phi.
    pub combination: Combination,
    /// Positions that one bounded exact search may visit; 0 for none.
    pub settle_budget: u32,
    /// The greatest [`super::game::Child::effort`] for which it is tried.
    pub settle_effort: u32,
    /// x
    pub epsilon_1024: u32,
    /// x
    pub store_open: bool,
    /// x
    pub probe_inner: bool,
    /// x
    pub refresh: bool,
}

/// Searches a position by PNS on one thread. The tree takes at most `tree_bytes`.
pub fn pns<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
    tree_bytes: usize,
    options: PnsOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let control = Control::new(limits, observer);
    let settling = Settling {
        budget: options.settle_budget,
        effort: options.settle_effort,
    };
    let mut evaluator = Evaluator::new(game, table, control, settling);
    evaluator.open_entries = options.store_open;
    evaluator.control.counters.nodes = 1;
    let mut memory = Memory::new(tree_bytes);
    let units = memory.as_ref().map_or(0, Memory::units);
    let mut tree = ProofTree::new(Region::new(1, units), options, root);
    let mut reason = Some(Reason::Memory);
    if let Some(memory) = &mut memory {
        reason = search(&mut tree, memory, &mut evaluator);
        tree.unwind(memory);
    }
    let bytes = tree.region.top() as usize * UNIT;
    report(&tree, reason, evaluator, bytes)
}

/// Expands most-proving nodes until the root is solved, or says why it stopped before.
fn search<G: Game>(
    tree: &mut ProofTree,
    memory: &mut Memory,
    evaluator: &mut Evaluator<G>,
) -> Option<Reason> {
    while let Some(code) = tree.select(memory, evaluator) {
        evaluator.control.root = (tree.phi, tree.delta, tree.best);
        if evaluator.control.tick() {
            return evaluator.control.stopped;
        }
        if expand(tree, memory, evaluator, code).is_err() {
            return Some(Reason::Memory);
        }
    }
    None
}

/// Evaluates the selected node by its children, or by the table if it was solved elsewhere since.
pub(super) fn expand<G: Game>(
    tree: &mut ProofTree,
    memory: &mut Memory,
    evaluator: &mut Evaluator<G>,
    code: u64,
) -> Result<(), Full> {
    if !tree.is_at_root()
        && let Some(value) = evaluator.value(code)
    {
        tree.resolve(memory, evaluator, value, 1);
        return Ok(());
    }
    evaluator.children.clear();
    match evaluator.expand(code, true) {
        Evaluation::Lost => tree.resolve(memory, evaluator, Value::Loss, 1),
        Evaluation::Won(child) => {
            if tree.is_at_root() {
                tree.best = Some(child);
            }
            tree.resolve(memory, evaluator, Value::Win, 1);
        }
        Evaluation::Open => {
            let expansions = evaluator.control.counters.expansions;
            return tree.attach(memory, &evaluator.children, 1, expansions);
        }
    }
    Ok(())
}

/// Puts together what a search found.
pub(super) fn report<G: Game>(
    tree: &ProofTree,
    reason: Option<Reason>,
    evaluator: Evaluator<G>,
    tree_bytes: usize,
) -> Report {
    let outcome = match (tree.value, reason) {
        (Some(value), _) => Outcome::Known(value),
        (None, reason) => Outcome::Unknown(reason.unwrap_or(Reason::Memory)),
    };
    Report {
        outcome,
        phi: tree.phi,
        delta: tree.delta,
        best: tree.best,
        counters: evaluator.control.counters,
        memory_bytes: (evaluator.table.bytes() + tree_bytes) as u64,
    }
}
