//! Building a complete board by the bit-parallel sweep, with the rows in files.
//!
//! ```text
//! for b = 0, 1, .. black stones:
//!     parts with b-1, b-2, .. ──▶ rows of black_wins, a few at a time ──▶ white_wins with b, in memory
//!     white_wins with b       ──▶ rows of black_wins, a few at a time ──▶ parts with b
//! parts ──▶ layers by stone count
//! ```
//!
//! In memory is one layer of rows, and what passes through. The parts are what an interrupted build
//! goes on from: there is no other state.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::build_error::BuildError;
use super::counts::count_layer;
use super::format::{BlockKey, BlockKind};
use super::index::Index;
use super::layer_file::{Inflater, LayerFile};
use super::layer_writer::LayerWriter;
use super::manifest::ManifestLayer;
use super::observer::{BuildObserver, Stage};
use super::sizes::Sizes;
use super::sweep::columns::Columns;
use super::sweep::{Layer, Sweep, Targets};
use super::workspace::Workspace;
use crate::konane::Colour;

/// Bytes of rows that pass through at a time.
const BATCH_BYTES: usize = 64 << 20;

/// Bytes of a block that one task reads.
const READ_BYTES: usize = 1 << 18;

/// The most white squares: rows of 512 KiB.
pub(super) const MAX_WHITE: u32 = 22;

/// Bytes of memory that the method needs, beside the tables of the index.
pub(super) fn memory(sizes: &Sizes, white: u32) -> u128 {
    let row = (1u128 << white) / 8;
    let layer = sizes.most_rows() * row.max(64);
    // Both ends of a batch, and bits that wait to be compressed for every number of white stones.
    layer + 3 * BATCH_BYTES as u128 + u128::from(white + 1) * (6 << 20)
}

/// The method at work.
pub(super) struct Swept<'a> {
    index: &'a Index,
    workspace: &'a Workspace<'a>,
    sweep: Sweep<'a>,
    columns: Columns,
    observer: &'a dyn BuildObserver,
    stop: &'a AtomicBool,
    /// Layers that an earlier run assembled.
    layers: Vec<Option<LayerFile>>,
    done: AtomicU64,
    total: u64,
}

/// A block of rows in a file.
struct Source {
    file: LayerFile,
    key: BlockKey,
    row_bytes: usize,
}

impl<'a> Swept<'a> {
    pub fn new(
        index: &'a Index,
        workspace: &'a Workspace<'a>,
        observer: &'a dyn BuildObserver,
        stop: &'a AtomicBool,
    ) -> Self {
        let white = index.numbering().count(Colour::White);
        let sizes = Sizes::new(index);
        let black = index.numbering().count(Colour::Black);
        let total = (0..=black).map(|b| sizes.rows(b) << white).sum();
        Swept {
            index,
            workspace,
            sweep: Sweep::new(index),
            columns: Columns::new(white),
            observer,
            stop,
            layers: Vec::new(),
            done: AtomicU64::new(0),
            total,
        }
    }

    /// All layers, and how many of them were there.
    pub fn run(mut self) -> Result<(Vec<ManifestLayer>, u32), BuildError> {
        self.observer.stage(Stage::Resuming);
        let squares = self.index.board().dimensions().squares();
        for stones in 0..=squares {
            self.look()?;
            let layer = self.workspace.layer(stones)?;
            self.layers.push(layer);
        }
        let found = self.layers.iter().flatten().count() as u32;
        if self.layers.iter().any(Option::is_none) {
            for black in 0..=self.index.numbering().count(Colour::Black) {
                self.make(black)?;
            }
        }
        let mut layers = Vec::new();
        for (stones, found) in (0..).zip(std::mem::take(&mut self.layers)) {
            self.look()?;
            let file = match found {
                Some(file) => file,
                None => {
                    self.observer.stage(Stage::Assembling { stones });
                    let summary = self.workspace.assemble(stones)?;
                    self.observer.layer_finished(stones, &summary);
                    LayerFile::open(&self.workspace.layer_path(stones))?
                }
            };
            let counts = count_layer(self.index, &file)?;
            let (bytes, footer_xxh3) = (file.bytes(), file.footer_xxh3());
            layers.push(ManifestLayer { stones, bytes, footer_xxh3, counts });
        }
        Ok((layers, found))
    }

    fn look(&self) -> Result<(), BuildError> {
        if self.stop.load(Ordering::Relaxed) { Err(BuildError::Interrupted) } else { Ok(()) }
    }

    /// Makes what is missing of the blocks with `black` black stones.
    fn make(&self, black: u32) -> Result<(), BuildError> {
        let mut missing = Vec::new();
        for &to_move in self.index.sides() {
            for white in 0..=self.index.numbering().count(Colour::White) {
                let key = BlockKey { kind: BlockKind::Wins, to_move, black, white };
                let assembled = self.layers[(black + white) as usize].is_some();
                if !assembled && self.workspace.part(key)?.is_none() {
                    missing.push(key);
                }
            }
        }
        let rows = self.index.orbits(black).len();
        let per_row = 1u64 << self.index.numbering().count(Colour::White);
        if missing.is_empty() {
            self.advance(u64::from(rows) * per_row);
            return Ok(());
        }
        self.observer.stage(Stage::Rows { black });
        let white_wins = self.white_wins(black)?;
        let patterns = self.index.orbits(black).patterns();
        for to_move in [Colour::White, Colour::Black] {
            let keys: Vec<BlockKey> =
                missing.iter().copied().filter(|key| key.to_move == to_move).collect();
            self.write(black, &keys, |at, row, scratch| match to_move {
                Colour::White => row.copy_from_slice(white_wins.row(at)),
                Colour::Black => {
                    let pattern = patterns[at as usize];
                    self.sweep.black_row(&white_wins, pattern, row, scratch);
                }
            })?;
        }
        self.advance(u64::from(rows) * per_row);
        Ok(())
    }

    fn advance(&self, positions: u64) {
        let done = self.done.fetch_add(positions, Ordering::Relaxed) + positions;
        self.observer.progress(done, self.total);
    }

    /// `white_wins` with `black` black stones, from the files with fewer.
    fn white_wins(&self, black: u32) -> Result<Layer, BuildError> {
        let path = self.workspace.directory();
        let mut layer = Layer::zeroed(self.index, black)
            .map_err(BuildError::io("reserve memory for building", path))?;
        let targets = Targets::new(&mut layer);
        let longest = self.index.board().longest_jump();
        for before in black.saturating_sub(longest)..black {
            let sources = self.sources(before)?;
            let patterns = self.index.orbits(before).patterns();
            for batch in self.batches(before) {
                self.look()?;
                let first = batch.start;
                let blocks = self.read(&sources, batch.clone())?;
                batch.into_par_iter().for_each_init(
                    || (vec![0; self.columns.words()], vec![0; layer_words(self.index)], vec![]),
                    |(columns, row, scratch), at| {
                        let nth = (at - first) as usize;
                        for (source, bytes) in sources.iter().zip(&blocks) {
                            let n = source.row_bytes;
                            let words = &mut columns[self.columns.block(source.key.white)];
                            words[words.len() - 1] = 0;
                            bytemuck::cast_slice_mut(words)[..n]
                                .copy_from_slice(&bytes[nth * n..(nth + 1) * n]);
                            words.iter_mut().for_each(|word| *word = u64::from_le(*word));
                        }
                        self.columns.join(columns, row);
                        self.sweep.scatter(&targets, patterns[at as usize], row, scratch);
                    },
                );
            }
        }
        drop(targets);
        Ok(layer)
    }

    /// Ranges of rows with `black` black stones, each of at most [`BATCH_BYTES`] unless a row is
    /// longer.
    fn batches(&self, black: u32) -> impl Iterator<Item = Range<u32>> + use<> {
        let rows = self.index.orbits(black).len();
        let size = (BATCH_BYTES / (8 * layer_words(self.index))).max(1) as u32;
        (0..rows.div_ceil(size)).map(move |n| n * size..((n + 1) * size).min(rows))
    }

    /// The blocks of `black_wins` with `black` black stones, by number of white stones.
    fn sources(&self, black: u32) -> Result<Vec<Source>, BuildError> {
        let all = 0..=self.index.numbering().count(Colour::White);
        all.map(|white| {
            let key = BlockKey { kind: BlockKind::Wins, to_move: Colour::Black, black, white };
            let stones = black + white;
            let path = match &self.layers[stones as usize] {
                Some(layer) => layer.path().to_owned(),
                None => self.workspace.part_path(key),
            };
            let row_bytes = self.columns.row_bytes(white);
            Ok(Source { file: LayerFile::open(&path)?, key, row_bytes })
        })
        .collect()
    }

    /// Rows of blocks, by number of white stones.
    fn read(&self, sources: &[Source], rows: Range<u32>) -> Result<Vec<Vec<u8>>, BuildError> {
        let read = |source: &Source| {
            let block = source.file.expect_block(source.key)?;
            let from = u64::from(rows.start) * source.row_bytes as u64;
            let mut bytes = vec![0; rows.len() * source.row_bytes];
            // A chunk at the border of two tasks is decompressed by both.
            bytes.par_chunks_mut(READ_BYTES).enumerate().try_for_each_init(
                Inflater::new,
                |inflater, (nth, out)| {
                    let from = from + (nth * READ_BYTES) as u64;
                    source.file.read_at(block, from, inflater, out)
                },
            )?;
            Ok(bytes)
        };
        sources.par_iter().map(read).collect()
    }

    /// Writes the parts for some keys of one side to move. `fill` makes a row, which comes in
    /// zeroed, by its number.
    fn write(
        &self,
        black: u32,
        keys: &[BlockKey],
        fill: impl Fn(u32, &mut [u64], &mut Vec<u64>) + Sync,
    ) -> Result<(), BuildError> {
        if keys.is_empty() {
            return Ok(());
        }
        let begin = |&key: &BlockKey| {
            let mut writer = self.workspace.part_writer(key)?;
            writer.begin_block(key);
            Ok((key, writer))
        };
        let mut writers: Vec<(BlockKey, LayerWriter)> =
            keys.iter().map(begin).collect::<Result<_, BuildError>>()?;
        let words = self.columns.words();
        for batch in self.batches(black) {
            self.look()?;
            let mut columns = vec![0u64; batch.len() * words];
            columns.par_chunks_exact_mut(words).zip(batch).for_each_init(
                || (vec![0; layer_words(self.index)], Vec::new()),
                |(row, scratch), (columns, at)| {
                    row.fill(0);
                    fill(at, row, scratch);
                    self.columns.split(row, columns);
                    columns.iter_mut().for_each(|word| *word = word.to_le());
                },
            );
            writers.par_iter_mut().try_for_each(|(key, writer)| {
                let (block, bytes) =
                    (self.columns.block(key.white), self.columns.row_bytes(key.white));
                columns.chunks_exact(words).try_for_each(|row| {
                    writer.write(&bytemuck::cast_slice(&row[block.clone()])[..bytes])
                })
            })?;
        }
        for (_, mut writer) in writers {
            writer.end_block()?;
            writer.finish()?;
        }
        Ok(())
    }
}

/// The words of a row.
fn layer_words(index: &Index) -> usize {
    super::sweep::row_ops::row_words(index.numbering().count(Colour::White))
}
