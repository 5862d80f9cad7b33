//! Counts how many positions of a file have which remoteness.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::counts::{images, tasks_of_rows};
use super::error::DatabaseError;
use super::format::{BlockKey, BlockKind};
use super::histogram::{Histogram, add};
use super::layer_file::{Inflater, LayerFile};
use crate::konane::Colour;
use crate::tablebase::index::Index;

/// Values that a remoteness can have: 0 to 63.
const VALUES: usize = 64;

impl Histogram {
    /// Counts in the file of a layer of a database with remoteness. Reads the whole file, in
    /// parallel, in the current pool of `rayon`.
    ///
    /// # Errors
    /// If the file is damaged or its rows are not those of the index, and
    /// [`DatabaseError::Interrupted`] if `stop` was set.
    pub fn of_layer(
        index: &Index,
        file: &LayerFile,
        stop: &AtomicBool,
    ) -> Result<Self, DatabaseError> {
        let mut histogram = Histogram::default();
        for block in file.blocks() {
            let key = block.key();
            if key.kind != BlockKind::Wins {
                continue;
            }
            let counted = count_block(index, file, key, stop)?;
            match key.to_move {
                Colour::Black => add(&mut histogram.black, &counted),
                Colour::White => add(&mut histogram.white, &counted),
            }
        }
        if index.exchanges() {
            histogram.white = histogram.black.clone();
        }
        Ok(histogram)
    }
}

/// The positions of the blocks with one side to move and numbers of stones.
fn count_block(
    index: &Index,
    file: &LayerFile,
    key: BlockKey,
    stop: &AtomicBool,
) -> Result<[u64; VALUES], DatabaseError> {
    let bits = file.header().bits();
    let blocks = (0..bits)
        .map(|bit| file.expect_block(BlockKey { kind: BlockKind::of_bit(bit), ..key }))
        .collect::<Result<Vec<_>, DatabaseError>>()?;
    let columns = blocks[0].columns();
    let patterns = index.orbits(key.black).patterns();
    tasks_of_rows(index, file, blocks[0])?
        .map_init(
            || (Inflater::new(), vec![Vec::new(); blocks.len()]),
            |(inflater, buffers), rows| {
                DatabaseError::go_on(stop)?;
                let row_bytes = blocks[0].row_bytes() as usize;
                for (block, buffer) in blocks.iter().zip(buffers.iter_mut()) {
                    buffer.resize(rows.clone().count() * row_bytes, 0);
                    file.read_rows(block, rows.start, inflater, buffer)?;
                }
                let mut sums = [0; VALUES];
                for (nth, row) in rows.enumerate() {
                    let place = nth * row_bytes..(nth + 1) * row_bytes;
                    let bits: Vec<&[u8]> = buffers.iter().map(|b| &b[place.clone()]).collect();
                    let images = images(index, patterns[row as usize]);
                    let counted = count_row(&bits, columns);
                    sums.iter_mut().zip(counted).for_each(|(sum, n)| *sum += images * n);
                }
                Ok(sums)
            },
        )
        .try_reduce(
            || [0; VALUES],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                Ok(a)
            },
        )
}

/// Columns of a row by value; `bits` are its bits from the lowest on.
fn count_row(bits: &[&[u8]], columns: u64) -> [u64; VALUES] {
    let mut counts = [0; VALUES];
    let mut words = vec![0u64; bits.len()];
    let mut left = columns;
    let word_of = |bytes: &[u8], at: usize| {
        let mut word = [0; 8];
        let taken = &bytes[at..bytes.len().min(at + 8)];
        word[..taken.len()].copy_from_slice(taken);
        u64::from_le_bytes(word)
    };
    for at in (0..bits[0].len()).step_by(8) {
        for (word, bytes) in words.iter_mut().zip(bits) {
            *word = word_of(bytes, at);
        }
        let valid = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        left = left.saturating_sub(64);
        split(&words, valid, 0, &mut counts);
    }
    counts
}

/// Counts the columns of a word that `among` marks, by value; `value` is what the bits looked at so
/// far say.
fn split(words: &[u64], among: u64, value: usize, counts: &mut [u64; VALUES]) {
    if among == 0 {
        return;
    }
    match words.split_last() {
        None => counts[value] += u64::from(among.count_ones()),
        Some((word, lower)) => {
            split(lower, among & !word, value, counts);
            split(lower, among & word, value | 1 << lower.len(), counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_column_by_column() {
        for columns in [1u64, 7, 8, 63, 64, 65, 200] {
            for planes in 1..=6usize {
                let row_bytes = columns.div_ceil(8) as usize;
                let mut bits = vec![vec![0u8; row_bytes]; planes];
                let mut expected = [0; VALUES];
                for column in 0..columns as usize {
                    let value = (column * column * 31 + column) % (1 << planes);
                    expected[value] += 1;
                    for (plane, bytes) in bits.iter_mut().enumerate() {
                        bytes[column / 8] |= ((value >> plane & 1) as u8) << (column % 8);
                    }
                }
                let bits: Vec<&[u8]> = bits.iter().map(|b| &b[..]).collect();
                assert_eq!(count_row(&bits, columns), expected);
            }
        }
    }
}
