//! Layout of the bits of a block in a file: *octets*.
//!
//! An octet is eight consecutive rows, interleaved: it has one byte for each column, and bit `r` of a byte is
//! the bit of row `r` in this column. Consecutive rows are those of black patterns that differ in few stones.
//! So the eight bits of a byte are equal more often than eight neighbouring bits of a row. Also, a chunk covers
//! fewer columns. Both together make compressed files a tenth smaller.
//!
//! In memory, rows are not interleaved: bit `i` of a row is bit `i % 8` of its byte `i / 8`.

/// Number of rows in an octet.
pub const ROWS: usize = 8;

/// Exchanges rows and columns of an 8×8 matrix: bit `8i + j` becomes bit `8j + i`.
#[inline(always)]
pub(in crate::tablebase) fn transpose(mut x: u64) -> u64 {
    // Blocks of 1×1, 2×2 and 4×4 bits are exchanged across the diagonal.
    for (shift, mask) in
        [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0x0000_0000_F0F0_F0F0)]
    {
        let differing = (x ^ (x >> shift)) & mask;
        x ^= differing ^ (differing << shift);
    }
    x
}

/// Interleaves up to eight rows of `row_bytes` bytes each, and writes one byte for each column to `octet`. The
/// length of `octet` is the number of columns. The bits of missing rows are 0.
///
/// # Panics
/// If a row of `octet.len()` columns does not take exactly `row_bytes` bytes.
pub fn interleave(rows: &[u8], row_bytes: usize, octet: &mut [u8]) {
    assert_eq!(octet.len().div_ceil(8), row_bytes, "bytes of a row");
    for (at, columns) in octet.chunks_mut(8).enumerate() {
        let mut matrix = 0;
        for (row, bytes) in rows.chunks_exact(row_bytes).enumerate() {
            matrix |= u64::from(bytes[at]) << (8 * row);
        }
        columns.copy_from_slice(&transpose(matrix).to_le_bytes()[..columns.len()]);
    }
}

/// Converts an octet back to up to eight rows of `row_bytes` bytes each, as many as fit into `rows`.
///
/// # Panics
/// If a row of `octet.len()` columns does not take exactly `row_bytes` bytes.
pub fn deinterleave(octet: &[u8], row_bytes: usize, rows: &mut [u8]) {
    assert_eq!(octet.len().div_ceil(8), row_bytes, "bytes of a row");
    for (at, columns) in octet.chunks(8).enumerate() {
        let mut matrix = [0; 8];
        matrix[..columns.len()].copy_from_slice(columns);
        let matrix = transpose(u64::from_le_bytes(matrix)).to_le_bytes();
        for (bytes, byte) in rows.chunks_exact_mut(row_bytes).zip(matrix) {
            bytes[at] = byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_restored_from_octets(
            columns in 1usize..40,
            rows in 1usize..=8,
            noise in prop::collection::vec(any::<u8>(), 40),
        ) {
            let bit = |row: usize, column: usize| noise[column] >> row & 1;
            let row_bytes = columns.div_ceil(8);
            let mut whole = vec![0; rows * row_bytes];
            for row in 0..rows {
                for column in 0..columns {
                    whole[row * row_bytes + column / 8] |= bit(row, column) << (column % 8);
                }
            }
            let mut octet = vec![0xAA; columns];
            interleave(&whole, row_bytes, &mut octet);
            for (column, byte) in octet.iter().enumerate() {
                for row in 0..8 {
                    let expected = if row < rows { bit(row, column) } else { 0 };
                    prop_assert_eq!(byte >> row & 1, expected);
                }
            }
            let mut again = vec![0x55; whole.len()];
            deinterleave(&octet, row_bytes, &mut again);
            prop_assert_eq!(again, whole);
        }
    }
}
