//! Misère canonical forms: *reduced canonical trees* (Lemoine and Viennot, arXiv 0908.4407).
//!
//! Two impartial games can replace each other in every sum under misère play exactly if their canonical forms are
//! equal (Grundy and Smith 1956; Conway, *On Numbers and Games*, chapter 12). The canonical form is a tree whose
//! options are canonical forms and that has no *reversible* options. The options X of G are reversible if there is
//! a game H such that all options of H are options of G, and H is an option of each of the other options X of G.
//! Then G = H, with one proviso: if H has no options, G has to be won for the player to move, as H is.
//!
//! [`Trees`] stores trees and assigns an id to each. Equal ids mean equal trees.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use pn_search::split_mix;
use pn_search::sums::chunks::Chunks;
use pn_search::sums::game::GameFull;

use crate::store::{LandFeatures, LandStore};

/// Id of a canonical tree.
pub(super) type Tree = u32;

/// The tree without options.
pub(super) const ZERO: Tree = 0;

/// Maximum number of options of a tree that can be stored.
const MAX_OPTIONS: usize = 1 << 13;

const SUM_SHARDS: usize = 64;

/// A canonical tree.
#[derive(Debug)]
pub(super) struct TreeNode {
    /// Options, sorted by id.
    pub options: Box<[Tree]>,
    /// Length of the longest game.
    pub depth: u8,
    /// Grundy number under normal play.
    pub grundy: u8,
    /// Grundy number under misère play: the least number that no option has, and 1 without options. The player to move
    /// loses exactly if it is 0.
    pub misere_grundy: u8,
    /// Hash of the tree, which does not depend on ids.
    pub hash: u64,
}

impl TreeNode {
    /// Returns true if the player to move loses under misère play.
    pub(super) fn is_lost(&self) -> bool {
        self.misere_grundy == 0
    }
}

/// All canonical trees that have occurred, shared by threads.
#[derive(Debug)]
pub(super) struct Trees {
    /// Ids of lists of options.
    ids: LandStore,
    nodes: Chunks<OnceLock<TreeNode>>,
    /// Results of [`Self::sum`] by both ids.
    sums: Box<[Mutex<HashMap<u64, Tree>>]>,
    /// Number of results in `sums`.
    summed: AtomicU64,
}

impl Trees {
    /// Creates a store with the empty tree only.
    pub(super) fn new() -> Self {
        let ids = LandStore::new(u64::MAX);
        let nodes: Chunks<OnceLock<TreeNode>> = Chunks::default();
        // A list of options has four bytes for each, so no other tree has one byte.
        let zero = ids.intern(&[0], LandFeatures::default).expect("memory is not limited");
        let node =
            TreeNode { options: Box::default(), depth: 0, grundy: 0, misere_grundy: 1, hash: 0 };
        nodes.get_or_allocate(zero).get_or_init(|| node);
        let sums = (0..SUM_SHARDS).map(|_| Mutex::default()).collect();
        Trees { ids, nodes, sums, summed: AtomicU64::new(0) }
    }

    /// Returns a tree.
    ///
    /// # Panics
    /// If this store has not assigned the id.
    #[inline]
    pub(super) fn node(&self, tree: Tree) -> &TreeNode {
        let node = self.nodes.get(tree).and_then(OnceLock::get);
        node.expect("this store has assigned the id")
    }

    /// Returns the number of trees.
    pub(super) fn len(&self) -> u32 {
        self.ids.len()
    }

    /// Returns an estimate of the memory in use, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        // The nodes have a copy of each list of options. An entry of a map with empty slots takes about 32 bytes.
        2 * self.ids.bytes() + self.nodes.bytes() + 32 * self.summed.load(Ordering::Relaxed)
    }

    /// Returns all pairs of trees that have been added, with their sums.
    pub(super) fn sums(&self) -> impl Iterator<Item = ([Tree; 2], Tree)> {
        self.sums.iter().flat_map(|shard| {
            let sums = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let parts = |(&pair, &sum): (&u64, &Tree)| ([(pair >> 32) as Tree, pair as Tree], sum);
            sums.iter().map(parts).collect::<Vec<_>>()
        })
    }

    /// Returns the canonical form of the game with these options, which may be in any order and occur repeatedly.
    ///
    /// # Errors
    /// [`GameFull`] if there are too many options.
    pub(super) fn canonical(&self, options: &mut Vec<Tree>) -> Result<Tree, GameFull> {
        options.sort_unstable();
        options.dedup();
        // An option of greatest depth is no option of H, because H is less deep than some option. So it is
        // reversible if any option is, and H is one of its options.
        let Some(&deepest) = options.iter().max_by_key(|&&option| self.node(option).depth) else {
            return Ok(ZERO);
        };
        let candidates = &self.node(deepest).options;
        if let Some(&equal) = candidates.iter().find(|&&h| self.reduces_to(options, h)) {
            return Ok(equal);
        }
        self.intern(options)
    }

    /// Returns true if the game with these sorted options reduces to `h`.
    fn reduces_to(&self, options: &[Tree], h: Tree) -> bool {
        let mut of_h = self.node(h).options.iter().peekable();
        for option in options {
            if of_h.next_if_eq(&option).is_some() {
                continue;
            }
            if of_h.peek().is_some_and(|&next| next < option)
                || self.node(*option).options.binary_search(&h).is_err()
            {
                return false;
            }
        }
        of_h.peek().is_none()
            && (h != ZERO || options.iter().any(|&option| self.node(option).is_lost()))
    }

    fn intern(&self, options: &[Tree]) -> Result<Tree, GameFull> {
        if options.len() > MAX_OPTIONS {
            return Err(GameFull);
        }
        let bytes: Vec<u8> = options.iter().flat_map(|option| option.to_le_bytes()).collect();
        let tree = self.ids.intern(&bytes, LandFeatures::default)?;
        // Threads that intern a tree at the same time initialise it with the same value.
        self.nodes.get_or_allocate(tree).get_or_init(|| {
            let nodes = || options.iter().map(|&option| self.node(option));
            let least_without = |number: fn(&TreeNode) -> u8| {
                (0..).find(|&own| nodes().all(|node| number(node) != own)).expect("trees are small")
            };
            TreeNode {
                options: options.into(),
                depth: 1 + nodes().map(|node| node.depth).max().unwrap_or(0),
                grundy: least_without(|node| node.grundy),
                misere_grundy: least_without(|node| node.misere_grundy),
                hash: split_mix::mix(nodes().fold(1, |sum, node| {
                    sum.wrapping_add(split_mix::mix(node.hash.wrapping_add(split_mix::STEP)))
                })),
            }
        });
        Ok(tree)
    }

    /// Returns the canonical form of the sum of two trees. The time and the memory grow with the product of the
    /// numbers of subtrees.
    ///
    /// # Errors
    /// [`GameFull`] if a tree has too many options.
    pub(super) fn sum(&self, a: Tree, b: Tree) -> Result<Tree, GameFull> {
        let (a, b) = (a.min(b), a.max(b));
        if a == ZERO {
            return Ok(b);
        }
        let pair = u64::from(a) << 32 | u64::from(b);
        let shard = || {
            let shard = &self.sums[split_mix::mix(pair) as usize % SUM_SHARDS];
            shard.lock().unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(&sum) = shard().get(&pair) {
            return Ok(sum);
        }
        let (of_a, of_b) = (&self.node(a).options, &self.node(b).options);
        let options = of_a.iter().map(|&option| self.sum(option, b));
        let options = options.chain(of_b.iter().map(|&option| self.sum(a, option)));
        let sum = self.canonical(&mut options.collect::<Result<_, _>>()?)?;
        if shard().insert(pair, sum).is_none() {
            self.summed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(sum)
    }
}
