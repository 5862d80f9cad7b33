//! Blocks from rows: the parts of a build that goes by the number of black stones.
//!
//! The layers of a database go by the number of all stones, the sweep and the state space by that of
//! black ones. So rows are split by white stones and written to parts, one for each block, and the
//! layers are put together when all parts are there. The parts are what an interrupted build goes
//! on from: there is no other state.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::error::BuildError;
use super::observer::{BuildObserver, Outside, Stage};
use super::workspace::Workspace;
use crate::konane::Colour;
use crate::tablebase::files::{BlockKey, BlockKind, LayerWriter, ManifestLayer, Metric, ROWS};
use crate::tablebase::index::{Index, Sizes, binomial};
use crate::tablebase::values::sweep::row_ops::take_plane;
use crate::tablebase::values::sweep::{Columns, Words, row_words, stride_words};

/// Bytes of rows that pass through at a time.
const BATCH_BYTES: usize = 64 << 20;

/// The most rows of so many planes that pass through at a time: about [`BATCH_BYTES`], and whole octets.
fn batch_rows(sizes: &Sizes, row_words: usize, planes: usize) -> usize {
    let rows = (BATCH_BYTES / (8 * planes * row_words)).max(1).next_multiple_of(ROWS);
    let all = sizes.most_rows().next_multiple_of(ROWS as u128);
    usize::try_from(all).map_or(rows, |all| all.min(rows))
}

/// What the allocator keeps for a thread of what it has freed, at the most (6x6: 3.5 MiB).
const KEPT_BYTES: u128 = 4 << 20;

/// Bytes of memory for rows with `black` black stones that pass through, an upper bound: a batch of them,
/// what threads have in hand, and for every block what its writer takes.
pub(super) fn memory(sizes: &Sizes, metric: Metric, black: u32, threads: usize) -> u128 {
    let white = sizes.squares(Colour::White);
    let planes = metric.bits_of_rows(black, white);
    let row = 8 * stride_words(white) as u128;
    let rows = batch_rows(sizes, row_words(white), planes as usize) as u128;
    let (here, row_bytes) = (sizes.rows(black), |stones| binomial(white, stones).div_ceil(8));
    let writers = |stones| {
        u128::from(metric.bits(black + stones)) * LayerWriter::memory(here, row_bytes(stones))
    };
    let largest = row_bytes(white / 2);
    let at_work = LayerWriter::memory_at_work(here, largest);
    // A row and its image, one of their planes, whole and split, eight rows of a block, and what
    // compresses and decompresses.
    let in_hand = u128::from(2 * planes + 2) * row + 8 * u128::from(largest) + (1 << 20);
    rows * u128::from(planes) * row
        + (0..=white).map(writers).sum::<u128>()
        + at_work
        + threads as u128 * (in_hand + at_work.min(KEPT_BYTES))
}

/// The parts of one build.
pub(super) struct Parts<'a> {
    pub index: &'a Index,
    sizes: Sizes,
    pub columns: Columns,
    workspace: &'a Workspace<'a>,
    pub outside: Outside<'a>,
    /// Layers that an earlier run assembled.
    layers: Vec<Option<ManifestLayer>>,
}

impl<'a> Parts<'a> {
    /// Looks what an earlier run has left. Every row of the board will be reported as progress
    /// `rounds` times.
    pub fn new(
        index: &'a Index,
        workspace: &'a Workspace<'a>,
        rounds: u64,
        observer: &'a dyn BuildObserver,
        stop: &'a AtomicBool,
    ) -> Result<Self, BuildError> {
        let white = index.numbering().count(Colour::White);
        let black = index.numbering().count(Colour::Black);
        let sizes = Sizes::new(index);
        let total = (0..=black).map(|b| (rounds * sizes.rows(b)) << white).sum();
        let outside = Outside::new(observer, stop, total);
        let (columns, layers) = (Columns::new(white), Vec::new());
        let mut parts = Parts { index, sizes, columns, workspace, outside, layers };
        observer.stage(Stage::Resuming);
        for stones in 0..=black + white {
            parts.outside.go_on()?;
            parts.layers.push(workspace.layer(stones)?);
        }
        Ok(parts)
    }

    /// Reports that the rows with `black` black stones are done.
    pub fn advance(&self, black: u32) {
        let white = self.index.numbering().count(Colour::White);
        self.outside.advance(u64::from(self.index.orbits(black).len()) << white);
    }

    /// The blocks with `black` black stones that are neither in a part nor in a layer: those of one
    /// kind and side to move together, all bits of a remoteness being one kind.
    pub fn missing(&self, black: u32) -> Result<Vec<Vec<BlockKey>>, BuildError> {
        let mut missing: BTreeMap<_, Vec<BlockKey>> = BTreeMap::new();
        for white in 0..=self.index.numbering().count(Colour::White) {
            self.outside.go_on()?;
            let stones = black + white;
            if self.layers[stones as usize].is_some() {
                continue;
            }
            for key in self.workspace.header(stones).keys() {
                if key.black == black && self.workspace.part(key)?.is_none() {
                    let kind = match key.kind {
                        BlockKind::Remoteness(_) => BlockKind::Wins,
                        kind => kind,
                    };
                    missing.entry((kind, key.to_move)).or_default().push(key);
                }
            }
        }
        Ok(missing.into_values().collect())
    }

    /// The file that a block is in, which is there.
    pub fn path(&self, key: BlockKey) -> PathBuf {
        let stones = key.black + key.white;
        match self.layers[stones as usize] {
            Some(_) => self.workspace.layer_path(stones),
            None => self.workspace.part_path(key),
        }
    }

    /// An error of the operating system that has to do with the directory as a whole.
    pub fn memory_error(&self) -> impl FnOnce(std::io::Error) -> BuildError + use<> {
        BuildError::io("reserve memory for building", self.workspace.directory())
    }

    /// Words of a plane of a row before it is split.
    pub fn row_words(&self) -> usize {
        row_words(self.index.numbering().count(Colour::White))
    }

    /// Ranges of rows with `black` black stones and so many planes, each of about [`BATCH_BYTES`] and
    /// beginning with an octet.
    pub fn batches(&self, black: u32, planes: usize) -> impl Iterator<Item = Range<u32>> + use<> {
        let rows = self.index.orbits(black).len();
        let size = batch_rows(&self.sizes, self.row_words(), planes) as u32;
        (0..rows.div_ceil(size)).map(move |n| n * size..((n + 1) * size).min(rows))
    }

    /// Memory for the blocks of a batch of rows with so many planes. It goes back to the system when it is
    /// dropped: an allocator would keep some of it for each thread.
    pub fn buffer(&self, planes: usize) -> Result<Words, BuildError> {
        let rows = batch_rows(&self.sizes, self.row_words(), planes);
        Words::zeroed(rows * planes * self.columns.words()).map_err(self.memory_error())
    }

    /// Writes parts for blocks with the same number of black stones and side to move, that are of one
    /// kind or bits of a remoteness. `fill` makes a row of so many planes, which comes in zeroed, by
    /// its number.
    pub fn write(
        &self,
        keys: &[BlockKey],
        planes: usize,
        fill: impl Fn(u32, &mut [u64], &mut Vec<u64>) + Sync,
    ) -> Result<(), BuildError> {
        let Some(&BlockKey { black, .. }) = keys.first() else { return Ok(()) };
        let begin = |&key: &BlockKey| {
            let mut writer = self.workspace.part_writer(key)?;
            writer.begin_block(key);
            writer.reserve(self.index.orbits(black).len() as usize);
            Ok((key, writer))
        };
        let mut writers: Vec<(BlockKey, LayerWriter)> =
            keys.iter().map(begin).collect::<Result<_, BuildError>>()?;
        let (words, plane_words) = (self.columns.words(), self.row_words());
        // Bits that no value of these rows has, but others of their layers, are all zero.
        let nothing = vec![0u64; words];
        let mut buffer = self.buffer(planes)?;
        for batch in self.batches(black, planes) {
            self.outside.go_on()?;
            let columns = &mut buffer.as_mut_slice()[..batch.len() * planes * words];
            columns.par_chunks_exact_mut(planes * words).zip(batch).for_each_init(
                || (vec![0; planes * plane_words], vec![0; plane_words], Vec::new()),
                |(row, plane, scratch), (columns, at)| {
                    row.fill(0);
                    fill(at, row, scratch);
                    for (nth, columns) in columns.chunks_exact_mut(words).enumerate() {
                        take_plane(row, planes, nth, plane);
                        self.columns.split(plane, columns);
                    }
                    columns.iter_mut().for_each(|word| *word = word.to_le());
                },
            );
            writers.par_iter_mut().try_for_each(|(key, writer)| {
                let block = self.columns.block(key.white);
                let bytes = self.columns.row_bytes(key.white);
                let plane = match key.kind {
                    BlockKind::Remoteness(bit) => usize::from(bit),
                    _ => 0,
                };
                columns.chunks_exact(planes * words).try_for_each(|row| {
                    let row = row.chunks_exact(words).nth(plane).unwrap_or(&nothing);
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

    /// Puts the layers together. Returns all of them, and how many were there before.
    pub fn assemble(self) -> Result<(Vec<ManifestLayer>, u32), BuildError> {
        let found = self.layers.iter().flatten().count() as u32;
        let mut layers = Vec::with_capacity(self.layers.len());
        for (stones, entry) in (0..).zip(&self.layers) {
            let entry = match *entry {
                Some(entry) => entry,
                None => {
                    self.outside.observer.stage(Stage::Assembling { stones });
                    let summary = self.workspace.assemble(stones)?;
                    self.outside.observer.layer_finished(stones, &summary);
                    self.workspace.entry(stones)?
                }
            };
            layers.push(entry);
        }
        Ok((layers, found))
    }
}
