//! Checking a database: that its files are what they say, and, on request, that every value follows
//! from the rules.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::counts::count_layer;
use super::database::{Database, DatabaseOptions};
use super::error::DatabaseError;
use super::format::Scope;
use super::index::Address;
use super::manifest::Counts;
use super::observer::{BuildObserver, Stage};
use super::recompute::Recomputation;
use crate::konane::Dimensions;

/// A database that passed.
#[derive(Clone, Debug)]
pub struct VerifyReport {
    /// The board.
    pub dimensions: Dimensions,
    /// Which positions.
    pub scope: Scope,
    /// The layers: up to this number of stones.
    pub max_stones: u32,
    /// Layer files.
    pub files: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Positions and wins, as counted; the manifest says the same.
    pub counts: Counts,
    /// Addresses whose values were recomputed: 0 without the deep check.
    pub recomputed: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Why a database did not pass.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A file is missing, damaged, or not what the manifest says.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A file is sound, but what it says about a position contradicts the rules.
    #[error(
        "{} is wrong about {position}: {what} should be {expected}, but is {got}; \
         delete the database and build it again", path.display()
    )]
    Wrong {
        /// The layer's file.
        path: PathBuf,
        /// The position, as text.
        position: String,
        /// Where it is.
        address: Address,
        /// What is said about it.
        what: &'static str,
        /// What follows from the rules and the layers below.
        expected: &'static str,
        /// What the file says.
        got: &'static str,
    },
    /// The stop flag was set.
    #[error("interrupted before everything was checked")]
    Interrupted,
}

/// Checks the database in a directory: the manifest, all checksums, the numbers of set bits, and
/// the manifest's counts. With `deep`, also every value against those of its successors; in scope
/// reachable also that what is marked as reached is so for all equivalent addresses, is closed under
/// moves and begins with the positions after the two removals, and that only such positions are won.
///
/// Runs on the rayon pool it is called in. Memory: without `deep`, some MiB and the mapped files;
/// with it, also the layers, decompressed, of as many stones fewer as a jump can take.
///
/// # Errors
/// The first thing that is wrong, in the order of the layers; within a layer the first position.
pub fn verify(
    directory: &Path,
    deep: bool,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<VerifyReport, VerifyError> {
    let started = Instant::now();
    let database = Database::open(directory, DatabaseOptions { cache_bytes: 1 << 20 })?;
    let manifest = database.manifest();
    let look = || match stop.load(Ordering::Relaxed) {
        true => Err(VerifyError::Interrupted),
        false => Ok(()),
    };
    let (mut bytes, mut sum) = (0, Counts::default());
    for layer in &manifest.layers {
        look()?;
        observer.stage(Stage::Checking { stones: layer.stones });
        let file = database.layer(layer.stones)?;
        file.verify()?;
        let counts = count_layer(database.index(), file)?;
        if counts != layer.counts {
            let (expected, got) = (format!("{:?}", layer.counts), format!("{counts:?}"));
            return Err(DatabaseError::damaged(file.path(), "the counts", expected, got).into());
        }
        bytes += file.bytes();
        sum = sum.checked_add(counts).unwrap_or(sum);
    }
    let mut recomputed = 0;
    if deep {
        let mut check = Recomputation::new(&database, observer, stop);
        for layer in &manifest.layers {
            look()?;
            observer.stage(Stage::Recomputing { stones: layer.stones });
            check.layer(layer.stones)?;
        }
        recomputed = check.done();
    }
    Ok(VerifyReport {
        dimensions: manifest.dimensions,
        scope: manifest.scope,
        max_stones: manifest.max_stones(),
        files: manifest.layers.len() as u32,
        bytes,
        counts: sum,
        recomputed,
        seconds: started.elapsed().as_secs_f64(),
    })
}
