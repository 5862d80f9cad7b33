//! The tree that a search begins with, and what it hands out of it while it goes on: records.
//!
//! ```text
//! search ──port──▶ walk ──pieces of records──▶ whoever keeps them
//! search ◀──────── tree ◀──records──────────── whoever has kept them
//! ```
//!
//! Nothing here knows what becomes of the records; a checkpoint writes files of them. The
//! table needs no such room: [`super::table`] can be copied while others store in it.
//!
//! A record (`walk`) is the smallest true statement about a tree, and a copy consists of records of
//! different times. The numbers of expanded nodes are not copied, but follow from those of the
//! leaves when the tree is made again (`tree`), so it is consistent. The search's own thread copies,
//! a little at a time, at places where its tree is whole (`port`).

mod port;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

pub use super::arena::TreeError;
pub use port::TreePort;
pub use port::{Sent, copy_whole};
pub use tree::{Misfit, TreeLoader};
pub use tree::{SavedTree, TreeRoom};
pub use walk::Piece;
