//! The parameters of proof-number search.

use crate::LeafSolverOptions;
use crate::numbers::Combination;
use crate::snapshot::TreeRoom;

/// The parameters of PNS, and of both levels of PN².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PnsOptions {
    /// How delta follows from the children's phi.
    pub combination: Combination,
    /// Which new children a bounded exact search is tried on.
    pub settle: LeafSolverOptions,
    /// How long a child keeps the search: until its delta exceeds the second best by this factor,
    /// in 1/1024. 0 is PNS proper, which always expands a most-proving node.
    pub epsilon_1024: u32,
    /// Whether the numbers of open nodes go to the table as well when the search leaves them, and
    /// new nodes take theirs from it. Merges what is known about transpositions.
    pub store_open: bool,
    /// Expansions after which a node that the search returns to looks its children up in the table
    /// again, where they may have been solved or searched by another path since; `u32::MAX` for
    /// never.
    pub refresh_age: u32,
}

impl PnsOptions {
    /// Proof-number search as it was published (Allis 1994), with solved positions in a table.
    pub const PLAIN: PnsOptions = PnsOptions {
        combination: Combination::SUM,
        settle: LeafSolverOptions::NEVER,
        epsilon_1024: 0,
        store_open: false,
        refresh_age: u32::MAX,
    };

    /// The room of the tree in so many bytes.
    pub fn tree_room(&self, bytes: usize) -> TreeRoom {
        TreeRoom::new(bytes, 4, self.combination)
    }
}
