//! All moves from a land.
//!
//! A move joins two occurrences of spots in a region with a curve and puts a new spot on it, which has two
//! curve ends and therefore becomes a letter:
//!
//! * within a boundary `x…y…` the region is cut in two. One side gets `x…y` and the new letter, the other
//!   `y…x` and the new letter, and the other boundaries are divided between the sides in all ways. A spot
//!   with two lives can be joined with itself. A letter cannot be joined with its own other occurrence,
//!   because that is the same spot, with one life.
//! * two boundaries `x…` and `y…` become one, `x…x` letter `y…y` letter.
//!
//! A spot with a third curve end is dead, with all its occurrences; a spot with a second one becomes a
//! letter.
//!
//! Of moves that a symmetry maps onto each other one is enough. The symmetries used are: isolated spots;
//! equal boundaries without links to other regions; rotations of a boundary, and reflections of a region,
//! that keep every link in its place; and pairs of spots `AB` that link two boundaries and nothing else.
//!
//! `list` lists the moves in their order, with the symmetries from `symmetry`, and `play` creates the
//! positions after them. [`Mover`] combines them.

mod list;
mod play;
mod symmetry;

use super::flat::{Flat, Token};
use crate::search::sums::game::{GameFull, OptionSubset};
use play::ChildBuilder;
use symmetry::RegionSymmetries;

/// Maximum number of moves listed for one land. A position written by a user may have 2^2000 moves. A land
/// with fewer than 15 different boundaries in a region has fewer than this.
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
    /// Calls `child` for every move of a subset with the position after it and the letters that have died,
    /// whose occurrences are still in the position. Moves that the symmetries above map onto each other
    /// come once.
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
