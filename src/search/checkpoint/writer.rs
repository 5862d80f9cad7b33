//! Writing checkpoints. A file has its name only when it is whole.
//!
//! Bytes go to `<name>.tmp`. When everything is written and on the disk, the file is renamed over
//! the checkpoint before it, which is atomic: whenever the program is killed, the old or the new one
//! is there, whole.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;
use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

use super::entries;
use super::error::CheckpointError;
use super::format::{BLOCK_ENTRIES, BlockHeader, BlockKind, Footer, Header, MAX_BLOCK_BYTES};
use super::walk::Piece;
use crate::search::table::{Cursor, Table};

/// How hard zstd tries; see docs/CHECKPOINT_FORMAT.md for what it gains.
const LEVEL: i32 = 1;

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
    path: PathBuf,
    temporary: PathBuf,
    /// `None` once the file is finished: then there is nothing left to remove.
    file: Option<File>,
    compressor: Compressor<'static>,
    stored: Vec<u8>,
    hasher: Xxh3,
    footer: Footer,
}

impl CheckpointWriter {
    /// Begins a file: creates `<path>.tmp`, over one that an earlier run left there.
    ///
    /// # Errors
    /// If the file cannot be created, or the path is a directory.
    ///
    /// # Panics
    /// As [`Header::encode`].
    pub fn create(path: &Path, header: &Header) -> Result<Self, CheckpointError> {
        let header = header.encode();
        if path.is_dir() {
            return Err(CheckpointError::io("write", path)(io::ErrorKind::IsADirectory.into()));
        }
        let compressor = Compressor::new(LEVEL).map_err(CheckpointError::io("compress", path))?;
        let temporary = beside(path, ".tmp");
        let file = File::create(&temporary).map_err(CheckpointError::io("create", &temporary))?;
        let mut writer = CheckpointWriter {
            path: path.to_owned(),
            temporary,
            file: Some(file),
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
        let (path, temporary) = (&self.path, &self.temporary);
        let file = self.file.as_ref().expect("not finished");
        file.sync_all().map_err(CheckpointError::io("write", temporary))?;
        fs::rename(temporary, path).map_err(CheckpointError::io("rename", temporary))?;
        self.file = None;
        // The new name is in the directory, which has to reach the disk too. Only Unix lets one
        // say so.
        #[cfg(unix)]
        {
            let parent = self.path.parent().filter(|p| !p.as_os_str().is_empty());
            let directory = parent.unwrap_or(Path::new("."));
            let opened = File::open(directory).map_err(CheckpointError::io("open", directory))?;
            opened.sync_all().map_err(CheckpointError::io("write", directory))?;
        }
        let Footer { entries, tree_nodes, .. } = footer;
        Ok(Written { bytes: self.footer.offset, entries, tree_nodes })
    }

    fn block(&mut self, kind: BlockKind, items: u32, raw: &[u8]) -> Result<(), CheckpointError> {
        let room = compress_bound(raw.len());
        if self.stored.len() < room {
            self.stored.resize(room, 0);
        }
        let mut stored = std::mem::take(&mut self.stored);
        let length = self.compressor.compress_to_buffer(raw, &mut stored[..]);
        let length = length.map_err(CheckpointError::io("compress a part of", &self.path))?;
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
        let file = self.file.as_mut().expect("not finished");
        file.write_all(bytes).map_err(CheckpointError::io("write", &self.temporary))?;
        self.hasher.update(bytes);
        self.footer.offset += bytes.len() as u64;
        Ok(())
    }
}

impl Drop for CheckpointWriter {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

impl std::fmt::Debug for CheckpointWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckpointWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The name of a file that belongs to another one.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
