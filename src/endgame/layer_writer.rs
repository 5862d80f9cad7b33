//! Writing layer files. A file has its name only when it is whole.
//!
//! Bytes go to `<name>.tmp`. When everything is written and on the disk, the file is renamed, which
//! is atomic; a program that dies before leaves the `.tmp` behind and nothing that looks finished.
//! There is one writer for a name at a time: who builds a database sees to that.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Compressor;

use super::error::DatabaseError;
use super::format::{BlockKey, Footer, HEADER_BYTES, LayerHeader};
use super::layer_file::{LayerFile, count_ones};
use super::rank::binomial;
use crate::konane::Colour;

/// The level of compression that a writer has unless it is told another.
pub const COMPRESSION_LEVEL: i32 = 3;

/// Bytes that are compressed in parallel. Larger ones cost memory, smaller ones leave threads idle
/// between them.
const BATCH_BYTES: usize = 4 << 20;

/// Chunks that one task compresses: enough to outweigh the making of its compressor.
const TASK_CHUNKS: usize = 32;

/// Bytes that go to the system in one call.
const BUFFER_BYTES: usize = 1 << 20;

/// A block that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenBlock {
    /// Which block.
    pub key: BlockKey,
    /// Bytes before compression.
    pub raw_bytes: u64,
    /// Bits that are set.
    pub set_bits: u64,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerSummary {
    /// The file.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// XXH3-64 of its footer, which stands for the whole file.
    pub footer_xxh3: u64,
    /// Its blocks.
    pub blocks: Vec<WrittenBlock>,
}

/// Writes a layer file. The bytes depend on what is written and on the level of compression, not
/// on the number of threads or the sizes in which it is written.
pub struct LayerWriter {
    path: PathBuf,
    temporary: PathBuf,
    /// `None` once the file is finished: then there is nothing left to remove.
    file: Option<BufWriter<File>>,
    header: LayerHeader,
    header_xxh3: u64,
    level: i32,
    offset: u64,
    blocks: Vec<WrittenBlock>,
    lengths: Vec<u32>,
    checksums: Vec<u64>,
    /// The last of `blocks` can be written to.
    open: bool,
    /// Bytes of the open block that are not compressed yet.
    pending: Vec<u8>,
}

impl LayerWriter {
    /// Begins a file: creates `<path>.tmp`, over one that an earlier run left there. Takes up to
    /// some 10 MiB while a block is open.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(path: &Path, header: LayerHeader) -> Result<Self, DatabaseError> {
        let temporary = temporary_name(path);
        let file = File::create(&temporary).map_err(DatabaseError::io("create", &temporary))?;
        let encoded = header.encode();
        let mut writer = LayerWriter {
            path: path.to_owned(),
            temporary,
            file: Some(BufWriter::with_capacity(BUFFER_BYTES, file)),
            header,
            header_xxh3: xxh3_64(&encoded),
            level: COMPRESSION_LEVEL,
            offset: 0,
            blocks: Vec::new(),
            lengths: Vec::new(),
            checksums: Vec::new(),
            open: false,
            pending: Vec::new(),
        };
        writer.put(&encoded)?;
        Ok(writer)
    }

    /// Sets the level of zstd's compression, 1 to 22.
    pub fn with_level(mut self, level: i32) -> Self {
        self.level = level;
        self
    }

    /// Begins a block.
    ///
    /// # Panics
    /// If a block is open, if the layer cannot have this block, or if it is not greater than the
    /// one before.
    pub fn begin_block(&mut self, key: BlockKey) {
        assert!(!self.open, "{key:?} begins within another block");
        assert!(self.header.may_have(key), "{key:?} in a layer of {} stones", self.header.stones);
        let last = self.blocks.last().map(|block| block.key);
        assert!(last.is_none_or(|last| last < key), "{key:?} after {last:?}");
        self.blocks.push(WrittenBlock { key, raw_bytes: 0, set_bits: 0 });
        self.open = true;
    }

    /// Writes bytes of the open block, as many as one likes. Compresses in parallel, in the current
    /// pool of `rayon`.
    ///
    /// # Errors
    /// If the disk is full, or the system refuses for another reason.
    ///
    /// # Panics
    /// If no block is open.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        assert!(self.open, "bytes outside of a block");
        let batch = BATCH_BYTES.max(self.header.chunk_bytes as usize);
        let mut rest = bytes;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(batch - self.pending.len()));
            self.pending.extend_from_slice(now);
            rest = later;
            if self.pending.len() == batch {
                self.compress_pending()?;
            }
        }
        Ok(())
    }

    /// Compresses what is pending. A part of a chunk may remain at the end of a block only.
    fn compress_pending(&mut self) -> Result<(), DatabaseError> {
        struct Compressed {
            bytes: Vec<u8>,
            lengths: Vec<u32>,
            checksums: Vec<u64>,
            set_bits: u64,
        }
        let chunk_bytes = self.header.chunk_bytes as usize;
        let level = self.level;
        let tasks: Vec<io::Result<Compressed>> = self
            .pending
            .par_chunks(chunk_bytes * TASK_CHUNKS)
            .map(|raw| {
                let mut compressor = Compressor::new(level)?;
                let mut buffer = vec![0; zstd::zstd_safe::compress_bound(chunk_bytes)];
                let mut done = Compressed {
                    bytes: Vec::with_capacity(raw.len()),
                    lengths: Vec::with_capacity(TASK_CHUNKS),
                    checksums: Vec::with_capacity(TASK_CHUNKS),
                    set_bits: count_ones(raw),
                };
                for chunk in raw.chunks(chunk_bytes) {
                    let length = compressor.compress_to_buffer(chunk, &mut buffer[..])?;
                    done.bytes.extend_from_slice(&buffer[..length]);
                    done.lengths.push(length as u32);
                    done.checksums.push(xxh3_64(&buffer[..length]));
                }
                Ok(done)
            })
            .collect();
        let block = self.blocks.last_mut().expect("a block is open");
        block.raw_bytes += self.pending.len() as u64;
        self.pending.clear();
        for task in tasks {
            let task = task.map_err(DatabaseError::io("compress a part of", &self.path))?;
            self.blocks.last_mut().expect("a block is open").set_bits += task.set_bits;
            self.lengths.extend(task.lengths);
            self.checksums.extend(task.checksums);
            self.put(&task.bytes)?;
        }
        Ok(())
    }

    /// Ends the open block; returns how many of its bits are set.
    ///
    /// # Errors
    /// As [`LayerWriter::write`].
    ///
    /// # Panics
    /// If no block is open, or what was written are not whole rows, at least one and not more than
    /// there are black patterns.
    pub fn end_block(&mut self) -> Result<u64, DatabaseError> {
        assert!(self.open, "the end of no block");
        self.compress_pending()?;
        self.open = false;
        self.pending = Vec::new();
        let block = *self.blocks.last().expect("a block was open");
        let row_bytes = self.header.row_bytes(block.key.white);
        let patterns = binomial(self.header.count(Colour::Black), block.key.black);
        let rows = block.raw_bytes / row_bytes;
        assert!(
            block.raw_bytes.is_multiple_of(row_bytes) && (1..=patterns).contains(&rows),
            "{} bytes in block {:?}, whose rows have {row_bytes}",
            block.raw_bytes,
            block.key
        );
        Ok(block.set_bits)
    }

    /// Copies a block from another file of the same layer as it is, without decompressing it;
    /// checks the checksums of its chunks. Returns how many bits are set, as that file says.
    ///
    /// # Errors
    /// If the other file is damaged, has another header or no such block, or as
    /// [`LayerWriter::write`].
    ///
    /// # Panics
    /// As [`LayerWriter::begin_block`].
    pub fn copy_block(&mut self, from: &LayerFile, key: BlockKey) -> Result<u64, DatabaseError> {
        let differs = |what: String, expected: String, got: String| {
            Err(DatabaseError::damaged(from.path(), what, expected, got))
        };
        if *from.header() != self.header {
            let (expected, got) = (format!("{:?}", self.header), format!("{:?}", from.header()));
            return differs("the header".to_owned(), expected, got);
        }
        let Some(block) = from.block(key) else {
            return differs(format!("block {key:?}"), "there".to_owned(), "missing".to_owned());
        };
        self.begin_block(key);
        for chunk in 0..block.chunks() {
            let compressed = from.compressed_chunk(block, chunk)?;
            self.lengths.push(compressed.len() as u32);
            self.checksums.push(xxh3_64(compressed));
            self.put(compressed)?;
        }
        self.open = false;
        let (raw_bytes, set_bits) = (block.raw_bytes(), block.set_bits());
        *self.blocks.last_mut().expect("just begun") = WrittenBlock { key, raw_bytes, set_bits };
        Ok(set_bits)
    }

    /// Writes index and footer, waits until everything is on the disk, and gives the file its name.
    ///
    /// # Errors
    /// If the disk is full, or the system refuses for another reason. The `.tmp` is removed.
    ///
    /// # Panics
    /// If a block is open.
    pub fn finish(mut self) -> Result<LayerSummary, DatabaseError> {
        assert!(!self.open, "the end of the file within a block");
        let mut index = Vec::new();
        index.extend((self.blocks.len() as u32).to_le_bytes());
        for block in &self.blocks {
            index.extend(block.key.encode());
            index.extend(block.raw_bytes.to_le_bytes());
            index.extend(block.set_bits.to_le_bytes());
        }
        index.extend(self.lengths.iter().flat_map(|length| length.to_le_bytes()));
        index.extend(self.checksums.iter().flat_map(|checksum| checksum.to_le_bytes()));
        let footer = Footer {
            index_offset: self.offset,
            index_bytes: index.len() as u64,
            index_xxh3: xxh3_64(&index),
            header_xxh3: self.header_xxh3,
        };
        let footer = footer.encode();
        self.put(&index)?;
        self.put(&footer)?;
        let io = |error| DatabaseError::io("write", &self.temporary)(error);
        let file = self.file.as_mut().expect("not finished");
        file.flush().map_err(io)?;
        publish(file.get_ref(), &self.temporary, &self.path)?;
        self.file = None;
        Ok(LayerSummary {
            path: self.path.clone(),
            bytes: self.offset,
            footer_xxh3: xxh3_64(&footer),
            blocks: std::mem::take(&mut self.blocks),
        })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        let file = self.file.as_mut().expect("not finished");
        file.write_all(bytes).map_err(DatabaseError::io("write", &self.temporary))?;
        self.offset += bytes.len() as u64;
        debug_assert!(self.offset >= HEADER_BYTES as u64);
        Ok(())
    }
}

impl Drop for LayerWriter {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // What is still buffered must not be written.
            let _ = file.into_parts();
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// The name of a file until it is whole.
pub(super) fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".tmp");
    name.into()
}

/// Waits until a file is on the disk, and gives it its name.
pub(super) fn publish(file: &File, temporary: &Path, path: &Path) -> Result<(), DatabaseError> {
    file.sync_all().map_err(DatabaseError::io("write", temporary))?;
    fs::rename(temporary, path).map_err(DatabaseError::io("rename", temporary))?;
    // The new name is in the directory, which has to reach the disk too. Only Unix lets one say so.
    #[cfg(unix)]
    {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        let directory = parent.unwrap_or(Path::new("."));
        let opened = File::open(directory).map_err(DatabaseError::io("open", directory))?;
        opened.sync_all().map_err(DatabaseError::io("write", directory))?;
    }
    Ok(())
}
