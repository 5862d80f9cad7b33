//! Memory, disk space and time of each method, computed before anything is written.
//!
//! Memory of a task that makes a slice:
//!
//! ```text
//! S · (R + R/128 + 32)      rows, index of a file that is read, locks
//! + T · (16 R + C + 1 MiB)  eight rows in two copies, an octet, a decompressor
//! + 16 MiB + 4 C            one block that is written
//! + tables                  the canonical black patterns
//! + 64 MiB                  the program
//! ```
//!
//! NW is the number of white squares, S the number of rows of the slice, T the number of threads, R the size of
//! a row in bytes (2^NW / 8, and up to 8 bytes for each of its NW + 1 blocks), and C the size of eight rows of
//! the largest block in bytes.

use serde::Serialize;

use super::directory::BuildDirectory;
use super::slices::{Slices, TaskProduct};
use crate::konane::Colour;
use crate::tablebase::files::{CHUNK_BYTES, LayerWriter, Metric, ROWS};
use crate::tablebase::index::{Index, binomial};
use crate::tablebase::values::statespace;
use crate::tablebase::values::sweep::{Sweep, row_words, stride_words};

/// Addresses per second and thread of the ranked method, writing included: a low estimate from measurements of
/// 7x7 with 10 stones on two cores.
const RANKED_POSITIONS_PER_SECOND: f64 = 4.0e7;

/// Addresses per second and thread of the sweep, writing included: a low estimate from measurements of 6x6 on
/// two cores.
const SWEPT_POSITIONS_PER_SECOND: f64 = 1.5e8;

/// Addresses per second and thread of the ranked method with remotenesses: a low estimate from measurements of
/// 5x5 and 5x6.
const RANKED_REMOTENESSES_PER_SECOND: f64 = 1.0e7;

/// Addresses per second and thread of the sweep with remotenesses: a low estimate from measurements of 5x5 and
/// 5x6.
const SWEPT_REMOTENESSES_PER_SECOND: f64 = 4.0e7;

/// Addresses per second and thread of the state space. It is slower than the sweep alone, because it keeps
/// more data in memory and moves them more often.
const REACHED_POSITIONS_PER_SECOND: f64 = 1.0e8;

/// Bytes of rows, before compression, that a thread reads, joins and scatters in a second: a low estimate from
/// measurements of 6x7 with four black stones on two busy cores.
const READ_BYTES_PER_SECOND: f64 = 1.2e8;

/// Bytes of rows, before compression, that a thread splits, compresses and writes in a second. From the same
/// measurement.
const WRITTEN_BYTES_PER_SECOND: f64 = 7.5e7;

/// Boards with fewer squares are built by the ranked method. There the sweep takes longer to write its
/// hundreds of small parts than to compute the values.
pub const SWEPT_FROM: u32 = 28;

/// Maximum number of white squares for the sweep. With it, rows have 4 MiB.
pub const MAX_WHITE: u32 = 25;

/// Compressed size of the database of a whole board divided by its size before compression; an upper bound.
/// 6x6 has 0.57, 5x6 has 0.62.
const COMPRESSED_SHARE: f64 = 0.65;

/// The same share for a database with remotenesses: 5x6 has 0.72.
const COMPRESSED_SHARE_OF_REMOTENESS: f64 = 0.75;

/// The same share for a database with a limit of stones or of a small board: 5x6 with 15 stones has 0.80.
const COMPRESSED_SHARE_OF_FEW: f64 = 0.85;

/// The database of a whole board is small if it has fewer bytes than this before compression.
const LARGE: u128 = 16 << 20;

/// Memory of the program itself, compression included.
const BASE_BYTES: u128 = 64 << 20;

/// Bytes of the index of a file for each chunk of the file.
const INDEX_BYTES: u128 = 12;

/// Bytes of memory for each chunk of a file that is written or read: the index, offsets of chunks, and unused
/// capacity of the growing arrays.
const OPEN_INDEX_BYTES: u128 = 16;

/// Bytes of a lock around a row.
const LOCK_BYTES: u128 = 32;

/// Bytes of rows that are written together, or that all threads together read at a time.
const BATCH_BYTES: usize = 64 << 20;

/// Maximum number of rows that a thread reads together. The chunks at both ends of these rows also hold
/// neighbouring rows, so they are decompressed twice. For 64 rows of 6x6, that is 2 % of the chunks.
const MAX_ROWS_READ: usize = 64;

/// Maximum number of freed bytes that the allocator keeps for a thread (6x6: 3.5 MiB).
const KEPT_BYTES: u128 = 4 << 20;

/// Maximum number of bytes for writing one block, without the rows themselves: buffered rows and octets,
/// their compressed bytes, and the buffer of the file.
const WRITER_BYTES: u128 = 16 << 20;

/// Bytes that a thread needs in addition to its rows, mostly for a decompressor.
const THREAD_BYTES: u128 = 1 << 20;

/// Number of slices of a wave for which the rows to be read are counted. They represent the whole wave.
const SAMPLES: usize = 3;

/// Memory, disk space and time of one method.
pub struct Needs {
    pub memory: u128,
    pub disk: u128,
    pub disk_peak: u128,
    pub stored: u128,
    pub seconds: f64,
}

pub fn saturated(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Compressed size of the database of a whole board divided by `raw`, its size before compression.
fn compressed_share(raw: u128, metric: Metric) -> f64 {
    match metric {
        _ if raw < LARGE => COMPRESSED_SHARE_OF_FEW,
        Metric::Outcome => COMPRESSED_SHARE,
        Metric::Remoteness => COMPRESSED_SHARE_OF_REMOTENESS,
    }
}

/// Bytes of the tables of canonical black patterns.
fn orbit_bytes(index: &Index, max_stones: u32) -> u128 {
    let black = index.squares(Colour::Black);
    (0..=black.min(max_stones))
        .map(|b| u128::from(binomial(black, b)) / 5 + 4 * u128::from(index.rows(b)))
        .sum()
}

/// Bytes of the program and of the tables of all canonical black patterns.
fn base_bytes(index: &Index) -> u128 {
    BASE_BYTES + orbit_bytes(index, index.squares(Colour::Black))
}

/// Needs of the ranked method. While it computes a layer, the memory holds
///
/// - the layers to which jumps lead (`near`), for both sides to move;
/// - after an interruption, also the layers from which White's values of those are computed (`far`);
/// - the layer itself (`here`), for both sides to move, or only one block at a time if it is the last layer.
///
/// The memory for values is the maximum of this sum over all layers.
pub fn ranked(index: &Index, metric: Metric, max_stones: u32, threads: usize) -> Needs {
    let sides = index.sides().len() as u128;
    let longest = index.board().longest_jump();
    let planes = u128::from(metric.bits(max_stones));
    let layer = |stones: u32| planes * index.layer_bytes(stones);
    let mut values = 0;
    for stones in 0..=max_stones {
        let near = stones.saturating_sub(longest)..stones;
        let far = stones.saturating_sub(2 * longest)..near.start;
        let here = if stones < max_stones {
            2 * layer(stones)
        } else {
            planes * index.max_block_bytes(stones)
        };
        let kept = near.map(|n| 2 * layer(n)).sum::<u128>() + far.map(layer).sum::<u128>();
        values = values.max(here + kept);
    }
    let white = index.squares(Colour::White);
    let ranks: u128 = (0..=white.min(max_stones)).map(|w| u128::from(binomial(white, w))).sum();
    let permuted = 4 * (index.numbering().symmetries() as u128 - 1) * ranks;
    let orbits = orbit_bytes(index, max_stones);
    let longest_row = (0..=white.min(max_stones)).map(|w| binomial(white, w) / 8).max();
    let scratch = planes * u128::from(longest_row.unwrap_or(0)) * threads as u128;

    let raw_of = |stones: u32| u128::from(metric.bits(stones)) * sides * index.layer_bytes(stones);
    let raw: u128 = (0..=max_stones).map(raw_of).sum();
    let share = match max_stones == index.board().dimensions().squares() {
        true => compressed_share(raw, metric),
        false => COMPRESSED_SHARE_OF_FEW,
    };
    let index_of = |stones: u32| raw_of(stones) * INDEX_BYTES / u128::from(CHUNK_BYTES);
    let disk_of = |stones: u32| {
        let raw = raw_of(stones);
        // Small files are mostly header and index.
        let compressed = (raw as f64 * share) as u128;
        compressed + index_of(stones) + 4096
    };
    let index_bytes = (0..=max_stones).map(index_of).max().unwrap_or(0);
    let disk: u128 = (0..=max_stones).map(disk_of).sum();
    let largest = (0..=max_stones).map(disk_of).max().unwrap_or(0);
    let addresses: u128 = (0..=max_stones).map(|n| index.layer_addresses(n)).sum();
    // Values with White to move are computed even if they are not stored, except in the last layer.
    let computed = match sides {
        1 => 2 * addresses - index.layer_addresses(max_stones),
        _ => 2 * addresses,
    };
    let per_second = match metric {
        Metric::Outcome => RANKED_POSITIONS_PER_SECOND,
        Metric::Remoteness => RANKED_REMOTENESSES_PER_SECOND,
    };
    Needs {
        // The index of a file is in memory while its positions are counted.
        memory: BASE_BYTES + values + permuted + orbits + scratch + index_bytes,
        disk,
        disk_peak: disk + largest,
        stored: sides * addresses,
        seconds: computed as f64 / (per_second * threads as f64),
    }
}

/// Positions per second of the sweep on all threads.
pub fn swept_rate(metric: Metric, threads: usize) -> f64 {
    let per_second = match metric {
        Metric::Outcome => SWEPT_POSITIONS_PER_SECOND,
        Metric::Remoteness => SWEPT_REMOTENESSES_PER_SECOND,
    };
    per_second * threads as f64
}

/// Positions per second of the sweep and the state space together, on all threads.
pub fn reached_rate(threads: usize) -> f64 {
    REACHED_POSITIONS_PER_SECOND * threads as f64
}

/// Number of rows of `planes` planes that are written together: about [`BATCH_BYTES`], and whole
/// octets.
pub fn batch_rows(index: &Index, planes: usize) -> usize {
    let row_words = row_words(index.squares(Colour::White));
    let rows = (BATCH_BYTES / (8 * planes * row_words)).max(1).next_multiple_of(ROWS);
    let all = index.max_rows().next_multiple_of(ROWS as u128);
    usize::try_from(all).map_or(rows, |all| all.min(rows))
}

/// Number of rows of `planes` planes that each thread reads together: whole octets.
pub fn rows_read(index: &Index, planes: usize, threads: usize) -> usize {
    let row_words = row_words(index.squares(Colour::White));
    let rows = BATCH_BYTES / (8 * planes * row_words * threads) / ROWS * ROWS;
    rows.clamp(ROWS, MAX_ROWS_READ)
}

/// Upper bound of the memory for rows with `black` black stones that are read or written: a batch of
/// them, the working memory of the threads, and a writer for every block.
fn passing_memory(index: &Index, metric: Metric, black: u32, threads: usize) -> u128 {
    let white = index.squares(Colour::White);
    let planes = metric.bits_of_rows(black, white);
    let row = 8 * stride_words(white) as u128;
    let read = threads * rows_read(index, planes as usize, threads);
    let rows = batch_rows(index, planes as usize).max(read) as u128;
    let (here, row_bytes) = (index.rows(black), |stones| binomial(white, stones).div_ceil(8));
    let writers = |stones| {
        u128::from(metric.bits(black + stones)) * LayerWriter::memory(here, row_bytes(stones))
    };
    let largest = row_bytes(white / 2);
    let at_work = LayerWriter::memory_at_work(here, largest);
    // Each thread has a row and its image, one plane whole and split, eight rows of a block, a compressor and a
    // decompressor.
    let in_hand = u128::from(2 * planes + 2) * row + 8 * u128::from(largest) + THREAD_BYTES;
    rows * u128::from(planes) * row
        + (0..=white).map(writers).sum::<u128>()
        + at_work
        + threads as u128 * (in_hand + at_work.min(KEPT_BYTES))
}

/// Upper bound of the memory of the sweep over whole bands: one band of rows, the indexes of its files, and
/// the rows that are read or written. An index has 12 bytes for 2 KiB, in arrays with unused capacity.
pub fn swept_memory(index: &Index, metric: Metric, threads: usize) -> u128 {
    let white = index.squares(Colour::White);
    let row = ((1u128 << white) / 8).max(64);
    let needs = |black| {
        let rows = u128::from(index.rows(black));
        let layer = rows * u128::from(metric.bits_of_rows(black, white)) * row;
        layer + layer / 64 + rows * LOCK_BYTES + passing_memory(index, metric, black, threads)
    };
    let layers = 0..=index.squares(Colour::Black);
    base_bytes(index) + layers.map(needs).max().unwrap_or(0)
}

/// Upper bound of the memory of the state space and of the rows that are written.
pub fn reached_memory(index: &Index, threads: usize) -> u128 {
    let passing = (0..=index.squares(Colour::Black))
        .map(|black| passing_memory(index, Metric::Outcome, black, threads));
    base_bytes(index)
        + u128::from(statespace::memory_needed(index.board()))
        + passing.max().unwrap_or(0)
}

/// Bytes of a row of a slice.
pub fn slice_row_bytes(index: &Index) -> u64 {
    8 * stride_words(index.squares(Colour::White)) as u64
}

/// Bytes of memory for each row of a slice: the row, its lock, and its share of the index of a file
/// that is read.
fn slice_row_memory(index: &Index) -> u128 {
    let row = u128::from(slice_row_bytes(index));
    row + row / 128 + LOCK_BYTES
}

/// Upper bound of the memory of a task that makes a slice of up to `max_rows` rows.
pub fn slice_memory(index: &Index, max_rows: u32, threads: usize) -> u128 {
    let white = index.squares(Colour::White);
    let rows = u128::from(max_rows).min(index.max_rows().next_multiple_of(ROWS as u128));
    let row = 8 * (stride_words(white) + row_words(white)) as u128;
    let reading = threads as u128 * (THREAD_BYTES + 8 * row + octet_bytes(white));
    base_bytes(index)
        + WRITER_BYTES
        + 4 * octet_bytes(white)
        + reading
        + rows * slice_row_memory(index)
}

/// The largest slices for which `memory` bytes suffice. The slices are limited so that the largest band of rows has
/// about `parts` slices or more. `None` if `memory` is too small for slices of eight rows or for the assembly
/// of a layer.
pub fn fitting_slices(index: &Index, memory: u64, threads: usize, parts: u32) -> Option<Slices> {
    let for_rows = u128::from(memory).checked_sub(slice_memory(index, 0, threads))?;
    let fit = for_rows / slice_row_memory(index);
    let wanted = index.max_rows().div_ceil(u128::from(parts.max(1)));
    let octet = ROWS as u128;
    let max_rows = (fit / octet * octet).min(wanted.next_multiple_of(octet)) as u32;
    let fits = max_rows > 0 && layer_memory(index, threads) <= memory.into();
    fits.then_some(Slices { max_rows })
}

/// Upper bound of the memory of a task that assembles the layer with most positions.
pub fn layer_memory(index: &Index, threads: usize) -> u128 {
    let white = index.squares(Colour::White);
    let layers = 0..=index.board().dimensions().squares();
    let most = layers.map(|stones| index.layer_bytes(stones)).max().unwrap_or(0);
    let chunks = index.sides().len() as u128 * most / u128::from(CHUNK_BYTES);
    base_bytes(index)
        + WRITER_BYTES
        + 6 * octet_bytes(white)
        + threads as u128 * (THREAD_BYTES + 2 * octet_bytes(white))
        + chunks * OPEN_INDEX_BYTES
}

/// Minimum memory with which every task can run: tasks that make slices of eight rows, and tasks that assemble
/// layers.
pub fn least_sliced_memory(index: &Index, threads: usize) -> u128 {
    slice_memory(index, Slices::MIN.max_rows, threads).max(layer_memory(index, threads))
}

/// Bytes of eight rows of the largest block.
fn octet_bytes(white: u32) -> u128 {
    u128::from(binomial(white, white / 2))
}

/// Needs of a build in slices. Sizes of memory are upper bounds. Sizes on the disk and of the traffic are
/// estimates after compression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct SliceFigures {
    /// Estimated bytes that all tasks together read from the directory and write to it, if rows are built in
    /// slices.
    pub traffic_bytes: u64,
    /// Maximum number of rows of a slice, if rows are built in slices.
    pub slice_rows: u32,
    /// Number of tasks.
    #[serde(skip)]
    pub tasks: u64,
    /// Maximum number of tasks that can run at a time.
    #[serde(skip)]
    pub widest_wave: u64,
    /// Memory of a task that makes a slice.
    #[serde(skip)]
    pub rows_memory_bytes: u64,
    /// Memory of a task that assembles a layer.
    #[serde(skip)]
    pub layer_memory_bytes: u64,
    /// Size of the files at the end.
    #[serde(skip)]
    pub disk_bytes: u64,
    /// Maximum disk space, however many layers are assembled at the same time.
    #[serde(skip)]
    pub disk_peak_bytes: u64,
    /// Bytes that all tasks together read from the directory.
    #[serde(skip)]
    pub read_bytes: u64,
    /// Bytes that all tasks together write to the directory.
    #[serde(skip)]
    pub written_bytes: u64,
    /// Maximum disk space of the rows with White to move, if the database does not store them.
    #[serde(skip)]
    pub white_bytes: u64,
    /// Time of all tasks together on one thread, in seconds.
    #[serde(skip)]
    pub thread_seconds: f64,
}

impl SliceFigures {
    /// Memory of any task; an upper bound.
    pub fn memory_bytes(&self) -> u64 {
        self.rows_memory_bytes.max(self.layer_memory_bytes)
    }

    /// Computes the figures of a whole build. Counts the rows to be read for some slices of each wave only.
    pub(super) fn new(directory: &BuildDirectory, threads: usize) -> Self {
        let BuildDirectory { index, slices, .. } = directory;
        let sides = index.sides().len() as f64;
        let row = (1u64 << index.squares(Colour::White)) as f64 / 8.0;
        let black = index.squares(Colour::Black);
        let all = (0..=black).map(|b| index.rows(b) as f64 * row).sum::<f64>();
        let stored = sides * all;
        let share = compressed_share(stored as u128, Metric::Outcome);
        let (mut tasks, mut widest, mut read) = (0, 0, 0.0);
        let sweep = Sweep::new(index);
        for wave in directory.waves(&|_| false) {
            (tasks, widest) = (tasks + wave.len() as u64, widest.max(wave.len() as u64));
            let TaskProduct::Rows { black, to_move, .. } = wave[0].product else { continue };
            // The slices of a wave are assumed to read as many rows as some of them do on average.
            let step = wave.len().div_ceil(SAMPLES);
            let ranges: Vec<_> =
                slices.ranges(index.rows(black)).skip(step / 2).step_by(step).collect();
            let octets: usize = ranges
                .iter()
                .flat_map(|range| sweep.sources(black, to_move, range.clone()))
                .map(|octets| octets.iter().filter(|&&octet| octet != 0).count())
                .sum();
            read += octets as f64 * 8.0 * row * wave.len() as f64 / ranges.len() as f64;
        }
        // The data of a layer are read when it is assembled, and again when its positions are counted.
        let read = read + 2.0 * stored;
        // Slices are written for both sides to move, layers only for the sides that the database stores.
        let written = 2.0 * all + stored;
        let seconds = read / READ_BYTES_PER_SECOND + written / WRITTEN_BYTES_PER_SECOND;
        let white_rows = if sides == 1.0 { index.max_rows() as f64 * row } else { 0.0 };
        let [read_bytes, written_bytes] = [read, written].map(|bytes| (bytes * share) as u64);
        SliceFigures {
            traffic_bytes: read_bytes + written_bytes,
            slice_rows: slices.max_rows,
            tasks,
            widest_wave: widest,
            rows_memory_bytes: saturated(slice_memory(index, slices.max_rows, threads)),
            layer_memory_bytes: saturated(layer_memory(index, threads)),
            disk_bytes: (stored * share) as u64,
            disk_peak_bytes: ((2.0 * stored).max(stored + white_rows) * share) as u64,
            read_bytes,
            written_bytes,
            white_bytes: (white_rows * share) as u64,
            thread_seconds: seconds,
        }
    }
}
