//! Planes: the bits of numbers, one row of them for each bit.
//!
//! The planes of a group of eight words stand one behind the other, the lowest bits first, and then those
//! of the next group. What planes mean says [`remoteness`](crate::tablebase::values::remoteness).

/// Words that are handled together; rows are multiples of it.
pub const GROUP: usize = 8;

/// The words of a row over `white` squares: a bit for each pattern, at least one group.
pub fn row_words(white: u32) -> usize {
    ((1usize << white) / 64).max(GROUP)
}

/// Where word `word` of plane 0 is in a row of so many planes. The places of words that have no bits
/// of their numbers in common add up.
#[inline(always)]
pub(super) const fn place(word: usize, planes: usize) -> usize {
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
