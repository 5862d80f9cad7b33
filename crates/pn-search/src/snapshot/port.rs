//! Where a search with a tree and a keeper of checkpoints meet.
//!
//! # Protocol
//!
//! The keeper's thread sets up a *link*, a walk over the tree and the sending end of a channel, and
//! then `wanted`. The search looks at `wanted` now and then, at places where its tree is whole. If it
//! is set, the search copies one piece of the tree, at most [`PIECE_BYTES`], and hands it over once
//! it has enough of them. It never waits: if the channel is full, it goes on and tries again at the
//! next look. The last piece is marked; then the search takes the link down.
//!
//! The link is behind a mutex, which publishes it; `wanted` is only a hint, so that relaxed accesses
//! suffice: seen late, the copy begins a look later. Whoever owns the tree makes the call: with many
//! threads on one tree, the one that holds its lock. If the keeper gives up, the channel is closed
//! and the search takes the link down at its next look.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::tree::SavedTree;
use super::walk::{Piece, Walk};
use crate::arena::{Block, Memory, Region};

/// Bytes of records that the search copies at one look: 16,000 nodes, which take less than a
/// millisecond (some 40 ns each).
const PIECE_BYTES: usize = 256 << 10;

/// Bytes of records that go through the channel together, and become a block of the file.
const SEND_BYTES: usize = 1 << 19;

/// Pieces that wait in the channel.
const WAITING: usize = 2;

/// Records on their way to the file.
pub enum Sent {
    /// More follow.
    Part(Piece),
    /// The end, with the nodes and the bytes in memory of all records.
    End(Piece, u64, u64),
}

struct Link {
    walk: Walk,
    piece: Piece,
    sender: SyncSender<Sent>,
}

/// Takes a tree out of a running search.
#[derive(Default)]
pub struct TreePort {
    active: bool,
    wanted: AtomicBool,
    link: Mutex<Option<Link>>,
    /// As the search has left it.
    tree: Mutex<Option<SavedTree>>,
}

impl TreePort {
    /// A port that nobody uses.
    pub fn idle() -> Self {
        TreePort::default()
    }

    /// A port for a keeper.
    pub fn kept() -> Self {
        TreePort { active: true, ..TreePort::default() }
    }

    /// For the search, every few milliseconds: hands over a piece of its tree, whose blocks stand in
    /// `region`, if that is wanted.
    #[inline(always)]
    pub(crate) fn look(&self, memory: &Memory, region: &Region, root_block: Block) {
        if self.wanted.load(Ordering::Relaxed) {
            self.hand_over(memory, region, root_block);
        }
    }

    #[cold]
    fn hand_over(&self, memory: &Memory, region: &Region, root_block: Block) {
        let mut link = lock(&self.link);
        let Some(Link { walk, piece, sender }) = link.as_mut() else { return };
        if !walk.is_done() && piece.raw.len() < SEND_BYTES {
            let enough = piece.raw.len() + PIECE_BYTES;
            walk.copy((memory, region), root_block, piece, enough);
        }
        if !walk.is_done() && piece.raw.len() < SEND_BYTES {
            return;
        }
        let full = std::mem::take(piece);
        let sent = if walk.is_done() {
            Sent::End(full, walk.nodes(), walk.bytes())
        } else {
            Sent::Part(full)
        };
        let ends = matches!(sent, Sent::End(..));
        match sender.try_send(sent) {
            Ok(()) if !ends => {}
            Err(TrySendError::Full(Sent::Part(back) | Sent::End(back, ..))) => *piece = back,
            Ok(()) | Err(TrySendError::Disconnected(_)) => {
                self.wanted.store(false, Ordering::Relaxed);
                *link = None;
            }
        }
    }

    /// For the search, at the end: leaves the tree to whoever keeps checkpoints.
    pub fn leave(&self, tree: SavedTree) {
        if self.active {
            *lock(&self.tree) = Some(tree);
        }
    }

    /// For the keeper: asks for the tree.
    pub fn request(&self) -> Receiver<Sent> {
        let (sender, receiver) = sync_channel(WAITING);
        let link = Link { walk: Walk::new(), piece: Piece::default(), sender };
        *lock(&self.link) = Some(link);
        self.wanted.store(true, Ordering::Relaxed);
        receiver
    }

    /// For the keeper, after the search: the tree that it has left.
    pub fn left(&self) -> Option<SavedTree> {
        lock(&self.tree).take()
    }
}

/// Copies a tree in which no search goes on; `take` gets the pieces.
pub fn copy_whole<E>(
    tree: &SavedTree,
    mut take: impl FnMut(Piece) -> Result<(), E>,
) -> Result<(u64, u64), E> {
    let mut walk = Walk::new();
    while !walk.is_done() {
        let mut piece = Piece::default();
        walk.copy((&tree.memory, &tree.region), tree.root_block, &mut piece, SEND_BYTES);
        take(piece)?;
    }
    Ok((walk.nodes(), walk.bytes()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for TreePort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreePort").field("active", &self.active).finish_non_exhaustive()
    }
}
