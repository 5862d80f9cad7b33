//! Depth-first proof-number search (Nagai 2002; thesis, 2.4) with the 1+ε trick (Pawlewicz and Lew
//! 2006).
//!
//! A node is searched until its `phi` or `delta` reaches the threshold given by its parent; its
//! children's numbers live on a stack of the worker while it is, and in the table between visits.
//! Memory is the table and the stack, about 24 bytes times branching factor times depth.

use super::control::{Control, Limits, Observer, Outcome, Report};
use super::evaluate::{Evaluation, Evaluator, SettleOptions};
use super::game::{Game, Value};
use super::numbers::{Combination, INFINITY, Number, best_child_threshold};
use super::table::{Entry, Table};

/// The parameters of df-pn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DfpnOptions {
    /// How delta follows from the children's phi.
    pub combination: Combination,
    /// The 1+ε trick: a child keeps the search until its delta exceeds the second best by this
    /// factor, in 1/1024. 154 is the thesis' 0.15.
    pub epsilon_1024: u32,
    /// Which new children a bounded exact search is tried on.
    pub settle: SettleOptions,
}

/// A node's numbers when its search returns.
#[derive(Clone, Copy)]
struct Numbers {
    phi: Number,
    delta: Number,
    /// Expansions by this search, without those of earlier visits. If there were none, the search
    /// was stopped before it found out anything, and the numbers mean nothing.
    work: u64,
}

struct Worker<'a, G: Game> {
    evaluator: Evaluator<'a, G>,
    options: DfpnOptions,
}

/// Searches a position by df-pn on one thread.
///
/// The table may hold entries of earlier proof-number searches of the same game; what they know is
/// used. So a search that was stopped goes on where it was when it is called again with the same
/// table. Recurses as deep as the longest line that it looks at.
pub fn dfpn<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
    options: DfpnOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let mut evaluator = Evaluator::new(game, table, Control::new(limits, observer), options.settle);
    evaluator.open_entries = true;
    let mut worker = Worker { evaluator, options };
    worker.evaluator.control.counters.nodes = 1;
    let mut numbers = Numbers { phi: 1, delta: 1, work: 0 };
    if worker.evaluator.root_is_lost(root) {
        numbers = worker.solved(root, Value::Loss, 0, 0);
    }
    while numbers.phi != 0 && numbers.delta != 0 && worker.evaluator.control.stopped.is_none() {
        numbers = worker.search(root, INFINITY, INFINITY, true);
    }
    let outcome = if numbers.phi == 0 {
        Outcome::Known(Value::Win)
    } else if numbers.delta == 0 {
        Outcome::Known(Value::Loss)
    } else {
        Outcome::Unknown(worker.evaluator.control.stopped.expect("an open search was stopped"))
    };
    Report {
        outcome,
        phi: numbers.phi,
        delta: numbers.delta,
        best: worker.evaluator.control.root.2,
        counters: worker.evaluator.control.counters,
        memory_bytes: table.bytes() as u64,
    }
}

impl<G: Game> Worker<'_, G> {
    /// Searches a node until it is solved, one of its numbers reaches its threshold, or the search
    /// has to stop. The numbers are in the table then.
    fn search(
        &mut self,
        code: u64,
        phi_threshold: Number,
        delta_threshold: Number,
        is_root: bool,
    ) -> Numbers {
        let evaluator = &mut self.evaluator;
        evaluator.grow_if_full();
        if evaluator.control.tick() {
            return Numbers { phi: 1, delta: 1, work: 0 };
        }
        let known = evaluator.lookup(code);
        let before = known.map_or(0, |entry| entry.work);
        let mut work = 1;
        let base = evaluator.children.len();
        match evaluator.expand(code, known.is_none()) {
            Evaluation::Lost => return self.solved(code, Value::Loss, before, work),
            Evaluation::Won(child) => {
                if is_root {
                    evaluator.control.root.2 = Some(child);
                }
                return self.solved(code, Value::Win, before, work);
            }
            Evaluation::Stopped => return Numbers { phi: 1, delta: 1, work: 0 },
            Evaluation::Open => {}
        }

        let combination = self.options.combination;
        let mut numbers;
        loop {
            // Least and second-least delta; greatest and summed phi.
            let (mut best, mut least, mut second) = (base, INFINITY, INFINITY);
            let (mut max, mut max_other, mut sum) = (0, 0, 0u64);
            let mut max_at = base;
            for (index, child) in self.evaluator.children[base..].iter().enumerate() {
                if child.delta < least {
                    second = least;
                    least = child.delta;
                    best = base + index;
                } else if child.delta < second {
                    second = child.delta;
                }
                if child.phi > max {
                    max_other = max;
                    max = child.phi;
                    max_at = base + index;
                } else if child.phi > max_other {
                    max_other = child.phi;
                }
                sum += u64::from(child.phi);
            }
            numbers = Numbers { phi: least, delta: combination.combine(max, sum), work };
            if numbers.phi == 0 || numbers.delta == 0 {
                break;
            }
            if is_root {
                self.evaluator.control.root =
                    (numbers.phi, numbers.delta, Some(self.evaluator.children[best].code));
            }
            if numbers.phi >= phi_threshold
                || numbers.delta >= delta_threshold
                || self.evaluator.control.stopped.is_some()
            {
                break;
            }
            let child = self.evaluator.children[best];
            let max_other = if max_at == best { max_other } else { max };
            let child_phi =
                combination.child_threshold(delta_threshold, max_other, sum - u64::from(child.phi));
            let child_delta =
                best_child_threshold(phi_threshold, second, self.options.epsilon_1024);
            let result = self.search(child.code, child_phi, child_delta, false);
            if result.work == 0 {
                // Stopped before it found out anything: what is known about the child stays.
                continue;
            }
            work += result.work;
            let slot = &mut self.evaluator.children[best];
            slot.phi = result.phi;
            slot.delta = result.delta;
            if result.delta == 0 {
                if is_root {
                    self.evaluator.control.root.2 = Some(child.code);
                }
                self.evaluator.children.truncate(base);
                return self.solved(code, Value::Win, before, work);
            }
            if result.phi == 0 {
                self.evaluator.children.swap_remove(best);
            }
        }
        self.evaluator.children.truncate(base);
        if numbers.delta == 0 {
            return self.solved(code, Value::Loss, before, work);
        }
        let entry = Entry { phi: numbers.phi, delta: numbers.delta, work: before + work };
        self.evaluator.store(code, entry);
        numbers.work = work;
        numbers
    }

    /// Stores a value for which `before` expansions were made in earlier visits and `work` in this.
    fn solved(&mut self, code: u64, value: Value, before: u64, work: u64) -> Numbers {
        let entry = Entry::solved(value, before + work);
        self.evaluator.store(code, entry);
        Numbers { phi: entry.phi, delta: entry.delta, work }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::graph::GraphGame;

    /// With leaf estimates of 1000, no number of an open position is less, so whatever a stopped
    /// search leaves in the table must not be either.
    #[test]
    fn a_stopped_search_leaves_true_numbers() {
        let game = GraphGame::nim(&[12, 21, 25]);
        let estimates = vec![(1000, 1000); game.nodes() as usize];
        let game = game.with_estimates(estimates).unwrap();
        let options = DfpnOptions {
            combination: Combination::SUM,
            epsilon_1024: 154,
            settle: SettleOptions::NEVER,
        };
        for nodes in [100, 300, 1000, 3000] {
            let table = Table::new(1 << 20).unwrap();
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let report = dfpn(&game, 0, &table, options, limits, &mut ());
            assert_eq!(report.outcome.value(), None);
            assert!(report.phi >= 1000 && report.delta >= 1000, "{nodes}");
            let known = (0..game.nodes()).filter_map(|code| table.lookup(game.key(code), code));
            for entry in known.filter(|entry| entry.value().is_none()) {
                assert!(entry.phi >= 1000 && entry.delta >= 1000, "{nodes}: {entry:?}");
            }
        }
    }
}
