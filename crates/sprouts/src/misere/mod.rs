//! Misère Sprouts: the player who makes the last move loses.
//!
//! Grundy numbers do not decide sums under misère play. A position is represented by lands that are still large, and
//! by the canonical tree of the sum of all others (Lemoine and Viennot, arXiv 0908.4407). Two positions with the same
//! lands and the same tree have the same outcome in every sum, so they share a code, and the search of plain games
//! ([`pn_search::dfpn`]) solves them.
//!
//! * `trees`: canonical trees and their sums.
//! * [`MisereSprouts`]: the game, with [`MisereScratch`]. A `Group` is the id of the part of a position that is not in
//!   its tree.
//! * [`MisereSolver`]: solves positions and their moves.
//! * [`OutcomeFile`]: a file of outcomes, which [`verify()`] checks.

mod outcome_file;
mod solver;
#[cfg(test)]
mod tests;
mod trees;
mod verify;

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use pn_search::Value;
use pn_search::plain::game::{Child, Expansion, Game, OracleAnswer};
use pn_search::split_mix;
use pn_search::sums::chunks::Chunks;
use pn_search::sums::game::{Atom, AtomFeatures, GameFull, Impartial, OptionList};

use crate::store::{LandFeatures, LandStore};
use crate::{Position, Scratch, Sprouts};
pub use outcome_file::{OUTCOMES, OutcomeFile};
pub use solver::MisereSolver;
use trees::{Tree, Trees, ZERO};
pub use verify::verify;

/// Maximum number of lives of a land that is replaced by its tree. The trees of more lands take more time, and save
/// expansions and memory, the more the larger the position is (figures in docs/research/sprouts-misere.md).
const MAX_TREE_LIVES: u32 = 12;
/// Maximum depth of a sum of trees that is replaced by its canonical form.
const MAX_SUM_DEPTH: u32 = 12;

/// Flag of an item of a group that is a tree and not a land.
const IS_TREE: u32 = 1 << 31;

/// Id of a sorted list of items: ids of lands, and ids of trees with [`IS_TREE`]. A single land is not stored as a list:
/// its group is its own id with [`IS_LAND`].
type Group = u32;

/// Flag of a group that is a land.
const IS_LAND: u32 = 1 << 31;
/// Flag of the number of a list of options.
const IS_LIST: u32 = 1 << 31;

/// The group without items.
const NO_ITEMS: Group = 0;

/// Code of a child that stands for children for which there was no memory.
const NO_MEMORY: u64 = u64::MAX;

/// The game, with all lands, trees and groups that have occurred. Shared by threads.
///
/// A code is the id of a tree, and below it the id of a group. If memory is full, the search ends with
/// [`Reason::FileError`](pn_search::run::Reason::FileError), and [`Self::is_full`] returns true.
#[derive(Debug)]
pub struct MisereSprouts {
    lands: Sprouts,
    trees: Trees,
    /// Lists of items. In place of the estimated options of a land, a list has its size (see [`Self::size_of`]) as the
    /// bits of an `f32`.
    groups: LandStore,
    /// For each land its tree plus one if it is small, or the number of its list in `options` with [`IS_LIST`] if it is
    /// large. 0 if it has not been expanded.
    numbers: Chunks<AtomicU32>,
    /// Codes of the options of large lands.
    options: Chunks<OnceLock<Box<[u64]>>>,
    /// Number of lists in `options`.
    lists: AtomicU32,
    /// Bytes of the lists in `options`.
    option_bytes: AtomicU64,
    /// Number of lands whose moves were generated.
    generated: AtomicU64,
    max_bytes: AtomicU64,
    is_full: AtomicBool,
}

/// Working memory of a thread. It must be used with one game only.
#[derive(Debug, Default)]
pub struct MisereScratch {
    moves: Scratch,
    /// Summands of the position that is built, see [`MisereSprouts::normalise`].
    trees: Vec<Tree>,
    items: Vec<u32>,
    bytes: Vec<u8>,
    /// Children of the position that is expanded.
    codes: Vec<u64>,
}

/// Returns a child without estimates.
fn open_child(code: u64) -> Child {
    Child { code, phi: 1, delta: 1, effort: Child::NEVER_SOLVE }
}

fn code_of(tree: Tree, group: Group) -> u64 {
    u64::from(tree) << 32 | u64::from(group)
}

/// Returns the tree of a land with this number, see `numbers` of [`MisereSprouts`].
fn tree_of(number: u32) -> Option<Tree> {
    (1..IS_LIST).contains(&number).then(|| number - 1)
}

fn parts(code: u64) -> (Tree, Group) {
    ((code >> 32) as Tree, code as Group)
}

impl MisereSprouts {
    /// Creates a game without positions. It refuses new positions when its tables have reached `max_bytes`.
    pub fn new(max_bytes: u64) -> Self {
        let groups = LandStore::new(u64::MAX);
        // A list of items has four bytes for each, so no other group has one byte.
        groups.intern(&[0], LandFeatures::default).expect("memory is not limited");
        MisereSprouts {
            lands: Sprouts::new(u64::MAX),
            trees: Trees::new(),
            groups,
            numbers: Chunks::default(),
            options: Chunks::default(),
            lists: AtomicU32::new(0),
            option_bytes: AtomicU64::new(0),
            generated: AtomicU64::new(0),
            max_bytes: AtomicU64::new(max_bytes),
            is_full: AtomicBool::new(false),
        }
    }

    /// Returns the lands of this game.
    pub fn lands(&self) -> &Sprouts {
        &self.lands
    }

    /// Returns the number of canonical trees.
    pub fn trees(&self) -> u32 {
        self.trees.len()
    }

    /// Returns a text with this code: positions with spaces between them. The first one has the large lands and the tree,
    /// and each other one is a further tree. `sums` are [`Self::sums_by_tree`].
    fn text_of(&self, code: u64, sums: &HashMap<Tree, Vec<Atom>>) -> String {
        let (tree, group) = parts(code);
        let (mut items, mut first) = (Vec::new(), sums[&tree].clone());
        self.append_items(group, &mut items);
        first.extend(items.iter().filter(|&item| item & IS_TREE == 0));
        let trees = items.iter().filter(|&item| item & IS_TREE != 0);
        let trees = trees.map(|item| self.lands.text(&sums[&(item ^ IS_TREE)]));
        std::iter::once(self.lands.text(&first)).chain(trees).collect::<Vec<_>>().join(" ")
    }

    /// Returns the code of the positions of a text, see [`Self::text_of`].
    fn code_of_text(
        &self,
        positions: &[Position],
        scratch: &mut MisereScratch,
    ) -> Result<u64, GameFull> {
        let (mut first, mut items) = (ZERO, Vec::new());
        for (number, position) in positions.iter().enumerate() {
            let mut sum = ZERO;
            for land in self.lands.atoms(position, &mut scratch.moves)? {
                self.land_tree(land, scratch)?;
                match self.known_tree(land) {
                    Some(tree) => sum = self.trees.sum(sum, tree)?,
                    None => items.push(land),
                }
            }
            match number {
                0 => first = sum,
                _ => items.push(sum | IS_TREE),
            }
        }
        self.intern(first, &mut items, &mut scratch.bytes)
    }

    /// Returns a sum of lands for each tree.
    fn sums_by_tree(&self) -> HashMap<Tree, Vec<Atom>> {
        let mut found = HashMap::from([(ZERO, Vec::new())]);
        for (land, number) in self.numbers.iter() {
            if let Some(tree) = tree_of(number.load(Ordering::Acquire)) {
                found.entry(tree).or_insert_with(|| vec![land]);
            }
        }
        // Every other tree is the sum of two trees. They may be sums themselves.
        let mut open: Vec<([Tree; 2], Tree)> = self.trees.sums().collect();
        // A file should not depend on the order of hash tables.
        open.sort_unstable();
        loop {
            let before = open.len();
            open.retain(|([a, b], sum)| {
                let lands = match (found.get(sum), found.get(a), found.get(b)) {
                    (None, Some(a), Some(b)) => [&a[..], b].concat(),
                    (known, ..) => return known.is_none(),
                };
                found.insert(*sum, lands);
                false
            });
            if open.len() == before {
                return found;
            }
        }
    }

    /// Returns an estimate of the memory in use, in bytes.
    pub fn bytes(&self) -> u64 {
        let positions = self.lands.bytes() + self.trees.bytes() + self.groups.bytes();
        let of_ids = self.numbers.bytes() + self.options.bytes();
        positions + of_ids + self.option_bytes.load(Ordering::Relaxed)
    }

    /// Returns true if a position was refused because memory was full.
    pub fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Returns the code of a position.
    ///
    /// # Errors
    /// [`GameFull`] if there is no memory for it.
    pub fn code(&self, position: &Position, scratch: &mut MisereScratch) -> Result<u64, GameFull> {
        let sum = self.lands.atoms(position, &mut scratch.moves)?;
        self.code_of_sum(&sum, scratch)
    }

    /// Returns the code of a sum of lands.
    fn code_of_sum(&self, sum: &[Atom], scratch: &mut MisereScratch) -> Result<u64, GameFull> {
        // The tree of a land needs the whole scratch memory, so the summands are listed afterwards.
        for &land in sum {
            self.land_tree(land, scratch)?;
        }
        scratch.trees.clear();
        scratch.items.clear();
        for &land in sum {
            match self.known_tree(land) {
                Some(tree) => scratch.trees.push(tree),
                None => scratch.items.push(land),
            }
        }
        self.normalise(scratch)
    }

    /// Returns the tree of a land, if it has been computed.
    fn known_tree(&self, land: Atom) -> Option<Tree> {
        tree_of(self.numbers.get(land)?.load(Ordering::Acquire))
    }

    /// Computes the tree of a land, unless it is too large.
    fn land_tree(&self, land: Atom, scratch: &mut MisereScratch) -> Result<(), GameFull> {
        if self.known_tree(land).is_some() || self.lands.features(land).lives > MAX_TREE_LIVES {
            return Ok(());
        }
        let mut options = OptionList::default();
        self.generate(land, scratch, &mut options)?;
        let mut trees = Vec::with_capacity(options.len());
        for option in options.iter() {
            let mut sum = ZERO;
            for &land in option {
                self.land_tree(land, scratch)?;
                let tree = self.known_tree(land).expect("options have fewer lives");
                sum = self.trees.sum(sum, tree)?;
            }
            trees.push(sum);
        }
        let tree = self.trees.canonical(&mut trees)?;
        self.numbers.get_or_allocate(land).store(tree + 1, Ordering::Release);
        Ok(())
    }

    /// Returns the code of the sum of `scratch.trees` and `scratch.items`. Changes both. Trees whose sum would be too
    /// deep become items.
    fn normalise(&self, scratch: &mut MisereScratch) -> Result<u64, GameFull> {
        let MisereScratch { trees, items, bytes, .. } = scratch;
        // The hash makes the order independent of ids, which depend on the search.
        trees.sort_unstable_by_key(|&tree| (self.depth(tree), self.trees.node(tree).hash));
        let mut sum = ZERO;
        for &tree in trees.iter() {
            if self.depth(sum) + self.depth(tree) <= MAX_SUM_DEPTH {
                sum = self.trees.sum(sum, tree)?;
            } else {
                items.push(tree | IS_TREE);
            }
        }
        self.intern(sum, items, bytes)
    }

    /// Returns the code of the sum of a tree and items, which are sorted. `bytes` is working memory.
    fn intern(&self, sum: Tree, items: &mut [u32], bytes: &mut Vec<u8>) -> Result<u64, GameFull> {
        let group = match items {
            [] => NO_ITEMS,
            [land] if *land & IS_TREE == 0 => *land | IS_LAND,
            _ => {
                items.sort_unstable();
                bytes.clear();
                bytes.extend(items.iter().flat_map(|item| item.to_le_bytes()));
                self.groups.intern(bytes, || {
                    let estimated_options = self.size_of(items).to_bits();
                    let features = AtomFeatures { estimated_options, ..AtomFeatures::default() };
                    LandFeatures { features, ..LandFeatures::default() }
                })?
            }
        };
        Ok(code_of(sum, group))
    }

    fn depth(&self, tree: Tree) -> u32 {
        self.trees.node(tree).depth.into()
    }

    /// Appends the items of a group.
    fn append_items(&self, group: Group, items: &mut Vec<u32>) {
        if group & IS_LAND != 0 {
            items.push(group ^ IS_LAND);
        } else if group != NO_ITEMS {
            self.groups.with_bytes(group, |bytes| {
                let (words, _) = bytes.as_chunks();
                items.extend(words.iter().map(|&word| u32::from_le_bytes(word)));
            });
        }
    }

    /// Returns an upper bound of the length of a game that decreases with every move.
    fn longest_game(&self, code: u64) -> u32 {
        let (tree, group) = parts(code);
        let mut items = vec![tree | IS_TREE];
        self.append_items(group, &mut items);
        let length = |item: u32| match item & IS_TREE {
            0 => self.lands.features(item).lives,
            _ => self.depth(item ^ IS_TREE),
        };
        items.into_iter().map(length).sum()
    }

    /// Returns an estimate that grows with the number of moves.
    fn size_of(&self, items: &[u32]) -> f32 {
        let size = |&item: &u32| match item & IS_TREE {
            0 => (self.lands.features(item).estimated_options as f32).sqrt(),
            _ => 1.0,
        };
        items.iter().map(size).sum()
    }

    /// Returns the value for the player to move, if the position has no items.
    fn known_value(&self, code: u64) -> Option<Value> {
        let (tree, group) = parts(code);
        let value = || if self.trees.node(tree).is_lost() { Value::Loss } else { Value::Win };
        (group == NO_ITEMS).then(value)
    }

    fn generate(
        &self,
        land: Atom,
        scratch: &mut MisereScratch,
        options: &mut OptionList<'_>,
    ) -> Result<(), GameFull> {
        self.generated.fetch_add(1, Ordering::Relaxed);
        self.lands.options(land, &mut scratch.moves, options)
    }

    /// Returns the codes of the options of a large land.
    fn options_of(&self, land: Atom, scratch: &mut MisereScratch) -> Result<&[u64], GameFull> {
        let number = self.numbers.get_or_allocate(land);
        let known = number.load(Ordering::Acquire);
        if known & IS_LIST != 0 {
            let list = self.options.get(known ^ IS_LIST).and_then(OnceLock::get);
            return Ok(list.expect("a list has a number when it is complete"));
        }
        let mut options = OptionList::default();
        self.generate(land, scratch, &mut options)?;
        let mut codes = Vec::with_capacity(options.len());
        for option in options.iter() {
            codes.push(self.code_of_sum(option, scratch)?);
        }
        codes.sort_unstable();
        codes.dedup();
        self.option_bytes.fetch_add(size_of_val(&codes[..]) as u64, Ordering::Relaxed);
        // If several threads list the same options, one of the lists is used from then on.
        let list = self.lists.fetch_add(1, Ordering::Relaxed);
        let options = self.options.get_or_allocate(list).get_or_init(|| codes.into());
        number.store(list | IS_LIST, Ordering::Release);
        Ok(options)
    }

    /// Lists the distinct codes of the children in `scratch.codes`.
    fn list_children(&self, position: u64, scratch: &mut MisereScratch) -> Result<(), GameFull> {
        let (tree, group) = parts(position);
        let mut codes = std::mem::take(&mut scratch.codes);
        codes.clear();
        let of_tree = &self.trees.node(tree).options;
        codes.extend(of_tree.iter().map(|&option| code_of(option, group)));
        let mut items = Vec::new();
        self.append_items(group, &mut items);
        for (place, &item) in items.iter().enumerate() {
            // Equal items have equal options.
            if items[..place].last() == Some(&item) {
                continue;
            }
            let options = match item & IS_TREE {
                0 => self.options_of(item, scratch)?,
                _ => {
                    let options = &self.trees.node(item ^ IS_TREE).options;
                    &options.iter().map(|&tree| code_of(tree, NO_ITEMS)).collect::<Vec<u64>>()
                }
            };
            for &option in options {
                let (added, group) = parts(option);
                if items.len() == 1 && self.depth(tree) + self.depth(added) <= MAX_SUM_DEPTH {
                    let sum = self.trees.sum(tree, added)?;
                    codes.push(code_of(sum, group));
                    continue;
                }
                scratch.items.clear();
                scratch.items.extend_from_slice(&items[..place]);
                scratch.items.extend_from_slice(&items[place + 1..]);
                self.append_items(group, &mut scratch.items);
                scratch.trees.clear();
                scratch.trees.extend([tree, added]);
                let trees = scratch.items.iter().filter(|&item| item & IS_TREE != 0);
                scratch.trees.extend(trees.map(|item| item ^ IS_TREE));
                scratch.items.retain(|item| item & IS_TREE == 0);
                codes.push(self.normalise(scratch)?);
            }
        }
        codes.sort_unstable();
        codes.dedup();
        scratch.codes = codes;
        Ok(())
    }

    /// Returns a child with estimates. Most positions are won, so phi is 1. Delta grows with the number of moves to
    /// refute.
    fn child(&self, code: u64) -> Child {
        let (tree, group) = parts(code);
        let size = match group & IS_LAND {
            0 => f32::from_bits(self.groups.features(group).features.estimated_options),
            _ => self.size_of(&[group ^ IS_LAND]),
        };
        let delta = 1.0 + size + self.depth(tree) as f32 / 2.0;
        Child { delta: delta as u32, ..open_child(code) }
    }
}

/// Under misère play a player without a move wins. Such a position, like every other that has no items, is solved by
/// its tree. So it is never expanded.
impl Game for MisereSprouts {
    type Scratch = MisereScratch;

    fn expand(
        &self,
        code: u64,
        scratch: &mut MisereScratch,
        children: &mut Vec<Child>,
        mut prefetch: impl FnMut(u64),
    ) -> Expansion {
        if self.bytes() > self.max_bytes.load(Ordering::Relaxed)
            || self.list_children(code, scratch).is_err()
        {
            self.is_full.store(true, Ordering::Relaxed);
            prefetch(NO_MEMORY);
            children.push(open_child(NO_MEMORY));
            return Expansion::Open;
        }
        let codes = &mut scratch.codes;
        if let Some(&lost) = codes.iter().find(|&&code| self.known_value(code) == Some(Value::Loss))
        {
            prefetch(lost);
            return Expansion::Won(lost);
        }
        // Moves to positions that are known to be won lose.
        codes.retain(|&code| self.known_value(code).is_none());
        codes.iter().for_each(|&code| prefetch(code));
        children.extend(codes.iter().map(|&code| self.child(code)));
        Expansion::Open
    }

    fn key(&self, code: u64) -> u64 {
        split_mix::mix(code)
    }

    fn oracle_value(&self, code: u64) -> OracleAnswer {
        match code {
            NO_MEMORY => OracleAnswer::Failed,
            _ => self.known_value(code).map_or(OracleAnswer::Unknown, OracleAnswer::Known),
        }
    }
}
