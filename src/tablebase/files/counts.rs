//! Counting the positions of a layer and those that are won, from its file.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::error::DatabaseError;
use super::format::{BlockKind, Scope};
use super::layer_file::{Inflater, LayerFile};
use super::layer_index::{Block, count_ones};
use super::manifest::{Counts, ManifestLayer};
use crate::konane::Colour;
use crate::tablebase::index::{Index, binomial, stabiliser};

/// Bytes of rows that one task counts.
const TASK_BYTES: u64 = 1 << 18;

/// Counts what a layer file holds, in the sense of [`Counts`]: all positions with their equivalent
/// ones in scope complete, one of each in scope reachable. Reads the whole file and checks it as
/// [`LayerFile::verify`] does, in parallel, in the current pool of `rayon`.
///
/// # Errors
/// As there, and if the rows are not those of the index.
///
/// # Panics
/// If the index is one of another board.
pub fn count_layer(
    index: &Index,
    file: &LayerFile,
    stop: &AtomicBool,
) -> Result<Counts, DatabaseError> {
    let header = file.header();
    assert_eq!(index.board().dimensions(), header.dimensions, "the board of the index");
    let mut counts = Counts::default();
    for block in file.blocks() {
        if let BlockKind::Remoteness(_) = block.key().kind {
            file.verify_block(block, stop)?;
            continue;
        }
        let set = count_block(index, file, block, stop)?;
        let of_side = match block.key().to_move {
            Colour::Black => &mut counts.black_to_move_wins,
            Colour::White => &mut counts.white_to_move_wins,
        };
        match block.key().kind {
            BlockKind::Reached => counts.positions += set,
            _ => *of_side += set,
        }
    }
    if header.scope == Scope::Complete {
        // Both sides to move for every set of stones.
        let squares = |colour| header.count(colour);
        let sets = |black| {
            let white = binomial(squares(Colour::White), header.stones - black);
            binomial(squares(Colour::Black), black) * white
        };
        counts.positions = 2 * (0..=header.stones).map(sets).sum::<u64>();
        if index.exchanges() {
            counts.white_to_move_wins = counts.black_to_move_wins;
        }
    }
    Ok(counts)
}

/// The manifest's entry of a layer, from its file.
///
/// # Errors
/// As [`count_layer`].
pub fn layer_entry(
    index: &Index,
    file: &LayerFile,
    stop: &AtomicBool,
) -> Result<ManifestLayer, DatabaseError> {
    let (stones, counts) = (file.header().stones, count_layer(index, file, stop)?);
    let (bytes, footer_xxh3) = (file.bytes(), file.footer_xxh3());
    Ok(ManifestLayer { stones, bytes, footer_xxh3, counts })
}

fn count_block(
    index: &Index,
    file: &LayerFile,
    block: &Block,
    stop: &AtomicBool,
) -> Result<u64, DatabaseError> {
    let patterns = index.orbits(block.key().black).patterns();
    let add = |a: [u64; 2], b: [u64; 2]| [a[0] + b[0], a[1] + b[1]];
    let sums: Result<_, DatabaseError> = tasks_of_rows(index, file, block)?
        .map_init(
            || (Inflater::new(), Vec::new()),
            |(inflater, buffer), rows| {
                DatabaseError::go_on(stop)?;
                let row_bytes = block.row_bytes();
                buffer.resize(((rows.end - rows.start) * row_bytes) as usize, 0);
                file.read_rows(block, rows.start, inflater, buffer)?;
                let row = |(row, bytes): (u64, &[u8])| {
                    let (pattern, set) = (patterns[row as usize], count_ones(bytes));
                    let counted = match file.header().scope {
                        Scope::Complete => images(index, pattern) * set,
                        Scope::Reachable => count_orbits(index, pattern, block.key().white, bytes),
                    };
                    [set, counted]
                };
                Ok(rows.zip(buffer.chunks_exact(row_bytes as usize)).map(row).fold([0; 2], add))
            },
        )
        .try_reduce(|| [0; 2], |a, b| Ok(add(a, b)));
    let [set, counted] = sums?;
    file.check_set_bits(block, set)?;
    Ok(counted)
}

/// Ranges of a block's rows that are read together, in parallel.
pub(super) fn tasks_of_rows(
    index: &Index,
    file: &LayerFile,
    block: &Block,
) -> Result<impl ParallelIterator<Item = Range<u64>> + use<>, DatabaseError> {
    let rows = u64::from(index.orbits(block.key().black).len());
    if block.rows() != rows {
        let what = format!("the rows of {}", block.key());
        return Err(DatabaseError::damaged(file.path(), what, rows, block.rows()));
    }
    let each = (TASK_BYTES / block.row_bytes() + 1).next_multiple_of(8);
    let tasks = (0..rows.div_ceil(each)).into_par_iter();
    Ok(tasks.map(move |task| task * each..rows.min((task + 1) * each)))
}

/// How many black patterns the symmetries make of one.
pub(super) fn images(index: &Index, pattern: u32) -> u64 {
    let symmetries = index.numbering().symmetries() as u64;
    symmetries / u64::from(stabiliser(index.numbering(), pattern).count_ones())
}

/// The positions of a row, equivalent ones counted once. They are all in the row; where its black
/// pattern has symmetries of its own, a position counts at its least column.
fn count_orbits(index: &Index, pattern: u32, white: u32, row: &[u8]) -> u64 {
    let numbering = index.numbering();
    let own = stabiliser(numbering, pattern);
    if own == 1 {
        return count_ones(row);
    }
    let ranks = index.ranks(Colour::White);
    let patterns = ranks.patterns(white).zip(0usize..);
    let is_least = |&(pattern, column): &(u32, usize)| {
        row[column / 8] >> (column % 8) & 1 == 1
            && (1..numbering.symmetries())
                .filter(|g| own >> g & 1 == 1)
                .all(|g| numbering.image(Colour::White, g, pattern) >= pattern)
    };
    patterns.filter(is_least).count() as u64
}
