//! What every way to build takes: shares and sizes that the estimates have in common.

use std::path::Path;

use crate::konane::Colour;
use crate::tablebase::files::Metric;
use crate::tablebase::index::{Sizes, binomial};

/// Compressed bytes for a raw one, at the most, of a whole board: 6x6 has 0.57, 5x6 0.62.
pub const COMPRESSED_SHARE: f64 = 0.65;

/// The same with the remoteness: 5x6 has 0.72.
pub const COMPRESSED_SHARE_OF_REMOTENESS: f64 = 0.75;

/// The same of a part of a board or a small one: 5x6 with 15 stones had 0.80.
pub const COMPRESSED_SHARE_OF_FEW: f64 = 0.85;

/// Bytes before compression from which on a whole board is no small one.
const LARGE: u128 = 16 << 20;

/// Memory of the program itself, compression included.
pub const BASE_BYTES: u128 = 64 << 20;

/// Compressed bytes for a raw one of so many, if they are a whole board.
pub fn compressed_share(raw: u128, metric: Metric) -> f64 {
    match metric {
        _ if raw < LARGE => COMPRESSED_SHARE_OF_FEW,
        Metric::Outcome => COMPRESSED_SHARE,
        Metric::Remoteness => COMPRESSED_SHARE_OF_REMOTENESS,
    }
}

/// The tables of canonical black patterns.
pub fn orbit_bytes(sizes: &Sizes, max_stones: u32) -> u128 {
    let black = sizes.squares(Colour::Black);
    (0..=black.min(max_stones))
        .map(|b| u128::from(binomial(black, b)) / 5 + 4 * u128::from(sizes.rows(b)))
        .sum()
}

/// Bytes of the files in a directory: what an interrupted build left.
pub fn present(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|metadata| metadata.len()).sum()
}

pub fn saturated(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
