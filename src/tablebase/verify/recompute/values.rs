//! The values of a block in memory.

use rayon::prelude::*;

use crate::tablebase::files::transpose;

/// Number of lines that are transposed together. Their bytes are adjacent in all lines of the source.
const TOGETHER: usize = 64;

/// The values of a block, as lines of bits or of bytes. A line is a row of the block, or a column of it after
/// [`BlockValues::transposed`].
pub struct BlockValues {
    bytes: Vec<u8>,
    line_bytes: usize,
    /// 8 for bits, 1 for bytes.
    values_per_byte: usize,
}

/// Returns a bit of a row of bits.
#[inline(always)]
pub fn get_bit(bytes: &[u8], index: usize) -> bool {
    bytes[index / 8] >> (index % 8) & 1 == 1
}

impl BlockValues {
    /// Lines of bits; the unused bits of a line's last byte are 0.
    pub fn of_bits(bytes: Vec<u8>, line_bytes: usize) -> Self {
        BlockValues { bytes, line_bytes, values_per_byte: 8 }
    }

    /// Lines of bytes.
    pub fn of_bytes(bytes: Vec<u8>, line_bytes: usize) -> Self {
        BlockValues { bytes, line_bytes, values_per_byte: 1 }
    }

    /// The bytes of all lines.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of a line.
    pub fn line(&self, line: u32) -> &[u8] {
        &self.bytes[line as usize * self.line_bytes..][..self.line_bytes]
    }

    /// All lines in order, for parallel work.
    pub fn par_lines(&self) -> impl IndexedParallelIterator<Item = &[u8]> {
        self.bytes.par_chunks_exact(self.line_bytes)
    }

    /// The index of the first value of a line among the values in [`BlockValues::bytes`].
    pub fn start(&self, line: u32) -> usize {
        line as usize * self.line_bytes * self.values_per_byte
    }

    /// Exchanges rows and columns. The lines have `columns` values each.
    pub fn transposed(&self, columns: usize) -> Self {
        let lines = self.bytes.len() / self.line_bytes;
        let line_bytes = lines.div_ceil(self.values_per_byte);
        let mut bytes = vec![0; columns * line_bytes];
        bytes.par_chunks_mut(TOGETHER * line_bytes).enumerate().for_each(|(task, columns)| {
            let first = task * TOGETHER / self.values_per_byte;
            let lines = self.bytes.chunks(self.values_per_byte * self.line_bytes);
            for (at, lines) in lines.enumerate() {
                for (byte, columns) in
                    (first..).zip(columns.chunks_mut(self.values_per_byte * line_bytes))
                {
                    let mut matrix = [0; 8];
                    for (to, line) in matrix.iter_mut().zip(lines.chunks(self.line_bytes)) {
                        *to = line[byte];
                    }
                    if self.values_per_byte == 8 {
                        matrix = transpose(u64::from_le_bytes(matrix)).to_le_bytes();
                    }
                    for (column, byte) in columns.chunks_mut(line_bytes).zip(matrix) {
                        column[at] = byte;
                    }
                }
            }
        });
        BlockValues { bytes, line_bytes, values_per_byte: self.values_per_byte }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_transposed_values_are_columns() {
        for (lines, columns) in [(1, 1), (1, 70), (7, 8), (8, 64), (9, 65), (130, 200)] {
            let value = |line: usize, column: usize| (line * 31 + column * column) as u8 % 63;
            let bytes = (0..lines * columns).map(|i| value(i / columns, i % columns)).collect();
            let transposed = BlockValues::of_bytes(bytes, columns).transposed(columns);
            let line_bytes = columns.div_ceil(8);
            let mut bits = vec![0; lines * line_bytes];
            for line in 0..lines {
                for column in 0..columns {
                    let bit = value(line, column) & 1;
                    bits[line * line_bytes + column / 8] |= bit << (column % 8);
                }
            }
            let bits = BlockValues::of_bits(bits, line_bytes).transposed(columns);
            for column in 0..columns {
                for line in 0..lines {
                    let expected = value(line, column);
                    assert_eq!(transposed.line(column as u32)[line], expected);
                    assert_eq!(get_bit(bits.line(column as u32), line), expected & 1 == 1);
                }
            }
        }
    }
}
