//! Computes rows, the *targets*, from the rows that jumps lead to, the *sources*, one source row at a time.
//!
//! [`Sweep::white_wins`] visits each target row once, and needs all source rows in memory. [`Sweep::scatter`]
//! visits each source row once, in any order, and updates all target rows from which jumps lead to it. So the
//! source rows can be read from files, a few at a time. Only the target rows have to be in memory: a band, or
//! some rows of it.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::row_ops::RowJump;
use super::{Jump, Sweep};
use crate::konane::Colour;
use crate::tablebase::index::Row;

/// The target rows: all rows of a band or a range of them. Several threads write to them, but only one thread
/// at a time to each row.
#[derive(Debug)]
pub struct Targets<'l> {
    pub(super) black: u32,
    pub(super) first: u32,
    pub(super) rows: Vec<Mutex<&'l mut [u64]>>,
}

impl Targets<'_> {
    /// Returns the index in `rows` of the row of a black pattern. `None` if the pattern is not canonical, or the
    /// row is not one of the targets.
    fn find(&self, row: Row) -> Option<usize> {
        let at = row.index.checked_sub(self.first).filter(|_| row.symmetry == 0)? as usize;
        (at < self.rows.len()).then_some(at)
    }
}

impl Sweep<'_> {
    /// Updates the targets, in which `to_move` is to move, by one source row. `row` is the source row of the
    /// black pattern `canonical`, with the other side to move. `scratch` is overwritten. The targets are complete
    /// after calls for all canonical patterns of [`Sweep::source_bands`].
    pub fn scatter(
        &self,
        targets: &Targets<'_>,
        to_move: Colour,
        canonical: u32,
        row: &[u64],
        scratch: &mut Vec<u64>,
    ) {
        let black = targets.black;
        let find = |pattern: u32| targets.find(self.row_of(black, pattern));
        let mut hits = Vec::new();
        self.for_each_member(canonical, |pattern, symmetry| {
            match to_move {
                Colour::White => {
                    let taken_stones = black - canonical.count_ones();
                    for group in self.white_jumps.chunk_by(|a, b| a.0.taken == b.0.taken) {
                        let taken = group[0].0.taken;
                        if taken.count_ones() == taken_stones && pattern & taken == 0 {
                            // A target pattern that is not canonical is skipped: the same jump to its
                            // canonical pattern is found from another member of the orbit.
                            hits.extend(find(pattern | taken).map(|target| (target, group)));
                        }
                    }
                }
                Colour::Black => {
                    for group in self.black_jumps.chunks(1) {
                        let jump = &group[0].0;
                        if pattern & (jump.from | jump.landings) == jump.to {
                            let before = pattern ^ jump.from ^ jump.to;
                            hits.extend(find(before).map(|target| (target, group)));
                        }
                    }
                }
            }
            self.add(targets, &mut hits, row, symmetry, scratch);
        });
    }

    /// Returns the numbers of black stones in the sources of targets with `black` black stones. `to_move` is the
    /// side to move in the targets.
    pub fn source_bands(&self, black: u32, to_move: Colour) -> Range<u32> {
        match to_move {
            Colour::White => black.saturating_sub(self.index.board().longest_jump())..black,
            Colour::Black => black..black + 1,
        }
    }

    /// Returns the source rows of a range of target rows. Each of [`Sweep::source_bands`] has a bit for each
    /// of its rows, eight in a byte. The bit is set if the row is a source.
    pub fn sources(&self, black: u32, to_move: Colour, rows: Range<u32>) -> Vec<Vec<u8>> {
        let bands = self.source_bands(black, to_move);
        let bytes = |black: u32| vec![0u8; self.index.rows(black).div_ceil(8) as usize];
        let mut sources: Vec<Vec<u8>> = bands.clone().map(bytes).collect();
        let mut mark = |black: u32, pattern: u32| {
            let row = self.row_of(black, pattern).index;
            sources[(black - bands.start) as usize][row as usize / 8] |= 1 << (row % 8);
        };
        for &pattern in &self.index.orbits(black).patterns()[rows.start as usize..rows.end as usize]
        {
            match to_move {
                Colour::White => {
                    for group in self.white_jumps.chunk_by(|a, b| a.0.taken == b.0.taken) {
                        let taken = group[0].0.taken;
                        if pattern & taken == taken {
                            mark(black - taken.count_ones(), pattern ^ taken);
                        }
                    }
                }
                Colour::Black => {
                    for (jump, _) in &self.black_jumps {
                        if pattern & (jump.from | jump.landings) == jump.from {
                            mark(black, pattern ^ jump.from ^ jump.to);
                        }
                    }
                }
            }
        }
        sources
    }

    fn row_of(&self, black: u32, pattern: u32) -> Row {
        let ranks = self.index.ranks(Colour::Black);
        self.index.orbits(black).row(self.index.numbering(), ranks, pattern)
    }

    /// Calls `each` once for every pattern of an orbit, with a symmetry that maps the pattern to the canonical
    /// one.
    fn for_each_member(&self, canonical: u32, mut each: impl FnMut(u32, u8)) {
        let mut seen = [u32::MAX; 8];
        for (symmetry, &inverse) in (0..).zip(&self.images.inverses) {
            let numbering = self.index.numbering();
            let pattern = numbering.image(Colour::Black, usize::from(inverse), canonical);
            if !seen[..usize::from(symmetry)].contains(&pattern) {
                seen[usize::from(symmetry)] = pattern;
                each(pattern, symmetry);
            }
        }
    }

    /// Applies jumps to target rows, and clears `hits`, the list of targets and jumps. The jumps lead to the row
    /// of a member of an orbit, which `symmetry` maps to the canonical row `row`. The row of this member is
    /// computed only if `hits` is not empty.
    fn add(
        &self,
        targets: &Targets<'_>,
        hits: &mut Vec<(usize, &[(Jump, RowJump)])>,
        row: &[u64],
        symmetry: u8,
        scratch: &mut Vec<u64>,
    ) {
        if hits.is_empty() {
            return;
        }
        let source = self.images.row(self.ops, row, symmetry, scratch);
        for (target, group) in hits.drain(..) {
            let mut target = targets.rows[target].lock().unwrap_or_else(PoisonError::into_inner);
            for (_, relation) in group {
                self.follow(relation, &mut target, source);
            }
        }
    }
}
