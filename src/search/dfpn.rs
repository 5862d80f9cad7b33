//! Depth-first proof-number search (Nagai 2002; thesis, 2.4) with the 1+ε trick (Pawlewicz and Lew
//! 2006).
//!
//! A node is searched until its `phi` or `delta` reaches the threshold given by its parent; its
//! children's numbers live on a stack of the worker while it is, and in the table between visits.
//! Memory is the table and the stack, about 24 bytes times branching factor times depth.

use super::control::{Control, Limits, Observer, Outcome, Report};
use super::game::{Child, Expansion, Game, Value};
use super::numbers::{Combination, INFINITY, Number};
use super::table::{Entry, Table};

/// The parameters of df-pn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DfpnOptions {
    /// How delta follows from the children's phi.
    pub combination: Combination,
    /// The 1+ε trick: a child keeps the search until its delta exceeds the second best by this
    /// factor, in 1/1024. 154 is the thesis' 0.15.
    pub epsilon_1024: u32,
    /// Positions that one bounded exact search may visit; 0 for none.
    pub settle_budget: u32,
    /// The greatest [`Child::effort`] for which it is tried.
    pub settle_effort: u32,
}

/// A node's numbers when its search returns.
#[derive(Clone, Copy)]
struct Numbers {
    phi: Number,
    delta: Number,
    work: u64,
}

struct Worker<'a, G: Game> {
    game: &'a G,
    table: &'a Table,
    options: DfpnOptions,
    control: Control<'a>,
    scratch: G::Scratch,
    stack: Vec<Child>,
}

/// Searches a position by df-pn on one thread.
pub fn dfpn<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
    options: DfpnOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let mut worker = Worker {
        game,
        table,
        options,
        control: Control::new(limits, observer),
        scratch: G::Scratch::default(),
        stack: Vec::with_capacity(4096),
    };
    worker.control.counters.nodes = 1;
    let mut numbers = Numbers {
        phi: 1,
        delta: 1,
        work: 0,
    };
    while numbers.phi != 0 && numbers.delta != 0 && worker.control.stopped.is_none() {
        numbers = worker.search(root, INFINITY, INFINITY, true);
    }
    let outcome = if numbers.phi == 0 {
        Outcome::Known(Value::Win)
    } else if numbers.delta == 0 {
        Outcome::Known(Value::Loss)
    } else {
        Outcome::Unknown(worker.control.stopped.expect("an open search was stopped"))
    };
    Report {
        outcome,
        phi: numbers.phi,
        delta: numbers.delta,
        best: worker.control.root.2,
        counters: worker.control.counters,
        memory_bytes: table.bytes() as u64,
    }
}

impl<G: Game> Worker<'_, G> {
    fn search(
        &mut self,
        code: u64,
        phi_threshold: Number,
        delta_threshold: Number,
        is_root: bool,
    ) -> Numbers {
        let key = self.game.key(code);
        let base = self.stack.len();
        if self.control.tick() {
            return Numbers {
                phi: 1,
                delta: 1,
                work: 0,
            };
        }
        match self.game.expand(code, &mut self.scratch, &mut self.stack) {
            Expansion::Lost => return self.solved(key, code, Value::Loss, 1),
            Expansion::Won(child) => {
                if is_root {
                    self.control.root.2 = Some(child);
                }
                return self.solved(key, code, Value::Win, 1);
            }
            Expansion::Open => {}
        }
        let mut work = 1;
        let first_visit = match self.table.lookup(key, code) {
            Some(entry) => {
                work += entry.work;
                false
            }
            None => true,
        };
        if let Some(child) = self.look_up_children(base, first_visit) {
            self.stack.truncate(base);
            if is_root {
                self.control.root.2 = Some(child);
            }
            return self.solved(key, code, Value::Win, work);
        }

        let combination = self.options.combination;
        let mut numbers;
        loop {
            // Least and second-least delta; greatest and summed phi.
            let (mut best, mut least, mut second) = (base, INFINITY, INFINITY);
            let (mut max, mut max_other, mut sum) = (0, 0, 0u64);
            let mut max_at = base;
            for (index, child) in self.stack[base..].iter().enumerate() {
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
            numbers = Numbers {
                phi: least,
                delta: combination.combine(max, sum),
                work,
            };
            if numbers.phi == 0 || numbers.delta == 0 {
                break;
            }
            if is_root {
                self.control.root = (numbers.phi, numbers.delta, Some(self.stack[best].code));
            }
            if numbers.phi >= phi_threshold
                || numbers.delta >= delta_threshold
                || self.control.stopped.is_some()
            {
                break;
            }
            let child = self.stack[best];
            let max_other = if max_at == best { max_other } else { max };
            let child_phi =
                combination.child_threshold(delta_threshold, max_other, sum - u64::from(child.phi));
            let slack = (u64::from(second) * u64::from(self.options.epsilon_1024)) >> 10;
            let child_delta = if second >= INFINITY {
                phi_threshold
            } else {
                phi_threshold
                    .min(second.saturating_add(slack as u32 + 1))
                    .min(INFINITY)
            };
            let result = self.search(child.code, child_phi, child_delta, false);
            work += result.work;
            let slot = &mut self.stack[best];
            slot.phi = result.phi;
            slot.delta = result.delta;
            if result.delta == 0 {
                if is_root {
                    self.control.root.2 = Some(child.code);
                }
                self.stack.truncate(base);
                return self.solved(key, code, Value::Win, work);
            }
            if result.phi == 0 {
                self.stack.swap_remove(best);
            }
        }
        self.stack.truncate(base);
        if numbers.delta == 0 {
            return self.solved(key, code, Value::Loss, work);
        }
        let entry = Entry {
            phi: numbers.phi,
            delta: numbers.delta,
            work,
        };
        let stored = self.table.store(key, code, entry);
        self.control.counters.stored(stored);
        numbers.work = work;
        numbers
    }

    fn solved(&mut self, key: u64, code: u64, value: Value, work: u64) -> Numbers {
        let entry = Entry::solved(value, work);
        let stored = self.table.store(key, code, entry);
        self.control.counters.stored(stored);
        Numbers {
            phi: entry.phi,
            delta: entry.delta,
            work,
        }
    }

    /// Replaces the estimates of the children at the top of the stack by what the table or an
    /// exact search knows, and drops those that are won. Returns a lost child, if there is one.
    fn look_up_children(&mut self, base: usize, first_visit: bool) -> Option<u64> {
        for child in &self.stack[base..] {
            self.table.prefetch(self.game.key(child.code));
        }
        let mut kept = base;
        for index in base..self.stack.len() {
            let mut child = self.stack[index];
            match self.table.lookup(self.game.key(child.code), child.code) {
                Some(entry) => {
                    child.phi = entry.phi;
                    child.delta = entry.delta;
                }
                None => {
                    self.control.counters.nodes += u64::from(first_visit);
                    if child.effort <= self.options.settle_effort && self.options.settle_budget > 0
                    {
                        let budget = self.options.settle_budget;
                        let settled = self.game.settle(child.code, budget, &mut self.scratch);
                        self.control.counters.settle_positions += u64::from(settled.positions);
                        match settled.value {
                            Some(Value::Win) => child.phi = 0,
                            Some(Value::Loss) => child.delta = 0,
                            None => {}
                        }
                    }
                }
            }
            if child.delta == 0 {
                return Some(child.code);
            }
            if child.phi != 0 {
                self.stack[kept] = child;
                kept += 1;
            }
        }
        self.stack.truncate(kept);
        None
    }
}
