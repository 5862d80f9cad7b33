//! Rows from the rows that jumps lead to, one source row at a time.
//!
//! [`Sweep::white_wins`] gathers: it visits the rows that it makes, and needs all rows that White's jumps
//! lead to in memory. [`Sweep::scatter`] visits each source row once, in any order, and adds its values
//! to the rows from which jumps lead to it. So the source rows can come from files, a few at a time. Only
//! the rows that are made are in memory: a layer, or some rows of it.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::row_ops::RowJump;
use super::{Jump, Sweep};
use crate::konane::Colour;
use crate::tablebase::index::Row;

/// Rows that threads write to, each row by one thread at a time: those of a layer or of a range of it.
#[derive(Debug)]
pub struct Targets<'l> {
    pub(super) black: u32,
    pub(super) first: u32,
    pub(super) rows: Vec<Mutex<&'l mut [u64]>>,
}

impl Targets<'_> {
    /// Place of the row of a black pattern, if it is among these and not the image of another.
    fn find(&self, row: Row) -> Option<usize> {
        let at = row.index.checked_sub(self.first).filter(|_| row.symmetry == 0)? as usize;
        (at < self.rows.len()).then_some(at)
    }
}

impl Sweep<'_> {
    /// Adds to rows with this side to move what follows from one row with the other side to move: that of
    /// a canonical pattern. `scratch` is overwritten. Once this was called for all canonical patterns of
    /// [`Sweep::source_layers`], the rows are complete: those of `white_wins` from rows of `black_wins`
    /// with fewer black stones, those of `black_wins` from rows of `white_wins` with as many.
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
                            // The rows of other members of the orbit follow from these members.
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

    /// Numbers of black stones of the rows from which rows with `black` black stones are made.
    pub fn source_layers(&self, black: u32, to_move: Colour) -> Range<u32> {
        match to_move {
            Colour::White => black.saturating_sub(self.index.board().longest_jump())..black,
            Colour::Black => black..black + 1,
        }
    }

    /// The rows from which a range of rows is made: for each of [`Sweep::source_layers`] a bit for each
    /// row, eight in a byte.
    pub fn sources(&self, black: u32, to_move: Colour, rows: Range<u32>) -> Vec<Vec<u8>> {
        let layers = self.source_layers(black, to_move);
        let bytes = |black: u32| vec![0u8; self.index.rows(black).div_ceil(8) as usize];
        let mut sources: Vec<Vec<u8>> = layers.clone().map(bytes).collect();
        let mut mark = |black: u32, pattern: u32| {
            let row = self.row_of(black, pattern).index;
            sources[(black - layers.start) as usize][row as usize / 8] |= 1 << (row % 8);
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

    /// The patterns of an orbit, each once, with a symmetry that leads to the canonical one.
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

    /// Applies jumps to the target rows of a member of an orbit. Makes the row of this member only if there
    /// are any.
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
