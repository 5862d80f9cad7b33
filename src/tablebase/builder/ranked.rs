//! Builds by layers of stones.
//!
//! Layers are built in ascending order of the number of stones. Finished layers are not built again. A missing
//! layer is computed from layers in memory or, after an interruption, from layers that are read from files.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use super::directory::BuildDirectory;
use super::error::BuildError;
use super::monitor::{BuildMonitor, BuildObserver, Stage};
use crate::konane::Colour;
use crate::tablebase::files::{BlockKey, BlockKind, LayerFile, LayerHeader, LayerWriter};
use crate::tablebase::values::RankedLayers;

/// Minimum size of a layer, in bytes before compression, whose blocks are first written to parts. A smaller
/// layer is written only when it is complete: after an interruption, it costs less to compute it again than
/// to write many small files.
const PARTS_FROM: u128 = 1 << 20;

/// A build by the ranked method.
pub(super) struct RankedBuild<'a> {
    directory: &'a BuildDirectory,
    monitor: BuildMonitor<'a>,
    /// Bits of a value in memory.
    planes: u32,
    values: RankedLayers<'a>,
}

impl<'a> RankedBuild<'a> {
    pub fn new(
        directory: &'a BuildDirectory,
        observer: &'a dyn BuildObserver,
        stop: &'a AtomicBool,
    ) -> Self {
        let planes = directory.header(directory.coverage.max_stones).bits();
        let values = RankedLayers::new(&directory.index, planes);
        let layers = 0..=directory.coverage.max_stones;
        let total = layers.map(|stones| positions(directory, stones)).fold(0, u64::saturating_add);
        let monitor = BuildMonitor::new(observer, stop, total);
        RankedBuild { directory, monitor, planes, values }
    }

    /// Makes the layers that are missing.
    pub fn run(mut self) -> Result<(), BuildError> {
        for stones in 0..=self.directory.coverage.max_stones {
            self.monitor.check()?;
            if self.directory.read_entry(stones)?.is_some() {
                self.monitor.advance(positions(self.directory, stones));
            } else {
                self.make(stones)?;
            }
        }
        Ok(())
    }

    /// Computes a layer and writes it.
    fn make(&mut self, stones: u32) -> Result<(), BuildError> {
        let directory = self.directory;
        let longest = directory.index.board().longest_jump();
        let least = stones.saturating_sub(longest);
        for before in least..stones {
            self.load(before)?;
        }
        self.values.forget_below(least);
        self.monitor.observer.stage(Stage::Layer { stones });

        let header = directory.header(stones);
        let in_parts =
            u128::from(header.bits()) * directory.index.layer_bytes(stones) >= PARTS_FROM;
        let mut made = Vec::new();
        for key in values_of(&header) {
            let parts = if in_parts { self.parts(&header, key)? } else { None };
            let bytes = match parts {
                Some(bytes) => {
                    let addresses = directory.index.block_addresses(key.black, key.white);
                    self.monitor.advance(addresses as u64);
                    bytes
                }
                None => {
                    let bytes = self.compute(key.to_move, key.black, key.white)?;
                    for bit in 0..if in_parts { header.bits() } else { 0 } {
                        let key = BlockKey { kind: BlockKind::of_bit(bit), ..key };
                        let mut writer = directory.begin_part(key, 0)?;
                        writer.write(&self.plane(key.white, bit, &bytes))?;
                        directory.end_part(writer, key, 0, &self.monitor)?;
                    }
                    bytes
                }
            };
            match in_parts {
                true => self.keep(stones, key, bytes),
                false => made.push((key, bytes)),
            }
        }
        if in_parts {
            self.monitor.observer.stage(Stage::Assembling { stones });
            directory.assemble(stones, &self.monitor)?;
        } else {
            let mut writer = LayerWriter::create(&directory.layer_path(stones), header.clone())?;
            for bit in 0..header.bits() {
                for (key, bytes) in &made {
                    let plane = self.plane(key.white, bit, bytes);
                    writer.begin_block(BlockKey { kind: BlockKind::of_bit(bit), ..*key });
                    writer.write(&plane)?;
                    writer.end_block()?;
                }
            }
            let (_, bytes) = writer.finish()?;
            directory.count_positions(stones, &self.monitor)?;
            self.monitor.observer.layer_finished(stones, bytes);
        }
        for (key, bytes) in made {
            self.keep(stones, key, bytes);
        }
        if stones < directory.coverage.max_stones {
            self.compute_white(stones)?;
        }
        Ok(())
    }

    /// Keeps a block in memory. Drops a block of the last layer, because nothing is computed from it.
    fn keep(&mut self, stones: u32, key: BlockKey, bytes: Vec<u8>) {
        if stones < self.directory.coverage.max_stones {
            self.values.keep(key.to_move, key.black, key.white, bytes);
        }
    }

    /// Reads the values of a block from the parts of an earlier run; `None` if a part is missing or damaged.
    fn parts(&self, header: &LayerHeader, key: BlockKey) -> Result<Option<Vec<u8>>, BuildError> {
        let mut parts = Vec::new();
        for bit in 0..header.bits() {
            let key = BlockKey { kind: BlockKind::of_bit(bit), ..key };
            if !self.directory.part_path(key, 0).exists() {
                return Ok(None);
            }
            let rows = self.directory.index.rows(key.black) as u32;
            let part = self.directory.open_rows(key, &(0..rows)).and_then(|(part, _)| {
                part.read_block(key).map_err(|reason| self.directory.lost(part.path(), reason))
            });
            match part {
                Ok(part) => parts.push(part),
                Err(BuildError::Lost { path, reason }) => {
                    self.monitor.observer.discarded(&path, &reason);
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some(self.join(key.white, parts)))
    }

    /// Bit `bit` of all values of a block, as rows for a file.
    fn plane<'v>(&self, white: u32, bit: u32, values: &'v [u8]) -> Cow<'v, [u8]> {
        if self.planes == 1 {
            return Cow::Borrowed(values);
        }
        let planes = values.chunks_exact(self.values.row_bytes(white));
        Cow::Owned(
            planes.skip(bit as usize).step_by(self.planes as usize).flatten().copied().collect(),
        )
    }

    /// Joins the bit planes of a block into its values. If there are fewer planes than a value has bits in
    /// memory, the higher bits are 0.
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
        let progress = |positions| self.monitor.advance(positions);
        let computed = self.values.compute(to_move, black, white, self.monitor.stop, &progress);
        computed.ok_or(BuildError::Interrupted)
    }

    /// Loads the values of a finished layer into memory, for both sides to move.
    fn load(&mut self, stones: u32) -> Result<(), BuildError> {
        self.read(stones)?;
        let all = |side| {
            self.directory
                .index
                .blacks(stones)
                .all(|black| self.values.has(side, black, stones - black))
        };
        if !all(Colour::White) {
            // Values with White to move are computed from those with Black to move and fewer stones, which are
            // read first.
            for before in stones.saturating_sub(self.directory.index.board().longest_jump())..stones
            {
                self.read(before)?;
            }
            self.compute_white(stones)?;
        }
        Ok(())
    }

    /// Reads the stored values of a finished layer.
    fn read(&mut self, stones: u32) -> Result<(), BuildError> {
        let header = self.directory.header(stones);
        let missing = |key: &BlockKey| !self.values.has(key.to_move, key.black, key.white);
        if values_of(&header).iter().any(missing) {
            let file = LayerFile::open(&self.directory.layer_path(stones))?;
            for key in values_of(&header) {
                self.monitor.check()?;
                let block = |bit| file.read_block(BlockKey { kind: BlockKind::of_bit(bit), ..key });
                let bits = (0..header.bits()).map(block).collect::<Result<_, _>>()?;
                let values = self.join(key.white, bits);
                self.values.keep(key.to_move, key.black, key.white, values);
            }
        }
        Ok(())
    }

    /// Computes the blocks with White to move, if the database does not store them.
    fn compute_white(&mut self, stones: u32) -> Result<(), BuildError> {
        if self.directory.index.exchanges() {
            for black in self.directory.index.blacks(stones) {
                let bytes = self.compute(Colour::White, black, stones - black)?;
                self.values.keep(Colour::White, black, stones - black, bytes);
            }
        }
        Ok(())
    }
}

/// Keys of the blocks with the lowest bits of the values: one for each side to move and number of black stones.
fn values_of(header: &LayerHeader) -> Vec<BlockKey> {
    let mut keys = header.keys();
    keys.retain(|key| key.kind == BlockKind::Wins);
    keys
}

/// Number of positions of a layer that are computed: those with both sides to move, or only the stored ones if
/// the layer is the last one.
fn positions(directory: &BuildDirectory, stones: u32) -> u64 {
    let both = stones < directory.coverage.max_stones || !directory.index.exchanges();
    let positions = directory.index.layer_addresses(stones) * if both { 2 } else { 1 };
    positions.try_into().unwrap_or(u64::MAX)
}
