//! Building by layers of stones.
//!
//! Layers are finished in ascending order. Whatever is found finished is checked, counted and kept;
//! values are computed only for what is missing, from layers in memory or read back.

use std::sync::atomic::AtomicBool;

use super::error::BuildError;
use super::observer::{BuildObserver, Outside, Stage};
use super::workspace::Workspace;
use crate::endgame::files::{BlockKey, LayerFile, ManifestLayer, layer_entry};
use crate::endgame::index::{Index, Sizes};
use crate::endgame::values::RankedLayers;
use crate::konane::Colour;

/// Layers with fewer bytes before compression are written at once: computing them again is cheaper
/// than the many small files of their parts.
const PARTS_FROM: u128 = 1 << 20;

/// The ranked method at work.
pub(super) struct Ranked<'a> {
    index: &'a Index,
    sizes: Sizes,
    workspace: &'a Workspace<'a>,
    max_stones: u32,
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
        let values = RankedLayers::new(index);
        let outside = Outside::new(observer, stop, 0);
        let mut ranked = Ranked { index, sizes, workspace, max_stones, values, outside };
        let total = (0..=max_stones).fold(0, |sum, stones| ranked.work(stones).saturating_add(sum));
        ranked.outside = Outside::new(observer, stop, total);
        ranked
    }

    /// All layers, and how many of them were there.
    pub fn run(mut self) -> Result<(Vec<ManifestLayer>, u32), BuildError> {
        let (mut layers, mut found) = (Vec::new(), 0);
        self.outside.observer.stage(Stage::Resuming);
        for stones in 0..=self.max_stones {
            self.look()?;
            let file = match self.workspace.layer(stones)? {
                Some(file) => {
                    found += 1;
                    self.outside.advance(self.work(stones));
                    file
                }
                None => {
                    self.make(stones)?;
                    LayerFile::open(&self.workspace.layer_path(stones))?
                }
            };
            layers.push(layer_entry(self.index, &file)?);
        }
        Ok((layers, found))
    }

    fn look(&self) -> Result<(), BuildError> {
        if self.outside.is_stopped() { Err(BuildError::Interrupted) } else { Ok(()) }
    }

    /// Positions of a layer that are computed: with both sides to move, unless it is the last and
    /// one side is not stored.
    fn work(&self, stones: u32) -> u64 {
        let both = stones < self.max_stones || !self.index.exchanges();
        let work = self.sizes.layer_addresses(stones) * if both { 2 } else { 1 };
        work.try_into().unwrap_or(u64::MAX)
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

        let in_parts = self.sizes.layer_bytes(stones) >= PARTS_FROM;
        let mut whole = match in_parts {
            true => None,
            false => Some(self.workspace.layer_writer(stones)?),
        };
        for key in self.workspace.header(stones).keys() {
            let part = if in_parts { self.workspace.part(key)? } else { None };
            let bytes = match part {
                Some(part) => {
                    self.outside.advance(self.sizes.block_addresses(key.black, key.white) as u64);
                    part.read_block(key)?
                }
                None => {
                    let bytes = self.compute(key.to_move, key.black, key.white)?;
                    match &mut whole {
                        Some(writer) => writer.write_block(key, &bytes)?,
                        None => self.workspace.write_part(key, &bytes)?,
                    }
                    bytes
                }
            };
            if stones < self.max_stones {
                self.values.keep(key.to_move, key.black, key.white, bytes);
            }
        }
        let summary = match whole {
            Some(writer) => writer.finish()?,
            None => {
                self.outside.observer.stage(Stage::Assembling { stones });
                self.workspace.assemble(stones)?
            }
        };
        if stones < self.max_stones {
            self.complement(stones)?;
        }
        self.outside.observer.layer_finished(stones, &summary);
        Ok(())
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
        let keys = self.workspace.header(stones).keys();
        let missing = |key: &BlockKey| !self.values.has(key.to_move, key.black, key.white);
        if keys.iter().any(missing) {
            let file = LayerFile::open(&self.workspace.layer_path(stones))?;
            for key in keys {
                self.look()?;
                self.values.keep(key.to_move, key.black, key.white, file.read_block(key)?);
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
