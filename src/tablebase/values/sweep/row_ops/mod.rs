//! The inner loops of the sweep: one jump for a whole row of positions at once.
//!
//! A *row* has one bit for each white pattern, pattern `p` at bit `p % 64` of word `p / 64`. All
//! positions of a row share their black pattern, so a jump that is possible for the black pattern
//! relates each bit of a row to one bit of another row ([`RowJump`]), and a symmetry of the board
//! permutes the bits ([`RowPermutation`]).
//!
//! A row of numbers is several *planes* of such bits, one for each bit of the numbers. The planes of a
//! group of eight words are adjacent, the lowest bits first; the planes of the next group follow. [`remoteness`](crate::tablebase::values::remoteness) explains their meaning.
//!
//! The loops are plain code over eight words, compiled for three instruction sets like the kernels
//! of the move generator.

mod jump;
mod permutation;

pub use jump::RowJump;
pub use permutation::RowPermutation;

use crate::system::Isa;

/// Words that are handled together; rows are multiples of it.
pub const GROUP: usize = 8;

/// The words of a row over `white` squares: a bit for each pattern, at least one group.
pub fn row_words(white: u32) -> usize {
    ((1usize << white) / 64).max(GROUP)
}

/// Index of word `word` of plane 0 in a row of `planes` planes. The indices of words whose numbers have
/// no bits in common add up.
#[inline(always)]
const fn place(word: usize, planes: usize) -> usize {
    word / GROUP * GROUP * planes + word % GROUP
}

/// Takes a plane out of a row of several.
pub fn take_plane(row: &[u64], planes: usize, plane: usize, out: &mut [u64]) {
    let groups = row.chunks_exact(planes * GROUP).zip(out.chunks_exact_mut(GROUP));
    groups.for_each(|(from, to)| to.copy_from_slice(&from[plane * GROUP..(plane + 1) * GROUP]));
}

/// Puts a plane into a row of several.
pub fn put_plane(row: &mut [u64], planes: usize, plane: usize, from: &[u64]) {
    let groups = row.chunks_exact_mut(planes * GROUP).zip(from.chunks_exact(GROUP));
    groups.for_each(|(to, from)| to[plane * GROUP..(plane + 1) * GROUP].copy_from_slice(from));
}

/// Calls `change` for the planes of every group of a row.
pub fn for_each_group(row: &mut [u64], planes: usize, change: impl Fn(&mut [[u64; GROUP]])) {
    row.as_chunks_mut::<GROUP>().0.chunks_exact_mut(planes).for_each(change);
}

/// The kernels for one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct RowOps {
    isa: Isa,
}

#[allow(unsafe_code)]
impl RowOps {
    /// The widest instruction set that the processor has.
    pub fn detect() -> Self {
        RowOps { isa: Isa::detect() }
    }

    /// A narrower one: for tests.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_isa(isa: Isa) -> Self {
        assert!(isa as usize <= Isa::detect() as usize, "this processor has no {isa:?}");
        RowOps { isa }
    }

    /// `target[p] |= source[p ^ flip]` for the patterns that take part in the relation; with
    /// `INVERT`, `target[p] |= !source[p ^ flip]`.
    ///
    /// # Panics
    /// If the rows do not have the length for which the relation was made.
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

    /// For rows of several planes of ranks: `target[p]` becomes the greater of itself and
    /// `source[p ^ flip]`, for the patterns that take part in the relation.
    ///
    /// # Panics
    /// If the rows do not have the length for which the relation was made, times the planes, or there
    /// are fewer than two planes or more than
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

    /// Writes the image of a row: `target[g(p)] = source[p]` for every pattern `p`, in every plane.
    ///
    /// # Panics
    /// If the rows do not have the length for which the permutation was made, times some planes.
    pub fn permute(self, permutation: &RowPermutation, target: &mut [u64], source: &[u64]) {
        let planes = source.len() / permutation.row_words();
        if permutation.is_scattered() {
            return permutation.permute_scattered(planes, target, source);
        }
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
