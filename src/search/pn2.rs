//! PN² (Allis 1994; Breuker, Uiterwijk and van den Herik 1999; thesis, 2.3 and 3.7).

use super::arena::{Memory, Region, UNIT};
use super::control::{Control, Limits, Observer, Reason, Report};
use super::evaluate::{Evaluator, Settling};
use super::game::{Child, Game};
use super::pns::{self, PnsOptions};
use super::proof_tree::ProofTree;
use super::table::Table;

/// The parameters of PN².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pn2Options {
    /// Both levels' proof-number search.
    pub pns: PnsOptions,
    /// First-level nodes at which the budget is half of them (the thesis' a).
    pub budget_inflection: f64,
    /// Width of the transition (the thesis' b).
    pub budget_slope: f64,
    /// The least budget of a second-level search.
    pub budget_minimum: u64,
}

impl Pn2Options {
    /// The nodes that a second-level search may make while the first level's tree has `nodes`.
    pub fn budget(&self, nodes: u64) -> u64 {
        let n = nodes as f64;
        let share = 1.0 / (1.0 + ((self.budget_inflection - n) / self.budget_slope).exp());
        ((n * share) as u64).max(self.budget_minimum)
    }
}

/// Searches a position by PN² on one thread. Both trees together take at most `tree_bytes`.
pub fn pn2<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
    tree_bytes: usize,
    options: Pn2Options,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let control = Control::new(limits, observer);
    let settling = Settling {
        budget: options.pns.settle_budget,
        effort: options.pns.settle_effort,
    };
    let mut evaluator = Evaluator::new(game, table, control, settling);
    evaluator.open_entries = options.pns.store_open;
    evaluator.control.counters.nodes = 1;
    evaluator.control.counters.first_level = 1;
    let mut memory = Memory::new(tree_bytes);
    let units = memory.as_ref().map_or(0, Memory::units);
    let mut first = ProofTree::new(Region::new(1, units / 4 * 3), options.pns, root);
    let mut top = 0;
    let mut reason = Some(Reason::Memory);
    if let Some(memory) = &mut memory {
        reason = search(&mut first, memory, &mut evaluator, &options, &mut top);
        first.unwind(memory);
    }
    pns::report(&first, reason, evaluator, top as usize * UNIT)
}

fn search<G: Game>(
    first: &mut ProofTree,
    memory: &mut Memory,
    evaluator: &mut Evaluator<G>,
    options: &Pn2Options,
    top: &mut u32,
) -> Option<Reason> {
    let mut second = ProofTree::new(Region::new(1, 1), options.pns, 0);
    let mut children: Vec<Child> = Vec::new();
    while let Some(code) = first.select(memory, evaluator) {
        evaluator.control.root = (first.phi, first.delta, first.best);
        let at_root = first.is_at_root();
        if !at_root && let Some(value) = evaluator.value(code) {
            first.resolve(memory, evaluator, value, 1);
            continue;
        }
        second.reset(first.region.top(), memory.units(), code);
        let budget = options.budget(1 + first.region.nodes());
        let nodes_before = evaluator.control.counters.nodes;
        let expansions_before = evaluator.control.counters.expansions;
        let limit = nodes_before.saturating_add(budget);
        let mut full = false;
        while evaluator.control.counters.nodes < limit
            && let Some(code) = second.select(memory, evaluator)
        {
            if evaluator.control.tick() {
                break;
            }
            if pns::expand(&mut second, memory, evaluator, code).is_err() {
                full = true;
                break;
            }
        }
        let counters = &mut evaluator.control.counters;
        counters.second_level += counters.nodes - nodes_before;
        let work = counters.expansions - expansions_before;
        second.unwind(memory);
        *top = (*top).max(second.region.top());
        if let Some(value) = second.value {
            if at_root {
                first.best = second.best;
            }
            first.resolve(memory, evaluator, value, work);
            continue;
        }
        if evaluator.control.stopped.is_some() {
            return evaluator.control.stopped;
        }
        children.clear();
        children.extend(second.root_children(memory).map(|node| Child {
            code: node.code,
            phi: node.phi,
            delta: node.delta,
            effort: 0,
        }));
        if full && children.is_empty() {
            return Some(Reason::Memory);
        }
        evaluator.control.counters.first_level += children.len() as u64;
        evaluator.control.counters.nodes += children.len() as u64;
        let expansions = evaluator.control.counters.expansions;
        if first.attach(memory, &children, work, expansions).is_err() {
            return Some(Reason::Memory);
        }
    }
    None
}
