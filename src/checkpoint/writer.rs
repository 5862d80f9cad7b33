//! Writing checkpoints. Whenever the program is killed, the old or the new one is there, whole.

use std::path::Path;

use xxhash_rust::xxh3::Xxh3;
use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

use super::entries;
use super::error::CheckpointError;
use super::format::{BLOCK_ENTRIES, BlockHeader, BlockKind, Footer, Header, MAX_BLOCK_BYTES};
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
    compressor: Compressor<'static>,
    stored: Vec<u8>,
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
        let compressor = Compressor::new(LEVEL).map_err(CheckpointError::io("compress", path))?;
        let mut writer = CheckpointWriter {
            file: NewFile::create(path, BUFFER_BYTES)?,
            compressor,
            stored: vec![0; compress_bound(MAX_BLOCK_BYTES / 8)],
            hasher: Xxh3::new(),
            footer: Footer::default(),
        };
        writer.put(&header)?;
        Ok(writer)
    }

    /// Writes the entries of a table, in which others may store meanwhile. Asks before every block
    /// whether it shall go on; false if not, and then the file should be dropped.
    ///
    /// # Errors
    /// If the disk is full, or the system refuses for another reason.
    pub fn table(
        &mut self,
        table: &Table,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, CheckpointError> {
        let (mut cursor, mut cells) = (Cursor::default(), Vec::with_capacity(2 * BLOCK_ENTRIES));
        let mut raw = Vec::new();
        let mut more = true;
        while more {
            more = table.copy_cells(&mut cursor, &mut cells);
            while cells.len() >= BLOCK_ENTRIES || (!more && !cells.is_empty()) {
                if !go_on() {
                    return Ok(false);
                }
                let from = cells.len().saturating_sub(BLOCK_ENTRIES);
                raw.clear();
                entries::encode(&mut cells[from..], &mut raw);
                self.footer.entries += (cells.len() - from) as u64;
                self.block(BlockKind::Entries, (cells.len() - from) as u32, &raw)?;
                cells.truncate(from);
            }
        }
        Ok(true)
    }

    /// Writes a piece of a tree; the pieces come in order, after the table.
    ///
    /// # Errors
    /// As [`CheckpointWriter::table`].
    pub(super) fn records(&mut self, piece: &Piece) -> Result<(), CheckpointError> {
        self.block(BlockKind::Records, piece.records, &piece.raw)
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

    fn block(&mut self, kind: BlockKind, items: u32, raw: &[u8]) -> Result<(), CheckpointError> {
        let room = compress_bound(raw.len());
        if self.stored.len() < room {
            self.stored.resize(room, 0);
        }
        let mut stored = std::mem::take(&mut self.stored);
        let length = self.compressor.compress_to_buffer(raw, &mut stored[..]);
        let length = length.map_err(CheckpointError::io("compress a part of", self.file.path()))?;
        let (raw_bytes, stored_bytes) = (raw.len() as u32, length as u32);
        let mut header = BlockHeader { kind, items, raw_bytes, stored_bytes, xxh3: 0 };
        header.xxh3 = header.checksum(&stored[..length]);
        self.footer.blocks += 1;
        self.put(&header.encode())?;
        self.put(&stored[..length])?;
        self.stored = stored;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        self.file.put(bytes)?;
        self.hasher.update(bytes);
        self.footer.offset += bytes.len() as u64;
        Ok(())
    }
}

impl std::fmt::Debug for CheckpointWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckpointWriter").field("file", &self.file).finish_non_exhaustive()
    }
}
