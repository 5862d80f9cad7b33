//! Tree of a proof-number search: selection of the most-proving node, and back-up.
//!
//! The search keeps a path from the root, and continues at its end. As in df-pn, every node on the
//! path has two thresholds. As long as the node's numbers are below them, a descent from the root
//! would lead to this node again. So selection continues from the node and accesses no ancestor.
//! With ε = 0, the selected leaf is a most-proving node of the tree, as if every expansion were
//! backed up to the root and the next descent began at the root. This holds for every combination
//! that grows with each of the children's numbers: a threshold of a node is defined as the number
//! with which the parent reaches its own threshold.
//!
//! * [`ProofTree`]: the tree, the path, and the results about the root.
//! * [`Frame`]: an expanded node on the path.

#![forbid(unsafe_code)]

use super::options::PnsOptions;
use crate::Value;
use crate::arena::{Arena, ArrayId};
use crate::numbers::Pair;
use crate::plain::evaluate::Evaluator;
use crate::plain::game::{Child, Game};
use crate::run::{RootChild, RootNumbers};
use crate::table::Entry;
use crate::thresholds::Thresholds;

/// An expanded node on the path.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Array of its children.
    array: ArrayId,
    thresholds: Thresholds,
    /// Index of the child with which the path continues, and the thresholds of this child.
    chosen: usize,
    child_thresholds: Thresholds,
    /// Number of expansions that the search had made when the path entered the node.
    entered: u64,
}

/// Error: the tree's memory is full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArenaFull;

/// The tree, the path of the search, and the results about the root.
pub(crate) struct ProofTree {
    pub arena: Arena,
    options: PnsOptions,
    pub root: u64,
    pub root_array: ArrayId,
    frames: Vec<Frame>,
    /// Number of nodes created since the tree was begun, with the root.
    pub created: u64,
    /// Numbers of the root when the search last returned to it.
    pub numbers: RootNumbers,
    /// Value of the root.
    pub value: Option<Value>,
}

impl ProofTree {
    /// Creates a tree of an unexpanded root.
    pub fn new(arena: Arena, options: PnsOptions, root: u64) -> Self {
        ProofTree {
            arena,
            options,
            root,
            root_array: 0,
            frames: Vec::with_capacity(64),
            created: 1,
            numbers: RootNumbers::START,
            value: None,
        }
    }

    /// Resets the tree to another unexpanded root.
    pub fn reset(&mut self, root: u64) {
        self.arena.clear();
        self.root = root;
        self.root_array = 0;
        self.frames.clear();
        self.created = 1;
        self.numbers = RootNumbers::START;
        self.value = None;
    }

    /// Returns true if the selected node is the root.
    pub fn is_at_root(&self) -> bool {
        self.frames.is_empty()
    }

    /// Open children of the root, in the form that observers receive.
    pub fn root_children(&self) -> Vec<RootChild> {
        self.arena.root_children(self.root_array)
    }

    /// Moves the path to the most-proving node and returns its code, or `None` if the root is
    /// solved.
    pub fn select<G: Game>(&mut self, evaluator: &mut Evaluator<G>) -> Option<u64> {
        let combination = self.options.combination;
        loop {
            if self.value.is_some() {
                return None;
            }
            let depth = self.frames.len();
            let Some(frame) = self.frames.last_mut() else {
                return Some(self.root);
            };
            let scan = self.arena.scan(frame.array);
            let pair = scan.numbers_of_parent(combination);
            if depth == 1 {
                let best = Some(self.arena.code(frame.array, scan.best));
                self.numbers = RootNumbers { pair, best };
            }
            if !frame.thresholds.hold(pair, false) {
                let entered = frame.entered;
                self.frames.pop();
                if let Some(parent) = self.frames.last() {
                    self.arena.set_numbers(parent.array, parent.chosen, pair);
                    if self.options.store_open {
                        let code = self.arena.code(parent.array, parent.chosen);
                        // Stores the search effort of this visit only. The sum over all visits is
                        // no better as replacement priority (docs/research/pns.md).
                        let work = evaluator.monitor.counters.expansions - entered;
                        evaluator.store(code, Entry::new(pair, work));
                    }
                }
                continue;
            }
            frame.chosen = scan.best;
            let epsilon = self.options.epsilon;
            frame.child_thresholds =
                frame.thresholds.of_child(scan.others, combination, epsilon, false);
            let child = self.arena.child(frame.array, scan.best);
            if child == 0 {
                return Some(self.arena.code(frame.array, scan.best));
            }
            let expansions = evaluator.monitor.counters.expansions;
            // The stamp of a child array is the number of expansions at the last look-up of these
            // children. Ages are modulo 2³²; at worst a node is refreshed late.
            let age = (expansions as u32).wrapping_sub(self.arena.stamp(child));
            if self.options.refresh_age != u32::MAX && age >= self.options.refresh_age {
                self.arena.set_stamp(child, expansions as u32);
                if !self.refresh(evaluator, child) {
                    continue;
                }
            }
            self.enter(child, expansions);
        }
    }

    /// Updates the children of the chosen node, which are in `array`, from the table. Returns false
    /// if that has solved the chosen node.
    fn refresh<G: Game>(&mut self, evaluator: &mut Evaluator<G>, array: ArrayId) -> bool {
        let count = self.arena.count(array);
        for at in 0..count {
            evaluator.table.prefetch(evaluator.game.key(self.arena.code(array, at)));
        }
        for at in (0..count).rev() {
            let code = self.arena.code(array, at);
            let Some(entry) = evaluator.table.lookup(evaluator.game.key(code), code) else {
                continue;
            };
            match entry.value() {
                Some(value) => {
                    let child = self.arena.child(array, at);
                    if child != 0 {
                        let work = self.arena.free(child);
                        self.arena.set_child(array, at, 0);
                        self.arena.add_work(array, work);
                    }
                    if value == Value::Loss {
                        let work = self.arena.free(array);
                        let frame = self.frames.last().expect("a chosen node has a parent");
                        self.arena.set_child(frame.array, frame.chosen, 0);
                        self.resolve(evaluator, Value::Win, work);
                        return false;
                    }
                    self.arena.remove(array, at);
                }
                None if self.options.store_open && self.arena.child(array, at) == 0 => {
                    self.arena.set_numbers(array, at, entry.pair());
                }
                None => {}
            }
        }
        if self.arena.count(array) == 0 {
            let work = self.arena.free(array);
            let frame = self.frames.last().expect("a chosen node has a parent");
            self.arena.set_child(frame.array, frame.chosen, 0);
            self.resolve(evaluator, Value::Loss, work);
            return false;
        }
        true
    }

    /// Appends a node whose children are in `array` to the path: the chosen child, or the root if
    /// the path is empty.
    fn enter(&mut self, array: ArrayId, entered: u64) {
        let parent = self.frames.last();
        let thresholds = parent.map_or(Thresholds::ROOT, |parent| parent.child_thresholds);
        let child_thresholds = Thresholds::ROOT;
        self.frames.push(Frame { array, thresholds, chosen: 0, child_thresholds, entered });
    }

    /// Adds open children (at least one) to the selected node. `work` expansions were made for the
    /// node; `expansions` is the search's counter of expansions after them.
    pub fn attach(
        &mut self,
        children: &[Child],
        work: u64,
        expansions: u64,
    ) -> Result<(), ArenaFull> {
        let array = self.arena.allocate(children.iter().copied()).ok_or(ArenaFull)?;
        self.created += children.len() as u64;
        self.arena.add_work(array, work);
        self.arena.set_stamp(array, expansions as u32);
        match self.frames.last() {
            Some(parent) => self.arena.set_child(parent.array, parent.chosen, array),
            None => self.root_array = array,
        }
        self.enter(array, expansions - work);
        Ok(())
    }

    /// Sets the value of the selected node, for which `work` expansions were made. Ancestors that
    /// this solves leave the path and the tree.
    pub fn resolve<G: Game>(
        &mut self,
        evaluator: &mut Evaluator<G>,
        mut value: Value,
        mut work: u64,
    ) {
        loop {
            let Some(&Frame { array, chosen, .. }) = self.frames.last() else {
                evaluator.store(self.root, Entry::solved(value, work));
                self.value = Some(value);
                self.numbers.pair = Pair::of(value);
                return;
            };
            let code = self.arena.code(array, chosen);
            evaluator.store(code, Entry::solved(value, work));
            self.arena.add_work(array, work);
            if value == Value::Win {
                self.arena.remove(array, chosen);
                if self.arena.count(array) > 0 {
                    return;
                }
            } else if self.frames.len() == 1 {
                self.numbers.best = Some(code);
            }
            value = !value;
            work = self.arena.free(array);
            self.frames.pop();
            match self.frames.last() {
                Some(parent) => self.arena.set_child(parent.array, parent.chosen, 0),
                None => self.root_array = 0,
            }
        }
    }

    /// Resolves the selected node if the table contains its value. Skips the root, because its
    /// result also names a lost child.
    pub fn take_from_table<G: Game>(&mut self, evaluator: &mut Evaluator<G>, code: u64) -> bool {
        if self.is_at_root() {
            return false;
        }
        let value = evaluator.value(code);
        if let Some(value) = value {
            self.resolve(evaluator, value, 1);
        }
        value.is_some()
    }

    /// Backs up the numbers of all nodes on the path and clears the path. Nothing may be selected
    /// afterwards.
    pub fn unwind(&mut self) {
        while let Some(frame) = self.frames.pop() {
            let scan = self.arena.scan(frame.array);
            let pair = scan.numbers_of_parent(self.options.combination);
            match self.frames.last() {
                Some(parent) => self.arena.set_numbers(parent.array, parent.chosen, pair),
                None => {
                    let best = Some(self.arena.code(frame.array, scan.best));
                    self.numbers = RootNumbers { pair, best };
                }
            }
        }
    }
}
