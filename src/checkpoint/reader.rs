//! Reader of checkpoints. All data is checked before it is used.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use super::entries;
use super::error::CheckpointError;
use super::format::{
    BLOCK_HEADER_BYTES, BlockHeader, CheckpointFooter, CheckpointHeader, FOOTER_BYTES,
    HEADER_BYTES, Identity, checksum,
};
use crate::file::{FileError, open_regular};
use crate::search::table::{Entry, Table};

/// Number of entries between the prefetch of a cluster and its use.
const AHEAD: usize = 16;

/// A checkpoint whose header and footer have been read.
#[derive(Debug)]
pub struct CheckpointReader<R = BufReader<File>> {
    path: PathBuf,
    from: R,
    header: CheckpointHeader,
    footer: CheckpointFooter,
}

impl CheckpointReader {
    /// Opens a file and reads its header and footer.
    ///
    /// # Errors
    /// If there is no such file, or it is not a complete checkpoint of this version.
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        let file = open_regular(path).map_err(|error| match error {
            FileError::Io { path, source, .. } if source.kind() == ErrorKind::NotFound => {
                CheckpointError::Missing { path }
            }
            error => error.into(),
        })?;
        CheckpointReader::new(path, BufReader::with_capacity(1 << 20, file))
    }
}

impl<R: Read + Seek + Send> CheckpointReader<R> {
    /// Reads header and footer; `path` is for errors only.
    ///
    /// # Errors
    /// As [`CheckpointReader::open`].
    pub fn new(path: &Path, mut from: R) -> Result<Self, CheckpointError> {
        let io = || CheckpointError::io("read", path);
        let length = from.seek(SeekFrom::End(0)).map_err(io())?;
        from.rewind().map_err(io())?;
        let mut start = Vec::new();
        from.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut start).map_err(io())?;
        let header = CheckpointHeader::decode(path, &start)?;
        let least = (HEADER_BYTES + FOOTER_BYTES) as u64;
        let Some(offset) = length.checked_sub(FOOTER_BYTES as u64).filter(|_| length >= least)
        else {
            let (what, expected) = ("the length of the file", format!("at least {least} bytes"));
            return Err(CheckpointError::damaged(path, what, expected, length));
        };
        let mut end = [0; FOOTER_BYTES];
        from.seek(SeekFrom::Start(offset)).map_err(io())?;
        from.read_exact(&mut end).map_err(io())?;
        let footer = CheckpointFooter::decode(path, &end, offset)?;
        Ok(CheckpointReader { path: path.to_owned(), from, header, footer })
    }

    /// Returns the header of the file.
    pub fn header(&self) -> &CheckpointHeader {
        &self.header
    }

    /// Returns the footer of the file.
    pub fn footer(&self) -> &CheckpointFooter {
        &self.footer
    }

    /// Checks that the checkpoint belongs to the search with this identity.
    ///
    /// # Errors
    /// [`CheckpointError::OtherSearch`] if it does not.
    pub fn expect(&self, expected: &Identity) -> Result<(), CheckpointError> {
        let got = &self.header.identity;
        let differs = |what: &'static str, expected: &str, got: &str| {
            let (path, expected, got) = (self.path.clone(), expected.to_owned(), got.to_owned());
            Err(CheckpointError::OtherSearch { path, what, expected, got })
        };
        for (what, expected, got) in [
            ("game's rules", &expected.rules, &got.rules),
            ("board", &expected.board, &got.board),
            ("algorithm", &expected.algorithm, &got.algorithm),
            ("profile", &expected.profile, &got.profile),
        ] {
            if expected != got {
                return differs(what, expected, got);
            }
        }
        if expected.root != got.root {
            return differs("position", &expected.position, &got.position);
        }
        Ok(())
    }

    /// Stores the entries of the file in an empty table. `key_of` returns the key of a code. If the table is smaller
    /// than the original one, its replacement strategy selects the entries.
    ///
    /// Uses the current pool of `rayon`, with about 4 MiB for each thread. The content of the table does not
    /// depend on the number of threads. `go_on` receives the number of bytes that have been read and the total
    /// number of bytes, several times a second. Reading ends if it returns false.
    ///
    /// # Errors
    /// If a checksum differs, parts of the file are inconsistent, or `go_on` returns false. The table must then be
    /// dropped.
    pub fn load(
        mut self,
        table: &Table,
        key_of: impl Fn(u64) -> u64 + Sync,
        go_on: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<(), CheckpointError> {
        let CheckpointFooter { entries: promised, offset, .. } = self.footer;
        let path = &self.path;
        table.reserve(promised, rayon::current_num_threads(), &key_of);
        self.from.rewind().map_err(CheckpointError::io("read", path))?;
        let mut blocks = BlockReader::new(path, &mut self.from, self.footer)?;
        let batch = 2 * rayon::current_num_threads();
        let read_some = |blocks: &mut BlockReader<'_, R>| {
            let next = std::iter::from_fn(|| blocks.next().transpose()).take(batch);
            next.collect::<Result<Vec<StoredBlock>, _>>()
        };
        let (mut read, mut entries) = (read_some(&mut blocks)?, 0);
        while !read.is_empty() {
            if !go_on(blocks.bytes(), offset) {
                return Err(CheckpointError::Interrupted { path: path.clone() });
            }
            let (next, cells) = rayon::join(
                || read_some(&mut blocks),
                || read.par_iter().map(|block| block.cells(path)).collect::<Result<Vec<_>, _>>(),
            );
            let cells = cells?;
            entries += cells.iter().map(|cells| cells.len() as u64).sum::<u64>();
            store(table, &cells, &key_of);
            read = next?;
        }
        blocks.end()?;
        if entries != promised {
            let what = "the number of entries";
            return Err(CheckpointError::damaged(path, what, promised, entries));
        }
        Ok(())
    }
}

/// A block as it is stored in the file.
struct StoredBlock {
    /// Index of the block in the file.
    at: u64,
    header: BlockHeader,
    stored: Vec<u8>,
}

impl StoredBlock {
    /// Checks and decompresses the block, and returns its cells; `path` is for the error only.
    fn cells(&self, path: &Path) -> Result<Vec<u128>, CheckpointError> {
        let StoredBlock { at, header, stored } = self;
        let got = header.checksum(stored);
        if got != header.xxh3 {
            return Err(checksum(path, &format!("block {at}"), header.xxh3, got));
        }
        let invalid = |expected: &str| {
            CheckpointError::damaged(path, format!("block {at}"), expected, "something else")
        };
        let length = header.raw_bytes as usize;
        let raw = zstd::bulk::decompress(stored, length).ok().filter(|raw| raw.len() == length);
        let raw = raw.ok_or_else(|| invalid(&format!("{length} bytes")))?;
        let cells = entries::decode(&raw, header.entries as usize);
        cells.ok_or_else(|| invalid("sorted entries of a table"))
    }
}

/// Reads the blocks of a file in order.
struct BlockReader<'a, R> {
    path: &'a Path,
    from: &'a mut R,
    footer: CheckpointFooter,
    hasher: Xxh3,
    /// Number of bytes before the footer that have not been read.
    left: u64,
    /// Number of blocks that have been read.
    read: u64,
}

impl<'a, R: Read> BlockReader<'a, R> {
    /// Returns a reader of the blocks of a file. `from` must be at the beginning of the file.
    fn new(
        path: &'a Path,
        from: &'a mut R,
        footer: CheckpointFooter,
    ) -> Result<Self, CheckpointError> {
        let (hasher, left) = (Xxh3::new(), footer.offset);
        let mut blocks = BlockReader { path, from, footer, hasher, left, read: 0 };
        blocks.take(&mut [0; HEADER_BYTES])?;
        Ok(blocks)
    }

    /// Returns the number of bytes that have been read.
    fn bytes(&self) -> u64 {
        self.footer.offset - self.left
    }

    /// Reads the next block. Returns `None` after the last one.
    fn next(&mut self) -> Result<Option<StoredBlock>, CheckpointError> {
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
        Ok(Some(StoredBlock { at, header, stored }))
    }

    /// Checks after the last block that length, block count and checksum match the footer.
    fn end(self) -> Result<(), CheckpointError> {
        let CheckpointFooter { blocks, xxh3, .. } = self.footer;
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
            let (what, expected) = ("the end of a block", "before the footer");
            return Err(CheckpointError::damaged(self.path, what, expected, "behind it"));
        };
        self.left = left;
        self.from.read_exact(bytes).map_err(CheckpointError::io("read", self.path))?;
        self.hasher.update(bytes);
        Ok(())
    }
}

/// Stores the cells of several blocks in parallel. Each cluster receives its cells in the order of the
/// blocks, so the content of a full cluster does not depend on the number of threads.
fn store(table: &Table, blocks: &[Vec<u128>], key_of: &(impl Fn(u64) -> u64 + Sync)) {
    let parts = rayon::current_num_threads();
    let split = |cells: &Vec<u128>| {
        let mut split = vec![Vec::new(); parts];
        for &cell in cells {
            let key = key_of(cell as u64);
            split[table.cluster_of(key) % parts].push((key, cell));
        }
        split
    };
    let blocks: Vec<Vec<Vec<_>>> = blocks.par_iter().map(split).collect();
    (0..parts).into_par_iter().for_each(|part| {
        for cells in blocks.iter().map(|block| &block[part]) {
            for (at, &(key, cell)) in cells.iter().enumerate() {
                if let Some(&(key, _)) = cells.get(at + AHEAD) {
                    table.prefetch(key);
                }
                table.store(key, cell as u64, Entry::unpack(cell));
            }
        }
    });
}
