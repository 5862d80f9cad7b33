//! A proof-number search's tree: selection of the most-proving node, and back-up.
//!
//! The search stays at the end of a path from the root. As in df-pn, every node of the path has two
//! thresholds, up to which its ancestors' choices would lead to it again; while its numbers stay
//! below them, selection goes on from there and nothing further up is touched. So with ε = 0 the
//! leaf is a most-proving node of the tree, as if every expansion were backed up to the root and
//! the next descent began there. This holds for every combination of the children's numbers that
//! grows with each of them: the threshold is by definition where the parent's number reaches its
//! own one.

#![forbid(unsafe_code)]

use super::options::PnsOptions;
use crate::Value;
use crate::arena::{Allocator, ArenaMemory, Block, ChildRecord};
use crate::numbers::{INFINITY, Number, best_child_threshold};
use crate::plain::evaluate::Evaluator;
use crate::plain::game::{Child, Game};
use crate::snapshot::SavedTree;
use crate::table::Entry;

/// An expanded node on the path.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The block of its children.
    block: Block,
    phi_threshold: Number,
    delta_threshold: Number,
    /// The child that the path goes on to, and its thresholds.
    chosen: usize,
    child_phi: Number,
    child_delta: Number,
    /// Expansions when it was entered.
    entered: u64,
}

/// No room in the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArenaFull;

/// The tree, the path on which the search stands, and what is known about the root.
pub(crate) struct ProofTree {
    pub allocator: Allocator,
    options: PnsOptions,
    pub root: u64,
    root_block: Block,
    frames: Vec<Frame>,
    /// Nodes made since the tree was begun, the root counted.
    pub made: u64,
    /// The root's numbers, as of the last time that the path was there.
    pub phi: Number,
    /// See `phi`.
    pub delta: Number,
    /// The root's best child: a lost one if the root is won.
    pub best: Option<u64>,
    /// The root's value.
    pub value: Option<Value>,
}

impl ProofTree {
    /// A tree of an unexpanded root, without room for more.
    pub fn new(options: PnsOptions, root: u64) -> Self {
        ProofTree {
            allocator: Allocator::new(1, 1),
            options,
            root,
            root_block: 0,
            frames: Vec::with_capacity(64),
            made: 1,
            phi: 1,
            delta: 1,
            best: None,
            value: None,
        }
    }

    /// Begins anew in another allocator, with another root.
    pub fn reset(&mut self, bottom: u32, end: u32, root: u64) {
        self.allocator.reset(bottom, end);
        self.root = root;
        self.root_block = 0;
        self.frames.clear();
        self.made = 1;
        (self.phi, self.delta) = (1, 1);
        self.best = None;
        self.value = None;
    }

    /// The block of the root's children, 0 if the root is not expanded.
    pub fn root_block(&self) -> Block {
        self.root_block
    }

    /// Takes over a tree whose blocks stand in `allocator`, with backed-up numbers; the root's children
    /// are in `block`. Only for a tree that is still an unexpanded root.
    pub fn adopt(
        &mut self,
        memory: &ArenaMemory,
        allocator: Allocator,
        block: Block,
        expansions: u64,
    ) {
        self.allocator = allocator;
        if block == 0 {
            return;
        }
        self.made += self.allocator.nodes();
        self.root_block = block;
        let scan = memory.scan(block);
        (self.phi, self.delta) = scan.numbers_of_parent(self.options.combination);
        self.best = Some(memory.code(block, scan.best));
        self.enter(block, expansions);
    }

    /// The tree with its memory, after [`Self::unwind`].
    pub fn into_saved(self, memory: ArenaMemory) -> SavedTree {
        let (allocator, root_block) = (self.allocator, self.root_block);
        SavedTree { memory, allocator, root_block, beside: Vec::new() }
    }

    /// Whether the selected node is the root.
    pub fn is_at_root(&self) -> bool {
        self.frames.is_empty()
    }

    /// The open children of the root.
    pub fn root_children<'m>(
        &self,
        memory: &'m ArenaMemory,
    ) -> impl Iterator<Item = ChildRecord> + use<'m> {
        memory.nodes(self.root_block)
    }

    /// Goes to the most-proving node and returns its code, or `None` if the root is solved.
    pub fn select<G: Game>(
        &mut self,
        memory: &mut ArenaMemory,
        evaluator: &mut Evaluator<G>,
    ) -> Option<u64> {
        let combination = self.options.combination;
        loop {
            if self.value.is_some() {
                return None;
            }
            let depth = self.frames.len();
            let Some(frame) = self.frames.last_mut() else {
                return Some(self.root);
            };
            let scan = memory.scan(frame.block);
            let (phi, delta) = scan.numbers_of_parent(combination);
            if depth == 1 {
                (self.phi, self.delta) = (phi, delta);
                self.best = Some(memory.code(frame.block, scan.best));
            }
            if phi >= frame.phi_threshold || delta >= frame.delta_threshold {
                let entered = frame.entered;
                self.frames.pop();
                if let Some(parent) = self.frames.last() {
                    memory.set_numbers(parent.block, parent.chosen, phi, delta);
                    if self.options.store_open {
                        let code = memory.code(parent.block, parent.chosen);
                        // This visit only: the sum gains nothing (docs/research/pns.md).
                        let work = evaluator.monitor.counters.expansions - entered;
                        evaluator.store(code, Entry { phi, delta, work });
                    }
                }
                continue;
            }
            frame.chosen = scan.best;
            frame.child_phi =
                combination.child_threshold(frame.delta_threshold, scan.max_other, scan.sum_other);
            frame.child_delta =
                best_child_threshold(frame.phi_threshold, scan.second, self.options.epsilon_1024);
            let child = memory.child(frame.block, scan.best);
            if child == 0 {
                return Some(memory.code(frame.block, scan.best));
            }
            let expansions = evaluator.monitor.counters.expansions;
            // Ages count modulo 2³²; at worst a node is refreshed late.
            let age = (expansions as u32).wrapping_sub(memory.stamp(child));
            if self.options.refresh_age != u32::MAX && age >= self.options.refresh_age {
                memory.set_stamp(child, expansions as u32);
                if !self.refresh(memory, evaluator, child) {
                    continue;
                }
            }
            self.enter(child, expansions);
        }
    }

    /// Takes over what the table has learnt about the children of the chosen node. False if that
    /// solved it.
    fn refresh<G: Game>(
        &mut self,
        memory: &mut ArenaMemory,
        evaluator: &mut Evaluator<G>,
        block: Block,
    ) -> bool {
        let count = memory.count(block);
        for at in 0..count {
            evaluator.table.prefetch(evaluator.game.key(memory.code(block, at)));
        }
        for at in (0..count).rev() {
            let code = memory.code(block, at);
            let Some(entry) = evaluator.table.lookup(evaluator.game.key(code), code) else {
                continue;
            };
            match entry.value() {
                Some(value) => {
                    let child = memory.child(block, at);
                    if child != 0 {
                        let work = self.allocator.free(memory, child);
                        memory.set_child(block, at, 0);
                        memory.add_work(block, work);
                    }
                    if value == Value::Loss {
                        let work = self.allocator.free(memory, block);
                        let frame = self.frames.last().expect("a chosen node has a parent");
                        memory.set_child(frame.block, frame.chosen, 0);
                        self.resolve(memory, evaluator, Value::Win, work);
                        return false;
                    }
                    memory.remove(block, at);
                    self.allocator.removed();
                }
                None if self.options.store_open && memory.child(block, at) == 0 => {
                    memory.set_numbers(block, at, entry.phi, entry.delta);
                }
                None => {}
            }
        }
        if memory.count(block) == 0 {
            let work = self.allocator.free(memory, block);
            let frame = self.frames.last().expect("a chosen node has a parent");
            memory.set_child(frame.block, frame.chosen, 0);
            self.resolve(memory, evaluator, Value::Loss, work);
            return false;
        }
        true
    }

    /// Goes on to the chosen child, or to the root, whose children are in `block`.
    fn enter(&mut self, block: Block, entered: u64) {
        let (phi_threshold, delta_threshold) = match self.frames.last() {
            Some(parent) => (parent.child_phi, parent.child_delta),
            None => (INFINITY, INFINITY),
        };
        self.frames.push(Frame {
            block,
            phi_threshold,
            delta_threshold,
            chosen: 0,
            child_phi: INFINITY,
            child_delta: INFINITY,
            entered,
        });
    }

    /// Gives the selected node its open children (at least one), for which `work` expansions were
    /// made; `expansions` is the counter after them.
    pub fn attach(
        &mut self,
        memory: &mut ArenaMemory,
        children: &[Child],
        work: u64,
        expansions: u64,
    ) -> Result<(), ArenaFull> {
        let nodes = children.iter().map(|child| ChildRecord {
            code: child.code,
            phi: child.phi,
            delta: child.delta,
        });
        let block = self.allocator.allocate(memory, nodes).ok_or(ArenaFull)?;
        self.made += children.len() as u64;
        memory.add_work(block, work);
        memory.set_stamp(block, expansions as u32);
        match self.frames.last() {
            Some(parent) => memory.set_child(parent.block, parent.chosen, block),
            None => self.root_block = block,
        }
        self.enter(block, expansions - work);
        Ok(())
    }

    /// Gives the selected node a value; `work` expansions were made for it. Ancestors that this
    /// solves leave the path and the tree.
    pub fn resolve<G: Game>(
        &mut self,
        memory: &mut ArenaMemory,
        evaluator: &mut Evaluator<G>,
        mut value: Value,
        mut work: u64,
    ) {
        loop {
            let Some(&Frame { block, chosen, .. }) = self.frames.last() else {
                evaluator.store(self.root, Entry::solved(value, work));
                self.value = Some(value);
                Entry { phi: self.phi, delta: self.delta, .. } = Entry::solved(value, work);
                return;
            };
            let code = memory.code(block, chosen);
            evaluator.store(code, Entry::solved(value, work));
            memory.add_work(block, work);
            if value == Value::Win {
                memory.remove(block, chosen);
                self.allocator.removed();
                if memory.count(block) > 0 {
                    return;
                }
            } else if self.frames.len() == 1 {
                self.best = Some(code);
            }
            value = !value;
            work = self.allocator.free(memory, block);
            self.frames.pop();
            match self.frames.last() {
                Some(parent) => memory.set_child(parent.block, parent.chosen, 0),
                None => self.root_block = 0,
            }
        }
    }

    /// Resolves the selected node if the table has its value by now. Leaves the root alone, for
    /// which a lost child has to be named as well.
    pub fn take_from_table<G: Game>(
        &mut self,
        memory: &mut ArenaMemory,
        evaluator: &mut Evaluator<G>,
        code: u64,
    ) -> bool {
        if self.is_at_root() {
            return false;
        }
        let value = evaluator.value(code);
        if let Some(value) = value {
            self.resolve(memory, evaluator, value, 1);
        }
        value.is_some()
    }

    /// Backs up the numbers of the whole path and leaves it. Nothing may be selected afterwards.
    pub fn unwind(&mut self, memory: &mut ArenaMemory) {
        while let Some(frame) = self.frames.pop() {
            let scan = memory.scan(frame.block);
            let (phi, delta) = scan.numbers_of_parent(self.options.combination);
            match self.frames.last() {
                Some(parent) => memory.set_numbers(parent.block, parent.chosen, phi, delta),
                None => {
                    (self.phi, self.delta) = (phi, delta);
                    self.best = Some(memory.code(frame.block, scan.best));
                }
            }
        }
    }
}
