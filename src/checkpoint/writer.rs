//! Writing checkpoints. Whenever the program is killed, the old or the new one is there, whole.

use std::io;
use std::path::Path;

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use super::entries;
use super::error::CheckpointError;
use super::format::{BLOCK_ENTRIES, BlockHeader, BlockKind, Footer, Header};
use crate::file::NewFile;
use crate::search::snapshot::Piece;
use crate::search::table::{Cursor, Table};

/// How hard zstd tries; see docs/CHECKPOINT_FORMAT.md for what it gains.
const LEVEL: i32 = 1;

/// Bytes that go to the system together: blocks are larger.
const BUFFER_BYTES: usize = 1 << 12;

/// A checkpoint that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Length of the file.
    pub bytes: u64,
    /// Entries of the table in it.
    pub entries: u64,
    /// Nodes of the tree in it.
    pub tree_nodes: u64,
}

/// A checkpoint in the making. Dropped before it is finished, it leaves nothing behind.
pub struct CheckpointWriter {
    file: NewFile,
    hasher: Xxh3,
    footer: Footer,
}

impl CheckpointWriter {
    /// Begins a file: creates `<path>.tmp`, over one that an earlier run left there.
    ///
    /// # Errors
    /// If the file cannot be created, somebody else is writing it, or the path is that of something
    /// else than a file.
    ///
    /// # Panics
    /// As [`Header::encode`].
    pub fn create(path: &Path, header: &Header) -> Result<Self, CheckpointError> {
        let header = header.encode();
        let mut writer = CheckpointWriter {
            file: NewFile::create(path, BUFFER_BYTES)?,
            hasher: Xxh3::new(),
            footer: Footer::default(),
        };
        writer.put(&header)?;
        Ok(writer)
    }

    /// Writes the entries of a table, in which others may store meanwhile. So many `pieces` of it, of
    /// some 16,000 entries, are copied and compressed at a time, several in parallel in the current pool
    /// of `rayon`, with 0.5 MiB for each; the bytes do not depend on how many. `go_on` is told how much
    /// of the table has been copied, of how much; if it says no, the answer is false, and the file
    /// should be dropped.
    ///
    /// # Errors
    /// If the disk is full, or the system refuses for another reason.
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
                    self.block(encode(block))?;
                }
            } else {
                let blocks = cells.par_chunks_mut(BLOCK_ENTRIES).map(encode);
                for block in blocks.collect::<Vec<_>>() {
                    self.block(block)?;
                }
            }
            self.footer.entries += cells.len() as u64;
            cells = rest;
        }
        Ok(true)
    }

    /// Writes a piece of a tree; the pieces come in order, after the table.
    ///
    /// # Errors
    /// As [`CheckpointWriter::table`].
    pub(super) fn records(&mut self, piece: &Piece) -> Result<(), CheckpointError> {
        self.block(compress(BlockKind::Records, piece.records, &piece.raw))
    }

    /// Says how many nodes the tree has, and how many bytes it takes in memory.
    pub(super) fn set_tree(&mut self, nodes: u64, bytes: u64) {
        self.footer.tree_nodes = nodes;
        self.footer.tree_bytes = bytes;
    }

    /// Writes the footer, waits until everything is on the disk, and gives the file its name, in
    /// place of a file that had it before.
    ///
    /// # Errors
    /// As [`CheckpointWriter::table`]. The `.tmp` is removed.
    pub fn finish(mut self) -> Result<Written, CheckpointError> {
        self.footer.xxh3 = self.hasher.digest();
        let footer = self.footer;
        self.put(&footer.encode())?;
        let bytes = self.file.bytes();
        self.file.finish()?;
        let Footer { entries, tree_nodes, .. } = footer;
        Ok(Written { bytes, entries, tree_nodes })
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

/// A block of entries of a table; sorts them.
fn encode(cells: &mut [u128]) -> io::Result<(BlockHeader, Vec<u8>)> {
    let mut raw = Vec::new();
    entries::encode(cells, &mut raw);
    compress(BlockKind::Entries, cells.len() as u32, &raw)
}

fn compress(kind: BlockKind, items: u32, raw: &[u8]) -> io::Result<(BlockHeader, Vec<u8>)> {
    let stored = zstd::bulk::compress(raw, LEVEL)?;
    let (raw_bytes, stored_bytes) = (raw.len() as u32, stored.len() as u32);
    let mut header = BlockHeader { kind, items, raw_bytes, stored_bytes, xxh3: 0 };
    header.xxh3 = header.checksum(&stored);
    Ok((header, stored))
}

impl std::fmt::Debug for CheckpointWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckpointWriter").field("file", &self.file).finish_non_exhaustive()
    }
}
