//! The blocks of a file, one after the other, and what is in each.

use std::io::Read;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::entries;
use super::error::CheckpointError;
use super::format::{BLOCK_HEADER_BYTES, BlockHeader, BlockKind, Footer, HEADER_BYTES, checksum};

/// A block as it is in the file.
pub struct Block {
    /// Its number, from 0.
    pub at: u64,
    header: BlockHeader,
    stored: Vec<u8>,
}

/// A block that has been checked.
pub enum Content {
    /// Entries of the table.
    Entries(Vec<u128>),
    /// The bytes and the number of records of the tree.
    Records(Vec<u8>, u32),
}

/// Reads the blocks of a file.
pub struct Blocks<'a, R> {
    path: &'a Path,
    from: &'a mut R,
    footer: Footer,
    hasher: Xxh3,
    /// Bytes before the footer that have not been read.
    left: u64,
    read: u64,
}

impl<'a, R: Read> Blocks<'a, R> {
    /// For a file that stands at its beginning.
    pub fn new(path: &'a Path, from: &'a mut R, footer: Footer) -> Result<Self, CheckpointError> {
        let (hasher, left) = (Xxh3::new(), footer.offset);
        let mut blocks = Blocks { path, from, footer, hasher, left, read: 0 };
        blocks.take(&mut [0; HEADER_BYTES])?;
        Ok(blocks)
    }

    /// Bytes that have been read.
    pub fn bytes(&self) -> u64 {
        self.footer.offset - self.left
    }

    /// The next block; `None` after the last one.
    pub fn next(&mut self) -> Result<Option<Block>, CheckpointError> {
        if self.left == 0 {
            return Ok(None);
        }
        let at = self.read;
        let mut start = [0; BLOCK_HEADER_BYTES];
        self.take(&mut start)?;
        let Some(header) = BlockHeader::decode(&start) else {
            let (what, expected) = (format!("the header of block {at}"), "that of a block");
            return Err(CheckpointError::damaged(self.path, what, expected, "something else"));
        };
        let mut stored = vec![0; header.stored_bytes as usize];
        self.take(&mut stored)?;
        self.read += 1;
        Ok(Some(Block { at, header, stored }))
    }

    /// After the last one: whether all bytes were those that the footer promises.
    pub fn end(self) -> Result<(), CheckpointError> {
        let Footer { blocks, xxh3, .. } = self.footer;
        let got = self.hasher.digest();
        if got != xxh3 {
            return Err(checksum(self.path, "the file", xxh3, got));
        }
        if self.read != blocks {
            let what = "the number of blocks";
            return Err(CheckpointError::damaged(self.path, what, blocks, self.read));
        }
        Ok(())
    }

    fn take(&mut self, bytes: &mut [u8]) -> Result<(), CheckpointError> {
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else {
            let (what, expected) = ("a block's end", "before the footer");
            return Err(CheckpointError::damaged(self.path, what, expected, "behind it"));
        };
        self.left = left;
        self.from.read_exact(bytes).map_err(CheckpointError::io("read", self.path))?;
        self.hasher.update(bytes);
        Ok(())
    }
}

impl Block {
    /// Checks and decompresses it; `path` is for the error only.
    pub fn content(&self, path: &Path) -> Result<Content, CheckpointError> {
        let Block { at, header, stored } = self;
        let got = header.checksum(stored);
        if got != header.xxh3 {
            return Err(checksum(path, &format!("block {at}"), header.xxh3, got));
        }
        let unsound = |expected: &str| {
            CheckpointError::damaged(path, format!("block {at}"), expected, "something else")
        };
        let length = header.raw_bytes as usize;
        let raw = zstd::bulk::decompress(stored, length).ok().filter(|raw| raw.len() == length);
        let raw = raw.ok_or_else(|| unsound(&format!("{length} bytes")))?;
        match header.kind {
            BlockKind::Records => Ok(Content::Records(raw, header.items)),
            BlockKind::Entries => {
                let cells = entries::decode(&raw, header.items as usize);
                let cells = cells.ok_or_else(|| unsound("sorted entries of a table"))?;
                Ok(Content::Entries(cells))
            }
        }
    }
}
