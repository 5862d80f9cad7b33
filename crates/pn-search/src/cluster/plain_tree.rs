//! A proof-number tree whose leaves are searched by several workers at once.
//!
//! The tree itself is used by one thread at a time, which selects a leaf for a worker ([`JobTree::select`]) or adds
//! the result of a job ([`JobTree::attach`], [`JobTree::resolve`]). Between selection and result the tree may
//! change in any way.
//!
//! [`PlainTree`] is the tree; [`TakenLeaf`] is a leaf that a worker searches.
//!
//! # Selection
//!
//! Selection descends from the root, at every node to the child of least virtual delta. The virtual delta of a child is
//! its delta plus a virtual loss for every worker that searches a leaf below it, because the delta is expected to rise
//! (Kaneko 2010; thesis, 3.7.1). Virtual deltas are used for selection only; the real numbers are backed up. A
//! position that a worker searches is taken: no second worker gets it, at the same leaf or at another leaf with the
//! same position. If all leaves below a node are taken, selection backtracks to the next best child. So a free leaf is
//! found if there is one.
//!
//! # Results
//!
//! A leaf is identified by the path of codes from the root. If the path still leads to an open, unexpanded leaf, the
//! result is valid there, because a code is the whole position. Otherwise a node on the path has been solved and has
//! left the tree, and the result is dropped. The tree never writes to a child array that has been freed.
//!
//! The workers below a child array are counted outside of the tree's memory, by the array's index. If the array is
//! freed and allocated for the children of another node while workers still search below the old node, these workers
//! count for the new node until they return. The new node is then selected a little less often.

#![forbid(unsafe_code)]

use std::collections::hash_map::Entry;

use ahash::{AHashMap, AHashSet};

use super::message::{JobOutcome, SharedResults, WorkerId};
use super::shared_entry::{self, SharedEntry};
use super::{CoordinatorConfig, JobTree, Selection};
use crate::Value;
use crate::arena::{Arena, ArrayId};
use crate::map_bytes;
use crate::numbers::{Combination, INFINITY, Pair};
use crate::plain::Root;
use crate::plain::game::{Child, Expansion, Game};
use crate::run::{Counters, Outcome, Reason, Report, RootChild, RootNumbers};
use crate::search_tree::ChildRef;
use crate::table::{Entry as TableEntry, Stored, Table};

/// A step of a path from the root: a child array, and the code of a child in it.
#[derive(Clone, Copy, Debug)]
struct PathStep {
    array: ArrayId,
    code: u64,
}

/// A leaf that a worker searches.
#[derive(Debug)]
pub struct TakenLeaf {
    /// Code of the position.
    code: u64,
    path: Vec<PathStep>,
}

/// Tree of a game with codes, its taken leaves, and the numbers of its root.
pub struct PlainTree<'a, G: Game> {
    pub(super) game: &'a G,
    /// Scratch memory for the validation of requests.
    scratch: G::Scratch,
    children: Vec<Child>,
    /// The transposition table. Solved positions are stored only here, not in the tree.
    pub(super) table: &'a Table,
    /// Number of entries in the table, if it is not shared with workers.
    table_used: u64,
    /// Entries to be stored in the table.
    updates: Vec<(u64, TableEntry)>,
    arena: Arena,
    combination: Combination,
    pub(super) config: CoordinatorConfig,
    root: u64,
    root_array: ArrayId,
    /// Number of workers below each child array. Arrays without workers have no entry.
    workers: AHashMap<ArrayId, u32>,
    /// Codes of the positions that are being searched.
    taken: AHashSet<u64>,
    /// For each child array, the worker that has searched the parent of these children, if workers are in other
    /// processes. The entry of a freed array stays until the array is allocated again.
    searched_by: AHashMap<ArrayId, u32>,
    /// True if a taken leaf has left the tree.
    has_lost_leaves: bool,
    /// Number of expansions by all jobs whose results were added. The stamp of a child array is the clock at the last
    /// look-up of the children; [`CoordinatorConfig::refresh_age`] limits its age.
    clock: u64,
    numbers: RootNumbers,
    /// Value of the root.
    value: Option<Value>,
}

impl<'a, G: Game> PlainTree<'a, G> {
    /// Creates a tree below `root`. Solved positions are stored in the table, where selections find them.
    pub(crate) fn new(
        root: Root<'a, G>,
        arena: Arena,
        combination: Combination,
        config: CoordinatorConfig,
    ) -> Self {
        let Root { game, code: root, table } = root;
        PlainTree {
            game,
            scratch: G::Scratch::default(),
            children: Vec::new(),
            table,
            table_used: table.estimated_count(),
            updates: Vec::new(),
            arena,
            combination,
            config,
            root,
            root_array: 0,
            workers: AHashMap::new(),
            taken: AHashSet::new(),
            searched_by: AHashMap::new(),
            has_lost_leaves: false,
            clock: 0,
            numbers: RootNumbers::START,
            value: None,
        }
    }

    /// Returns the bytes used outside of the tree's memory and the table.
    pub(super) fn own_bytes(&self) -> u64 {
        map_bytes::<(ArrayId, u32)>(self.searched_by.capacity())
    }

    fn lookup(&self, code: u64) -> Option<TableEntry> {
        self.table.lookup(self.game.key(code), code)
    }

    fn store(&mut self, code: u64, entry: TableEntry, counters: &mut Counters) {
        let stored = self.table.store(self.game.key(code), code, entry);
        self.table_used += u64::from(stored == Stored::Filled);
        counters.stored(stored);
    }

    fn select_leaf(&mut self) -> Selection<TakenLeaf> {
        let mut path: Vec<PathStep> = Vec::new();
        // Children below which all leaves are taken: depth and index.
        let mut full: Vec<(usize, usize)> = Vec::new();
        'root: loop {
            if self.value.is_some() {
                return Selection::Solved;
            }
            path.clear();
            full.clear();
            if self.root_array == 0 {
                return self.take(self.root, path);
            }
            let mut array = self.root_array;
            loop {
                if self.refresh(&path, array) {
                    continue 'root;
                }
                let depth = path.len();
                let Some(at) = self.choose(array, |at| full.contains(&(depth, at))) else {
                    let Some(step) = path.pop() else {
                        return Selection::AllTaken;
                    };
                    full.retain(|&(level, _)| level < depth);
                    array = step.array;
                    let at =
                        self.arena.position(array, step.code).expect("the path is in the tree");
                    full.push((path.len(), at));
                    continue;
                };
                let code = self.arena.code(array, at);
                path.push(PathStep { array, code });
                array = self.arena.child(array, at);
                if array == 0 {
                    match self.lookup(code).and_then(|entry| entry.value()) {
                        Some(value) => self.resolve_at(&path, value, 1),
                        None => return self.take(code, path),
                    }
                    continue 'root;
                }
            }
        }
    }

    fn take(&mut self, code: u64, path: Vec<PathStep>) -> Selection<TakenLeaf> {
        if !self.taken.insert(code) {
            return Selection::AllTaken;
        }
        for step in &path {
            *self.workers.entry(step.array).or_default() += 1;
        }
        let parent = path.last().and_then(|step| self.searched_by.get(&step.array));
        let last = parent.map(|&worker| worker.into());
        Selection::Leaf { leaf: TakenLeaf { code, path }, code, last }
    }

    /// Returns the child of least virtual delta among those that are not taken or excluded.
    fn choose(&self, array: ArrayId, excluded: impl Fn(usize) -> bool) -> Option<usize> {
        let arena = &self.arena;
        let has_workers = self.workers.contains_key(&array);
        let mut best: Option<(u64, usize)> = None;
        for at in 0..arena.count(array) {
            let mut delta = u64::from(arena.delta(array, at));
            let child = arena.child(array, at);
            if child != 0 && has_workers {
                let workers = self.workers.get(&child).copied().unwrap_or(0);
                let each = 1 + ((delta * u64::from(self.config.virtual_loss_64)) >> 6);
                delta += u64::from(workers) * each;
            }
            if best.is_some_and(|(least, _)| least <= delta) {
                continue;
            }
            if (child == 0 && self.taken.contains(&arena.code(array, at))) || excluded(at) {
                continue;
            }
            best = Some((delta, at));
        }
        best.map(|(_, at)| at)
    }

    /// Updates the children in `array` from the table, unless this was done less than `refresh_age` expansions ago.
    /// Their parent is at the end of the path. Returns true if the parent's numbers have changed or the parent is
    /// solved.
    fn refresh(&mut self, path: &[PathStep], array: ArrayId) -> bool {
        // Ages are computed modulo 2³²; at worst a node is refreshed late. The clock advances only with results, so no
        // node is refreshed twice between two results, and every selection ends.
        let age = (self.clock as u32).wrapping_sub(self.arena.stamp(array));
        if self.config.refresh_age == u32::MAX || age < self.config.refresh_age.max(1) {
            return false;
        }
        self.arena.set_stamp(array, self.clock as u32);
        for at in 0..self.arena.count(array) {
            self.table.prefetch(self.game.key(self.arena.code(array, at)));
        }
        let mut changed = false;
        // Backwards, because a removed child is replaced by the last one.
        for at in (0..self.arena.count(array)).rev() {
            let node = self.arena.node(array, at);
            let Some(entry) = self.lookup(node.code) else {
                continue;
            };
            if let Some(value) = entry.value() {
                let solves = value == Value::Loss || self.arena.count(array) == 1;
                let path = [path, &[PathStep { array, code: node.code }]].concat();
                self.resolve_at(&path, value, 0);
                if solves {
                    return true;
                }
                changed = true;
            } else if self.config.open_entries
                && self.arena.child(array, at) == 0
                && entry.pair() != node.pair()
            {
                self.arena.set_numbers(array, at, entry.pair());
                changed = true;
            }
        }
        if changed {
            self.back_up(path, array, 1);
        }
        changed
    }

    /// Sets the value of the node at the end of a path. All nodes that are solved by it leave the tree.
    fn resolve_at(&mut self, mut path: &[PathStep], mut value: Value, mut work: u64) {
        while let Some((&PathStep { array, code }, above)) = path.split_last() {
            let at = self.arena.position(array, code).expect("the path leads to the node");
            let child = self.arena.child(array, at);
            // A worker that searches a leaf below an expanded child is counted at the child's own array.
            self.has_lost_leaves |= match child {
                0 => self.taken.contains(&code),
                _ => self.workers.contains_key(&child),
            };
            if child != 0 {
                work += self.arena.free(child);
                self.arena.set_child(array, at, 0);
            }
            self.updates.push((code, TableEntry::solved(value, work)));
            self.arena.add_work(array, work);
            if value == Value::Win {
                self.arena.remove(array, at);
                if self.arena.count(array) > 0 {
                    self.back_up(above, array, work);
                    return;
                }
            } else if above.is_empty() {
                self.numbers.best = Some(code);
            }
            // The next iteration resolves the parent of this array and frees the array. If the parent is the root, the
            // array is freed after the loop.
            value = !value;
            work = 0;
            path = above;
        }
        if self.root_array != 0 {
            work += self.arena.free(self.root_array);
            self.root_array = 0;
        }
        self.updates.push((self.root, TableEntry::solved(value, work)));
        self.value = Some(value);
        self.numbers.pair = Pair::of(value);
    }

    /// Recomputes the numbers of the node at the end of the path, whose children are in `array`, and of its
    /// ancestors up to the first whose numbers do not change.
    fn back_up(&mut self, path: &[PathStep], mut array: ArrayId, work: u64) {
        let combination = self.combination;
        for step in path.iter().rev() {
            let pair = self.arena.scan(array).numbers_of_parent(combination);
            let at = self.arena.position(step.array, step.code).expect("the path is in the tree");
            if self.arena.node(step.array, at).pair() == pair {
                return;
            }
            self.arena.set_numbers(step.array, at, pair);
            if self.config.open_entries {
                self.updates.push((step.code, TableEntry::new(pair, work.max(1))));
            }
            array = step.array;
        }
        let scan = self.arena.scan(array);
        let best = Some(self.arena.code(array, scan.best));
        self.numbers = RootNumbers { pair: scan.numbers_of_parent(combination), best };
    }
}

impl<G: Game> JobTree for PlainTree<'_, G> {
    type Leaf = TakenLeaf;
    type Node = u64;
    type Children = Vec<Child>;

    fn select(&mut self) -> Selection<TakenLeaf> {
        self.select_leaf()
    }

    fn node(&self, code: u64) -> u64 {
        code
    }

    fn remove_worker(&mut self, worker: WorkerId) {
        self.searched_by.retain(|_, by| WorkerId::from(*by) != worker);
    }

    /// Returns true if the outcome is possible. The codes in it have to be codes of the leaf's children, because
    /// workers expand them.
    fn is_valid(&mut self, leaf: &TakenLeaf, outcome: &JobOutcome<Vec<Child>>) -> bool {
        let open = 1..INFINITY;
        let PlainTree { game, scratch, children, .. } = self;
        children.clear();
        match (game.expand(leaf.code, scratch, children, |_| {}), outcome) {
            (_, JobOutcome::Stopped | JobOutcome::Failed(_)) => true,
            (Expansion::Won(child), JobOutcome::Solved(Value::Win, best)) => *best == Some(child),
            (Expansion::Open, JobOutcome::Solved(Value::Win, best)) => {
                children.iter().any(|child| Some(child.code) == *best)
            }
            (expansion, JobOutcome::Solved(Value::Loss, _)) => {
                !matches!(expansion, Expansion::Won(_))
            }
            (Expansion::Open, JobOutcome::Open(found)) => found.iter().all(|child| {
                open.contains(&child.phi)
                    && open.contains(&child.delta)
                    && children.iter().any(|other| other.code == child.code)
            }),
            _ => false,
        }
    }

    fn release(&mut self, leaf: &TakenLeaf) {
        self.taken.remove(&leaf.code);
        for step in &leaf.path {
            if let Entry::Occupied(mut entry) = self.workers.entry(step.array) {
                *entry.get_mut() -= 1;
                if *entry.get() == 0 {
                    entry.remove();
                }
            }
        }
    }

    fn is_leaf(&self, leaf: &TakenLeaf) -> bool {
        if self.value.is_some() {
            return false;
        }
        let mut array = self.root_array;
        for step in &leaf.path {
            if array == 0 || array != step.array {
                return false;
            }
            match self.arena.position(array, step.code) {
                Some(at) => array = self.arena.child(array, at),
                None => return false,
            }
        }
        array == 0
    }

    fn has_lost_leaves(&mut self) -> bool {
        std::mem::take(&mut self.has_lost_leaves)
    }

    fn attach(
        &mut self,
        leaf: &TakenLeaf,
        children: &Vec<Child>,
        work: u64,
        worker: WorkerId,
    ) -> Option<u64> {
        self.clock += work;
        if !self.is_leaf(leaf) {
            return Some(0);
        }
        // Removes duplicates: a path of codes has to be unambiguous, and a move is searched once.
        let mut codes = AHashSet::with_capacity(children.len());
        let is_new = |child: &&Child| codes.insert(child.code);
        let nodes: Vec<Child> = children.iter().filter(is_new).copied().collect();
        let added = nodes.len() as u64;
        if added == 0 {
            return None;
        }
        let array = self.arena.allocate(nodes.into_iter())?;
        self.arena.add_work(array, work);
        self.arena.set_stamp(array, self.clock as u32);
        if self.config.is_remote {
            // Worker ids are stored in 32 bits. For a worker with a larger id, nothing is stored.
            match u32::try_from(worker) {
                Ok(worker) => self.searched_by.insert(array, worker),
                Err(_) => self.searched_by.remove(&array),
            };
        }
        match leaf.path.last() {
            Some(step) => {
                let at =
                    self.arena.position(step.array, step.code).expect("the leaf is in the tree");
                self.arena.set_child(step.array, at, array);
            }
            None => self.root_array = array,
        }
        self.back_up(&leaf.path, array, work);
        Some(added)
    }

    fn resolve(&mut self, leaf: &TakenLeaf, value: Value, best: Option<u64>, work: u64) {
        self.clock += work;
        if self.is_leaf(leaf) {
            if leaf.path.is_empty() {
                self.numbers.best = best;
            }
            self.resolve_at(&leaf.path, value, work);
        }
    }

    fn are_results(&self, results: &[u8]) -> bool {
        shared_entry::from_bytes(results).is_ok()
    }

    fn add_results(&mut self, results: &[u8], counters: &mut Counters) -> SharedResults {
        let results = shared_entry::from_bytes(results).expect("the results have been checked");
        results.iter().for_each(|result| self.table.prefetch(self.game.key(result.code)));
        let mut new = Vec::with_capacity(results.len());
        for result in results {
            let SharedEntry { code, entry } = result;
            let is_new = self.lookup(code).is_none_or(|own| {
                own.value().is_none() && (entry.value().is_some() || own.work <= entry.work)
            });
            if is_new {
                self.store(code, entry, counters);
                new.push(result);
            }
        }
        SharedResults { count: new.len(), bytes: shared_entry::to_bytes(&new) }
    }

    fn publish(&mut self, counters: &mut Counters) -> Option<Reason> {
        for (code, entry) in std::mem::take(&mut self.updates) {
            self.store(code, entry, counters);
        }
        if self.config.is_remote {
            self.table.reserve(self.table_used, 1, |code| self.game.key(code));
        }
        None
    }

    fn root(&self) -> RootNumbers {
        self.numbers
    }

    fn root_children(&self) -> Vec<RootChild> {
        self.arena.root_children(self.root_array)
    }

    fn nodes(&self) -> u64 {
        1 + self.arena.node_count()
    }

    fn table_used(&self) -> u64 {
        self.table_used
    }

    fn report(&self, reason: Option<Reason>, counters: Counters, threads: u32) -> Report {
        let RootNumbers { pair: Pair { phi, delta }, best } = self.numbers;
        let memory_bytes = self.table.bytes() + self.arena.used_bytes();
        Report {
            outcome: Outcome::of(self.value.filter(|_| reason.is_none()), reason),
            phi,
            delta,
            best,
            counters,
            memory_bytes: memory_bytes as u64 + self.own_bytes(),
            threads,
        }
    }
}

#[cfg(test)]
mod tests;
