//! Building a complete board by the bit-parallel sweep, with the rows in files.
//!
//! ```text
//! for b = 0, 1, .. black stones:
//!     parts with b-1, b-2, .. ──▶ rows of black_wins, a few at a time ──▶ white_wins with b, in memory
//!     white_wins with b       ──▶ rows of black_wins, a few at a time ──▶ parts with b
//! parts ──▶ layers by stone count
//! ```
//!
//! In memory is one layer of rows, and what passes through.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::error::BuildError;
use super::observer::{BuildObserver, Stage};
use super::parts::{self, Parts};
use super::workspace::Workspace;
use crate::endgame::files::{BlockKey, BlockKind, Inflater, LayerFile, ManifestLayer, ROWS};
use crate::endgame::index::{Index, Sizes};
use crate::endgame::values::sweep::{Layer, Sweep, Targets};
use crate::konane::Colour;

/// Bytes of a block that one task reads.
const READ_BYTES: usize = 1 << 18;

/// The most white squares: rows of 4 MiB.
pub(super) const MAX_WHITE: u32 = 25;

/// Bytes of memory that the method needs, beside the tables of the index.
pub(super) fn memory(sizes: &Sizes, white: u32) -> u128 {
    let row = (1u128 << white) / 8;
    let layer = sizes.most_rows() * row.max(64);
    layer + parts::memory(white)
}

/// The method at work.
pub(super) struct Swept<'a> {
    parts: Parts<'a>,
    sweep: Sweep<'a>,
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
    ) -> Result<Self, BuildError> {
        let parts = Parts::new(index, workspace, 1, observer, stop)?;
        Ok(Swept { parts, sweep: Sweep::new(index) })
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

    /// Makes blocks with `black` black stones, given by kind and side to move.
    fn make(&self, black: u32, missing: &[Vec<BlockKey>]) -> Result<(), BuildError> {
        self.parts.outside.observer.stage(Stage::Rows { black });
        let white_wins = self.white_wins(black)?;
        let patterns = self.parts.index.orbits(black).patterns();
        for keys in missing {
            self.parts.write(keys, |at, row, scratch| match keys[0].to_move {
                Colour::White => row.copy_from_slice(white_wins.row(at)),
                Colour::Black => {
                    self.sweep.black_row(&white_wins, patterns[at as usize], row, scratch);
                }
            })?;
        }
        Ok(())
    }

    /// `white_wins` with `black` black stones, from the files with fewer.
    fn white_wins(&self, black: u32) -> Result<Layer, BuildError> {
        let Parts { index, columns, .. } = &self.parts;
        let mut layer = Layer::zeroed(index, black).map_err(self.parts.memory_error())?;
        let targets = Targets::all(&mut layer);
        let longest = index.board().longest_jump();
        for before in black.saturating_sub(longest)..black {
            let sources = self.sources(before)?;
            let patterns = index.orbits(before).patterns();
            for batch in self.parts.batches(before) {
                self.parts.look()?;
                let first = batch.start;
                let blocks = self.read(&sources, batch.clone())?;
                batch.into_par_iter().for_each_init(
                    || (vec![0; columns.words()], vec![0; self.parts.row_words()], vec![]),
                    |(split, row, scratch), at| {
                        let nth = (at - first) as usize;
                        for (source, bytes) in sources.iter().zip(&blocks) {
                            let n = source.row_bytes;
                            let words = &mut split[columns.block(source.key.white)];
                            words[words.len() - 1] = 0;
                            bytemuck::cast_slice_mut(words)[..n]
                                .copy_from_slice(&bytes[nth * n..(nth + 1) * n]);
                            words.iter_mut().for_each(|word| *word = u64::from_le(*word));
                        }
                        columns.join(split, row);
                        self.sweep.scatter(&targets, patterns[at as usize], row, scratch);
                    },
                );
            }
        }
        drop(targets);
        Ok(layer)
    }

    /// The blocks of `black_wins` with `black` black stones, by number of white stones.
    fn sources(&self, black: u32) -> Result<Vec<Source>, BuildError> {
        let all = 0..=self.parts.index.numbering().count(Colour::White);
        all.map(|white| {
            let key = BlockKey { kind: BlockKind::Wins, to_move: Colour::Black, black, white };
            let file = LayerFile::open(&self.parts.path(key))?;
            Ok(Source { file, key, row_bytes: self.parts.columns.row_bytes(white) })
        })
        .collect()
    }

    /// Rows of blocks, by number of white stones.
    fn read(&self, sources: &[Source], rows: Range<u32>) -> Result<Vec<Vec<u8>>, BuildError> {
        let read = |source: &Source| {
            let block = source.file.expect_block(source.key)?;
            let mut bytes = vec![0; rows.len() * source.row_bytes];
            let taken = (READ_BYTES / source.row_bytes).max(1).next_multiple_of(ROWS);
            bytes.par_chunks_mut(taken * source.row_bytes).enumerate().try_for_each_init(
                Inflater::new,
                |inflater, (task, out)| {
                    let first = u64::from(rows.start) + (task * taken) as u64;
                    source.file.read_rows(block, first, inflater, out)
                },
            )?;
            Ok(bytes)
        };
        sources.par_iter().map(read).collect()
    }
}
