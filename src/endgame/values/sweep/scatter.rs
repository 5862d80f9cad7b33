//! White's rows from Black's, one Black row at a time.
//!
//! [`Sweep::white_wins`] gathers: it goes through the rows that it makes, and needs all rows that
//! White's jumps lead to in memory. Here it is the other way round: each of those rows is looked at
//! once, in any order, and adds what it knows to the rows from which White's jumps lead to it. So
//! the rows can come from files, a few at a time, and only the layer that is made is in memory.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::{Layer, Sweep};
use crate::konane::Colour;

/// The rows of a layer, each to be written by one thread at a time.
#[derive(Debug)]
pub struct Targets<'l> {
    black: u32,
    rows: Vec<Mutex<&'l mut [u64]>>,
}

impl<'l> Targets<'l> {
    /// All rows of a layer.
    pub fn new(layer: &'l mut Layer) -> Self {
        let black = layer.black;
        Targets { black, rows: layer.par_rows_mut().map(Mutex::new).collect() }
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
        let numbering = self.index.numbering();
        let taken_stones = targets.black - canonical.count_ones();
        let (orbits, ranks) = (self.index.orbits(targets.black), self.index.ranks(Colour::Black));
        let mut seen = [u32::MAX; 8];
        for (symmetry, &inverse) in (0..).zip(&self.images.inverses) {
            // A pattern of the orbit, which this symmetry leads to the canonical one. Symmetric
            // patterns turn up several times.
            let pattern = numbering.image(Colour::Black, usize::from(inverse), canonical);
            if seen[..usize::from(symmetry)].contains(&pattern) {
                continue;
            }
            seen[usize::from(symmetry)] = pattern;
            let source = self.images.row(self.ops, row, symmetry, scratch);
            for group in self.white_jumps.chunk_by(|a, b| a.jump.taken == b.jump.taken) {
                let taken = group[0].jump.taken;
                if taken.count_ones() != taken_stones || pattern & taken != 0 {
                    continue;
                }
                let target = orbits.row(numbering, ranks, pattern | taken);
                // Other members of the orbit are met when it is their turn to be the source.
                if target.symmetry == 0 {
                    let row = &targets.rows[target.index as usize];
                    let mut row = row.lock().unwrap_or_else(PoisonError::into_inner);
                    for jump in group {
                        self.ops.apply::<true>(&jump.relation, &mut row, source);
                    }
                }
            }
        }
    }
}
