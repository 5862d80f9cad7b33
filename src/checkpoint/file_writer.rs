//! Writer of one checkpoint file.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use super::entries;
use super::error::CheckpointError;
use super::format::{BLOCK_ENTRIES, BlockHeader, CheckpointFooter, CheckpointHeader};
use crate::file::NewFile;
use crate::search::table::{Cursor, Table};

/// Compression level of zstd. docs/CHECKPOINT_FORMAT.md has sizes and times.
const LEVEL: i32 = 1;

/// Size of the write buffer. Blocks that exceed it are written directly.
const BUFFER_BYTES: usize = 1 << 12;

/// Size and cost of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenCheckpoint {
    /// Length of the file.
    pub bytes: u64,
    /// Entries of the table in it.
    pub entries: u64,
    /// Time from the first byte to the last one.
    pub took: Duration,
}

/// A checkpoint file that is being written. Dropping it before [`FileWriter::finish`] removes the file.
pub(super) struct FileWriter {
    file: NewFile,
    hasher: Xxh3,
    footer: CheckpointFooter,
    begun: Instant,
}

impl FileWriter {
    /// Creates `<path>.tmp`, or replaces one from an earlier run.
    ///
    /// # Errors
    /// If the file cannot be created, another process is writing it, or the path is not that of a file.
    ///
    /// # Panics
    /// As [`CheckpointHeader::encode`].
    pub fn create(path: &Path, header: &CheckpointHeader) -> Result<Self, CheckpointError> {
        let header = header.encode();
        let mut writer = FileWriter {
            file: NewFile::create(path, BUFFER_BYTES)?,
            hasher: Xxh3::new(),
            footer: CheckpointFooter::default(),
            begun: Instant::now(),
        };
        writer.put(&header)?;
        Ok(writer)
    }

    /// Writes the entries of a table in which other threads may store at the same time. Copies and compresses
    /// `pieces` pieces of about 16,000 entries at a time, with 0.5 MiB of memory for each piece. Several pieces
    /// are compressed in parallel, in the current pool of `rayon`. The bytes of the file do not depend on
    /// `pieces`.
    ///
    /// `go_on` receives the size of the copied part of the table and the size of the table. If it returns
    /// false, so does this function, and the writer should be dropped.
    ///
    /// # Errors
    /// If the disk is full or another write error occurs.
    pub fn table(
        &mut self,
        table: &Table,
        pieces: usize,
        go_on: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<bool, CheckpointError> {
        let (mut cursor, mut cells) = (Cursor::default(), Vec::with_capacity(2 * BLOCK_ENTRIES));
        let mut more = true;
        while more {
            more = table.copy_cells(&mut cursor, pieces, &mut cells);
            let (done, of) = cursor.progress();
            if !go_on(done, of) {
                return Ok(false);
            }
            let rest = if more { cells.len() % BLOCK_ENTRIES } else { 0 };
            let rest = cells.split_off(cells.len() - rest);
            if pieces == 1 {
                for block in cells.chunks_mut(BLOCK_ENTRIES) {
                    self.block(compress_entries(block))?;
                }
            } else {
                let blocks = cells.par_chunks_mut(BLOCK_ENTRIES).map(compress_entries);
                for block in blocks.collect::<Vec<_>>() {
                    self.block(block)?;
                }
            }
            self.footer.entries += cells.len() as u64;
            cells = rest;
        }
        Ok(true)
    }

    /// Writes the footer, syncs the file to disk, and atomically replaces the file at its path.
    ///
    /// # Errors
    /// As [`FileWriter::table`]. The `.tmp` is removed.
    pub fn finish(mut self) -> Result<WrittenCheckpoint, CheckpointError> {
        self.footer.xxh3 = self.hasher.digest();
        let footer = self.footer;
        self.put(&footer.encode())?;
        let bytes = self.file.bytes();
        self.file.finish()?;
        Ok(WrittenCheckpoint { bytes, entries: footer.entries, took: self.begun.elapsed() })
    }

    fn block(&mut self, block: io::Result<(BlockHeader, Vec<u8>)>) -> Result<(), CheckpointError> {
        let io = CheckpointError::io("compress a part of", self.file.path());
        let (header, stored) = block.map_err(io)?;
        self.footer.blocks += 1;
        self.put(&header.encode())?;
        self.put(&stored)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        self.file.put(bytes)?;
        self.hasher.update(bytes);
        self.footer.offset += bytes.len() as u64;
        Ok(())
    }
}

/// Sorts the entries of a table and returns them as a block.
fn compress_entries(cells: &mut [u128]) -> io::Result<(BlockHeader, Vec<u8>)> {
    let mut raw = Vec::new();
    entries::encode(cells, &mut raw);
    let stored = zstd::bulk::compress(&raw, LEVEL)?;
    Ok((BlockHeader::new(cells.len() as u32, raw.len() as u32, &stored), stored))
}
