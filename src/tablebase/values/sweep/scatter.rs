//! Rows from the rows that jumps lead to, one of those at a time.
//!
//! [`Sweep::white_wins`] gathers: it goes through the rows that it makes, and needs all rows that
//! White's jumps lead to in memory. Here it is the other way round: each of those rows is looked at
//! once, in any order, and adds what it knows to the rows from which jumps lead to it. So
//! the rows can come from files, a few at a time, and only what is made is in memory: a layer, or
//! some rows of it.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::row_ops::RowJump;
use super::{Jump, Sweep};
use crate::konane::Colour;
use crate::tablebase::index::Row;

/// Rows to be written to, each by one thread at a time: those of a layer or of a range of it.
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
    /// Adds to rows of `white_wins` what follows from one row of `black_wins` with fewer black
    /// stones: that of a canonical pattern. Once this was called for all canonical patterns of the
    /// layers with `1..=longest_jump` fewer stones, the rows are complete. `scratch` is
    /// overwritten.
    ///
    /// # Panics
    /// If the pattern has not fewer stones than the targets.
    pub fn scatter(
        &self,
        targets: &Targets<'_>,
        canonical: u32,
        row: &[u64],
        scratch: &mut Vec<u64>,
    ) {
        let taken_stones = targets.black - canonical.count_ones();
        let mut hits = Vec::new();
        self.for_each_member(canonical, |pattern, symmetry| {
            for group in self.white_jumps.chunk_by(|a, b| a.0.taken == b.0.taken) {
                let taken = group[0].0.taken;
                if taken.count_ones() == taken_stones && pattern & taken == 0 {
                    // Other members of the orbit are met when it is their turn to be the source.
                    let target = targets.find(self.row_of(targets.black, pattern | taken));
                    hits.extend(target.map(|target| (target, group)));
                }
            }
            self.add(targets, &mut hits, row, symmetry, scratch);
        });
    }

    /// Adds to rows of `black_wins` what follows from one row of `white_wins` with as many black
    /// stones: that of a canonical pattern. Once this was called for all canonical patterns, the
    /// rows are complete. `scratch` is overwritten.
    pub fn scatter_black(
        &self,
        targets: &Targets<'_>,
        canonical: u32,
        row: &[u64],
        scratch: &mut Vec<u64>,
    ) {
        let mut hits = Vec::new();
        self.for_each_member(canonical, |pattern, symmetry| {
            for group in self.black_jumps.chunks(1) {
                let jump = &group[0].0;
                if pattern & (jump.from | jump.landings) == jump.to {
                    let before = pattern ^ jump.from ^ jump.to;
                    let target = targets.find(self.row_of(targets.black, before));
                    hits.extend(target.map(|target| (target, group)));
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

    /// Applies jumps to the rows that were found for a member of an orbit. Its row is made only if
    /// there are any.
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
