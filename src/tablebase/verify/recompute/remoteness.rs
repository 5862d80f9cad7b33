//! The deep check of remotenesses, position by position and move by move.

use rayon::prelude::*;

use super::{BlockValues, CheckedJump, Fault, Recomputation, STRETCH, get};
use crate::tablebase::files::{BlockKey, BlockKind, DatabaseError, LayerFile};

/// Initial value of a minimum of remotenesses; greater than any remoteness.
const NONE: u8 = u8::MAX;

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
            bytes
                .par_chunks_exact_mut(columns)
                .zip(bits.bytes.par_chunks(bits.row_bytes))
                .for_each(|(values, bits)| {
                    for (column, value) in (0..).zip(values) {
                        *value |= u8::from(get(bits, column)) << bit;
                    }
                });
        }
        Ok(BlockValues { bytes, row_bytes: columns })
    }

    /// Checks the remotenesses of all positions of a row.
    pub(super) fn remotenesses(
        &self,
        jumps: &[CheckedJump<'_>],
        whites: &[u32],
        values: &[u8],
    ) -> Option<Fault> {
        let mut least_lost = [NONE; STRETCH];
        let mut greatest_won = [0u8; STRETCH];
        let mut list = [0u16; STRETCH];
        let stretches = whites.chunks(STRETCH).zip(values.chunks(STRETCH));
        for (first, (whites, values)) in (0..).step_by(STRETCH).zip(stretches) {
            least_lost.fill(NONE);
            greatest_won.fill(0);
            for jump in jumps {
                let mut jumping = 0;
                for (at, &white) in (0u16..).zip(whites) {
                    list[jumping] = at;
                    let may = white & jump.occupied == jump.occupied && white & jump.empty == 0;
                    jumping += usize::from(may);
                }
                for at in list[..jumping].iter().map(|&at| usize::from(at)) {
                    let (row, column) = self.look_up(jump, whites[at] ^ jump.changed);
                    let after = jump.wins.row(row)[column as usize];
                    if after % 2 == 0 {
                        least_lost[at] = least_lost[at].min(after);
                    } else {
                        greatest_won[at] = greatest_won[at].max(after);
                    }
                }
            }
            for (at, &got) in values.iter().enumerate() {
                let expected = match (least_lost[at], greatest_won[at]) {
                    (NONE, 0) => 0,
                    (NONE, won) => won + 1,
                    (lost, _) => lost + 1,
                };
                if got != expected {
                    let text = |plies: u8| match plies % 2 {
                        0 => format!("a loss in {plies}").into(),
                        _ => format!("a win in {plies}").into(),
                    };
                    let (column, what) = ((first + at) as u32, "the remoteness");
                    return Some(Fault { column, what, expected: text(expected), got: text(got) });
                }
            }
        }
        None
    }
}
