//! Reading checkpoints: everything is checked before it is believed.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::blocks::{Block, Blocks, Content};
use super::error::CheckpointError;
use super::format::{FOOTER_BYTES, Footer, HEADER_BYTES, Header, Identity};
use crate::file::{FileError, open_regular};
use crate::search::snapshot::{Misfit, SavedTree, TreeLoader, TreeRoom};
use crate::search::table::{Entry, Table};

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
    /// replacement keeps. Works in the current pool of `rayon`, with some 4 MiB for each thread; what
    /// the table holds in the end does not depend on their number. `go_on` is told now and then how
    /// many bytes have been read, of how many, and may say no.
    ///
    /// # Errors
    /// If anything does not fit its checksum or what the rest of the file promises, if the tree
    /// does not fit `room` or the system does not give that, or if `go_on` says no. Table and tree
    /// are of no use then.
    pub fn load(
        mut self,
        table: &Table,
        key_of: impl Fn(u64) -> u64 + Sync,
        room: Option<TreeRoom>,
        go_on: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<Option<SavedTree>, CheckpointError> {
        let Footer { entries: promised, tree_nodes, tree_bytes, offset, .. } = self.footer;
        let path = &self.path;
        let unfit = |misfit, what: &str| unfit(path, (misfit, what), tree_bytes, room);
        let mut loader = self.tree_loader(room)?;
        table.reserve(promised, rayon::current_num_threads(), &key_of);
        self.from.rewind().map_err(CheckpointError::io("read", path))?;
        let mut blocks = Blocks::new(path, &mut self.from, self.footer)?;
        let batch = 2 * rayon::current_num_threads();
        let read_some = |blocks: &mut Blocks<'_, R>| {
            let next = std::iter::from_fn(|| blocks.next().transpose()).take(batch);
            next.collect::<Result<Vec<Block>, _>>()
        };
        let (mut read, mut entries) = (read_some(&mut blocks)?, 0);
        while !read.is_empty() {
            if !go_on(blocks.bytes(), offset) {
                return Err(CheckpointError::Interrupted { path: path.clone() });
            }
            let (next, contents) = rayon::join(
                || read_some(&mut blocks),
                || read.par_iter().map(|block| block.content(path)).collect::<Result<Vec<_>, _>>(),
            );
            let mut tables = Vec::new();
            for (Block { at, .. }, content) in read.iter().zip(contents?) {
                let what = format!("block {at}");
                match (content, &mut loader) {
                    (Content::Entries(cells), _) => {
                        entries += cells.len() as u64;
                        tables.push(cells);
                    }
                    (Content::Records(..), None) => {
                        let (expected, got) = ("entries of the table", "parts of a tree");
                        return Err(CheckpointError::damaged(path, what, expected, got));
                    }
                    (Content::Records(raw, items), Some(loader)) => {
                        let fed = loader.feed(&raw, items);
                        fed.map_err(|misfit| unfit(misfit, &what))?;
                    }
                }
            }
            store(table, &tables, &key_of);
            read = next?;
        }
        blocks.end()?;
        if entries != promised {
            let what = "the number of entries";
            return Err(CheckpointError::damaged(path, what, promised, entries));
        }
        let finish = |loader: TreeLoader| {
            loader.finish(tree_nodes).map_err(|misfit| unfit(misfit, "the tree"))
        };
        loader.map(finish).transpose()
    }

    /// Room for the tree, if there is one.
    fn tree_loader(&self, room: Option<TreeRoom>) -> Result<Option<TreeLoader>, CheckpointError> {
        match room {
            Some(room) if self.footer.tree_nodes > 0 => {
                let Footer { tree_bytes, .. } = self.footer;
                if room.bytes() < room.needed(tree_bytes) {
                    let misfit = (Misfit::Full, "the tree");
                    return Err(unfit(&self.path, misfit, tree_bytes, Some(room)));
                }
                Ok(Some(TreeLoader::new(room)?))
            }
            _ => Ok(None),
        }
    }
}

/// Why a tree does not fit; `tree_bytes` is what it takes.
fn unfit(
    path: &Path,
    (misfit, what): (Misfit, &str),
    tree_bytes: u64,
    room: Option<TreeRoom>,
) -> CheckpointError {
    match misfit {
        Misfit::Unsound(expected, got) => CheckpointError::damaged(path, what, expected, got),
        Misfit::Full => {
            let (need, have, total) = room.map_or((0, 0, 0), |room| {
                (room.needed(tree_bytes), room.bytes(), room.total_needed(tree_bytes))
            });
            CheckpointError::TreeTooLarge { path: path.to_owned(), need, have, total }
        }
    }
}

/// Stores the cells of some blocks in parallel. Each cluster gets its own in the order of the blocks,
/// so that what a full one keeps does not depend on the number of threads.
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
