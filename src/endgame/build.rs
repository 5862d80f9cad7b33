//! Building a database: from a plan to checked files.
//!
//! ```text
//! plan ─▶ workspace (locked, cleaned) ─▶ layers 0, 1, 2 .. ─▶ manifest
//!                                          │  ▲
//!                     values of a block ───┘  └── blocks of the layers before, read back
//! ```
//!
//! Layers are finished in ascending order. Whatever is found finished is checked, counted and kept;
//! values are computed only for what is missing, from layers in memory or read back.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use super::build_error::BuildError;
use super::counts::count_layer;
use super::database::{Database, DatabaseOptions};
use super::format::{BlockKey, Scope};
use super::index::Index;
use super::layer_file::LayerFile;
use super::layer_writer::LayerWriter;
use super::manifest::{Manifest, ManifestLayer};
use super::observer::{BuildObserver, Stage};
use super::plan::{Method, Plan};
use super::ranked::RankedLayers;
use super::reached::Reached;
use super::resources::peak_memory;
use super::sizes::Sizes;
use super::swept::Swept;
use super::workspace::Workspace;
use crate::konane::{Board, Colour, Dimensions};

/// Layers with fewer bytes before compression are written at once: computing them again is cheaper
/// than the many small files of their parts.
const PARTS_FROM: u128 = 1 << 20;

/// Positions between two calls of the observer.
const PROGRESS_INTERVAL: u64 = 1 << 20;

/// What a build leaves.
#[derive(Clone, Debug)]
pub struct BuildSummary {
    /// The board.
    pub dimensions: Dimensions,
    /// Which positions.
    pub scope: Scope,
    /// The layers: up to this number of stones.
    pub max_stones: u32,
    /// Positions whose value is known: sets of stones, with either side to move.
    pub positions: u64,
    /// Those with Black to move that Black wins.
    pub black_to_move_wins: u64,
    /// Those with White to move that White wins.
    pub white_to_move_wins: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Wall-clock time of this run.
    pub seconds: f64,
    /// The most memory that the process has had, mapped files included; `None` where the system
    /// does not say.
    pub peak_memory_bytes: Option<u64>,
    /// Layers that an earlier run had finished: all of them if the database was there already.
    pub layers_found: u32,
}

/// Builds what was planned, or what is missing of it. Runs on the rayon pool it is called in.
///
/// # Errors
/// See [`BuildError`]. Everything finished until then stays in the directory, and the next call
/// goes on from there.
pub fn build(
    board: &Board,
    plan: &Plan,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<BuildSummary, BuildError> {
    let started = Instant::now();
    observer.planned(plan);
    let index = Index::new(board.clone(), plan.scope.exchanges());
    let workspace = Workspace::open(&index, plan, observer)?;
    let (manifest, layers_found) = if workspace.is_finished() {
        let database = Database::open(&plan.directory, DatabaseOptions { cache_bytes: 1 << 20 })?;
        let manifest = database.manifest().clone();
        let layers = manifest.layers.len() as u32;
        // Each is the one that the manifest means.
        for stones in 0..layers {
            database.layer(stones)?;
        }
        (manifest, layers)
    } else {
        let (layers, found) = match plan.method {
            Method::Ranked => {
                Ranked::new(&index, &workspace, plan.max_stones, observer, stop).run()?
            }
            Method::Swept => Swept::new(&index, &workspace, observer, stop)?.run()?,
            Method::Reached => Reached::new(&index, &workspace, observer, stop)?.run()?,
        };
        let manifest = Manifest { dimensions: plan.dimensions, scope: plan.scope, layers };
        manifest.write(&plan.directory)?;
        (manifest, found)
    };
    workspace.close()?;
    let total = manifest.total().expect("numbers that the manifest could be written with");
    Ok(BuildSummary {
        dimensions: plan.dimensions,
        scope: plan.scope,
        max_stones: plan.max_stones,
        positions: total.positions,
        black_to_move_wins: total.black_to_move_wins,
        white_to_move_wins: total.white_to_move_wins,
        bytes: manifest.layers.iter().map(|layer| layer.bytes).sum(),
        seconds: started.elapsed().as_secs_f64(),
        peak_memory_bytes: peak_memory(),
        layers_found,
    })
}

/// The ranked method at work.
struct Ranked<'a> {
    index: &'a Index,
    sizes: Sizes,
    workspace: &'a Workspace<'a>,
    max_stones: u32,
    values: RankedLayers<'a>,
    observer: &'a dyn BuildObserver,
    stop: &'a AtomicBool,
    done: AtomicU64,
    total: u64,
}

impl<'a> Ranked<'a> {
    fn new(
        index: &'a Index,
        workspace: &'a Workspace<'a>,
        max_stones: u32,
        observer: &'a dyn BuildObserver,
        stop: &'a AtomicBool,
    ) -> Self {
        let sizes = Sizes::new(index);
        let values = RankedLayers::new(index);
        let done = AtomicU64::new(0);
        let mut ranked =
            Ranked { index, sizes, workspace, max_stones, values, observer, stop, done, total: 0 };
        ranked.total =
            (0..=max_stones).fold(0, |sum, stones| ranked.work(stones).saturating_add(sum));
        ranked
    }

    /// All layers, and how many of them were there.
    fn run(mut self) -> Result<(Vec<ManifestLayer>, u32), BuildError> {
        let (mut layers, mut found) = (Vec::new(), 0);
        self.observer.stage(Stage::Resuming);
        for stones in 0..=self.max_stones {
            self.look()?;
            let file = match self.workspace.layer(stones)? {
                Some(file) => {
                    found += 1;
                    self.advance(self.work(stones));
                    file
                }
                None => {
                    self.make(stones)?;
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

    fn advance(&self, positions: u64) {
        let before = self.done.fetch_add(positions, Ordering::Relaxed);
        if before / PROGRESS_INTERVAL != (before + positions) / PROGRESS_INTERVAL {
            self.observer.progress((before + positions).min(self.total), self.total);
        }
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
        self.observer.stage(Stage::Layer { stones });

        let in_parts = self.sizes.layer_bytes(stones) >= PARTS_FROM;
        let mut whole = match in_parts {
            true => None,
            false => Some(self.workspace.layer_writer(stones)?),
        };
        for key in self.workspace.header(stones).keys() {
            let part = if in_parts { self.workspace.part(key)? } else { None };
            let bytes = match part {
                Some(part) => {
                    self.advance(self.sizes.block_addresses(key.black, key.white) as u64);
                    part.read_block(key)?
                }
                None => {
                    let bytes = self.compute(key.to_move, key.black, key.white)?;
                    match &mut whole {
                        Some(writer) => write_block(writer, key, &bytes)?,
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
                self.observer.stage(Stage::Assembling { stones });
                self.workspace.assemble(stones)?
            }
        };
        if stones < self.max_stones {
            self.complement(stones)?;
        }
        self.observer.layer_finished(stones, &summary);
        Ok(())
    }

    fn compute(&self, to_move: Colour, black: u32, white: u32) -> Result<Vec<u8>, BuildError> {
        let progress = |positions| self.advance(positions);
        Ok(self.values.compute(to_move, black, white, self.stop, &progress)?)
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

fn write_block(writer: &mut LayerWriter, key: BlockKey, bytes: &[u8]) -> Result<(), BuildError> {
    writer.begin_block(key);
    writer.write(bytes)?;
    writer.end_block()?;
    Ok(())
}
