//! Building a complete board by the bit-parallel sweep, with the rows in files.
//!
//! ```text
//! for b = 0, 1, .. black stones:
//!     parts with b-1, b-2, .. ──▶ rows of black_wins, a few at a time ──▶ white_wins with b, in memory
//!     white_wins with b       ──▶ rows of black_wins, a few at a time ──▶ parts with b
//! parts ──▶ layers by stone count
//! ```
//!
//! In memory is one layer of rows, and what passes through. With the remoteness, rows have as many
//! planes as their values have bits, and hold ranks while the greatest is looked for.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::error::BuildError;
use super::observer::{BuildObserver, Stage};
use super::parts::{self, Parts};
use super::workspace::Workspace;
use crate::konane::Colour;
use crate::tablebase::files::{
    BlockKey, BlockKind, Inflater, LayerFile, ManifestLayer, Metric, ROWS,
};
use crate::tablebase::index::{Index, Sizes};
use crate::tablebase::values::remoteness::{exchange_ranks, ranks_of_moves};
use crate::tablebase::values::sweep::row_ops::{for_each_group, put_plane};
use crate::tablebase::values::sweep::{Layer, Sweep, Targets};

/// Bytes of a block that one task reads.
const READ_BYTES: usize = 1 << 18;

/// The most white squares: rows of 4 MiB.
pub(super) const MAX_WHITE: u32 = 25;

/// Bytes of a lock around a row.
const LOCK_BYTES: u128 = 32;

/// Bytes of memory that the method needs, beside the tables of the index, an upper bound: a layer of
/// rows with the indexes of its files, of 12 bytes for 2 KiB in arrays that grow, and what passes through.
pub(super) fn memory(sizes: &Sizes, metric: Metric, threads: usize) -> u128 {
    let white = sizes.squares(Colour::White);
    let row = ((1u128 << white) / 8).max(64);
    let needs = |black| {
        let rows = u128::from(sizes.rows(black));
        let layer = rows * u128::from(metric.bits_of_rows(black, white)) * row;
        let passing = parts::memory(sizes, metric, black, threads);
        layer + layer / 64 + rows * LOCK_BYTES + passing
    };
    (0..=sizes.squares(Colour::Black)).map(needs).max().unwrap_or(0)
}

/// The method at work.
pub(super) struct Swept<'a> {
    parts: Parts<'a>,
    sweep: Sweep<'a>,
    metric: Metric,
}

/// A block of rows in a file.
struct Source {
    file: LayerFile,
    key: BlockKey,
    bit: usize,
    row_bytes: usize,
}

impl<'a> Swept<'a> {
    pub fn new(
        index: &'a Index,
        workspace: &'a Workspace<'a>,
        metric: Metric,
        observer: &'a dyn BuildObserver,
        stop: &'a AtomicBool,
    ) -> Result<Self, BuildError> {
        let parts = Parts::new(index, workspace, 1, observer, stop)?;
        Ok(Swept { parts, sweep: Sweep::new(index), metric })
    }

    /// All layers, and how many of them were there.
    pub fn run(self) -> Result<(Vec<ManifestLayer>, u32), BuildError> {
        for black in 0..=self.parts.index.numbering().count(Colour::Black) {
            let missing = self.parts.missing(black)?;
            if !missing.is_empty() {
                self.make(black, &missing)?;
            }
            self.parts.advance(black);
        }
        self.parts.assemble()
    }

    /// The planes of rows with `black` black stones.
    fn planes(&self, black: u32) -> usize {
        let white = self.parts.index.numbering().count(Colour::White);
        self.metric.bits_of_rows(black, white) as usize
    }

    /// Makes blocks with `black` black stones, given by kind and side to move.
    fn make(&self, black: u32, missing: &[Vec<BlockKey>]) -> Result<(), BuildError> {
        self.parts.outside.observer.stage(Stage::Rows { black });
        let planes = self.planes(black);
        let mut white_wins = self.white_wins(black)?;
        if planes > 1 {
            white_wins.for_each_group(planes, exchange_ranks);
        }
        let of = |side| missing.iter().filter(move |keys| keys[0].to_move == side);
        for keys in of(Colour::White) {
            self.parts.write(keys, planes, |at, row, _| row.copy_from_slice(white_wins.row(at)))?;
        }
        if planes > 1 {
            white_wins.for_each_group(planes, ranks_of_moves);
        }
        let patterns = self.parts.index.orbits(black).patterns();
        for keys in of(Colour::Black) {
            self.parts.write(keys, planes, |at, row, scratch| {
                self.sweep.black_row(&white_wins, patterns[at as usize], row, scratch);
                if planes > 1 {
                    for_each_group(row, planes, exchange_ranks);
                }
            })?;
        }
        Ok(())
    }

    /// `white_wins` with `black` black stones, from the files with fewer.
    fn white_wins(&self, black: u32) -> Result<Layer, BuildError> {
        let Parts { index, columns, .. } = &self.parts;
        let planes = self.planes(black);
        let layer = Layer::of_planes(index, black, planes);
        let mut layer = layer.map_err(self.parts.memory_error())?;
        let targets = Targets::all(&mut layer);
        let mut buffer = self.parts.buffer(planes)?;
        let longest = index.board().longest_jump();
        for before in black.saturating_sub(longest)..black {
            let sources = self.sources(before)?;
            let patterns = index.orbits(before).patterns();
            let plane_words = self.parts.row_words();
            for batch in self.parts.batches(before, planes) {
                self.parts.outside.go_on()?;
                let first = batch.start;
                let buffer = bytemuck::cast_slice_mut(buffer.as_mut_slice());
                let blocks = self.read(&sources, batch.clone(), buffer)?;
                batch.into_par_iter().for_each_init(
                    || (vec![0; columns.words()], vec![0; plane_words], Vec::new(), Vec::new()),
                    |(split, plane, row, scratch), at| {
                        let nth = (at - first) as usize;
                        row.clear();
                        row.resize(planes * plane_words, 0);
                        for bit in 0..self.planes(before) {
                            if planes > 1 {
                                split.fill(0);
                            }
                            let blocks = sources.iter().zip(&blocks);
                            for (source, bytes) in blocks.filter(|(source, _)| source.bit == bit) {
                                let n = source.row_bytes;
                                let row = &bytes[nth * n..(nth + 1) * n];
                                columns.put_block(split, source.key.white, row);
                            }
                            columns.join(split, plane);
                            put_plane(row, planes, bit, plane);
                        }
                        if planes > 1 {
                            for_each_group(row, planes, ranks_of_moves);
                        }
                        self.sweep.scatter(&targets, patterns[at as usize], row, scratch);
                    },
                );
            }
        }
        drop(targets);
        Ok(layer)
    }

    /// The blocks of `black_wins` with `black` black stones, by number of white stones and bit. A
    /// layer of few stones may have fewer bits than the rows; those have the value 0 there.
    fn sources(&self, black: u32) -> Result<Vec<Source>, BuildError> {
        let mut sources = Vec::new();
        for white in 0..=self.parts.index.numbering().count(Colour::White) {
            let in_file = self.metric.bits(black + white) as usize;
            for bit in 0..in_file.min(self.planes(black)) {
                let kind = BlockKind::of_bit(bit as u32);
                let key = BlockKey { kind, to_move: Colour::Black, black, white };
                let file = LayerFile::open(&self.parts.path(key))?;
                sources.push(Source {
                    file,
                    key,
                    bit,
                    row_bytes: self.parts.columns.row_bytes(white),
                });
            }
        }
        Ok(sources)
    }

    /// Reads rows of blocks into a buffer, where they stand by number of white stones and bit.
    fn read<'b>(
        &self,
        sources: &[Source],
        rows: Range<u32>,
        buffer: &'b mut [u8],
    ) -> Result<Vec<&'b [u8]>, BuildError> {
        let (mut blocks, mut rest) = (Vec::with_capacity(sources.len()), buffer);
        for source in sources {
            let (block, after) = rest.split_at_mut(rows.len() * source.row_bytes);
            blocks.push(block);
            rest = after;
        }
        let read = |(source, bytes): (&Source, &mut &mut [u8])| {
            let block = source.file.expect_block(source.key)?;
            let taken = (READ_BYTES / source.row_bytes).max(1).next_multiple_of(ROWS);
            bytes.par_chunks_mut(taken * source.row_bytes).enumerate().try_for_each_init(
                Inflater::new,
                |inflater, (task, out)| {
                    let first = u64::from(rows.start) + (task * taken) as u64;
                    source.file.read_rows(block, first, inflater, out)
                },
            )
        };
        sources.par_iter().zip(&mut blocks).try_for_each(read)?;
        Ok(blocks.into_iter().map(|block| &*block).collect())
    }
}
