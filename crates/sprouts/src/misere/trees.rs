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

use pn_search::sums::chunks::Chunks;
use pn_search::sums::game::GameFull;

use crate::store::{LandFeatures, LandStore};

/// Id of a canonical tree.
pub(super) type Tree = u32;

/// The tree without options.
pub(super) const ZERO: Tree = 0;

/// Maximum number of options of a tree that can be stored.
const MAX_OPTIONS: usize = 1 << 13;

/// Number of entries in the cache of sums of a thread.
const CACHED_SUMS: usize = 1 << 15;

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
    /// True if the player to move loses under misère play.
    pub is_lost: bool,
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

/// Sums that a thread has used recently: both ids and the sum. A direct-mapped cache.
#[derive(Debug)]
pub(super) struct RecentSums(Box<[(u64, Tree)]>);

impl Default for RecentSums {
    fn default() -> Self {
        // No pair of ids has all bits set.
        RecentSums(vec![(u64::MAX, ZERO); CACHED_SUMS].into())
    }
}

fn mix(pair: u64) -> usize {
    (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

impl Trees {
    /// Creates a store with the empty tree only.
    pub(super) fn new() -> Self {
        let ids = LandStore::new(u64::MAX);
        let nodes: Chunks<OnceLock<TreeNode>> = Chunks::default();
        // A list of options has four bytes for each, so no other tree has one byte.
        let zero = ids.intern(&[0], LandFeatures::default).expect("memory is not limited");
        let node = TreeNode { options: Box::default(), depth: 0, grundy: 0, is_lost: false };
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
            && (h != ZERO || options.iter().any(|&option| self.node(option).is_lost))
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
            let mut grundy = 0;
            while nodes().any(|node| node.grundy == grundy) {
                grundy += 1;
            }
            TreeNode {
                options: options.into(),
                depth: 1 + nodes().map(|node| node.depth).max().unwrap_or(0),
                grundy,
                is_lost: !options.is_empty() && nodes().all(|node| !node.is_lost),
            }
        });
        Ok(tree)
    }

    /// Returns the canonical form of the sum of two trees. The time and the memory grow with the product of the
    /// numbers of subtrees.
    ///
    /// # Errors
    /// [`GameFull`] if a tree has too many options.
    pub(super) fn sum(&self, a: Tree, b: Tree, recent: &mut RecentSums) -> Result<Tree, GameFull> {
        let (a, b) = (a.min(b), a.max(b));
        if a == ZERO {
            return Ok(b);
        }
        let pair = u64::from(a) << 32 | u64::from(b);
        let place = mix(pair) % CACHED_SUMS;
        if recent.0[place].0 == pair {
            return Ok(recent.0[place].1);
        }
        let shard = || {
            let shard = &self.sums[mix(pair) / CACHED_SUMS % SUM_SHARDS];
            shard.lock().unwrap_or_else(PoisonError::into_inner)
        };
        let known = shard().get(&pair).copied();
        let sum = match known {
            Some(sum) => sum,
            None => {
                let (of_a, of_b) = (&self.node(a).options, &self.node(b).options);
                let mut options = Vec::with_capacity(of_a.len() + of_b.len());
                for &option in of_a {
                    options.push(self.sum(option, b, recent)?);
                }
                for &option in of_b {
                    options.push(self.sum(a, option, recent)?);
                }
                let sum = self.canonical(&mut options)?;
                if shard().insert(pair, sum).is_none() {
                    self.summed.fetch_add(1, Ordering::Relaxed);
                }
                sum
            }
        };
        recent.0[place] = (pair, sum);
        Ok(sum)
    }
}
