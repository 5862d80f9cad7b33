//! Checking a database: the checksums and counts of its files and, on request, every value against the
//! rules.
//!
//! The result is a report or the first error. `recompute` plays all moves on the board. Of the code that
//! computes values it shares only the numbering.

mod recompute;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use recompute::Recomputation;

use crate::tablebase::builder::{BuildObserver, Stage};
use crate::tablebase::database::{Database, DatabaseOptions};
use crate::tablebase::files::{
    BlockKind, Coverage, DatabaseError, Histogram, LayerBlock, MANIFEST_NAME, Metric,
    PositionCounts, count_layer,
};

/// A database that passed the check.
#[derive(Clone, Debug)]
pub struct VerifiedDatabase {
    /// Content of the database. It has a layer file for each number of stones from 0 on.
    pub coverage: Coverage,
    /// Bytes of the layer files.
    pub bytes: u64,
    /// Positions and wins, as counted; equal to those of the manifest.
    pub counts: PositionCounts,
    /// Addresses whose values were recomputed: 0 without the deep check.
    pub recomputed: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Maximum number of bytes of the layers that a deep check of a sound database has in memory at a time: a
/// bit for a position, or a byte for its remoteness.
///
/// # Errors
/// If the manifest or a layer file cannot be read.
pub fn deep_memory(directory: &Path) -> Result<u64, DatabaseError> {
    let database = Database::open(directory, DatabaseOptions { cache_bytes: 1 << 20 })?;
    let layers = database.manifest().layers.iter().map(|layer| {
        let blocks = database.layer(layer.stones)?.blocks().iter();
        let bytes = |block: &LayerBlock| match (database.metric(), block.key.kind) {
            (Metric::Outcome, _) => block.stored_bytes(),
            (Metric::Remoteness, BlockKind::Wins) => block.rows * block.columns,
            (Metric::Remoteness, _) => 0,
        };
        Ok(blocks.map(bytes).sum::<u64>())
    });
    let layers = layers.collect::<Result<Vec<u64>, DatabaseError>>()?;
    let below = database.board().longest_jump() as usize;
    let together = |last: usize| layers[last.saturating_sub(below)..=last].iter().sum::<u64>();
    Ok((0..layers.len()).map(together).max().unwrap_or(0))
}

/// Checks the database in a directory: the manifest, all checksums, the numbers of set bits, and
/// the manifest's counts. With `deep`, also every value against those of its successors; in scope
/// reachable also that what is marked as reached is so for all equivalent addresses, is closed under
/// moves and begins with the positions after the two removals, and that only such positions are won.
/// With the remoteness, every one of them and their histogram.
///
/// Runs on the rayon pool it is called in. Memory: without `deep`, some MiB and the indexes of the
/// files; with it, also the layers, decompressed, of as many stones fewer as a jump can take
/// ([`deep_memory`]).
///
/// # Errors
/// The first error, in the order of the layers; within a layer the first wrong position.
pub fn verify(
    directory: &Path,
    deep: bool,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<VerifiedDatabase, DatabaseError> {
    let started = Instant::now();
    let database = Database::open(directory, DatabaseOptions { cache_bytes: 1 << 20 })?;
    let manifest = database.manifest();
    let (mut bytes, mut sum) = (0, PositionCounts::default());
    let mut histogram = manifest.histogram.as_ref().map(|_| Histogram::default());
    for layer in &manifest.layers {
        observer.stage(Stage::Checking { stones: layer.stones });
        let file = database.layer(layer.stones)?;
        let (counts, of_layer) = count_layer(database.index(), file, stop)?;
        if counts != layer.counts {
            let (expected, got) = (layer.counts.to_string(), counts.to_string());
            return Err(DatabaseError::damaged(file.path(), "the counts", expected, got));
        }
        if let Some(histogram) = &mut histogram {
            histogram.add(&of_layer);
        }
        bytes += file.bytes();
        sum = sum.checked_add(counts).unwrap_or(sum);
    }
    if histogram != manifest.histogram {
        let path = directory.join(MANIFEST_NAME);
        let text = |histogram: &Option<Histogram>| format!("{histogram:?}");
        let (expected, got) = (text(&histogram), text(&manifest.histogram));
        return Err(DatabaseError::damaged(&path, "the histogram", expected, got));
    }
    let mut recomputed = 0;
    if deep {
        let mut check = Recomputation::new(&database, observer, stop);
        for layer in &manifest.layers {
            observer.stage(Stage::Recomputing { stones: layer.stones });
            check.layer(layer.stones)?;
        }
        recomputed = check.done();
    }
    Ok(VerifiedDatabase {
        coverage: manifest.coverage(),
        bytes,
        counts: sum,
        recomputed,
        seconds: started.elapsed().as_secs_f64(),
    })
}
