//! Reading checkpoints: everything is checked before it is believed.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::Xxh3;
use zstd::bulk::Decompressor;

use super::entries;
use super::error::CheckpointError;
use super::format::{
    BLOCK_HEADER_BYTES, BlockHeader, BlockKind, FOOTER_BYTES, Footer, HEADER_BYTES, Header,
    Identity, checksum,
};
use crate::file::{FileError, open_regular};
use crate::search::snapshot::{Misfit, SavedTree, TreeLoader, TreeRoom};
use crate::search::table::{Entry, Stored, Table};

/// Entries between the fetching of a cluster and its use.
const AHEAD: usize = 16;

/// A checkpoint whose header and footer have been read.
#[derive(Debug)]
pub struct CheckpointReader<R = BufReader<File>> {
    path: PathBuf,
    from: R,
    header: Header,
    footer: Footer,
}

impl CheckpointReader {
    /// Opens a file and reads its header and footer.
    ///
    /// # Errors
    /// If there is no such file, or it is no checkpoint of this version, or is cut off.
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

impl<R: Read + Seek> CheckpointReader<R> {
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
        let header = Header::decode(path, &start)?;
        let least = (HEADER_BYTES + FOOTER_BYTES) as u64;
        let Some(offset) = length.checked_sub(FOOTER_BYTES as u64).filter(|_| length >= least)
        else {
            let (what, expected) = ("the length of the file", format!("at least {least} bytes"));
            return Err(CheckpointError::damaged(path, what, expected, length));
        };
        let mut end = [0; FOOTER_BYTES];
        from.seek(SeekFrom::Start(offset)).map_err(io())?;
        from.read_exact(&mut end).map_err(io())?;
        let footer = Footer::decode(path, &end, offset)?;
        Ok(CheckpointReader { path: path.to_owned(), from, header, footer })
    }

    /// What the file says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How much is in it.
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Checks that it is a checkpoint of a certain search.
    ///
    /// # Errors
    /// [`CheckpointError::OtherSearch`] if not.
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

    /// Reads everything: stores the entries in an empty table, and makes the tree if there is one.
    /// `key_of` is the function from codes to keys. A smaller table keeps the entries that its
    /// replacement keeps. Takes about as long as it takes to fill the table.
    ///
    /// # Errors
    /// If anything does not fit its checksum or what the rest of the file promises, if the tree
    /// does not fit `room`, or if `stop` is set meanwhile. Table and tree are of no use then.
    pub fn load(
        mut self,
        table: &Table,
        key_of: impl Fn(u64) -> u64,
        room: Option<TreeRoom>,
        stop: Option<&AtomicBool>,
    ) -> Result<Option<SavedTree>, CheckpointError> {
        let mut loader = self.tree_loader(room)?;
        table.reserve(self.footer.entries, &key_of);
        self.from.rewind().map_err(CheckpointError::io("read", &self.path))?;
        let mut hasher = Xxh3::new();
        let mut left = self.footer.offset;
        let mut read = |reader: &mut Self, bytes: &mut [u8]| {
            if bytes.len() as u64 > left {
                let what = "a block's end";
                let expected = "before the footer";
                return Err(CheckpointError::damaged(&reader.path, what, expected, "behind it"));
            }
            left -= bytes.len() as u64;
            let io = CheckpointError::io("read", &reader.path);
            reader.from.read_exact(bytes).map_err(io)?;
            hasher.update(bytes);
            Ok(left > 0)
        };
        let mut more = read(&mut self, &mut [0; HEADER_BYTES])?;
        let io = CheckpointError::io("decompress a part of", &self.path);
        let mut decompressor = Decompressor::new().map_err(io)?;
        let (mut stored, mut raw) = (Vec::new(), Vec::new());
        let (mut block, mut entries, mut used) = (0, 0, 0);
        while more {
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(CheckpointError::Interrupted { path: self.path });
            }
            let mut bytes = [0; BLOCK_HEADER_BYTES];
            read(&mut self, &mut bytes)?;
            let Some(header) = BlockHeader::decode(&bytes) else {
                let what = format!("the header of block {block}");
                let expected = "that of a block";
                return Err(CheckpointError::damaged(&self.path, what, expected, "something else"));
            };
            stored.resize(header.stored_bytes as usize, 0);
            more = read(&mut self, &mut stored)?;
            let got = header.checksum(&stored);
            if got != header.xxh3 {
                let what = format!("block {block}");
                return Err(checksum(&self.path, &what, header.xxh3, got));
            }
            raw.resize(header.raw_bytes as usize, 0);
            let length = decompressor.decompress_to_buffer(&stored, &mut raw[..]);
            if length.ok() != Some(raw.len()) {
                let expected = format!("{} bytes", raw.len());
                return Err(self.unsound(block, &expected, "something else"));
            }
            match (header.kind, &mut loader) {
                (BlockKind::Entries, _) => {
                    let cells = entries::decode(&raw, header.items as usize);
                    let sound = cells.ok_or_else(|| {
                        self.unsound(block, "sorted entries of a table", "something else")
                    })?;
                    entries += sound.len() as u64;
                    used += store(table, &sound, &key_of);
                    if table.wants_growth(used) {
                        table.grow(&key_of);
                    }
                }
                (BlockKind::Records, None) => {
                    return Err(self.unsound(block, "entries of the table", "parts of a tree"));
                }
                (BlockKind::Records, Some(loader)) => {
                    let fed = loader.feed(&raw, header.items);
                    fed.map_err(|misfit| self.misfit(misfit, room, &format!("block {block}")))?;
                }
            }
            block += 1;
        }
        let got = hasher.digest();
        if got != self.footer.xxh3 {
            return Err(checksum(&self.path, "the file", self.footer.xxh3, got));
        }
        let Footer { blocks, entries: promised, tree_nodes, .. } = self.footer;
        let same = |what: &str, expected: u64, got: u64| match expected == got {
            true => Ok(()),
            false => Err(CheckpointError::damaged(&self.path, what, expected, got)),
        };
        same("the number of blocks", blocks, block)?;
        same("the number of entries", promised, entries)?;
        let finish = |loader: TreeLoader| {
            loader.finish(tree_nodes).map_err(|misfit| self.misfit(misfit, room, "the tree"))
        };
        loader.map(finish).transpose()
    }

    /// Room for the tree, if there is one.
    fn tree_loader(&self, room: Option<TreeRoom>) -> Result<Option<TreeLoader>, CheckpointError> {
        match room {
            Some(room) if self.footer.tree_nodes > 0 => {
                let full = || self.misfit(Misfit::Full, Some(room), "the tree");
                if room.bytes() < room.needed(self.footer.tree_bytes) {
                    return Err(full());
                }
                TreeLoader::new(room).ok_or_else(full).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn unsound(&self, block: u64, expected: &str, got: &str) -> CheckpointError {
        CheckpointError::damaged(&self.path, format!("block {block}"), expected, got)
    }

    fn misfit(&self, misfit: Misfit, room: Option<TreeRoom>, what: &str) -> CheckpointError {
        let path = self.path.clone();
        match misfit {
            Misfit::Unsound(expected, got) => CheckpointError::damaged(&path, what, expected, got),
            Misfit::Full => {
                let need = room.map_or(0, |room| room.needed(self.footer.tree_bytes));
                let have = room.map_or(0, |room| room.bytes());
                CheckpointError::TreeTooLarge { path, need, have }
            }
        }
    }
}

/// Stores cells; returns how many filled an empty place.
fn store(table: &Table, cells: &[u128], key_of: &impl Fn(u64) -> u64) -> u64 {
    let keys: Vec<u64> = cells.iter().map(|&cell| key_of(cell as u64)).collect();
    let mut filled = 0;
    for (at, (&cell, &key)) in cells.iter().zip(&keys).enumerate() {
        if let Some(&key) = keys.get(at + AHEAD) {
            table.prefetch(key);
        }
        let stored = table.store(key, cell as u64, Entry::unpack(cell));
        filled += u64::from(stored == Stored::Filled);
    }
    filled
}
