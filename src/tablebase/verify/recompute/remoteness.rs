//! The deep check of remotenesses, position by position and move by move.

use rayon::prelude::*;

use super::jumps::{STRETCH, Stretch};
use super::{BlockValues, Fault, Recomputation, RowJump};
use crate::tablebase::files::{BlockKey, BlockKind, DatabaseError, LayerFile};

/// Less than the preference of any move.
const NO_MOVE: u8 = 0;

impl Recomputation<'_> {
    /// Reads the remotenesses of a block, one byte for each.
    pub(super) fn read_remotenesses(
        &self,
        file: &LayerFile,
        key: BlockKey,
    ) -> Result<BlockValues, DatabaseError> {
        let columns = file.header().columns(key.white) as usize;
        let rows = self.index.rows(key.black) as usize;
        let mut bytes = vec![0; rows * columns];
        for bit in 0..file.header().bits() {
            let bits = self.read(file, BlockKey { kind: BlockKind::of_bit(bit), ..key })?;
            bytes.par_chunks_exact_mut(columns).zip(bits.par_lines()).for_each(|(values, bits)| {
                for (values, byte) in values.chunks_mut(8).zip(bits) {
                    for (at, value) in values.iter_mut().enumerate() {
                        *value |= (byte >> at & 1) << bit;
                    }
                }
            });
        }
        Ok(BlockValues::of_bytes(bytes, columns))
    }

    /// Checks the remotenesses of the positions of a row in a stretch.
    pub(super) fn remotenesses(
        &self,
        stretch: &Stretch<'_>,
        jumps: &[RowJump<'_>],
        values: &[u8],
    ) -> Option<Fault> {
        let mut best = [[NO_MOVE; 64]; STRETCH / 64];
        for jump in jumps {
            let (values, lines, effect) = (jump.values, jump.lines, self.effect(stretch, jump));
            for word in 0..stretch.whites.len().div_ceil(64) {
                let (after, best) = (&effect.after[word], &mut best[word]);
                let mut rest = effect.possible[word];
                while rest != 0 {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    let remoteness = values[after[bit % 64].index(&lines)];
                    best[bit] = best[bit].max(preference(remoteness));
                }
            }
        }
        let values = &values[stretch.first as usize..][..stretch.whites.len()];
        for (column, (&got, &best)) in (stretch.first..).zip(values.iter().zip(best.as_flattened()))
        {
            let expected = match best {
                NO_MOVE => 0,
                best => preference(best) + 1,
            };
            if got != expected {
                let text = |plies: u8| match plies % 2 {
                    0 => format!("a loss in {plies}").into(),
                    _ => format!("a win in {plies}").into(),
                };
                let (expected, got) = (text(expected), text(got));
                return Some(Fault { column, what: "the remoteness", expected, got });
            }
        }
        None
    }
}

/// Returns a number that is greater for a move to a position of remoteness `after` than for every worse move: a
/// move to a lost position is better the smaller the remoteness, and every other move the greater it is. The
/// function is its own inverse.
#[inline(always)]
fn preference(after: u8) -> u8 {
    if after.is_multiple_of(2) { after ^ 0xFE } else { after }
}
