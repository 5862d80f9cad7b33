//! Writing layer files. A file gets its name when it is complete.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};
use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, Strategy, compress_bound};

use super::error::DatabaseError;
use super::format::{BlockKey, Footer, LayerHeader};
use super::layer_file::LayerFile;
use super::layer_index::count_ones;
use super::octets::{self, ROWS};
use crate::file::NewFile;
use crate::konane::Colour;
use crate::tablebase::index::binomial;

/// Compression parameters of the chunks. Hardly any sequence of several bytes occurs twice in a chunk, but some
/// bytes are much more frequent than others. So most of the compression is entropy coding, and a short search for
/// matches suffices. Chunks without matches also decompress faster.
const COMPRESSION: [CParameter; 3] =
    [CParameter::Strategy(Strategy::ZSTD_fast), CParameter::MinMatch(7), CParameter::HashLog(6)];

/// Bytes of a batch, which is compressed in parallel. Larger batches cost memory; smaller ones leave threads
/// idle between two batches.
const BATCH_BYTES: usize = 4 << 20;

/// Chunks that are compressed as one unit of parallel work. With this many, the compressor that is made for
/// them costs little.
const TASK_CHUNKS: usize = 32;

/// Bytes that are written in one system call.
const BUFFER_BYTES: usize = 1 << 20;

/// Entry of a block in the index.
#[derive(Clone, Copy)]
struct WrittenBlock {
    key: BlockKey,
    rows: u64,
    set_bits: u64,
}

/// Writes a layer file. The bytes of the file depend only on its blocks, not on the number of threads or on the
/// sizes of the pieces in which rows are written.
pub struct LayerWriter {
    file: NewFile,
    header: LayerHeader,
    header_xxh3: u64,
    blocks: Vec<WrittenBlock>,
    lengths: Vec<u32>,
    checksums: Vec<u64>,
    durable: bool,
    /// True if the last one of `blocks` has begun and has not ended.
    open: bool,
    /// Rows of the open block that are not in octets yet.
    rows: Vec<u8>,
    /// Octets of the open block that are not compressed yet.
    octets: Vec<u8>,
}

impl LayerWriter {
    /// Upper bound of the memory, in bytes, of a writer that receives the rows of a block in small pieces. The
    /// index of the file is not included: 12 bytes for each chunk. A block that is smaller than a batch is not
    /// compressed before it ends, so until then it takes no more than its own size.
    pub fn memory(rows: u64, row_bytes: u64) -> u128 {
        let block = u128::from(rows) * u128::from(row_bytes);
        match block < batch_bytes(row_bytes) {
            true => block,
            false => LayerWriter::memory_at_work(rows, row_bytes),
        }
    }

    /// Upper bound of the memory, in bytes, while the writer compresses: rows, octets, compressed octets, and
    /// the buffer of the file. Some 13 MiB for a large block.
    pub fn memory_at_work(rows: u64, row_bytes: u64) -> u128 {
        let block = u128::from(rows.next_multiple_of(ROWS as u64)) * u128::from(row_bytes);
        let batch = block.min(batch_bytes(row_bytes));
        3 * batch + batch.min(BUFFER_BYTES as u128)
    }

    /// Begins a file: creates `<path>.tmp`, and replaces one that an earlier run has left. Takes
    /// [`LayerWriter::memory`] bytes while a block is open.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(path: &Path, header: LayerHeader) -> Result<Self, DatabaseError> {
        let encoded = header.encode();
        let mut writer = LayerWriter {
            file: NewFile::create(path, BUFFER_BYTES)?,
            header,
            header_xxh3: xxh3_64(&encoded),
            blocks: Vec::new(),
            lengths: Vec::new(),
            checksums: Vec::new(),
            durable: true,
            open: false,
            rows: Vec::new(),
            octets: Vec::new(),
        };
        writer.file.put(&encoded)?;
        Ok(writer)
    }

    /// Makes [`LayerWriter::finish`] return without waiting until the file is on the disk. After a power
    /// failure, the file may have its final name and be damaged. So this is only for files that are checked
    /// before they are used and can be made again.
    pub fn provisional(mut self) -> Self {
        self.durable = false;
        self
    }

    /// Begins a block.
    ///
    /// # Panics
    /// If a block is open, if the layer cannot have this block, or if `key` is not greater than the key of the
    /// block before.
    pub fn begin_block(&mut self, key: BlockKey) {
        assert!(!self.open, "{key:?} begins within another block");
        assert!(
            self.header.may_have(key),
            "no block {key:?} in a layer of {} stones",
            self.header.stones
        );
        let last = self.blocks.last().map(|block| block.key);
        assert!(last.is_none_or(|last| last < key), "{key:?} after {last:?}");
        self.blocks.push(WrittenBlock { key, rows: 0, set_bits: 0 });
        self.open = true;
    }

    /// Reserves memory for `rows` rows of the open block, but at most for a batch. Without it, the buffer would
    /// grow in steps, and the freed smaller buffers would together be as large as the last one.
    ///
    /// # Panics
    /// If no block is open.
    pub fn reserve(&mut self, rows: usize) {
        assert!(self.open, "no block is open");
        let row_bytes = self.row_bytes();
        let batch = batch_bytes(row_bytes as u64) as usize;
        self.rows.reserve_exact(rows.saturating_mul(row_bytes).min(batch));
    }

    /// Appends any number of bytes to the rows of the open block. Each row has [`LayerHeader::row_bytes`]
    /// bytes: one bit for each column, and zeros at the end of the last byte. Compresses in parallel, in the
    /// current pool of `rayon`.
    ///
    /// # Errors
    /// If the disk is full, or on another error of the operating system.
    ///
    /// # Panics
    /// If no block is open.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        assert!(self.open, "no block is open");
        let batch = batch_bytes(self.row_bytes() as u64) as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(batch - self.rows.len()));
            self.rows.extend_from_slice(now);
            rest = later;
            if self.rows.len() == batch {
                self.compress_rows(false)?;
            }
        }
        Ok(())
    }

    /// The block that is open.
    fn current(&mut self) -> &mut WrittenBlock {
        self.blocks.last_mut().expect("a block is open")
    }

    /// Bytes of a row of the open block.
    fn row_bytes(&mut self) -> usize {
        let white = self.current().key.white;
        self.header.row_bytes(white) as usize
    }

    /// Interleaves the buffered rows into octets, and compresses and writes all whole chunks of them. The bytes
    /// after the last whole chunk stay in `octets`, unless this is the `end` of the block. Only the last octet
    /// of a block may have fewer than eight rows.
    fn compress_rows(&mut self, end: bool) -> Result<(), DatabaseError> {
        let (row_bytes, white) = (self.row_bytes(), self.current().key.white);
        let columns = self.header.columns(white) as usize;
        self.current().rows += (self.rows.len() / row_bytes) as u64;
        self.current().set_bits += count_ones(&self.rows);
        let before = self.octets.len();
        let octets = self.rows.len().div_ceil(row_bytes * ROWS);
        let chunk_bytes = self.header.chunk_bytes as usize;
        // Includes capacity for the bytes that stay, so that the buffer is allocated only once.
        self.octets.reserve_exact((octets * columns + chunk_bytes).saturating_sub(before));
        self.octets.resize(before + octets * columns, 0);
        self.rows
            .par_chunks(row_bytes * ROWS)
            .zip(self.octets[before..].par_chunks_mut(columns))
            .with_min_len((1 << 16) / columns + 1)
            .for_each(|(rows, octet)| octets::interleave(rows, row_bytes, octet));
        self.rows.clear();

        let left = if end { 0 } else { self.octets.len() % chunk_bytes };
        let ready = self.octets.len() - left;
        let tasks: Vec<io::Result<_>> = self.octets[..ready]
            .par_chunks(chunk_bytes * TASK_CHUNKS)
            .map(|octets| compress(octets, chunk_bytes))
            .collect();
        self.octets.drain(..ready);
        for task in tasks {
            let (bytes, lengths, checksums) =
                task.map_err(DatabaseError::io("compress a part of", self.file.path()))?;
            self.lengths.extend(lengths);
            self.checksums.extend(checksums);
            self.file.put(&bytes)?;
        }
        Ok(())
    }

    /// Ends the open block; returns the number of its set bits.
    ///
    /// # Errors
    /// As [`LayerWriter::write`].
    ///
    /// # Panics
    /// If no block is open, if the last row is incomplete, or if the block has no rows or more rows than there
    /// are black patterns.
    pub fn end_block(&mut self) -> Result<u64, DatabaseError> {
        assert!(self.open, "no block is open");
        let left = self.rows.len() % self.row_bytes();
        assert_eq!(left, 0, "a part of a row at the end of {:?}", self.current().key);
        self.compress_rows(true)?;
        self.open = false;
        (self.rows, self.octets) = (Vec::new(), Vec::new());
        let WrittenBlock { key, rows, set_bits } = *self.current();
        let patterns = binomial(self.header.count(Colour::Black), key.black);
        assert!((1..=patterns).contains(&rows), "{rows} rows in {key:?}, of at most {patterns}");
        Ok(set_bits)
    }

    /// Copies a block from another file of the same layer without decompressing it; checks the checksums of
    /// its chunks. Returns the number of set bits that the other file states.
    ///
    /// # Errors
    /// If the other file is damaged, has another header, or has no such block; the errors of
    /// [`LayerWriter::write`]; [`DatabaseError::Interrupted`] if `stop` was set.
    ///
    /// # Panics
    /// As [`LayerWriter::begin_block`].
    pub fn copy_block(
        &mut self,
        from: &LayerFile,
        key: BlockKey,
        stop: &AtomicBool,
    ) -> Result<u64, DatabaseError> {
        let differs = |what: String, expected: String, got: String| {
            Err(DatabaseError::damaged(from.path(), what, expected, got))
        };
        if *from.header() != self.header {
            let (expected, got) = (self.header.to_string(), from.header().to_string());
            return differs("the header".to_owned(), expected, got);
        }
        let Some(block) = from.block(key) else {
            return differs(
                format!("the block of {key}"),
                "there".to_owned(),
                "missing".to_owned(),
            );
        };
        self.begin_block(key);
        let mut compressed = Vec::new();
        for chunk in 0..block.chunks {
            DatabaseError::check_stop(stop)?;
            from.compressed_chunk(block, chunk, &mut compressed)?;
            self.lengths.push(compressed.len() as u32);
            self.checksums.push(xxh3_64(&compressed));
            self.file.put(&compressed)?;
        }
        self.open = false;
        let (rows, set_bits) = (block.rows, block.set_bits);
        *self.current() = WrittenBlock { key, rows, set_bits };
        Ok(set_bits)
    }

    /// Writes index and footer, waits until everything is on the disk (unless the file is
    /// [provisional](LayerWriter::provisional)), and renames the file to its final name. Returns the path and
    /// the length of the file.
    ///
    /// # Errors
    /// If the disk is full, or on another error of the operating system. The `.tmp` is removed.
    ///
    /// # Panics
    /// If a block is open.
    pub fn finish(mut self) -> Result<(PathBuf, u64), DatabaseError> {
        assert!(!self.open, "a block is open at the end of the file");
        let index_offset = self.file.bytes();
        let mut listed = Vec::new();
        listed.extend((self.blocks.len() as u32).to_le_bytes());
        for block in &self.blocks {
            listed.extend(block.key.encode());
            listed.extend(block.rows.to_le_bytes());
            listed.extend(block.set_bits.to_le_bytes());
        }
        // The index is written piece by piece, because that of a large layer has gigabytes.
        let mut hasher = Xxh3::new();
        let mut put = |bytes: &[u8]| {
            hasher.update(bytes);
            self.file.put(bytes)
        };
        put(&listed)?;
        for lengths in self.lengths.chunks(1 << 16) {
            put(&lengths.iter().flat_map(|length| length.to_le_bytes()).collect::<Vec<u8>>())?;
        }
        for checksums in self.checksums.chunks(1 << 16) {
            put(&checksums.iter().flat_map(|sum| sum.to_le_bytes()).collect::<Vec<u8>>())?;
        }
        let index_xxh3 = hasher.digest();
        let footer = Footer {
            index_offset,
            index_bytes: self.file.bytes() - index_offset,
            index_xxh3,
            header_xxh3: self.header_xxh3,
        };
        self.file.put(&footer.encode())?;
        let file = self.file;
        let (path, bytes) = (file.path().to_owned(), file.bytes());
        if self.durable {
            file.finish()?;
        } else {
            file.finish_provisionally()?;
        }
        Ok((path, bytes))
    }
}

/// Bytes of rows that are compressed together: whole octets.
fn batch_bytes(row_bytes: u64) -> u128 {
    (BATCH_BYTES as u128).next_multiple_of(u128::from(row_bytes) * ROWS as u128)
}

/// Divides bytes of a block into chunks and compresses them. Returns the compressed bytes, and the compressed
/// length and the XXH3-64 of each chunk.
fn compress(octets: &[u8], chunk_bytes: usize) -> io::Result<(Vec<u8>, Vec<u32>, Vec<u64>)> {
    let mut compressor = Compressor::new(1)?;
    for parameter in COMPRESSION {
        compressor.set_parameter(parameter)?;
    }
    let mut buffer = vec![0; compress_bound(chunk_bytes)];
    let mut bytes = Vec::with_capacity(octets.len());
    let (mut lengths, mut checksums) = (Vec::new(), Vec::new());
    for chunk in octets.chunks(chunk_bytes) {
        let length = compressor.compress_to_buffer(chunk, &mut buffer[..])?;
        bytes.extend_from_slice(&buffer[..length]);
        lengths.push(length as u32);
        checksums.push(xxh3_64(&buffer[..length]));
    }
    Ok((bytes, lengths, checksums))
}
