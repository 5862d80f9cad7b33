//! The inner loops of the sweep: they apply a jump to all positions of a row at once.
//!
//! A *row* has one bit for each white pattern, pattern `p` at bit `p % 64` of word `p / 64`. All
//! positions of a row share their black pattern, so a jump that is possible for the black pattern
//! relates each bit of a row to one bit of another row ([`RowJump`]), and a symmetry of the board
//! permutes the bits ([`RowPermutation`]).
//!
//! If a position has a number of several bits, a row has several *planes*, one for each bit of the numbers
//! ([`remoteness`](crate::tablebase::values::remoteness)). A plane has a bit for each white pattern. Its words form
//! *groups* of eight words. In memory, the first groups of all planes are adjacent, beginning with plane 0. The
//! second groups of all planes follow, and so on.
//!
//! The loops process groups of eight words. They exist for three instruction sets, like the kernels of the move
//! generator.

mod jump;
mod permutation;

pub use jump::RowJump;
pub use permutation::RowPermutation;

use crate::system::Isa;

/// Number of words that are processed together. The length of a row is a multiple of this number.
pub const GROUP: usize = 8;

/// Number of words of a row, or of one plane of it, for `white` white squares: a bit for each pattern, at least
/// one group.
pub fn row_words(white: u32) -> usize {
    ((1usize << white) / 64).max(GROUP)
}

/// Returns the index, in a row of `planes` planes, of word `word` of plane 0. If `a & b == 0`, then the index for
/// `a | b` is the sum of the indices for `a` and for `b`.
#[inline(always)]
const fn word_index(word: usize, planes: usize) -> usize {
    word / GROUP * GROUP * planes + word % GROUP
}

/// Copies one plane of a row to `out`.
pub fn take_plane(row: &[u64], planes: usize, plane: usize, out: &mut [u64]) {
    let groups = row.chunks_exact(planes * GROUP).zip(out.chunks_exact_mut(GROUP));
    groups.for_each(|(from, to)| to.copy_from_slice(&from[plane * GROUP..(plane + 1) * GROUP]));
}

/// Copies `from` to one plane of a row.
pub fn put_plane(row: &mut [u64], planes: usize, plane: usize, from: &[u64]) {
    let groups = row.chunks_exact_mut(planes * GROUP).zip(from.chunks_exact(GROUP));
    groups.for_each(|(to, from)| to[plane * GROUP..(plane + 1) * GROUP].copy_from_slice(from));
}

/// Calls `change` for every group of a row, with the group's words of all planes.
pub fn for_each_group(row: &mut [u64], planes: usize, change: impl Fn(&mut [[u64; GROUP]])) {
    row.as_chunks_mut::<GROUP>().0.chunks_exact_mut(planes).for_each(change);
}

/// The inner loops for one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct RowOps {
    isa: Isa,
}

#[allow(unsafe_code)]
impl RowOps {
    /// Selects the widest instruction set that the processor has.
    pub fn detect() -> Self {
        RowOps { isa: Isa::detect() }
    }

    /// Selects an instruction set, for tests.
    ///
    /// # Panics
    /// If the processor does not have it.
    #[cfg(test)]
    pub fn with_isa(isa: Isa) -> Self {
        assert!(isa as usize <= Isa::detect() as usize, "this processor has no {isa:?}");
        RowOps { isa }
    }

    /// Computes `target[p] |= source[p ^ flip]` for all patterns `p` that take part in the relation; with
    /// `INVERT`, `target[p] |= !source[p ^ flip]`. The rows must have the length for which the relation was made.
    ///
    /// # Panics
    /// If the rows have different lengths.
    pub fn apply<const INVERT: bool>(self, jump: &RowJump, target: &mut [u64], source: &[u64]) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the instruction set, see the constructors.
            Isa::Avx512 => unsafe { jump::apply_avx512::<INVERT>(jump, target, source) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { jump::apply_avx2::<INVERT>(jump, target, source) },
            _ => jump::apply_baseline::<INVERT>(jump, target, source),
        }
    }

    /// For rows with several planes of ranks: `target[p]` becomes the greater of itself and
    /// `source[p ^ flip]`, for all patterns `p` that take part in the relation. Each plane must have the length for
    /// which the relation was made.
    ///
    /// # Panics
    /// If the rows have different lengths, or if there are fewer than two planes or more than
    /// [`MAX_PLANES`](crate::tablebase::values::remoteness::MAX_PLANES).
    pub fn greatest(self, planes: usize, jump: &RowJump, target: &mut [u64], source: &[u64]) {
        match planes {
            2 => self.greatest_of::<2>(jump, target, source),
            3 => self.greatest_of::<3>(jump, target, source),
            4 => self.greatest_of::<4>(jump, target, source),
            5 => self.greatest_of::<5>(jump, target, source),
            6 => self.greatest_of::<6>(jump, target, source),
            _ => panic!("{planes} planes of ranks"),
        }
    }

    fn greatest_of<const P: usize>(self, jump: &RowJump, target: &mut [u64], source: &[u64]) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the instruction set, see the constructors.
            Isa::Avx512 => unsafe { jump::greatest_avx512::<P>(jump, target, source) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { jump::greatest_avx2::<P>(jump, target, source) },
            _ => jump::greatest_baseline::<P>(jump, target, source),
        }
    }

    /// Writes the image of a row to `target`: `target[g(p)] = source[p]` for every pattern `p`, in every plane,
    /// where `g` is the permutation. Both rows must have the same number of planes, each with the length for which
    /// the permutation was made.
    pub fn permute(self, permutation: &RowPermutation, target: &mut [u64], source: &[u64]) {
        let planes = source.len() / permutation.row_words();
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx512 => unsafe {
                permutation::permute_avx512(permutation, planes, target, source)
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { permutation::permute_avx2(permutation, planes, target, source) },
            _ => permutation::permute_baseline(permutation, planes, target, source),
        }
    }
}
