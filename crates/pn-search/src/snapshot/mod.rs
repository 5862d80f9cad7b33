//! Trees before, during and after a search, for checkpoints.
//!
//! Child arrays are identified by index and not by address, so a snapshot of a tree consists of the
//! bytes of its memory. A snapshot of a running search is taken while the search waits. This module
//! opens no file: it returns bytes, and checks bytes before use.
//!
//! * [`TreeSnapshots`]: requests for snapshots, and the tree at the end of a search.
//! * [`SavedTree`]: a tree before or after a search. [`TreeCapacity`]: size of its memory.
//!
//! Tables need no snapshots: a table can be copied while a search stores in it ([`super::table`]).

#[cfg(test)]
mod tests;
mod tree;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::arena::{Allocator, ArenaMemory, ArrayId};

pub use crate::arena::TreeError;
pub use tree::{SavedTree, TreeCapacity};

/// Receives the bytes of a tree ([`SavedTree::bytes`]) and the number of its nodes.
type TakeTree = Box<dyn FnOnce(&[u8], u64) + Send>;

/// Access to the tree of a running search, and to the tree at its end.
///
/// # Protocol
///
/// [`TreeSnapshots::request`] stores a function and sets a flag. The search polls the flag every
/// few milliseconds, at times when its tree is consistent, and calls the function. It waits until
/// the function returns. If several threads share a tree, the one that holds the tree's lock calls
/// the function.
///
/// The mutex publishes the function. The flag is only a hint, so relaxed accesses suffice: a thread
/// that sees the flag late takes the snapshot one poll later.
#[derive(Default)]
pub struct TreeSnapshots {
    is_requested: AtomicBool,
    request: Mutex<Option<TakeTree>>,
    /// Tree at the end of the search.
    left: Mutex<Option<SavedTree>>,
}

impl TreeSnapshots {
    /// Creates an object without a request or a tree.
    pub fn new() -> Self {
        TreeSnapshots::default()
    }

    /// Requests that the search call `take` with the bytes of its tree ([`SavedTree::bytes`]) and the
    /// number of nodes. Replaces a pending request.
    pub fn request(&self, take: impl FnOnce(&[u8], u64) + Send + 'static) {
        *lock(&self.request) = Some(Box::new(take));
        self.is_requested.store(true, Ordering::Relaxed);
    }

    /// Drops a pending request.
    pub fn cancel(&self) {
        self.is_requested.store(false, Ordering::Relaxed);
        *lock(&self.request) = None;
    }

    /// Takes the tree that the search stored at its end.
    pub fn take_tree(&self) -> Option<SavedTree> {
        lock(&self.left).take()
    }

    /// Takes the requested snapshot, if there is a request. `allocator` has the arrays of the tree.
    #[inline(always)]
    pub(crate) fn poll(
        &self,
        memory: &mut ArenaMemory,
        allocator: &Allocator,
        root_array: ArrayId,
    ) {
        if self.is_requested.load(Ordering::Relaxed) {
            self.take_snapshot(memory, allocator, root_array);
        }
    }

    #[cold]
    fn take_snapshot(&self, memory: &mut ArenaMemory, allocator: &Allocator, root_array: ArrayId) {
        self.is_requested.store(false, Ordering::Relaxed);
        let request = lock(&self.request).take();
        if let Some(take) = request {
            take(memory.tree_bytes(allocator, root_array), allocator.nodes());
        }
    }

    /// Stores the tree at the end of a search.
    pub(crate) fn store_tree(&self, tree: SavedTree) {
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
