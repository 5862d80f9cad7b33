//! Building by layers of stones.
//!
//! Layers are finished in ascending order. Whatever is found finished is checked, counted and kept;
//! values are computed only for what is missing, from layers in memory or read back.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use super::error::BuildError;
use super::observer::{BuildObserver, Outside, Stage};
use super::workspace::Workspace;
use crate::konane::Colour;
use crate::tablebase::files::{BlockKey, BlockKind, LayerFile, LayerHeader, ManifestLayer};
use crate::tablebase::index::{Index, Sizes};
use crate::tablebase::values::RankedLayers;

/// Layers with fewer bytes before compression are written at once: computing them again is cheaper
/// than the many small files of their parts.
const PARTS_FROM: u128 = 1 << 20;

/// The ranked method at work.
pub(super) struct Ranked<'a> {
    index: &'a Index,
    sizes: Sizes,
    workspace: &'a Workspace<'a>,
    max_stones: u32,
    /// Bits of a value in memory.
    planes: u32,
    values: RankedLayers<'a>,
    outside: Outside<'a>,
}

impl<'a> Ranked<'a> {
    pub fn new(
        index: &'a Index,
        workspace: &'a Workspace<'a>,
        max_stones: u32,
        observer: &'a dyn BuildObserver,
        stop: &'a AtomicBool,
    ) -> Self {
        let sizes = Sizes::new(index);
        let planes = workspace.header(max_stones).bits();
        let values = RankedLayers::new(index, planes);
        let work = |stones| work(index, &sizes, stones, max_stones);
        let total = (0..=max_stones).map(work).fold(0, u64::saturating_add);
        let outside = Outside::new(observer, stop, total);
        Ranked { index, sizes, workspace, max_stones, planes, values, outside }
    }

    /// All layers, and how many of them were there.
    pub fn run(mut self) -> Result<(Vec<ManifestLayer>, u32), BuildError> {
        let (mut layers, mut found) = (Vec::new(), 0);
        self.outside.observer.stage(Stage::Resuming);
        for stones in 0..=self.max_stones {
            self.outside.go_on()?;
            let entry = match self.workspace.layer(stones)? {
                Some(entry) => {
                    found += 1;
                    self.outside.advance(work(self.index, &self.sizes, stones, self.max_stones));
                    entry
                }
                None => {
                    self.make(stones)?;
                    self.workspace.entry(stones)?
                }
            };
            layers.push(entry);
        }
        Ok((layers, found))
    }

    /// Computes a layer and writes it.
    fn make(&mut self, stones: u32) -> Result<(), BuildError> {
        let longest = self.index.board().longest_jump();
        let least = stones.saturating_sub(longest);
        for before in least..stones {
            self.recall(before)?;
        }
        self.values.forget_below(least);
        self.outside.observer.stage(Stage::Layer { stones });

        let header = self.workspace.header(stones);
        let in_parts = u128::from(header.bits()) * self.sizes.layer_bytes(stones) >= PARTS_FROM;
        let mut made = Vec::new();
        for key in values_of(&header) {
            let parts = if in_parts { self.parts(&header, key)? } else { None };
            let bytes = match parts {
                Some(bytes) => {
                    self.outside.advance(self.sizes.block_addresses(key.black, key.white) as u64);
                    bytes
                }
                None => {
                    let bytes = self.compute(key.to_move, key.black, key.white)?;
                    if in_parts {
                        for bit in 0..header.bits() {
                            let key = BlockKey { kind: BlockKind::of_bit(bit), ..key };
                            self.workspace.write_part(key, &self.plane(key.white, bit, &bytes))?;
                        }
                    }
                    bytes
                }
            };
            match in_parts {
                true => self.keep(stones, key, bytes),
                false => made.push((key, bytes)),
            }
        }
        let summary = if in_parts {
            self.outside.observer.stage(Stage::Assembling { stones });
            self.workspace.assemble(stones)?
        } else {
            let mut writer = self.workspace.layer_writer(stones)?;
            for bit in 0..header.bits() {
                for (key, bytes) in &made {
                    let plane = self.plane(key.white, bit, bytes);
                    writer
                        .write_block(BlockKey { kind: BlockKind::of_bit(bit), ..*key }, &plane)?;
                }
            }
            writer.finish()?
        };
        for (key, bytes) in made {
            self.keep(stones, key, bytes);
        }
        if stones < self.max_stones {
            self.complement(stones)?;
        }
        self.outside.observer.layer_finished(stones, &summary);
        Ok(())
    }

    /// Keeps a block, unless nothing will be computed from it.
    fn keep(&mut self, stones: u32, key: BlockKey, bytes: Vec<u8>) {
        if stones < self.max_stones {
            self.values.keep(key.to_move, key.black, key.white, bytes);
        }
    }

    /// A block's values that an interrupted run has left in parts: nothing if one is missing.
    fn parts(&self, header: &LayerHeader, key: BlockKey) -> Result<Option<Vec<u8>>, BuildError> {
        let mut parts = Vec::new();
        for bit in 0..header.bits() {
            let key = BlockKey { kind: BlockKind::of_bit(bit), ..key };
            match self.workspace.part(key)? {
                Some(part) => parts.push(part.read_block(key)?),
                None => return Ok(None),
            }
        }
        Ok(Some(self.join(key.white, parts)))
    }

    /// One bit of all values of a block: its rows as they stand in a file.
    fn plane<'v>(&self, white: u32, bit: u32, values: &'v [u8]) -> Cow<'v, [u8]> {
        if self.planes == 1 {
            return Cow::Borrowed(values);
        }
        let planes = values.chunks_exact(self.values.row_bytes(white));
        Cow::Owned(
            planes.skip(bit as usize).step_by(self.planes as usize).flatten().copied().collect(),
        )
    }

    /// The values of a block from its bits, of which the highest may be missing.
    fn join(&self, white: u32, mut bits: Vec<Vec<u8>>) -> Vec<u8> {
        if self.planes == 1 {
            return bits.swap_remove(0);
        }
        let row_bytes = self.values.row_bytes(white);
        let mut values = vec![0; bits[0].len() * self.planes as usize];
        for (row, values) in values.chunks_exact_mut(row_bytes * self.planes as usize).enumerate() {
            for (bits, plane) in bits.iter().zip(values.chunks_exact_mut(row_bytes)) {
                plane.copy_from_slice(&bits[row * row_bytes..(row + 1) * row_bytes]);
            }
        }
        values
    }

    fn compute(&self, to_move: Colour, black: u32, white: u32) -> Result<Vec<u8>, BuildError> {
        let progress = |positions| self.outside.advance(positions);
        Ok(self.values.compute(to_move, black, white, self.outside.stop, &progress)?)
    }

    /// Makes sure that the values of a finished layer are in memory, for both sides to move.
    fn recall(&mut self, stones: u32) -> Result<(), BuildError> {
        self.read(stones)?;
        let all = |side| {
            self.sizes.blacks(stones).all(|black| self.values.has(side, black, stones - black))
        };
        if !all(Colour::White) {
            // Computed from the Black-to-move values before it.
            for before in stones.saturating_sub(self.index.board().longest_jump())..stones {
                self.read(before)?;
            }
            self.complement(stones)?;
        }
        Ok(())
    }

    /// Reads what is stored of a finished layer.
    fn read(&mut self, stones: u32) -> Result<(), BuildError> {
        let header = self.workspace.header(stones);
        let missing = |key: &BlockKey| !self.values.has(key.to_move, key.black, key.white);
        if values_of(&header).iter().any(missing) {
            let file = LayerFile::open(&self.workspace.layer_path(stones))?;
            for key in values_of(&header) {
                self.outside.go_on()?;
                let block = |bit| file.read_block(BlockKey { kind: BlockKind::of_bit(bit), ..key });
                let bits = (0..header.bits()).map(block).collect::<Result<_, _>>()?;
                let values = self.join(key.white, bits);
                self.values.keep(key.to_move, key.black, key.white, values);
            }
        }
        Ok(())
    }

    /// Computes the blocks with White to move that are not stored.
    fn complement(&mut self, stones: u32) -> Result<(), BuildError> {
        if self.index.exchanges() {
            for black in self.sizes.blacks(stones) {
                let bytes = self.compute(Colour::White, black, stones - black)?;
                self.values.keep(Colour::White, black, stones - black, bytes);
            }
        }
        Ok(())
    }
}

/// The blocks of a layer that hold the lowest bits of its values: one for each set of values.
fn values_of(header: &LayerHeader) -> Vec<BlockKey> {
    let mut keys = header.keys();
    keys.retain(|key| key.kind == BlockKind::Wins);
    keys
}

/// Positions of a layer that are computed: with both sides to move, unless it is the last and one
/// side is not stored.
fn work(index: &Index, sizes: &Sizes, stones: u32, max_stones: u32) -> u64 {
    let both = stones < max_stones || !index.exchanges();
    let work = sizes.layer_addresses(stones) * if both { 2 } else { 1 };
    work.try_into().unwrap_or(u64::MAX)
}
