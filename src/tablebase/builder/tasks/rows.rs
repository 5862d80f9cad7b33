//! Making a slice of rows from the rows that jumps lead to.

use std::ops::Range;

use rayon::prelude::*;

use super::place::{self, Place};
use super::run::Runner;
use crate::konane::Colour;
use crate::tablebase::DatabaseError;
use crate::tablebase::builder::error::BuildError;
use crate::tablebase::files::{
    BlockKey, BlockKind, Inflater, LayerFile, LayerHeader, LayerWriter, Metric, ROWS, Scope,
};
use crate::tablebase::index::Index;
use crate::tablebase::values::sweep::{Slice, Sweep, row_words};

/// A block of rows that is read: a slice's file, or the layer that it is in by now.
struct Source {
    file: LayerFile,
    key: BlockKey,
    /// The row of the block that is the slice's first.
    first: u64,
    row_bytes: usize,
}

/// What is wrong with a file of another slice.
pub(super) const ROWS_OF: &str = "the number of rows";

/// The header of slices. In scope complete some boards have no blocks with White to move, in scope
/// reachable all have.
pub(super) fn slice_header(runner: &Runner<'_>, stones: u32) -> LayerHeader {
    LayerHeader::new(runner.index, Scope::Reachable, Metric::Outcome, stones)
}

impl Runner<'_> {
    /// Makes a slice, and writes those of its files that are not there.
    pub(super) fn rows(
        &self,
        black: u32,
        to_move: Colour,
        rows: Range<u32>,
    ) -> Result<(), BuildError> {
        let missing = self.missing(black, to_move, rows.start);
        if missing.is_empty() {
            return Ok(());
        }
        let (index, place) = (self.index, self.place);
        let slice = Slice::zeroed(index, black, rows.clone());
        let mut slice =
            slice.map_err(BuildError::io("reserve memory for building", &place.directory))?;
        self.has_rows(slice.bytes());
        self.fill(black, to_move, rows.clone(), &mut slice)?;
        slice.split(&self.columns);
        let making = place.making()?;
        for key in missing {
            self.look()?;
            let target = place.slice(key, rows.start);
            let header = slice_header(self, key.black + key.white);
            let mut writer = LayerWriter::create(&making.file(&target), header)?.provisional();
            writer.begin_block(key);
            for row in 0..rows.len() {
                writer.write(slice.block_row(row, &self.columns, key.white))?;
            }
            writer.end_block()?;
            let written = writer.finish()?;
            self.wrote(written.bytes);
            making.done(&target)?;
        }
        Ok(())
    }

    /// The blocks of a slice that are neither in a file of their own nor in a finished layer.
    fn missing(&self, black: u32, to_move: Colour, first: u32) -> Vec<BlockKey> {
        let all = 0..=self.index.numbering().count(Colour::White);
        let key = |white| BlockKey { kind: BlockKind::Wins, to_move, black, white };
        let is_missing = |key: &BlockKey| {
            let layer = self.index.sides().contains(&to_move)
                && self.place.entry(key.black + key.white).exists();
            !layer && !self.place.slice(*key, first).exists()
        };
        all.map(key).filter(is_missing).collect()
    }

    fn fill(
        &self,
        black: u32,
        to_move: Colour,
        rows: Range<u32>,
        slice: &mut Slice,
    ) -> Result<(), BuildError> {
        let sweep = Sweep::new(self.index);
        let targets = slice.targets();
        let longest = self.index.board().longest_jump();
        let layers = match to_move {
            Colour::White => black.saturating_sub(longest)..black,
            Colour::Black => black..black + 1,
        };
        let wanted = wanted(&sweep, self.index, black, to_move, rows);
        for before in layers.clone() {
            let patterns = self.index.orbits(before).patterns();
            let wanted = &wanted[(before - layers.start) as usize];
            for range in self.slices.ranges(patterns.len() as u64) {
                let octets: Vec<u32> = (range.start..range.end)
                    .step_by(ROWS)
                    .filter(|&first| wanted[first as usize / ROWS] != 0)
                    .collect();
                if octets.is_empty() {
                    continue;
                }
                let sources = self.sources(before, !to_move, &range)?;
                let reader = || Reader::new(self, &sources);
                octets.into_par_iter().try_for_each_init(reader, |reader, first| {
                    self.look()?;
                    let count = (range.end - first).min(ROWS as u32);
                    reader.read(self.place, first - range.start, count)?;
                    self.read_rows(count);
                    for nth in
                        (0..count).filter(|nth| wanted[first as usize / ROWS] >> nth & 1 == 1)
                    {
                        let (row, scratch) = reader.row(self, nth as usize);
                        let pattern = patterns[(first + nth) as usize];
                        match to_move {
                            Colour::White => sweep.scatter(&targets, pattern, row, scratch),
                            Colour::Black => sweep.scatter_black(&targets, pattern, row, scratch),
                        }
                    }
                    Ok::<_, BuildError>(())
                })?;
            }
        }
        Ok(())
    }

    /// The blocks of a slice, by number of white stones.
    fn sources(
        &self,
        black: u32,
        to_move: Colour,
        rows: &Range<u32>,
    ) -> Result<Vec<Source>, BuildError> {
        let all = 0..=self.index.numbering().count(Colour::White);
        all.map(|white| {
            let key = BlockKey { kind: BlockKind::Wins, to_move, black, white };
            let path = self.place.slice(key, rows.start);
            let in_layer = self.index.sides().contains(&to_move)
                && !path.exists()
                && self.place.entry(black + white).exists();
            let (file, first) = match in_layer {
                true => (self.place.layer(black + white), rows.start),
                false => (path, 0),
            };
            let file = place::open(self.place, &file)?;
            let block = file.expect_block(key);
            let whole = block.and_then(|block| match block.rows() {
                got if in_layer || got == rows.len() as u64 => Ok(()),
                got => Err(DatabaseError::damaged(file.path(), ROWS_OF, rows.len(), got)),
            });
            whole.map_err(|reason| self.place.lost(file.path(), reason))?;
            let row_bytes = self.columns.row_bytes(white);
            Ok(Source { file, key, first: first.into(), row_bytes })
        })
        .collect()
    }
}

/// The rows from which a slice is made, by number of black stones and octet: a bit for each row.
pub(super) fn wanted(
    sweep: &Sweep<'_>,
    index: &Index,
    black: u32,
    to_move: Colour,
    rows: Range<u32>,
) -> Vec<Vec<u8>> {
    let lowest = match to_move {
        Colour::White => black.saturating_sub(index.board().longest_jump()),
        Colour::Black => black,
    };
    let octets = |b: u32| vec![0u8; index.orbits(b).patterns().len().div_ceil(ROWS)];
    let mut wanted: Vec<Vec<u8>> = (lowest..=black).map(octets).collect();
    for &pattern in &index.orbits(black).patterns()[rows.start as usize..rows.end as usize] {
        let mark = |b: u32, row: u32| {
            wanted[(b - lowest) as usize][row as usize / ROWS] |= 1 << (row % ROWS as u32);
        };
        match to_move {
            Colour::White => sweep.white_sources(pattern, mark),
            Colour::Black => sweep.black_sources(pattern, mark),
        }
    }
    wanted
}

/// Reads rows, eight at a time. One for each thread.
struct Reader<'a> {
    sources: &'a [Source],
    inflater: Inflater,
    /// By number of white stones.
    blocks: Vec<Vec<u8>>,
    split: Vec<u64>,
    row: Vec<u64>,
    scratch: Vec<u64>,
}

impl<'a> Reader<'a> {
    fn new(runner: &Runner<'_>, sources: &'a [Source]) -> Self {
        Reader {
            sources,
            inflater: Inflater::new(),
            blocks: sources.iter().map(|source| vec![0; ROWS * source.row_bytes]).collect(),
            split: vec![0; runner.columns.words()],
            row: vec![0; row_words(runner.index.numbering().count(Colour::White))],
            scratch: Vec::new(),
        }
    }

    /// Reads `count` rows from a slice's row `first` on.
    fn read(&mut self, place: &Place, first: u32, count: u32) -> Result<(), BuildError> {
        for (source, bytes) in self.sources.iter().zip(&mut self.blocks) {
            let bytes = &mut bytes[..count as usize * source.row_bytes];
            let first = source.first + u64::from(first);
            let read = source
                .file
                .expect_block(source.key)
                .and_then(|block| source.file.read_rows(block, first, &mut self.inflater, bytes));
            read.map_err(|reason| place.lost(source.file.path(), reason))?;
        }
        Ok(())
    }

    /// One of these rows, over all white patterns, and room for its images.
    fn row(&mut self, runner: &Runner<'_>, nth: usize) -> (&[u64], &mut Vec<u64>) {
        for (source, bytes) in self.sources.iter().zip(&self.blocks) {
            let n = source.row_bytes;
            let row = &bytes[nth * n..(nth + 1) * n];
            runner.columns.put_block(&mut self.split, source.key.white, row);
        }
        runner.columns.join(&self.split, &mut self.row);
        (&self.row, &mut self.scratch)
    }
}
