//! A proof-number tree whose leaves several workers search at once.
//!
//! The tree itself is used by one thread at a time; whoever holds it selects a leaf for a worker
//! ([`JobTree::select`]) and takes the result in when the worker comes back ([`JobTree::attach`],
//! [`JobTree::resolve`]). Between the two the tree may change in any way.
//!
//! # Selection
//!
//! From the root, always to the child of least virtual delta: its delta, and something on top for
//! every worker that searches a leaf below it, in expectation that the numbers there will rise
//! (Kaneko 2010; thesis, 3.7.1). Virtual numbers decide on selections only; what is backed up are
//! the children's own numbers. A position that somebody searches is taken: no second worker gets
//! it, be it at the same leaf or at another one. If all leaves below a node are taken, selection
//! goes back and on to the next best child. So a free leaf is found if there is one.
//!
//! # Coming back
//!
//! A worker knows its leaf by the path of codes from the root. If the path still leads to an open,
//! unexpanded leaf, the result belongs there, for a code is the whole position; else something on
//! the way was solved meanwhile and left the tree, and the result is dropped (what was solved on the
//! way is in the table). Nothing is ever written through a block that has been given back. The
//! workers below a block are counted outside of the tree, by the block's name. If a block is given
//! back and taken for another node while its workers are still out, that node counts them until
//! they return: it is selected a little less, and nothing else.

#![forbid(unsafe_code)]

use std::collections::hash_map::Entry;

use ahash::{AHashMap, AHashSet};

use super::arena::{Block, Memory, Node, Region, UNIT};
use super::game::{Child, Game, Value};
use super::numbers::{Combination, Number};
use super::proof_tree::Full;
use super::table::{Entry as TableEntry, Table};

/// The parameters of a tree for several workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct JobTreeOptions {
    /// How delta follows from the children's phi.
    pub combination: Combination,
    /// Whether the table is asked for, and told, the numbers of open nodes as well.
    pub open_entries: bool,
    /// Expansions after which a node that the search returns to looks its children up in the table
    /// again; `u32::MAX` for never.
    pub refresh_age: u32,
    /// What a worker below a node adds to the node's delta in selections: one, and this part of
    /// the delta, in 1/64.
    pub congestion_64: u32,
}

/// A step down: a block, and the code of the child in it.
#[derive(Clone, Copy, Debug)]
struct Step {
    block: Block,
    code: u64,
}

/// A leaf that a worker searches, to be given back by [`JobTree::release`].
#[derive(Debug)]
pub(super) struct Leaf {
    /// The position.
    pub code: u64,
    path: Vec<Step>,
}

/// What a selection found.
#[derive(Debug)]
pub(super) enum Selection {
    /// A leaf, which is now taken.
    Leaf(Leaf),
    /// All leaves are taken.
    AllTaken,
    /// The root has a value.
    Solved,
}

/// What the table is to be told once the tree is not held any more.
pub(super) type News = Vec<(u64, TableEntry)>;

/// What is known beside the tree.
pub(super) struct Facts<'a, G> {
    pub game: &'a G,
    pub table: &'a Table,
}

impl<G: Game> Facts<'_, G> {
    fn lookup(&self, code: u64) -> Option<TableEntry> {
        self.table.lookup(self.game.key(code), code)
    }

    fn prefetch(&self, code: u64) {
        self.table.prefetch(self.game.key(code));
    }
}

/// The tree, who is where in it, and what is known about the root.
pub(super) struct JobTree {
    memory: Memory,
    region: Region,
    options: JobTreeOptions,
    root: u64,
    root_block: Block,
    /// The workers below the blocks that have any.
    workers: AHashMap<Block, u32>,
    /// The positions that are being searched.
    taken: AHashSet<u64>,
    /// Expansions made for the tree, by which the age of look-ups is measured.
    clock: u64,
    /// The root's numbers.
    pub phi: Number,
    /// See `phi`.
    pub delta: Number,
    /// The root's best child: a lost one if the root is won.
    pub best: Option<u64>,
    /// The root's value.
    pub value: Option<Value>,
}

impl JobTree {
    /// A tree of an unexpanded root that fills the memory.
    pub fn new(memory: Memory, options: JobTreeOptions, root: u64) -> Self {
        let region = Region::new(1, memory.units());
        JobTree {
            memory,
            region,
            options,
            root,
            root_block: 0,
            workers: AHashMap::new(),
            taken: AHashSet::new(),
            clock: 0,
            phi: 1,
            delta: 1,
            best: None,
            value: None,
        }
    }

    /// Takes over a tree whose blocks stand in `region` of the memory, with backed-up numbers; the
    /// root's children are in `root_block`. Only for a tree that is still an unexpanded root.
    pub fn adopt(&mut self, region: Region, root_block: Block) {
        self.region = region;
        self.root_block = root_block;
        if root_block != 0 {
            let scan = self.memory.scan(root_block);
            (self.phi, self.delta) = scan.numbers_of_parent(self.options.combination);
            self.best = Some(self.memory.code(root_block, scan.best));
        }
    }

    /// Where its blocks stand, for a copy.
    pub fn parts(&self) -> (&Memory, &Region, Block) {
        (&self.memory, &self.region, self.root_block)
    }

    /// The same for good. The numbers are backed up.
    pub fn into_parts(self) -> (Memory, Region, Block) {
        (self.memory, self.region, self.root_block)
    }

    /// Nodes in the tree.
    pub fn nodes(&self) -> u64 {
        1 + self.region.nodes()
    }

    /// Bytes that were ever in use.
    pub fn bytes(&self) -> usize {
        self.region.top() as usize * UNIT
    }

    /// Whether nobody searches for the tree.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.taken.is_empty()
    }

    /// Takes the free leaf that selection comes to first. `news` grows by what is solved on the
    /// way.
    pub fn select<G: Game>(&mut self, facts: &Facts<G>, news: &mut News) -> Selection {
        let mut path: Vec<Step> = Vec::new();
        // Children below which all leaves are taken: depth and place.
        let mut full: Vec<(usize, usize)> = Vec::new();
        'root: loop {
            if self.value.is_some() {
                return Selection::Solved;
            }
            path.clear();
            full.clear();
            if self.root_block == 0 {
                return self.take(self.root, path);
            }
            let mut block = self.root_block;
            loop {
                if self.refresh(facts, &path, block, news) {
                    continue 'root;
                }
                let depth = path.len();
                let Some(at) = self.choose(block, |at| full.contains(&(depth, at))) else {
                    let Some(step) = path.pop() else {
                        return Selection::AllTaken;
                    };
                    full.retain(|&(level, _)| level < depth);
                    block = step.block;
                    let at = self.memory.position(block, step.code).expect("it is on the path");
                    full.push((path.len(), at));
                    continue;
                };
                let code = self.memory.code(block, at);
                path.push(Step { block, code });
                block = self.memory.child(block, at);
                if block == 0 {
                    match facts.lookup(code).and_then(|entry| entry.value()) {
                        Some(value) => self.resolve_at(&path, value, 1, news),
                        None => return self.take(code, path),
                    }
                    continue 'root;
                }
            }
        }
    }

    fn take(&mut self, code: u64, path: Vec<Step>) -> Selection {
        if !self.taken.insert(code) {
            return Selection::AllTaken;
        }
        for step in &path {
            *self.workers.entry(step.block).or_default() += 1;
        }
        Selection::Leaf(Leaf { code, path })
    }

    /// The child of least virtual delta among those that are not taken or excluded.
    fn choose(&self, block: Block, excluded: impl Fn(usize) -> bool) -> Option<usize> {
        let memory = &self.memory;
        let congested = self.workers.contains_key(&block);
        let mut best: Option<(u64, usize)> = None;
        for at in 0..memory.count(block) {
            let mut delta = u64::from(memory.delta(block, at));
            let child = memory.child(block, at);
            if child != 0 && congested {
                let workers = self.workers.get(&child).copied().unwrap_or(0);
                let each = 1 + ((delta * u64::from(self.options.congestion_64)) >> 6);
                delta += u64::from(workers) * each;
            }
            if best.is_some_and(|(least, _)| least <= delta) {
                continue;
            }
            if (child == 0 && self.taken.contains(&memory.code(block, at))) || excluded(at) {
                continue;
            }
            best = Some((delta, at));
        }
        best.map(|(_, at)| at)
    }

    /// Takes over what the table has learnt about the children in `block`, whose node is at the end
    /// of the path, unless it was asked lately. True if that changed the node's numbers or solved
    /// it.
    fn refresh<G: Game>(
        &mut self,
        facts: &Facts<G>,
        path: &[Step],
        block: Block,
        news: &mut News,
    ) -> bool {
        // Ages count modulo 2³²; at worst a node is refreshed late. None is refreshed twice between
        // two results, so a selection comes to its end.
        let age = (self.clock as u32).wrapping_sub(self.memory.stamp(block));
        if self.options.refresh_age == u32::MAX || age < self.options.refresh_age.max(1) {
            return false;
        }
        self.memory.set_stamp(block, self.clock as u32);
        for at in 0..self.memory.count(block) {
            facts.prefetch(self.memory.code(block, at));
        }
        let mut changed = false;
        // Backwards, as the last child takes the place of one that goes.
        for at in (0..self.memory.count(block)).rev() {
            let node = self.memory.node(block, at);
            let Some(entry) = facts.lookup(node.code) else {
                continue;
            };
            if let Some(value) = entry.value() {
                let solves = value == Value::Loss || self.memory.count(block) == 1;
                let path = [path, &[Step { block, code: node.code }]].concat();
                self.resolve_at(&path, value, 0, news);
                if solves {
                    return true;
                }
                changed = true;
            } else if self.options.open_entries
                && self.memory.child(block, at) == 0
                && (entry.phi, entry.delta) != (node.phi, node.delta)
            {
                self.memory.set_numbers(block, at, entry.phi, entry.delta);
                changed = true;
            }
        }
        if changed {
            self.back_up(path, block, 1, news);
        }
        changed
    }

    /// Ends a worker's hold on its leaf, after its result has been taken in or if there is none.
    pub fn release(&mut self, leaf: Leaf) {
        self.taken.remove(&leaf.code);
        for step in &leaf.path {
            if let Entry::Occupied(mut entry) = self.workers.entry(step.block) {
                *entry.get_mut() -= 1;
                if *entry.get() == 0 {
                    entry.remove();
                }
            }
        }
    }

    /// Whether the path still leads to the open leaf that was selected.
    pub fn stands(&self, leaf: &Leaf) -> bool {
        if self.value.is_some() {
            return false;
        }
        let mut block = self.root_block;
        for step in &leaf.path {
            if block == 0 || block != step.block {
                return false;
            }
            match self.memory.position(block, step.code) {
                Some(at) => block = self.memory.child(block, at),
                None => return false,
            }
        }
        block == 0
    }

    /// Gives a leaf interim numbers, if it is still there.
    pub fn update(&mut self, leaf: &Leaf, phi: Number, delta: Number, news: &mut News) {
        if !self.stands(leaf) {
            return;
        }
        match leaf.path.split_last() {
            Some((&Step { block, code }, path)) => {
                let at = self.memory.position(block, code).expect("the leaf is there");
                self.memory.set_numbers(block, at, phi, delta);
                self.back_up(path, block, 1, news);
            }
            None => (self.phi, self.delta) = (phi, delta),
        }
    }

    /// Gives a leaf its open children, for which `work` expansions were made, if it is still there.
    /// Returns by how many nodes the tree has grown.
    ///
    /// # Panics
    /// If there are no children.
    pub fn attach(
        &mut self,
        leaf: &Leaf,
        children: &[Child],
        work: u64,
        news: &mut News,
    ) -> Result<u64, Full> {
        self.clock += work;
        if !self.stands(leaf) {
            return Ok(0);
        }
        // A path of codes has to be unambiguous, and nobody gains by searching a move twice.
        let mut codes = AHashSet::with_capacity(children.len());
        let nodes: Vec<Node> = children
            .iter()
            .filter(|child| codes.insert(child.code))
            .map(|&Child { code, phi, delta, .. }| Node { code, phi, delta })
            .collect();
        let added = nodes.len() as u64;
        let block = self.region.allocate(&mut self.memory, nodes.into_iter()).ok_or(Full)?;
        self.memory.add_work(block, work);
        self.memory.set_stamp(block, self.clock as u32);
        match leaf.path.last() {
            Some(step) => {
                let at = self.memory.position(step.block, step.code).expect("the leaf is there");
                self.memory.set_child(step.block, at, block);
            }
            None => self.root_block = block,
        }
        self.back_up(&leaf.path, block, work, news);
        Ok(added)
    }

    /// Gives a leaf a value that `work` expansions have proven, if it is still there. `best` is its
    /// lost child if it is won, and only asked for at the root.
    pub fn resolve(
        &mut self,
        leaf: &Leaf,
        value: Value,
        best: Option<u64>,
        work: u64,
        news: &mut News,
    ) {
        self.clock += work;
        if self.stands(leaf) {
            if leaf.path.is_empty() {
                self.best = best;
            }
            self.resolve_at(&leaf.path, value, work, news);
        }
    }

    /// Gives the node at the end of a path a value. Whatever that solves leaves the tree.
    fn resolve_at(&mut self, mut path: &[Step], mut value: Value, mut work: u64, news: &mut News) {
        while let Some((&Step { block, code }, above)) = path.split_last() {
            let at = self.memory.position(block, code).expect("the path leads to the node");
            let child = self.memory.child(block, at);
            if child != 0 {
                work += self.region.free(&mut self.memory, child);
                self.memory.set_child(block, at, 0);
            }
            news.push((code, TableEntry::solved(value, work)));
            self.memory.add_work(block, work);
            if value == Value::Win {
                self.memory.remove(block, at);
                self.region.removed();
                if self.memory.count(block) > 0 {
                    self.back_up(above, block, work, news);
                    return;
                }
            } else if above.is_empty() {
                self.best = Some(code);
            }
            // The block is given back with its node's turn, or below for the root.
            value = !value;
            work = 0;
            path = above;
        }
        if self.root_block != 0 {
            work += self.region.free(&mut self.memory, self.root_block);
            self.root_block = 0;
        }
        let entry = TableEntry::solved(value, work);
        news.push((self.root, entry));
        self.value = Some(value);
        (self.phi, self.delta) = (entry.phi, entry.delta);
    }

    /// Recomputes the numbers of the node at the end of the path, whose children are in `block`, and
    /// of its ancestors, as far as anything changes.
    fn back_up(&mut self, path: &[Step], mut block: Block, work: u64, news: &mut News) {
        let combination = self.options.combination;
        for step in path.iter().rev() {
            let (phi, delta) = self.memory.scan(block).numbers_of_parent(combination);
            let at = self.memory.position(step.block, step.code).expect("it is on the path");
            let node = self.memory.node(step.block, at);
            if (node.phi, node.delta) == (phi, delta) {
                return;
            }
            self.memory.set_numbers(step.block, at, phi, delta);
            if self.options.open_entries {
                news.push((step.code, TableEntry { phi, delta, work: work.max(1) }));
            }
            block = step.block;
        }
        let scan = self.memory.scan(block);
        (self.phi, self.delta) = scan.numbers_of_parent(combination);
        self.best = Some(self.memory.code(block, scan.best));
    }
}

#[cfg(test)]
mod tests;
