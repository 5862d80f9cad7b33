//! All moves from a land.
//!
//! A move joins two occurrences of spots in a region with a curve and puts a new spot on it, which has two
//! curve ends and therefore becomes a letter:
//!
//! * A curve within a boundary `x…y…` cuts the region in two. One side gets the boundary `x…y` and the new
//!   letter, the other side `y…x` and the new letter. The other boundaries of the region are divided between
//!   the sides in all ways. A spot with two lives can be joined with itself. A letter cannot be joined with
//!   its other occurrence, because both are the same spot, which has one life.
//! * A curve between two boundaries `x…` and `y…` makes them one: `x…x`, the new letter, `y…y`, the new
//!   letter.
//!
//! A spot that gets its third curve end is dead, and all its occurrences disappear. A spot that gets its
//! second curve end becomes a letter.
//!
//! If a symmetry maps moves onto each other, one of them is enough. A *link* is a letter that occurs in two
//! regions. These symmetries are used:
//!
//! * Isolated spots can be exchanged.
//! * Equal boundaries without links can be exchanged.
//! * A boundary can be rotated, and a region reflected, if every link keeps its place.
//! * If two boundaries `AB` and `AB` in different regions have no other vertices, `A` and `B` can be
//!   exchanged.
//!
//! `list` lists the moves in their order, with the symmetries from `symmetry`, and `play` creates the
//! positions after the moves. [`Mover`] combines these modules.

mod list;
mod play;
mod symmetry;

use pn_search::sums::game::{GameFull, OptionSubset};

use super::flat::{Flat, Token};
use play::ChildBuilder;
use symmetry::RegionSymmetries;

/// Maximum number of moves listed for one land. A position written by a user may have 2^2000 moves. A land
/// with fewer than 15 different boundaries in each region has fewer moves than this maximum.
pub(super) const MAX_MOVES: u32 = 1 << 22;

/// Working memory, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Mover {
    parent: Flat,
    symmetries: RegionSymmetries,
    builder: ChildBuilder,
    /// Number of moves of the last land.
    count: u32,
}

impl Mover {
    /// Calls `child` for every move of the subset `share`, with the position after the move and the letters
    /// that have died. The position still contains the dead letters. If the symmetries listed at the top of
    /// this module map moves onto each other, `child` is called for one of them.
    ///
    /// # Errors
    /// The errors of `child`, and [`GameFull`] after [`MAX_MOVES`] moves.
    pub(super) fn run(
        &mut self,
        packed: &[u8],
        share: OptionSubset,
        mut child: impl FnMut(&Flat, [Token; 2]) -> Result<(), GameFull>,
    ) -> Result<(), GameFull> {
        self.parent.unpack(packed);
        self.symmetries.find(&self.parent);
        let Mover { parent, symmetries, builder, count } = self;
        *count = 0;
        let mut found = |position: &Flat, dead| {
            *count += 1;
            if *count > MAX_MOVES {
                return Err(GameFull);
            }
            child(position, dead)
        };
        builder.begin();
        list::each(parent, symmetries, share, |chosen| {
            builder.play(parent, symmetries, chosen, &mut found)
        })
    }

    /// Returns true if the last land had more than [`MAX_MOVES`] moves.
    pub(super) fn has_too_many_moves(&self) -> bool {
        self.count > MAX_MOVES
    }
}
