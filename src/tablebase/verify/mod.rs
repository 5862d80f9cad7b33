//! Checking a database: the checksums and counts of its files and, on request, every value against the
//! rules.
//!
//! The result is a report or the first error. To check values, `recompute` plays all moves on the board. The
//! only code that it shares with the computation of databases is the numbering of positions and the transposition of
//! 64 bits.

mod recompute;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use recompute::Recomputation;

use crate::tablebase::builder::{BuildObserver, Stage};
use crate::tablebase::database::{Database, DatabaseOptions};
use crate::tablebase::files::{
    BlockKind, Coverage, DatabaseError, Histogram, MANIFEST_NAME, Metric, PositionCounts,
    count_layer,
};

/// A database that passed the check.
#[derive(Clone, Debug)]
pub struct VerifiedDatabase {
    /// Content of the database. It has a layer file for each number of stones from 0 to `max_stones`.
    pub coverage: Coverage,
    /// Bytes of the layer files.
    pub bytes: u64,
    /// Numbers of positions and wins in the files. They are equal to those in the manifest.
    pub counts: PositionCounts,
    /// Number of addresses whose values were recomputed; 0 without the deep check.
    pub recomputed: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Returns the maximum number of bytes of layers that a deep check of an undamaged database has in memory at
/// the same time. A remoteness needs a byte. If the database stores only outcomes, an outcome needs a bit, and in
/// scope reachable the mark of a position needs another bit. A second copy of one block has its rows and columns
/// exchanged, or is one bit of its remotenesses.
///
/// # Errors
/// If the manifest or a layer file cannot be read.
pub fn deep_memory(directory: &Path) -> Result<u64, DatabaseError> {
    let database = Database::open(directory, DatabaseOptions { cache_bytes: 1 << 20 })?;
    let layers = database.manifest().layers.iter().map(|layer| {
        let blocks = database.layer(layer.stones)?.blocks().iter();
        let bytes = blocks.map(|block| match (database.metric(), block.key.kind) {
            // Of rows, or of columns.
            (Metric::Outcome, _) => block.stored_bytes().max(block.rows * block.row_bytes()),
            (Metric::Remoteness, BlockKind::Wins) => block.rows * block.columns,
            (Metric::Remoteness, _) => 0,
        });
        let bytes: Vec<u64> = bytes.collect();
        Ok((bytes.iter().sum(), bytes.into_iter().max().unwrap_or(0)))
    });
    let layers = layers.collect::<Result<Vec<(u64, u64)>, DatabaseError>>()?;
    let below = database.board().longest_jump() as usize;
    let together = |last: usize| {
        let kept = &layers[last.saturating_sub(below)..=last];
        kept.iter().map(|(layer, _)| layer).sum::<u64>() + layers[last].1
    };
    Ok((0..layers.len()).map(together).max().unwrap_or(0))
}

/// Checks the database in a directory: the manifest, all checksums, the numbers of set bits, and the counts
/// and the histogram in the manifest. With `deep`, also checks every value, outcome or remoteness, against the
/// values of the positions after all moves.
///
/// In scope reachable, the database marks the positions that games reach. With `deep`, these marks are checked
/// as well:
///
/// - Equivalent addresses are either all marked or all unmarked.
/// - With at most two empty squares, exactly the positions after the two removals are marked.
/// - The positions after all moves of a marked position are marked.
/// - Unmarked positions are not stored as wins.
///
/// Runs on the rayon pool in which it is called. Memory: without `deep`, some MiB and the indexes of the
/// files. With `deep`, also the decompressed layer that is checked and the layers that a jump can lead to
/// ([`deep_memory`]), and tables of at most some 40 MiB.
///
/// # Errors
/// The first error. The files are checked first, in the order of the layers, then the values in the same
/// order. In a block, the error is in the first row that has an error.
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
