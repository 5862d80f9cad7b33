//! Trees before, during and after a search, for checkpoints.
//!
//! Blocks of a tree are named by index, so the bytes of its memory are all there is to store. A
//! checkpoint of a running search is taken while the search waits. [`TreeSnapshots`] is where both
//! meet, and a [`SavedTree`] is what a search begins with and leaves behind. Nothing here opens a
//! file: bytes go out, and bytes come in and are checked before use.
//!
//! The table needs no such module: [`super::table`] can be copied while a search stores in it.

#[cfg(test)]
mod tests;
mod tree;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::arena::{Allocator, ArenaMemory, Block};

pub use crate::arena::TreeError;
pub use tree::{SavedTree, TreeRoom};

/// Receives the bytes of a tree ([`SavedTree::bytes`]) and the number of its nodes.
type TakeTree = Box<dyn FnOnce(&[u8], u64) + Send>;

/// Access to the tree of a running search, and to the tree that it leaves.
///
/// # Protocol
///
/// [`TreeSnapshots::request`] stores a function and sets a flag. The search polls the flag every few
/// milliseconds, at places where its tree is whole, and calls the function, which has the tree until
/// it returns. Where many threads work on one tree, the one that holds the tree's lock calls it.
///
/// The mutex publishes the function. The flag is only a hint, so relaxed accesses suffice: a thread
/// that sees it late takes the snapshot one poll later.
#[derive(Default)]
pub struct TreeSnapshots {
    is_requested: AtomicBool,
    request: Mutex<Option<TakeTree>>,
    /// The tree as the search has left it.
    left: Mutex<Option<SavedTree>>,
}

impl TreeSnapshots {
    /// No request, and no tree.
    pub fn new() -> Self {
        TreeSnapshots::default()
    }

    /// Asks the search to call `take` with its tree. A request that is pending is replaced.
    pub fn request(&self, take: impl FnOnce(&[u8], u64) + Send + 'static) {
        *lock(&self.request) = Some(Box::new(take));
        self.is_requested.store(true, Ordering::Relaxed);
    }

    /// Drops a request that the search has not answered.
    pub fn cancel(&self) {
        self.is_requested.store(false, Ordering::Relaxed);
        *lock(&self.request) = None;
    }

    /// Takes the tree that the search has left.
    pub fn take_left(&self) -> Option<SavedTree> {
        lock(&self.left).take()
    }

    /// Answers a request, if there is one. The blocks of the tree are in `allocator`.
    #[inline(always)]
    pub(crate) fn look(&self, memory: &mut ArenaMemory, allocator: &Allocator, root_block: Block) {
        if self.is_requested.load(Ordering::Relaxed) {
            self.answer(memory, allocator, root_block);
        }
    }

    #[cold]
    fn answer(&self, memory: &mut ArenaMemory, allocator: &Allocator, root_block: Block) {
        self.is_requested.store(false, Ordering::Relaxed);
        let request = lock(&self.request).take();
        if let Some(take) = request {
            take(memory.tree_bytes(allocator, root_block), allocator.nodes());
        }
    }

    /// Stores the tree at the end of a search.
    pub(crate) fn leave(&self, tree: SavedTree) {
        *lock(&self.left) = Some(tree);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for TreeSnapshots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeSnapshots").finish_non_exhaustive()
    }
}
