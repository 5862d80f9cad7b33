//! Depth-first proof-number search (Nagai 2002; thesis, 2.4) with the 1+ε trick (Pawlewicz and Lew
//! 2006), on one thread ([`dfpn`]) or on many ([`dfpn_parallel`]).
//!
//! A node is searched until its `phi` or `delta` reaches the threshold given by its parent; its
//! children's numbers live on a stack of the worker while it is, and in the table between visits.
//! Memory is the table and the stacks, about 24 bytes times branching factor times depth each.

mod parallel;

pub use parallel::dfpn_parallel;

use super::control::{Control, Limits, Observer, Outcome, Reason, Report};
use super::evaluate::{Evaluation, Evaluator, SettleOptions};
use super::game::{Game, Value};
use super::numbers::{Combination, INFINITY, Number, best_child_threshold};
use super::table::{Entry, Table};
use parallel::{Meeting, Path};

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
    /// On several threads: how much greater a child's delta appears for every other worker below
    /// it, in 1/1024 of itself, beside the 1 of Kaneko (2010).
    pub virtual_1024: u32,
}

/// A node's numbers when its search returns.
#[derive(Clone, Copy)]
struct Numbers {
    phi: Number,
    delta: Number,
    /// Expansions by this search, without those of earlier visits.
    work: u64,
}

/// Searches; with others if `TEAM`.
struct Worker<'a, G: Game, const TEAM: bool> {
    evaluator: Evaluator<'a, G>,
    options: DfpnOptions,
    path: Path,
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
    let evaluator = Evaluator::new(game, table, Control::new(limits, observer), options.settle);
    let mut worker = Worker::<G, false>::new(evaluator, options);
    worker.evaluator.control.counters.nodes = 1;
    let numbers = worker.search_root(root);
    let Evaluator { control, .. } = worker.evaluator;
    Report {
        outcome: outcome(numbers, control.stopped),
        phi: numbers.phi,
        delta: numbers.delta,
        best: control.root.2,
        counters: control.counters,
        memory_bytes: table.bytes() as u64,
    }
}

/// What the root's numbers say; if nothing, the search was stopped.
fn outcome(numbers: Numbers, stopped: Option<Reason>) -> Outcome {
    if numbers.phi == 0 {
        Outcome::Known(Value::Win)
    } else if numbers.delta == 0 {
        Outcome::Known(Value::Loss)
    } else {
        Outcome::Unknown(stopped.expect("an open search was stopped"))
    }
}

/// The children of a node at a glance. Indices are those of the stack.
struct Scan {
    /// The child of least delta, and that delta.
    best: usize,
    least: Number,
    /// The least delta of the others.
    second: Number,
    /// The child of greatest phi, that phi, and the greatest of the others.
    max_at: usize,
    max: Number,
    max_other: Number,
    /// All phi.
    sum: u64,
}

impl<'a, G: Game, const TEAM: bool> Worker<'a, G, TEAM> {
    fn new(mut evaluator: Evaluator<'a, G>, options: DfpnOptions) -> Self {
        evaluator.open_entries = true;
        Worker { evaluator, options, path: Path::default() }
    }

    /// Searches the root until it is solved or the search has to stop.
    fn search_root(&mut self, root: u64) -> Numbers {
        let mut numbers = Numbers { phi: 1, delta: 1, work: 0 };
        if self.evaluator.root_is_lost(root) {
            numbers = self.solved(root, Value::Loss, 0, 0);
        }
        while numbers.phi != 0 && numbers.delta != 0 && self.evaluator.control.stopped.is_none() {
            numbers = self.search(root, INFINITY, INFINITY, 0).unwrap_or(numbers);
        }
        numbers
    }

    /// Searches a node until it is solved, one of its numbers reaches its threshold, or the search
    /// has to stop. The numbers are in the table then. Nothing is returned if the search was
    /// stopped before it found out anything.
    fn search(
        &mut self,
        code: u64,
        phi_threshold: Number,
        delta_threshold: Number,
        depth: usize,
    ) -> Option<Numbers> {
        let evaluator = &mut self.evaluator;
        evaluator.grow_if_full();
        if evaluator.control.tick() || TEAM && self.is_called_back() {
            return None;
        }
        let evaluator = &mut self.evaluator;
        let known = evaluator.lookup(code);
        if TEAM
            && depth > 0
            && let Some(Entry { phi, delta, .. }) = known
            && (phi == 0 || delta == 0 || phi >= phi_threshold || delta >= delta_threshold)
        {
            // Somebody else has done it since the parent looked.
            return Some(Numbers { phi, delta, work: 0 });
        }
        let before = known.map_or(0, |entry| entry.work);
        let mut work = 1;
        let base = evaluator.children.len();
        match evaluator.expand(code, known.is_none()) {
            Evaluation::Lost => return Some(self.solved(code, Value::Loss, before, work)),
            Evaluation::Won(child) => {
                if depth == 0 {
                    evaluator.control.root.2 = Some(child);
                }
                return Some(self.solved(code, Value::Win, before, work));
            }
            Evaluation::Stopped => return None,
            Evaluation::Open => {}
        }

        let combination = self.options.combination;
        let end = loop {
            let mut crowded = false;
            if TEAM && self.path.is_below(depth) {
                match self.meet(code, base, depth) {
                    Meeting::Solved(value) => break Ok(value),
                    Meeting::Open { others } => crowded = others,
                }
            }
            let scan = self.scan(base);
            let delta = combination.combine(scan.max, scan.sum);
            let numbers = Numbers { phi: scan.least, delta, work };
            if numbers.phi == 0 {
                if depth == 0 {
                    let winning = self.evaluator.children[scan.best].code;
                    self.evaluator.control.root.2 = Some(winning);
                }
                break Ok(Value::Win);
            }
            if numbers.delta == 0 {
                break Ok(Value::Loss);
            }
            if depth == 0 {
                let best = self.evaluator.children[scan.best].code;
                self.evaluator.control.root = (numbers.phi, numbers.delta, Some(best));
            }
            if numbers.phi >= phi_threshold
                || numbers.delta >= delta_threshold
                || self.evaluator.control.stopped.is_some()
                || TEAM && self.path.ends_above(depth)
            {
                break Err(numbers);
            }
            if TEAM && !self.path.is_below(depth) {
                crowded = self.go_below(code, before, depth);
            }
            let (mut chosen, mut child_delta) = (scan.best, None);
            if TEAM && crowded {
                let choice = self.choose(base, phi_threshold);
                (chosen, child_delta) = (choice.child, Some(choice.delta_threshold));
            }
            let child_delta = child_delta.unwrap_or_else(|| {
                best_child_threshold(phi_threshold, scan.second, self.options.epsilon_1024)
            });
            let child = self.evaluator.children[chosen];
            let max_other = if scan.max_at == chosen { scan.max_other } else { scan.max };
            let sum_other = scan.sum - u64::from(child.phi);
            let child_phi = combination.child_threshold(delta_threshold, max_other, sum_other);
            let Some(result) = self.search(child.code, child_phi, child_delta, depth + 1) else {
                // What is known about the child stays.
                continue;
            };
            work += result.work;
            let slot = &mut self.evaluator.children[chosen];
            slot.phi = result.phi;
            slot.delta = result.delta;
            if result.phi == 0 {
                self.evaluator.children.swap_remove(chosen);
            }
        };
        self.evaluator.children.truncate(base);
        let numbers = match end {
            Ok(value) => self.solved(code, value, before, work),
            Err(numbers @ Numbers { phi, delta, .. }) => {
                self.evaluator.store(code, Entry { phi, delta, work: before + work });
                numbers
            }
        };
        if TEAM && self.path.is_below(depth) {
            self.come_back(end.is_ok());
        }
        Some(numbers)
    }

    /// Looks at the children from `base`. Without any, the least delta is infinite and no phi is
    /// more than 0.
    #[inline(always)]
    fn scan(&self, base: usize) -> Scan {
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
        Scan { best, least, second, max_at, max, max_other, sum }
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
            virtual_1024: 0,
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
